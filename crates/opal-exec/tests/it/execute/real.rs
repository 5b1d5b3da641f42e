//! With real shells, where no log can stand for one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use opal_session::{LocalSession, Setup};

use opal_testing::planning::Project;
use opal_testing::running::{Ran, Running};

fn session(start: &Path) -> LocalSession {
    let path = ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into());
    LocalSession::new(Setup {
        environment: BTreeMap::from([path]),
        start: start.to_owned(),
        home: None,
        terminal: None,
        marker: format!("run-test-{}", start.display()),
    })
}

/// Runs a source in an empty directory, and gives what the files in it hold.
fn run(source: &str) -> (Ran, BTreeMap<String, String>) {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path());
    let ran = Running::on(Project::new(source), &session, folder.path()).run();
    let files = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.is_file()).map(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, fs::read_to_string(path).unwrap_or_default())
    });
    (ran, files.collect())
}

const TALK: &str = "fun talk() {\n    echo out; echo err >&2\n    echo more; echo worse >&2\n}\n";

#[test]
fn a_call_is_redirected_as_the_shell_would_do_it() {
    for (redirect, file, shown) in [
        ("> log", "out\nmore\n", "err\nworse\n"),
        ("2> log", "err\nworse\n", "out\nmore\n"),
        ("> log 2>/dev/null", "out\nmore\n", ""),
        ("2>&1 > log", "out\nmore\n", "err\nworse\n"),
        (">| \"$(echo log)\"", "out\nmore\n", "err\nworse\n"),
    ] {
        let (ran, files) = run(&format!("{TALK}@cmd.talk() {redirect}\n"));
        ran.ok();
        assert_eq!(files["log"], file, "{redirect}");
        assert_eq!(ran.output().concat(), shown, "{redirect}");
    }
    let (ran, files) = run(&format!("{TALK}@cmd.talk() > log 2>&1\n"));
    ran.ok();
    let mut lines: Vec<_> = files["log"].lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["err", "more", "out", "worse"]);
    assert!(ran.output().is_empty());
}

#[test]
fn a_call_adds_to_a_file_and_reads_from_one() {
    let source = "fun add() {\n    echo one\n    echo two\n}\nfun shout() { tr a-z A-Z }\n\
                  @cmd.add() > log\n@cmd.add() >> log\n@cmd.shout() < log > loud\n";
    let (ran, files) = run(source);
    ran.ok();
    assert_eq!(files["log"], "one\ntwo\none\ntwo\n");
    assert_eq!(files["loud"], "ONE\nTWO\nONE\nTWO\n");
}

#[test]
fn a_redirection_that_cannot_be_made_keeps_its_call_from_running() {
    let (ran, files) = run("fun f() { touch ran }\n@cmd.f() > no/such/directory\necho x > after\n");
    assert!(ran.failure().starts_with("script.f[0] "), "{}", ran.failure());
    assert!(files.is_empty(), "{files:?}");
}

#[test]
fn what_fails_in_a_redirected_call_fails_it() {
    let (ran, files) = run("fun f() { echo half; exit 3 }\n@cmd.f() > log\n");
    assert_eq!(ran.failure(), "script.f[0].shell[0] 3");
    assert_eq!(files["log"], "half\n");
}

#[test]
fn a_filter_may_be_redirected_by_the_shell() {
    let source = "let.s = @shell(\"echo secret-0123456\")\n\
                  echo @let.s | @to.display() > clean\necho @let.s > raw\n";
    let (ran, files) = run(source);
    ran.ok();
    assert_eq!(files["raw"], "secret-0123456\n");
    assert!(files["clean"].starts_with("🔒 opal:h:"), "{files:?}");
}

#[test]
fn pipes_blocks_and_files_work_together() {
    let source = "mkdir web\ncd web\nfun lines() { printf 'b\\na\\n' }\n\
                  @cmd.lines() | sort > @file.write(\"sorted\")\n\
                  cat < @file.read(\"../in\") | tr a-z A-Z\ncat sorted\n";
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in"), "raw\n").unwrap();
    let session = session(folder.path());
    let project = Project::new(source).world(|world| world.file("../in", "x"));
    let ran = Running::on(project, &session, folder.path()).run();
    ran.ok();
    assert_eq!(ran.output().concat(), "RAW\na\nb\n");
}

