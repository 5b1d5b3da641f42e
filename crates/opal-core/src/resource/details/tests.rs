use super::written::NO_LINE_END;
use super::*;
use Side::{Actual, Both, Expected};

fn diff(hunks: Vec<Hunk>) -> Details {
    let [expected, actual] = ["a", "b"].map(Secret::new);
    let around = [Side::Expected, Side::Actual].map(|side| Around::of(&hunks, side));
    Diff { expected, actual, hunks, omitted: 0, is_private: false, around }.into()
}

fn hunk(lines: &[(Side, &str)]) -> Hunk {
    let lines = lines.iter().map(|(side, text)| Line::new(*side, text)).collect();
    Hunk { expected: 0, actual: 0, lines }
}

#[test]
fn a_difference_turned_round_runs_from_current_to_desired() {
    for (lines, report, change) in [
        (
            &[(Both, "same\n"), (Expected, "new\n"), (Expected, "more\n"), (Actual, "old\n")][..],
            "@@ -1,3 +1,2 @@\n same\n-new\n-more\n+old\n",
            "@@ -1,2 +1,3 @@\n same\n-old\n+new\n+more\n",
        ),
        // A missing line end goes with its line.
        (
            &[(Expected, "x"), (Actual, "x\n")],
            "@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n",
            "@@ -1 +1 @@\n-x\n+x\n\\ No newline at end of file\n",
        ),
        // Content that looks like a header, or like a hunk.
        (
            &[(Expected, "-- expected: c\n"), (Expected, "@@ -1 +1 @@\n")],
            "@@ -1,2 +0,0 @@\n--- expected: c\n-@@ -1 +1 @@\n",
            "@@ -0,0 +1,2 @@\n+-- expected: c\n+@@ -1 +1 @@\n",
        ),
        // Changes in the middle keep what is around them.
        (
            &[
                (Both, "1\n"),
                (Expected, "2\n"),
                (Actual, "two\n"),
                (Both, "3\n"),
                (Expected, "4\n"),
                (Actual, "four\n"),
            ],
            "@@ -1,4 +1,4 @@\n 1\n-2\n+two\n 3\n-4\n+four\n",
            "@@ -1,4 +1,4 @@\n 1\n-two\n+2\n 3\n-four\n+4\n",
        ),
    ] {
        let details = Details::words("words\n").and(diff(vec![hunk(lines)]));
        assert_eq!(details.report(), format!("words\n--- expected: a\n+++ actual: b\n{report}"));
        assert_eq!(
            details.written(Direction::Change).text,
            format!("words\n--- current: b\n+++ desired: a\n{change}")
        );
        assert_eq!(details.unnamed(), format!("words\n{report}"));
    }
}

#[test]
fn every_line_of_the_text_has_its_mark() {
    let mut details = diff(vec![hunk(&[(Expected, "-- x"), (Actual, "++ x\n"), (Both, "\n")])]);
    if let Part::Diff(diff) = &mut details.0[0] {
        diff.omitted = 1234;
    }
    let written = Details::words("a\nb\n").and(details).written(Direction::Report);
    assert_eq!(written.text.lines().count(), written.marks.len());
    let marked: Vec<(Mark, &str)> =
        written.marks.iter().copied().zip(written.text.lines()).collect();
    assert_eq!(
        marked,
        [
            (Mark::Words, "a"),
            (Mark::Words, "b"),
            (Mark::Name, "--- expected: a"),
            (Mark::Name, "+++ actual: b"),
            (Mark::Hunk, "@@ -1,2 +1,2 @@"),
            (Mark::Removed, "--- x"),
            (Mark::Words, NO_LINE_END),
            (Mark::Added, "+++ x"),
            (Mark::Same, " "),
            (Mark::Words, "[1,234 more lines omitted]"),
        ]
    );
}

#[test]
fn where_lines_are_replaced_the_longer_side_counts() {
    let lines = [(Expected, "1\n"), (Actual, "a\n"), (Actual, "b\n"), (Both, "x\n")];
    let Part::Diff(diff) = diff(vec![hunk(&lines), hunk(&[(Expected, "2\n")])]).0.remove(0) else {
        panic!()
    };
    assert_eq!(diff.differing(), 3);
}
