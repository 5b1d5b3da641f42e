//! Numbers as a schema compares them: by what they are worth, exactly.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Which of two numbers is larger: 1 and 1.0 are the same.
pub(super) fn compare(left: &Number, right: &Number) -> Ordering {
    match (whole(left), whole(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        // What is not whole is small enough to be exact.
        _ => float(left).total_cmp(&float(right)),
    }
}

/// Its worth, where that is a whole number.
pub(super) fn whole(number: &Number) -> Option<i128> {
    if let Some(whole) = number.as_i128() {
        return Some(whole);
    }
    let float = number.as_f64()?;
    // More than this is larger than every number that is written without a point.
    #[expect(clippy::cast_possible_truncation, reason = "a whole number below the limit")]
    (float.fract() == 0.0 && float.abs() < 1e38).then_some(float as i128)
}

pub(super) fn is_whole(number: &Number) -> bool {
    float(number).fract() == 0.0
}

fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or_default()
}

/// Whether a number is a multiple of another, as they are written: 0.0075 is one of 0.0001.
pub(super) fn is_multiple(number: &Number, of: &Number) -> bool {
    let (Some((mut digits, power)), Some((of, of_power))) = (decimal(number), decimal(of)) else {
        return false;
    };
    if digits == 0 || of == 0 {
        return digits == 0;
    }
    // digits * 10^power must have the factor of * 10^of_power.
    for _ in of_power..power {
        digits = digits * 10 % of;
    }
    let mut factor = of;
    for _ in power..of_power {
        if factor > digits {
            return false;
        }
        factor *= 10;
    }
    digits % factor == 0
}

/// The digits of a number, 20 at most, and the power of ten that they count: both come from its
/// shortest form.
fn decimal(number: &Number) -> Option<(u128, i32)> {
    let text = match number.as_i128() {
        Some(whole) => whole.unsigned_abs().to_string(),
        None => format!("{:e}", float(number).abs()),
    };
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let power = power.parse::<i32>().ok()? - i32::try_from(after.len()).ok()?;
    let digits = format!("{before}{after}");
    let short = digits.trim_end_matches('0');
    let zeros = i32::try_from(digits.len() - short.len()).ok()?;
    Some((if short.is_empty() { 0 } else { short.parse().ok()? }, power + zeros))
}

/// An order of all values in which those that a schema calls equal are equal.
pub(super) fn order(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Number(left), Value::Number(right)) => compare(left, right),
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Array(left), Value::Array(right)) => {
            let pairs = left.iter().zip(right).map(|(left, right)| order(left, right));
            first_difference(pairs, left.len().cmp(&right.len()))
        }
        (Value::Object(left), Value::Object(right)) => {
            let pairs = left.iter().zip(right).map(|((key, left), (other, right))| {
                key.cmp(other).then_with(|| order(left, right))
            });
            first_difference(pairs, left.len().cmp(&right.len()))
        }
        _ => rank(left).cmp(&rank(right)),
    }
}

fn first_difference(mut pairs: impl Iterator<Item = Ordering>, lengths: Ordering) -> Ordering {
    pairs.find(|order| order.is_ne()).unwrap_or(lengths)
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn numbers_are_compared_exactly() {
        let ascending = [
            "-1e300",
            "-9223372036854775808",
            "-2.5",
            "-2",
            "0",
            "1e-300",
            "0.5",
            "9007199254740992",
            "9007199254740993",
            "18446744073709551615",
            "1e25",
            "1e300",
        ];
        for (at, left) in ascending.iter().enumerate() {
            for (beside, right) in ascending.iter().enumerate() {
                let found = compare(&number(left), &number(right));
                assert_eq!(found, at.cmp(&beside), "{left} {right}");
            }
        }
        assert_eq!(compare(&number("1.0"), &number("1")), Ordering::Equal);
        assert_eq!(compare(&number("-0.0"), &number("0")), Ordering::Equal);
    }

    #[test]
    fn multiples_are_those_of_the_numbers_as_written() {
        for (of, yes, no) in [
            ("0.0001", &["0.0075", "0", "3", "1e300"][..], &["0.00751"][..]),
            ("0.01", &["4.35", "0.29", "19.99", "-1.15"], &["0.001", "1.155"]),
            ("7", &["14", "-21.0", "18446744073709551614"], &["15", "0.7", "1e300"]),
            ("1e300", &["1e300", "3e300", "0.0"], &["1e299", "5", "1e-300"]),
            ("1e-300", &["1e300", "7", "2e-300"], &["1.5e-300"]),
            ("300", &["600", "3e2", "9e40"], &["100", "50"]),
        ] {
            for (numbers, expected) in [(yes, true), (no, false)] {
                for one in numbers {
                    assert_eq!(is_multiple(&number(one), &number(of)), expected, "{one} of {of}");
                }
            }
        }
    }
}
