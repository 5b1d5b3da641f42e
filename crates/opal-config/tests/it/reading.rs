//! What is accepted, what is refused, and where the fault is said to be.

use opal_config::{Argument, Check, Config, Given};
use opal_core::{Duration, Value};

use crate::support::{faults, read};

/// A file with one step, whose keys are these lines.
fn step(keys: &str) -> String {
    let keys: String = keys.lines().map(|line| format!("    {line}\n")).collect();
    format!("version: 1\nsteps:\n  - id: a\n{keys}")
}

fn argument<'c>(config: &'c Config, name: &str) -> &'c Given {
    let found = config.steps[0].arguments.iter().find(|argument| argument.param.name == name);
    &found.unwrap_or_else(|| panic!("{name} in {config:#?}")).value
}

fn text(text: &str) -> Given {
    Given::Data(Value::String(text.to_owned().into()))
}

#[test]
fn every_part_of_a_file_is_read() {
    let config = read(
        "version: \"1.0\"\nname: Web\ndescription: two steps\n\
         settings: {parallel: 3, timeout: 120, continue_on_error: true, verbose: true}\n\
         steps:\n  - id: page\n    name: The page\n    type: copy\n    depends_on: [root]\n    \
         source: index.html\n    destination: /srv/www/index.html\n    verify_timeout: 2m\n  \
         - {id: root, type: directory, path: /srv/www, mode: 0755}\n  \
         - {id: old, type: absent, path: /srv/old, enabled: false}\n\
         validations:\n  - {type: command_exists, command: nginx}\n  \
         - {type: file_exists, path: ~/x}\n  - {type: path_contains, path: /etc/a, text: b}\n",
    );
    assert_eq!(config.name.as_deref(), Some("Web"));
    assert_eq!(config.settings.parallel, 3);
    assert_eq!(config.settings.timeout, Some(Duration::from_secs(120)));
    assert!(config.settings.continue_on_error && config.settings.verbose);
    assert!(!config.settings.dry_run);
    let enabled: Vec<&str> = config.enabled().map(|step| step.id.as_str()).collect();
    assert_eq!(enabled, ["page", "root"]);
    let named = |it: &&Argument| it.param.name == "name";
    let name = config.steps[0].arguments.iter().find(named).unwrap();
    assert_eq!(name.value.to_string(), "\"The page\"");
    let timeout = Given::Data(Value::Duration(Duration::from_secs(120)));
    assert_eq!(argument(&config, "verify_timeout"), &timeout);
    let checks: Vec<&Check> = config.validations.iter().map(|one| &one.check).collect();
    assert_eq!(checks[0], &Check::CommandExists { command: "nginx".into() });
    assert_eq!(checks[2], &Check::PathContains { file: "/etc/a".into(), text: "b".into() });
}

#[test]
fn settings_have_their_defaults() {
    let config = read(&step("type: absent\npath: x"));
    assert_eq!(config.settings.parallel, 4);
    assert_eq!(config.settings.timeout, None);
    assert!(!config.settings.continue_on_error);
}

#[test]
fn permissions_are_the_digits_that_were_written() {
    for (written, mode) in
        [("0644", "0644"), ("\"0644\"", "0644"), ("'644'", "644"), ("0o644", "0644")]
    {
        let config = read(&step(&format!("type: directory\npath: x\nmode: {written}")));
        assert_eq!(argument(&config, "mode"), &text(mode), "{written}");
    }
    for written in ["420", "644", "0999", "rwx", "0x1a4", "[0644]", "true"] {
        let found = faults(&step(&format!("type: directory\npath: x\nmode: {written}")));
        assert_eq!(found.len(), 1, "{written}: {found:?}");
        assert!(found[0].starts_with("6:") && found[0].contains("E1005"), "{written}: {found:?}");
    }
}

