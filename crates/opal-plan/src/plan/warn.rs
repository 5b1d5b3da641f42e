//! What a plan can be made of, and is probably not meant.

use std::collections::{BTreeMap, BTreeSet};

use opal_core::class::{HIDDEN_ALONE_FROM, HIDDEN_ANYWHERE_FROM, is_common};
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

/// A warning for each `when` that plans nothing, and each value that does not match.
pub(super) fn unmatched(
    all: &[Unmatched],
    key: Option<&PlaceholderKey>,
    algorithm: Algorithm,
) -> Vec<Diagnostic> {
    let mut said = BTreeSet::new();
    let mut warnings = Vec::new();
    for Unmatched { span, value, arms } in all {
        let message = format!("no arm of this `when` matches {}", named(value, key, algorithm));
        if said.insert((span.start, message.clone())) {
            let arms = format!("its arms are {}", arms.join(", "));
            let help = "to do nothing, write `else -> {}`";
            warnings
                .push(Diagnostic::new(Code::NoArmMatches, *span, message).help(arms).help(help));
        }
    }
    warnings
}

/// A warning for each password that several targets get.
pub(super) fn shared(all: &[(Span, usize)]) -> Vec<Diagnostic> {
    let all: BTreeMap<u32, (Span, usize)> = all.iter().map(|it| (it.0.start, *it)).collect();
    let warning = |(span, count): (Span, usize)| {
        let message = format!("{count} targets get one password for `sudo`");
        let why = "whoever controls the login account of one of them can read it";
        let help = "allow the login user to use `sudo` without a password: `NOPASSWD` in `sudoers`";
        Diagnostic::new(Code::SharedPassword, span, message).help(why).help(help)
    };
    all.into_values().map(warning).collect()
}

/// A value as a plan shows it: in clear where anybody may see it.
fn named(value: &Datum, key: Option<&PlaceholderKey>, algorithm: Algorithm) -> String {
    let clear = |value: &Datum| value.clear().map(|value| value.to_string()).unwrap_or_default();
    match (&value.taint, key, value.to_data()) {
        (None, ..) => format!("`{}`", clear(value)),
        (Some(taint), ..) if taint.class.is_public() => {
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
    if !taint.class.is_secret() || taint.class.is_declared() {
        return None;
    }
    let key = &taint.key;
    let common = is_common(text.expose());
    let characters = text.characters();
    let message = if characters < HIDDEN_ALONE_FROM {
        format!(
            "`{key}` has fewer than {HIDDEN_ALONE_FROM} characters, too few to hide it in output"
        )
    } else if common {
        format!("`{key}` is a common word, which will be hidden in all output")
    } else if characters < HIDDEN_ANYWHERE_FROM {
        format!(
            "`{key}` has fewer than {HIDDEN_ANYWHERE_FROM} characters, so output can show it \
             next to letters and digits"
        )
    } else {
        return None;
    };
    Some(
        Diagnostic::new(Code::CommonValue, span, message)
            .help("if everyone may see it, declare it with `public=true`"),
    )
}
