//! Running, from the outside: what steps do, what comes out of them, what opal ends with.

mod blocks;
mod contracts;
mod from;
mod hard;
mod interrupted;
mod jobs;
mod limits;
mod output;
mod stories;
pub(crate) mod terminal;

use crate::support::{Opal, Ran};

/// Runs the task `main` of a project.
fn main_of(text: &str) -> Ran {
    Opal::machine(text).args(["main"]).run()
}

#[test]
fn steps_run_in_order_and_standard_output_is_theirs() {
    let ran = main_of("fun main() {\n    echo one\n    echo two >&2\n    echo three\n}\n");
    ran.code(0).stdout("one\nthree\n").says("▸ echo one").says("done: 3 steps in ");
    assert!(ran.stderr.contains("\ntwo\n"), "{ran:#?}");
}

#[test]
fn the_first_failure_ends_the_task_with_its_exit_code() {
    let text = "fun main() {\n    echo one\n    sh -c 'exit 7'\n    echo never\n}\n";
    let ran = main_of(text);
    ran.code(7).stdout("one\n").says("step: main.shell[1]").says("exit code 7");
    ran.says("command: sh -c 'exit 7'").says("opal main --resume");
}

#[test]
fn a_signal_a_missing_program_and_one_that_is_none_have_the_codes_of_a_shell() {
    main_of("fun main() = sh -c 'kill -9 $$'\n").code(137).says("SIGKILL");
    main_of("fun main() = no-such-program-here --x\n").code(127).says("not found");
    let opal = Opal::machine("fun main() = ./data.txt\n").file("data.txt", "no program\n");
    opal.args(["main"]).run().code(126).says("cannot be executed");
}

#[test]
fn a_file_is_a_script_with_arguments_and_starts_where_it_was_called() {
    let text = "#!/usr/bin/env opal\necho @args\npwd\n";
    let opal = Opal::machine("").file("tools/backup.opl", text).file("here/.keep", "");
    let here = opal.path().join("here").canonicalize().unwrap();
    let mut command = opal.command();
    command.current_dir(&here).args(["../tools/backup.opl", "x y", "-z"]);
    let ran = Ran::from(command.output().unwrap());
    ran.code(0).stdout(&format!("x y -z\n{}\n", here.display()));
}

#[test]
fn a_task_starts_beside_its_file_wherever_it_is_called() {
    let opal = Opal::machine("fun main() = pwd\n").file("deep/down/.keep", "");
    let mut command = opal.command();
    command.current_dir(opal.path().join("deep/down")).arg("main");
    let whole = opal.path().canonicalize().unwrap();
    Ran::from(command.output().unwrap()).code(0).stdout(&format!("{}\n", whole.display()));
}

#[test]
fn mistakes_are_found_before_anything_runs() {
    let ran = main_of("fun main() {\n    touch ran\n    echo @var.X\n}\n");
    ran.code(65).stdout("").says("error[E0401]");
    let opal = Opal::machine("fun main() {\n    touch ran\n    echo a && || b\n}\n").args(["main"]);
    opal.run().code(65).stdout("").says("error[E0901]").says("commands.opl:3:5");
    assert!(!opal.path().join("ran").exists());
    Opal::new().args(["run", "gone.opl"]).run().code(66).says("the file `gone.opl` does not exist");
    Opal::project("fun a() = echo a\n").args(["run", "b"]).run().code(2).says("unknown task `b`");
}

#[test]
fn standard_input_reaches_steps_one_after_the_other() {
    let opal = Opal::machine("fun main() {\n    head -c 4\n    cat\n}\n").stdin("one\ntwo\n");
    opal.args(["main", "-q"]).run().code(0).stdout("one\ntwo\n").stderr("");
}

#[test]
fn variables_end_with_their_step_and_the_directory_with_its_block() {
    let text = "fun main() {\n    X=1; mkdir -p a/b\n    echo \"x=$X\"\n    cd a\n    {\n        \
                cd b\n        basename \"$PWD\"\n    }\n    basename \"$PWD\"\n    \
                @workdir(\"b\") { basename \"$PWD\" }\n    @cmd.inner\n    basename \"$PWD\"\n}\n\n\
                fun inner() {\n    cd b\n}\n";
    main_of(text).code(0).stdout("x=\nb\na\nb\na\n");
}

#[test]
fn a_step_may_do_anything_to_its_shell_and_the_next_one_is_as_before() {
    for hostile in [
        "exit 0",
        "exec true",
        "exec 0<&- 1>&- 2>&-",
        "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-",
        "set -e; set -u; shopt -s extglob",
        "trap 'echo trapped' EXIT; true",
        "cd /; umask 000; ulimit -n 20",
        "eval 'echo() { false; }'",
        "read -r line || true",
        "( sleep 0 & ) ; true",
        "printf '\\000\\001\\377'",
    ] {
        let text =
            format!("fun main() {{\n    ( {hostile} )\n    {hostile}; true\n    echo next\n}}\n");
        let opal = Opal::machine("").file("commands.opl", &text);
        let ran = opal.args(["main", "-q"]).run();
        assert!(ran.stdout.ends_with("next\n"), "{hostile}: {ran:#?}");
        ran.code(0);
    }
}

#[test]
fn variables_of_an_env_file_are_below_those_of_the_environment() {
    let opal = Opal::machine("fun main() = echo @env.A @env.B $A $B\n")
        .file(".env", "A=file\nexport B='a file'\n")
        .env("A", "real");
    opal.args(["main", "--env-file", ".env"]).run().code(0).stdout("real a file real a file\n");
}

#[test]
fn a_program_without_its_shell_and_one_in_it_get_the_same() {
    let text = "fun main() {\n    printenv X\n    @environ(X=\"a b\") {\n        printenv X\n        \
                ( printenv X )\n    }\n}\n";
    let opal = Opal::machine(text).env("X", "outer");
    opal.args(["main"]).run().code(0).stdout("outer\na b\na b\n");
}

#[test]
fn json_is_all_that_standard_output_has_where_it_is_asked_for() {
    let opal = Opal::machine("fun main() {\n    echo one\n    sh -c 'exit 3'\n}\n");
    let ran = opal.args(["main", "--json"]).run();
    let summary = ran.code(3).json();
    assert_eq!(summary["status"], "failed");
    assert_eq!(summary["failed"]["path"], "main.shell[1]");
    assert_eq!(summary["counts"]["done"], 1);
    ran.says("one");
    let opal = Opal::machine("fun main() = echo one\n").args(["main", "--events", "-"]);
    let ran = opal.run();
    let events: Vec<serde_json::Value> =
        ran.code(0).stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.first().unwrap()["kind"], "run_started");
    assert_eq!(events.last().unwrap()["kind"], "run_finished");
}
