//! The formatter: pairs of files, what must hold for every program, and the odd cases.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use opal_syntax::cursor::Item;
use opal_syntax::{Style, SyntaxKind, block_lines, format, parse};
use proptest::prelude::*;

use crate::generate;
use crate::support::Words;

const KEEP: Style = Style { migrate: false };
const MIGRATE: Style = Style { migrate: true };

fn formatted(text: &str) -> String {
    format(text, &Words, KEEP).unwrap_or_else(|| panic!("not error-free: {text:?}"))
}

// Pairs.

/// `NAME.in.opl` and `NAME.out.opl`; names that begin with `migrate` are formatted with `migrate`.
/// With `UPDATE_EXPECT=1` the second file of each pair is written.
#[test]
#[expect(clippy::disallowed_methods, reason = "the switch of the test, not of the program")]
fn pairs() {
    let update = std::env::var("UPDATE_EXPECT").is_ok_and(|value| value == "1");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test_data/format");
    let mut inputs: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(".in.opl"))
        .collect();
    inputs.sort();
    assert!(inputs.len() >= 20, "the pairs are in {}", folder.display());
    let mut wrong = String::new();
    for input in inputs {
        let name = input.file_name().unwrap().to_string_lossy().replace(".in.opl", "");
        let style = Style { migrate: name.starts_with("migrate") };
        let text = fs::read_to_string(&input).unwrap();
        let output = folder.join(format!("{name}.out.opl"));
        let Some(got) = format(&text, &Words, style) else {
            let _ = writeln!(wrong, "{name}: {:?}", parse(&text, &Words).errors);
            continue;
        };
        if update {
            fs::write(&output, &got).unwrap();
        }
        let want = fs::read_to_string(&output).unwrap_or_default();
        if got != want {
            let _ = writeln!(wrong, "{name}: (- is the file, + is what was printed)");
            wrong.push_str(&difference(&want, &got));
        }
        check(&text, style);
    }
    assert!(wrong.is_empty(), "\n{wrong}\nUPDATE_EXPECT=1 writes the files\n");
}

/// The lines that differ, between the ones that are equal at both ends.
fn difference(want: &str, got: &str) -> String {
    let (want, got): (Vec<&str>, Vec<&str>) = (want.lines().collect(), got.lines().collect());
    let start = want.iter().zip(&got).take_while(|(a, b)| a == b).count();
    let rest = want.len().min(got.len()) - start;
    let same = want.iter().rev().zip(got.iter().rev()).take(rest);
    let end = same.take_while(|(a, b)| a == b).count();
    let mut out = format!("  line {}\n", start + 1);
    for line in &want[start..want.len() - end] {
        let _ = writeln!(out, "  - {line}");
    }
    for line in &got[start..got.len() - end] {
        let _ = writeln!(out, "  + {line}");
    }
    out
}

// What must hold for every program.

/// Everything that formatting owes its reader.
fn check(text: &str, style: Style) {
    let Some(once) = format(text, &Words, style) else {
        panic!("no output for {text:?}: {:?}", parse(text, &Words).errors);
    };
    let errors = parse(&once, &Words).errors;
    assert!(!errors.iter().any(|error| error.is_error()), "{errors:?} in\n{once}");
    let twice = format(&once, &Words, style).expect("what was printed is error-free");
    assert_eq!(twice, once, "once formatted, nothing changes any more; from {text:?}");
    if !style.migrate {
        assert_eq!(structure(&once), structure(text), "the structure of {text:?} in {once:?}");
    }
    assert_eq!(comments(&once), comments(text), "the comments of {text:?} in {once:?}");
    assert_eq!(documentation(&once), documentation(text), "of {text:?} in {once:?}");
    assert!(once.is_empty() || once.ends_with('\n') || once.ends_with('\\'));
    assert!(!once.contains('\r'));
}

/// Nodes and tokens without trivia, without commas before a closing bracket and without empty
/// parameter lists: with them the text of every step, byte for byte.
fn structure(text: &str) -> Vec<String> {
    let text = text.replace("\r\n", "\n");
    let parsed = parse(&text, &Words);
    let mut out: Vec<String> = Vec::new();
    for item in parsed.cursor() {
        match item {
            Item::Start { kind, .. } => out.push(format!("{kind:?}")),
            Item::Finish => {
                out.push("end".into());
                if out.ends_with(&EMPTY_LIST.map(String::from)) {
                    out.truncate(out.len() - EMPTY_LIST.len());
                }
            }
            Item::Token { kind, span, .. } => {
                let closes =
                    matches!(kind, SyntaxKind::RParen | SyntaxKind::RBracket | SyntaxKind::RBrace);
                if closes && out.last().is_some_and(|last| last == "Comma \",\"") {
                    out.pop();
                }
                let text = &text[span.range()];
                out.push(match kind {
                    // Indented as a whole.
                    SyntaxKind::BlockText => {
                        format!("{kind:?} {:?}", block_lines(text).collect::<Vec<_>>())
                    }
                    _ => format!("{kind:?} {text:?}"),
                });
            }
        }
    }
    out
}

/// A parameter list that may be left out.
const EMPTY_LIST: [&str; 4] = ["ParamList", "LParen \"(\"", "RParen \")\"", "end"];

