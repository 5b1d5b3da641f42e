//! Both lanes over any text: no panic, and tokens without gaps that hold all of it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use opal_syntax::{Parse, parse, parse_shell};

#[path = "../../crates/opal-syntax/tests/it/support.rs"]
mod support;

fuzz_target!(|text: &str| {
    check(text, &parse_shell(text, &support::Words));
    // As the arguments of a reference, the text is read in the language lane.
    let call = format!("echo @file.read({text})\n");
    check(&call, &parse(&call, &support::Words));
});

fn check(text: &str, parsed: &Parse) {
    let tokens = parsed.tokens();
    let mut end = 0;
    for index in 0..tokens.len() {
        let span = tokens.span(index);
        assert_eq!(span.start, end);
        assert!(span.end > span.start && text.is_char_boundary(span.end as usize));
        end = span.end;
    }
    assert_eq!(end as usize, text.len());
}
