//! How it is said what is with the line.

use std::path::Path;

use opal_core::resolver::{Trouble, TroubleKind};

use super::edit::{Change, How, Line, Refusal, Several};
use crate::resource::diff::grouped;

/// Line numbers that a message names.
const MAX_NAMED: usize = 8;

pub(super) fn reported(path: &str, change: Option<&Change>, is_present: bool) -> String {
    match change.map(|change| &change.how) {
        None if is_present => format!("`{path}` has the line"),
        None => format!("`{path}` does not have the line"),
        Some(How::Added) => format!("`{path}` does not have the line"),
        Some(How::Replaced(lines)) => {
            let verb = if lines.len() == 1 { "differs" } else { "differ" };
            format!("{} of `{path}` {verb}", numbered(lines))
        }
        Some(How::Removed(lines)) => {
            format!("{} of `{path}` should be absent", numbered(lines))
        }
    }
}

pub(super) fn refused(path: &Path, line: &Line<'_>, refusal: &Refusal) -> Trouble {
    let path = path.display();
    let encoding = line.encoding.name();
    let trouble = |kind, message: String, help: &'static str| Trouble::new(kind, message, help);
    match refusal {
        Refusal::Binary => trouble(
            TroubleKind::NotText,
            format!("`{path}` is binary: it contains a NUL byte"),
            "name a text file; convert UTF-16 first",
        ),
        Refusal::OtherEncoding(number) => trouble(
            TroubleKind::NotText,
            format!("line {} of `{path}` is not {encoding}", grouped(*number)),
            "set its encoding: `encoding=\"…\"`",
        ),
        Refusal::Unwritable(position) => trouble(
            TroubleKind::Invalid,
            format!("character {position} of `line` cannot be written to `{path}` in {encoding}"),
            "remove the character, or set another encoding",
        ),
        Refusal::Ambiguous(lines) => {
            let help = match (line.several, line.is_present) {
                (Several::First, _) => {
                    "to remove all of them, set `on_multiple_matches=\"all\"`; to remove one, \
                     make `match` stricter"
                }
                (_, true) => {
                    "make `match` stricter, or set `on_multiple_matches=\"first\"` or `\"all\"`"
                }
                (_, false) => {
                    "make `match` stricter, or set `on_multiple_matches=\"all\"` to remove all of \
                     them"
                }
            };
            let message = format!("{} of `{path}` match, but only one should", numbered(lines));
            trouble(TroubleKind::Invalid, message, help)
        }
    }
}

/// `line 3`, `lines 3 and 9`, `lines 1, 2, 3 and 40 more`.
fn numbered(lines: &[usize]) -> String {
    let named: Vec<String> = lines.iter().take(MAX_NAMED).map(|line| grouped(*line)).collect();
    match (named.as_slice(), lines.len().saturating_sub(MAX_NAMED)) {
        ([one], 0) => format!("line {one}"),
        ([first @ .., last], 0) => format!("lines {} and {last}", first.join(", ")),
        (_, more) => format!("lines {} and {} more", named.join(", "), grouped(more)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_numbers_are_listed_as_people_do() {
        let many: Vec<usize> = (1..=20).collect();
        let found = [&[3][..], &[3, 9], &[1, 2, 1_300], &many].map(numbered);
        assert_eq!(
            found,
            [
                "line 3",
                "lines 3 and 9",
                "lines 1, 2 and 1,300",
                "lines 1, 2, 3, 4, 5, 6, 7, 8 and 12 more",
            ]
        );
    }
}
