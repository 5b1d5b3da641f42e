//! Names of runs and of instances, and times as they are written. Each name becomes part of a path,
//! so none can hold what leads out of a directory.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use opal_core::view::time_text;

use crate::reference::{NoReference, shorten};

/// `<command>-YYYYMMDDThhmmssZ-<8 hex>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunId(String);

impl RunId {
    /// Of a run that starts at `at`; `random` tells runs of the same second apart.
    #[must_use]
    pub fn new(command: &str, at: SystemTime, random: [u8; 4]) -> Self {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let command: String = command.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
        let time = time(at).replace(['-', ':'], "");
        Self(format!("{command}-{time}-{:08x}", u32::from_be_bytes(random)))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// RFC 3339 in UTC, to the second. A time before 1970, which only a wrong clock tells, is its start.
#[must_use]
pub fn time(at: SystemTime) -> String {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    let text = i64::try_from(since.as_secs()).ok().and_then(time_text);
    text.unwrap_or_else(|| "1970-01-01T00:00:00Z".to_owned())
}

/// Which of several states of one module is meant: `--state-instance`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instance(String);

impl Instance {
    const LONGEST: usize = 64;

    pub fn parse(text: &str) -> Result<Self, NoReference> {
        if is_word(text) && text.len() <= Self::LONGEST {
            return Ok(Self(text.to_owned()));
        }
        Err(NoReference {
            message: format!("invalid instance name `{}`", shorten(text)),
            help: format!(
                "use up to {} letters, digits and `. _ -`, and begin with a letter or digit",
                Self::LONGEST
            ),
        })
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// `[a-zA-Z0-9][a-zA-Z0-9._-]*`: the name of one file, wherever it is.
pub(super) fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_run_is_named_by_its_command_its_second_and_chance() {
        let at = UNIX_EPOCH + Duration::from_millis(1_794_729_600_999);
        let id = RunId::new("apply", at, [0, 0xab, 1, 2]);
        assert_eq!(id.as_str(), "apply-20261115T080000Z-00ab0102");
        assert_eq!(
            RunId::new("init-gcp", at, [255; 4]).to_string(),
            "init-gcp-20261115T080000Z-ffffffff"
        );
    }

    #[test]
    fn no_command_and_no_clock_makes_a_name_that_leaves_its_directory() {
        let before = UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(RunId::new("../ä", before, [0; 4]).as_str(), "-----19700101T000000Z-00000000");
    }

    #[test]
    fn an_instance_is_one_word() {
        for text in ["a", "blue", "B.2_c-d", "0"] {
            assert_eq!(Instance::parse(text).unwrap().as_str(), text);
        }
        let long = "a".repeat(65);
        for text in
            ["", ".", "..", "../a", "a/b", "a\\b", "-a", "_a", "a b", "a\n", "a\0", "ä", &long]
        {
            assert!(Instance::parse(text).is_err(), "{text:?}");
        }
    }
}
