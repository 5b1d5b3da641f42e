//! Validations as the shell runs them.

use opal_plan::unit::{StatementKind, Work};
use std::path::Path;
use std::process::Command;

use crate::support::read;

/// Whether a validation holds in a directory, and what is said where it does not.
#[expect(clippy::disallowed_methods, reason = "the text is for a shell, so a shell judges it")]
fn holds(validation: &str, directory: &Path) -> Result<(), String> {
    let yaml = format!(
        "version: 1\nsteps:\n  - {{id: a, type: absent, path: x}}\nvalidations:\n  - {validation}\n"
    );
    let unit = opal_config::lower(&read(&yaml), &crate::support::registry());
    let StatementKind::Step(step) = &unit.script.statements[1].kind else { panic!("{unit:#?}") };
    let Work::Shell(text) = &step.first.work else { panic!("{unit:#?}") };
    let ran = Command::new("sh")
        .args(["-c", text.literal().unwrap()])
        .current_dir(directory)
        .env("HOME", directory)
        .output()
        .unwrap();
    assert!(ran.stdout.is_empty());
    let said = String::from_utf8(ran.stderr).unwrap();
    if ran.status.success() { Ok(()) } else { Err(said) }
}

#[test]
fn a_validation_holds_or_says_what_was_expected() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["plain", "it's; exit 0 #", "-e", "$(touch gone)", "@env.HOME"] {
        std::fs::write(folder.path().join(name), "one\ntwo 'x' $y *\n").unwrap();
    }
    let holds = |validation: &str| holds(validation, folder.path());
    for validation in [
        "{type: command_exists, command: sh}",
        "{type: file_exists, path: plain}",
        "{type: file_exists, path: ~/plain}",
        "{type: file_exists, path: \"~\"}",
        "{type: file_exists, path: \"it's; exit 0 #\"}",
        "{type: file_exists, path: -e}",
        "{type: file_exists, path: $(touch gone)}",
        "{type: file_exists, path: '@env.HOME'}",
        "{type: path_contains, file: -e, text: \"two 'x' $y *\"}",
        "{type: path_contains, path: ~/plain, text: one}",
    ] {
        assert_eq!(holds(validation), Ok(()), "{validation}");
    }
    for (validation, expected) in [
        ("{type: command_exists, command: no-such}", "the command `no-such` is missing"),
        ("{type: command_exists, command: \"'; true '\"}", "the command `'; true '` is missing"),
        ("{type: file_exists, path: none}", "`none` does not exist"),
        ("{type: path_contains, file: plain, text: -q}", "does not contain `-q`"),
        ("{type: path_contains, file: none, text: x}", "`none` does not contain `x`"),
        ("{type: path_contains, file: plain, text: t.o}", "does not contain `t.o`"),
    ] {
        let said = holds(validation).unwrap_err();
        assert!(said.contains(expected), "{validation}: {said}");
    }
    assert!(!folder.path().join("gone").exists(), "a text became code");
}
