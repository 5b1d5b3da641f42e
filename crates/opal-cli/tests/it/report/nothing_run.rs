//! A run that ends before its first step has reports too: an old one must not remain.

use super::{CASES, python, reported};
use crate::support::{Opal, assert_schema};

/// The reports say why nothing was run, in each format.
#[track_caller]
fn assert_reported(opal: &Opal, why: &str) {
    let cases = python(opal, CASES);
    assert!(cases.contains("tests=1 failures=0 errors=1 skipped=0"), "{cases}");
    assert!(cases.contains(why), "{why:?} in {cases}");
    for file in ["r.md", "r.html"] {
        let text = opal.read(file).replace("&#39;", "'");
        assert!(text.contains("nothing was run"), "{file}: {text}");
    }
    let json: serde_json::Value = serde_json::from_str(&opal.read("r.json")).unwrap();
    assert_schema("run-1.json", &json);
    assert!(json["error"]["message"].as_str().unwrap().contains(why), "{json:#}");
}

fn old_reports(opal: &Opal) {
    for file in ["r.xml", "r.md", "r.html", "r.json"] {
        opal.write(file, "an earlier run: all fine\n");
    }
}

#[test]
fn a_refused_contract_is_reported_with_the_reason() {
    let source = "fun a() {\n    touch ran\n    echo @env.WHO(default=\"nobody\")\n}\n";
    let opal = Opal::machine(source);
    opal.call(&["plan", "a", "-o", "c.plan"]).code(0);
    let run = ["run", "--plan", "c.plan", "--report=r.json"];
    type Change = fn(&Opal);
    let changes: [(Change, i32, &str); 3] = [
        (
            |opal| opal.write("commands.opl", "fun a() = echo other\n"),
            76,
            "is not the plan of the contract",
        ),
        (|opal| opal.write("commands.opl", "fun a( {\n"), 76, "no plan to compare"),
        (|opal| opal.write("c.plan", "no contract"), 76, "is refused"),
    ];
    for (change, code, why) in changes {
        old_reports(&opal);
        opal.write("commands.opl", source);
        change(&opal);
        let ran = reported(&opal, &run);
        assert_eq!(ran.code, code, "{ran:#?}");
        assert_reported(&opal, why);
    }
    assert!(!opal.path().join("ran").exists());
}

#[test]
fn errors_of_a_source_and_of_a_plan_are_reported() {
    let text = "fun a() = echo @file.read(\"gone\")\nfun b() = echo @var.nothing\nfun c() {\n    \
                @script(\"no-such-program\") { x }\n}\n";
    let opal = Opal::machine(text);
    for (task, code, why) in [
        ("a", 65, "the file `gone` does not exist"),
        ("b", 65, "`nothing`"),
        ("c", 65, "`no-such-program`"),
    ] {
        old_reports(&opal);
        let ran = reported(&opal, &[task, "--report=r.json"]);
        assert_eq!(ran.code, code, "{ran:#?}");
        assert_reported(&opal, why);
    }
    old_reports(&opal);
    reported(&opal, &["verify", "b"]).code(2);
    assert!(python(&opal, CASES).contains("`nothing`"));
    // A usage error is not a run.
    old_reports(&opal);
    reported(&opal, &["a", "--dry-run"]).code(2);
    assert!(opal.read("r.md").starts_with("an earlier run"));
}
