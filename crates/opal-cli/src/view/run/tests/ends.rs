//! The last words of a run.

use std::io;
use std::io::Write;
use std::time::Duration;

use opal_core::stream::{Closed, Stream};
use opal_testing::shown;
use opal_vault::event::{Counts, Status};
use opal_vault::witness::Audience;

use super::play::{PLAIN, Play, QUIET, failed};
use crate::view::run::screen::Screen;
use crate::view::run::{Live, Report, Style, summary_json};

#[test]
fn json_has_standard_output_to_itself() {
    let play = Play::new(Style { stdout_is_json: true, ..PLAIN });
    play.print(1, Stream::Stdout, "42\n");
    assert_eq!(play.paper.take(), "42\n");
}

#[test]
fn the_longest_step_is_marked_in_the_table_of_times() {
    let mut play = Play::new(Style { timings: true, ..QUIET });
    for (path, text) in [("a.shell[0]", "npm ci"), ("a.shell[10]", "npm test")] {
        let number = play.start(path, text);
        play.end(number, path, 0, None);
    }
    assert_eq!(
        play.finish(Status::Executed, None),
        "timings:\n     1.2s  a.shell[0]   npm ci\n*    2.4s  a.shell[10]  npm test\n"
    );
}

#[test]
fn a_reader_that_has_gone_away_is_told_and_no_trouble() {
    struct Gone(i32);
    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::from_raw_os_error(self.0))
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let live = |errno: rustix::io::Errno| {
        let out = Box::new(Gone(errno.raw_os_error()));
        Live::on(PLAIN, Screen::new(out, Box::new(io::sink()), None, false))
    };
    let chunk = shown(b"x");
    for (errno, is_trouble) in [
        (rustix::io::Errno::PIPE, false),
        (rustix::io::Errno::IO, false),
        (rustix::io::Errno::NOSPC, true),
    ] {
        let live = live(errno);
        assert_eq!(live.output(1, Stream::Stdout, &chunk), Err(Closed));
        assert_eq!(live.output(1, Stream::Stdout, &chunk), Err(Closed));
        assert_eq!(live.output(1, Stream::Stderr, &chunk), Ok(()));
        assert_eq!(live.trouble().is_some(), is_trouble, "{errno:?}");
    }
}

#[test]
fn the_summary_holds_what_a_program_asks_for() {
    let report = Report {
        status: Status::Failed,
        code: 7,
        took: Duration::from_millis(2_345),
        steps: Counts { done: 1, failed: 1, skipped: 2, ..Counts::default() },
        failed: Some(failed(2, "a.shell[1]", 7)),
        beside: Vec::new(),
        hidden: &[],
        more: 0,
        late: &[],
        resumption: None,
        fleets: &[],
        resume: None,
        is_resume_hidden: false,
        record: None,
    };
    let summary = summary_json(Some("run-1"), "a", &report, None);
    assert_eq!(summary["status"], "failed");
    assert_eq!(summary["code"], 7);
    assert_eq!(summary["counts"]["skipped"], 2);
    assert_eq!(summary["failed"]["path"], "a.shell[1]");
    assert_eq!(summary["took_ms"], 2_345.0);
    assert!(summary["record"].is_null());
}
