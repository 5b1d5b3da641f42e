//! What was found, safe to show.
//!
//! What only its owner may read is not shown at all, but for how much of it differs.
//!
//! A value that is known is hidden wherever it is. A line of the actual side that is opposite one
//! with such a value probably holds an older value, which is no longer known: it is hidden from
//! where the value begins, and the message says no more than the details.

use opal_core::class::HIDDEN_ALONE_FROM;
use opal_core::resource::Finding;
use opal_vault::Shown;

use super::direction::{self, Direction, Line, reversed};
use opal_vault::Vault;

/// In place of what could be an older value.
const OLDER: &str = "[hidden]";

/// How the diff begins that may follow other lines.
const EXPECTED: &str = "--- expected: ";
const ACTUAL: &str = "+++ actual: ";

/// What may be seen of a finding.
#[derive(Debug)]
pub(crate) struct Sight {
    pub(crate) message: Shown<'static>,
    pub(crate) details: Option<Shown<'static>>,
}

pub(crate) fn shown(finding: &Finding, vault: &Vault, direction: Direction) -> Sight {
    let mut older = Vec::new();
    let details = finding.details.as_ref().map(|details| {
        let removed = finding.removed.as_ref().map(|it| format!("-{}", it.expose()));
        let text = without_older(details.expose(), removed.as_deref(), vault, &mut older);
        vault.scrub(&match direction {
            _ if finding.is_private => in_words(&text),
            Direction::Report => text,
            Direction::Change => reversed(&text),
        })
    });
    // The longest first: one may be a part of another.
    older.sort_by_key(|text| std::cmp::Reverse(text.len()));
    let message = finding.message.expose().to_owned();
    let message = older.iter().fold(message, |message, text| match text.len() {
        // So short a text may also be part of a word.
        ..HIDDEN_ALONE_FROM => message.replace(&format!("`{text}`"), &format!("`{OLDER}`")),
        _ => message.replace(text, OLDER),
    });
    Sight { message: vault.scrub(&message), details }
}

/// How many lines the diffs have that differ, after all that is said in words.
fn in_words(details: &str) -> String {
    let (mut words, mut differing, mut is_cut, mut has_diff) = (String::new(), 0, false, false);
    let (mut expected, mut actual) = (0, 0);
    for line in direction::lines(details) {
        match line {
            Line::Expected(_) => expected += 1,
            Line::Actual(_) => actual += 1,
            _ => {
                differing += usize::max(std::mem::take(&mut expected), std::mem::take(&mut actual))
            }
        }
        match line {
            Line::Words(text) if has_diff && text.starts_with('[') => is_cut = true,
            Line::Words(text) => words.push_str(text),
            Line::Names(..) => has_diff = true,
            _ => {}
        }
    }
    differing += usize::max(expected, actual);
    if !has_diff {
        return words;
    }
    let (them, are) =
        if differing == 1 { ("line differs; it", "is") } else { ("lines differ; they", "are") };
    let more = if is_cut { "more than " } else { "" };
    words.push_str(&format!(
        "{more}{differing} {them} {are} not shown, because only its owner can read the file\n"
    ));
    words
}

/// Notes what it hides.
fn without_older<'d>(
    details: &'d str,
    removed: Option<&str>,
    vault: &Vault,
    older: &mut Vec<&'d str>,
) -> String {
    let mut out = String::with_capacity(details.len());
    let (mut expected, mut actual) = (Vec::new(), Vec::new());
    let mut flush = |expected: &mut Vec<&'d str>, actual: &mut Vec<&'d str>, out: &mut String| {
        match removed {
            Some(line) if expected.is_empty() => {
                let instead = vec![line; actual.len()];
                hide(&instead, actual, vault, out, older);
            }
            _ => hide(expected, actual, vault, out, older),
        }
        expected.clear();
        actual.clear();
    };
    for line in details.split_inclusive('\n') {
        if is_changed(line, '-') {
            if !actual.is_empty() {
                flush(&mut expected, &mut actual, &mut out);
            }
            expected.push(line);
            out.push_str(line);
        } else if is_changed(line, '+') {
            actual.push(line);
        } else {
            flush(&mut expected, &mut actual, &mut out);
            out.push_str(line);
        }
    }
    flush(&mut expected, &mut actual, &mut out);
    out
}

/// A line of a hunk; not one that names a side.
fn is_changed(line: &str, sign: char) -> bool {
    line.starts_with(sign) && !line.starts_with(EXPECTED) && !line.starts_with(ACTUAL)
}

