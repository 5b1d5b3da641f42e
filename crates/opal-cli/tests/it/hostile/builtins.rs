//! Reading a stranger's repository never runs it.

use crate::support::Opal;

/// The names that the language's page lists.
const RESERVED: [&str; 24] = [
    "adopt",
    "apply",
    "audit",
    "blueprint",
    "check",
    "completions",
    "convert",
    "dispatch",
    "explain",
    "fmt",
    "help",
    "keys",
    "list",
    "lsp",
    "mcp",
    "module",
    "plan",
    "plugin",
    "run",
    "runner",
    "runs",
    "self",
    "ui",
    "verify",
];

#[test]
fn a_reserved_name_never_runs_a_function_and_run_does() {
    let trap: String =
        RESERVED.iter().map(|name| format!("fun {name}() = echo ran-{name} > trap\n")).collect();
    // Nobody opens the pages of `opal ui`, so they end after a minute of short seconds.
    let opal = Opal::machine(&trap).env("OPAL_TEST_UI_SECOND", "1");
    for name in RESERVED {
        for words in
            [&[name][..], &["help", name], &[name, "--help"], &["-f", "commands.opl", name]]
        {
            opal.call(words);
            assert!(!opal.path().join("trap").exists(), "{words:?} ran a function");
        }
        opal.call(&["run", name]).code(0);
        assert_eq!(opal.read("trap"), format!("ran-{name}\n"));
        std::fs::remove_file(opal.path().join("trap")).unwrap();
    }
}

#[test]
fn help_of_a_function_with_a_reserved_name_shows_how_it_is_called() {
    let opal = Opal::machine("// Mine.\nfun check(n = 1) = echo @var.n\n");
    opal.call(&["run", "check", "--help"]).code(0).says("Mine.").says("opal run check");
    opal.call(&["check", "--help"]).code(0).says("opal check").hides("Mine.");
    opal.call(&["help", "check"]).code(0).hides("Mine.");
}

#[test]
fn a_run_that_failed_is_resumed_as_it_was_started() {
    let opal = Opal::machine("fun check() {\n    echo a\n    false\n}\n");
    opal.call(&["run", "check"]).code(1).says("opal run check --resume");
}

#[test]
fn the_words_of_plan_win_and_two_dashes_plan_the_function() {
    let names = ["approve", "diff", "inbox", "reject", "show", "submit", "verify"];
    let text: String =
        names.iter().map(|name| format!("fun {name}() = echo mine-{name}\n")).collect();
    let opal = Opal::machine(&text);
    for name in names {
        // Only this one needs no file.
        let code = if name == "inbox" { 0 } else { 2 };
        opal.call(&["plan", name]).code(code).hides("mine-");
        opal.call(&["plan", "--resolve", name]).code(2).hides("mine-");
        opal.call(&["plan", "--", name]).code(0).says(&format!("mine-{name}"));
    }
    opal.call(&["plan", "-n", "submit"]).code(2).says("`opal plan -- submit`");
    opal.call(&["plan", "-o", "c.plan", "--", "show"]).code(0);
    opal.call(&["plan", "show", "c.plan"]).code(0).says("mine-show");
}

#[test]
fn run_takes_a_file_only_by_its_ending_or_a_slash() {
    let opal = Opal::machine("fun build() = echo function\n")
        .file("build", "echo file\n")
        .file("deploy.opl", "echo script\n")
        .file("sub/x", "echo slash\n");
    opal.call(&["run", "build"]).code(0).stdout("function\n");
    opal.call(&["run", "./build"]).code(0).stdout("file\n");
    opal.call(&["run", "deploy.opl"]).code(0).stdout("script\n");
    opal.call(&["run", "sub/x"]).code(0).stdout("slash\n");
}
