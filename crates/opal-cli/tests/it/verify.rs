//! `opal verify`: what it says, what it exits with, and that it changes nothing.

mod diffs;
mod hard;
mod hides_nothing;
mod others;
mod private;

use crate::support::{Opal, assert_schema, repository};
use crate::tree::tree;

/// A directory, a file in it, a link to that, and a command without a check.
pub(super) const CHAIN: &str = "\
version: 1
steps:
  - id: dir
    type: directory
    path: out
  - id: conf
    type: copy
    source: app.conf
    destination: out/app.conf
    overwrite: true
    depends_on: [dir]
  - id: link
    type: symlink
    source: app.conf
    target: out/current
    depends_on: [conf]
";

pub(super) fn chain() -> Opal {
    Opal::machine("").file("site.yaml", CHAIN).file("app.conf", "port=80\n")
}

/// The statuses of all steps, by what JSON says.
#[track_caller]
pub(super) fn statuses(opal: &Opal, words: &[&str]) -> Vec<(String, String)> {
    let document = opal.call(&[&["verify", "--json"], words].concat()).json();
    assert_schema("verify-1.json", &document);
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let results = document["results"].as_array().unwrap();
    results.iter().map(|one| (text(&one["step_id"]), text(&one["status"]))).collect()
}

#[track_caller]
fn assert_statuses(opal: &Opal, expected: &[(&str, &str)]) {
    let found = statuses(opal, &["site.yaml"]);
    let found: Vec<(&str, &str)> = found.iter().map(|(id, status)| (&**id, &**status)).collect();
    assert_eq!(found, expected);
}

#[test]
fn every_exit_code_means_what_it_says() {
    let opal = chain();
    opal.call(&["verify", "site.yaml"]).code(1).says("opal apply site.yaml");
    opal.call(&["apply", "site.yaml"]).code(0);
    opal.call(&["verify", "site.yaml"]).code(0).says("everything is in the desired state");
    opal.call(&["verify", "nowhere.yaml"]).code(2).says("does not exist");
    for (text, words) in [
        ("version: 1\nsteps:\n  - {id: a, type: directory, pth: x}\n", "did you mean"),
        ("version: 1\nsteps:\n  - {id: a, type: directory, path: x, depends_on: [b]}\n", "`b`"),
        (
            "version: 1\nsteps:\n  - {id: a, type: directory, path: x, depends_on: [b]}\n  \
             - {id: b, type: directory, path: y, depends_on: [a]}\n",
            "a -> b -> a",
        ),
        ("version: 1\nsteps: [\n", "error["),
    ] {
        opal.write("bad.yaml", text);
        for verb in ["verify", "apply", "run"] {
            opal.call(&[verb, "bad.yaml"]).code(2).says(words).says("bad.yaml:");
        }
        opal.call(&["bad.yaml"]).code(2).says(words);
    }
    opal.call(&["verify"]).code(2);
    opal.call(&["verify", "no-such-task"]).code(2).says("unknown task");
    opal.call(&["verify", "site.yaml", "--only", "cnof"]).code(2).says("did you mean `conf`?");
    opal.call(&["verify", "site.yaml", "word"]).code(2).says("takes no arguments");
    opal.call(&["--yes", "verify", "site.yaml"]).code(2).says("--yes");
}

#[test]
fn where_it_cannot_look_at_all_it_exits_with_3() {
    let opal = Opal::machine("fun a() {\n    @file.directory(@env.PLACE)\n}\n");
    let env = [("PLACE", "somewhere-else"), ("OPAL_IDENTITY", "no key at all")];
    opal.call_with(&env, &["verify", "a"]).code(3);
    opal.call_with(&env[..1], &["verify", "a"]).code(1);
    opal.call(&["verify", "a"]).code(3).says("`PLACE`");
    let opal = Opal::machine("fun a() {\n    @file.directory(@shell.output(\"exit 1\"))\n}\n");
    opal.call(&["verify", "a"]).code(3).says("failed with exit code 1");
}

#[test]
fn a_chain_is_verified_behind_its_first_missing_link() {
    let opal = chain();
    assert_statuses(&opal, &[("dir", "missing"), ("conf", "missing"), ("link", "missing")]);
    opal.call(&["verify", "site.yaml"])
        .says("; depends on dir (missing)")
        .says("; depends on conf (missing)");
    opal.call(&["apply", "site.yaml"]).code(0);
    assert_statuses(&opal, &[("dir", "satisfied"), ("conf", "satisfied"), ("link", "satisfied")]);
    opal.write("out/app.conf", "port=81\n");
    assert_statuses(&opal, &[("dir", "satisfied"), ("conf", "drifted"), ("link", "satisfied")]);
}

