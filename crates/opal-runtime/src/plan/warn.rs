//! Values that can be hidden in output badly or not at all.

use opal_core::{Code, Diagnostic, Span};

use super::datum::{Datum, Plain};

/// From so many characters on a value is hidden wherever it is printed.
const HIDDEN_FROM: usize = 8;

/// Words that stand in output for other reasons as well.
const COMMON: [&str; 24] = [
    "administrator",
    "artifact",
    "container",
    "database",
    "default",
    "deployment",
    "development",
    "disabled",
    "enabled",
    "example.com",
    "external",
    "instance",
    "internal",
    "kubernetes",
    "localhost",
    "namespace",
    "password",
    "postgres",
    "production",
    "release",
    "republic",
    "service",
    "staging",
    "undefined",
];

/// What is worth saying about a value that a step uses and that is to be hidden.
pub(super) fn hidden(datum: &Datum, span: Span) -> Option<Diagnostic> {
    let (Plain::Text(text), Some(taint)) = (&datum.plain, &datum.taint) else { return None };
    // What is said about a declared secret could be read by others.
    if taint.public || taint.secret {
        return None;
    }
    let key = &taint.key;
    let common = COMMON.contains(&text.expose().to_ascii_lowercase().as_str());
    let short = text.characters() < HIDDEN_FROM;
    let message = match (common, short) {
        (_, true) => {
            format!("`{key}` has fewer than {HIDDEN_FROM} characters, so output can show it")
        }
        (true, false) => format!("`{key}` is a common word, which will be masked in all output"),
        (false, false) => return None,
    };
    let secret = if short {
        Some("where it is a secret, read it with `@secret.env` or `@secret.file`")
    } else {
        None
    };
    Some(
        Diagnostic::new(Code::CommonValue, span, message)
            .maybe_help(secret.map(str::to_owned))
            .help("where anybody may see it, say so: `public=true`"),
    )
}
