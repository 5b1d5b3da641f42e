//! Declared secrets: which values they are, and what must hold for them.
//!
//! Resolvers give values and do not judge them. Whoever calls one, a plugin's included, asks here
//! afterwards, so that the rules stand in one place.

use opal_core::Data;
use opal_core::decorator::{Descriptor, Exposure};
use opal_core::resolver::{Inputs, Trouble, TroubleKind};

/// Characters from which on a secret can be found in output.
pub const MIN_CHARACTERS: usize = 4;

const WORDS: [&str; 7] = ["SECRET", "TOKEN", "PASSWORD", "PASSWD", "KEY", "CREDENTIAL", "AUTH"];

/// Whether the name of a variable speaks of a secret: `API_TOKEN`, `db_password`.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let name = name.as_bytes();
    WORDS
        .iter()
        .any(|word| name.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes())))
}

/// Whether a call gives a declared secret: the decorator says so, or it is `@env` with a name that
/// does and without `public=true`.
#[must_use]
pub fn is_declared(descriptor: &Descriptor, inputs: &Inputs) -> bool {
    let speaks = descriptor.path == "env"
        && inputs.subject.as_deref().is_some_and(is_secret_name)
        && !inputs.is_true("public");
    descriptor.exposure == Exposure::Secret || speaks
}

/// Refuses a declared secret that is too short to be found in output.
///
/// A `default` of the source may be short, and mostly is empty: it is no secret.
pub fn check(descriptor: &Descriptor, inputs: &Inputs, value: &Data) -> Result<(), Trouble> {
    let Data::Text(text) = value else { return Ok(()) };
    let is_default = inputs.text("default") == Some(text.expose());
    if is_default || text.characters() >= MIN_CHARACTERS || !is_declared(descriptor, inputs) {
        return Ok(());
    }
    let path = descriptor.path;
    let name = inputs.subject.as_ref().map_or_else(String::new, |subject| format!(".{subject}"));
    let message = format!(
        "the secret `@{path}{name}` has fewer than {MIN_CHARACTERS} characters and could not be \
         hidden"
    );
    let mut trouble = Trouble::new(TroubleKind::Invalid, message, "use a longer secret");
    if descriptor.param("public").is_some() {
        let help = format!("where it is no secret, say so: `@{path}{name}(public=true)`");
        trouble.help.push(help);
    }
    Err(trouble)
}

/// The trouble without a trace of `hidden`.
///
/// Troubles name paths, variables and servers as they were given, in backticks. Where such an
/// input is itself a value from the world it must not be shown: what stands in backticks and is
/// part of a hidden text, or holds one, becomes `…`.
#[must_use]
pub fn veil(trouble: Trouble, hidden: &[&str]) -> Trouble {
    let veiled = |text: String| {
        // A hidden text that holds a backtick itself must go as a whole.
        let whole = |text: String, hidden: &&str| text.replace(&format!("`{hidden}`"), "`…`");
        let text = hidden.iter().fold(text, whole);
        let pieces = text.split('`').enumerate().map(|(index, piece)| {
            let shows = |hidden: &&str| {
                !hidden.is_empty() && (hidden.contains(piece) || piece.contains(hidden))
            };
            let is_shown = index % 2 == 1 && !piece.is_empty() && hidden.iter().any(shows);
            if is_shown { "…" } else { piece }
        });
        pieces.collect::<Vec<_>>().join("`")
    };
    let help = trouble.help.into_iter().map(veiled).collect();
    Trouble { message: veiled(trouble.message), help, ..trouble }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_speak_of_secrets_in_any_case() {
        for name in ["API_TOKEN", "db_password", "AUTH", "MY_KEYS", "Passwd1", "AWS_CREDENTIALS"] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["HOME", "TOKE", "KE", "", "PASS", "USER"] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn what_a_hidden_text_gave_to_a_message_is_veiled() {
        let trouble =
            Trouble::new(TroubleKind::Missing, "no file `a/canary`", "look at `canary` in `b`");
        let veiled = veil(trouble.clone(), &["a/canary"]);
        assert_eq!(veiled.message, "no file `…`");
        assert_eq!(veiled.help, ["look at `…` in `b`"]);
        assert_eq!(veil(trouble.clone(), &[""]), trouble);
        let odd = Trouble::new(TroubleKind::Missing, "no file `a`canary`", "");
        assert_eq!(veil(odd, &["a`canary"]).message, "no file `…`");
    }
}