#[test]
fn a_text_is_its_spelling() {
    for (written, expected) in [
        ("1.10", "1.10"),
        ("1000", "1000"),
        ("0x10", "0x10"),
        ("no", "no"),
        ("$HOME @env.X", "$HOME @env.X"),
    ] {
        let config = read(&step(&format!("type: repo\nurl: u\ndestination: d\nbranch: {written}")));
        assert_eq!(argument(&config, "branch"), &text(expected));
    }
    for written in ["true", "~", "", "[x]"] {
        let found =
            faults(&step(&format!("type: repo\nurl: u\ndestination: d\nbranch: {written}")));
        assert_eq!(found.len(), 1, "{written}: {found:?}");
    }
}

#[test]
fn packages_are_names_with_or_without_a_version() {
    let config =
        read(&step("type: package\npackages: [nginx, {name: x, version: 1.10}, {name: y}, a=2]"));
    let expected = ["nginx", "x=1.10", "y", "a=2"].map(|name| Value::String(name.into()));
    assert_eq!(argument(&config, "packages"), &Given::Data(Value::Array(expected.to_vec())));
    let found = faults(&step("type: package\npackages: [{nam: x}, {name: a=b}, [c]]"));
    assert_eq!(
        found,
        [
            "5:17 E1002 unknown key `nam` in a package",
            "5:17 E1004 a package needs `name`",
            "5:33 E1005 `a=b` is not a valid `name`",
            "5:40 E1005 `packages` expects a text, got a list",
        ]
    );
}

#[test]
fn values_for_a_template_keep_their_types() {
    let config = read(&step(
        "type: template\nsource: s\ndestination: d\nenv: true\n\
         vars: {port: 80, on: true, off: no, rate: 1.5, none: , list: [1, a], deep: {x: y}}",
    ));
    let Given::Data(Value::Map(vars)) = argument(&config, "vars") else { panic!() };
    assert_eq!(vars["port"], Value::Int(80));
    assert_eq!(vars["on"], Value::Bool(true));
    assert_eq!(vars["off"], Value::text("no"));
    assert_eq!(vars["rate"], Value::Float(1.5));
    assert_eq!(vars["none"], Value::Null);
    assert_eq!(vars["list"], Value::Array(vec![Value::Int(1), Value::text("a")]));
    let found =
        faults(&step("type: template\nsource: s\ndestination: d\nvars: {v: 1.10, m: 0644}"));
    assert_eq!(
        found,
        [
            "7:15 E1005 the number `1.10` would not keep its spelling",
            "7:24 E1005 the number `0644` would not keep its spelling",
        ]
    );
}

#[test]
fn both_names_of_a_parameter_are_known_and_exclude_each_other() {
    let config = read(&step("type: command\ncommand: make\nverify: test -e out"));
    assert!(
        matches!(argument(&config, "check"), Given::Command { text, .. } if text == "test -e out")
    );
    read(&step("type: command\ncmd: make\ncheck: test -e out"));
    let found = faults(&step("type: command\ncmd: a\ncommand: b\ncheck: c\nverify: d"));
    assert_eq!(
        found,
        [
            "6:5 E1003 `command` is an alias of `cmd`, and both are given",
            "8:5 E1003 `verify` is an alias of `check`, and both are given",
        ]
    );
    assert_eq!(faults(&step("type: command")), ["3:5 E1004 a `command` step needs `command`"]);
}

#[test]
fn the_name_of_a_service_is_its_parameter() {
    let config = read(&step("type: service\nname: nginx\nenabled: false"));
    assert_eq!(argument(&config, "name"), &text("nginx"));
    assert_eq!(argument(&config, "enabled"), &Given::Data(Value::Bool(false)));
    assert!(
        config.steps[0].enabled,
        "`enabled` of a service is whether it starts with the machine"
    );
}

