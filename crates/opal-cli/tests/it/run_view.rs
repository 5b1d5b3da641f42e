//! What people see of a run: on a pipe, on a terminal, in a workflow, and as JSON.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::Winsize;

use crate::support::{Opal, binary};

const TASKS: &str = r#"
fun hello() {
    echo hello
    echo careful >&2
}

fun broken(token = "x") {
    echo before
    sh -c 'echo why >&2; exit 7' -- @var.token
    echo never
}

fun side() {
    @parallel(on_failure="wait") {
        sh -c 'sleep 0.4; echo one'
        sh -c 'echo two; exit 3'
        echo three
    }
}
"#;

/// The last of several lines, without its time.
#[track_caller]
fn last_line(text: &str) -> &str {
    let line = text.lines().last().unwrap_or_default();
    line.rsplit_once(" in ").map_or(line, |(before, _)| before)
}

#[test]
fn on_a_pipe_it_is_plain_and_stdout_is_the_steps() {
    let ran = Opal::machine(TASKS).args(["hello"]).run();
    ran.code(0).stdout("hello\n").hides("\x1b");
    assert!(ran.stderr.starts_with("▸ echo hello\n▸ echo careful >&2\ncareful\n"), "{ran:#?}");
    assert_eq!(last_line(&ran.stderr), "done: 2 steps");
}

#[test]
fn quiet_leaves_what_steps_print_and_failures() {
    let opal = Opal::machine(TASKS);
    opal.call(&["hello", "-q"]).code(0).stdout("hello\n").stderr("careful\n");
    let ran = opal.call(&["-q", "broken"]);
    ran.code(7).says("a step failed with exit code 7").hides("▸");
}

#[test]
fn verbose_and_timings_name_paths_and_times() {
    let opal = Opal::machine(TASKS);
    opal.call(&["hello", "-v"]).code(0).says("▸ echo hello hello.shell[0]\n").says("  done in ");
    let ran = opal.call(&["hello", "--timings"]);
    ran.code(0).says("timings:\n");
    assert_eq!(ran.stderr.lines().filter(|line| line.starts_with("* ")).count(), 1, "{ran:#?}");
}

#[test]
fn a_failure_names_the_step_its_command_and_the_way_on() {
    let opal = Opal::machine(TASKS);
    let ran = opal.call(&["broken", "--token", "a b"]);
    ran.code(7).stdout("before\n").says("\nerror: a step failed with exit code 7\n");
    ran.says("  --> commands.opl:9\n  step: broken.shell[1]\n  command: sh -c 'echo why >&2; exit 7' -- ");
    ran.says("  help: to continue from there, run `opal broken --token='a b' --resume`\n");
    ran.says("  record: ").hides("last lines");
    assert_eq!(last_line(&ran.stderr), "failed: 1 step done, 1 failed");
}

#[test]
fn the_way_on_can_be_pasted_whatever_the_arguments_begin_with() {
    let text = "fun s(x: String, rest...) {\n    echo @var.x\n    test -e go && printf '<%s>' @var.x @var.rest\n}\n\
                fun check(x: String) {\n    test -e go && printf '<%s>' @var.x\n}\n";
    for (words, printed) in [
        (&["s", "--", "--zap=a b"][..], "<--zap=a b>"),
        (&["s", "--", "-x y", "--resume"], "<-x y><--resume>"),
        (&["s", "--", "--", "-"], "<--><->"),
        (&["s", "a b", "c"], "<a b><c>"),
        (&["run", "check", "--", "-a 'b"], "<-a 'b>"),
    ] {
        let opal = Opal::machine(text);
        let ran = opal.call(words);
        let hint = ran.stderr.split_once("to continue from there, run `").expect("a hint").1;
        let hint = hint.split_once("`\n").unwrap().0;
        opal.write("go", "");
        let hint = hint.replacen("opal", &format!("'{}'", binary().display()), 1);
        let pasted = opal.started_by(&["sh", "-c", &hint].map(OsStr::new)).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&pasted.stdout), printed, "{hint}: {pasted:?}");
    }
}

#[test]
fn exit_codes_with_a_meaning_have_it_said() {
    let meanings = [
        ("no-such-command-here", 127, "command not found"),
        ("kill -9 $$", 137, "was killed by SIGKILL"),
    ];
    for (run, code, meaning) in meanings {
        let opal = Opal::machine(&format!("fun main() {{\n    sh -c '{run}'\n}}\n"));
        opal.call(&["main"]).code(code).says(meaning);
    }
}

#[test]
fn branches_that_end_are_told_and_what_a_failed_one_printed_is_told_again() {
    let ran = Opal::machine(TASKS).args(["side"]).run();
    ran.code(3).stdout("one\ntwo\nthree\n").says("side.parallel[0]: 3 of 3 ended, 1 failed\n");
    ran.says("  last lines:\n    | two\n");
}

