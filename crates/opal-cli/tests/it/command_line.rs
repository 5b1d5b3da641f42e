//! What people type after `opal`, by habit or by the book.

use crate::support::Opal;

const PROJECT: &str = "// Deploys the service.\n\
    fun deploy(env: \"dev\" | \"prod\", replicas = 3, wait = true, files...) {\n    \
    echo \"@var.env @var.replicas @var.wait\" @var.files\n}\n\
    fun build { echo built }\nfun test = echo tested\n";

#[test]
fn parameters_are_given_by_position_or_as_flags() {
    let opal = Opal::machine(PROJECT);
    for (words, printed) in [
        (&["deploy", "prod"][..], "prod 3 true\n"),
        (&["deploy", "prod", "5", "false"], "prod 5 false\n"),
        (&["deploy", "--env", "prod", "--replicas=5", "--no-wait"], "prod 5 false\n"),
        (&["deploy", "prod", "5", "true", "a", "--foo", "-n"], "prod 5 true a --foo -n\n"),
        (&["run", "deploy", "--env=dev", "7"], "dev 7 true\n"),
        (&["build"], "built\n"),
        (&["test"], "tested\n"),
    ] {
        opal.call(words).code(0).stdout(printed);
    }
}

#[test]
fn what_is_wrong_is_said_with_the_way_forward() {
    let opal = Opal::machine(PROJECT);
    for (words, says, help) in [
        (&["build", "tset"][..], "`build` takes no arguments", "opal build && opal test"),
        (&["deploy"], "`deploy` needs `env`", "usage: opal deploy ENV [--replicas=3]"),
        (
            &["deploy", "pord"],
            "`env` of `deploy` expects one of \"dev\" | \"prod\", got `pord`",
            "`prod`",
        ),
        (&["deploy", "prod", "many"], "`replicas` of `deploy` expects an Int", "opal deploy -h"),
        (
            &["deploy", "--replica=4", "dev"],
            "unknown option `--replica` of `deploy`",
            "`--replicas`",
        ),
        (&["deploy", "dev", "--env=dev"], "`env` of `deploy` is given twice", "usage:"),
        (&["bulid"], "unknown task or command `bulid`", "`build`"),
        (&["--dry"], "unknown option `--dry`", "`opal --help`"),
    ] {
        opal.call(words).code(2).stdout("").says(says).says(help);
    }
}

#[test]
fn the_usual_short_options_work() {
    let opal = Opal::machine(PROJECT);
    for words in [&["-l"][..], &["--list"], &["list"]] {
        opal.call(words).code(0).says("deploy ENV").says("# Deploys the service.");
    }
    for words in
        [&["-n", "build"][..], &["build", "-n"], &["build", "--dry-run"], &["run", "-n", "build"]]
    {
        opal.call(words).code(0).says("echo built").hides("\nbuilt\n");
    }
    Opal::new().args(["-l"]).run().code(66);
}

#[test]
fn a_file_that_is_named_must_be_there() {
    let opal = Opal::machine(PROJECT);
    for words in [
        &["-f", "missing.opl", "build"][..],
        &["-f", "missing.opl", "nope"],
        &["-f", "missing.opl", "-l"],
    ] {
        opal.call(words).code(66).says("missing.opl");
    }
}

#[test]
fn short_help_is_the_tasks_own_and_long_help_is_everything() {
    let opal = Opal::machine(PROJECT);
    let short = opal.call(&["deploy", "-h"]);
    short.code(0).says("Usage: opal deploy ENV [--replicas=3] [--no-wait] [FILES...]");
    short.says("Deploys the service.").says("--replicas").says("--no-wait").says("--help");
    short.hides("--telemetry").hides("--resume");
    assert!(short.stdout.lines().count() < 24, "{}", short.stdout);
    let long = opal.call(&["deploy", "--help"]);
    long.code(0).says("--replicas").says("--dry-run").says("--resume").says("Options of a run");
}

