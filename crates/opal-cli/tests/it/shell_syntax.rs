//! Shell syntax errors are found before anything runs, by the shell's own parser.

use crate::support::Opal;

const BROKEN: &str = "fun tidy() {\n    echo first\n    rm -rf dist && || true\n}\n";

#[test]
fn every_way_to_plan_finds_a_syntax_error_with_its_place() {
    for words in [
        &["check"][..],
        &["tidy", "--dry-run"],
        &["-n", "tidy"],
        &["plan", "tidy"],
        &["plan", "tidy", "-o", "x.plan"],
        &["tidy"],
    ] {
        let opal = Opal::machine(BROKEN);
        let ran = opal.call(words);
        ran.code(65).says("error[E0901]").says("commands.opl:3:5").says("unexpected token `||'");
        assert!(!opal.path().join("x.plan").exists(), "{words:?}");
    }
}

#[test]
fn the_line_of_a_long_step_is_the_one_that_is_shown() {
    let source =
        "fun main() {\n    ( echo a\n      echo b )\n    cat <<X | (\nfine\nX\n      done )\n}\n";
    for words in [&["check"][..], &["main"], &["main", "--dry-run"]] {
        let ran = Opal::machine(source).args(words.iter().copied()).run();
        ran.code(65).says("commands.opl:7:7").says("`done'").hides("commands.opl:2:");
    }
}

#[test]
fn all_errors_of_a_file_are_reported_and_each_once() {
    let mut source = String::new();
    for n in 0..50 {
        source.push_str(&format!("fun a{n}() {{\n    echo {n} && true\n    ls {n} | | wc\n}}\n"));
    }
    let document = Opal::machine(&source).args(["check", "--json"]).run().code(65).json();
    assert_eq!(document["summary"]["errors"], 50);
}

#[test]
fn commands_in_quotes_are_checked_too() {
    for step in [
        "@shell(\"echo a && || b\")",
        "@shell(\"echo a\", check=\"test -e x ||\")",
        "let._x = @shell(\"echo ) a\")",
        "@retry(2) { echo a && || b }",
        "echo a > x; @shell(\"true\") > (y",
    ] {
        let source = format!("fun main() {{\n    {step}\n}}\n");
        let ran = Opal::machine(&source).args(["check"]).run();
        assert!(ran.code == 65, "{step}: {ran:#?}");
    }
    let value = "var x = @shell.output(\"echo a && || b\")\nfun main() = echo @var.x\n";
    Opal::machine(value).args(["check"]).run().code(65).says("E0901");
}

#[test]
fn code_for_another_interpreter_is_never_read_as_bash() {
    let source = "fun main() {\n    @shell(\"print((1, [2])); x = {'a': 1}\", shell=\"python3\")\n    \
                  @shell(\"print(')')\", \"true\", \"python3\")\n}\n";
    for words in [&["check"][..], &["main", "--dry-run"]] {
        Opal::machine(source).args(words.iter().copied()).run().code(0);
    }
}

#[test]
fn values_do_not_change_the_syntax() {
    let source = "var v = @env.V(default=\"x\")\nvar n = 3\nvar l = [\"a\", \"b\"]\n\
                  fun main() {\n    echo \"$(echo @var.v)\" > @var.v().txt; echo $(( @var.n + 1 ))\n    \
                  for x in @var.l; do echo $x; done | cat\n    cat <<E\n@var.v\nE\n}\n";
    let opal = Opal::machine(source);
    // `for` in the shell's spelling is an error of the language.
    let source =
        source.replace("for x in @var.l; do echo $x; done | cat", "printf %s @var.l | cat");
    opal.write("commands.opl", &source);
    for value in ["x", "'", "$(", "|| ("] {
        for words in
            [&["check"][..], &["main", "-n"], &["plan", "main", "--resolve", "--format=tree"]]
        {
            opal.call_with(&[("V", value)], words).code(0);
        }
    }
}

