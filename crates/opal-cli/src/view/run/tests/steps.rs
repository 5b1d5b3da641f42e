//! Steps and what they print.

use std::sync::atomic::Ordering;
use std::time::Duration;

use opal_core::action::Level;
use opal_core::stream::Stream;
use opal_core::view::visible;
use opal_testing::shown;
use opal_vault::event::{Kind, Status};
use opal_vault::witness::Audience;

use super::play::{PLAIN, Play, TERMINAL, VERBOSE, failed};
use crate::view::run::Failed;

#[test]
fn a_run_is_its_steps_their_output_and_a_last_line() {
    let mut play = Play::new(PLAIN);
    let number = play.start("deploy.shell[0]", "npm ci");
    play.print(number, Stream::Stdout, "added 3\n");
    play.print(number, Stream::Stderr, "careful\n");
    play.end(number, "deploy.shell[0]", 0, None);
    play.start("deploy.shell[1]", "cat <<EOF\nx\nEOF");
    let shown = play.finish(Status::Executed, None);
    assert_eq!(
        shown,
        "▸ npm ci\n>added 3\ncareful\n▸ cat <<EOF (+2 lines)\ndone: 4 steps in 2.3s\n"
    );
}

#[test]
fn output_is_passed_on_byte_for_byte_in_one_write_a_chunk() {
    let play = Play::new(PLAIN);
    let bytes: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    play.live.output(1, Stream::Stdout, &shown(bytes.as_slice())).unwrap();
    let written = play.paper.0.lock().unwrap().clone();
    assert_eq!(written, [b">", bytes.as_slice()].concat());
}

#[test]
fn own_lines_begin_on_a_line_of_their_own() {
    let mut play = Play::new(PLAIN);
    let number = play.start("a", "printf x >&2");
    play.print(number, Stream::Stderr, "x");
    play.start("b", "true");
    assert_eq!(play.paper.take(), "▸ printf x >&2\nx\n▸ true\n");
    // What is open on another file is not ours to close.
    play.print(number, Stream::Stdout, "x");
    play.start("c", "true");
    assert_eq!(play.paper.take(), ">x▸ true\n");
    let mut play = Play::new(TERMINAL);
    play.print(1, Stream::Stdout, "x");
    play.start("c", "true");
    assert_eq!(play.paper.take(), ">x\n▸ true\n");
}

#[test]
fn a_terminal_gets_lines_that_fit_and_a_pipe_whole_ones() {
    let text = "kubectl apply -f deployment.yaml";
    let mut play = Play::new(TERMINAL);
    play.start("a", text);
    assert_eq!(play.paper.take(), "▸ kubectl apply -f …\n");
    let mut play = Play::new(PLAIN);
    play.start("a", text);
    assert_eq!(play.paper.take(), format!("▸ {text}\n"));
}

#[test]
fn nothing_of_our_own_acts_on_a_terminal() {
    let mut play = Play::new(VERBOSE);
    let hostile = "a\u{1b}[2J\u{9b}\r\u{202e}";
    let number = play.start_as("@log", hostile, hostile, false);
    let message = shown(hostile);
    play.tell(Kind::Log { path: hostile, level: Level::Error, message });
    play.end(number, hostile, 1, Some(hostile));
    play.start_as("@retry", hostile, hostile, true);
    play.tell(Kind::Skipped { path: hostile, decorator: "@shell", why: None });
    play.tell(Kind::CleaningUp { why: hostile });
    let failed = Failed { message: Some(hostile.to_owned()), ..failed(number, hostile, 1) };
    let shown = play.finish(Status::Failed, Some(failed));
    let acts = |c: &char| *c != '\n' && visible::character(*c) != *c;
    assert_eq!(shown.chars().find(acts), None, "{shown:?}");
}

#[test]
fn attempts_logs_and_cleaning_up_have_their_lines() {
    let play = Play::new(PLAIN);
    let pause = Duration::from_secs(2);
    play.tell(Kind::Retrying { path: "a.retry[0]", attempt: 1, of: 3, code: 7, pause });
    let message = |text: &'static str| shown(text);
    for (level, text) in [(Level::Debug, "d"), (Level::Info, "i\nj"), (Level::Warn, "w")] {
        play.tell(Kind::Log { path: "a", level, message: message(text) });
    }
    play.tell(Kind::CleaningUp { why: "interrupted" });
    assert_eq!(
        play.paper.take(),
        "attempt 1 of 3 failed with exit code 7; retrying in 2s\ninfo: i\n  j\nwarning: w\nCleaning up… (interrupted)\n"
    );
}

#[test]
fn verbose_shows_blocks_paths_and_times() {
    let mut play = Play::new(VERBOSE);
    play.start_as("@retry", "a.retry[0]", "@retry(attempts=3)", true);
    let number = play.start("a.retry[0].shell[0]", "true");
    play.end(number, "a.retry[0].shell[0]", 0, None);
    play.tell(Kind::Skipped { path: "a.shell[9]", decorator: "@shell", why: None });
    play.tell(Kind::Branches { path: "a.parallel[0]", count: 10, most: 4 });
    assert_eq!(
        play.paper.take(),
        "▾ @retry(attempts=3) a.retry[0]\n▸ true a.retry[0].shell[0]\n  \
         done in 2.4s a.retry[0].shell[0]\nskipped: @shell a.shell[9]\n\
         10 in parallel, at most 4 at a time a.parallel[0]\n"
    );
}

#[test]
fn in_raw_mode_lines_go_back_to_their_beginning() {
    let mut play = Play::new(TERMINAL);
    play.is_raw.store(true, Ordering::SeqCst);
    play.start("a", "true");
    assert_eq!(play.paper.take(), "▸ true\r\n");
}