/// The comment lines directly above each function.
fn documentation(text: &str) -> Vec<Vec<String>> {
    let text = text.replace("\r\n", "\n");
    let parsed = parse(&text, &Words);
    let mut above = Vec::new();
    let mut function = false;
    for item in parsed.cursor() {
        match item {
            Item::Start { kind: SyntaxKind::Fun | SyntaxKind::Label, .. } => function = true,
            Item::Token { span, .. } if std::mem::take(&mut function) => {
                let line = text[..span.start as usize].rfind('\n').unwrap_or(0);
                let lines = text[..line].rsplit('\n').map(str::trim);
                let comments = lines.take_while(|line| {
                    (line.starts_with('#') && !line.starts_with("#!")) || line.starts_with("//")
                });
                above.push(comments.map(str::to_owned).collect());
            }
            _ => {}
        }
    }
    above
}

fn comments(text: &str) -> Vec<String> {
    let text = text.replace("\r\n", "\n");
    let parsed = parse(&text, &Words);
    let tokens = parsed.tokens();
    (0..tokens.len())
        .filter(|index| matches!(tokens.kind(*index), SyntaxKind::Comment | SyntaxKind::Shebang))
        .map(|index| text[tokens.span(index).range()].trim_end().to_owned())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn generated_programs_have_no_errors(text in generate::programs()) {
        let errors = parse(&text, &Words).errors;
        prop_assert!(!errors.iter().any(|error| error.is_error()), "{errors:?} in\n{text}");
    }

    #[test]
    fn formatting_keeps_what_was_said(text in generate::programs()) {
        check(&text, KEEP);
    }

    #[test]
    fn line_ends_of_the_source_do_not_matter(text in generate::programs()) {
        let text = text.replace("\r\n", "\n");
        prop_assert_eq!(formatted(&text.replace('\n', "\r\n")), formatted(&text));
    }

    #[test]
    fn migration_keeps_what_was_said(text in generate::programs()) {
        check(&text, MIGRATE);
    }
}

// Odd cases.

#[test]
fn a_broken_file_is_never_touched() {
    for broken in ["echo 'a\n", "if x {\n", "}\n", "var x = \n", "a\rb\n", "echo \0\n"] {
        assert_eq!(format(broken, &Words, KEEP), None, "{broken:?}");
    }
}

#[test]
fn a_warning_is_not_a_reason_to_refuse() {
    assert_eq!(formatted("  echo $1\n"), "echo $1\n");
}

#[test]
fn a_file_ends_in_one_line_feed_or_is_empty() {
    assert_eq!(formatted(""), "");
    assert_eq!(formatted("\u{feff}"), "");
    assert_eq!(formatted("\n \n"), "");
    assert_eq!(formatted("ls"), "ls\n");
    assert_eq!(formatted("ls\n\n\n"), "ls\n");
    assert_eq!(formatted("# only"), "# only\n");
}

#[test]
fn a_backslash_at_the_end_of_the_file_joins_no_lines() {
    assert_eq!(formatted("  echo a \\"), "echo a \\");
    assert_eq!(formatted("echo a \\\n"), "echo a \\\n");
    assert_eq!(formatted("echo a \\\\"), "echo a \\\\\n");
    check("@retry(3) {\necho a \\\n}\n", KEEP);
}

#[test]
fn a_second_byte_order_mark_is_text() {
    let text = "\u{feff}\n\u{feff}ls\n";
    assert_eq!(formatted(text), "\u{feff}\u{feff}ls\n");
    check(text, KEEP);
}

#[test]
fn a_comment_that_becomes_the_first_line_documents_nothing() {
    assert_eq!(formatted("\n#!x\nfun f() = ls\n"), "#!x\n\nfun f() = ls\n");
    check("\n#!x\nfun f() = ls\n", KEEP);
}

#[test]
fn what_is_directly_above_a_function_stays_there() {
    let first = "# Builds.\nfun build() = make\n";
    assert_eq!(formatted(first), first);
    assert_eq!(formatted(&format!("\n{first}")), first);
    assert_eq!(formatted("ls # no\n// yes\na: ls\n"), "ls # no\n\n// yes\na: ls\n");
}

#[test]
fn slashes_before_a_brace_do_not_become_a_comment() {
    check("@retry(3) { ls //}\n", KEEP);
    check("@retry(3) {\nls //}\n", KEEP);
    check("@retry(3) { ls // }\n}\n", KEEP);
}

#[test]
fn signs_stay_apart() {
    assert_eq!(formatted("var x = -  -  1\n"), "var x = - -1\n");
    assert_eq!(formatted("var x = a-  -1\n"), "var x = a - -1\n");
    assert_eq!(formatted("var x = !  -a\n"), "var x = !-a\n");
}

#[test]
fn migration_changes_labels_and_nothing_else() {
    let text = "a: ls\n\nif x { echo b: c }\n";
    assert_eq!(formatted(text), text);
    let migrated = format(text, &Words, MIGRATE).unwrap();
    assert_eq!(migrated, "fun a() = ls\n\nif x { echo b: c }\n");
    assert_eq!(formatted(&migrated), migrated);
}

#[test]
fn depth_costs_no_stack() {
    let format_deep = || {
        let sum = format!("var x = {}1\n", "1 + ".repeat(1_000));
        assert_eq!(formatted(&sum), sum);
        let not = format!("var x = {}a\n", "!".repeat(64));
        assert_eq!(formatted(&not), not);
    };
    let small = std::thread::Builder::new().stack_size(256 * 1024);
    small.spawn(format_deep).unwrap().join().unwrap();
}
