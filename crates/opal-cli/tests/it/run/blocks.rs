//! Decorators with a block, `try`, operators and redirections.

use super::main_of;
use crate::support::Opal;

#[test]
fn finally_runs_on_every_way_out_and_catch_deals_with_failures() {
    let text = "fun main() {\n    try {\n        echo try\n        false\n        echo never\n    } \
                catch {\n        echo catch\n    } finally {\n        echo finally\n    }\n    \
                echo after\n}\n";
    main_of(text).code(0).stdout("try\ncatch\nfinally\nafter\n");
    let text = "fun main() {\n    try {\n        sh -c 'exit 9'\n    } finally {\n        \
                echo finally\n    }\n    echo never\n}\n";
    main_of(text).code(9).stdout("finally\n");
    let text = "fun main() {\n    try {\n        @timeout(100ms, grace=1s) { sleep 60 }\n    } \
                catch {\n        echo late\n    }\n}\n";
    main_of(text).code(0).stdout("late\n");
}

#[test]
fn a_failure_while_cleaning_up_is_told_beside_the_one_before_it() {
    let text = "fun main() {\n    try { sh -c 'exit 4' } finally { sh -c 'exit 5' }\n}\n";
    let ran = main_of(text);
    ran.code(4).says("step: main.try[0].shell[0]").says("2 failed");
    ran.says("also failed: main.try[0].finally.shell[0]: sh -c 'exit 5': failed with exit code 5");
    let json = Opal::machine(text).args(["main", "--json"]).run().json();
    assert_eq!(json["also_failed"][0]["code"], 5, "{json:#}");
}

#[test]
fn retry_tries_again_and_gives_up_with_the_last_code() {
    let text = "fun main() {\n    @retry(3, delay=1ms) {\n        \
                echo x >> tries; test $(wc -l < tries) -ge 3\n    }\n    cat tries\n}\n";
    main_of(text).code(0).stdout("x\nx\nx\n").says("attempt 1 of 3 failed");
    let text = "fun main() {\n    @retry(2, delay=1ms) { sh -c 'echo try; exit 5' }\n}\n";
    main_of(text).code(5).stdout("try\ntry\n");
}

#[test]
fn what_takes_too_long_is_ended_with_124() {
    let text = "fun main() {\n    @timeout(100ms, grace=100ms) {\n        \
                sh -c 'trap \"\" TERM; while :; do sleep 0.01; done'\n    }\n}\n";
    main_of(text).code(124).says("main.timeout[0]");
}

#[test]
fn a_time_limit_names_the_line_of_the_step_that_was_stopped_and_no_other() {
    let limited = "@timeout(300ms) {\n        true\n        sleep 60\n    }";
    let opal = Opal::machine(&format!(
        "fun main() {{\n    {limited}\n}}\n\
         fun caught() {{\n    try {{\n    {limited}\n    }} catch {{ true }}\n}}\n\
         fun again() {{\n    @retry(2, delay=1ms) {{\n    {limited}\n    }}\n}}\n"
    ));
    let json = opal.call(&["main", "--json"]).code(124).json();
    assert_eq!(json["failed"]["line"], 4, "{json:#}");
    for (task, code, line, times) in
        [("main", 124, 4, 1), ("caught", 0, 11, 1), ("again", 124, 19, 3)]
    {
        let ran = opal.call(&[task]);
        ran.code(code).hides("failed: exit code 124");
        let named = ran.stderr.matches("commands.opl:").count();
        assert_eq!(ran.stderr.matches(&format!("commands.opl:{line}")).count(), named, "{ran:#?}");
        assert_eq!(named, times, "{ran:#?}");
    }
}

#[test]
fn the_time_of_a_run_covers_planning() {
    let text = "fun main() {\n    echo @shell.output(\"sleep 60; echo x\")\n}\n";
    let ran = Opal::machine(text).args(["main", "--timeout", "100ms", "--json"]).run();
    ran.code(124).says("the run timed out: planning was cut off");
    assert!(ran.json()["error"]["message"].is_string(), "{ran:#?}");
}

#[test]
fn a_value_that_is_too_long_for_an_argument_is_named_where_its_step_fails() {
    let long = "let.x = @shell(\"head -c 1048576 /dev/zero | tr '\\\\0' x\")";
    let opal = Opal::machine(&format!(
        "fun main() {{\n    {long}\n    /bin/echo \"@let.x\" | wc -c\n}}\n\
         fun borne() {{\n    {long}\n    @shell(\"/bin/echo @let.x | wc -c\", allow_failure=true)\n}}\n\
         fun short() {{\n    let.x = @shell(\"echo abc\")\n    ./data.txt \"@let.x\" | cat\n}}\n"
    ));
    let opal = opal.file("data.txt", "no program\n");
    let ran = opal.call(&["main"]);
    ran.code(126).says("exit code 126").says("at most 128 KiB").says("heredoc");
    opal.call(&["borne"]).code(0);
    opal.call(&["short"]).code(126).hides("128 KiB");
}

