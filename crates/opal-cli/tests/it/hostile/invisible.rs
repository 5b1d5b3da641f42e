//! What a reviewer sees holds no character that hides, acts on a terminal or turns text around.

use crate::support::{Opal, Ran};

/// Some of each kind: controls, marks of direction, and what nothing is drawn for.
const HIDDEN: [char; 16] = [
    '\u{1b}',
    '\u{7f}',
    '\u{9b}',
    '\u{ad}',
    '\u{34f}',
    '\u{61c}',
    '\u{115f}',
    '\u{180e}',
    '\u{200b}',
    '\u{200d}',
    '\u{202e}',
    '\u{2066}',
    '\u{3164}',
    '\u{fe0f}',
    '\u{feff}',
    '\u{e0041}',
];

#[track_caller]
fn shows_nothing_hidden(what: &str, ran: &Ran) {
    for text in [&ran.stdout, &ran.stderr] {
        let found = HIDDEN.iter().find(|hidden| text.contains(**hidden));
        assert!(found.is_none(), "{what} shows {found:?}: {text:?}");
    }
}

#[test]
fn sources_plans_and_records_are_shown_without_hidden_characters() {
    for hidden in HIDDEN {
        let text = format!(
            "// Docs{hidden}.\nfun up(to = \"a{hidden}b\", mode: \"x{hidden}\" | \"y\" = \"y\") {{\n    \
             echo one{hidden}two @var.to @var.mode > /dev/null\n    \
             @workdir(\"d{hidden}\", create=true) {{\n        true {hidden}\n    }}\n}}\n\
             fun bad() {{\n    echo {hidden} @var.nothing{hidden}\n}}\n"
        );
        let opal = Opal::machine(&text);
        for args in [
            &["list"][..],
            &["up", "--help"],
            &["check"],
            &["check", "--json"],
            &["check", "--format", "github"],
            &["bad"],
            &["plan", "up"],
            &["plan", "up", "--json"],
            &["up", "--dry-run"],
            &["up", "--mode", "z"],
            &["plan", "up", "-o", "c.plan"],
            &["plan", "show", "c.plan"],
            &["up"],
            &["runs", "list"],
            &["runs", "show"],
            &["runs", "show", "--json"],
        ] {
            let ran = opal.call(args);
            shows_nothing_hidden(&format!("{args:?} with {hidden:?}"), &ran);
        }
        opal.write("commands.opl", text.replace("echo one", "echo changed"));
        shows_nothing_hidden("plan diff", &opal.call(&["plan", "diff", "c.plan"]));
        shows_nothing_hidden("a refusal", &opal.call(&["run", "--plan", "c.plan"]));
    }
}

#[test]
fn a_usage_error_echoes_what_was_typed_without_hidden_characters() {
    let opal = Opal::machine("fun up(n: Int = 1) = echo @var.n\n");
    for hidden in HIDDEN {
        let word = format!("a{hidden}b");
        let flag = format!("--{word}");
        let (pair, file) = (format!("--n=1{hidden}"), format!("no{hidden}.opl"));
        for args in [
            &[word.as_str()][..],
            &[&flag],
            &["up", &flag],
            &["up", &pair],
            &["up", &word],
            &["--color=always", "up", &flag],
            &["check", &flag],
            &["check", "--format", &word],
            &["check", &file],
            &["run", &file],
            &["plan", &word],
            &["plan", &word, "--json"],
            &["keys", &word],
            &["runs", "show", &word],
            &["runs", &flag],
            &["explain", &word],
            &["completions", &word],
            &["help", &word],
            &["self", &word],
            &["module", &word],
            &["--root", &word, "runs", "list"],
            &["-f", &file],
            &["-f", &file, "list"],
            &["up", "--env-file", &word],
        ] {
            let ran = opal.call(args);
            let plain = Ran {
                code: ran.code,
                stdout: uncoloured(&ran.stdout, args),
                stderr: uncoloured(&ran.stderr, args),
            };
            shows_nothing_hidden(&format!("{args:?}"), &plain);
        }
    }
}

/// Without opal's own colours, where those were asked for.
fn uncoloured(text: &str, args: &[&str]) -> String {
    if !args.contains(&"--color=always") {
        return text.to_owned();
    }
    let own = ["\x1b[1;31m", "\x1b[1;32m", "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m"];
    own.iter().fold(text.to_owned(), |text, code| text.replace(code, ""))
}
