//! A configuration and its conversion are one program: the same plan, whatever its texts hold.

use opal_core::{Code, Diagnostic};
use opal_plan::Words;
use opal_plan::check;
use proptest::prelude::*;

use crate::support::{hash_of_config, hash_of_source, plan_of, read, registry};

/// Converts, and holds both against each other.
#[track_caller]
fn same(yaml: &str) -> String {
    let config = read(yaml);
    let registry = registry();
    let source = opal_config::convert(&config, &registry);
    let formatted = opal_syntax::format(&source, &Words(&registry), opal_syntax::Style::default());
    assert_eq!(formatted.as_deref(), Some(source.as_str()), "it is formatted");
    let warned: Vec<Diagnostic> = check::check(&source, &registry).diagnostics;
    assert!(warned.iter().all(|one| one.code != Code::BidiControl), "{source}");
    assert_eq!(hash_of_config(&config), hash_of_source(&source), "{yaml}\n{source}");
    source
}

#[test]
fn the_conversion_reads_as_people_write() {
    let source = same(
        "version: 1\nname: Web\ndescription: |\n  Two steps.\n  And a check.\n\
         settings: {parallel: 2, timeout: 90, continue_on_error: true}\nsteps:\n  \
         - {id: root, name: The root, type: directory, path: ~/www, mode: 0755}\n  \
         - id: page\n    type: template\n    source: a\n    destination: b\n    depends_on: [root]\n    \
         vars: {port: 80, mail: a@b.example, list: [1, -2.5, null]}\n  \
         - {id: off, type: absent, path: /x, enabled: false}\n\
         validations:\n  - {type: command_exists, command: nginx}\n  - {type: file_exists, path: ~/www}\n  \
         - {type: path_contains, file: /etc/app, text: it's @env.HOME}\n",
    );
    let expected = r#"# Web
#
# Two steps.
# And a check.

@parallel(max=2, on_failure="wait") {
    @timeout(1m30s) {
        @file.directory(path="~/www", mode="0755", id="root", name="The root")
    }
    @timeout(1m30s) {
        @file.template(source="a", destination="b", vars={"list": [1, -2.5, null], "mail": "a\@b.example", "port": 80}, id="page", depends_on=["root"])
    }
}

command -v -- 'nginx' >/dev/null || { printf '%s\n' 'the command `nginx` is missing' >&2; false; }
test -e "$HOME"'/www' || { printf '%s\n' '`~/www` does not exist' >&2; false; }
grep -qsF -e 'it'\''s @env.HOME' -- '/etc/app' || { printf '%s\n' '`/etc/app` does not contain `it'\''s @env.HOME`' >&2; false; }
"#;
    assert_eq!(source, expected);
}

#[test]
fn commands_of_every_kind_are_the_same() {
    for command in [
        "make",
        "echo \"@env.HOME $HOME @var.x\" 'it'",
        "a && b || c; d | e > f 2>&1",
        "if a; then b; fi",
        "|\n      set -e\n      # a comment\n\n      for f in *; do\n        echo \"$f\"\n      done",
        "|\n      cat <<EOF\n        @env.HOME and $HOME\n      EOF",
        "|\n      for i in range(3):\n          print(i)\n      # done",
        "'\"unclosed'",
        "'# only a comment'",
        "'@shell(\"x\")'",
        "'@raw(x)'",
        "'user@host:'",
        "'}'",
        "'fun x() {'",
        "'\\\\\\@'",
        "'echo \\'",
    ] {
        let yaml = format!(
            "version: 1\nsteps:\n  - id: a\n    type: command\n    check: {command}\n    command: {command}\n"
        );
        let source = same(&yaml);
        assert!(source.contains("@shell(cmd="), "{source}");
    }
}

#[test]
fn an_at_in_a_command_is_text() {
    let config =
        read("version: 1\nsteps:\n  - {id: a, type: command, command: 'mail me@x @env.HOME'}\n");
    let plan = plan_of(&opal_config::lower(&config, &registry()), None).unwrap();
    assert!(format!("{plan:?}").contains("mail me@x @env.HOME"), "{plan:?}");
    assert!(plan.values.is_empty() && plan.reads.is_empty(), "{plan:?}");
}

