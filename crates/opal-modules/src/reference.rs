//! References: the names of modules, packs, drivers and profiles.
//!
//! Every one of them becomes part of a path, so none can hold what leads out of a directory. Whether
//! anything of that name exists is not asked here.

use std::fmt;
use std::path::PathBuf;

/// The id of a module is the name of a directory, and file systems stop at 255 bytes.
const LONGEST: usize = 120;

/// Why a text is not a reference: the message, and the way forward.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoReference {
    pub message: String,
    pub help: String,
}

impl NoReference {
    fn new(message: String, help: impl Into<String>) -> Self {
        Self { message, help: help.into() }
    }
}

/// The name of a module, in its canonical form: `core/hetzner/edge-network`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModuleRef(String);

impl ModuleRef {
    /// Reads a reference; dots are slashes for those who type.
    pub fn parse(text: &str) -> Result<Self, NoReference> {
        let shown = shorten(text);
        if text.is_empty() || text.len() > LONGEST {
            return Err(NoReference::new(
                format!(
                    "a reference must have 1 to {LONGEST} characters, but `{shown}` has {}",
                    text.len()
                ),
                "write it as `core/network`",
            ));
        }
        let lower = text.to_ascii_lowercase();
        if lower != text {
            let message = format!("invalid reference `{shown}`: it has upper-case letters");
            return Err(NoReference::new(message, format!("write `{}`", shorten(&lower))));
        }
        let is_known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._/-".contains(c);
        if let Some(other) = text.chars().find(|c| !is_known(*c)) {
            return Err(NoReference::new(
                format!("invalid reference `{shown}`: it has the character {other:?}"),
                "use lower-case letters, digits, `_` and `-`, with `/` between the parts",
            ));
        }
        let canonical = text.replace('.', "/");
        let is_edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        let ends = is_edge(canonical.chars().next()) && is_edge(canonical.chars().next_back());
        // Two underlines are a slash in the id: no two modules may share one.
        if !ends || canonical.contains("//") || canonical.contains("__") {
            return Err(NoReference::new(
                format!(
                    "invalid reference `{shown}`: it begins or ends with a punctuation character, \
                     or has two in a row"
                ),
                "write it as `core/network`, without `..`, and without `/` at its ends",
            ));
        }
        Ok(Self(canonical))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of its directories in records and states.
    #[must_use]
    pub fn id(&self) -> String {
        self.0.replace('/', "__")
    }

    /// Where it is, below the modules root.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.0.split('/').collect()
    }

    /// The part of it that names a year or a cohort, which a reference outlives.
    #[must_use]
    pub fn time(&self) -> Option<&str> {
        time(&self.0)
    }
}

impl fmt::Display for ModuleRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a pack, a driver, a profile or a blueprint: `gcp/org/00-network@v1.0`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(String);

impl Name {
    /// Reads a name; `what` says of what, for the message.
    pub fn parse(text: &str, what: &str) -> Result<Self, NoReference> {
        let shown = shorten(text);
        let help = "use letters, digits and `. _ - + @`, begin each part with a letter or digit, \
                    and separate parts with `/`";
        let is_known = |c: char| c.is_ascii_alphanumeric() || "._-+@".contains(c);
        let is_part = |part: &str| {
            part.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
                && part.chars().all(is_known)
        };
        if text.len() > LONGEST || !text.split('/').all(is_part) {
            return Err(NoReference::new(format!("invalid {what} `{shown}`"), help));
        }
        Ok(Self(text.to_owned()))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.0.split('/').collect()
    }

    /// The part of it that names a year or a cohort.
    pub(super) fn time(&self) -> Option<&str> {
        time(&self.0)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A word like `2026`, `2026e`, `lab2026` or `cohort`.
fn time(text: &str) -> Option<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| {
        let rest = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let (digits, rest) = rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count());
        let is_year = digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20"));
        (is_year && rest.len() <= 2) || *word == "cohort"
    })
}

/// As much of a text as fits into a message.
pub(super) fn shorten(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_become_slashes_and_an_id_has_neither() {
        let found = ModuleRef::parse("core.hetzner.edge-network").unwrap();
        assert_eq!(found.as_str(), "core/hetzner/edge-network");
        assert_eq!(found.id(), "core__hetzner__edge-network");
        assert_eq!(found, ModuleRef::parse("core/hetzner/edge-network").unwrap());
    }

    #[test]
    fn what_could_leave_its_directory_is_not_a_reference() {
        let long = "a".repeat(LONGEST + 1);
        for text in
            ["", "/", "..", "../a", "a/../b", "a//b", "a..b", "/etc", "a/", "-a", "a-", "A/b"]
                .into_iter()
                .chain(["a b", "a\\b", "a\0", "ä", "a__b", "a@v1", long.as_str()])
        {
            assert!(ModuleRef::parse(text).is_err(), "{text}");
        }
        for text in ["", "/", "a/..", "../a", ".", "a//b", "/a", "a/", ".git", "a b", "a:b", "-x"] {
            assert!(Name::parse(text, "pack").is_err(), "{text}");
        }
        for text in ["gcp/org/00-project-factory@v1.0", "hello-world", "a/_shared/b", "v1.0+rke2r1"]
        {
            assert_eq!(Name::parse(text, "pack").unwrap().as_str(), text);
        }
    }

    #[test]
    fn years_and_cohorts_are_seen_and_versions_are_not() {
        let time = |text| ModuleRef::parse(text).unwrap().time().map(str::to_owned);
        for (text, word) in [
            ("org/2026e/lab", "2026e"),
            ("lab-1999", "1999"),
            ("a/lab2026", "lab2026"),
            ("a/cohort-b", "cohort"),
        ] {
            assert_eq!(time(text).as_deref(), Some(word));
        }
        for text in ["os/ubuntu-2204", "net/20-wan", "lab/20261"] {
            assert_eq!(time(text), None, "{text}");
        }
    }
}
