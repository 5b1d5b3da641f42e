//! What a verification reports though something else is wrong, and that an apply writes nothing that a
//! dry run has not shown.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::Opal;
use crate::tree::tree;

fn statuses(opal: &Opal, words: &[&str]) -> Vec<(String, String, String)> {
    let document = opal.call(words).json();
    let text = |one: &Value, name: &str| one[name].as_str().unwrap_or_default().to_owned();
    let row = |one: &Value| (text(one, "step_id"), text(one, "status"), text(one, "message"));
    document["results"].as_array().unwrap().iter().map(row).collect()
}

fn yaml(steps: &str) -> Opal {
    Opal::machine("").file("a.yaml", format!("version: 1\n{steps}"))
}

#[test]
fn a_wrong_mode_does_not_hide_a_hijacked_link() {
    let opal = yaml(
        "steps:\n  - {id: dir, type: directory, path: d, mode: \"0755\"}\n\
         \x20 - {id: link, type: symlink, source: good, target: d/l, depends_on: [dir]}\n\
         \x20 - {id: conf, type: copy, content: \"a\\n\", destination: d/c, depends_on: [link]}\n",
    );
    opal.call(&["apply", "a.yaml"]).code(0);
    fs::set_permissions(opal.path().join("d"), Permissions::from_mode(0o700)).unwrap();
    fs::remove_file(opal.path().join("d/l")).unwrap();
    symlink("/evil", opal.path().join("d/l")).unwrap();
    let found = statuses(&opal, &["verify", "a.yaml", "--json"]);
    let of = |at: usize| (&*found[at].0, &*found[at].1);
    assert_eq!(
        [of(0), of(1), of(2)],
        [("dir", "drifted"), ("link", "drifted"), ("conf", "satisfied")]
    );
    assert!(found[0].2.ends_with("differs: mode 0700, expected 0755"), "{found:?}");
    assert!(found[1].2.contains("points to `/evil`, expected `"), "{found:?}");
    assert!(!found.iter().any(|it| it.2.contains("depends on")), "{found:?}");
}

#[test]
fn a_step_that_cannot_be_verified_yet_waits_and_says_for_what() {
    let opal = yaml(
        "steps:\n  - {id: dir, type: directory, path: d}\n\
         \x20 - {id: made, type: command, command: echo x > d/t, depends_on: [dir]}\n\
         \x20 - {id: page, type: template, source: d/t, destination: p, depends_on: [made]}\n",
    );
    opal.call(&["verify", "a.yaml"])
        .code(1)
        .says("made  blocked  ")
        .says("dependencies not satisfied: dir (missing)")
        .says("dependencies not satisfied: made (blocked)");
    let ran = opal.call(&["apply", "a.yaml", "--dry-run"]);
    ran.code(0).says("…  made  wait ").says("…  page  wait ").says("2 waiting for others");
    opal.call(&["apply", "a.yaml"]).code(0);
    assert_eq!(opal.read("p"), "x\n");
}

/// What `patch` makes of a file.
#[expect(clippy::disallowed_methods, reason = "the diff is tried on the program it is made for")]
fn patched(opal: &Opal, file: &str, diff: &str) -> String {
    let mut command = Command::new("patch");
    command.args(["--silent", "--no-backup-if-mismatch", file]).current_dir(opal.path());
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(diff.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success(), "{diff}");
    opal.read(file)
}

#[test]
fn every_line_that_an_apply_writes_is_in_the_dry_run_as_a_patch() {
    for (step, file) in [
        ("type: template, source: t, destination: f, vars: {a: 7}", "f"),
        ("type: copy, source: t, destination: f, overwrite: true", "f"),
        ("type: copy, content: \"one\\ntwo\", destination: f, overwrite: true", "f"),
        ("type: line_in_file, file: f, line: three", "f"),
    ] {
        for before in [None, Some("zero\nunchanged\n")] {
            let opal = yaml(&format!(
                "steps:\n  - {{id: dir, type: directory, path: other/place}}\n\
                 \x20 - {{id: it, {step}, depends_on: [dir]}}\n"
            ));
            opal.write("t", "x {{ a }}\nunchanged\nno line end");
            let _ = before.map(|text| opal.write(file, text));
            let document = opal.call(&["apply", "a.yaml", "--dry-run", "--json"]).code(0).json();
            let diff = document["results"][1]["details"].as_str().unwrap().to_owned();
            assert!(diff.starts_with("--- current: "), "{diff}");
            assert!(diff.contains("\n+++ desired: "), "{diff}");
            opal.write(file, before.unwrap_or_default());
            let shown = patched(&opal, file, &diff);
            match before {
                Some(text) => opal.write(file, text),
                None => fs::remove_file(opal.path().join(file)).unwrap(),
            }
            opal.call(&["apply", "a.yaml"]).code(0);
            assert_eq!(opal.read(file), shown, "{step}: {diff}");
        }
    }
}

