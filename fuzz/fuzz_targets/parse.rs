//! Any text: the tree has its text, every node that begins ends, and errors stand inside it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use opal_syntax::cursor::Item;
use opal_syntax::{Parse, SyntaxKind, parse, tree};

#[path = "../../crates/opal-syntax/tests/it/support.rs"]
mod support;

fuzz_target!(|text: &str| {
    let parsed = parse(text, &support::Words);
    assert_eq!(tree::build(text, &parsed).text().to_string(), text);
    walk(&parsed);
    for error in &parsed.errors {
        assert!(text.get(error.primary.span.range()).is_some(), "{error:?}");
        assert!(!error.is_error() || !error.help.is_empty(), "{error:?}");
    }
});

fn walk(parsed: &Parse) {
    let (mut depth, mut next) = (0usize, 0);
    for item in parsed.cursor() {
        match item {
            Item::Start { kind, .. } => {
                assert!(
                    kind != SyntaxKind::Error || parsed.is_broken(),
                    "nothing is passed over in silence"
                );
                depth += 1;
            }
            Item::Finish => depth = depth.checked_sub(1).expect("every finish has its start"),
            Item::Token { index, kind, .. } => {
                assert!(!kind.is_trivia() && index >= next);
                next = index + 1;
            }
        }
    }
    assert_eq!(depth, 0, "every start has its finish");
}
