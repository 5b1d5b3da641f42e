//! What was found, safe to show.
//!
//! What only its owner may read is not shown at all, but for how much of it differs.
//!
//! A value that is known is hidden wherever it is. A line of the actual side that is opposite one
//! with such a value probably holds an older value, which is no longer known: it is hidden from
//! where the value begins, and the message says no more than the details.

use opal_core::Secret;
use opal_core::class::HIDDEN_ALONE_FROM;
use opal_core::resource::details::{Change, Diff, Hunk, Line, Part, Run, Side};
use opal_core::resource::{Details, Direction, Finding};
use opal_vault::verification::ShownDetails;
use opal_vault::{Shown, Vault};

/// In place of what could be an older value.
const OLDER: &str = "[hidden]";

/// What may be seen of a finding.
#[derive(Debug)]
pub(crate) struct ShownFinding {
    pub(crate) message: Shown<'static>,
    pub(crate) details: Option<ShownDetails>,
}

pub(crate) fn shown(finding: &Finding, vault: &Vault, direction: Direction) -> ShownFinding {
    let removed = finding.removed.as_ref().map(Secret::expose);
    let mut hiding = Hiding { vault, removed, older: Vec::new() };
    let details = finding.details.as_ref().map(|details| {
        let seen = hiding.details(details);
        ShownDetails::new(&seen.written(direction), vault)
    });
    let mut older = hiding.older;
    // The longest first: one may be a part of another.
    older.sort_by_key(|text| std::cmp::Reverse(text.len()));
    let message = finding.message.expose().to_owned();
    let message = older.iter().fold(message, |message, text| match text.len() {
        // So short a text may also be part of a word.
        ..HIDDEN_ALONE_FROM => message.replace(&format!("`{text}`"), &format!("`{OLDER}`")),
        _ => message.replace(text, OLDER),
    });
    ShownFinding { message: vault.scrub(&message), details }
}

/// What is hidden of the lines that are there.
struct Hiding<'f> {
    vault: &'f Vault,
    /// What lines that are there, and none are expected instead of, may be an older form of.
    removed: Option<&'f str>,
    /// What was hidden.
    older: Vec<String>,
}

impl Hiding<'_> {
    fn details(&mut self, details: &Details) -> Details {
        let is_diff = |part: &&Part| matches!(part, Part::Diff(_));
        let is_only = details.parts().iter().filter(is_diff).count() == 1;
        let parts = details.parts().iter().map(|part| match part {
            Part::Words(words) => Part::Words(words.clone()),
            Part::Diff(diff) => {
                let hunks = diff.hunks.iter().map(|hunk| self.hunk(hunk)).collect();
                match diff.is_private {
                    true => Part::Words(Secret::new(in_words(diff, is_only))),
                    false => Part::Diff(Diff { hunks, ..diff.clone() }),
                }
            }
        });
        parts.collect::<Vec<Part>>().into()
    }

    fn hunk(&mut self, hunk: &Hunk) -> Hunk {
        let mut lines = Vec::with_capacity(hunk.lines.len());
        for run in hunk.runs() {
            match run {
                Run::Same(same) => lines.extend_from_slice(same),
                Run::Change(change) => {
                    lines.extend_from_slice(change.expected);
                    lines.extend(self.actual(change));
                }
            }
        }
        Hunk { lines, ..*hunk }
    }

    /// The actual lines of a change, each held against the expected ones.
    fn actual(&mut self, Change { expected, actual }: Change<'_>) -> Vec<Line> {
        let expected: Vec<&str> = match self.removed {
            Some(line) if expected.is_empty() => vec![line; actual.len()],
            _ => expected.iter().map(|line| line.text.expose()).collect(),
        };
        let before: Vec<Option<&str>> =
            expected.iter().map(|line| up_to_value(line, self.vault)).collect();
        let held = |(index, line): (usize, &Line)| {
            let text = line.text.expose();
            let hidden = if before.len() == actual.len() {
                before[index].map(|start| if text.starts_with(start) { start } else { "" })
            } else {
                let starts = before.iter().flatten().filter(|start| text.starts_with(**start));
                starts.max_by_key(|start| start.len()).copied()
            };
            let Some(start) = hidden else { return line.clone() };
            let rest = &text[start.len()..];
            self.older.extend(Some(rest.to_owned()).filter(|rest| !rest.is_empty()));
            let text = Secret::new(format!("{start}{OLDER}"));
            Line { side: Side::Actual, text, is_ended: line.is_ended }
        };
        actual.iter().enumerate().map(held).collect()
    }
}

/// How many lines differ. Where there are several differences, it is said in which file.
fn in_words(diff: &Diff, is_only: bool) -> String {
    let differing = diff.differing();
    let (them, are) =
        if differing == 1 { ("line differs; it", "is") } else { ("lines differ; they", "are") };
    let more = if diff.omitted > 0 { "more than " } else { "" };
    let of = if is_only { String::new() } else { format!("`{}`: ", diff.actual.expose()) };
    format!(
        "{of}{more}{differing} {them} {are} not shown, because only its owner can read the file\n"
    )
}

/// What precedes the first value in a line; none where there is no value.
fn up_to_value<'l>(line: &'l str, vault: &Vault) -> Option<&'l str> {
    let shown = vault.scrub(line);
    let shown = shown.text();
    if shown == line {
        return None;
    }
    let same = line.bytes().zip(shown.bytes()).take_while(|(a, b)| a == b).count();
    Some(&line[..line.floor_char_boundary(same)])
}

#[cfg(test)]
mod tests {
    use opal_core::Data;

    use super::*;