#[test]
fn branches_that_failed_side_by_side_are_all_named_everywhere() {
    let text = "fun main() {\n    @parallel(on_failure=\"wait\") {\n        sh -c 'exit 3'\n        \
                true\n        sh -c 'exit 4'\n    }\n}\n";
    let opal = Opal::machine(text);
    let ran = opal.call_with(&[("GITHUB_ACTIONS", "true")], &["main"]);
    ran.code(3).says("\n  step: main.parallel[0].shell[0]\n");
    let second = "main.parallel[0].shell[2]";
    ran.says(&format!(
        "  also failed: {second}: sh -c 'exit 4': failed with exit code 4 (commands.opl:5)\n"
    ));
    assert_eq!(ran.stderr.matches("::error ").count(), 2, "{ran:#?}");
    opal.call(&["runs", "show"]).code(0).says(&format!("also at {second}, exit 4\n"));
    let shown = opal.call(&["runs", "show", "--json"]).code(0).json();
    let told = opal.call(&["main", "--json"]).code(3).json();
    for also in [&shown["run"]["also_failed"], &told["also_failed"]] {
        assert_eq!((also[0]["path"].as_str(), also[0]["code"].as_i64()), (Some(second), Some(4)));
        assert_eq!(also.as_array().unwrap().len(), 1);
    }
}

#[test]
fn json_is_one_document_and_the_steps_output_goes_to_stderr() {
    let opal = Opal::machine(TASKS);
    let ran = opal.call(&["hello", "--json"]);
    let summary = ran.code(0).json();
    assert_eq!(summary["status"], "executed");
    assert_eq!(summary["target"], "hello");
    assert_eq!(summary["counts"]["done"], 2);
    assert!(ran.stderr.contains("\nhello\n"), "{ran:#?}");
    let ran = opal.call(&["--json", "broken"]);
    let summary = ran.code(7).json();
    assert_eq!(summary["failed"]["path"], "broken.shell[1]");
    assert_eq!(summary["failed"]["decorator"], "@shell");
    assert_eq!(summary["code"], 7);
    assert!(summary["record"].as_str().unwrap().contains(summary["id"].as_str().unwrap()));
}

#[test]
fn events_on_stdout_are_json_lines_and_nothing_else() {
    let ran = Opal::machine(TASKS).args(["hello", "--events", "-"]).run();
    ran.code(0);
    let lines: Vec<serde_json::Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.len() > 4, "{ran:#?}");
}

#[test]
fn in_a_workflow_steps_are_groups_and_the_failure_is_an_annotation() {
    let ran = Opal::machine(TASKS).env("GITHUB_ACTIONS", "true").args(["broken"]).run();
    ran.code(7).says("::group::echo before\n").says("::endgroup::\n");
    ran.says("::error file=commands.opl,line=9,title=broken.shell[1]::a step failed with exit");
    ran.says("  last lines:\n    | why\n");
    assert_eq!(ran.stderr.matches("::group::").count(), ran.stderr.matches("::endgroup::").count());
}

#[test]
fn colours_follow_the_usual_variables() {
    let opal = Opal::machine(TASKS);
    opal.call_with(&[("CLICOLOR_FORCE", "1")], &["hello"]).code(0).says("\x1b[1;32mdone\x1b[0m");
    opal.call(&["--color", "always", "hello"]).code(0).says("\x1b[1;32mdone\x1b[0m");
    let both = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")];
    opal.call_with(&both, &["hello"]).code(0).hides("\x1b");
}

#[test]
fn options_that_make_no_sense_are_usage_errors_before_anything_runs() {
    let opal = Opal::machine("fun hello() = touch ran\n");
    for (line, says) in [
        (&["hello", "--dry-run", "--from", "step:1"][..], "`--from` applies to a run"),
        (&["plan", "hello", "--timings"], "`--timings` applies to a run"),
        (&["hello", "-v", "-q"], "are mutually exclusive"),
        (&["hello", "--resume", "--from", "step:1"], "are mutually exclusive"),
        (&["hello", "--json", "--events", "-"], "both use standard output"),
        (&["hello", "--timeout", "0s"], "must be longer than zero"),
        (&["hello", "-j0"], "at least 1"),
        (&["-j0", "hello"], "at least 1"),
        (&["hello", "--timout", "3s"], "--timeout"),
        (&["hello", "--out", "x"], "`--out` applies to a plan"),
        (&["hello", "--output", "x.plan"], "to write a file, use `-o x.plan`"),
        (&["--output=x", "hello"], "expected one of: prefixed, grouped, folded"),
        (&["plan", "hello", "--output", "x.plan"], "to write a file, use `-o x.plan`"),
        (&["plan", "--output", "x.plan", "hello"], "to write a file, use `-o x.plan`"),
        (&["plan", "hello", "--output", "grouped"], "`--output` applies to a run"),
        (&["convert", "a.yaml", "--output", "a.opl"], "to write a file, use `-o a.opl`"),
    ] {
        opal.call(line).code(2).says(says);
    }
    assert!(!opal.path().join("ran").exists());
}