#[test]
fn decorators_are_explained_with_and_without_their_sign() {
    let with = Opal::new().args(["explain", "@retry"]).run();
    Opal::new().args(["explain", "retry"]).run().code(0).stdout(&with.stdout);
    Opal::new().args(["explain", "env.HOME"]).run().code(0).says("@env");
    Opal::new()
        .args(["explain", "retyr"])
        .run()
        .code(2)
        .says("did you mean `opal explain @retry`?");
    Opal::new().args(["explain", "E9999"]).run().code(2).says("unknown error code");
}

#[test]
fn fmt_writes_the_parameter_list_that_was_left_out() {
    let opal = Opal::machine("fun build { echo a }\nfun up = docker compose up\n");
    opal.call(&["fmt"]).code(0);
    assert_eq!(
        opal.read("commands.opl"),
        "fun build() { echo a }\n\nfun up() = docker compose up\n"
    );
}

#[test]
fn spellings_of_other_tools_get_a_note() {
    for (step, says) in [
        ("echo {{version}}", "write `@var.version`"),
        ("echo \"{{ version }}\"", "write `@var.version`"),
        ("docker tag app:$(VERSION) x", "the shell runs a program `VERSION`"),
        ("-rm -rf dist", "rm … || true"),
        ("[private]", "attribute of just"),
        ("set dotenv-load", "--env-file"),
    ] {
        let source = format!("fun main() {{\n    {step}\n}}\n");
        Opal::machine(&source).args(["check"]).run().code(0).says("N0708").says(says);
    }
    for step in [
        "docker inspect -f '{{.State}}' x",
        "echo $(date) $(LANG=C date)",
        "[ -e x ] && ls",
        "set -euo pipefail",
        "[[ a == b ]] || true",
        "cat <<X\nexit 1\nexport A=1\nX",
    ] {
        let source = format!("fun main() {{\n    {step}\n}}\n");
        let ran = Opal::machine(&source).args(["check"]).run();
        ran.code(0).hides("N0708").hides("W0704").hides("W0705");
    }
}

#[test]
fn a_top_level_step_in_a_file_of_tasks_is_warned_about() {
    let source = "echo hello\necho again\nfun build() = echo built\n";
    let opal = Opal::machine(source);
    opal.call(&["check"]).code(0).says("W0707").says("nor one more below");
    opal.call(&["build"]).code(0).stdout("built\n").says("W0707");
    opal.call(&["run", "./commands.opl"]).code(0).stdout("hello\nagain\n").hides("W0707");
    let script = format!("#!/usr/bin/env opal\n{source}");
    Opal::machine(&script).args(["check"]).run().code(0).hides("W0707");
    let calls = "fun build() = echo built\n@cmd.build()\necho done\n";
    Opal::machine(calls).args(["check"]).run().code(0).hides("W0707");
}

#[test]
fn pasted_files_of_other_tools_are_named() {
    for (text, tool) in [
        ("CC := gcc\nall: build\n\t./run\nbuild:\n\t$(CC) x.c\n", "a Makefile"),
        ("set dotenv-load\n\nbuild target='x':\n    cargo build {{target}}\n", "a justfile"),
        ("version: '3'\ntasks:\n  build:\n    cmds: [go build]\n", "a Taskfile"),
        ("{\n  \"name\": \"x\",\n  \"scripts\": { \"build\": \"tsc\" }\n}\n", "a package.json"),
    ] {
        let opal = Opal::machine(text);
        let ran = opal.call(&["check"]);
        ran.code(65).says("E0106").says(&format!("this looks like {tool}")).says("1 error");
    }
    let opal = Opal::machine("fun a() = true\n")
        .file("Taskfile.yml", "version: '3'\ntasks:\n  build:\n    cmds: [go build]\n");
    opal.call(&["check", "Taskfile.yml"]).code(65).says("this looks like a Taskfile");
}