#[test]
fn a_diamond_names_all_that_is_not_satisfied() {
    let step = |id: &str, after: &str| {
        format!("  - {{id: {id}, type: directory, path: {id}, depends_on: [{after}]}}\n")
    };
    let steps =
        [step("top", ""), step("left", "top"), step("right", "top"), step("end", "left, right")];
    let opal =
        Opal::machine("").file("site.yaml", format!("version: 1\nsteps:\n{}", steps.concat()));
    std::fs::create_dir(opal.path().join("top")).unwrap();
    opal.call(&["verify", "site.yaml"])
        .code(1)
        .says("; depends on left (missing), right (missing)");
    std::fs::create_dir(opal.path().join("left")).unwrap();
    let expected =
        [("top", "satisfied"), ("left", "satisfied"), ("right", "missing"), ("end", "missing")];
    assert_statuses(&opal, &expected);
}

#[test]
fn looking_changes_nothing_anywhere_and_twice_finds_the_same() {
    let opal = chain();
    opal.call(&["apply", "site.yaml", "--no-record"]).code(0);
    opal.write("out/app.conf", "port=81\n");
    let before = tree(&opal.path());
    for words in [
        &["verify", "site.yaml"][..],
        &["verify", "site.yaml", "--verbose", "--jobs", "1"],
        &["verify", "site.yaml", "--json"],
        &["verify", "site.yaml", "--only", "conf"],
        &["apply", "site.yaml", "--dry-run"],
        &["apply", "site.yaml", "--dry-run", "--json"],
        &["plan", "site.yaml"],
        &["check", "site.yaml"],
        &["convert", "site.yaml"],
    ] {
        opal.call(words);
        assert_eq!(tree(&opal.path()), before, "{words:?}");
    }
    let once = statuses(&opal, &["site.yaml"]);
    assert_eq!(statuses(&opal, &["site.yaml"]), once);
}

/// One step of each type, each in a state that something would be done about.
const EVERY_TYPE: &str = "\
version: 1
vars: {port: 80}
steps:
  - {id: absent, type: absent, path: old}
  - {id: command, type: command, command: touch made, check: test -e made}
  - {id: copy, type: copy, source: tree, destination: copied, recursive: true, overwrite: true}
  - {id: content, type: copy, content: x, destination: given, mode: '0600', overwrite: true}
  - {id: directory, type: directory, path: tree, mode: '0711'}
  - {id: line, type: line_in_file, file: tree/a, line: z, backup: true}
  - {id: package, type: package, packages: [no-such-package-of-opal], update: true}
  - {id: repo, type: repo, url: server, destination: clone, branch: main}
  - {id: service, type: service, name: no-such-service, state: running, enabled: true}
  - {id: symlink, type: symlink, source: tree/a, target: link, force: true}
  - {id: template, type: template, source: t.j2, destination: tree/b, vars: {port: '@var.port'}}
  - {id: user, type: user, name: no-such-user-of-opal, shell: /bin/sh}
";

#[test]
fn verifying_any_resource_changes_nothing_anywhere() {
    let schema = std::fs::read_to_string(repository().join("docs/schema/config-1.json")).unwrap();
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    let mut types = Vec::new();
    kinds(&schema["properties"]["steps"], &mut types);
    assert!(types.len() > 10, "{types:?}");
    for name in types {
        assert!(EVERY_TYPE.contains(&format!("type: {name},")), "`{name}` is not tried");
    }
    let opal = Opal::machine("")
        .file("site.yaml", EVERY_TYPE)
        .file("old", "x")
        .file("tree/a", "a\n")
        .file("tree/b", "listen 81\n")
        .file("copied/a", "b\n")
        .file("given", "y")
        .file("link", "in the way")
        .file("t.j2", "listen {{ port }}\n");
    let git = "git init -q -b main server && cd server && git -c user.name=a -c user.email=a@b \
               commit -q --allow-empty -m 1 && cd .. && git clone -q server clone && \
               echo x > clone/new && git -C clone add new";
    opal.write("make.opl", format!("{git}\n"));
    opal.call(&["make.opl", "--no-record"]).code(0);
    let before = tree(&opal.path());
    for words in [
        &["verify", "site.yaml"][..],
        &["verify", "site.yaml", "--verbose"],
        &["verify", "site.yaml", "--json"],
        &["apply", "site.yaml", "--dry-run"],
        &["apply", "site.yaml", "--dry-run", "--json"],
        &["plan", "site.yaml"],
    ] {
        opal.call(words);
        assert_eq!(tree(&opal.path()), before, "{words:?}");
    }
    let found = statuses(&opal, &["site.yaml"]);
    assert_eq!(found.len(), 12);
    let satisfied: Vec<_> = found.iter().filter(|(_, status)| status == "satisfied").collect();
    assert!(satisfied.is_empty(), "each has something to do: {satisfied:?}");
}

