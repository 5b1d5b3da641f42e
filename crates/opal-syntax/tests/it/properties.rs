//! What holds for every text, sensible or not.

use opal_core::LineIndex;
use opal_syntax::cursor::Item;
use opal_syntax::{Parse, SyntaxKind, parse, parse_shell, tree};
use proptest::prelude::*;

use crate::support::Words;

/// Pieces that open, close, continue or break something.
const NASTY: &[&str] = &[
    "\n",
    "\n",
    "\n",
    "\r\n",
    " ",
    " ",
    "\t",
    "\\",
    "\\\n",
    "\\@",
    "\"",
    "\"",
    "\"\"\"",
    "'",
    "`",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    " {",
    " { ",
    "$(",
    "$((",
    "))",
    "${",
    "<(",
    "$'",
    "<<E",
    "<<-E",
    "<<'E'",
    "\nE\n",
    "\n\tE\n",
    "#",
    " # ",
    "//",
    " // ",
    "/*",
    "*/",
    "&&",
    "||",
    "|",
    "&",
    ";",
    ";;",
    ">",
    ">>",
    "<",
    "<<<",
    "2>&1",
    "@",
    "@var.x",
    "@var.x.y",
    "@env.HOME",
    "@let.a",
    "@cmd.build",
    "@cmd.a-b()",
    "@file.read(\"a\")",
    "@file.json",
    "@file.write(\"p\")",
    "@to.display()",
    "@retry(3)",
    "@nope(",
    "@a.b.c",
    "@raw(",
    "user@@var.x",
    "var",
    "var ",
    "var x = ",
    "fun",
    "fun f",
    "fun f()",
    "fun f(a: Int, b...)",
    "if",
    "if ",
    "if x {",
    "else",
    "else {",
    "elif",
    "when x {",
    "for",
    "for x in ",
    "while",
    "try",
    "try {",
    "catch {",
    "finally {",
    "let",
    "let.a",
    "let.a = ",
    "name:",
    "name: ",
    "x = ",
    "x += ",
    "x++",
    "->",
    " -> ",
    "case x in",
    "esac",
    "then",
    "fi",
    "do",
    "done",
    "until ",
    "select ",
    "x)",
    "eval ",
    "bash -c ",
    "ssh h ",
    "sudo ",
    "1",
    "1.5",
    "1h30m",
    "99999999999999999999",
    "1...5",
    "1..5",
    "r\"",
    "true",
    "null",
    "+",
    "-",
    "--",
    "*",
    "/",
    "%",
    "!",
    "==",
    "!=",
    "<=",
    "=",
    ".",
    ".*",
    ".0",
    "[0]",
    "[\"k\"]",
    ",",
    ":",
    "é",
    "\u{202e}",
    "\u{feff}",
    "\0",
    "\\u{41}",
    "\"\\u",
    "\\u{",
    "\\q",
    "echo",
    "echo ",
    "a=(",
    "x[",
];

fn nasty() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(NASTY), 0..60).prop_map(|parts| parts.concat())
}

/// Everything that a parse owes its reader.
pub(crate) fn check(text: &str, parsed: &Parse) {
    check_tokens(text, parsed);
    check_events(parsed);
    check_errors(text, parsed);
    let root = tree::build(text, parsed);
    assert_eq!(root.text().to_string(), text, "the tree has the text of the source");
}

fn check_tokens(text: &str, parsed: &Parse) {
    let tokens = parsed.tokens();
    let mut end = 0;
    for index in 0..tokens.len() {
        let span = tokens.span(index);
        assert_eq!(span.start, end, "token {index} follows the one before");
        assert!(span.end > span.start, "token {index} holds something");
        assert!(text.is_char_boundary(span.end as usize), "token {index} ends between characters");
        end = span.end;
    }
    assert_eq!(end as usize, text.len(), "the tokens hold all of the text");
}

fn check_events(parsed: &Parse) {
    let mut depth = 0usize;
    let mut next = 0;
    for item in parsed.cursor() {
        match item {
            Item::Start { kind, .. } => {
                let silent = kind == SyntaxKind::Error && !parsed.is_broken();
                assert!(!silent, "what was passed over has an error");
                depth += 1;
            }
            Item::Finish => depth = depth.checked_sub(1).expect("every finish has its start"),
            Item::Token { index, kind, .. } => {
                assert!(!kind.is_trivia(), "trivia are not events, but {kind:?} {index} is");
                assert!(index >= next, "tokens come in order");
                for passed in next..index {
                    let kind = parsed.tokens().kind(passed);
                    assert!(kind.is_trivia(), "token {passed} ({kind:?}) is in no node");
                }
                next = index + 1;
            }
        }
    }
    assert_eq!(depth, 0, "every start has its finish");
    for passed in next..parsed.tokens().len() {
        assert!(parsed.tokens().kind(passed).is_trivia(), "token {passed} is in no node");
    }
}

fn check_errors(text: &str, parsed: &Parse) {
    let lines = LineIndex::new(text);
    let mut on_line = vec![0; lines.lines() as usize + 1];
    for error in &parsed.errors {
        let span = error.primary.span;
        assert!(text.get(span.range()).is_some(), "{error:?} is inside the text");
        assert!(
            error.code.severity() != opal_core::Severity::Error || !error.help.is_empty(),
            "{error:?} helps"
        );
        // The grammar says one thing a line; a literal may be wrong beside it.
        if error.code.as_str().starts_with("E03") {
            on_line[lines.line(span.start) as usize] += 1;
        }
    }
    for (line, errors) in on_line.iter().enumerate() {
        assert!(*errors <= 1, "line {line} has {errors} errors:\n{:#?}", parsed.errors);
    }
}

fn check_twice(text: &str) {
    let parsed = parse(text, &Words);
    check(text, &parsed);
    let again = parse(text, &Words);
    assert_eq!(format!("{parsed:?}"), format!("{again:?}"), "a text is parsed one way");
    check_tokens(text, &parse_shell(text, &Words));
    check_events(&parse_shell(text, &Words));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_parsed(text in any::<String>()) {
        check_twice(&text);
    }

    #[test]
    fn any_bytes_that_are_text_are_parsed(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check_twice(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn nasty_text_is_parsed(text in nasty()) {
        check_twice(&text);
    }

    #[test]
    fn ascii_text_is_parsed(text in "[ -~\\n]{0,80}") {
        check_twice(&text);
    }
}

fn cases() -> u32 {
    option_env!("OPAL_PROPTEST_CASES").and_then(|n| n.parse().ok()).unwrap_or(2000)
}