#[test]
fn cd_with_a_dash_goes_back_within_its_block() {
    let source = "mkdir web api\ncd web\ncd ../api > @file.write(\"log\")\ncd -\n{\n    cd -\n\
                  \n    @workdir(\"..\") { cd - 2>/dev/null || echo nowhere }\n}\necho ${PWD##*/}\n";
    let (ran, _) = run(source);
    ran.ok();
    let output = ran.output().concat();
    let places: Vec<&str> = output.lines().filter_map(|it| it.rsplit('/').next()).collect();
    assert_eq!(places, ["web", "api", "nowhere", "web"]);
}

#[test]
fn exit_codes_and_signals_are_passed_on() {
    for (line, code) in [("exit 42", 42), ("kill -9 $$", 137), ("no-such-command-here", 127)] {
        let (ran, _) = run(&format!("{line}\n"));
        assert!(ran.failure().starts_with(&format!("script.shell[0] {code}")), "{line}");
    }
}

#[test]
fn a_directory_that_has_gone_is_no_missing_command() {
    let (ran, _) = run("mkdir sub\n@workdir(\"sub\") {\n    rmdir ../sub\n    echo x\n}\n");
    assert!(ran.failure().starts_with("script.workdir[0].shell[1] 1: "), "{}", ran.failure());
    let (ran, _) = run("@shell(\"x\", shell=\"no-such-shell-here\")\n");
    assert!(ran.failure().starts_with("script.shell[0] 127: "), "{}", ran.failure());
}

#[test]
fn a_redirection_that_nobody_takes_ends_with_the_time_of_its_block() {
    for redirect in ["> fifo", "2> fifo", "< fifo"] {
        let source = format!(
            "mkfifo fifo\nfun f() {{ touch ran }}\n@timeout(300ms, grace=300ms) {{ @cmd.f() {redirect} }}\n"
        );
        let (ran, files) = run(&source);
        assert!(ran.failure().starts_with("script.timeout[0] 124"), "{}", ran.failure());
        assert!(!files.contains_key("ran"), "{redirect}");
    }
}

#[test]
fn what_is_printed_into_a_redirection_that_is_stuck_does_not_outlive_its_block() {
    let source = "mkfifo fifo\nsleep 600 < fifo & echo $! > pid\nfun f() { yes }\n\
                  @timeout(500ms, grace=300ms) { @cmd.f() > fifo }\n";
    let (ran, files) = run(source);
    assert!(ran.failure().starts_with("script.timeout[0] 124"), "{}", ran.failure());
    run(&format!("kill {}", files["pid"])).0.ok();
}

#[test]
fn what_a_redirected_call_leaves_in_the_background_is_not_waited_for_and_goes_on() {
    let source = "fun serve() {\n    echo begun\n    (sleep 0.7; echo late; echo $? > went) &\n}\n\
                  @cmd.serve() > log\ncat log\n\
                  [ ! -e went ]; while ! [ -s went ]; do sleep 0.02; done; sleep 0.1; cat log\n";
    let (ran, files) = run(source);
    ran.ok();
    assert_eq!(ran.output().concat(), "begun\nbegun\nlate\n");
    assert_eq!(files["went"], "0\n");
}

#[test]
fn what_cannot_be_copied_to_its_place_fails_the_call_and_holds_it_up_no_longer() {
    if Path::new("/dev/full").exists() {
        let (ran, _) = run("fun f() { seq 1 100000 }\n@cmd.f() > /dev/full\n");
        assert!(ran.failure().starts_with("script.f[0]"), "{}", ran.failure());
    }
}

#[test]
fn a_check_that_does_not_end_fails_the_step_and_nothing_of_it_is_left() {
    let source = "@shell(\"echo a > made\", check=\"sleep 600\", verify_timeout=200ms)\n";
    let (ran, files) = run(source);
    assert_eq!(ran.failure(), "script.shell[0] 1: did not answer within 200ms");
    assert!(files.is_empty());
}

#[test]
fn a_check_runs_where_its_step_stands_and_with_its_variables() {
    let source = "mkdir web\ncd web\n@environ(NAME=\"made\") {\n    \
                  @shell(\"touch $NAME\", check=\"test -e $NAME\")\n    \
                  @shell(\"touch x\", check=\"test -e $NAME\")\n}\nls > ../log\n";
    let (ran, files) = run(source);
    ran.ok();
    assert_eq!(files["log"], "made\n");
    assert_eq!(ran.outcome.steps.satisfied, 1);
}
