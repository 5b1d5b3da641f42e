//! The characters of a password: `A-Za-z0-9!@#`.

use std::collections::BTreeSet;

use opal_core::message;
use opal_core::resolver::{Stream, Trouble};

use crate::value::invalid;

/// Far more than any keyboard has.
const MAX_CHARACTERS: usize = 1024;

/// At least two distinct characters, in the order of their code points.
#[derive(Debug)]
pub(super) struct Alphabet(Vec<char>);

impl Alphabet {
    pub(super) fn contains(&self, character: char) -> bool {
        self.0.contains(&character)
    }

    /// Reads single characters and ranges. A `-` at the start or the end is itself; anywhere else
    /// it must appear between the ends of a range, so that nobody has to guess.
    pub(super) fn parse(text: &str) -> Result<Self, Trouble> {
        let all: Vec<char> = text.chars().collect();
        let mut known = BTreeSet::new();
        let mut at = 0;
        while at < all.len() {
            let (first, last) = match all[at..] {
                ['-', '-', _, ..] => return Err(loose()),
                ['-', ..] if at > 0 && at + 1 < all.len() => return Err(loose()),
                ['-', ..] => ('-', '-'),
                [first, '-', last, ..] => {
                    at += 2;
                    (first, last)
                }
                [single, ..] => (single, single),
                [] => break,
            };
            at += 1;
            if first > last {
                return Err(invalid(
                    message!(
                        "the range `",
                        format!("{first}-{last}"),
                        "` of `alphabet` runs backwards"
                    ),
                    message!(
                        "write `",
                        format!("{last}-{first}"),
                        "`, or put `-` at the end if it is meant itself"
                    ),
                ));
            }
            if (u32::from(last) - u32::from(first)) as usize >= MAX_CHARACTERS {
                return Err(too_many());
            }
            known.extend(first..=last);
            if known.len() > MAX_CHARACTERS {
                return Err(too_many());
            }
        }
        if known.iter().any(|c| c.is_control()) {
            return Err(invalid(
                "`alphabet` contains a control character",
                "remove line ends, tabs and similar characters: few programs accept them in a \
                 password",
            ));
        }
        if known.len() < 2 {
            return Err(invalid(
                "`alphabet` needs at least two different characters",
                "write characters and ranges, such as `A-Za-z0-9`",
            ));
        }
        Ok(Self(known.into_iter().collect()))
    }

    /// One character, each with the same chance: numbers beyond the last whole multiple of the
    /// alphabet's size are drawn again.
    pub(super) fn draw(&self, stream: &mut dyn Stream) -> char {
        let size = self.0.len() as u32;
        let fair = (1 << 16) - (1 << 16) % size;
        loop {
            let mut bytes = [0; 2];
            stream.fill(&mut bytes);
            let number = u32::from(u16::from_le_bytes(bytes));
            if number < fair {
                return self.0[(number % size) as usize];
            }
        }
    }
}

fn loose() -> Trouble {
    invalid(
        "ambiguous `-` in the middle of `alphabet`",
        "put a literal `-` at the start or the end, as in `a-z0-9-`",
    )
}

fn too_many() -> Trouble {
    invalid(
        message!("`alphabet` has more than ", MAX_CHARACTERS, " characters"),
        "remove some: an alphabet of 64 characters gives 6 bits for each character",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn characters(text: &str) -> String {
        Alphabet::parse(text).unwrap().0.into_iter().collect()
    }

    #[test]
    fn characters_and_ranges_count_once() {
        assert_eq!(characters("a-e"), "abcde");
        assert_eq!(characters("c-ea-cabc"), "abcde");
        assert_eq!(characters("0-3!@#"), "!#0123@");
        assert_eq!(characters("ä-üß"), "ßäåæçèéêëìíîïðñòóôõö÷øùúûü");
        assert_eq!(characters("a-ab"), "ab");
    }

    #[test]
    fn a_hyphen_at_an_end_is_itself() {
        assert_eq!(characters("-ab"), "-ab");
        assert_eq!(characters("ab-"), "-ab");
        assert_eq!(characters("-a-c-"), "-abc");
        assert_eq!(characters("+--"), "+,-");
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_a_way_forward() {
        let refused = [
            ("z-a", "backwards"),
            ("a--", "backwards"),
            ("a-c-e", "in the middle"),
            ("--z", "in the middle"),
            ("", "at least two"),
            ("a", "at least two"),
            ("aaaa", "at least two"),
            ("-", "at least two"),
            ("a\n", "control"),
            ("\u{1}-z", "control"),
            ("\0-\u{10ffff}", "more than"),
            ("一-龥", "more than"),
        ];
        for (text, word) in refused {
            let trouble = Alphabet::parse(text).unwrap_err();
            assert!(trouble.message.contains(word), "{text:?}: {trouble:?}");
            assert!(!trouble.help.is_empty());
        }
    }
}
