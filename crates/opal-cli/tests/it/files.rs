//! `@file.exists` and `@file.glob`: values about files, in plans, runs and contracts.

use std::fs;

use crate::support::Opal;

const PROJECT: &str = "\
fun install() {
    if @file.exists(\"lock.json\") {
        echo locked
    } else {
        echo free
    }
    for f in @file.glob(\"docs/*.md\") {
        echo \"page @var.f\"
    }
    echo all: @file.glob(\"docs/**/*.md\") end
}
";

/// Its name, what it does, and what the refusal shows.
type Change = (&'static str, fn(&Opal), &'static [&'static str]);

fn project() -> Opal {
    let opal = Opal::machine(PROJECT);
    fs::create_dir_all(opal.path().join("docs/deep")).unwrap();
    opal.file("docs/b.md", "").file("docs/a b.md", "").file("docs/.c.md", "").file("docs/d.txt", "")
}

fn planned() -> Opal {
    let opal = project();
    opal.call(&["plan", "install", "-o", "c.plan"]).code(0);
    opal.call(&["run", "--plan", "c.plan", "--dry-run"]).code(0);
    opal
}

#[test]
fn they_decide_and_repeat_in_a_run() {
    let opal = project();
    let ran = opal.call(&["install"]);
    ran.code(0).stdout("free\npage docs/a b.md\npage docs/b.md\nall: docs/a b.md docs/b.md end\n");
    opal.write("lock.json", "");
    opal.write("docs/deep/e.md", "");
    let ran = opal.call(&["install"]);
    ran.code(0).stdout(
        "locked\npage docs/a b.md\npage docs/b.md\nall: docs/a b.md docs/b.md docs/deep/e.md end\n",
    );
}

#[test]
fn a_quick_plan_reads_them_and_shows_them_in_clear() {
    let ran = project().call(&["install", "--dry-run"]);
    ran.code(0).says("→ no").says("page docs/a b.md").says("docs/b.md").hides("Deferred");
    ran.hides("sha256:…").hides("locked\"");
}

#[test]
fn a_change_of_either_refuses_a_contract_and_shows_both_values_in_clear() {
    let changes: [Change; 3] = [
        (
            "exists",
            |opal| opal.write("lock.json", ""),
            &["file.exists(path=\"lock.json\")", "false", "true"],
        ),
        (
            "found",
            |opal| opal.write("docs/deep/new.md", ""),
            &["file.glob(pattern=\"docs/**/*.md\")", "docs/deep/new.md"],
        ),
        ("gone", |opal| fs::remove_file(opal.path().join("docs/b.md")).unwrap(), &["docs/b.md"]),
    ];
    for (name, change, shown) in changes {
        let opal = planned();
        change(&opal);
        let ran = opal.call(&["run", "--plan", "c.plan"]);
        ran.code(76).stdout("").says("value_changed");
        for text in shown {
            ran.says(text);
        }
        let document = opal.call(&["run", "--plan", "c.plan", "--json"]).code(76).json();
        assert_eq!(document["code"], "value_changed", "{name}: {document:#}");
    }
}

#[test]
fn what_no_pattern_names_is_not_a_change() {
    let opal = planned();
    opal.write("docs/.hidden.md", "");
    opal.write("docs/other.txt", "");
    opal.call(&["run", "--plan", "c.plan"]).code(0);
}

#[test]
fn a_path_that_is_made_of_a_secret_is_hidden() {
    let source =
        "fun f() { echo @file.glob(\"*@secret.env.NAME\") @file.exists(@secret.env.NAME) }\n";
    let opal = Opal::machine(source).file("canary-77", "").env("NAME", "canary-77");
    opal.call(&["f", "--dry-run"]).code(0).hides("canary-77");
    opal.call(&["f"]).code(0).says("sha256:").hides("canary-77");
}

#[test]
fn a_name_that_begins_with_a_hyphen_needs_dashes() {
    let opal = Opal::machine(
        "fun bare() = echo @file.glob(\"*.md\")\nfun dash() = echo @file.glob(\"*.md\", dash=true)\n\
         fun after() = ls -- @file.glob(\"*.md\")\nfun dot() = ls @file.glob(\"./*.md\")\n",
    );
    let opal = opal.file("-n.md", "");
    opal.call(&["bare"]).code(65).says("E0810").stdout("");
    for task in ["dash", "after", "dot"] {
        opal.call(&[task]).code(0).says("-n.md");
    }
}

#[test]
fn what_cannot_be_answered_fails_the_plan_and_says_why() {
    for (call, words) in [
        ("@file.glob(\"[\")", "invalid pattern `[`"),
        ("@file.glob(\"\")", "invalid pattern"),
        ("@file.glob(\"~other/*\")", "`~other/*` cannot be found"),
        ("@file.exists(\"~other\")", "`~other` cannot be found"),
        ("@file.glob(1)", "E"),
    ] {
        let opal = Opal::machine(&format!("fun f() {{ echo a @file.exists(\"x\") {call} }}\n"));
        opal.call(&["f"]).code(65).stdout("").says(words);
    }
}
