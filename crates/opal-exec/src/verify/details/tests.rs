use opal_core::Data;
use opal_core::resource::details::{Around, Hunk, Line, Side};

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
    let around = [Side::Expected, Side::Actual].map(|side| Around::of(&hunks, side));
    Diff { expected, actual, hunks, omitted: 0, is_private: false, around }.into()
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
        // Nobody knows what is opposite what.
        (
            " same\n-password=new-secret\n-a=1\n+other\n+password=old\n+a = 1\n",
            " same\n-password=<value>\n-a=1\n+[hidden]\n+password=[hidden]\n+a = 1\n",
        ),
        // A line that begins like one with a value is somewhere else.
        (
            "-timeout=5\n-password=new-secret\n+password=old\n+port=80\n",
            "-timeout=5\n-password=<value>\n+password=[hidden]\n+[hidden]\n",
        ),
        (
            "-password=new-secret\n+password = old\n+port = 80\n",
            "-password=<value>\n+password = [hidden]\n+[hidden]\n",
        ),
        (
            "+password: old\n one\n two\n-password=new-secret\n",
            "+password: [hidden]\n one\n two\n-password=<value>\n",
        ),
        // Lines that are put in next to those of a value.
        (" new-secret\n+older\n a\n+b\n", " <value>\n+[hidden]\n a\n+b\n"),
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
