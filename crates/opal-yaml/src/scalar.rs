//! What a scalar without quotes means: the core schema of YAML 1.2.

/// The meaning of a plain scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meaning {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// A number that no type here can hold, or that is spelled in a way that would not be kept:
    /// `0123`, `0x1f`, `1.10`, `.inf`.
    OddNumber,
    Text,
}

#[must_use]
pub fn meaning(text: &str) -> Meaning {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Meaning::Null,
        "true" | "True" | "TRUE" => return Meaning::Bool(true),
        "false" | "False" | "FALSE" => return Meaning::Bool(false),
        _ => {}
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_odd = matches!(digits, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN");
    let prefixed = |prefix: &str, radix| {
        text.strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_digit(radix)))
    };
    if is_odd || prefixed("0x", 16) || prefixed("0o", 8) {
        return Meaning::OddNumber;
    }
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        || !digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '-' | '+'))
    {
        return Meaning::Text;
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return match text.parse::<i64>() {
            Ok(number) if number.to_string() == text => Meaning::Int(number),
            _ => Meaning::OddNumber,
        };
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && format!("{number:?}") == text => Meaning::Float(number),
        Ok(_) => Meaning::OddNumber,
        Err(_) => Meaning::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_only_where_their_spelling_is_kept() {
        for (text, expected) in [
            ("8080", Meaning::Int(8080)),
            ("-1", Meaning::Int(-1)),
            ("-9223372036854775808", Meaning::Int(i64::MIN)),
            ("9223372036854775808", Meaning::OddNumber),
            ("0644", Meaning::OddNumber),
            ("+1", Meaning::OddNumber),
            ("0o644", Meaning::OddNumber),
            ("0x1F", Meaning::OddNumber),
            ("1.5", Meaning::Float(1.5)),
            ("1.10", Meaning::OddNumber),
            ("1e3", Meaning::OddNumber),
            ("1.", Meaning::OddNumber),
            (".inf", Meaning::OddNumber),
            ("-.INF", Meaning::OddNumber),
            ("1e999", Meaning::OddNumber),
        ] {
            assert_eq!(meaning(text), expected, "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_number_is_text() {
        for text in ["1.2.3", "1-2", "0xg", "0o8", "-", ".", "e3", "10.0.0.1", "1_000", "5s", "no"]
        {
            assert_eq!(meaning(text), Meaning::Text, "{text}");
        }
    }
}
