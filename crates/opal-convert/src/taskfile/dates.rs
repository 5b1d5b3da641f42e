//! Dates as Go writes them: a layout is the way that a certain moment is written.

use crate::form::Expr;

/// Each part of a date, as Go and as `date` write it; longer ones first.
const PARTS: [(&str, &str); 20] = [
    ("January", "%B"),
    ("Monday", "%A"),
    ("Z07:00", "%:z"),
    ("-07:00", "%:z"),
    ("-0700", "%z"),
    ("2006", "%Y"),
    ("Jan", "%b"),
    ("Mon", "%a"),
    ("MST", "%Z"),
    ("002", "%j"),
    ("01", "%m"),
    ("02", "%d"),
    ("03", "%I"),
    ("04", "%M"),
    ("05", "%S"),
    ("06", "%y"),
    ("15", "%H"),
    ("PM", "%p"),
    ("T", "T"),
    ("Z", "Z"),
];

pub(super) fn now() -> Expr {
    Expr::output("date +%s")
}

/// This moment in a layout of Go.
pub(super) fn formatted(layout: &str, zone: Option<&str>) -> Result<Expr, String> {
    let unknown = || format!("the date `{layout}`");
    let is_utc = match zone {
        None => false,
        Some("UTC") => true,
        Some(_) => return Err(unknown()),
    };
    let mut format = String::new();
    let mut rest = layout;
    while let Some(c) = rest.chars().next() {
        let part = PARTS.iter().find(|(go, _)| rest.starts_with(go));
        let (used, written) = match part {
            Some(("Z07:00", _)) if is_utc => (6, "Z"),
            // `date` writes `+00:00` where Go writes `Z`.
            Some(("Z07:00", _)) => return Err(unknown()),
            Some((go, date)) => (go.len(), *date),
            None if "-:/._ ,".contains(c) => (1, &rest[..1]),
            None => return Err(unknown()),
        };
        format.push_str(written);
        rest = &rest[used..];
    }
    let utc = if is_utc { "-u " } else { "" };
    Ok(Expr::output(&format!("date {utc}'+{format}'")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_formats_of_date() {
        for (layout, zone, expected) in [
            ("2006-01-02T15:04:05Z07:00", Some("UTC"), Some("date -u '+%Y-%m-%dT%H:%M:%SZ'")),
            ("20060102", None, Some("date '+%Y%m%d'")),
            ("Mon Jan 02 2006, 03:04 PM", None, Some("date '+%a %b %d %Y, %I:%M %p'")),
            ("2006-01-02T15:04:05Z07:00", None, None),
            ("it's 2006", None, None),
            ("2006", Some("Mars/One"), None),
        ] {
            let found = formatted(layout, zone).ok();
            assert_eq!(found, expected.map(Expr::output), "{layout}");
        }
    }
}
