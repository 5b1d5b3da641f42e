//! Events in, bytes out.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use opal_core::action::Level;
use opal_core::view::visible;
use opal_testing::shown;
use opal_vault::event::{Branch, Counts, End, Finished, Kind, Started, Status};
use opal_vault::witness::Running;

use super::waits::Waits;
use super::*;

/// What was written, in order: `>` before what went to standard output.
#[derive(Clone, Debug, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

struct Pen(Paper, &'static str);

impl Write for Pen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut paper = self.0.0.lock().unwrap();
        paper.extend(self.1.as_bytes());
        paper.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Paper {
    fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut self.0.lock().unwrap())).unwrap()
    }
}

const PLAIN: Look = Look {
    talk: Talk::Usual,
    timings: false,
    colour: false,
    stdout_is_json: false,
    stdout_is_terminal: false,
    stderr_is_terminal: false,
    github: false,
    counts_branches: true,
};
const VERBOSE: Look = Look { talk: Talk::Verbose, ..PLAIN };
const QUIET: Look = Look { talk: Talk::Quiet, ..PLAIN };
const TERMINAL: Look = Look { stdout_is_terminal: true, stderr_is_terminal: true, ..PLAIN };

/// A run that is acted, not run.
struct Play {
    live: Live,
    paper: Paper,
    number: u64,
    is_raw: Arc<AtomicBool>,
    branch: Option<Branch>,
}

/// A terminal of 20 columns.
struct Narrow(Arc<AtomicBool>);

impl Terminal for Narrow {
    fn columns(&self) -> usize {
        20
    }