/// Every `type` of a step that the schema knows.
fn kinds(schema: &serde_json::Value, into: &mut Vec<String>) {
    match schema {
        serde_json::Value::Object(fields) => {
            let kind = fields.get("type").and_then(|kind| kind.get("const"));
            into.extend(kind.and_then(|kind| kind.as_str()).map(str::to_owned));
            fields.values().for_each(|value| kinds(value, into));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| kinds(item, into)),
        _ => {}
    }
}

#[test]
fn a_task_with_values_makes_no_key_and_no_record() {
    let text = "fun a() {\n    @file.directory(@secret.env.PLACE)\n    echo @secret.env.PLACE\n}\n";
    let opal = Opal::machine(text).env("PLACE", "somewhere-else");
    let before = tree(&opal.path());
    opal.call(&["verify", "a"]).code(1).hides("somewhere-else").says("1 more step only acts");
    opal.call(&["verify", "a", "--json"]).code(1).hides("somewhere-else");
    assert_eq!(tree(&opal.path()), before);
}

#[test]
fn only_what_was_asked_for_is_told() {
    let opal = chain();
    std::fs::create_dir(opal.path().join("out")).unwrap();
    let found = statuses(&opal, &["site.yaml", "--only", "conf", "--only", "dir"]);
    assert_eq!(
        found,
        [("dir", "satisfied"), ("conf", "missing")].map(|(a, b)| (a.into(), b.into()))
    );
    opal.call(&["verify", "site.yaml", "--only", "dir"]).code(0).hides("conf");
}

#[test]
fn a_plan_without_resources_is_told_so_and_is_fine() {
    let opal = Opal::machine("fun a() {\n    echo a\n    echo b\n}\n");
    opal.call(&["verify", "a"]).code(0).says("nothing to verify").says("2 more steps");
    let document = opal.call(&["verify", "a", "--json"]).code(0).json();
    assert_eq!(document["summary"]["total_steps"], 0);
    assert_schema("verify-1.json", &document);
}

#[test]
fn tasks_take_their_arguments_and_the_options_of_a_look_behind_them() {
    let text = "fun setup(name, only = \"x\") {\n    @file.directory(\"out/@var.name\", id=\"d\")\n    \
                echo @var.only\n}\n";
    let opal = Opal::machine(text);
    opal.call(&["verify", "setup", "web", "-v"]).code(1).says("opal setup web").says("missing");
    let document = opal.call(&["verify", "setup", "web", "--json", "--jobs=2"]).code(1).json();
    assert_eq!(document["config_file"], "commands.opl");
    assert_eq!(document["results"][0]["step_id"], "d");
    // The function's own flag wins.
    opal.call(&["verify", "setup", "web", "--only", "nothing"]).code(1).says("missing");
    opal.call(&["verify", "setup", "web", "--yes"]).code(2);
    opal.call(&["verify", "setup", "--help"]).code(0).says("Options for resources");
}

#[test]
fn colours_are_for_terminals() {
    let opal = chain();
    opal.call(&["verify", "site.yaml"]).code(1).hides("\x1b");
    opal.call(&["--color", "always", "verify", "site.yaml"]).code(1).says("\x1b[33mmissing");
}

#[test]
fn json_of_a_bad_configuration_has_places() {
    let opal = Opal::machine("").file("bad.yaml", "version: 1\nsteps:\n  - {id: a, typ: x}\n");
    let document = opal.call(&["verify", "bad.yaml", "--json"]).code(2).json();
    let found = &document["files"][0]["diagnostics"][0];
    assert_eq!(found["span"]["start"]["line"], 3, "{document:#}");
}
