//! Commands of another shell, as bash reads them.

use crate::{converted, options, registry};
use opal_convert::{Format, Grade, Options, Outcome, convert};

/// What becomes of a command: it is exact with this text, or adapted for this reason.
enum Becomes {
    Same,
    Text(&'static str),
    /// `sh` runs it.
    Script,
    Adapted(&'static str),
}
use Becomes::{Adapted, Same, Script, Text};

const SH: [(&str, Becomes); 42] = [
    ("echo src/{js,css}", Text("echo src/'{js,css}'")),
    ("echo {1..3} {a} {}", Text("echo '{1..3}' {a} {}")),
    ("echo {\"a\",b} {*.c,d}", Text("echo \\{\"a\",b\\} \\{*.c,d\\}")),
    ("echo '{a,b}' \"{a,b}\" \\{a,b\\}", Same),
    ("echo x # {a,b} [[", Same),
    ("awk '{ print $1, \"[[\" }' f", Same),
    ("x={a,b} cmake", Same),
    ("xargs -I{} echo {}", Same),
    ("git show HEAD@{1} stash@{0}", Same),
    ("cmake P=~/x", Text("cmake P=\\~/x")),
    ("export P=~/x && cmake", Same),
    ("echo \"a\\nb\"", Text("echo -e \"a\\nb\"")),
    ("echo \"a\\\\b c\\$d\"", Text("echo -e \"a\\\\b c\\$d\"")),
    ("printf 'a\\n'", Same),
    ("echo -n a", Same),
    ("echo \"\\e\\x41\\n\"", Script),
    ("ls [^a]*", Script),
    ("type ls", Script),
    (". ./env || true", Script),
    (". ./env && cmake", Same),
    ("alias x=y", Script),
    ("eval \"echo {a,b} $HOME\"", Script),
    ("[[ a =~ ^b{1,2}$ ]]", Adapted("it uses `[[` of bash; a plain sh does not have it")),
    ("source env", Adapted("it uses `source` of bash; a plain sh does not have it")),
    ("a &> b", Adapted("it uses `&>` of bash; a plain sh starts the command in the background")),
    ("a > b 2>&1", Same),
    ("a <<< b", Adapted("it uses `<<<` of bash; a plain sh does not have it")),
    ("a=(b c)", Adapted("it uses arrays of bash; a plain sh does not have it")),
    ("diff <(a) <(b)", Adapted("it uses `<(…)` of bash; a plain sh has no process substitution")),
    ("echo -e \"a\"", Adapted("it uses `echo -e` of bash; a plain sh prints the option")),
    ("[ a == b ]", Adapted("it uses `==` in `[` of bash; a plain sh does not have it")),
    ("[ a = b ] || test c != d", Same),
    (
        "set -euo pipefail; a",
        Adapted("it uses `set -o pipefail` of bash; a plain sh refuses that option"),
    ),
    ("echo ${HOME%/*} ${#HOME} ${HOME:-a,b}", Same),
    ("echo ${HOME/a/b}", Adapted("it uses `${x/a/b}` of bash; a plain sh does not have it")),
    ("echo $RANDOM", Adapted("it uses `$RANDOM` of bash; a plain sh does not set it")),
    ("a | while read x; do b \"$x\"; done", Same),
    ("read -s x", Adapted("it uses `read -s` of bash; a plain sh does not have it")),
    ("curl -H \"$TOKEN\" a", Text("set -u; curl -H \"$TOKEN\" a")),
    ("curl -H \"${TOKEN:-none}\" a", Same),
    ("ls \"$HOME\"", Same),
    ("x=1; echo $x", Same),
];

/// The body of the only function, and its outcome.
fn task(format: Format, file: &str) -> (String, Outcome) {
    let registry = registry();
    let inline = Options { inline: true, ..options(&registry) };
    let converted = convert(file, format, inline).unwrap_or_else(|it| panic!("{it:?}: {file}"));
    let (_, body) = converted.source.split_once(" {\n").unwrap_or_default();
    let body = body.trim_end().strip_suffix("\n}").unwrap_or_default().trim().to_owned();
    (body, converted.outcomes.into_iter().next().expect("a task"))
}

fn assert_becomes(format: Format, file: &str, text: &str, becomes: &Becomes) {
    let (body, outcome) = task(format, file);
    let why = outcome.why.join("; ");
    match becomes {
        Adapted(reason) => {
            assert_eq!((outcome.grade, why.as_str()), (Grade::Adapted, *reason), "{text}");
        }
        Script => {
            assert!(body.starts_with("@script(\"sh") && body.contains(text), "{text}: {body}");
            assert_eq!(outcome.grade, Grade::Exact, "{text}: {why}");
        }
        Same | Text(_) => {
            let expected = if let Text(expected) = becomes { expected } else { text };
            assert_eq!((outcome.grade, body.as_str()), (Grade::Exact, expected), "{text}: {why}");
        }
    }
}

#[test]
fn commands_of_just_are_written_for_bash() {
    for (text, becomes) in &SH {
        assert_becomes(Format::Just, &format!("a:\n    {text}\n"), text, becomes);
    }
}

#[test]
fn commands_of_make_are_written_for_bash() {
    let file = |text: &str| format!(".PHONY: a\na:\n\t{}\n", text.replace('$', "$$"));
    // make does not check variables.
    for (text, becomes) in SH.iter().filter(|it| !it.0.contains("$TOKEN")) {
        assert_becomes(Format::Make, &file(text), text, becomes);
    }
    // It starts these programs without a shell.
    for text in ["curl -H \"$TOKEN\" a", "echo -e a", "echo 'a\\nb'", "printf 'a\\x41'"] {
        assert_becomes(Format::Make, &file(text), text, &Same);
    }
}

#[test]
fn commands_of_npm_are_written_for_bash() {
    let path = "export PATH=\"$PWD/node_modules/.bin:$PATH\"; ";
    for (text, becomes) in SH.iter().filter(|it| !it.0.contains("$TOKEN")) {
        // Arguments follow the last word.
        if matches!(becomes, Script) || text.contains(['#', '(']) || text.ends_with("done") {
            continue;
        }
        let file = serde_json::json!({ "scripts": { "a": text } }).to_string();
        let (body, outcome) = task(Format::Package, &file);
        match becomes {
            Adapted(reason) => assert!(outcome.why.join("; ").contains(reason), "{text}"),
            Text(expected) => assert_eq!(body, format!("{path}{expected} @var.args")),
            _ => assert_eq!(body, format!("{path}{text} @var.args")),
        }
    }
}

#[test]
fn commands_of_task_stop_at_a_failure() {
    let rows = [
        ("a", Same),
        ("a; b", Text("set -e; a; b")),
        ("a && b", Same),
        ("x=1; b $x", Same),
        ("echo a; b", Same),
        ("if a; then b; fi", Text("( if a; then b; fi )")),
        ("if a; then b; c; fi", Text("set -e; if a; then b; c; fi")),
        ("for x in a b; do c; done", Text("set -e; for x in a b; do c; done")),
        ("[[ a ]] && echo {a,b} $'c'", Same),
        ("echo $x{a,b}", Text("echo ${x}{a,b}")),
        ("kill 1", Adapted("it uses `kill` of bash; the shell of Task does not have it")),
        ("x=$(a; b)", Adapted("commands in `$(…)` go on after a failure")),
    ];
    for (text, becomes) in &rows {
        let command = serde_json::Value::from(*text);
        let file = format!("version: '3'\ntasks: {{a: {{cmds: [{command}]}}}}\n");
        assert_becomes(Format::Task, &file, text, becomes);
    }
}

#[test]
fn options_of_the_shell_of_a_justfile_stop_its_lines() {
    for (shell, text, expected) in [
        ("'bash', '-ec'", "a; b $X", "set -e; a; b $X"),
        ("'bash', '-euo', 'pipefail', '-c'", "a; b $X", "set -eu; a; b $X"),
        ("'bash', '-o', 'errexit', '-c'", "a; b", "set -e; a; b"),
        ("'bash', '-c'", "a; b $X {c,d}", "a; b $X {c,d}"),
        ("'sh', '-c'", "b $X {c,d}", "b $X '{c,d}'"),
    ] {
        let file = format!("set shell := [{shell}]\na:\n    {text}\n");
        let (body, outcome) = task(Format::Just, &file);
        assert_eq!((body.as_str(), outcome.grade), (expected, Grade::Exact), "{shell}");
    }
}

#[test]
fn options_of_a_taskfile_are_kept_or_reported() {
    let file = "version: '3'\nset: [errexit, nounset]\ntasks:\n  a: {cmds: ['b $X']}\n";
    let (body, outcome) = task(Format::Task, file);
    assert_eq!((body.as_str(), outcome.grade), ("set -u; b $X", Grade::Exact));
    for file in [
        "shopt: [globstar]\ntasks: {a: {cmds: ['b **']}}\n",
        "tasks: {a: {shopt: [globstar], cmds: ['b **']}}\n",
        "tasks: {a: {cmds: [{cmd: 'b **', shopt: [globstar]}]}}\n",
        "tasks: {a: {set: [globstar], cmds: ['b **']}}\n",
    ] {
        let (_, outcome) = task(Format::Task, &format!("version: '3'\n{file}"));
        assert_eq!(outcome.why, ["the option `globstar` of its shell is not set"], "{file}");
    }
}

#[test]
fn another_shell_of_make_is_reported() {
    let becomes = converted(Format::Make, "SHELL := /bin/zsh\n.PHONY: a\na:\n\techo {a,b}\n");
    let why = "the file gives its commands to `zsh`, and opal to bash";
    assert_eq!(becomes.outcomes[0].why, [why]);
}

#[test]
fn a_long_or_deep_text_ends() {
    let parts = ["{", "{a,", "$[", "$((", "((", "`", "${x:-", "\"$(", "<(", "[[ ", "a <<E ", "\\"];
    for part in parts {
        let file = format!("a:\n    echo {}\n", part.repeat(4_000));
        let registry = registry();
        assert!(convert(&file, Format::Just, options(&registry)).is_ok(), "{part}");
    }
}