/// Writes the actual lines of a change, each held against the expected ones.
fn hide<'d>(
    expected: &[&str],
    actual: &[&'d str],
    vault: &Vault,
    out: &mut String,
    older: &mut Vec<&'d str>,
) {
    let before: Vec<Option<&str>> = expected.iter().map(|line| up_to_value(line, vault)).collect();
    for (index, line) in actual.iter().enumerate() {
        let hidden = if before.len() == actual.len() {
            before[index].map(|text| if line[1..].starts_with(text) { text } else { "" })
        } else {
            let texts = before.iter().flatten();
            texts.filter(|text| line[1..].starts_with(**text)).max_by_key(|it| it.len()).copied()
        };
        match hidden {
            Some(text) => {
                out.extend(["+", text, OLDER, "\n"]);
                let rest = line[1 + text.len()..].trim_end_matches('\n');
                older.extend(Some(rest).filter(|rest| !rest.is_empty()));
            }
            None => out.push_str(line),
        }
    }
}

/// What precedes the first value in a line, without its sign; none where there is no value.
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

    fn sight(finding: &Finding) -> (String, String) {
        let vault = Vault::new();
        vault.register(&Data::text("new-secret"), "<value>");
        let Sight { message, details } = shown(finding, &vault, Direction::Report);
        let details = details.map_or_else(String::new, |it| it.text().into_owned());
        (message.text().into_owned(), details)
    }

    fn details(text: &str) -> String {
        sight(&Finding::drifted("").with_details(text)).1
    }

    const DIFF: &str = "mode 0600\n--- expected: a\n+++ actual: b\n@@ -1,5 +1,5 @@\n same\n-one\n\
                        -two\n+ONE\n+TWO\n+three\n context\n--- expected: x\n";

    #[test]
    fn what_only_its_owner_may_read_is_reported_in_words() {
        let private =
            |text: &str| sight(&Finding::drifted("").with_details(text).with_privacy(true)).1;
        let why = "not shown, because only its owner can read the file\n";
        assert_eq!(private(DIFF), format!("mode 0600\n4 lines differ; they are {why}"));
        let one = "--- expected: a\n+++ actual: b\n@@ -1 +1 @@\n-a\n\\ No newline\n+b\n";
        assert_eq!(private(one), format!("1 line differs; it is {why}"));
        let cut = format!("{one}[12 more lines omitted]\n");
        assert_eq!(private(&cut), format!("more than 1 line differs; it is {why}"));
        assert_eq!(private("mode 0644, expected 0600\n"), "mode 0644, expected 0600\n");
    }

    #[test]
    fn a_message_says_no_more_than_the_details() {
        let finding = Finding::drifted("`l` points to `/y/old-one`").with_details(
            "--- expected: l\n+++ actual: l\n@@ -1 +1 @@\n-/x/new-secret\n+/y/old-one\n",
        );
        let (message, details) = sight(&finding);
        assert!(details.ends_with("-/x/<value>\n+[hidden]\n"), "{details}");
        assert_eq!(message, "`l` points to `[hidden]`");
    }

    #[test]
    fn a_line_that_goes_is_held_against_the_one_that_was_meant() {
        let gone = "@@ -1,1 +1,3 @@\n kept\n+password=older\n+# password\n";
        let finding = Finding::drifted("").with_details(gone);
        let meant = finding.clone().with_removed("password=new-secret");
        assert_eq!(sight(&meant).1, "@@ -1,1 +1,3 @@\n kept\n+password=[hidden]\n+[hidden]\n");
        assert_eq!(sight(&finding.with_removed("password=plain")).1, gone);
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
    fn what_is_not_opposite_a_value_is_shown() {
        let shown = details(" same\n-password=new-secret\n+other=1\n+password=old\n+more=2\n");
        assert_eq!(shown, " same\n-password=<value>\n+other=1\n+password=[hidden]\n+more=2\n");
        let shown = details("-a\n+b\n context\n-x\n+y\n");
        assert_eq!(shown, "-a\n+b\n context\n-x\n+y\n");
    }

    #[test]
    fn a_value_at_the_beginning_of_a_line_hides_all_that_is_opposite_it() {
        let shown = details("-new-secret\n+one\n+two\n");
        assert_eq!(shown, "-<value>\n+[hidden]\n+[hidden]\n");
    }

    #[test]
    fn what_is_not_a_diff_is_only_scrubbed() {
        assert_eq!(details("mode 0600, new-secret\n"), "mode 0600, <value>\n");
        assert_eq!(details(""), "");
    }
}