#[test]
fn differences_say_which_side_is_which() {
    let opal =
        yaml("steps:\n  - {id: it, type: copy, content: new, destination: f, overwrite: true}\n");
    opal.write("f", "old");
    let ran = opal.call(&["verify", "a.yaml", "-v"]);
    ran.code(1).says("lines with `-` are expected, lines with `+` are actual");
    ran.says("\n--- expected: content\n+++ actual: ").says("\n-new\n").says("\n+old\n");
    let ran = opal.call(&["apply", "a.yaml", "--dry-run"]);
    ran.code(0).says("lines with `-` are removed, lines with `+` are written");
    ran.says("\n--- current: ").says("\n+++ desired: content\n").says("\n-old\n").says("\n+new\n");
}

#[test]
fn lines_go_by_id_and_name() {
    let opal = yaml("steps:\n  - {id: d, name: The data, type: directory, path: d}\n");
    opal.call(&["verify", "a.yaml"]).code(1).says("+  d (The data)  missing");
    opal.call(&["apply", "a.yaml", "--dry-run"]).code(0).says("+  d (The data)  create");
    opal.call(&["apply", "a.yaml"]).code(0).says("▸ d (The data): directory:d\n").hides("@file");
    opal.call(&["apply", "a.yaml"]).code(0).says("= d (The data): directory:d: satisfied\n");
    let document = opal.call(&["verify", "a.yaml", "--json"]).code(0).json();
    crate::support::assert_schema("verify-1.json", &document);
    assert_eq!(document["results"][0]["name"], "The data");
}

#[test]
fn steps_are_selected_for_an_apply_as_for_a_verification() {
    let steps = "steps:\n  - {id: dir, type: directory, path: d}\n\
                 \x20 - {id: file, type: copy, content: x, destination: d/f, depends_on: [dir]}\n\
                 \x20 - {id: alone, type: directory, path: e}\n\
                 validations: [{type: file_exists, path: d/f}]\n";
    let opal = yaml(steps);
    let ran = opal.call(&["apply", "a.yaml", "--only", "file"]);
    ran.code(1).says("dependencies not satisfied: dir (missing, not selected)");
    let ran = opal.call(&["apply", "a.yaml", "--dry-run", "--only", "file"]);
    ran.code(1).says("depends on dir (missing)").says("nothing was changed: 1 blocked");
    opal.call(&["apply", "a.yaml", "--only", "alnoe"]).code(2).says("did you mean `alone`?");
    opal.call(&["apply", "a.yaml", "--skip", "x"]).code(2).says("expected one of: `dir`");
    opal.call(&["apply", "a.yaml", "--only", "alone"]).code(0).says("done: 1 step");
    assert!(opal.path().join("e").is_dir() && !opal.path().join("d").exists());
    let ran = opal.call(&["apply", "a.yaml", "--dry-run", "--skip", "alone"]);
    ran.code(0).says("2 to create").hides("alone");
    opal.call(&["apply", "a.yaml", "--only", "dir"]).code(0);
    opal.call(&["apply", "a.yaml", "--only", "file"]).code(0);
    assert_eq!(opal.read("d/f"), "x");
    let document = opal.call(&["apply", "a.yaml", "--skip", "dir", "--json"]).code(0).json();
    assert_eq!(document["counts"]["skipped"], 2, "{document}");
}