#[test]
fn branches_print_in_the_order_of_the_plan_whichever_ends_first() {
    let text = "fun main() {\n    @parallel {\n        sh -c 'sleep 0.2; echo one'\n        echo two\n        \
                {\n            echo three\n            echo four\n        }\n        \
                for i in 5...6 { echo @var.i }\n    }\n}\n";
    main_of(text).code(0).stdout("one\ntwo\nthree\nfour\n5\n6\n");
}

#[test]
fn a_failing_branch_cancels_the_others_or_waits_for_them() {
    let text =
        "fun main() {\n    @parallel {\n        sh -c 'exit 4'\n        sleep 60\n    }\n}\n";
    main_of(text).code(4).says("main.parallel[0].shell[0]");
    let text = "fun main() {\n    @parallel(on_failure=\"wait\", max=1) {\n        sh -c 'exit 4'\n        \
                echo other\n    }\n}\n";
    main_of(text).code(4).stdout("other\n");
}

#[test]
fn operators_between_decorators_are_those_of_a_shell() {
    let text = "fun main() {\n    @cmd.no && echo a || echo b && echo c\n    @cmd.yes || echo d ; echo e\n    \
                @cmd.yes | tr a-z A-Z\n}\n\nfun yes() = echo yes\n\nfun no() = false\n";
    main_of(text).code(0).stdout("b\nc\nyes\ne\nYES\n");
    // A failure anywhere in a pipe is the pipe's.
    main_of("fun main() {\n    @cmd.no | cat\n}\n\nfun no() = sh -c 'exit 6'\n").code(6);
}

#[test]
fn redirections_of_decorators_are_whole_or_leave_no_trace() {
    let text = "fun main() {\n    echo new > @file.write(\"a.txt\", mode=\"0600\")\n    \
                echo more >> @file.write(\"a.txt\")\n    cat < @file.read(\"a.txt\")\n    \
                @retry(1) { echo inner } | cat > b.txt\n    cat b.txt\n    \
                sh -c 'echo half; exit 3' > @file.write(\"a.txt\")\n}\n";
    let opal = Opal::machine(text).file("a.txt", "old\n").args(["main"]);
    opal.run().code(3).stdout("new\nmore\ninner\n");
    assert_eq!(opal.read("a.txt"), "new\nmore\n");
    let names: Vec<String> = std::fs::read_dir(opal.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 4, "{names:?}");
}

#[test]
fn a_binding_is_known_behind_its_step_and_nowhere_shown() {
    let text = "fun main() {\n    let.token = @shell(\"cat token; cat token >&2\")\n    \
                echo \"<@let.token>\"\n    printf '%s' @let.token > raw.txt\n    \
                let.p = @shell(\"echo out; sh -c 'exit 3'\", allow_failure=true)\n    \
                echo @let.p.exit_code @let.p\n}\n";
    let opal = Opal::machine(text).file("token", "canary-4711\n").args(["main"]);
    let ran = opal.run();
    ran.code(0).hides("canary-4711").says("opal:h:");
    assert!(ran.stdout.ends_with("3 out\n"), "{ran:#?}");
    assert_eq!(opal.read("raw.txt"), "canary-4711");
}

#[test]
fn what_is_read_of_a_command_is_hidden_and_what_nobody_reads_is_shown() {
    let text = "fun main() {\n    let.read = @shell(\"printf 'err-%s-1234\\n' canary >&2; echo of-read\")\n    \
                echo \"<@let.read.stderr>\"\n    \
                let.half = @shell(\"printf 'half of %s\\n' it >&2; printf 'out-%s-1234' canary\")\n    \
                echo @let.half.exit_code @let.half.stderr.length @let.half\n}\n\
                fun again() {\n    echo err-canary-1234\n    @cmd.main()\n}\n";
    let opal = Opal::machine(text);
    opal.call(&["main"])
        .code(0)
        .hides("canary-1234")
        .says("opal:h:")
        .says("half of it")
        .says("0 11 ");
    opal.call(&["main", "--events", "-"]).code(0).hides("canary-1234");
    // It was no value yet when it was printed.
    opal.call(&["again"]).code(0).says("err-canary-1234");
    opal.call(&["runs", "show", "--logs"]).code(0).hides("canary-1234").says("half of it");
}

#[test]
fn a_question_needs_a_terminal_or_a_yes() {
    let opal = Opal::machine("fun main() {\n    echo first\n    @confirm(\"really?\")\n}\n");
    let opal = opal.args(["main"]);
    opal.run().code(2).stdout("").says("--yes");
    opal.args(["main", "--yes"]).run().code(0).stdout("first\n");
}

#[test]
fn messages_go_to_standard_error_with_their_values_hidden() {
    let text = "fun main() {\n    @log(\"token @env.API_TOKEN\", level=\"warn\")\n    \
                @log(\"quiet\", level=\"debug\")\n}\n";
    let opal = Opal::machine(text).env("API_TOKEN", "canary-4711");
    opal.args(["main"])
        .run()
        .code(0)
        .stdout("")
        .hides("canary-4711")
        .hides("quiet")
        .says("token <11:");
}
