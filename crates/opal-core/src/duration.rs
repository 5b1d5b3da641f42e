//! Lengths of time as the language writes them: `1h30m`, `500ms`.

use std::fmt;

/// A length of time in whole nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(i64);

/// Units in descending order with their nanoseconds. A year is 365 days, a week 7.
pub const UNITS: [(&str, i64); 9] = [
    ("y", 365 * 24 * 3600 * SECOND),
    ("w", 7 * 24 * 3600 * SECOND),
    ("d", 24 * 3600 * SECOND),
    ("h", 3600 * SECOND),
    ("m", 60 * SECOND),
    ("s", SECOND),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];
const SECOND: i64 = 1_000_000_000;

/// Why a text is not a duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DurationError {
    /// No digits, or digits without a unit.
    Form,
    /// A fraction, as in `1.5h`.
    Fraction,
    UnknownUnit(String),
    /// A unit that is not smaller than the one before it, as in `30m1h`.
    Order,
    TooLong,
}

impl fmt::Display for DurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => f.write_str("a duration consists of whole numbers, each with a unit"),
            Self::Fraction => f.write_str("the parts of a duration must be whole numbers"),
            Self::UnknownUnit(unit) => write!(f, "unknown unit of time `{unit}`"),
            Self::Order => f.write_str(
                "the units of a duration must be in order from large to small, each once",
            ),
            Self::TooLong => f.write_str("the duration is longer than 292 years"),
        }
    }
}

impl Duration {
    #[must_use]
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    #[must_use]
    pub const fn from_secs(secs: i64) -> Self {
        Self(secs * SECOND)
    }

    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis * 1_000_000)
    }

    #[must_use]
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Reads integer parts in descending units.
    ///
    /// ```
    /// use opal_core::Duration;
    /// assert_eq!(Duration::parse("90s").unwrap().to_string(), "1m30s");
    /// assert!(Duration::parse("30m1h").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, DurationError> {
        let mut rest = text;
        let mut total: i64 = 0;
        let mut next_unit = 0;
        if rest.is_empty() {
            return Err(DurationError::Form);
        }
        while !rest.is_empty() {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (number, after) = rest.split_at(digits);
            if after.starts_with('.') {
                return Err(DurationError::Fraction);
            }
            let letters = after.len() - after.trim_start_matches(|c: char| c.is_alphabetic()).len();
            let (unit, tail) = after.split_at(letters);
            if number.is_empty() || unit.is_empty() {
                return Err(DurationError::Form);
            }
            let index = UNITS
                .iter()
                .position(|(name, _)| *name == unit)
                .ok_or_else(|| DurationError::UnknownUnit(unit.to_owned()))?;
            if index < next_unit {
                return Err(DurationError::Order);
            }
            next_unit = index + 1;
            let count: i64 = number.parse().map_err(|_| DurationError::TooLong)?;
            total = count
                .checked_mul(UNITS[index].1)
                .and_then(|part| total.checked_add(part))
                .ok_or(DurationError::TooLong)?;
            rest = tail;
        }
        Ok(Self(total))
    }
}

/// The canonical form: the largest units first, none twice, `0s` for nothing.
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0s");
        }
        if self.0 < 0 {
            f.write_str("-")?;
        }
        let mut rest = self.0.unsigned_abs();
        for (unit, nanos) in UNITS {
            let count = rest / nanos.unsigned_abs();
            if count > 0 {
                write!(f, "{count}{unit}")?;
            }
            rest %= nanos.unsigned_abs();
        }
        Ok(())
    }
}

/// How long something took, for people: `40ms`, `2.3s`, `3m05s`, `2h07m`.
#[must_use]
pub fn rounded(took: std::time::Duration) -> String {
    let (seconds, millis) = (took.as_secs(), took.as_millis());
    match seconds {
        0 => format!("{millis}ms"),
        1..60 => format!("{seconds}.{}s", took.subsec_millis() / 100),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_canonical_form_is_unique() {
        for (given, canonical) in [
            ("90s", "1m30s"),
            ("1h30m", "1h30m"),
            ("0s", "0s"),
            ("8d", "1w1d"),
            ("1500ms", "1s500ms"),
            ("1y", "1y"),
        ] {
            assert_eq!(Duration::parse(given).unwrap().to_string(), canonical, "{given}");
        }
    }

    #[test]
    fn every_bad_form_says_why() {
        for (given, error) in [
            ("", DurationError::Form),
            ("h", DurationError::Form),
            ("5", DurationError::Form),
            ("1.5h", DurationError::Fraction),
            ("5x", DurationError::UnknownUnit("x".into())),
            ("30m1h", DurationError::Order),
            ("1h1h", DurationError::Order),
            ("300y", DurationError::TooLong),
        ] {
            assert_eq!(Duration::parse(given), Err(error), "{given}");
        }
    }
}
