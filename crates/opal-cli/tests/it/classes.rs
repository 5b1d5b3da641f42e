//! The classes of values as people see them: public and plain ones in clear, secrets hidden, and a
//! word about what was hidden though nobody asked for it.

use crate::support::{Opal, Ran};

const HIDDEN: &str = "hidden in the output: ";

/// How often the note is there.
fn notes(ran: &Ran) -> usize {
    ran.stderr.matches(HIDDEN).count()
}

#[test]
fn a_run_says_once_what_it_hid_that_nobody_declared_a_secret() {
    let source = "var URL = @env.DATABASE_URL\n\nfun main() {\n    echo \"one @var.URL\"\n    \
                  echo \"two @var.URL\"\n    echo \"three @env.API_KEY @env.USER\"\n    \
                  let.id = @shell(\"cat id\")\n    echo \"four @let.id\"\n    \
                  echo \"five @file.read('note')\"\n}\n";
    let opal = Opal::machine(source)
        .file("note", "a-note-of-mine")
        .file("id", "captured-77")
        .env("DATABASE_URL", "postgres://shop:tr0ub4dor@db/shop")
        .env("API_KEY", "canary-9f8e7d")
        .env("USER", "ada");
    let ran = opal.call(&["main"]);
    ran.code(0).hides("tr0ub4dor").hides("canary-9f8e7d").hides("captured-77").hides("a-note");
    assert_eq!(notes(&ran), 1, "{ran:#?}");
    let line = ran.stderr.lines().find(|line| line.contains(HIDDEN)).unwrap();
    for name in
        ["`@env.API_KEY`", "`@env.DATABASE_URL`", "`@let.id`", "`@file.read(", "public=true"]
    {
        assert!(line.contains(name), "{name}: {line}");
    }
    assert!(!line.contains("USER"), "{line}");
    let last: Vec<&str> = ran.stderr.lines().rev().take(2).collect();
    assert!(last[0].starts_with("done: ") && last[1].contains(HIDDEN), "{ran:#?}");
    let document = opal.call(&["main", "--json"]).json();
    let names: Vec<&str> =
        document["hidden"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert!(names.contains(&"env.DATABASE_URL") && names.contains(&"let.id"), "{names:?}");
}

#[test]
fn what_is_declared_or_was_not_shown_is_not_noted() {
    for (source, says) in [
        ("fun main() = echo \"@env.API_KEY(secret=true)\"\n", "<"),
        ("fun main() = echo \"@secret.env.API_KEY\"\n", "<"),
        ("fun main() = echo \"@env.API_KEY(public=true)\"\n", "canary-9f8e7d"),
        ("fun main() = test -n @env.API_KEY\n", ""),
        ("fun main() = echo \"@env.USER\"\n", "ada"),
    ] {
        let opal = Opal::machine(source).env("API_KEY", "canary-9f8e7d").env("USER", "ada");
        let ran = opal.call(&["main"]);
        assert_eq!(notes(&ran), 0, "{source} {ran:#?}");
        ran.code(0).says(says);
    }
}

#[test]
fn messages_mask_only_the_secret_part() {
    for (call, code) in [
        ("@log(\"before @var.K for @env.USER after\")", 0),
        ("@print(\"before @var.K for @env.USER after\")", 0),
        ("@fail(\"before @var.K for @env.USER after\", code=7)", 7),
        ("@log(\"before \" + K + \" for \" + @env.USER + \" after\")", 0),
    ] {
        let source = format!("var K = @secret.env.KEY\n\nfun main() {{\n    {call}\n}}\n");
        let opal = Opal::machine(&source).env("KEY", "canary-9f8e7d").env("USER", "ada");
        let ran = opal.call(&["main"]);
        ran.code(code).hides("canary").says("before <13:sha256:").says("> for ada after");
        for shown in [&["runs", "show", "--logs"][..], &["runs", "show", "--json"]] {
            opal.call(shown).hides("canary");
        }
        opal.call(&["main", "--json"]).hides("canary");
        opal.call(&["main", "--events", "-"]).hides("canary");
    }
}

#[test]
fn messages_mask_what_a_step_captured_and_show_what_is_public() {
    let source = "fun main() {\n    let.id = @shell(\"echo build-42\", public=true)\n    \
                  let.key = @shell(\"echo canary-9f8e7d\")\n    \
                  @log(\"logs @let.id with @let.key end\")\n    \
                  @print(\"prints @let.id with @let.key end\")\n    \
                  @fail(\"fails @let.id with @let.key end\")\n}\n";
    let opal = Opal::machine(source);
    let ran = opal.call(&["main"]);
    ran.code(1).hides("with canary");
    for verb in ["logs", "prints", "fails"] {
        ran.says(&format!("{verb} build-42 with 🔒 opal:h:"));
    }
    ran.says(" end");
}

#[test]
fn the_line_of_a_step_shows_a_captured_value_that_is_public() {
    let source = "fun main() {\n    \
                  let.id = @shell(\"echo build-42\", public=true)\n    \
                  let.map = @shell(\"echo '{\\\"tag\\\": \\\"v7\\\", \\\"list\\\": [1, 2]}'\", json=true, public=true)\n    \
                  let.key = @shell(\"echo canary-9f8e7d\")\n    \
                  let.long = @shell(\"head -c 5000 /dev/zero | tr '\\\\0' x\", public=true)\n    \
                  echo \"id @let.id\" > f\n    true @let.id @let.map.tag @let.map.list[1]\n    \
                  true @let.key @let.long\n}\n";
    let opal = Opal::machine(source);
    let ran = opal.call(&["main"]);
    ran.code(0).says("▸ echo \"id build-42\" > f\n").says("▸ true build-42 v7 2\n");
    ran.says("▸ true 🔒 opal:h:").hides("canary-9f8e7d\n").hides("xxxx");
    opal.call(&["runs", "show"]).code(0).says("true build-42 v7 2");
    // A plan has no value of it, and is the same whatever the command prints.
    opal.call(&["plan", "main"]).code(0).says("true 🔒 opal:h:");
}

#[test]
fn a_hidden_value_has_the_same_placeholder_in_the_step_line_the_output_and_the_plan() {
    let source = "fun a() {\n    echo @env.PIN(secret=true)\n    printenv PIN\n}\n";
    let opal = Opal::machine(source).env("PIN", "canary-4711");
    let ran = opal.call(&["a"]);
    ran.code(0).hides("canary");
    let shown = ran.stderr.lines().next().unwrap().strip_prefix("▸ echo ").unwrap();
    assert_eq!(ran.stdout, format!("{shown}\n{shown}\n"));
    opal.call(&["a", "--dry-run"]).code(0).says(shown);
}
