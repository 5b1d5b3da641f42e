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
        environment: BTreeMap::from([path]).into(),
        start: start.to_owned(),
        home: None,
        terminal: None,
        entries: None,
        pages: None,
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
fn where_the_output_of_a_decorator_cannot_go_its_step_fails() {
    for target in ["no/such/directory", "/dev/full"] {
        let (ran, files) = run(&format!("@print(\"x\") > {target}\necho x > after\n"));
        assert!(ran.failure().starts_with("script.print[0] "), "{}", ran.failure());
        assert!(files.is_empty(), "{files:?}");
    }
}

#[test]
fn a_fifo_that_nobody_reads_does_not_outlive_the_time_of_its_block() {
    let (ran, _) = run("mkfifo fifo\n@timeout(300ms, grace=300ms) { @print(\"x\") > fifo }\n");
    assert!(ran.failure().starts_with("script.timeout[0] 124"), "{}", ran.failure());
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
fn a_directory_that_has_gone_is_not_a_missing_command() {
    let (ran, _) = run("mkdir sub\n@workdir(\"sub\") {\n    rmdir ../sub\n    echo x\n}\n");
    assert!(ran.failure().starts_with("script.workdir[0].shell[1] 1: "), "{}", ran.failure());
    let (ran, _) = run("@shell(\"x\", shell=\"no-such-shell-here\")\n");
    assert!(ran.failure().starts_with("script.shell[0] 127: "), "{}", ran.failure());
}

#[test]
fn a_check_that_does_not_end_fails_the_step_and_nothing_of_it_is_left() {
    let source = "@shell(\"echo a > made\", check=\"sleep 600\", verify_timeout=200ms)\n";
    let (ran, files) = run(source);
    assert_eq!(ran.failure(), "script.shell[0] 1: did not answer within 200ms");
    assert!(files.is_empty());
}

#[test]
fn a_check_runs_where_its_step_is_and_with_its_variables() {
    let source = "mkdir web\ncd web\n@environ(NAME=\"made\") {\n    \
                  @shell(\"touch $NAME\", check=\"test -e $NAME\")\n    \
                  @shell(\"touch x\", check=\"test -e $NAME\")\n}\nls > ../log\n";
    let (ran, files) = run(source);
    ran.ok();
    assert_eq!(files["log"], "made\n");
    assert_eq!(ran.outcome.steps.satisfied, 1);
}