    fn sight(finding: &Finding) -> (String, String) {
        let vault = Vault::new();
        vault.register(&Data::text("new-secret"), "<value>");
        let ShownFinding { message, details } = shown(finding, &vault, Direction::Report);
        let details = details.map_or_else(String::new, |it| it.text().into_owned());
        (message.text().into_owned(), details)
    }

    /// A difference of lines, each with its sign.
    fn diff(lines: &str) -> Details {
        let lines = lines.split_inclusive('\n').map(|line| {
            let side = match line.as_bytes()[0] {
                b'-' => Side::Expected,
                b'+' => Side::Actual,
                _ => Side::Both,
            };
            Line::new(side, &line[1..])
        });
        let hunks = vec![Hunk { expected: 0, actual: 0, lines: lines.collect() }];
        let [expected, actual] = ["a", "b"].map(Secret::new);
        Diff { expected, actual, hunks, omitted: 0, is_private: false }.into()
    }

    fn finding(details: Details) -> Finding {
        Finding::drifted("").with_details(details)
    }

    /// The lines of a hunk as they are shown.
    fn lines(text: &str) -> String {
        let shown = sight(&finding(diff(text))).1;
        shown.split_once(" @@\n").unwrap().1.to_owned()
    }

    #[test]
    fn what_only_its_owner_may_read_is_reported_in_words() {
        let why = "not shown, because only its owner can read the file\n";
        let changes = " same\n-one\n-two\n+ONE\n+TWO\n+three\n context\n--- expected: x\n";
        let words = || Details::words("mode 0600\n");
        let shown = sight(&finding(words().and(diff(changes).private(true)))).1;
        assert_eq!(shown, format!("mode 0600\n4 lines differ; they are {why}"));
        let one = || diff("-a\n+b").private(true);
        assert_eq!(sight(&finding(one())).1, format!("1 line differs; it is {why}"));
        let mut cut = one().parts().to_vec();
        if let [Part::Diff(diff)] = &mut cut[..] {
            diff.omitted = 12;
        }
        let shown = sight(&finding(cut.into())).1;
        assert_eq!(shown, format!("more than 1 line differs; it is {why}"));
        assert_eq!(sight(&finding(words())).1, "mode 0600\n");
    }

    #[test]
    fn of_several_differences_only_the_private_ones_are_not_shown() {
        let shown = sight(&finding(diff("-a\n+b\n").and(diff("-c\n+d\n").private(true)))).1;
        assert_eq!(
            shown,
            "--- expected: a\n+++ actual: b\n@@ -1 +1 @@\n-a\n+b\n`b`: 1 line differs; it is not \
             shown, because only its owner can read the file\n"
        );
    }

    #[test]
    fn a_message_says_no_more_than_the_details() {
        let finding = Finding::drifted("`l` points to `/y/old-one`")
            .with_details(diff("-/x/new-secret\n+/y/old-one\n"));
        let (message, details) = sight(&finding);
        assert!(details.ends_with("-/x/<value>\n+[hidden]\n"), "{details}");
        assert_eq!(message, "`l` points to `[hidden]`");
    }

    #[test]
    fn a_line_that_goes_is_held_against_the_one_that_was_meant() {
        let gone = finding(diff(" kept\n+password=older\n+# password\n"));
        let shown = sight(&gone.clone().with_removed("password=new-secret")).1;
        assert!(shown.ends_with(" kept\n+password=[hidden]\n+[hidden]\n"), "{shown}");
        let shown = sight(&gone.with_removed("password=plain")).1;
        assert!(shown.ends_with(" kept\n+password=older\n+# password\n"), "{shown}");
    }

    #[test]
    fn an_older_value_is_hidden_with_the_new_one() {
        for (text, expected) in [
            (
                "-password=new-secret\n-port=80\n+password=old-secret\n+port=81\n",
                "-password=<value>\n-port=80\n+password=[hidden]\n+port=81\n",
            ),
            // What is not opposite a value is shown.
            (
                " same\n-password=new-secret\n+other=1\n+password=old\n+more=2\n",
                " same\n-password=<value>\n+other=1\n+password=[hidden]\n+more=2\n",
            ),
            ("-a\n+b\n context\n-x\n+y\n", "-a\n+b\n context\n-x\n+y\n"),
            // A value at the beginning of a line hides all that is opposite it.
            ("-new-secret\n+one\n+two\n", "-<value>\n+[hidden]\n+[hidden]\n"),
            // Content that looks like the header of a diff.
            (
                "--- expected: new-secret\n+-- expected: old-secret\n",
                "--- expected: <value>\n+-- expected: [hidden]\n",
            ),
            (
                "-++ actual: new-secret\n+++ actual: old-secret\n",
                "-++ actual: <value>\n+++ actual: [hidden]\n",
            ),
        ] {
            assert_eq!(lines(text), expected);
        }
        let last = Details::from(diff("-password=new-secret\n+password=old").parts().to_vec());
        let shown = sight(&finding(last)).1;
        assert!(shown.ends_with("+password=[hidden]\n\\ No newline at end of file\n"), "{shown}");
    }

    #[test]
    fn an_older_value_is_hidden_where_the_new_one_is_the_last_line_without_a_line_end() {
        let mut parts = diff("-password=new-secret\n+password=old\n").parts().to_vec();
        if let [Part::Diff(diff)] = &mut parts[..] {
            diff.hunks[0].lines[0].is_ended = false;
        }
        let shown = sight(&finding(parts.into())).1;
        assert!(shown.ends_with("at end of file\n+password=[hidden]\n"), "{shown}");
    }

    #[test]
    fn what_is_not_a_diff_is_only_scrubbed() {
        for (words, shown) in [("mode 0600, new-secret\n", "mode 0600, <value>\n"), ("", "")] {
            assert_eq!(sight(&finding(Details::words(words))).1, shown);
        }
    }
}
