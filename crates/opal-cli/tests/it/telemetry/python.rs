//! The official package in Python reads what is sent.

use std::process::Command;

use opal_testing::guest::build_directory;
use opal_testing::needs;

use super::collector::Collector;
use super::{TASKS, last, project};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/telemetry.py");

#[test]
#[expect(clippy::disallowed_methods, reason = "another implementation is another program")]
fn the_official_package_decodes_both_messages() {
    let python = build_directory().join("tools/otlp/bin/python");
    if !needs::has("`opentelemetry-proto` of PyPI in target/tools/otlp", python.exists()) {
        return;
    }
    let collector = Collector::new();
    let Some(opal) = project(TASKS, &collector) else { return };
    opal.call(&["deploy", "--otlp"]).code(0);
    let posts = collector.posts();
    opal.write("traces", &posts[0].body);
    opal.write("metrics", &posts[1].body);
    let folder = opal.path();
    let ran = Command::new(&python)
        .args([SCRIPT, "traces", "metrics"])
        .current_dir(&folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    let id = last(&opal)["id"].as_str().unwrap().to_owned();
    let expected = format!(
        "opal RUN deploy {id} success\nspans 12 unknown 0\n\
         cicd.pipeline.run.duration s 1\ncicd.pipeline.run.errors {{error}} 1\n"
    );
    assert_eq!(String::from_utf8_lossy(&ran.stdout), expected, "{said}");
}
