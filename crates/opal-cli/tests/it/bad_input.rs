//! Files that are no source, and outputs that cannot be written.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use crate::support::Opal;

#[test]
fn a_missing_file_exits_with_66() {
    Opal::new()
        .args(["check", "gone.opl"])
        .run()
        .code(66)
        .says("the file `gone.opl` does not exist");
}

#[test]
fn a_directory_exits_with_66_and_shows_what_to_write() {
    let opal = Opal::new().file("tasks/a.opl", "");
    opal.args(["check", "tasks"]).run().code(66).says("is a directory").says("tasks/*.opl");
}

#[test]
fn an_unreadable_file_exits_with_66() {
    let opal = Opal::new().file("secret.opl", "echo x\n");
    let path = opal.path().join("secret.opl");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    std::fs::set_permissions(opal.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    // Root reads everything.
    let ran = match std::fs::File::open(&path) {
        Err(_) => Some(opal.call(&["check", "secret.opl"])),
        Ok(_) => opal.as_nobody(&["check", "secret.opl"]),
    };
    let Some(ran) = ran else { return };
    ran.code(66).says("cannot be read: permission denied");
}

#[test]
fn one_unreadable_file_does_not_hide_the_others() {
    let opal = Opal::new().file("a.opl", "echo @var.X\n").args(["check", "gone.opl", "a.opl"]);
    opal.run().code(66).says("gone.opl").says("E0401");
}

#[test]
fn bytes_that_are_no_utf8_are_named_by_their_offset() {
    let opal = Opal::new().file("a.opl", b"echo ok\necho caf\xe9\n");
    opal.args(["check", "a.opl"]).run().code(65).says("E0101").says("offset 16").says("line 2");
}

#[test]
fn a_file_over_16_mib_is_refused() {
    let opal = Opal::new().file("big.opl", vec![b'#'; 16 * 1024 * 1024 + 1]);
    opal.args(["check", "big.opl"]).run().code(65).says("E0102");
    let opal = Opal::new().file("big.opl", vec![b'#'; 16 * 1024 * 1024]);
    opal.args(["check", "big.opl"]).run().code(0);
}

#[test]
fn a_device_is_not_a_source() {
    Opal::new().args(["check", "/dev/zero"]).run().code(66).says("not a regular file");
}

#[test]
fn nul_bytes_and_lone_carriage_returns_are_errors() {
    Opal::project("echo a\0b\n").args(["check"]).run().code(65).says("E0103");
    Opal::project("echo a\recho b\r").args(["check"]).run().code(65).says("E0104");
}

#[test]
fn bidirectional_controls_are_warned_about_and_never_printed() {
    let ran = Opal::project("echo \u{202e}gpj.exe\n").args(["check"]).run();
    ran.code(0).says("W0105");
    assert!(!ran.stdout.contains('\u{202e}'), "{}", ran.stdout);
}

#[test]
fn control_characters_of_a_source_do_not_reach_the_terminal() {
    let ran = Opal::project("echo \u{1b}[31m @var.X\n").args(["check"]).run();
    ran.code(65);
    assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
}

#[test]
fn control_characters_of_documentation_do_not_reach_the_terminal() {
    let project = "// \u{1b}[31mred\u{202e}\nfun a(x = \"\u{1b}]0;t\u{7}\") = echo @var.x\n";
    for args in [&["list"][..], &["a", "--help"]] {
        let ran = Opal::project(project).args(args).run();
        ran.code(0);
        assert!(!ran.stdout.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{:?}", ran.stdout);
    }
}

#[test]
fn crlf_files_and_byte_order_marks_are_fine() {
    Opal::project("\u{feff}var a = 1\r\nfun f() {\r\n    echo @var.a\r\n}\r\n")
        .args(["check"])
        .run()
        .code(0)
        .says("no problems found");
}

#[test]
fn a_full_disk_is_said_and_exits_with_74() {
    let opal = Opal::project("fun a() = echo a\n").args(["list"]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = opal.command().stdout(Stdio::from(full)).output().unwrap();
    assert_eq!(output.status.code(), Some(74), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output cannot be written"));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let project: String = (0..20_000).map(|i| format!("fun t{i}() = echo {i}\n")).collect();
    let opal = Opal::project(&project).args(["list"]);
    let mut child = opal.command().spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn a_hundred_thousand_errors_are_all_reported() {
    let text = "echo @var.X\n".repeat(100_000);
    let document = Opal::project(&text).args(["check", "--json"]).run().code(65).json();
    assert_eq!(document["summary"]["errors"], 100_000);
}

#[test]
fn wrong_arguments_are_a_json_document_where_json_is_asked_for() {
    let project = "fun greet(name: String, loud = false) = echo @var.name @var.loud\n";
    let opal = Opal::machine(project);
    for (words, message, help) in [
        (&["--json", "--bogus"][..], "unknown option `--bogus`", "opal --help"),
        (&["--json", "gret"], "unknown task or command `gret`", "`greet`"),
        (&["gret", "--json"], "unknown task or command `gret`", "`greet`"),
        (&["list", "--json", "--bogus"], "unexpected argument `--bogus`", "usage: `opal list"),
        (&["plan", "greet", "--json"], "`greet` needs `name`", "usage: opal"),
        (&["run", "greet", "--json", "--loudd"], "--loudd", "--loud"),
        (&["greet", "--json"], "`greet` needs `name`", "usage: opal greet NAME"),
        (&["greet", "--loudd", "--json", "a"], "unknown option `--loudd`", "`--loud`"),
        (&["greet", "a", "--json", "--timeout", "soon"], "--timeout soon", "90s"),
        (&["greet", "a", "--json", "--from", "step:7"], "unknown step 7", "--dry-run"),
    ] {
        let ran = opal.call(words);
        let error = &ran.code(2).json()["error"];
        assert!(error["message"].as_str().unwrap().contains(message), "{words:?} {error}");
        let all = error["help"].as_array().unwrap();
        assert!(all.iter().any(|it| it.as_str().unwrap().contains(help)), "{words:?} {error}");
        assert!(ran.stderr.starts_with("error: "), "{ran:#?}");
    }
    for words in [&["greet", "--lout"][..], &["--bogus"], &["greet", "--lout", "--", "--json"]] {
        opal.call(words).code(2).stdout("");
    }
    let own = Opal::machine("fun a(json = \"x\") = echo @var.json\n");
    own.call(&["a", "--json", "y", "--bogus"]).code(2).stdout("");
}

#[test]
fn a_nul_is_the_same_error_wherever_a_value_comes_from() {
    for value in [
        "@file.read(\"data\")",
        "@secret.file(\"data\")",
        "@shell.output(\"cat data\")",
        "@secret.cmd(\"cat data\")",
        "\"a\\u{0}b\"",
    ] {
        let text = format!("var data = {value}\nfun main() {{\n    echo @var.data\n}}\n");
        let opal = Opal::machine(&text).file("data", "12345678\0word").args(["main"]);
        opal.run().code(65).says("E0811").hides("E0805").hides("12345678");
    }
}

#[test]
fn a_habit_from_shell_scripts_is_told_of_where_it_is_planned_or_run() {
    let text = "fun a() {\n    export X=1\n    echo \"[$X]\"\n}\n\nfun b() {\n    echo b\n}\n";
    let opal = Opal::machine(text);
    for call in [&["a"][..], &["a", "--dry-run"], &["plan", "a"]] {
        opal.call(call).code(0).says("warning[W0704]: `export` ends with its step");
    }
    for call in [&["-q", "a"][..], &["b"], &["b", "--dry-run"]] {
        let ran = opal.call(call);
        assert!(!ran.code(0).stderr.contains("W0704"), "{call:?}");
    }
}
