//! What differs, safe to show.
//!
//! A value that is known is hidden wherever it stands. A line of the actual side that stands against
//! one with such a value probably holds an older one, which nobody knows any more: it is hidden from
//! where the value begins.

use opal_core::Secret;
use opal_core::record::Shown;

use crate::vault::Vault;

/// In place of what could be an older value.
const OLDER: &str = "[hidden]";

pub(crate) fn shown(details: &Secret, vault: &Vault) -> Shown<'static> {
    vault.scrub(&without_older(details.expose(), vault)).into_owned()
}

fn without_older(details: &str, vault: &Vault) -> String {
    let mut out = String::with_capacity(details.len());
    let (mut expected, mut actual) = (Vec::new(), Vec::new());
    for line in details.split_inclusive('\n') {
        if is_changed(line, '-') {
            if !actual.is_empty() {
                flush(&mut expected, &mut actual, vault, &mut out);
            }
            expected.push(line);
            out.push_str(line);
        } else if is_changed(line, '+') {
            actual.push(line);
        } else {
            flush(&mut expected, &mut actual, vault, &mut out);
            out.push_str(line);
        }
    }
    flush(&mut expected, &mut actual, vault, &mut out);
    out
}

/// A line of a hunk; not one that names a side.
fn is_changed(line: &str, sign: char) -> bool {
    line.starts_with(sign)
        && !line.starts_with("--- expected: ")
        && !line.starts_with("+++ actual: ")
}

/// Writes the actual lines of a change, each held against the expected ones.
fn flush(expected: &mut Vec<&str>, actual: &mut Vec<&str>, vault: &Vault, out: &mut String) {
    let before: Vec<Option<&str>> = expected.iter().map(|line| up_to_value(line, vault)).collect();
    for (index, line) in actual.iter().enumerate() {
        let hidden = if before.len() == actual.len() {
            before[index].map(|text| if line[1..].starts_with(text) { text } else { "" })
        } else {
            let texts = before.iter().flatten();
            texts.filter(|text| line[1..].starts_with(**text)).max_by_key(|it| it.len()).copied()
        };
        match hidden {
            Some(text) => out.extend(["+", text, OLDER, "\n"]),
            None => out.push_str(line),
        }
    }
    expected.clear();
    actual.clear();
}

/// What stands before the first value in a line, without its sign; none where there is no value.
fn up_to_value<'l>(line: &'l str, vault: &Vault) -> Option<&'l str> {
    let shown = vault.scrub(line);
    let shown = shown.text();
    if shown == line {
        return None;
    }
    let same = line.bytes().zip(shown.bytes()).take_while(|(a, b)| a == b).count();
    Some(&line[1..line.floor_char_boundary(same.max(1))])
}

#[cfg(test)]
mod tests {
    use opal_core::Data;

    use super::*;

    fn details(text: &str) -> String {
        let vault = Vault::new();
        vault.register(&Data::text("new-secret"), "<value>", false);
        shown(&Secret::new(text), &vault).text().into_owned()
    }

    #[test]
    fn an_older_value_is_hidden_with_the_new_one() {
        let shown = details(
            "--- expected: a\n+++ actual: b\n@@ -1,2 +1,2 @@\n-password=new-secret\n-port=80\n\
             +password=old-secret\n+port=81\n",
        );
        assert!(shown.contains("-password=<value>\n-port=80\n"), "{shown}");
        assert!(shown.contains("+password=[hidden]\n+port=81\n"), "{shown}");
    }

    #[test]
    fn what_does_not_stand_against_a_value_is_shown() {
        let shown = details(" same\n-password=new-secret\n+other=1\n+password=old\n+more=2\n");
        assert_eq!(shown, " same\n-password=<value>\n+other=1\n+password=[hidden]\n+more=2\n");
        let shown = details("-a\n+b\n context\n-x\n+y\n");
        assert_eq!(shown, "-a\n+b\n context\n-x\n+y\n");
    }

    #[test]
    fn a_value_at_the_beginning_of_a_line_hides_all_that_stands_against_it() {
        let shown = details("-new-secret\n+one\n+two\n");
        assert_eq!(shown, "-<value>\n+[hidden]\n+[hidden]\n");
    }

    #[test]
    fn what_is_no_diff_is_only_scrubbed() {
        assert_eq!(details("mode 0600, new-secret\n"), "mode 0600, <value>\n");
        assert_eq!(details(""), "");
    }
}
