//! `opal pick`: chosen by typing, printed for a shell.

use std::ffi::OsStr;
use std::fs;
use std::process::Command;

use super::{answered, project};
use crate::needs;
use crate::support::{Opal, binary};

fn picked(words: &[&str], answers: &[(&str, &str)]) -> (i32, String) {
    answered(project().args(words.iter().copied()).interruptible(), answers)
}

#[test]
fn typing_filters_and_the_task_runs_with_its_arguments() {
    let (code, shown) = picked(&["pick"], &[("task: ", "dep\r"), ("env", "\r"), ("count", "2\r")]);
    assert!(code == 0 && shown.contains("opal deploy staging 2"), "{code} {shown}");
    assert!(shown.contains("to staging with 2") && shown.contains("Puts it online."), "{shown}");
}

#[test]
fn a_default_is_offered_and_the_quick_plan_is_shown() {
    let (code, shown) = picked(&["pick", "bui"], &[("echo false", "\r"), ("default", "\r")]);
    assert!(
        code == 0 && shown.contains("$ opal build") && !shown.contains("--release"),
        "{code} {shown}"
    );
    let (code, shown) = picked(&["pick", "bui"], &[("echo false", "\r"), ("default", "yes\r")]);
    assert!(code == 0 && shown.contains("opal build --release"), "{code} {shown}");
    assert!(shown.contains("true\r\n"), "{shown}");
}

#[test]
fn a_task_that_cannot_be_planned_can_still_be_picked() {
    let (code, shown) = picked(&["pick", "lost"], &[("no plan: ", "\r")]);
    assert!(code == 65 && shown.contains("nothing was run"), "{code} {shown}");
}

#[test]
fn nothing_is_picked_with_ctrl_c_or_without_a_terminal() {
    let (code, shown) = picked(&["pick"], &[("task: ", "\x03")]);
    assert!(code == 130 && !shown.contains("opal "), "{code} {shown}");
    let (code, _) = picked(&["pick", "zzz"], &[("nothing matches", "\r\x03")]);
    assert_eq!(code, 130);
    project().call(&["pick"]).code(2).says("needs a terminal");
    project().call(&["pick", "--print"]).code(2).says("terminal");
    project().file("other.opl", "").call(&["pick", "-f", "other.opl"]).code(2);
}

#[test]
fn a_task_of_this_name_wins() {
    let opal = Opal::machine("fun pick() = echo mine\n").env("TERM", "xterm");
    opal.call(&["pick"]).code(0).stdout("mine\n");
    opal.call(&["self", "pick"]).code(2).says("needs a terminal");
}

/// What `pick --print` prints, with the terminal on the other two streams.
fn printed(opal: &Opal, shell: &str, answers: &[(&str, &str)]) -> (i32, Vec<u8>) {
    let script = "exec \"$0\" self pick --print --shell \"$1\" > printed";
    let words =
        ["sh".as_ref(), "-c".as_ref(), script.as_ref(), binary().as_os_str(), shell.as_ref()];
    let (code, _) = answered(opal.started_by(&words), answers);
    (code, fs::read(opal.path().join("printed")).unwrap())
}

const HOSTILE: [&str; 10] = [
    "$(touch pwned)",
    "`touch pwned`",
    "'; touch pwned; '",
    "\\'; touch pwned; \\'",
    "!touch",
    "=ls",
    "~root",
    "a\\b*{x,y}[z]?&|;<>#%^()\"",
    "--flag",
    "Ünïcödé \u{202e}x",
];

#[test]
fn what_is_printed_is_one_line_whose_words_are_data_in_every_shell() {
    let source = "fun say(text, more = \"x\") = echo @var.text @var.more\n";
    for shell in ["bash", "zsh", "fish"].into_iter().filter(|it| needs::program(it)) {
        for text in HOSTILE {
            let opal = Opal::machine(source).env("TERM", "xterm");
            let keys =
                [("task: ", "\r"), ("text", &format!("{text}\r")), ("more", &format!("{text}\r"))];
            let (code, line) = printed(&opal, shell, &keys);
            let line = String::from_utf8(line).unwrap();
            assert!(code == 0 && !line.contains('\n'), "{shell} {code} {line:?}");
            let said = run_in(&opal, shell, &line);
            let is_option = text.starts_with('-');
            let mut words = vec!["say".to_owned(), format!("--more={text}"), text.to_owned()];
            if is_option {
                words.insert(2, "--".to_owned());
            }
            assert_eq!(said.lines().collect::<Vec<_>>(), words, "{shell}: {line}");
            assert!(!opal.path().join("pwned").exists(), "{shell}: {line}");
        }
    }
}

/// The words that a real shell makes of a line.
fn run_in(opal: &Opal, shell: &str, line: &str) -> String {
    fs::write(opal.path().join("opal"), "#!/bin/sh\nfor word; do printf '%s\\n' \"$word\"; done\n")
        .unwrap();
    let program = opal.path().join("opal");
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", opal.path().display());
    let flags: &[&str] = if shell == "fish" { &["--no-config", "-c"] } else { &["-c"] };
    let words: Vec<&OsStr> =
        [shell].into_iter().chain(flags.iter().copied()).chain([line]).map(OsStr::new).collect();
    let mut command: Command = opal.started_by(&words);
    String::from_utf8(command.env("PATH", path).output().unwrap().stdout).unwrap()
}

#[test]
fn a_choice_with_a_control_character_is_refused() {
    let source = "fun say(text: \"a\\u{1b}[2Jb\" | \"c\\nd\") = echo @var.text\n";
    for (at, keys) in ["\r", "\x1b[B\r"].into_iter().enumerate() {
        let opal = Opal::machine(source).env("TERM", "xterm");
        let (code, line) = printed(&opal, "bash", &[("task: ", "\r"), ("text", keys)]);
        assert!(code == 65 && line.is_empty(), "{at} {code} {line:?}");
    }
}

#[test]
fn what_was_typed_before_is_in_the_line() {
    let opal = project().file("a b/commands.opl", "fun check() = true\n");
    let words = ["sh", "-c", "exec \"$0\" -C 'a b' self pick --print > printed"];
    let mut words: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
    words.push(binary().as_os_str());
    let (code, _) = answered(opal.started_by(&words), &[("task: ", "\r")]);
    assert_eq!((code, opal.read("printed").as_str()), (0, "opal -C 'a b' run check"));
}

#[test]
fn the_words_of_a_rest_are_asked_for_one_at_a_time() {
    let opal = Opal::machine("fun add(n...) {\n    printf '%s;' @var.n\n}\n").env("TERM", "xterm");
    let opal = opal.args(["pick", "add"]);
    let answers = [("task: ", "\r"), ("empty line", "1 x\r"), ("empty line", "-2\r"), ("-2", "\r")];
    let (code, shown) = answered(opal.interruptible(), &answers);
    assert!(code == 0 && shown.contains("opal add -- '1 x' -2"), "{code} {shown}");
    assert!(shown.contains("1 x;-2;"), "{shown}");
    let none = [("task: ", "\r"), ("empty line", "\r")];
    let (code, shown) = answered(opal.interruptible(), &none);
    assert!(code == 0 && shown.contains("$ opal add"), "{code} {shown}");
}
