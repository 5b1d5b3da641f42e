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
            &["up", "-h"],
            &["--color=always", "up", "--help"],
            &["--color=always", "up", "-h"],
            &["--color=always", "up", "--mode", "z"],
            &["--color=always", "up", "--mode"],
            &["--color=always", "list"],
            &["--color=always", "check"],
            &["--color=always", "bad"],
            &["--color=always", "plan", "up"],
            &["--color=always", "up", "--dry-run"],
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
            let ran = without_colours(opal.call(args), args);
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
            let plain = without_colours(opal.call(args), args);
            shows_nothing_hidden(&format!("{args:?}"), &plain);
        }
    }
}

/// A sequence is one of opal's own only where it does nothing but colour.
#[test]
fn a_colour_of_a_closed_set_does_not_reach_the_terminal() {
    let opal = Opal::machine(
        "fun up(mode: \"x\u{1b}[2J\" | \"y\u{1b}[8m\" | \"z\u{1b}]0;title\u{7}\" = \"x\u{1b}[2J\") = echo @var.mode\n",
    );
    for args in [&["up", "--help"][..], &["up", "-h"], &["up", "--mode", "q"], &["list"]] {
        for colour in ["--color=always", "--color=never"] {
            let ran = opal.call(&[&[colour], args].concat());
            for acts in ["\x1b[2J", "\x1b[8m", "\x1b]", "\x07"] {
                let shown = [&ran.stdout, &ran.stderr];
                assert!(!shown.iter().any(|text| text.contains(acts)), "{args:?} {ran:#?}");
            }
        }
    }
}

/// Without opal's own colours, where those were asked for.
fn without_colours(ran: Ran, args: &[&str]) -> Ran {
    let plain = |text: &str| uncoloured(text, args);
    Ran { code: ran.code, stdout: plain(&ran.stdout), stderr: plain(&ran.stderr) }
}

fn uncoloured(text: &str, args: &[&str]) -> String {
    if !args.contains(&"--color=always") {
        return text.to_owned();
    }
    let mut parts = text.split("\x1b[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let styles = part.split_once('m').filter(|(code, _)| {
            code.split(';').all(|one| {
                matches!(one, "0" | "1" | "2" | "4")
                    || matches!(one.as_bytes(), [b'3' | b'9', b'1'..=b'6'])
            })
        });
        match styles {
            Some((_, rest)) => plain.push_str(rest),
            None => plain.extend(["\x1b[", part]),
        }
    }
    plain
}
