//! Branches that run side by side, and pauses.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use opal_core::action::Level;
use opal_core::stream::Stream;
use opal_testing::shown;
use opal_vault::event::{Branch, Kind, Status};
use opal_vault::witness::{Audience, Progress, Running};

use super::play::{PLAIN, Play, TERMINAL};
use crate::view::run::Live;
use crate::view::run::waits::Waits;

#[test]
fn branches_side_by_side_have_their_names_before_whole_lines() {
    let branch = |name: &'static str, index| Some(Branch { name: shown(name), index, columns: 3 });
    let mut play = Play::new(PLAIN);
    play.print(9, Stream::Stdout, "open");
    play.branch = branch("api", 0);
    let api = play.start("p.a", "serve");
    play.branch = branch("db", 1);
    let db = play.start("p.b", "postgres");
    play.print(api, Stream::Stdout, "half ");
    play.print(db, Stream::Stderr, "ready\nlast");
    play.print(api, Stream::Stdout, "a line\n");
    play.tell(Kind::Log { path: "p.b", level: Level::Warn, message: shown(b"x\ny") });
    play.end(db, "p.b", 3, None);
    play.end(api, "p.a", 0, None);
    let shown = play.paper.take();
    let wanted = "api │ ▸ serve\ndb  │ ▸ postgres\ndb  │ ready\n>\napi │ half a line\n\
                  db  │ warning: x\ndb  │   y\ndb  │ last\n";
    assert_eq!(shown, format!(">open{wanted}"));
}

#[test]
fn branches_side_by_side_are_only_counted_while_one_waits() {
    let mut play = Play::new(TERMINAL);
    play.branch = Some(Branch { name: shown(b"api"), index: 0, columns: 3 });
    play.start("p.a", "serve");
    assert_eq!(play.paper.take(), "api │ ▸ serve\n");
    progress(&play.live, 0, 0, &["serve"]);
    assert_eq!(play.paper.take(), "a.parallel[0]: 0 o…");
}

fn progress(live: &Live, done: usize, failed: usize, texts: &[&str]) {
    let running: Vec<Running<'_>> =
        texts.iter().map(|text| Running { text: shown(text), since: Instant::now() }).collect();
    live.progress(&Progress {
        path: "a.parallel[0]",
        total: 3,
        done,
        failed,
        is_fleet: false,
        running: &running,
    });
}

#[test]
fn on_a_pipe_each_branch_that_ends_is_told() {
    let play = Play::new(PLAIN);
    progress(&play.live, 0, 0, &["x"]);
    progress(&play.live, 1, 0, &["x"]);
    progress(&play.live, 1, 0, &["y"]);
    progress(&play.live, 2, 1, &[]);
    assert_eq!(
        play.paper.take(),
        "a.parallel[0]: 1 of 3 ended\na.parallel[0]: 2 of 3 ended, 1 failed\n"
    );
}

#[test]
fn many_branches_are_told_by_tenths_and_every_failure() {
    let mut waits = Waits::default();
    let mut told = 0;
    for done in 0..=200 {
        let failed = usize::from(done >= 7);
        let progress =
            Progress { path: "p", total: 200, done, failed, is_fleet: false, running: &[] };
        told += usize::from(waits.progress(&progress).is_some());
    }
    assert_eq!(told, 11);
}

#[test]
fn on_a_terminal_progress_is_drawn_anew_and_gone_before_other_output() {
    let mut play = Play::new(TERMINAL);
    progress(&play.live, 0, 0, &["npm test --all --more", "x"]);
    assert_eq!(play.paper.take(), "a.parallel[0]: 0 o…\n      0s  npm test…\n      0s  x");
    play.print(1, Stream::Stdout, "y\n");
    let erased = "\r\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2K";
    assert_eq!(play.paper.take(), format!("{erased}>y\n"));
    // The end of it all leaves nothing behind.
    play.number = 1;
    let shown = play.finish(Status::Executed, None);
    assert!(shown.ends_with("done: 4 steps in 2.3s\n"), "{shown:?}");
}

#[test]
fn nothing_is_drawn_into_an_unfinished_line_or_beside_a_program_with_the_terminal() {
    let play = Play::new(TERMINAL);
    play.print(1, Stream::Stdout, "Password: ");
    play.paper.take();
    progress(&play.live, 0, 0, &["x"]);
    assert_eq!(play.paper.take(), "");
    let play = Play::new(TERMINAL);
    play.is_raw.store(true, Ordering::SeqCst);
    progress(&play.live, 0, 0, &["x"]);
    assert_eq!(play.paper.take(), "");
}

#[test]
fn a_pause_is_counted_down_and_over_when_it_goes_on() {
    let mut waits = Waits::default();
    let now = Instant::now();
    waits.pause("a.retry[0]", now + Duration::from_millis(1_500));
    assert_eq!(waits.lines(now, false), ["next attempt in 2s"]);
    assert_eq!(waits.lines(now + Duration::from_millis(600), false), ["next attempt in 1s"]);
    assert!(waits.lines(now + Duration::from_secs(2), false).is_empty());
    for other in ["a.retry[0]x", "a.retry[1]", "a", "b.a.retry[0].shell[0]"] {
        waits.goes_on(other);
        assert!(!waits.is_empty(), "{other}");
    }
    waits.goes_on("a.retry[0].shell[0]");
    assert!(waits.is_empty());
}
