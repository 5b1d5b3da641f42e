//! Parts of documents that are texts and mean more.

use std::fmt;
use std::str::FromStr;

use opal_core::hash::{Algorithm, Digest};
use opal_plugins::names::is_package_name;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// `acme/vault`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackageName(String);

/// `sha256:` and 64 digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sha256(pub Digest);

/// One line for people, of at most 1,000 visible symbols.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Visible(String);

/// The longest text for people.
const MAX_VISIBLE: usize = 1000;

/// Why a text is not what it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidField(&'static str);

impl fmt::Display for InvalidField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for InvalidField {}

impl PackageName {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `acme`.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.0.split_once('/').map_or("", |(namespace, _)| namespace)
    }
}

impl FromStr for PackageName {
    type Err = InvalidField;

    fn from_str(text: &str) -> Result<Self, InvalidField> {
        match is_package_name(text) {
            true => Ok(Self(text.to_owned())),
            false => Err(InvalidField("a package is called NAMESPACE/NAME, as in acme/vault")),
        }
    }
}

impl fmt::Display for PackageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Sha256 {
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Algorithm::Sha256.digest(&[bytes]))
    }
}

impl FromStr for Sha256 {
    type Err = InvalidField;

    fn from_str(text: &str) -> Result<Self, InvalidField> {
        let digest = text.strip_prefix("sha256:").and_then(Digest::parse);
        digest.map(Self).ok_or(InvalidField("a digest is sha256: and 64 hexadecimal digits"))
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Algorithm::Sha256.written(&self.0))
    }
}

/// Whether a person sees a symbol, and sees it where it is: no control, no mark that changes the direction of
/// text, no space but the plain one.
pub(crate) fn is_visible(c: char) -> bool {
    let is_blank = c != ' ' && c.is_whitespace();
    let is_hidden = matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}' | '\u{1160}'
            | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
            | '\u{e000}'..='\u{f8ff}'
            | '\u{f0000}'..='\u{10ffff}'
    );
    !(c.is_control() || is_blank || is_hidden)
}

impl Visible {
    /// A text of a package: what nobody would see is left out, and what is too long cut off.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let plain = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c });
        Self(plain.filter(|c| is_visible(*c)).take(MAX_VISIBLE).collect())
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Visible {
    type Err = InvalidField;

    fn from_str(text: &str) -> Result<Self, InvalidField> {
        if text.chars().count() > MAX_VISIBLE {
            return Err(InvalidField("a text has more than 1,000 symbols"));
        }
        match text.chars().all(is_visible) {
            true => Ok(Self(text.to_owned())),
            false => Err(InvalidField("a text has symbols that cannot be seen")),
        }
    }
}

impl fmt::Display for Visible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! as_text {
    ($($name:ident),*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                text::serialize(self, to)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                text::deserialize(from)
            }
        }
    )*};
}

as_text!(PackageName, Sha256, Visible);

/// For types of others: as they are displayed, as they are parsed.
pub(super) mod text {
    use std::borrow::Cow;
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    /// The longest text that is parsed.
    const MAX_TEXT: usize = 4096;

    pub(crate) fn serialize<T: Display, S: Serializer>(
        value: &T,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_str(value)
    }

    pub(crate) fn deserialize<'de, T, D: Deserializer<'de>>(from: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
    {
        let text = Cow::<str>::deserialize(from)?;
        if text.len() > MAX_TEXT {
            return Err(D::Error::custom("a text is too long"));
        }
        text.parse().map_err(D::Error::custom)
    }
}

/// The same, where there may be none.
pub(super) mod optional {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<T: Display, S: Serializer>(
        value: &Option<T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => to.collect_str(value),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, T, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error>
    where
        T: FromStr<Err: Display>,
    {
        #[derive(Deserialize)]
        #[serde(transparent, bound(deserialize = "T: FromStr<Err: Display>"))]
        struct Given<T>(#[serde(with = "super::text")] T);
        Ok(Option::<Given<T>>::deserialize(from)?.map(|given| given.0))
    }
}

/// A list of such texts.
pub(super) mod list {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<T: Display, S: Serializer>(
        values: &[T],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(values.iter().map(T::to_string))
    }

    pub(crate) fn deserialize<'de, T, D: Deserializer<'de>>(from: D) -> Result<Vec<T>, D::Error>
    where
        T: FromStr<Err: Display>,
    {
        #[derive(Deserialize)]
        #[serde(transparent, bound(deserialize = "T: FromStr<Err: Display>"))]
        struct Given<T>(#[serde(with = "super::text")] T);
        Ok(Vec::<Given<T>>::deserialize(from)?.into_iter().map(|given| given.0).collect())
    }
}
