#![no_main]
//! Checking never panics, and every place it names is a piece of the source.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let registry = opal_decorators::registry();
    for found in opal_plan::check::check(text, &registry).diagnostics {
        assert!(text.get(found.primary.span.range()).is_some(), "{found:#?}");
    }
});