#[test]
fn only_what_is_verified_is_asked_for() {
    let text = "fun a() {\n    echo @shell.output(\"echo x >> asked\")\n    \
                login --password @secret.cmd(\"echo y >> asked; echo long-secret\")\n    \
                @workdir(@shell.output(\"echo z >> asked; echo .\")) {\n        echo no\n    }\n    \
                @environ(TOKEN=@env.NOT_SET) {\n        echo no\n    }\n    \
                @file.directory(@shell.output(\"echo needed >> asked; echo d\"))\n    \
                @shell(\"touch f\", check=\"test -f f\")\n}\n";
    let opal = Opal::machine(text);
    let ran = opal.call(&["verify", "a"]);
    ran.code(1).says("2 resources: 2 missing").says("the check ends with 1");
    assert_eq!(opal.read("asked"), "needed\n");
}

#[test]
fn values_of_steps_that_are_not_selected_are_not_asked_for() {
    let step = |id: &str, more: &str| {
        let content = format!("@secret.cmd(\"echo {id} >> asked; echo long-secret-{id}\")");
        format!("    @file.copy(content={content}, destination=\"{id}\", id=\"{id}\"{more})\n")
    };
    let after = |id: &str| format!(", depends_on=[\"{id}\"]");
    let steps = [step("one", ""), step("two", &after("one")), step("three", &after("two"))];
    let text = format!(
        "fun a() {{\n{}{}    echo @shell.output(\"echo echoed >> asked\")\n}}\n",
        steps.concat(),
        step("other", "")
    );
    for (words, asked) in [
        (&["--only", "other"][..], "other"),
        (&["--only", "one"], "one"),
        // What it depends on is verified too, whether it is selected or not.
        (&["--only", "two"], "one two"),
        (&["--only", "three"], "one three two"),
        (&["--skip", "three", "--skip", "other"], "one two"),
        (&["--skip", "one", "--skip", "two"], "one other three two"),
        (&[], "one other three two"),
    ] {
        let opal = Opal::machine(&text);
        opal.call(&[&["verify", "a"], words].concat()).code(1).hides("long-secret");
        let mut found: Vec<String> = opal.read("asked").lines().map(str::to_owned).collect();
        found.sort();
        assert_eq!(found.join(" "), asked, "{words:?}");
    }
    let opal = Opal::machine(&text);
    opal.call(&["verify", "a", "--only", "thre"]).code(2).says("did you mean `three`?");
    assert!(!opal.path().join("asked").exists());
}

#[test]
fn a_name_that_is_a_value_selects_too() {
    let text = "fun a() {\n    @file.directory(\"x\", id=@shell.output(\"echo here\"))\n    \
                @file.directory(@shell.output(\"echo y >> asked; echo y\"), id=\"there\")\n}\n";
    let opal = Opal::machine(text);
    let ran = opal.call(&["verify", "a", "--only", "here"]);
    ran.code(1).says("1 resource: 1 missing");
    assert!(!opal.path().join("asked").exists(), "{ran:#?}");
}

#[test]
fn lines_about_a_selection_are_true_and_short() {
    let opal = yaml(
        "steps:\n  - {id: a, type: directory, path: a}\n  - {id: b, type: directory, path: b}\n\
         validations: [{type: file_exists, path: a}]\n",
    );
    let ran = opal.call(&["verify", "a.yaml", "--only", "b"]);
    ran.code(1).says("`opal apply a.yaml --only b`\n");
    let ran = opal.call(&["apply", "a.yaml", "--dry-run", "--skip", "a"]);
    ran.code(0).says("1 to create").hides("would run");
    let ran = opal.call(&["apply", "a.yaml", "--only", "b"]);
    ran.code(0).says("done: 1 step, 2 skipped").hides("not selected");
    let ran = opal.call(&["apply", "a.yaml", "--only", "b", "--verbose"]);
    ran.code(0).says("skipped: a: directory:a: not selected");
}

