//! What `opal plugin verify` shows and reports.

use opal_plugins::installed::Installed;
use opal_plugins::suite::report::{Broken, LAWS, Report};
use serde_json::{Value, json};

use super::diagnostics::visible;
use super::{print, print_json};
use crate::commands::plugin::rebuild::{self, Rebuild};
use crate::failure::{Exit, Failure};

/// The report as a document: what a verifier signs.
pub(crate) fn document(one: &Installed, found: &Report, rebuild: &Rebuild) -> Value {
    let law = |(law, says): &(&str, &str)| {
        let checks = found.checked.get(law)?;
        let holds = found.broken.iter().all(|it| it.law != *law);
        Some(json!({"law": law, "says": says, "checks": checks, "holds": holds}))
    };
    let broken = |it: &Broken| {
        json!({
            "law": it.law,
            "decorator": it.decorator,
            "test": it.test,
            "input": it.input,
            "message": it.message,
        })
    };
    let skipped = |(path, why): &(String, &str)| json!({"decorator": path, "reason": why});
    json!({
        "version": 1,
        "name": one.name(),
        "package_version": one.version().to_string(),
        "checksum": format!("sha256:{}", one.checksum.hex()),
        "opal": env!("CARGO_PKG_VERSION"),
        "passed": found.passed() && !rebuild.failed(),
        "tests": found.tests,
        "laws": LAWS.iter().filter_map(law).collect::<Vec<_>>(),
        "broken": found.broken.iter().map(broken).collect::<Vec<_>>(),
        "skipped": found.skipped.iter().map(skipped).collect::<Vec<_>>(),
        "rebuild": rebuild.word(),
    })
}

pub(crate) fn show(
    one: &Installed,
    found: &Report,
    rebuild: &Rebuild,
    json: bool,
) -> Result<Exit, Failure> {
    if json {
        return print_json(&document(one, found, rebuild));
    }
    let (name, version) = (one.name(), one.version());
    let mut out = format!("{name} {version}\n");
    let lines = found.text();
    let lines = lines.lines().map(visible);
    let lines = lines.chain(rebuild::said(rebuild).map(|it| visible(&it)));
    lines.for_each(|line| {
        out.push_str(&line);
        out.push('\n');
    });
    let broken = found.broken.len() + usize::from(rebuild.failed());
    out.push_str(&match broken {
        0 if found.tests == 0 && !found.skipped.is_empty() => {
            "verified: its files and its manifest. Its code was not tested.\n".to_owned()
        }
        0 if found.tests == 0 => {
            "verified: its files and its manifest. It has no code to test.\n".to_owned()
        }
        0 => format!("verified: {} tests, and all laws hold\n", found.tests),
        1 => "not verified: 1 problem\n".to_owned(),
        count => format!("not verified: {count} problems\n"),
    });
    print(&out)
}
