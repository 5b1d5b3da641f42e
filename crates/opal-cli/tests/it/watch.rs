//! `opal watch`: real files, and no waiting but for what it prints.

mod limits;
mod meanwhile;
mod reads;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::Opal;

/// Far longer than anything takes.
const LONG: Duration = Duration::from_secs(40);

const BUILD: &str = "\
fun build() {
    @cached(inputs=[\"src/**\"], outputs=[\"src/out\"]) {
        cat src/a.c > src/out
        echo built
    }
}

fun all() {
    echo ran
}
";

fn project(text: &str) -> Opal {
    let opal = Opal::machine(text).file("src/a.c", "a\n").file("src/b.c", "b\n");
    let opal = opal.file(".gitignore", "/home\n/src/out\n");
    fs::create_dir(opal.path().join(".git")).unwrap();
    opal
}

/// A watch that goes on, and all that it has printed.
struct Watching {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

/// A file that was written in the tick before the watch begins may have changed after it was read, and
/// counts as changed: the project of a test is older.
fn pass_a_tick() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let written = || {
        fs::write(file.path(), "x").unwrap();
        file.path().metadata().unwrap().modified().unwrap()
    };
    let first = written();
    while written().duration_since(first).unwrap_or_default() < Duration::from_millis(20) {}
}

impl Watching {
    fn begin(opal: &Opal, words: &[&str]) -> Self {
        pass_a_tick();
        Self::spawn(opal.interruptible().args(words))
    }

    fn spawn(command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let (tell, lines) = channel();
        pass_on(child.stdout.take().unwrap(), tell.clone());
        pass_on(child.stderr.take().unwrap(), tell);
        Self { child, lines, seen: Vec::new() }
    }

    /// Reads on to a line that holds `text`.
    #[track_caller]
    fn until(&mut self, text: &str) -> &mut Self {
        loop {
            match self.lines.recv_timeout(LONG) {
                Ok(line) => {
                    let is_it = line.contains(text);
                    self.seen.push(line);
                    if is_it {
                        return self;
                    }
                }
                Err(error) => panic!("{text:?}: {error} after {:#?}", self.seen),
            }
        }
    }

    fn count(&self, text: &str) -> usize {
        self.seen.iter().filter(|line| line.contains(text)).count()
    }

    /// Ends it with a signal, and reads the rest.
    #[track_caller]
    fn end(&mut self, signal: Signal) -> i32 {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        self.code()
    }

    #[track_caller]
    fn code(&mut self) -> i32 {
        while let Ok(line) = self.lines.recv_timeout(LONG) {
            self.seen.push(line);
        }
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn pass_on(from: impl Read + Send + 'static, tell: Sender<String>) {
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines() {
            let Ok(line) = line else { return };
            if tell.send(line).is_err() {
                return;
            }
        }
    });
}

#[test]
fn a_changed_file_starts_a_round_and_a_changed_time_does_not() {
    let opal = project(BUILD);
    let mut watching = Watching::begin(&opal, &["watch", "all"]);
    watching.until("ran").until("watching: ");
    opal.write("src/a.c", "a\n");
    opal.write("home/ignored", "x\n");
    opal.write("src/b.c", "other\n");
    watching.until("changed: `src/b.c`").until("ran").until("watching: ");
    fs::create_dir_all(opal.path().join("new/deep")).unwrap();
    opal.write("new/deep/x", "1\n");
    watching.until("changed: `new/deep/x`").until("watching: ");
    opal.write("new/deep/x", "2\n");
    watching.until("changed: `new/deep/x`").until("ran").until("watching: ");
    fs::remove_file(opal.path().join("src/b.c")).unwrap();
    watching.until("changed: `src/b.c`").until("ran").until("watching: ");
    assert_eq!(watching.end(Signal::INT), 130);
    assert_eq!(watching.count("src/a.c"), 0, "{:#?}", watching.seen);
    assert_eq!(watching.count("ignored"), 0, "{:#?}", watching.seen);
}

#[test]
fn with_cached_blocks_their_inputs_count_and_their_outputs_do_not() {
    let opal = project(BUILD);
    opal.write(".gitignore", "/home\n");
    // An output among the inputs would be blocked.
    opal.write("commands.opl", BUILD.replace("src/**", "src/*.c"));
    let mut watching = Watching::begin(&opal, &["watch", "build"]);
    watching.until("built").until("watching: ");
    opal.write("other.txt", "not an input\n");
    opal.write("src/out", "changed\n");
    opal.write("src/a.c", "more\n");
    watching.until("changed: `src/a.c`").until("built").until("watching: ");
    assert_eq!(opal.read("src/out"), "more\n");
    opal.write(
        "commands.opl",
        BUILD.replace("src/**", "src/*.c").replace("echo built", "echo new"),
    );
    watching.until("changed: `commands.opl`").until("new").until("watching: ");
    assert_eq!(watching.count("other.txt") + watching.count("changed: `src/out`"), 0);
}

#[test]
fn errors_are_shown_and_the_loop_goes_on() {
    let opal = project(BUILD);
    let mut watching = Watching::begin(&opal, &["watch", "all"]);
    watching.until("watching: ");
    opal.write("commands.opl", "fun all( {\n");
    watching.until("error[").until("watching: ");
    opal.write("commands.opl", "fun all() {\n    exit 3\n}\n");
    watching.until("exit code 3").until("watching: ");
    opal.write("commands.opl", "fun other() {\n    true\n}\n");
    watching.until("unknown task").until("watching: ");
    opal.write("commands.opl", BUILD);
    watching.until("ran").until("watching: ");
    opal.write("commands.opl", "fun all() {\n    @confirm(\"sure?\")\n    echo asked\n}\n");
    watching.until("`opal watch` cannot ask").until("watching: ");
    opal.write("commands.opl", BUILD);
    watching.until("ran");
    assert_eq!(watching.count("asked"), 0);
}

