//! What a container sees of the machine that it runs on.

use std::fmt;
use std::str::FromStr;

use super::name::Name;
use crate::view::visible;

/// `SOURCE:TARGET` or `SOURCE:TARGET:ro`. The source is a path, or the name of a volume; a path has a
/// `/`, or begins with `.`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mount {
    pub source: String,
    /// In the container: absolute.
    pub target: String,
    pub is_read_only: bool,
}

/// A text that is not a mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountError {
    text: String,
    why: &'static str,
}

impl Mount {
    /// Whether the source is a path of the machine, and not a volume of the engine.
    #[must_use]
    pub fn is_path(&self) -> bool {
        self.source.contains('/') || self.source.starts_with('.')
    }
}

impl FromStr for Mount {
    type Err = MountError;

    fn from_str(text: &str) -> Result<Self, MountError> {
        let wrong = |why| MountError { text: text.to_owned(), why };
        // The engines read a list with commas and quotes.
        if text.contains([',', '"']) || text.contains(char::is_control) {
            return Err(wrong("it must not contain `,`, `\"` or control characters"));
        }
        let (rest, is_read_only) = match text.strip_suffix(":ro") {
            Some(rest) => (rest, true),
            None => (text.strip_suffix(":rw").unwrap_or(text), false),
        };
        let (source, target) =
            rest.rsplit_once(':').ok_or_else(|| wrong("write `SOURCE:TARGET`"))?;
        if source.starts_with('~') {
            return Err(wrong("`~` is not replaced: write the whole path"));
        }
        if !target.starts_with('/') {
            return Err(wrong("the path in the container must begin with `/`"));
        }
        let mount = Self { source: source.to_owned(), target: target.to_owned(), is_read_only };
        if source.is_empty() || !mount.is_path() && source.parse::<Name>().is_err() {
            return Err(wrong("the source must be a path, or the name of a volume"));
        }
        Ok(mount)
    }
}

impl fmt::Display for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, target, is_read_only } = self;
        write!(f, "{source}:{target}{}", if *is_read_only { ":ro" } else { "" })
    }
}

impl fmt::Display for MountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid mount `{}`: {}", visible::brief(&self.text, 64), self.why)
    }
}

impl std::error::Error for MountError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_is_a_path_or_a_volume_and_nothing_that_an_engine_reads_otherwise() {
        for (text, is_path, is_read_only) in [
            ("./src:/src", true, false),
            ("../x:y/z:/src:ro", true, true),
            ("/a b:/c", true, false),
            ("cache:/var/cache", false, false),
        ] {
            let mount: Mount = text.parse().unwrap();
            assert_eq!((mount.is_path(), mount.is_read_only), (is_path, is_read_only), "{text}");
            assert_eq!(mount.to_string(), text);
        }
        for text in
            ["", "/a", "~/a:/b", "a:b", ":/x", "/a,readonly:/b", "/a\"b:/c", "-v:/c", "a\nb:/c"]
        {
            assert!(text.parse::<Mount>().is_err(), "{text}");
        }
    }
}
