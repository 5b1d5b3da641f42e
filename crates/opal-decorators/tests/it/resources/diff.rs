//! Diffs as the resources give them, handed to the real `patch`.

use std::fs;
use std::process::Command;

use opal_core::resource::Status;

use crate::resources::support::{Site, details};

const CALL: &str = "@file.template(\"t\", \"d\")";

#[test]
fn patch_turns_what_is_expected_into_what_is_there() {
    let site = Site::new();
    let many: String = (0..10_000).map(|line| format!("setting_{line} = {}\n", line % 7)).collect();
    let scattered = many.replace("99 = ", "99 := ");
    for (expected, actual) in [
        ("a\nb\nc\n", "a\nB\nc"),
        ("a\r\nb\r\n", "a\r\nb\n"),
        ("", "x\n"),
        ("x", ""),
        (&many, &scattered),
    ] {
        site.file("t", expected);
        site.file("d", actual);
        let found = site.verify(CALL);
        assert_eq!(found.status, Status::Drifted);
        site.file("diff", details(&found));
        site.file("patched", expected);
        #[expect(clippy::disallowed_methods, reason = "the test asks the program itself")]
        let output = Command::new("patch")
            .args(["--fuzz=0", "--input", "diff", "patched"])
            .current_dir(site.path(""))
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let patched = fs::read_to_string(site.path("patched")).unwrap_or_default();
        assert!(patched == actual, "{}", details(&found));
    }
}

#[test]
fn a_diff_of_ten_thousand_changed_lines_ends_with_a_mark() {
    let site = Site::new();
    let text = |word: &str| (0..10_000).map(|line| format!("{word} {line}\n")).collect::<String>();
    site.file("t", text("new"));
    site.file("d", text("old"));
    let diff = details(&site.verify(CALL));
    assert_eq!(diff.lines().count(), 10_000);
    assert!(diff.ends_with("\n[10,004 more lines omitted]\n"));
}