#[test]
fn a_tasks_own_flags_win() {
    let task = "fun hello(timeout = \"never\", verbose = false) {\n    \
                echo @var.timeout @var.verbose\n}\n";
    let ran = Opal::machine(task).args(["hello", "--timeout", "soon", "--verbose"]).run();
    ran.code(0).stdout("soon true\n").hides("hello.shell[0]");
}

#[test]
fn options_of_a_run_have_help_and_are_completed() {
    let opal = Opal::machine(TASKS);
    for line in [&["hello", "--help"][..], &["run", "--help"]] {
        opal.call(line).code(0).says("Options of a run:").says("-j, --jobs <N>").says("--resume");
    }
    let asked = [
        ("OPAL_COMPLETE", "bash"),
        ("_CLAP_COMPLETE_INDEX", "2"),
        ("_CLAP_COMPLETE_COMP_TYPE", "9"),
        ("_CLAP_IFS", "\n"),
    ];
    opal.call_with(&asked, &["--", "opal", "hello", "--tim"])
        .code(0)
        .stdout("--timeout\n--timings\n");
}

#[test]
fn a_full_disk_behind_stdout_is_told() {
    let opal = Opal::machine(TASKS).args(["hello"]);
    let full = File::options().write(true).open("/dev/full").unwrap();
    let ran = opal.command().stdout(full).output().unwrap();
    assert_eq!(ran.status.code(), Some(74));
    let told = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(told.contains("standard output cannot be written"), "{told}");
}

/// What a terminal of 40 columns gets, and the exit code.
pub(crate) fn on_a_terminal(opal: &Opal) -> (i32, String) {
    let own = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&own).unwrap();
    unlockpt(&own).unwrap();
    let size = Winsize { ws_row: 24, ws_col: 40, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&own, size).unwrap();
    let name = ptsname(&own, Vec::new()).unwrap().into_string().unwrap();
    let open = || Stdio::from(File::options().read(true).write(true).open(&name).unwrap());
    let mut command = opal.command();
    let command = command.stdin(open()).stdout(open()).stderr(open());
    let mut child = command.spawn().unwrap();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut shown = Vec::new();
    // An error is the end: nobody has the other side open any more.
    let _ = File::from(own).read_to_end(&mut shown);
    let code = child.wait().unwrap().code().unwrap_or(-1);
    (code, String::from_utf8_lossy(&shown).into_owned())
}

#[test]
fn a_terminal_gets_colours_and_lines_that_fit() {
    let task =
        "fun hello() {\n    echo a long line of words that does not fit here\n    (exit 4)\n}\n";
    let (code, shown) = on_a_terminal(&Opal::machine(task).args(["hello"]));
    assert_eq!(code, 4, "{shown:?}");
    let cut = "\x1b[1;36m▸\x1b[0m \x1b[1mecho a long line of words that does n…\x1b[0m\r\n";
    assert!(shown.starts_with(cut), "{shown:?}");
    assert!(shown.contains("\r\na long line of words that does not fit here\r\n"), "{shown:?}");
    assert!(
        shown.contains("\x1b[1;31merror\x1b[0m: a step failed with exit code 4\r\n"),
        "{shown:?}"
    );
}

#[test]
fn progress_is_drawn_on_a_terminal_and_nothing_of_it_stays() {
    let (code, shown) = on_a_terminal(&Opal::machine(TASKS).args(["side"]));
    assert_eq!(code, 3, "{shown:?}");
    assert!(shown.contains("side.parallel[0]: "), "{shown:?}");
    let left = screen(&shown);
    assert!(!left.iter().any(|line| line.starts_with("side.parallel[0]: ")), "{left:#?}");
    assert_eq!(left.iter().filter(|line| *line == "sh         │ one").count(), 1, "{left:#?}");
}

#[test]
fn on_a_terminal_two_servers_are_both_seen_while_they_run() {
    // Each goes on only when the other has been seen to print: in turns it would never end.
    let server = |own: &str, other: &str| {
        format!("sh -c 'echo {own} is up; touch {own}; until [ -e {other} ]; do sleep 0.01; done'")
    };
    let task = format!(
        "fun api() = {}\n\nfun web() = {}\n\nfun dev() {{\n    @parallel {{\n        \
         @cmd.api()\n        @cmd.web()\n    }}\n}}\n",
        server("api", "web"),
        server("web", "api"),
    );
    let (code, shown) = on_a_terminal(&Opal::machine(&task).args(["dev", "--timeout", "30s"]));
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("\x1b[36mapi │\x1b[0m api is up\r\n"), "{shown:?}");
    assert!(shown.contains("\x1b[33mweb │\x1b[0m web is up\r\n"), "{shown:?}");
}

