use proptest::prelude::*;

use super::*;

fn line(text: &str) -> Line<'_> {
    Line {
        text,
        is_present: true,
        pattern: None,
        several: Several::Refused,
        encoding: Encoding::Utf8,
    }
}

fn matching<'i>(text: &'i str, pattern: &str) -> Line<'i> {
    Line { pattern: Some(Regex::new(pattern).unwrap()), ..line(text) }
}

fn absent(line: Line<'_>) -> Line<'_> {
    Line { is_present: false, ..line }
}

fn with(line: Line<'_>, several: Several) -> Line<'_> {
    Line { several, ..line }
}

/// What the file holds afterwards, or why it cannot be said.
fn edited(content: &str, line: &Line<'_>) -> Result<String, Refusal> {
    let change = edit(Some(content.as_bytes()), line)?;
    let bytes = change.map_or_else(|| content.as_bytes().to_vec(), |it| it.content.to_vec());
    Ok(String::from_utf8(bytes).unwrap())
}

#[test]
fn a_line_that_is_not_there_is_added_with_the_line_end_of_the_file() {
    for (before, after) in [
        ("", "new\n"),
        ("a\n", "a\nnew\n"),
        ("a", "a\nnew\n"),
        ("a\r\n", "a\r\nnew\r\n"),
        ("a\r\nb", "a\r\nb\r\nnew\r\n"),
        ("a\r\nb\n", "a\r\nb\nnew\n"),
        ("a\nb\r\nc", "a\nb\r\nc\r\nnew\r\n"),
        ("\n", "\nnew\n"),
        ("a\r", "a\r\nnew\n"),
        ("\u{feff}", "\u{feff}new\n"),
        ("newer\n", "newer\nnew\n"),
    ] {
        assert_eq!(edited(before, &line("new")).unwrap(), after, "{before:?}");
    }
}

#[test]
fn a_line_that_is_there_stays_as_it_is() {
    for content in ["new\n", "new", "a\nnew\r\n", "new\nnew\n", "\u{feff}new\n"] {
        assert!(edit(Some(content.as_bytes()), &line("new")).unwrap().is_none(), "{content:?}");
    }
}

#[test]
fn a_line_that_matches_is_replaced_and_keeps_its_end() {
    let port = matching("Port 22", "^#?Port");
    for (before, after) in [
        ("#Port 80\n", "Port 22\n"),
        ("a\r\nPort 80\r\nb\n", "a\r\nPort 22\r\nb\n"),
        ("a\nPort 80", "a\nPort 22"),
        ("\u{feff}Port 80\n", "\u{feff}Port 22\n"),
        ("a\n", "a\nPort 22\n"),
        ("Port 22\n", "Port 22\n"),
        ("Port 22\nPort 22\n", "Port 22\nPort 22\n"),
    ] {
        assert_eq!(edited(before, &port).unwrap(), after, "{before:?}");
    }
}

#[test]
fn an_empty_line_is_a_line_at_the_end_too() {
    let empty = matching("", "^b");
    assert_eq!(edited("b", &empty).unwrap(), "\n");
    assert_eq!(edited("a\r\nb", &empty).unwrap(), "a\r\n\r\n");
}

#[test]
fn where_nothing_matches_and_the_line_is_there_it_stays() {
    assert_eq!(edited("new\n", &matching("new", "^old")).unwrap(), "new\n");
}

#[test]
fn several_matches_are_ambiguous_even_if_one_is_the_wanted_line() {
    let port = matching("Port 22", "^Port");
    let found = edited("Port 80\na\nPort 22\n", &port);
    assert_eq!(found, Err(Refusal::Ambiguous(vec![1, 3])));
    let old = matching("new", "^old");
    assert_eq!(edited("new\nold\n", &old), Err(Refusal::Ambiguous(vec![1, 2])));
}

#[test]
fn first_and_all_say_which_match_is_meant() {
    let content = "Port 80\nPort 22\nPort 81\n";
    let first = with(matching("Port 22", "^Port"), Several::First);
    assert_eq!(edited(content, &first).unwrap(), "Port 22\nPort 22\nPort 81\n");
    let all = with(matching("Port 22", "^Port"), Several::All);
    assert_eq!(edited(content, &all).unwrap(), "Port 22\nPort 22\nPort 22\n");
    let change = edit(Some(content.as_bytes()), &all).unwrap().unwrap();
    assert_eq!(change.how, How::Replaced(vec![1, 3]));
}

#[test]
fn a_line_that_should_be_absent_is_removed_with_its_end() {
    for (before, after) in [
        ("old\n", ""),
        ("a\nold\nb\n", "a\nb\n"),
        ("a\nold", "a\n"),
        ("a\r\nold\r\nb", "a\r\nb"),
        ("old\na\nold\n", "a\n"),
        ("\u{feff}old\na\n", "\u{feff}a\n"),
        ("older\n", "older\n"),
        ("", ""),
    ] {
        assert_eq!(edited(before, &absent(line("old"))).unwrap(), after, "{before:?}");
    }
}

#[test]
fn different_lines_are_removed_only_all_of_them() {
    let content = "debug 1\na\ndebug 2\n";
    let debug = |several| with(absent(matching("debug", "^debug")), several);
    assert_eq!(edited(content, &debug(Several::All)).unwrap(), "a\n");
    for several in [Several::First, Several::Refused] {
        assert_eq!(edited(content, &debug(several)), Err(Refusal::Ambiguous(vec![1, 3])));
        assert_eq!(edited("debug 1\na\n", &debug(several)).unwrap(), "a\n");
    }
}

#[test]
fn a_file_that_is_not_there_has_no_line() {
    assert!(edit(None, &absent(line("old"))).unwrap().is_none());
    assert_eq!(&**edit(None, &line("new")).unwrap().unwrap().content, b"new\n");
}

#[test]
fn what_cannot_be_read_as_text_is_refused() {
    let found = |content: &[u8], encoding, text| {
        edit(Some(content), &Line { encoding, ..line(text) }).map(|_| ()).unwrap_err()
    };
    assert_eq!(found(b"a\0b", Encoding::Latin1, "x"), Refusal::Binary);
    assert_eq!(found(b"a\nb\xe9\n", Encoding::Utf8, "x"), Refusal::OtherEncoding(2));
    assert_eq!(found(b"a\nb\n\xe9", Encoding::Ascii, "x"), Refusal::OtherEncoding(3));
    assert_eq!(found(b"\x81", Encoding::Windows1252, "x"), Refusal::OtherEncoding(1));
    assert_eq!(found(b"", Encoding::Latin1, "5 €"), Refusal::Unwritable(3));
}

#[test]
fn bytes_of_another_encoding_are_kept() {
    let latin = Line { encoding: Encoding::Latin1, ..matching("name=Zoë", "^name=") };
    let change = edit(Some(b"caf\xe9\nname=J\xfcrgen\r\n"), &latin).unwrap().unwrap();
    assert_eq!(&**change.content, b"caf\xe9\nname=Zo\xeb\r\n");
    let umlaut = Line { encoding: Encoding::Latin1, ..matching("x", "ü") };
    let change = edit(Some(b"J\xfcrgen"), &umlaut).unwrap().unwrap();
    assert_eq!(&**change.content, b"x");
}

fn lines() -> impl Strategy<Value = String> {
    let one = ("[ab]{0,2}", prop_oneof![Just("\n"), Just("\r\n")]);
    (prop::collection::vec(one, 0..8), "[ab]{0,2}").prop_map(|(lines, rest)| {
        lines.iter().map(|(line, end)| format!("{line}{end}")).collect::<String>() + &rest
    })
}

proptest! {
    #[test]
    fn a_second_edit_changes_nothing(
        content in lines(),
        text in "[ab]{0,2}",
        pattern in prop::option::of(prop::sample::select(&["[ab]", "^a", "b$", "^$", "ab"][..])),
        is_present: bool,
        several in prop_oneof![Just(Several::First), Just(Several::All), Just(Several::Refused)],
    ) {
        let pattern = pattern.map(|pattern| Regex::new(pattern).unwrap());
        let line = Line { text: &text, is_present, pattern, several, encoding: Encoding::Utf8 };
        if let Ok(after) = edited(&content, &line) {
            prop_assert_eq!(edited(&after, &line), Ok(after.clone()));
            let is_there = after.split('\n').any(|it| it.trim_end_matches('\r') == text);
            prop_assert!(is_there || !is_present);
        }
    }
}