#[test]
fn a_pasted_file_is_named_whatever_is_asked_of_it() {
    for (text, tool) in [
        ("set dotenv-load\n\nbuild target='x':\n    cargo build {{target}}\n", "a justfile"),
        ("version: '3'\ntasks:\n  build:\n    cmds: [go build]\n", "a Taskfile"),
        ("CC := gcc\nall: build\n\t./run\nbuild:\n\t$(CC) x.c\n", "a Makefile"),
    ] {
        let opal = Opal::machine(text);
        for words in [&[][..], &["-l"], &["list"], &["build"], &["other"]] {
            let ran = opal.call(words);
            ran.code(65).stdout("").says(&format!("this looks like {tool}"));
        }
    }
}

#[test]
fn spellings_of_other_tools_get_their_note_on_a_run_too() {
    let opal = Opal::machine("fun a(x = 1) {\n    echo @var.x {{x}}\n}\nfun b() = echo b\n");
    opal.call(&["a"]).code(0).says("N0708").says("write `@var.x`");
    opal.call(&["b"]).code(0).stdout("b\n").hides("N0708");
}

#[test]
fn arguments_in_the_spelling_of_make_and_task_are_not_taken_for_values() {
    let opal = Opal::machine(PROJECT);
    for (words, says, help) in [
        (&["deploy", "env=prod"][..], "`env` of `deploy`", "write `--env=prod`"),
        (&["deploy", "prod", "replicas=5"], "`replicas` of `deploy`", "write `--replicas=5`"),
        (&["deploy", "prod", "wait=false"], "`wait` of `deploy`", "write `--no-wait`"),
        (&["build", "FOO=b r"], "`build` takes no arguments", "write `FOO='b r' opal build`"),
        (&["FOO=bar", "build"], "unknown task or command `FOO=bar`", "`FOO=bar opal build`"),
    ] {
        opal.call(words).code(2).stdout("").says(says).says(help);
    }
    let opal = Opal::machine("fun greet(name, more...) = echo @var.name @var.more\n");
    opal.call(&["greet", "name=bob"]).code(2).says("write `--name=bob`");
    for (words, printed) in [
        (&["greet", "--", "name=bob"][..], "name=bob\n"),
        (&["greet", "--name=name=bob"], "name=bob\n"),
        (&["greet", "x=1", "name=bob"], "x=1 name=bob\n"),
    ] {
        opal.call(words).code(0).stdout(printed);
    }
}

#[test]
fn an_option_may_be_given_twice_and_the_last_one_counts() {
    let opal = Opal::machine(PROJECT);
    opal.call(&["build", "-vv"]).code(0).says("build.shell[0]");
    opal.call(&["-v", "build", "-v"]).code(0).says("build.shell[0]");
    opal.call(&["build", "-n", "--dry-run"]).code(0).hides("\nbuilt\n");
    opal.call(&["build", "--timeout=1ns", "--timeout=1m"]).code(0).stdout("built\n");
}

#[test]
fn functions_of_other_languages_are_named() {
    for word in ["func", "fn", "def"] {
        let source = format!("{word} deploy() {{ echo a }}\nfun b() = echo b\n");
        let opal = Opal::machine(&source);
        opal.call(&["check"]).code(65).says("write `fun deploy(PARAMETERS) { … }`");
    }
}

#[test]
fn an_unknown_task_of_a_source_with_syntax_errors_says_that_tasks_may_be_missing() {
    let opal = Opal::machine("fun a() {\n    cat <<EOF\n}\nfun b() { echo b }\n");
    let other = opal.path().join("other.opl");
    std::fs::copy(opal.path().join("commands.opl"), &other).unwrap();
    for (args, check) in [
        (&["lost"][..], "see `opal check`"),
        (&["run", "lost"], "see `opal check`"),
        (&["plan", "lost"], "see `opal check`"),
        (&["-f", "other.opl", "lost"], "see `opal check other.opl`"),
    ] {
        let ran = opal.call(args);
        ran.code(2).says("unknown task").says("so tasks may be missing").says(check);
    }
    opal.call(&["check", "other.opl"]).code(65);
}
