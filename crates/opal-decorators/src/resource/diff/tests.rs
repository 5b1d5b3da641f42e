use std::fs;
use std::process::Command;

use proptest::prelude::*;

use super::*;

fn diff(expected: &str, actual: &str) -> String {
    unified(("a", expected.as_bytes()), ("b", actual.as_bytes())).report()
}

/// What the real `patch` makes of `expected`.
fn patched(expected: &str, diff: &str) -> Result<Vec<u8>, String> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, expected).unwrap();
    fs::write(directory.path().join("diff"), diff).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the test asks the program itself")]
    let output = Command::new("patch")
        .args(["--fuzz=0", "--input=diff", "file"])
        .current_dir(directory.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() || said.contains("offset") {
        return Err(said);
    }
    Ok(fs::read(&file).unwrap_or_default())
}

fn assert_patches(expected: &str, actual: &str) {
    let diff = diff(expected, actual);
    assert_eq!(patched(expected, &diff), Ok(actual.as_bytes().to_vec()), "{diff}");
}

#[test]
fn expected_lines_go_and_actual_lines_come() {
    let expected = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
    let actual = expected.replace("five", "FIVE");
    assert_eq!(
        unified(("app.conf", expected.as_bytes()), ("/etc/app.conf", actual.as_bytes())).report(),
        "--- expected: app.conf\n+++ actual: /etc/app.conf\n@@ -2,7 +2,7 @@\n two\n three\n four\n\
         -five\n+FIVE\n six\n seven\n eight\n"
    );
}

#[test]
fn a_missing_line_end_is_reported() {
    assert_eq!(
        diff("a\nb\n", "a\nb"),
        "--- expected: a\n+++ actual: b\n@@ -1,2 +1,2 @@\n a\n-b\n+b\n\
         \\ No newline at end of file\n"
    );
    let found = diff("x", "y\nx");
    assert!(found.ends_with("+y\n x\n\\ No newline at end of file\n"), "{found}");
}

#[test]
fn patch_takes_every_kind_of_edge() {
    let many: String = (0..500).map(|line| format!("line {line}\n")).collect();
    let scattered = many.replace("7\n", "seven\n");
    for (expected, actual) in [
        ("", "a\n"),
        ("a\n", ""),
        ("", "a"),
        ("a\r\nb\r\n", "a\nb\r\n"),
        ("a\rb\n", "a\rc\n"),
        ("--- x\n", "+++ x\n"),
        ("@@ -1 +1 @@\n", "\\ No newline at end of file"),
        ("\n\n\n", "\n\n"),
        ("é\n", "è\n"),
        (&many, &scattered),
        (&scattered, &many),
    ] {
        assert_patches(expected, actual);
    }
}

fn texts() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => "[ab]{0,1}",
        1 => "[-+@\\\\ ]{1,4}[ab]?",
        1 => "[^\\x00\\n]{0,6}",
    ];
    let end = prop_oneof![4 => Just("\n"), 1 => Just("\r\n")];
    (prop::collection::vec((line, end), 0..30), "[ab]{0,2}").prop_map(|(lines, rest)| {
        lines.iter().map(|(line, end)| format!("{line}{end}")).collect::<String>() + &rest
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn patch_turns_expected_into_actual(expected in texts(), actual in texts()) {
        prop_assume!(expected != actual);
        let diff = diff(&expected, &actual);
        prop_assert_eq!(patched(&expected, &diff), Ok(actual.into_bytes()), "{}", diff);
    }

    #[test]
    fn a_diff_without_a_search_is_as_good(expected in texts(), actual in texts()) {
        prop_assume!(expected != actual);
        let mut page = Page::new(MAX_LINES, MAX_BYTES);
        replace(&Window::new(&expected, &actual, CONTEXT), &mut page);
        let diff = Details::from(page.finish(["a", "b"].map(str::to_owned))).report();
        prop_assert_eq!(patched(&expected, &diff), Ok(actual.into_bytes()), "{}", diff);
    }
}

#[test]
fn binary_content_is_described() {
    let found = unified(("a", &[0; 1_204]), ("b", &[b'x'; 998])).report();
    assert_eq!(found, "binary content differs: 1,204 bytes expected, 998 actual\n");
    let found = unified(("a", b"caf\xe9"), ("b", b"x")).report();
    assert_eq!(found, "binary content differs: 4 bytes expected, 1 actual\n");
}

#[test]
fn a_long_diff_is_cut_and_says_by_how_much() {
    let text = |word: &str| (0..8_000).map(|line| format!("{word} {line}\n")).collect::<String>();
    let found = diff(&text("old"), &text("new"));
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines.len(), 10_000);
    // Two headers, one of the hunk and 16,000 lines, of which 9,999 are there.
    assert_eq!(lines[9_999], "[6,004 more lines omitted]");
}

#[test]
fn patch_takes_what_is_left_of_a_diff_that_was_cut() {
    let lines = |mark: &str, count: usize, every: usize| -> String {
        let line = |line: usize| if line.is_multiple_of(every) { mark } else { "same" };
        (0..count).map(|number| format!("{number} {}\n", line(number))).collect()
    };
    for every in [1, 7, 9_000] {
        for count in [12_000, 20_000] {
            let (expected, actual) = (lines("old", count, every), lines("new", count, every));
            let found = diff(&expected, &actual);
            let result = patched(&expected, &found);
            assert!(result.is_ok(), "{every} {count}: {result:?}");
        }
    }
    // Lines of two MiB: the second hunk has no room for a change.
    let long = "x".repeat(2 << 20);
    let text = |end: &str| format!("a\n{long}\nb\nc\nd\ne\nf\ng\nh\ni\n{long}\n{end}");
    let expected = text("old");
    let found = diff(&expected, &text("new").replacen('a', "A", 1));
    let result = patched(&expected, &found);
    assert!(result.is_ok(), "{result:?}");
}

#[test]
fn long_lines_are_left_out_too() {
    let found = diff(&"a".repeat(MAX_BYTES), "b\n");
    assert_eq!(found.lines().last(), Some("[4 more lines omitted]"));
    assert!(found.len() < 200, "{}", found.len());
}

#[test]
fn ten_thousand_lines_give_the_same_diff_every_time() {
    let text = |step: usize| {
        (0..10_000).map(|line| format!("{}\n", line * step % 9_973 % 211)).collect::<String>()
    };
    let (expected, actual) = (text(7), text(11));
    assert_eq!(diff(&expected, &actual), diff(&expected, &actual));
}

#[test]
fn a_name_cannot_begin_a_line() {
    let found = unified(("a\n+++ b", b"x\n"), ("\u{1b}[31m", b"y\n")).report();
    assert_eq!(found.lines().count(), 5, "{found}");
    assert!(!found.contains('\u{1b}'));
}

#[test]
fn numbers_have_commas() {
    let found = [0, 999, 1_000, 12_345, 1_234_567].map(grouped);
    assert_eq!(found, ["0", "999", "1,000", "12,345", "1,234,567"]);
}
