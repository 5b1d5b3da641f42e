//! Pages in real browsers: no request, an empty console, accessible, text that stays text, and how long they take
//! to be painted.

#![expect(clippy::disallowed_methods, reason = "browsers are programs")]

use std::path::{Path, PathBuf};
use std::process::Command;

use opal_testing::needs;
use serde_json::Value;

use crate::hostile_texts;
use crate::support::Opal;

/// The script that drives a browser, and the packages of npm that it uses.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/pages.cjs");
const MODULES: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/browsers/node_modules");

/// Where pictures of the pages go, for a person to look at.
const PICTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/pages");

/// More paint than the same text in one `<pre>`, at most.
const MOST_PAINT: f64 = 3.0;

/// Every page that opal writes, in a directory: the names of the files.
fn pages(opal: &Opal) -> Vec<PathBuf> {
    opal.call(&["deploy", "--report", "run.html"]);
    let text = format!("--text={}", hostile_texts::all().join("\n"));
    opal.call(&["hostile", &text, "--report", "hostile.html", "-q"]);
    opal.call(&["many", "--report", "many.html", "-q"]);
    opal.call(&["verify", "site", "--report", "verify.html"]).code(1);
    opal.call(&["plan", "deploy", "-o", "first.plan"]).code(0);
    let shown = opal.call(&["plan", "show", "first.plan", "--format", "html"]);
    shown.code(0);
    opal.write("plan.html", shown.stdout);
    let changed = SOURCE
        .replace("echo build", "echo rebuild")
        .replace("fun site", "fun more() = echo x\n\nfun site");
    opal.write("commands.opl", changed + &large());
    let diff =
        opal.call_with(&[("REPLICAS", "5")], &["plan", "diff", "first.plan", "--format", "html"]);
    diff.code(1);
    opal.write("diff.html", diff.stdout);
    let names = ["run", "hostile", "many", "verify", "plan", "diff"];
    names.iter().map(|name| opal.path().join(format!("{name}.html"))).collect()
}

const SOURCE: &str = "\
fun deploy(env = \"staging\") {
    echo build @var.env
    @parallel {
        @timeout(1m) {
            echo lint
            sh -c 'sleep 0.1; echo linted'
        }
        sh -c 'printf \"\\033[1;32mgreen\\033[0m and \\033[31mred\\033[0m\\n\"; sleep 0.2'
    }
    @retry(attempts=3, delay=100ms) { sh -c 'test -e again || { touch again; exit 3; }' }
    echo scale @env.REPLICAS
    seq 1 1000
    sh -c 'echo \"cannot reach db-1\" >&2; exit 4'
    echo never
}

fun site() {
    @file.copy(destination=\"app.conf\", content=\"port=80\\nhost=a\\n\", overwrite=true)
}
";

/// A thousand steps, and the hostile texts as what steps say and print.
fn large() -> String {
    let many: String = (0..1000).map(|n| format!("    echo 'step number {n} of many'\n")).collect();
    format!(
        "\nfun many() {{\n{many}}}\n\nfun hostile(text: String) {{\n    cat hostile.txt\n    sh -c 'cat hostile.txt; exit 1' x @var.text\n}}\n"
    )
}

fn project() -> Opal {
    let texts = hostile_texts::all().join("\n") + "\n";
    Opal::machine(&(SOURCE.to_owned() + &large()))
        .file("hostile.txt", texts)
        .file("app.conf", "port=81\nhost=a\n")
        .env("REPLICAS", "3")
}

/// What a browser found on each page; none where it is not installed.
fn looked(kind: &str, program: &str, shots: &str, pages: &[PathBuf]) -> Option<Value> {
    let is_there = Path::new(program).exists() && Path::new(MODULES).join("axe-core").exists();
    if !needs::has(&format!("`{program}`, with puppeteer-core and axe-core of npm"), is_there) {
        return None;
    }
    let profile = tempfile::tempdir().unwrap();
    let run = Command::new("node")
        .args([SCRIPT, MODULES, kind, program])
        .arg(profile.path())
        .arg(shots)
        .args(pages)
        .env("HOME", profile.path())
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    Some(serde_json::from_slice(&run.stdout).unwrap())
}

/// What every page promises in every browser.
#[track_caller]
fn holds(found: &Value) {
    for page in found["results"].as_array().unwrap() {
        let name = page["page"].as_str().unwrap();
        for what in ["requests", "console", "axe"] {
            assert_eq!(page[what], serde_json::json!([]), "{what} of {name}");
        }
        assert!(page["checked"].as_u64().unwrap() > 20, "axe has checked {name}");
        assert_eq!(page["wide"], 0, "{name} is wider than the screen");
        // The policy lets the style of the page through, and nothing else.
        assert!(page["font"].as_str().unwrap().contains("system-ui"), "{name}");
        let names = page["names"].as_array().unwrap();
        for forbidden in [
            "script", "img", "iframe", "a", "link", "object", "form", "@onclick", "@src", "@href",
            "@style",
        ] {
            assert!(!names.iter().any(|it| it == forbidden), "{forbidden} in {name}");
        }
        if name == "hostile.html" {
            let text = page["text"].as_str().unwrap();
            for hostile in hostile_texts::all() {
                let shown = hostile_texts::shown(&hostile);
                assert!(text.matches(&shown).count() >= 2, "{shown:?}");
            }
        }
    }
}

#[test]
fn pages_in_chromium_ask_for_nothing_are_accessible_and_are_painted_like_plain_text() {
    let opal = project();
    let pages = pages(&opal);
    std::fs::create_dir_all(PICTURES).unwrap();
    let Some(found) = looked("chrome", "/usr/bin/chromium", PICTURES, &pages) else { return };
    holds(&found);
    let many = found["results"].as_array().unwrap().iter().find(|it| it["page"] == "many.html");
    let [ours, plain] = ["paint_ms", "plain_ms"].map(|name| many.unwrap()[name].as_f64().unwrap());
    assert!(ours <= MOST_PAINT * plain, "painted in {ours} ms, plain text in {plain} ms");
}

#[test]
fn pages_in_firefox_ask_for_nothing_and_are_accessible() {
    let opal = project();
    let pages = pages(&opal);
    if let Some(found) = looked("firefox", "/usr/bin/firefox-esr", "-", &pages) {
        holds(&found);
    }
}
