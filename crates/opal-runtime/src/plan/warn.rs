//! What a plan can be made of, and is probably not meant.

use std::collections::BTreeSet;

use opal_core::hash::Algorithm;
use opal_core::placeholder::PlaceholderKey;
use opal_core::{Code, Diagnostic, Span};

use super::datum::{Datum, Plain};

/// A `when` of which no arm matches.
#[derive(Debug)]
pub(super) struct Unmatched {
    pub(super) span: Span,
    pub(super) value: Datum,
    pub(super) arms: Vec<String>,
}

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

/// A warning for each `when` that plans nothing, and each value that does not match.
pub(super) fn unmatched(
    all: &[Unmatched],
    keys: (Option<&PlaceholderKey>, Algorithm),
) -> Vec<Diagnostic> {
    let mut said = BTreeSet::new();
    let mut warnings = Vec::new();
    for Unmatched { span, value, arms } in all {
        let message = format!("no arm of this `when` matches {}", named(value, keys));
        if said.insert((span.start, message.clone())) {
            let arms = format!("its arms are {}", arms.join(", "));
            let help = "where nothing is meant to happen, write `else -> {}`";
            warnings
                .push(Diagnostic::new(Code::NoArmMatches, *span, message).help(arms).help(help));
        }
    }
    warnings
}

/// A value as a plan shows it: in clear where anybody may see it.
fn named(value: &Datum, (key, algorithm): (Option<&PlaceholderKey>, Algorithm)) -> String {
    let clear = |value: &Datum| value.clear().map(|value| value.to_string()).unwrap_or_default();
    match (&value.taint, key, value.to_data()) {
        (None, ..) => format!("`{}`", clear(value)),
        (Some(taint), ..) if taint.public => {
            format!("`{}`, which is `{}`", taint.key, clear(value))
        }
        (Some(taint), Some(key), Some(data)) => {
            let placeholder = key.placeholder(algorithm, &taint.key, &data);
            format!("`{}`, which is {placeholder}", taint.key)
        }
        (Some(taint), ..) => format!("`{}`", taint.key),
    }
}

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
