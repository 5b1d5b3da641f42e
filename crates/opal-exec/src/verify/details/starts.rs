//! What lines with a value begin with, so that lines with an older value are known by it.

use std::collections::BTreeSet;

/// Beginnings of lines, without blanks and quotes, up to the last letter or digit before the value.
#[derive(Default)]
pub(super) struct Starts {
    texts: BTreeSet<String>,
    longest: usize,
}

impl Starts {
    /// What precedes a value. If no letter or digit is in it, it says nothing about other lines.
    pub(super) fn add(&mut self, start: &str) {
        let mut text = squeezed(start);
        text.truncate(text.trim_end_matches(|c: char| !c.is_alphanumeric()).len());
        if !text.is_empty() {
            self.longest = self.longest.max(text.len());
            self.texts.insert(text);
        }
    }

    /// Where the longest of them ends in a line that begins with one; what separates it from a value
    /// belongs to it.
    pub(super) fn end_in(&self, line: &str) -> Option<usize> {
        let (mut begun, mut found) = (String::new(), None);
        for (at, c) in line.char_indices().filter(|(_, c)| !is_passed_over(*c)) {
            if begun.len() > self.longest {
                break;
            }
            begun.push(c);
            let rest = &line[at + c.len_utf8()..];
            // `password2` is another word than `password`.
            let is_word_over = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            if is_word_over && self.texts.contains(&begun) {
                let value = rest.trim_start_matches(|c| is_passed_over(c) || "=:".contains(c));
                found = Some(line.len() - value.len());
            }
        }
        found
    }
}

/// Without blanks and quotes.
pub(super) fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !is_passed_over(*c)).collect()
}

fn is_passed_over(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '`')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_known_by_how_it_begins() {
        for (start, line, end) in [
            ("password=", "password=old", Some(9)),
            ("password=", "password = old", Some(11)),
            ("  password: \"", "password: 'old'", Some(11)),
            ("password=", "\tpassword:old", Some(10)),
            ("password=", "password2=old", None),
            ("password=", "# password=old", None),
            ("- ", "- old", None),
            ("", "old", None),
            ("<pw>", "<pw>old</pw>", Some(3)),
            ("curl -u bob:", "curl  -u bob:old https://host", Some(13)),
        ] {
            let mut starts = Starts::default();
            starts.add(start);
            starts.add("other=");
            assert_eq!(starts.end_in(line), end, "{start:?}: {line:?}");
        }
    }
}