#[test]
fn all_faults_are_reported_at_once() {
    let found = faults(
        "version: 2\nnam: x\nsettings: {parallel: 0, timeout: soon, verbos: true}\nsteps:\n  \
         - id: a\n    type: copi\n  - id: a\n    type: copy\n    source: [x]\n    overwrite: yes\n    \
         depends_on: [c, a]\n    extra: 1\n  - type: symlink\n    source: x\n    target: y\n    \
         depends_on: b\n  - just text\nvalidations:\n  - type: file_exist\n  \
         - {type: command_exists, path: x}\n",
    );
    assert_eq!(
        found,
        [
            "1:10 E1005 `2` is not a valid `version`",
            "2:1 E1002 unknown key `nam` in a configuration",
            "3:22 E1005 `0` is out of the range of `parallel`",
            "3:34 E1005 `timeout` expects a duration, got a text",
            "3:40 E1002 unknown key `verbos` in `settings`",
            "6:11 E1006 unknown step type `copi`",
            "7:5 E1004 a `copy` step needs `destination`",
            "7:9 E1007 duplicate step id `a`",
            "9:14 E1005 `source` expects a text, got a list",
            "10:16 E1005 `overwrite` expects `true` or `false`, got a text",
            "11:18 E1008 unknown step id `c`",
            "12:5 E1002 unknown key `extra` in a `copy` step",
            "13:5 E1004 a `symlink` step needs `id`",
            "16:17 E1005 `depends_on` expects a list, got a text",
            "17:5 E1005 a step must be a mapping of keys to values",
            "19:11 E1006 unknown validation type `file_exist`",
            "20:6 E1004 a `command_exists` validation needs `command`",
            "20:28 E1002 unknown key `path` in a `command_exists` validation",
        ]
    );
}

#[test]
fn without_a_type_only_what_no_type_has_is_a_fault() {
    let found = faults(
        "version: 1\nsteps:\n  - id: a\n    typ: copy\n    source: x\n    cmd: y\n    nonsense: 1\n  \
         - &b {id: b, type: directory, path: x}\n  - <<: *b\nvalidations:\n  - {tpye: x, path: y}\n",
    );
    assert_eq!(
        found,
        [
            "3:5 E1004 a step needs `type`",
            "4:5 E1002 unknown key `typ` in a step",
            "7:5 E1002 unknown key `nonsense` in a step",
            "9:5 E1004 a step needs `type`",
            "9:5 E1005 YAML 1.2 has no merge key `<<`",
            "11:6 E1002 unknown key `tpye` in a validation",
            "11:6 E1004 a validation needs `type`",
        ]
    );
}

#[test]
fn what_is_nearly_right_is_suggested() {
    let suggested = |text: &str| {
        let errors = opal_config::read(text, &crate::support::registry()).unwrap_err();
        errors.iter().flat_map(|error| error.help.clone()).collect::<Vec<_>>().join("; ")
    };
    for (keys, near) in [
        ("type: copy\nsource: a\ndestinaton: b", "did you mean `destination`?"),
        ("typ: copy", "did you mean `type`?"),
        ("type: symlnk", "did you mean `symlink`?"),
        ("type: absent\npath: x\ndepends_on: [bse]", "did you mean `base`?"),
        ("type: line_in_file\nfile: f\nline: l\nstate: presnt", "did you mean `present`?"),
    ] {
        let found = suggested(&format!("{}  - {{id: base, type: absent, path: y}}\n", step(keys)));
        assert!(found.contains(near), "{keys}: {found}");
    }
}

