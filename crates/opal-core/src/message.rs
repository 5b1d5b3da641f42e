//! What is said about a failure: our own words, and the things that they name.

use std::fmt::{self, Write as _};
use std::ops::{Deref, Range};
use std::path::Path;
use std::time::Duration;
use std::{io, iter};

/// A number with its noun: `1 step`, `2 steps`.
#[must_use]
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// What appears in place of something hidden.
const HIDDEN: &str = "…";

/// A message that knows which parts of it were given to us: paths, variables, servers. They may be
/// values from the world, which nobody may see before the vault knows them.
///
/// [`message!`](crate::message!) makes one. A `String` becomes a message that was given as a whole:
/// nobody can say which of its parts were.
///
/// ```
/// use opal_core::message;
///
/// let path = "a/b".to_owned();
/// let message = message!("there is no file `", path, "`");
/// assert_eq!(message, "there is no file `a/b`");
/// assert_eq!(message.without(&["/srv/a/b"]), "there is no file `…`");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    text: String,
    /// Where the given parts are, in order.
    given: Vec<Range<usize>>,
}

/// A [`Message`](crate::message::Message) of parts. Literals are words, everything else is a
/// [`Part`](crate::message::Part).
#[macro_export]
macro_rules! message {
    (@ $message:ident) => {};
    (@ $message:ident $words:literal $(, $($rest:tt)*)?) => {
        $message.add_words($words);
        $($crate::message!(@ $message $($rest)*);)?
    };
    (@ $message:ident $part:expr $(, $($rest:tt)*)?) => {
        $crate::message::Part::add_to(&$part, &mut $message);
        $($crate::message!(@ $message $($rest)*);)?
    };
    ($($parts:tt)+) => {{
        let mut message = $crate::message::Message::default();
        $crate::message!(@ message $($parts)+);
        message
    }};
}

/// Something that a message names.
pub trait Part {
    fn add_to(&self, message: &mut Message);
}

/// Text of our own that is not written at the place itself, such as the kind of a thing.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a>(pub &'a str);

/// Why the system refused something, in the words that people know from it.
#[derive(Clone, Copy, Debug)]
pub struct Reason(pub io::ErrorKind);

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use io::ErrorKind as Kind;
        f.write_str(match self.0 {
            Kind::NotFound => "no such file or directory",
            Kind::AlreadyExists => "it exists already",
            Kind::InvalidInput | Kind::InvalidData => "invalid argument",
            Kind::StorageFull => "no space left on device",
            Kind::QuotaExceeded => "disk quota exceeded",
            Kind::ReadOnlyFilesystem => "read-only file system",
            Kind::InvalidFilename => "invalid file name, or one that is too long",
            Kind::CrossesDevices => "it is on another file system",
            Kind::WouldBlock => "it is not ready",
            Kind::Other => "unknown error",
            other => return write!(f, "{other}"),
        })
    }
}

impl Message {
    pub fn add_words(&mut self, words: &str) {
        self.text.push_str(words);
    }

    fn add(&mut self, words: impl fmt::Display) {
        // Writing to a `String` cannot fail.
        let _ = write!(self.text, "{words}");
    }

    fn add_given(&mut self, value: impl fmt::Display) {
        let start = self.text.len();
        self.add(value);
        self.given.push(start..self.text.len());
    }

    /// Where the given parts are, in order.
    #[must_use]
    pub fn given(&self) -> &[Range<usize>] {
        &self.given
    }

    /// A message that was taken apart; none where these are not parts of the text, in order.
    #[must_use]
    pub fn with_given(text: String, given: Vec<Range<usize>>) -> Option<Self> {
        let mut at = 0;
        for part in &given {
            if part.start < at || text.get(part.clone()).is_none() {
                return None;
            }
            at = part.end;
        }
        Some(Self { text, given })
    }

    /// Whether nobody can say which of its parts were given.
    #[must_use]
    pub fn is_given_as_a_whole(&self) -> bool {
        matches!(self.given.as_slice(), [all] if *all == (0..self.text.len()))
    }

