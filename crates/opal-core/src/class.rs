//! Who may see a value: the one place that decides it.
//!
//! | class | in plans, contracts and refusals | in step lines, output, failures and records |
//! |---|---|---|
//! | [`Class::Public`] | clear | clear |
//! | [`Class::Plain`] | a placeholder | clear |
//! | [`Class::Secret`] | a placeholder | hidden in all forms |
//!
//! | what | where |
//! |---|---|
//! | names that say secret, and their exceptions | [`name`] |
//! | what must hold for a value that a resolver gave | [`resolved`] |
//! | values that look like a secret | [`shape`], tokens in [`tokens`] |
//!
//! `@env`, the scrubber, modules and specs read the same lists. Classes are ordered: what is
//! computed from several values has the strongest class among theirs, their maximum.

pub mod name;
pub mod resolved;
pub mod shape;
pub mod tokens;

use crate::data::Data;
use crate::decorator::Exposure;

/// From how many characters on a secret is hidden wherever it is printed.
pub const HIDDEN_ANYWHERE_FROM: usize = 8;
/// From how many characters on a secret is hidden where no letter, digit or `_` touches it. A
/// declared secret has at least as many.
pub const HIDDEN_ALONE_FROM: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    Public,
    Plain,
    Secret(Ground),
}

/// Why a value is a secret. The strongest is last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ground {
    /// It came from where anything may be: a file, a command, a page.
    Source,
    /// The name of what was read says so.
    Name,
    /// It looks like one.
    Shape,
    /// The source says so: `@secret.env`, `secret=true`.
    Declared,
}

/// What a call says about its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// `public=true`.
    pub public: bool,
    /// `secret=true`.
    pub secret: bool,
}

impl Class {
    /// The class of a value that a decorator gives. `name` is that of what was read, such as the
    /// variable of `@env`; without `value` it is judged by the rest.
    #[must_use]
    pub fn of(exposure: Exposure, flags: Flags, name: Option<&str>, value: Option<&Data>) -> Self {
        match exposure {
            Exposure::Secret | Exposure::Marked => Self::Secret(Ground::Declared),
            _ if flags.secret => Self::Secret(Ground::Declared),
            Exposure::Public => Self::Public,
            _ if flags.public => Self::Public,
            Exposure::Resolved => Self::Secret(Ground::Source),
            Exposure::Plain if name.is_some_and(|name| is_called_secret(name, value)) => {
                Self::Secret(Ground::Name)
            }
            Exposure::Plain if value.is_some_and(has_shape) => Self::Secret(Ground::Shape),
            Exposure::Plain => Self::Plain,
        }
    }

    #[must_use]
    pub const fn is_public(self) -> bool {
        matches!(self, Self::Public)
    }

    #[must_use]
    pub const fn is_secret(self) -> bool {
        matches!(self, Self::Secret(_))
    }

    /// Whether the source itself says that it is a secret.
    #[must_use]
    pub const fn is_declared(self) -> bool {
        matches!(self, Self::Secret(Ground::Declared))
    }
}

/// Words that are in output for other reasons as well.
const COMMON: &str = "\
    admin administrator artifact changeme container database default deployment development \
    disabled enabled example.com external false guest instance internal kubernetes localhost main \
    master namespace none null password postgres production release republic root secret service \
    staging success test true undefined user";

/// Whether a value is a common word: to hide it would make output unreadable.
#[must_use]
pub fn is_common(value: &str) -> bool {
    COMMON.split(' ').any(|word| word.eq_ignore_ascii_case(value))
}

/// Whether the name of a value says that it is a secret. Where the name only asks for one
/// (`USE_TOKEN`), the value decides: an answer is a number, yes or no.
fn is_called_secret(name: &str, value: Option<&Data>) -> bool {
    name::is_secret(name)
        || name::asks_for_secret(name)
            && matches!(value, Some(Data::Text(text)) if !is_answer(text.expose().trim()))
}

fn is_answer(text: &str) -> bool {
    let words = "true false yes no on off y n t f none never always";
    text.is_empty()
        || text.parse::<f64>().is_ok()
        || words.split(' ').any(|word| word.eq_ignore_ascii_case(text))
}

/// Whether a text in it looks like a secret.
fn has_shape(value: &Data) -> bool {
    match value {
        Data::Text(text) => shape::looks_secret(text.expose()),
        Data::Array(items) => items.iter().any(has_shape),
        Data::Map(fields) => fields.values().any(has_shape),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_counts_before_what_it_is_called_and_what_it_looks_like() {
        use Exposure::{Plain, Public, Resolved, Secret};
        let (none, public) = (Flags::default(), Flags { public: true, secret: false });
        let secret = Flags { public: false, secret: true };
        let url = Data::text("postgres://u:hunter2@h/db");
        let [word, yes, many] = ["hunter2", "Yes", "4096"].map(Data::text);
        for (exposure, flags, name, value, class) in [
            (Public, none, None, None, Class::Public),
            (Plain, none, Some("HOME"), None, Class::Plain),
            (Plain, none, Some("API_KEY"), None, Class::Secret(Ground::Name)),
            (Plain, none, Some("DATABASE_URL"), Some(&url), Class::Secret(Ground::Shape)),
            (Plain, none, Some("NO_IP_PASSWORD"), Some(&word), Class::Secret(Ground::Name)),
            (Plain, none, Some("USE_AUTH_TOKEN"), Some(&word), Class::Secret(Ground::Name)),
            (Plain, none, Some("MIN_IO_SECRET_KEY"), Some(&word), Class::Secret(Ground::Name)),
            (Plain, none, Some("USE_AUTH_TOKEN"), Some(&yes), Class::Plain),
            (Plain, none, Some("MIN_PASSWORD"), Some(&many), Class::Plain),
            (Plain, none, Some("MAX_TOKENS"), Some(&word), Class::Plain),
            (Plain, none, Some("USE_AUTH_TOKEN"), None, Class::Plain),
            (Plain, public, Some("API_KEY"), Some(&url), Class::Public),
            (Plain, secret, Some("HOME"), None, Class::Secret(Ground::Declared)),
            (Resolved, none, None, None, Class::Secret(Ground::Source)),
            (Resolved, public, None, Some(&url), Class::Public),
            (Secret, public, None, None, Class::Secret(Ground::Declared)),
        ] {
            assert_eq!(Class::of(exposure, flags, name, value), class, "{exposure:?} {name:?}");
        }
    }

    #[test]
    fn the_strongest_class_is_the_maximum() {
        let all = [
            Class::Public,
            Class::Plain,
            Class::Secret(Ground::Source),
            Class::Secret(Ground::Declared),
        ];
        assert!(all.is_sorted());
    }
}
