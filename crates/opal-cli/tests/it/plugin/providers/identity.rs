//! What identifies an object, before any provider starts; and what a policy says.

use std::fs;

use super::{accepted, ended, project};

#[test]
fn a_step_that_identifies_nothing_is_refused_by_a_check() {
    let Some(opal) = accepted("fun none() = echo\n") else { return };
    for (line, code, expected) in [
        ("@box.net(name=\"n\")", 65, "E1401"),
        ("@box.net(name=\"n\")", 65, "mark=\"NAME\""),
        ("@box.net(name=\"n\", mark=\"net\")", 0, ""),
        ("@box.net(name=\"n\", adopt=\"net-1\")", 0, ""),
        ("@box.net(name=\"n\", adopt={id: \"net-1\"})", 0, ""),
        ("@box.thing(name=\"n\")", 0, ""),
        // A mark that would be written nowhere.
        ("@box.thing(name=\"n\", mark=\"it\")", 65, "`box_thing` cannot have a mark"),
        ("@box.thing.absent(name=\"n\")", 0, ""),
    ] {
        fs::write(opal.path().join("commands.opl"), format!("fun it() = {line}\n")).unwrap();
        let ran = ended(&opal, &["check"], code);
        assert!(ran.stdout.contains(expected), "{line}: {ran:?}");
    }
}

#[test]
fn a_mark_needs_the_name_of_the_project() {
    let Some(opal) = accepted("fun it() = @box.net(name=\"n\", mark=\"net\")\n") else { return };
    let named = opal.read("opal.mod");
    let opal = opal.file("opal.mod", named.replace("name = \"shop\"\n", ""));
    let ran = ended(&opal, &["check"], 65);
    assert!(ran.stdout.contains("E1401") && ran.stdout.contains("`name` in opal.mod"), "{ran:?}");
}

#[test]
fn a_type_that_lives_in_a_state_file_names_its_alternative() {
    let Some(opal) = accepted("fun it() = @box.thing(name=\"n\")\n") else { return };
    let text = opal.read("opal.mod");
    let recipe = "\n[terraform.recipes.box_thing]\nlives = \"state\"\n";
    let opal = opal.file("opal.mod", format!("{text}{recipe}"));
    let ran = ended(&opal, &["check"], 65);
    assert!(ran.stdout.contains("E1402"), "{ran:?}");
    assert!(ran.stdout.contains("`box_thing` exists only in a state file"), "{ran:?}");
}

#[test]
fn a_recipe_that_makes_no_sense_is_refused_with_its_line() {
    let Some(opal) = accepted("fun it() = echo\n") else { return };
    let text = opal.read("opal.mod");
    let recipe = "\n[terraform.recipes.box_other]\nimport = \"{a}{b}\"\n";
    let opal = opal.file("opal.mod", format!("{text}{recipe}"));
    let ran = ended(&opal, &["check"], 78);
    assert!(ran.stderr.contains("E1403") && ran.stderr.contains("box_other"), "{ran:?}");
}

#[test]
fn a_policy_refuses_all_providers() {
    let Some(opal) = accepted("fun it() = @box.thing(name=\"n\")\n") else { return };
    let text = opal.read("opal.mod");
    let opal = opal.file("opal.mod", format!("{text}\n[policy.plugins]\nproviders = \"refuse\"\n"));
    let ran = ended(&opal, &["it", "--dry-run"], 77);
    assert!(ran.stderr.contains("the policy refuses Terraform providers"), "{ran:?}");
}

#[test]
fn what_is_not_a_provider_is_not_described() {
    let Some(opal) = project("fun it() = echo\n") else { return };
    let opal = opal.file("bin/box", "#!/bin/sh\necho hello\n");
    super::executable(&opal);
    let ran = super::try_accept(&opal, "terraform/test/box");
    assert_ne!(ran.code, 0);
    assert!(ran.stderr.contains("box"), "{ran:?}");
}

#[test]
fn a_recipe_of_the_project_gives_a_type_its_key_and_absent_its_parameters() {
    let Some(opal) = accepted("fun it() = @box.net(name=\"n\", color=\"red\")\n") else { return };
    let text = opal.read("opal.mod");
    let mark = "mark = { in = \"tags\", list = {} }";
    let opal = opal.file("opal.mod", text.replace(mark, "import = \"{name}\""));
    ended(&opal, &["check"], 0);
    let ran = ended(&opal, &["verify", "it"], 1);
    assert!(ran.stdout.contains("box_net:n"), "{ran:?}");
    let ran = ended(&opal, &["explain", "@box.net.absent"], 0);
    assert!(ran.stdout.contains("name: String"), "{ran:?}");
    assert!(!ran.stdout.contains("color"), "{ran:?}");
    for (line, code, expected) in [
        ("@box.net.absent(name=\"n\")", 0, ""),
        ("@box.net.absent(name=\"n\", color=\"red\")", 65, "color"),
        ("@box.net.absent()", 65, "`name` is not given"),
        ("@box.net.absent(adopt=\"net-1\")", 0, ""),
    ] {
        fs::write(opal.path().join("commands.opl"), format!("fun it() = {line}\n")).unwrap();
        let ran = ended(&opal, &["check"], code);
        assert!(ran.stdout.contains(expected), "{line}: {ran:?}");
    }
}

#[test]
fn a_deprecated_attribute_is_a_warning_with_the_reason_of_the_provider() {
    let source = "fun it() {\n    @box.provider(directory=\"cloud\", folder=\"x\") {\n        \
                  @box.thing(name=\"n\")\n    }\n}\n";
    let Some(opal) = accepted(source) else { return };
    let ran = ended(&opal, &["check"], 0);
    assert!(
        ran.stdout.contains("W0518") && ran.stdout.contains("`folder` is deprecated"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("Use directory instead"), "{ran:?}");
}
