//! How many targets of a fleet run at a time, and how many may fail.
//!
//! | argument | values | meaning |
//! |---|---|---|
//! | `batch` | `5`, `"25%"`, `[1, 10, "50%"]` | targets of a batch; the last one repeats |
//! | `tolerate` | `0`, `3`, `"10%"` | how many targets of the whole fleet may fail |
//!
//! Percentages are of the whole fleet, rounded down as Ansible's `serial` does. A batch has at least one
//! target: `"10%"` of 5 targets is one, and tolerating it is none.

use std::fmt;
use std::ops::Range;

use crate::value::Value;

/// Targets of a fleet at most.
pub const MAX_TARGETS: usize = 10_000;
/// Sizes of batches that are written out at most.
const MAX_SIZES: usize = 100;

/// A number of targets, or a part of all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    Count(usize),
    /// From 0 to 100.
    Percent(u8),
}

/// The sizes of batches. Never empty, and no size is zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batches(Vec<Share>);

/// How many targets may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tolerance(Share);

/// A value that says nothing about a fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FleetError {
    /// Neither a number nor a percentage.
    NotShare(String),
    /// `"150%"`.
    Percent(String),
    /// A batch without targets.
    EmptyBatch,
    NoSizes,
    TooManySizes,
    TooManyTargets(i64),
    Negative(i64),
}

impl Share {
    fn read(value: &Value) -> Result<Self, FleetError> {
        match value {
            Value::Int(count) if *count < 0 => Err(FleetError::Negative(*count)),
            Value::Int(count) => match usize::try_from(*count) {
                Ok(count) if count <= MAX_TARGETS => Ok(Self::Count(count)),
                _ => Err(FleetError::TooManyTargets(*count)),
            },
            Value::String(text) => percent(text),
            other => Err(FleetError::NotShare(other.to_string())),
        }
    }

    /// Of `total` targets, rounded down.
    #[must_use]
    pub fn of(self, total: usize) -> usize {
        match self {
            Self::Count(count) => count,
            Self::Percent(percent) => total.saturating_mul(usize::from(percent)) / 100,
        }
    }
}

fn percent(text: &str) -> Result<Share, FleetError> {
    let number = text.strip_suffix('%');
    let is_number =
        |digits: &&str| !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit());
    let Some(digits) = number.filter(is_number) else {
        return Err(FleetError::NotShare(format!("\"{text}\"")));
    };
    match digits.parse::<u8>() {
        Ok(percent @ 0..=100) => Ok(Share::Percent(percent)),
        _ => Err(FleetError::Percent(text.to_owned())),
    }
}

impl Batches {
    /// All targets in one batch.
    #[must_use]
    pub fn whole() -> Self {
        Self(vec![Share::Percent(100)])
    }

    pub fn read(value: &Value) -> Result<Self, FleetError> {
        let sizes = match value {
            Value::Array(sizes) if sizes.is_empty() => return Err(FleetError::NoSizes),
            Value::Array(sizes) if sizes.len() > MAX_SIZES => return Err(FleetError::TooManySizes),
            Value::Array(sizes) => sizes.iter().map(Share::read).collect::<Result<Vec<_>, _>>()?,
            one => vec![Share::read(one)?],
        };
        match sizes.iter().any(|size| matches!(size, Share::Count(0) | Share::Percent(0))) {
            true => Err(FleetError::EmptyBatch),
            false => Ok(Self(sizes)),
        }
    }

    #[must_use]
    pub fn sizes(&self) -> &[Share] {
        &self.0
    }

    /// The batches of `total` targets, in order: each the indices of its targets. None is empty.
    pub fn of(&self, total: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        let (mut start, mut index) = (0_usize, 0_usize);
        std::iter::from_fn(move || {
            let size = self.0.get(index).or(self.0.last())?.of(total).max(1);
            let end = start.saturating_add(size).min(total);
            let batch = start..end;
            (start, index) = (end, index.saturating_add(1));
            (!batch.is_empty()).then_some(batch)
        })
    }
}

impl Default for Tolerance {
    fn default() -> Self {
        Self(Share::Count(0))
    }
}

impl Tolerance {
    pub fn read(value: &Value) -> Result<Self, FleetError> {
        Share::read(value).map(Self)
    }

    #[must_use]
    pub fn share(self) -> Share {
        self.0
    }

    /// How many of `total` targets may fail.
    #[must_use]
    pub fn of(self, total: usize) -> usize {
        self.0.of(total)
    }

    /// Whether `failed` targets are more than may fail: no further target starts.
    #[must_use]
    pub fn is_exceeded(self, failed: usize, total: usize) -> bool {
        failed > self.of(total)
    }
}

/// As it is written.
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Percent(percent) => write!(f, "\"{percent}%\""),
        }
    }
}

impl fmt::Display for Batches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [one] = self.0.as_slice() {
            return one.fmt(f);
        }
        let sizes: Vec<String> = self.0.iter().map(Share::to_string).collect();
        write!(f, "[{}]", sizes.join(", "))
    }
}

