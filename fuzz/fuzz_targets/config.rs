//! Any text as a configuration: it is read without a panic or refused with places inside it, and
//! what is read converts to a source without errors.

#![no_main]

use libfuzzer_sys::fuzz_target;
use opal_core::Diagnostic;
use opal_modules::config;
use opal_runtime::{check, decorators};

fuzz_target!(|text: &str| {
    let registry = decorators::registry();
    match config::read(text, &registry) {
        Err(errors) => {
            assert!(!errors.is_empty());
            for found in errors {
                assert!(text.get(found.primary.span.range()).is_some(), "{found:#?}");
                assert!(!found.help.is_empty(), "{found:#?}");
            }
        }
        Ok(read) => {
            config::lower(&read, &registry);
            let source = config::convert(&read, &registry);
            let found = check::check(&source, &registry).diagnostics;
            assert!(!found.iter().any(Diagnostic::is_error), "{found:#?}\n{source}");
        }
    }
});