    fn is_raw(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

impl Play {
    fn new(look: Look) -> Self {
        let paper = Paper::default();
        let out = Box::new(Pen(paper.clone(), ">"));
        let err = Box::new(Pen(paper.clone(), ""));
        let is_raw = Arc::new(AtomicBool::new(false));
        let terminal = || Box::new(Narrow(is_raw.clone())) as Box<dyn Terminal>;
        let terminal = look.stderr_is_terminal.then(terminal);
        let shared = look.stdout_is_terminal && look.stderr_is_terminal;
        let live = Live::on(look, Screen::new(out, err, terminal, shared));
        Self { live, paper, number: 0, is_raw, branch: None }
    }

    fn tell(&self, kind: Kind<'_>) {
        self.live.event(&Event { at: SystemTime::now(), kind });
    }

    fn start_as(&mut self, decorator: &str, path: &str, text: &str, is_block: bool) -> u64 {
        self.number += 1;
        let text = shown(text);
        let (number, attempt) = (self.number, 1);
        let branch = self.branch.clone();
        self.tell(Kind::Started(Started {
            number,
            path,
            decorator,
            attempt,
            text,
            is_block,
            branch,
        }));
        number
    }

    fn start(&mut self, path: &str, text: &str) -> u64 {
        self.start_as("@shell", path, text, false)
    }

    fn print(&self, number: u64, stream: Stream, text: &str) {
        self.live.output(number, stream, &shown(text)).unwrap();
    }

    fn end(&self, number: u64, path: &str, code: i32, message: Option<&str>) {
        self.tell(Kind::Finished(Finished {
            number,
            path,
            decorator: "@shell",
            attempt: 1,
            took: Duration::from_millis(number * 1_200),
            code,
            end: if code == 0 { End::Done } else { End::Failed },
            is_block: false,
            message: message.map(shown),
        }));
    }

    fn finish(&self, status: Status, failed: Option<Failed<'_>>) -> String {
        self.live.finish(&Report {
            status,
            code: failed.as_ref().map_or(0, |failed| failed.code),
            took: Duration::from_millis(2_345),
            steps: Counts { done: 4, failed: failed.iter().count() as u64, ..Counts::default() },
            resume: failed.is_some().then_some("opal deploy --resume"),
            is_resume_hidden: false,
            failed,
            beside: Vec::new(),
            hidden: &[],
            more: 0,
            late: &[],
            record: Some(Path::new("/r/run-1")),
        });
        self.paper.take()
    }
}

fn failed(number: u64, path: &str, code: i32) -> Failed<'_> {
    Failed {
        number: Some(number),
        id: None,
        path,
        decorator: "@shell",
        code,
        text: "npm test --token 🔒 opal:v:abc\n  --all".to_owned(),
        message: None,
        help: Vec::new(),
        place: Some(("a,b:c.opl", 7)),
    }
}

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
fn a_failure_says_which_step_the_command_and_how_to_go_on() {
    let mut play = Play::new(PLAIN);
    let number = play.start("deploy.shell[1]", "npm test");
    play.print(number, Stream::Stderr, "1 failing\n");
    play.end(number, "deploy.shell[1]", 7, None);
    play.paper.take();
    assert_eq!(
        play.finish(Status::Failed, Some(failed(number, "deploy.shell[1]", 7))),
        "error: a step failed with exit code 7\n  \
         --> a,b:c.opl:7\n  \
         step: deploy.shell[1]\n  \
         command: npm test --token 🔒 opal:v:abc\n      --all\n  \
         help: to go on from there, run `opal deploy --resume`\n  \
         record: /r/run-1\n\
         failed: 4 steps done, 1 failed in 2.3s\n"
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
    let message = Some("the directory `x` is not there");
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
    play.tell(Kind::Caught { path: "a", code: 1 });
    play.start("b", "false");
    assert_eq!(play.paper.take(), "▸ true\ncaught: the directory `x` is not there\n▸ false\n");
    // Else the report says it, and where other steps run before that only that it failed.
    let number = play.start("a", "true");
    play.end(number, "a", 1, message);
    play.start("b", "false");
    assert_eq!(play.paper.take(), "▸ true\nfailed: exit code 1\n▸ false\n");
}

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
        "attempt 1 of 3 failed with exit code 7; again in 2s\ninfo: i\n  j\nwarning: w\n\
         Cleaning up… (interrupted)\n"
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
         10 side by side, at most 4 at a time a.parallel[0]\n"
    );
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
fn json_has_standard_output_to_itself() {
    let play = Play::new(Look { stdout_is_json: true, ..PLAIN });
    play.print(1, Stream::Stdout, "42\n");
    assert_eq!(play.paper.take(), "42\n");
}

#[test]
fn the_longest_step_is_marked_in_the_table_of_times() {
    let mut play = Play::new(Look { timings: true, ..QUIET });
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
fn in_a_workflow_steps_are_groups_and_failures_annotations() {
    let mut play = Play::new(Look { github: true, ..PLAIN });
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

#[test]
fn in_raw_mode_lines_go_back_to_their_beginning() {
    let mut play = Play::new(TERMINAL);
    play.is_raw.store(true, Ordering::SeqCst);
    play.start("a", "true");
    assert_eq!(play.paper.take(), "▸ true\r\n");
}

fn progress(live: &Live, done: usize, failed: usize, texts: &[&str]) {
    let running: Vec<Running<'_>> =
        texts.iter().map(|text| Running { text: shown(text), since: Instant::now() }).collect();
    live.progress(&Progress { path: "a.parallel[0]", total: 3, done, failed, running: &running });
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
        let progress = Progress { path: "p", total: 200, done, failed, running: &[] };
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
    assert_eq!(waits.lines(now, false), ["the next attempt is in 2s"]);
    assert_eq!(waits.lines(now + Duration::from_millis(600), false), ["the next attempt is in 1s"]);
    assert!(waits.lines(now + Duration::from_secs(2), false).is_empty());
    for other in ["a.retry[0]x", "a.retry[1]", "a", "b.a.retry[0].shell[0]"] {
        waits.goes_on(other);
        assert!(!waits.is_empty(), "{other}");
    }
    waits.goes_on("a.retry[0].shell[0]");
    assert!(waits.is_empty());
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