    /// The same without a trace of `hidden`: a given part that is in such a text, or contains one,
    /// becomes `…`.
    #[must_use]
    pub fn without(&self, hidden: &[&str]) -> Self {
        let mut message = Self::default();
        let mut at = 0;
        for given in &self.given {
            message.add_words(&self.text[at..given.start]);
            let value = &self.text[given.clone()];
            let shows = |hidden: &&str| {
                !hidden.is_empty() && (hidden.contains(value) || value.contains(*hidden))
            };
            let is_shown = !value.is_empty() && hidden.iter().any(shows);
            message.add_given(if is_shown { HIDDEN } else { value });
            at = given.end;
        }
        message.add_words(&self.text[at..]);
        message
    }
}

macro_rules! parts {
    ($add:ident: $($part:ty),+) => {
        $(impl Part for $part {
            fn add_to(&self, message: &mut Message) {
                message.$add(self);
            }
        })+
    };
}

parts!(add_given: str, String, char);
parts!(add: u16, u32, u64, usize, i32);

impl Part for io::ErrorKind {
    fn add_to(&self, message: &mut Message) {
        message.add(Reason(*self));
    }
}

impl Part for Path {
    fn add_to(&self, message: &mut Message) {
        message.add_given(self.display());
    }
}

impl Part for Duration {
    fn add_to(&self, message: &mut Message) {
        message.add(format_args!("{self:?}"));
    }
}

impl Part for Words<'_> {
    fn add_to(&self, message: &mut Message) {
        message.add_words(self.0);
    }
}

impl Part for Message {
    fn add_to(&self, message: &mut Message) {
        let start = message.text.len();
        message.text.push_str(&self.text);
        message.given.extend(self.given.iter().map(|it| start + it.start..start + it.end));
    }
}

impl<T: Part + ?Sized> Part for &T {
    fn add_to(&self, message: &mut Message) {
        (**self).add_to(message);
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        let given = iter::once(0..text.len()).collect();
        Self { text, given }
    }
}

/// Only text of the program itself lives that long.
impl From<&'static str> for Message {
    fn from(words: &'static str) -> Self {
        Self { text: words.to_owned(), given: Vec::new() }
    }
}

impl From<Message> for String {
    fn from(message: Message) -> Self {
        message.text
    }
}

impl Deref for Message {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl PartialEq<str> for Message {
    fn eq(&self, other: &str) -> bool {
        self.text == other
    }
}

impl PartialEq<&str> for Message {
    fn eq(&self, other: &&str) -> bool {
        self.text == *other
    }
}

impl PartialEq<String> for Message {
    fn eq(&self, other: &String) -> bool {
        self.text == *other
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_hidden_text_gave_to_a_message_is_hidden() {
        let (path, times) = ("a/canary", 7_u16);
        let message = message!("no file `", path, "` of `b`, ", times, " times");
        for (hidden, seen) in [
            ("a/canary", "no file `…` of `b`, 7 times"),
            ("canary", "no file `…` of `b`, 7 times"),
            ("/srv/a/canary/x", "no file `…` of `b`, 7 times"),
            ("", "no file `a/canary` of `b`, 7 times"),
            ("other", "no file `a/canary` of `b`, 7 times"),
            ("file", "no file `a/canary` of `b`, 7 times"),
            ("7", "no file `a/canary` of `b`, 7 times"),
        ] {
            assert_eq!(message.without(&[hidden]), seen, "{hidden}");
        }
        let odd = message!("no file `", Path::new("a`canary"), "`");
        assert_eq!(odd.without(&["a`canary"]), "no file `…`");
        assert_eq!(message!(odd, " at ", Words("all")).without(&["canary"]), "no file `…` at all");
    }

    #[test]
    fn a_text_of_unknown_parts_is_hidden_as_a_whole() {
        let message = Message::from(format!("no file `{}`", "canary"));
        assert_eq!(message.without(&["canary"]), "…");
        assert_eq!(message.without(&["other"]), "no file `canary`");
        assert_eq!(Message::from("no canary").without(&["canary"]), "no canary");
    }
}