#[test]
fn nothing_is_executed_whatever_the_text_and_the_environment() {
    let source = "fun main() {\n    echo \"$(touch ran1)\" `touch ran2` <(touch ran3)\n    \
                  ( set +n; touch ran4 ) ; touch ran5 && || x\n    [[ x == $(touch ran6) ]] && eval 'touch ran7'\n}\n";
    let opal = Opal::machine(source).file("start.sh", "touch started\n");
    let start = opal.path().join("start.sh");
    let start = start.to_str().unwrap();
    let substituted = format!("$(touch {}/sub)", opal.path().display());
    for words in [&["check"][..], &["main", "-n"], &["plan", "main"], &["main"]] {
        for env in [start, &substituted] {
            let variables = [
                ("BASH_ENV", env),
                ("ENV", env),
                ("BASH_FUNC_echo%%", "() { touch function; }"),
                ("SHELLOPTS", "xtrace"),
            ];
            let variables = if words == ["main"] { &variables[1..3] } else { &variables[..] };
            opal.call_with(variables, words).code(65).says("E0901");
        }
    }
    let mut left: Vec<_> = std::fs::read_dir(opal.path()).unwrap().flatten().collect();
    left.retain(|it| {
        !["commands.opl", "start.sh", ".opal", "home"].contains(&it.file_name().to_str().unwrap())
    });
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_shell_option_that_changes_the_parser_is_left_to_the_run() {
    let source = "fun main() {\n    ( shopt -s extglob\n      echo !(x|y) )\n}\n";
    Opal::machine(source).args(["check"]).run().code(0);
}

#[test]
fn syntax_errors_of_a_check_are_found_by_verify_and_in_configurations() {
    let source = "fun main() = @shell(\"true\", check=\"test -e x && || y\", id=\"a\")\n";
    Opal::machine(source).args(["verify", "main"]).run().says("E0901");
    let config = "version: 1\nsteps:\n  - id: a\n    type: command\n    command: echo a && || b\n";
    let opal = Opal::machine("fun a() = true\n").file("site.yaml", config);
    for words in
        [&["apply", "--dry-run", "site.yaml"][..], &["apply", "site.yaml"], &["plan", "site.yaml"]]
    {
        opal.call(words).says("E0901").hides("missing");
    }
}

#[test]
fn a_parser_that_cannot_be_asked_is_unavailable_and_not_a_missing_file() {
    let opal =
        Opal::machine("fun main() {\n    echo a | cat\n}\n").file("bin/bash", b"\x7fELF, not");
    let path = opal.path().join("bin");
    let program = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(path.join("bash"), program).unwrap();
    let path = [("PATH", path.to_str().unwrap())];
    for words in [&["check"][..], &["check", "commands.opl", "gone.opl"]] {
        opal.call_with(&path, words).code(69).says("the shell's parser cannot be started");
    }
    opal.call_with(&path, &["check", "gone.opl", "commands.opl"]).code(66);
}

#[test]
fn an_error_in_a_configuration_is_at_the_line_of_its_command() {
    let config = "version: 1\nsteps:\n  - id: a\n    type: command\n    command: |\n      echo one\n      \
                  echo two && || three\n  - id: b\n    type: command\n    command: \"true\"\n    \
                  check: \"test -e x &&\"\n  - id: c\n    type: command\n    depends_on: [a]\n    \
                  command: echo plain ; ; x\n";
    let opal = Opal::machine("").file("site.yaml", config);
    for words in [
        &["check", "site.yaml"][..],
        &["verify", "site.yaml"],
        &["apply", "site.yaml"],
        &["apply", "--dry-run", "site.yaml"],
        &["plan", "site.yaml"],
        &["plan", "-o", "x.plan", "site.yaml"],
    ] {
        let ran = opal.call(words);
        for place in ["site.yaml:7:7\n", "site.yaml:11:12\n", "site.yaml:15:14\n"] {
            ran.says(place);
        }
        assert_eq!(
            (ran.stdout.clone() + &ran.stderr).matches("error[E0901]").count(),
            3,
            "{words:?}: {ran:#?}"
        );
    }
}

#[test]
fn an_error_that_only_bash_reports_in_a_captured_command_has_its_line() {
    let source = "var a = @shell.output(\"\"\"\n    echo one\n    echo two && || three\n    \"\"\")\n\
                  fun main() {\n    echo @var.a\n}\n\
                  fun inner() {\n    echo \"@shell.output(\"touch ran; echo a ; ; b\")\"\n}\n\
                  fun fine() = echo fine\n";
    let opal = Opal::machine(source);
    let ran = opal.call(&["check"]);
    ran.code(65).says("commands.opl:3:5\n").says("commands.opl:9:26\n");
    assert_eq!((ran.stdout.clone() + &ran.stderr).matches("error[E0901]").count(), 2, "{ran:#?}");
    for (words, place) in [
        (&["main"][..], "commands.opl:3:5\n"),
        (&["plan", "main", "--resolve"], "commands.opl:3:5\n"),
        (&["plan", "main", "-o", "x.plan"], "commands.opl:3:5\n"),
        (&["inner"], "commands.opl:9:26\n"),
    ] {
        opal.call(words).code(65).says("error[E0901]").says(place).hides("E0805");
    }
    // What is not an error of the parser keeps its exit code.
    let other = "fun main() = echo @shell.output(\"bash -c 'exit 2'\")\n";
    Opal::machine(other).call(&["main"]).code(65).says("error[E0805]").hides("E0901");
    assert!(!opal.path().join("ran").exists(), "nothing of a wrong text runs");
    assert!(!opal.path().join("x.plan").exists());
    opal.call(&["fine"]).code(0);
}