#[test]
fn cycles_are_printed_as_they_run() {
    let chain = |edges: &[(&str, &str)]| {
        let steps = edges.iter().map(|(id, on)| {
            format!("  - {{id: {id}, type: absent, path: {id}, depends_on: [{on}]}}\n")
        });
        format!("version: 1\nsteps:\n{}", steps.collect::<String>())
    };
    let cycle = "E1009 dependency cycle between steps: ";
    assert_eq!(faults(&chain(&[("a", "a")])), [format!("3:49 {cycle}`a -> a`")]);
    assert_eq!(faults(&chain(&[("a", "b"), ("b", "a")])), [format!("4:49 {cycle}`a -> b -> a`")]);
    let two = chain(&[("z", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("d", "e"), ("e", "d")]);
    let found = faults(&two);
    assert_eq!(
        found,
        [format!("6:49 {cycle}`a -> b -> c -> a`"), format!("8:49 {cycle}`d -> e -> d`")]
    );
}

#[test]
fn a_dependency_may_be_further_down_and_must_be_enabled() {
    let text = "version: 1\nsteps:\n  - {id: a, type: absent, path: a, depends_on: [b]}\n  \
                - {id: b, type: absent, path: b, enabled: BOOL}\n";
    assert_eq!(faults(&text.replace("BOOL", "true")), [""; 0]);
    assert_eq!(
        faults(&text.replace("BOOL", "false")),
        ["3:49 E1008 the step `b` is disabled, so nothing can depend on it"]
    );
}

#[test]
fn a_path_and_a_list_of_packages_are_not_empty() {
    for (form, found) in [
        ("type: directory\npath: ''", "5:11 E1005 `path` is empty"),
        ("type: copy\nsource: ''\ndestination: d", "5:13 E1005 `source` is empty"),
        ("type: package\npackages: []", "5:15 E1005 `packages` is empty"),
    ] {
        assert_eq!(faults(&step(form)), [found]);
    }
    assert_eq!(faults(&step("type: directory\npath: d\ndepends_on: []")), [""; 0]);
}

#[test]
fn a_regex_is_read_as_one() {
    let config = read(&step("type: line_in_file\nfile: f\nline: l\nmatch: '^a\"b\\s'"));
    assert_eq!(argument(&config, "match"), &Given::Regex(r#"^a\"b\s"#.into()));
    let found = faults(&step("type: line_in_file\nfile: f\nline: l\nmatch: '^(a'"));
    assert_eq!(found, ["7:12 E1005 invalid regular expression in `match`"]);
    let found = faults(&step("type: line_in_file\nfile: f\nline: l\nmatch: |\n  ^a"));
    assert_eq!(found, ["8:7 E1005 invalid regular expression in `match`"]);
}

#[test]
fn what_yaml_can_do_beyond_data_is_refused() {
    for (text, message) in [
        ("", "this file is empty"),
        ("# only a comment\n", "this file is empty"),
        ("version: 1\n---\nversion: 1\n", "a second document begins here"),
        ("version: !!str 1\n", "tags are not supported"),
        ("a: &a [*a]\n", "this alias is inside the value that it names"),
        ("a: *b\n", "invalid YAML"),
        ("a: [1\n", "invalid YAML"),
        ("a:\n\t- b\n", "invalid YAML"),
        ("a: \"\\0\"\n", "this text contains a NUL character"),
    ] {
        let found = faults(text);
        assert_eq!(found.len(), 1, "{text}");
        assert!(found[0].ends_with(message), "{text}: {found:?}");
    }
    let found = faults("- a\n");
    assert_eq!(found, ["1:3 E1005 a configuration must be a mapping of keys to values"]);
}

#[test]
fn aliases_stand_for_what_they_name() {
    let config = read(
        "version: 1\nsteps:\n  - id: a\n    type: template\n    source: s\n    destination: d\n    \
         vars: &v {x: 1}\n  - id: b\n    type: template\n    source: s\n    destination: e\n    vars: *v\n",
    );
    assert_eq!(config.steps[0].arguments[2].value, config.steps[1].arguments[2].value);
}

#[test]
fn aliases_cannot_make_a_mountain() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    let found = faults(&bomb);
    assert!(found[0].ends_with("the file is too large with its aliases expanded"), "{found:?}");
    let mut tower = "a0: &a0 x\n".to_owned();
    for level in 1..100 {
        tower.push_str(&format!("a{level}: &a{level} [*a{}]\n", level - 1));
    }
    assert!(faults(&tower)[0].ends_with("nesting deeper than 64 levels"));
}

#[test]
fn sizes_and_nesting_have_limits() {
    let deep = format!("a: {}{}\n", "[".repeat(100), "]".repeat(100));
    assert_eq!(faults(&deep).len(), 1);
    let deep: String = (0..100).map(|level| format!("{}a:\n", " ".repeat(level))).collect();
    assert_eq!(faults(&deep).len(), 1);
    let large = "#".repeat(16 * 1024 * 1024 + 1);
    assert_eq!(faults(&large), ["1:1 E0102 the file is larger than 16 MiB"]);
}

#[test]
fn a_broken_file_of_many_lines_has_an_end_of_messages() {
    let many: String = (0..5_000).map(|n| format!("key{n}: x\n")).collect();
    assert_eq!(faults(&many).len(), 1_000);
}
