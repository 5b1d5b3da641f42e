//! `dry_run` among the settings of a configuration.

use crate::support::Opal;

const TEXT: &str = "version: 1\nsettings: {dry_run: true}\nsteps:\n  \
                    - {id: a, type: directory, path: made}\n";

fn opal() -> Opal {
    Opal::machine("").file("a.yaml", TEXT)
}

#[test]
fn a_configuration_that_only_looks_makes_no_contract() {
    let opal = opal();
    for more in [&["-o", "a.plan"][..], &["--resolve"]] {
        let ran = opal.call(&[&["plan", "a.yaml"], more].concat());
        ran.code(2).says("`a.yaml` has `dry_run: true`").says("remove `dry_run` from");
        ran.stdout("");
    }
    assert!(!opal.path().join("a.plan").exists());
    opal.call(&["plan", "a.yaml"]).code(0).says("made");
    opal.write("a.yaml", TEXT.replace("true", "false"));
    opal.call(&["plan", "a.yaml", "-o", "a.plan"]).code(0);
}

#[test]
fn what_has_no_counterpart_in_a_source_is_said_when_it_is_converted() {
    let opal = opal();
    let ran = opal.call(&["convert", "a.yaml", "-o", "a.opl"]);
    ran.code(0).says("warning: `a.yaml` has `dry_run: true`").says("opal run --dry-run FILE.opl");
    opal.call(&["run", "--dry-run", "a.opl"]).code(0);
    assert!(!opal.path().join("made").exists());
    opal.write("a.yaml", TEXT.replace("true", "false"));
    opal.call(&["convert", "a.yaml"]).code(0).stderr("");
}

#[test]
fn advice_names_what_asked_for_the_dry_run() {
    let opal = opal();
    let ran = opal.call(&["apply", "a.yaml", "--verify-first"]);
    ran.code(2).says("without `dry_run` in its `settings`").hides("--dry-run");
    let ran = opal.call(&["apply", "a.yaml", "--verify-first", "--dry-run"]);
    ran.code(2).says("without `--dry-run`");
    opal.call(&["apply", "a.yaml"]).code(0);
    assert!(!opal.path().join("made").exists());
}

#[test]
fn the_end_of_a_name_says_what_a_configuration_is_in_any_case() {
    for name in ["a.YML", "a.Yaml", "a.YAML"] {
        let opal = Opal::machine("").file(name, TEXT);
        opal.call(&["verify", name]).code(1).says("missing");
        opal.call(&["apply", name]).code(0);
        opal.call(&[name]).code(0);
    }
}

#[test]
fn steps_that_do_not_depend_on_a_failed_one_go_on_where_that_is_said() {
    let config = |go_on: bool| {
        format!(
            "version: 1\nsettings: {{parallel: 1, continue_on_error: {go_on}}}\nsteps:\n  \
             - {{id: bad, type: command, command: exit 3}}\n  \
             - {{id: other, type: directory, path: other}}\n  \
             - {{id: after, name: Last, type: directory, path: after, depends_on: [bad]}}\n"
        )
    };
    let opal = Opal::machine("").file("a.yaml", config(true));
    let ran = opal.call(&["apply", "a.yaml"]);
    ran.code(1).says("failed: 1 step done, 1 failed, 1 skipped in ");
    ran.says("skipped: after (Last): directory:after: dependencies not satisfied: bad (failed)");
    assert!(opal.path().join("other").is_dir() && !opal.path().join("after").exists());
    let opal = Opal::machine("").file("a.yaml", config(false));
    opal.call(&["apply", "a.yaml"]).code(1).says("1 failed");
    assert!(!opal.path().join("other").exists() && !opal.path().join("after").exists());
}

#[test]
fn what_was_satisfied_first_is_not_verified_again_and_the_rest_is() {
    let check = |id: &str| format!("echo {id} >> asked; test -e {id}");
    let text = format!(
        "version: 1\nsteps:\n  \
         - {{id: there, type: command, command: touch there, check: '{}'}}\n  \
         - {{id: gone, type: command, command: touch gone, check: '{}', depends_on: [there]}}\n",
        check("there"),
        check("gone")
    );
    let opal = Opal::machine("").file("a.yaml", text).file("there", "");
    let ran = opal.call(&["apply", "a.yaml", "--verify-first"]);
    ran.code(0).says("2 resources: 1 satisfied, 1 missing");
    ran.says("will be skipped, unless an earlier step changes it: there\n");
    let asked = opal.read("asked");
    let [there, gone] = ["there", "gone"].map(|id| asked.lines().filter(|it| *it == id).count());
    // Once first; the last look at the end, after something has changed, asks for all.
    assert_eq!((there, gone), (2, 3), "{asked}");
}
