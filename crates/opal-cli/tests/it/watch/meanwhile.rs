//! Files that change while a round is prepared or runs. Named pipes hold it at a known point.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;
use std::sync::mpsc::channel;

use rustix::fs::{CWD, Mode, mkfifoat};

use super::{LONG, Watching, project};
use crate::support::Opal;

fn pipe(opal: &Opal, name: &str) {
    mkfifoat(CWD, opal.path().join("home").join(name), Mode::RUSR | Mode::WUSR).unwrap();
}

/// The value of `name` is read once an expensive value is known; then the round is held.
const HELD: &str = "\
fun show() {
    var name = @shell.output(\"NAME\", public=true)
    var found = @file.read(name, public=true)
    var held = @shell.output(\"echo @var.found > home/reached; cat home/gate\", public=true)
    @cached(inputs=[\"src/*.c\"]) { true }
    echo has @var.found @var.held
}
";

/// Waits for a round that has read its file, does something, and lets the round go on.
#[track_caller]
fn meanwhile(opal: &Opal, expected: &str, act: impl FnOnce()) {
    let (reached, gate) = (opal.path().join("home/reached"), opal.path().join("home/gate"));
    assert_eq!(in_time(move || fs::read_to_string(reached).unwrap()).trim_end(), expected);
    act();
    in_time(move || fs::write(gate, "on\n").unwrap());
}

/// Opening a pipe waits for its other end.
#[track_caller]
fn in_time<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> T {
    let (tell, told) = channel();
    std::thread::spawn(move || tell.send(act()));
    told.recv_timeout(LONG).unwrap()
}

#[test]
fn a_file_that_changes_after_the_round_has_read_it_starts_another_round() {
    let opal = project(&HELD.replace("NAME", "echo one")).file("one", "first\n");
    pipe(&opal, "reached");
    pipe(&opal, "gate");
    let mut watching = Watching::begin(&opal, &["watch", "show"]);
    meanwhile(&opal, "first", || opal.write("one", "second\n"));
    watching.until("changed: `one`");
    meanwhile(&opal, "second", || ());
    watching.until("has second").until("watching: ");
    assert_eq!(watching.count("changed: "), 1, "{:#?}", watching.seen);
}

#[test]
fn a_task_that_reads_a_file_of_its_own_in_each_round_comes_to_an_end() {
    let fresh = "f=$(mktemp home/new.XXXXXX); echo mine > $f; echo $f";
    let opal = project(&HELD.replace("NAME", fresh));
    pipe(&opal, "reached");
    pipe(&opal, "gate");
    let mut watching = Watching::begin(&opal, &["watch", "show"]);
    meanwhile(&opal, "mine", || ());
    watching.until("changed: `home/new.");
    meanwhile(&opal, "mine", || ());
    watching.until("has mine").until("watching: ");
    opal.write("src/a.c", "more\n");
    watching.until("changed: `src/a.c`");
    assert_eq!(watching.count("changed: "), 2, "{:#?}", watching.seen);
}

#[test]
fn a_source_that_changes_after_it_was_read_is_read_again() {
    let opal = project("fun all() {\n    echo ran\n}\n");
    let mut command = opal.interruptible();
    command.args(["watch", "--env-file", "/dev/stdin", "all"]).stdin(Stdio::piped());
    let mut watching = Watching::spawn(&mut command);
    let mut variables = watching.child.stdin.take().unwrap();
    // More than a pipe holds: the variables are being read, and the source was read before them.
    let lines = "# a comment\n".repeat(10_000);
    let variables = in_time(move || variables.write_all(lines.as_bytes()).map(|()| variables));
    opal.write("commands.opl", "fun all() {\n    @confirm(\"sure?\")\n    echo asked\n}\n");
    drop(variables.unwrap());
    watching.until("`opal watch` cannot ask").until("watching: ");
}
