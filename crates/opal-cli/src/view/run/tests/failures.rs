//! Steps that fail.

use opal_core::action::Level;
use opal_core::stream::Stream;
use opal_testing::shown;
use opal_vault::event::{Kind, Status};

use super::play::{PLAIN, Play, QUIET, failed};
use crate::view::run::{Failed, Style};

#[test]
fn a_failure_says_which_step_the_command_and_how_to_go_on() {
    let mut play = Play::new(PLAIN);
    let number = play.start("deploy.shell[1]", "npm test");
    play.print(number, Stream::Stderr, "1 failing\n");
    play.end(number, "deploy.shell[1]", 7, None);
    play.paper.take();
    assert_eq!(
        play.finish(Status::Failed, Some(failed(number, "deploy.shell[1]", 7))),
        "error: a step failed with exit code 7\n  --> a,b:c.opl:7\n  step: deploy.shell[1]\n  command: npm test --token 🔒 opal:v:abc\n      --all\n  help: to continue from there, run `opal deploy --resume`\n  record: /r/run-1\nfailed: 4 steps done, 1 failed in 2.3s\n"
    );
}

#[test]
fn last_lines_are_told_again_where_they_are_out_of_sight() {
    let mut play = Play::new(PLAIN);
    let number = play.start("a", "npm test");
    play.print(number, Stream::Stdout, "\u{1b}[31mnot ok\u{1b}[0m\n::error::mine\n");
    play.end(number, "a", 1, None);
    let other = play.start("b", "rm -r tmp");
    play.print(other, Stream::Stdout, "gone\n");
    play.end(other, "b", 0, None);
    let shown = play.finish(Status::Failed, Some(failed(number, "a", 1)));
    assert!(shown.contains("  last lines:\n    | not ok\n    | ::error::mine\n"), "{shown}");
}

#[test]
fn what_opal_says_about_a_failure_is_told_once() {
    let message = Some("the directory `x` does not exist");
    let mut play = Play::new(PLAIN);
    let number = play.start("a", "true");
    play.end(number, "a", 1, message);
    let help = vec!["make it with `mkdir x`".to_owned()];
    let end = Failed { message: message.map(str::to_owned), help, ..failed(number, "a", 1) };
    let shown = play.finish(Status::Failed, Some(end));
    assert_eq!(shown.matches("the directory").count(), 1, "{shown}");
    assert!(shown.contains("  exit code: 1\n  help: make it"), "{shown}");
    // Where something deals with it, that is the only place to say it.
    let mut play = Play::new(PLAIN);
    let number = play.start("a", "true");
    play.end(number, "a", 1, message);
    play.tell(Kind::Caught { path: "a", code: 1, late: None });
    play.start("b", "false");
    assert_eq!(play.paper.take(), "▸ true\ncaught: the directory `x` does not exist\n▸ false\n");
    // Else the report says it, and where other steps run before that only that it failed.
    let number = play.start("a", "true");
    play.end(number, "a", 1, message);
    play.start("b", "false");
    assert_eq!(play.paper.take(), "▸ true\nfailed: exit code 1\n▸ false\n");
}

#[test]
fn quiet_shows_failures_and_what_steps_print() {
    let mut play = Play::new(QUIET);
    let number = play.start("a", "npm test");
    play.print(number, Stream::Stdout, "42\n");
    play.end(number, "a", 0, None);
    play.tell(Kind::Log { path: "a", level: Level::Warn, message: shown(b"w") });
    assert_eq!(play.finish(Status::Executed, None), ">42\n");
    let shown = play.finish(Status::Failed, Some(failed(number, "a", 127)));
    assert!(
        shown.starts_with("error: a step failed with exit code 127: command not found"),
        "{shown}"
    );
}

#[test]
fn in_a_workflow_steps_are_groups_and_failures_annotations() {
    let mut play = Play::new(Style { github: true, ..PLAIN });
    let first = play.start("a", "echo 100%");
    // Of two that run at once, as in a pipe, only one can have a group.
    let second = play.start("b", "cat");
    play.end(first, "a", 1, None);
    play.end(second, "b", 0, None);
    assert_eq!(play.paper.take(), "::group::echo 100%25\n▸ cat\n::endgroup::\n");
    let shown = play.finish(Status::Failed, Some(failed(first, "a", 1)));
    let annotation = "::error file=a%2Cb%3Ac.opl,line=7,title=a::a step failed with exit code 1\n";
    assert!(shown.contains(annotation), "{shown}");
}