/// A round that ends only when somebody lets it.
const SLOW: &str = "\
fun slow() {
    try {
        echo started
        ( while ! test -e home/go; do sleep 0.01; done )
        echo finished
    } finally {
        echo cleaned
    }
}
";

#[test]
fn a_change_stops_the_round_which_cleans_up() {
    let opal = project(SLOW);
    let mut watching = Watching::begin(&opal, &["watch", "slow"]);
    watching.until("started");
    opal.write("src/a.c", "other\n");
    watching.until("Cleaning up").until("cleaned").until("changed: `src/a.c`").until("started");
    opal.write("home/go", "");
    watching.until("finished").until("watching: ");
    assert_eq!(watching.end(Signal::INT), 130);
    assert_eq!(watching.count("finished"), 2, "the step and its output: {:#?}", watching.seen);
}

#[test]
fn a_queued_change_waits_for_the_end_of_the_round() {
    let opal = project(SLOW);
    let mut watching = Watching::begin(&opal, &["watch", "--queue", "slow"]);
    watching.until("started");
    opal.write("src/a.c", "other\n");
    opal.write("home/go", "");
    watching.until("finished").until("changed: `src/a.c`").until("finished").until("watching: ");
    assert_eq!(watching.count("Cleaning up"), 0, "{:#?}", watching.seen);
}

#[test]
fn a_signal_ends_the_round_and_the_loop_in_good_order() {
    let opal = project(SLOW);
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut watching = Watching::begin(&opal, &["watch", "slow"]);
        watching.until("started");
        assert_eq!(watching.end(signal), code, "{:#?}", watching.seen);
        assert!(watching.count("cleaned") > 0, "{:#?}", watching.seen);
    }
}

#[test]
fn files_that_alternate_by_the_task_itself_pause_the_loop_and_are_named() {
    let text = "\
fun flip() {
    ( if test -e one; then mv one two; else mv two one; fi )
}
";
    let opal = project(text).file("one", "1\n");
    let mut watching = Watching::begin(&opal, &["watch", "flip"]);
    watching.until("paused: ").until("another change continues");
    let paused = watching.seen.iter().find(|line| line.contains("paused: ")).unwrap();
    assert!(paused.contains("`one`, `two`"), "{paused}");
    assert_eq!(watching.count("changed: "), 10, "{:#?}", watching.seen);
    opal.write("src/a.c", "by somebody else\n");
    watching.until("changed: `src/a.c`").until("paused: ");
}

#[test]
fn what_needs_a_contract_or_an_answer_is_not_watched() {
    let opal = project("fun a() {\n    @confirm(\"sure?\")\n    echo sure\n}\n");
    opal.call(&["watch", "a"]).code(2).says("cannot ask").says("--yes");
    let mut watching = Watching::begin(&opal, &["watch", "--yes", "a"]);
    watching.until("sure").until("watching: ");
    drop(watching);
    opal.call(&["plan", "a", "-o", "c.plan"]).code(0);
    opal.call(&["watch", "c.plan"]).code(2).says("opal run --plan c.plan");
    opal.call(&["watch", "--plan", "c.plan"]).code(2);
    opal.call(&["watch"]).code(2);
    opal.call(&["watch", "--yes", "a", "--from", "step:1"]).code(2).says("--from");
    opal.call(&["watch", "--yes", "a", "--dry-run"]).code(2).says("--dry-run");
    opal.write("opal.mod", "name = \"x\"\n\n[policy]\ndirect = \"refuse\"\n");
    opal.call(&["watch", "--yes", "a"]).code(77).says("requires a contract").says("opal plan -o");
    assert!(!opal.call(&["watch", "--yes", "a"]).stdout.contains("sure"));
}

#[test]
fn every_round_has_a_record_that_is_counted_apart() {
    let opal = project(BUILD);
    opal.call(&["all"]).code(0);
    let mut watching = Watching::begin(&opal, &["watch", "all", "-q"]);
    watching.until("watching: ");
    opal.write("src/a.c", "other\n");
    watching.until("changed: ").until("watching: ");
    assert_eq!(watching.end(Signal::INT), 130);
    let listed = opal.call(&["runs", "list", "--json"]).code(0).json();
    assert_eq!(listed["runs"].as_array().unwrap().len(), 3, "{listed:#}");
    let folder = opal.path().join("home/.opal/logs/run/all");
    let runs = fs::read_dir(folder).unwrap().map(|run| run.unwrap().path());
    assert_eq!(runs.filter(|run| run.join("round").exists()).count(), 2);
    opal.call(&["runs", "prune", "--keep", "1"]).code(0);
    let left = opal.call(&["runs", "list", "--json"]).code(0).json();
    assert_eq!(left["runs"].as_array().unwrap().len(), 2, "a run and a round: {left:#}");
}

#[test]
fn a_task_of_this_name_goes_first() {
    let opal = project("fun watch() {\n    echo mine\n}\n");
    opal.call(&["watch"]).code(0).stdout("mine\n");
    let mut watching = Watching::begin(&opal, &["self", "watch", "watch"]);
    watching.until("mine").until("watching: ");
    assert_eq!(watching.end(Signal::INT), 130);
}