#[test]
fn uncommitted_changes_are_drift_and_go_only_by_force() {
    let opal = yaml("steps:\n  - {id: r, type: repo, url: server, destination: copy}\n").file(
        "b.yaml",
        "version: 1\nsteps:\n  - {id: r, type: repo, url: server, destination: copy, force: true}\n",
    );
    let git = "git -c user.name=A -c user.email=a@example.com";
    let setup = format!(
        "fun s() {{\n    git init -q -b main server\n    echo one > server/one\n    \
         {git} -C server add one\n    {git} -C server commit -q -m one\n}}\n"
    );
    opal.write("setup.opl", setup);
    opal.call(&["-f", "setup.opl", "s"]).code(0);
    opal.call(&["apply", "a.yaml"]).code(0);
    opal.write("copy/untracked", "mine");
    opal.call(&["verify", "a.yaml"]).code(0);
    opal.write("copy/one", "changed");
    let before = tree(&opal.path().join("copy"));
    let ran = opal.call(&["verify", "a.yaml", "-v"]);
    ran.code(1).says("uncommitted changes 1 file (one), expected none");
    ran.says("apply will not fix it").says("force=true");
    opal.call(&["apply", "a.yaml", "--dry-run"]).code(1).says("✗  r  ").says("not committed");
    opal.call(&["apply", "a.yaml"])
        .code(1)
        .says("has changes that are not committed: 1 file (one)");
    assert_eq!(tree(&opal.path().join("copy")), before, "nothing has changed in the clone");
    opal.call(&["apply", "b.yaml"]).code(0);
    assert_eq!(
        (opal.read("copy/one").as_str(), opal.read("copy/untracked").as_str()),
        ("one\n", "mine")
    );
    opal.call(&["verify", "a.yaml"]).code(0);
}

#[test]
fn a_copy_of_given_content_has_its_mode_and_overwrites_only_where_that_is_said() {
    let opal = yaml(
        "steps:\n  - {id: c, type: copy, content: \"hi\\n\", destination: f, mode: \"0640\"}\n",
    );
    opal.call(&["apply", "a.yaml"]).code(0);
    assert_eq!(fs::metadata(opal.path().join("f")).unwrap().permissions().mode() & 0o777, 0o640);
    fs::set_permissions(opal.path().join("f"), Permissions::from_mode(0o644)).unwrap();
    opal.call(&["verify", "a.yaml"]).code(1).says("blocked").says("mode 0644, expected 0640");
    let both = "steps:\n  - {id: c, type: copy, content: x, source: y, destination: f}\n";
    yaml(both)
        .call(&["verify", "a.yaml"])
        .code(2)
        .says("give exactly one of `source` and `content`");
    let none = "steps:\n  - {id: c, type: copy, destination: f}\n";
    yaml(none).call(&["verify", "a.yaml"]).code(2).says("needs one of `source` and `content`");
    let task = Opal::machine("fun a() {\n    @file.copy(destination=\"f\")\n}\n");
    task.call(&["check"]).code(65).says("needs one of `source` and `content`");
}

/// A branch that goes elsewhere takes no other branch with it.
#[test]
fn a_step_that_changes_the_directory_leaves_other_branches_where_they_are() {
    let yaml = "version: \"1\"\nsteps:\n  - {id: a, type: command, command: cd / && true, check: \"true\"}\n  \
                - {id: b, type: command, command: \"true\", check: test -f steps.yaml}\n";
    let opal = Opal::project(
        "fun p() {\n    @parallel {\n        cd / && true\n        \
         @shell(\"true\", check=\"test -f steps.yaml\")\n    }\n}\n",
    );
    std::fs::write(opal.path().join("steps.yaml"), yaml).unwrap();
    opal.call(&["verify", "steps.yaml"]).code(0).says("2 resources: 2 satisfied");
    opal.call(&["verify", "p"]).code(0).says("1 resource: 1 satisfied");
}

#[test]
fn a_prerequisite_does_not_hide_why_a_step_cannot_be_verified() {
    let opal = yaml(
        "steps:\n  - {id: dir, type: directory, path: d}\n\
         \x20 - {id: page, type: template, source: t, destination: d/p, depends_on: [dir]}\n",
    )
    .file("t", "{{ prot }}");
    let ran = opal.call(&["verify", "a.yaml", "--verbose"]);
    ran.code(1).says("dependencies not satisfied: dir (missing)");
    ran.says("page: blocked").says("line 1: `prot` has no value");
}

#[test]
fn a_dry_run_shows_the_commands_that_an_apply_would_run() {
    let opal = yaml(
        "steps:\n  - {id: one, type: command, command: touch first}\n\
         \x20 - {id: two, type: command, command: touch second, check: test -e second}\n",
    );
    let ran = opal.call(&["apply", "a.yaml", "--dry-run"]);
    ran.code(0).says("one: unknown, command:touch first").says("two: missing, command:");
    ran.says("touch second");
    opal.call(&["apply", "a.yaml"]).code(0);
    opal.call(&["apply", "a.yaml", "--dry-run"]).code(0).hides("two: ").says("one: ");
}