#[test]
fn how_branches_are_shown_is_chosen_by_the_flag_then_the_source_then_the_terminal() {
    let task = |output: &str| {
        format!(
            "fun a() {{\n    @parallel{output} {{\n        \
             sh -c 'until [ -e go ]; do sleep 0.01; done; echo one'\n        \
             sh -c 'echo two; touch go'\n    }}\n}}\n"
        )
    };
    let (prefixed, grouped) = (["sh   │ one", "sh 2 │ two"], ["one", "two"]);
    for (output, flag, wanted) in [
        ("", None, grouped),
        ("", Some("prefixed"), prefixed),
        ("(output=\"prefixed\")", None, prefixed),
        ("(output=\"prefixed\")", Some("grouped"), grouped),
        ("(output=\"grouped\")", Some("prefixed"), prefixed),
    ] {
        let opal = Opal::machine(&task(output));
        let flag = flag.map(|flag| format!("--output={flag}"));
        let words: Vec<&str> = std::iter::once("a").chain(flag.as_deref()).collect();
        let ran = opal.call(&words);
        let mut lines: Vec<&str> = ran.code(0).stdout.lines().collect();
        // Of lines in two pipes either may be read first.
        if wanted == prefixed {
            lines.sort_unstable();
        }
        assert_eq!(lines, wanted, "{output} {flag:?}");
        // The record has each step's output as it was, whichever way it was shown.
        opal.call(&["runs", "show", "--logs"]).code(0).hides("│");
    }
    let (_, shown) = on_a_terminal(&Opal::machine(&task("")).args(["a", "--output", "grouped"]));
    assert!(!shown.contains('│') && shown.contains("one\r\n"), "{shown}");
}

#[test]
fn secrets_are_hidden_in_prefixed_lines_however_they_are_split() {
    let task = "var TOKEN = @secret.env.TOKEN\n\nfun a() {\n    @parallel(output=\"prefixed\") {\n        \
                @environ(TOKEN=TOKEN) {\n            \
                sh -c 'printf \"%s\" \"${TOKEN%%45*}\"; sleep 0.05; printf \"45-end\\\\nok\\\\n\"'\n        \
                }\n        sh -c 'echo other'\n    }\n}\n";
    let opal = Opal::machine(task).env("TOKEN", "canary-12345-end");
    let ran = opal.call(&["a"]);
    ran.code(0).hides("canary-123").hides("345-end").says("other");
    opal.call(&["runs", "show", "--logs"]).code(0).hides("canary-123");
}

#[test]
fn a_task_is_named_where_it_changes() {
    let task = "fun build() {\n    echo b\n    echo c\n}\n\nfun all() {\n    echo a\n    \
                @cmd.build()\n    echo d\n}\n\nfun only() {\n    @cmd.build()\n}\n";
    let opal = Opal::machine(task);
    let ran = opal.call(&["all"]);
    let lines = "▸ echo a\nbuild:\n▸ echo b\n▸ echo c\nall:\n▸ echo d\ndone: 4 steps in ";
    assert!(ran.stderr.starts_with(lines), "{ran:#?}");
    assert!(opal.call(&["only"]).stderr.starts_with("build:\n▸ echo b\n"));
    assert!(opal.call(&["build"]).stderr.starts_with("▸ echo b\n"));
}

#[test]
fn a_terminal_that_cannot_move_its_cursor_gets_lines() {
    let (_, shown) = on_a_terminal(&Opal::machine(TASKS).env("TERM", "dumb").args(["side"]));
    assert!(!shown.contains("\x1b[2K") && !shown.contains("\x1b[1A"), "{shown:?}");
}

/// What is left on the lines of a terminal that understands what opal uses.
pub(crate) fn screen(shown: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut row = 0;
    let mut chars = shown.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => {
                row += 1;
                lines.resize(lines.len().max(row + 1), String::new());
            }
            // What follows is the end of the line, or takes it away.
            '\r' => {}
            '\x1b' => {
                let sequence: String =
                    std::iter::from_fn(|| chars.next_if(|c| !c.is_ascii_alphabetic())).collect();
                match (sequence.as_str(), chars.next()) {
                    ("[2", Some('K')) => lines[row].clear(),
                    ("[1", Some('A')) => row -= 1,
                    _ => {}
                }
            }
            c => lines[row].push(c),
        }
    }
    lines
}
