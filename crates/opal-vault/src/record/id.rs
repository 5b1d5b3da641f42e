//! The name of a run.

use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;

/// `run-YYYYMMDDThhmmssZ-<8 hex>`. The first four of the digits are the fraction of the second, so
/// that names sort by time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId([u8; LENGTH]);

/// It is not the name of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRunId;

const START: &str = "run-";
const LENGTH: usize = "run-YYYYMMDDThhmmssZ-01234567".len();

impl RunId {
    /// Of a run that starts at `at`; the end of `random` tells runs of the same moment apart.
    #[must_use]
    pub fn new(at: SystemTime, random: [u8; 4]) -> Self {
        let time = jiff::Timestamp::try_from(at).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        // Before 1970 it counts backwards, and only tells runs apart.
        let fraction = i64::from(time.subsec_nanosecond().abs()) * 0x1_0000 / 1_000_000_000;
        let random = u32::from_be_bytes(random) & 0xffff;
        let time = time.strftime("%Y%m%dT%H%M%SZ");
        let name = format!("{START}{time}-{fraction:04x}{random:04x}");
        // A clock may be wrong, but no year has more than four digits.
        Self(name.as_bytes().try_into().unwrap_or([b'0'; LENGTH]))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl FromStr for RunId {
    type Err = NoRunId;

    fn from_str(text: &str) -> Result<Self, NoRunId> {
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let is_name = text.len() == LENGTH
            && text.is_ascii()
            && text.starts_with(START)
            && digits(&text[4..12])
            && &text[12..13] == "T"
            && digits(&text[13..19])
            && &text[19..21] == "Z-"
            && text[21..].bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let name = text.as_bytes().try_into().map_err(|_| NoRunId)?;
        if is_name { Ok(Self(name)) } else { Err(NoRunId) }
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn a_name_says_the_time_and_reads_back() {
        let at = UNIX_EPOCH + Duration::from_secs(1_794_729_600);
        let id = RunId::new(at, [0, 0xab, 1, 2]);
        assert_eq!(id.as_str(), "run-20261115T080000Z-00000102");
        assert_eq!(id.as_str().parse(), Ok(id.clone()));
        let later = RunId::new(at + Duration::from_nanos(999_999_999), [0; 4]);
        assert_eq!(later.as_str(), "run-20261115T080000Z-ffff0000");
        assert!(id < later);
    }

    #[test]
    fn what_is_almost_a_name_is_none() {
        for text in [
            "",
            "last",
            "run-20261115T080000Z-00ab010",
            "run-20261115T080000Z-00AB0102",
            "run-2026111xT080000Z-00ab0102",
            "run-20261115T080000Z/00ab0102",
            "run-20261115T080000Z-00ab0é0",
        ] {
            assert_eq!(text.parse::<RunId>(), Err(NoRunId), "{text}");
        }
    }
}