impl fmt::Display for FleetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotShare(text) => {
                write!(f, "expects a number of targets or a percentage such as \"25%\", got {text}")
            }
            Self::Percent(text) => write!(f, "must be between \"0%\" and \"100%\", got \"{text}\""),
            Self::EmptyBatch => f.write_str("a batch has at least one target"),
            Self::NoSizes => f.write_str("expects at least one size of a batch"),
            Self::TooManySizes => {
                write!(f, "has more than {MAX_SIZES} sizes; the last one repeats")
            }
            Self::TooManyTargets(count) => {
                write!(f, "a fleet has at most {MAX_TARGETS} targets, got {count}")
            }
            Self::Negative(count) => write!(f, "must not be negative, got {count}"),
        }
    }
}

impl std::error::Error for FleetError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::String(text.to_owned().into())
    }

    #[test]
    fn batches_have_the_sizes_that_ansible_gives_them() {
        let list = |items: &[Value]| Value::Array(items.to_vec());
        for (value, total, expected) in [
            (Value::Int(5), 12, &[5, 5, 2][..]),
            (Value::Int(5), 5, &[5]),
            (Value::Int(20), 3, &[3]),
            (Value::Int(1), 3, &[1, 1, 1]),
            (text("25%"), 10, &[2, 2, 2, 2, 2]),
            (text("25%"), 12, &[3, 3, 3, 3]),
            (text("30%"), 10, &[3, 3, 3, 1]),
            (text("10%"), 5, &[1, 1, 1, 1, 1]),
            (text("99%"), 10, &[9, 1]),
            (text("100%"), 7, &[7]),
            (list(&[Value::Int(1), Value::Int(10), text("50%")]), 30, &[1, 10, 15, 4]),
            (list(&[Value::Int(1), Value::Int(2)]), 7, &[1, 2, 2, 2]),
            (list(&[text("10%"), text("100%")]), 30, &[3, 27]),
            (list(&[Value::Int(4)]), 0, &[]),
        ] {
            let batches = Batches::read(&value).unwrap();
            let found: Vec<Range<usize>> = batches.of(total).collect();
            let sizes: Vec<usize> = found.iter().map(Range::len).collect();
            assert_eq!(sizes, expected, "{value} of {total}");
            assert_eq!(
                found.into_iter().flatten().collect::<Vec<_>>(),
                (0..total).collect::<Vec<_>>()
            );
        }
        assert_eq!(Batches::whole().of(3).map(|batch| batch.len()).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn more_failures_than_are_tolerated_stop_a_fleet() {
        for (value, total, limit) in [
            (Value::Int(0), 10, 0),
            (Value::Int(3), 10, 3),
            (text("10%"), 10, 1),
            (text("10%"), 19, 1),
            (text("10%"), 9, 0),
            (text("0%"), 100, 0),
            (text("100%"), 4, 4),
        ] {
            let tolerance = Tolerance::read(&value).unwrap();
            assert_eq!(tolerance.of(total), limit, "{value} of {total}");
            assert!(!tolerance.is_exceeded(limit, total));
            assert!(tolerance.is_exceeded(limit + 1, total));
        }
        assert!(Tolerance::default().is_exceeded(1, 10_000));
    }

    #[test]
    fn an_invalid_size_says_what_is_expected() {
        let list = Value::Array;
        for (value, said) in [
            (Value::Int(0), "a batch has at least one target"),
            (text("0%"), "a batch has at least one target"),
            (Value::Int(-1), "must not be negative, got -1"),
            (Value::Int(10_001), "a fleet has at most 10000 targets, got 10001"),
            (text("101%"), "must be between \"0%\" and \"100%\", got \"101%\""),
            (text("999999999999%"), "must be between \"0%\" and \"100%\""),
            (text("5"), "such as \"25%\", got \"5\""),
            (text("+5%"), "such as \"25%\""),
            (text("2.5%"), "such as \"25%\""),
            (text("%"), "such as \"25%\""),
            (Value::Bool(true), "such as \"25%\", got true"),
            (list(vec![]), "at least one size"),
            (list(vec![Value::Int(1), Value::Int(0)]), "a batch has at least one target"),
            (list(vec![list(vec![Value::Int(1)])]), "expects a number"),
            (list(vec![Value::Int(1); 101]), "more than 100 sizes"),
        ] {
            let error = Batches::read(&value).unwrap_err().to_string();
            assert!(error.contains(said), "{value}: {error}");
        }
    }

    #[test]
    fn sizes_are_shown_as_they_are_written() {
        let sizes = vec![Value::Int(1), text("50%")];
        assert_eq!(Batches::read(&Value::Array(sizes)).unwrap().to_string(), "[1, \"50%\"]");
        assert_eq!(Batches::read(&Value::Int(5)).unwrap().to_string(), "5");
    }
}