#[test]
fn every_resource_can_be_written() {
    same(
        "version: 1\nsteps:\n\
         \x20 - {id: t, type: template, source: a, destination: t, env: true, allow_missing: true, mode: '0600'}\n\
         \x20 - {id: c, type: copy, source: a, destination: c, overwrite: true, recursive: true, preserve_mode: false, owner: 0, group: 0}\n\
         \x20 - {id: g, type: copy, content: a, destination: g, mode: '0600', when: '@os.name == \"linux\"'}\n\
         \x20 - {id: e, type: directory, path: '@var.item', for_each: [e1, e2], depends_on: [g]}\n\
         \x20 - {id: s, type: symlink, source: a, target: s, force: true}\n\
         \x20 - {id: l, type: line_in_file, file: f, line: x, match: '^x', on_multiple_matches: all, backup: true, encoding: latin-1}\n\
         \x20 - {id: d, type: directory, path: d, owner: 1000, group: staff}\n\
         \x20 - {id: x, type: absent, path: x, recursive: true}\n\
         \x20 - {id: p, type: package, packages: [nginx, {name: y, version: 1.0}], manager: apt, update: true}\n\
         \x20 - {id: r, type: repo, url: 'https://example.com/r.git', destination: r, branch: main, depth: 1, force: true}\n\
         \x20 - {id: v, type: service, name: nginx, enabled: true, state: running}\n\
         \x20 - {id: u, type: user, name: app, uid: 2000, groups: [a, b], home: /h, shell: /bin/sh}\n\
         \x20 - {id: m, type: command, command: make, check: 'false', shell: sh, workdir: /, env: {A: 1}, depends_on: [t, c], verify_timeout: 90}\n",
    );
}

#[test]
fn shipped_examples_are_the_same() {
    for name in ["server", "workstation"] {
        same(&crate::support::file(&format!("examples/config/{name}.yaml")));
    }
}

#[test]
fn faults_of_planning_point_into_the_configuration() {
    let yaml = "version: 1\nsteps:\n  - {id: a, type: directory, path: /x, mode: 0700}\n  \
                - {id: b, type: directory, path: /x, mode: 0755}\n";
    let config = read(yaml);
    let errors = plan_of(&opal_config::lower(&config, &registry()), None).unwrap_err();
    let places: Vec<&str> = errors.iter().map(|error| &yaml[error.primary.span.range()]).collect();
    assert_eq!(places, ["id"], "{errors:#?}");
    assert!(errors[0].primary.span.start as usize > yaml.find("- {id: b").unwrap());
}

/// Texts that mean something somewhere.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "@",
            "@env.HOME",
            "@var.x",
            "@raw(",
            "\\@",
            "\\",
            "\\\\",
            "\"",
            "'",
            "\n",
            "\r",
            "\t",
            "\u{202e}",
            "\u{feff}",
            "\u{85}",
            "\u{2028}",
            "$HOME",
            "$(",
            ")",
            "`",
            "{",
            "}",
            "#",
            "//",
            "/*",
            "*/",
            ";",
            "&&",
            "|",
            "<<EOF\n",
            "EOF\n",
            "if ",
            "then",
            "fi",
            "for ",
            "do",
            "done",
            "fun x() {",
            "var x = 1",
            "\"\"\"",
            "r\"",
            " ",
            "  ",
            "=",
            ":",
            "- ",
            "~",
            "~/",
            "ü",
            "x",
            "case ",
            "esac",
            "$((",
            "))",
            "\u{1b}",
            "\u{7f}",
            "!",
            "%s",
            "-",
        ])
        .prop_map(str::to_owned),
        "[a-z@\\\\\"' \n]{0,6}",
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

/// A text as YAML writes it, whatever is in it.
fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        ' '..='~' if c != '"' && c != '\\' => c.to_string(),
        c => format!("\\U{:08x}", u32::from(c)),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn hostile_texts_stay_texts(title in hostile(), data in hostile(), code in hostile(), key in hostile()) {
        let command = if code.trim().is_empty() { "x" } else { &code };
        let seen = |c: &char| !c.is_control() && !matches!(c, '\u{2028}' | '\u{202e}' | '\u{feff}');
        let line: String = data.chars().filter(seen).collect();
        let line = if line.is_empty() { "x" } else { &line };
        let source = if data.is_empty() { "x" } else { &data };
        same(&format!(
            "version: 1\nname: {title}\nsteps:\n  - id: a\n    name: {title}\n    type: template\n    \
             source: {source}\n    destination: d\n    vars: {{{key}: {data}}}\n  - id: b\n    \
             type: command\n    command: {command}\n    env: {{X: {data}}}\nvalidations:\n  \
             - {{type: path_contains, file: {line}, text: {line}}}\n",
            title = quoted(&title), data = quoted(&data), command = quoted(command), key = quoted(&key),
            line = quoted(line), source = quoted(source),
        ));
    }

    #[test]
    fn a_regex_stays_the_same(pattern in r#"[a-z"\\.()\[\]^$@#' ]{0,12}"#) {
        let yaml = format!("version: 1\nsteps:\n  - {{id: a, type: line_in_file, file: f, line: l, match: {}}}\n", quoted(&pattern));
        if crate::support::faults(&yaml).is_empty() {
            same(&yaml);
        }
    }
}
