//! Any text as a configuration: it is read without a panic or refused with places inside it, and
//! what is read converts to a source without errors.

#![no_main]

use libfuzzer_sys::fuzz_target;
use opal_core::Diagnostic;
use opal_plan::check;

fuzz_target!(|text: &str| {
    let registry = opal_decorators::registry();
    match opal_config::read(text, &registry) {
        Err(errors) => {
            assert!(!errors.is_empty());
            for found in errors {
                assert!(text.get(found.primary.span.range()).is_some(), "{found:#?}");
                assert!(!found.help.is_empty(), "{found:#?}");
            }
        }
        Ok(read) => {
            let _ = opal_config::lower(&read, &registry);
            let source = opal_config::convert(&read, &registry);
            let found = check::check(&source, &registry).diagnostics;
            assert!(!found.iter().any(Diagnostic::is_error), "{found:#?}\n{source}");
        }
    }
});
