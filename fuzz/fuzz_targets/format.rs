//! Text without errors: once formatted it has none either, and formatting it again changes nothing.

#![no_main]

use libfuzzer_sys::fuzz_target;
use opal_core::Diagnostic;
use opal_syntax::{Style, format, parse, source};

#[path = "../../crates/opal-syntax/tests/it/support.rs"]
mod support;

fuzz_target!(|text: &str| {
    let odd = source::characters(text).iter().any(Diagnostic::is_error);
    if odd || parse(text, &support::Words).is_broken() {
        return;
    }
    let style = Style::default();
    let once = format(text, &support::Words, style).expect("the text has no errors");
    let twice = format(&once, &support::Words, style).expect("the formatted text has none either");
    assert_eq!(once, twice, "from {text:?}");
});
