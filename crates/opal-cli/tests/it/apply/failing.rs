//! Applies that cannot come to their end.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::leftovers::written;
use crate::needs;
use crate::support::{Opal, Ran, binary};
use opal_testing::processes::{eventually, is_running, signal, unique};

#[test]
fn two_resources_with_one_key_are_an_error_that_names_both() {
    let text = "version: 1\nsteps:\n\
                \x20 - {id: one, type: directory, path: x, mode: \"0755\"}\n\
                \x20 - {id: two, type: directory, path: ./x, mode: \"0700\"}\n";
    let opal = Opal::machine("").file("a.yaml", text);
    for verb in ["verify", "apply"] {
        let ran = opal.call(&[verb, "a.yaml"]);
        ran.code(2).says("a.yaml:4:").says("the other description").says("directory:x");
        ran.says("`one` and `two` describe");
    }
    opal.write("a.yaml", text.replace("\"0700\"", "\"0755\""));
    opal.call(&["apply", "a.yaml"]).code(0);
}

#[test]
fn a_blocked_step_fails_with_its_reason_and_what_depends_on_it_does_not_run() {
    let text = "version: 1\nSETTINGSsteps:\n\
                \x20 - {id: bad, type: copy, source: gone, destination: bad}\n\
                \x20 - {id: after, type: directory, path: after, depends_on: [bad]}\n\
                \x20 - {id: other, type: directory, path: other}\n";
    let opal = Opal::machine("").file("a.yaml", text.replace("SETTINGS", ""));
    let ran = opal.call(&["apply", "a.yaml"]);
    ran.code(1).says("gone").says("opal apply a.yaml --resume");
    assert!(!opal.path().join("after").exists());
    opal.write("a.yaml", text.replace("SETTINGS", "settings: {continue_on_error: true}\n"));
    let ran = opal.call(&["apply", "a.yaml"]);
    ran.code(1).says("dependencies not satisfied: bad (failed)");
    assert!(opal.path().join("other").is_dir());
    assert!(!opal.path().join("after").exists());
    opal.write("gone", "x\n");
    opal.call(&["apply", "a.yaml"]).code(0);
    opal.call(&["verify", "a.yaml"]).code(0);
}

#[test]
fn a_validation_that_does_not_hold_says_what_was_expected() {
    let text = "version: 1\nsteps:\n  - {id: a, type: directory, path: x}\nvalidations:\n  \
                - {type: file_exists, path: x/missing}\n";
    let opal = Opal::machine("").file("a.yaml", text);
    let ran = opal.call(&["apply", "a.yaml"]);
    ran.code(1).says("`x/missing` does not exist").says("failed: 1 step done");
    opal.write("x/missing", "");
    opal.call(&["apply", "a.yaml"]).code(0);
}

#[test]
fn a_command_that_does_not_bring_about_what_its_check_asks_for_has_failed() {
    let text =
        "version: 1\nsteps:\n  - {id: a, type: command, command: \"true\", check: test -e x}\n";
    let opal = Opal::machine("").file("a.yaml", text);
    opal.call(&["apply", "a.yaml"]).code(1).says("verification still reports missing");
}

#[test]
fn a_signal_ends_an_apply_and_a_second_one_goes_on() {
    let opal = Opal::machine("");
    let word = unique(&opal.path());
    let text = format!(
        "version: 1\nsettings: {{parallel: 1}}\nsteps:\n  - {{id: a, type: directory, path: x}}\n  \
         - id: b\n    type: command\n    check: test -e done\n    depends_on: [a]\n    command: |\n      \
         python3 -c 'import time; time.sleep(600)' {word}\n"
    );
    opal.write("a.yaml", text);
    let child = opal.interruptible().args(["apply", "a.yaml"]).spawn().unwrap();
    eventually("the command begins", || is_running(&word));
    signal(&child, "INT");
    Ran::from(child.wait_with_output().unwrap()).code(130).says("interrupted: 1 step done");
    eventually("everything has ended", || !is_running(&word));
    opal.write("done", "");
    opal.call(&["apply", "a.yaml"]).code(0).says("done: 2 steps, 2 already satisfied");
}

fn names(directory: &Path) -> Vec<OsString> {
    let entries = std::fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name()).collect()
}

#[expect(clippy::disallowed_methods, reason = "a disk is made full by the program that makes one")]
#[test]
fn a_full_disk_leaves_what_was_there() {
    let text = "version: 1\nsteps:\n  - {id: a, type: copy, source: big, destination: disk/f, overwrite: true}\n";
    let opal = Opal::machine("").file("a.yaml", text).file("big", vec![b'x'; 600_000]);
    let disk = opal.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mut mount = std::process::Command::new("mount");
    let mount = mount.args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"]).arg(&disk).output();
    if !needs::has("a disk to mount", mount.is_ok_and(|it| it.status.success())) {
        return;
    }
    std::fs::write(disk.join("f"), "before\n").unwrap();
    let ran = opal.call(&["apply", "a.yaml"]);
    let names = names(&disk);
    let content = std::fs::read_to_string(disk.join("f")).unwrap();
    let mut unmount = std::process::Command::new("umount");
    unmount.arg(&disk).status().unwrap();
    ran.code(1).says("disk/f");
    assert_eq!(names, ["f"], "{ran:#?}");
    assert_eq!(content, "before\n");
}

#[test]
fn a_write_that_is_cut_short_leaves_what_was_there() {
    let text = "version: 1\nsteps:\n  - {id: a, type: copy, source: big, destination: d/f, overwrite: true}\n";
    let opal = Opal::machine("").file("a.yaml", text).file("big", "x\n".repeat(300_000));
    let opal = opal.file("d/f", "before\n");
    // The system ends whoever writes beyond the limit, unless it does not listen.
    let limited = "trap '' XFSZ; ulimit -f 256; exec \"$@\"";
    let words = ["sh", "-c", limited, "sh"].map(OsStr::new);
    let mut command = opal.started_by(&[&words[..], &[binary().as_os_str()]].concat());
    let ran = Ran::from(command.args(["apply", "a.yaml", "--no-record"]).output().unwrap());
    ran.code(1).says("d/f").says("cannot be written: file too large");
    assert_eq!(names(&opal.path().join("d")), ["f"]);
    assert_eq!(opal.bytes("d/f"), b"before\n");
}

#[test]
fn ctrl_c_in_the_middle_of_a_large_copy_leaves_what_was_there() {
    let opal = Opal::machine("fun main() {\n    @file.copy(\"big\", \"d/f\", overwrite=true)\n}\n");
    let opal = opal.file("d/f", "before\n");
    let big = std::fs::File::create(opal.path().join("big")).unwrap();
    big.set_len(1 << 30).unwrap();
    let child = opal.interruptible().arg("main").spawn().unwrap();
    let folder = opal.path().join("d");
    eventually("the copy is under way", || written(child.id(), &folder) > 16 << 20);
    signal(&child, "INT");
    Ran::from(child.wait_with_output().unwrap()).code(130).says("interrupted");
    assert_eq!(names(&opal.path().join("d")), ["f"]);
    assert_eq!(opal.bytes("d/f"), b"before\n");
}

#[test]
fn whatever_a_step_ends_with_the_apply_ends_with_1() {
    let text = "version: 1\nsettings: {continue_on_error: true}\nsteps:\n\
                \x20 - {id: a, type: command, command: exit 2}\n\
                \x20 - {id: b, type: directory, path: made}\n";
    let opal = Opal::machine("").file("a.yaml", text);
    opal.call(&["apply", "a.yaml"]).code(1).says("a step failed with exit code 2");
    let summary = opal.call(&["apply", "a.yaml", "--json"]).code(1).json();
    assert_eq!((&summary["code"], &summary["failed"]["code"]), (&1.into(), &2.into()));
    assert!(opal.path().join("made").exists());
}

#[test]
fn every_failure_has_its_reason_in_json() {
    let text = "version: 1\nsettings: {continue_on_error: true}\nsteps:\n\
                \x20 - {id: bad, type: copy, source: gone, destination: bad}\n\
                \x20 - {id: exits, type: command, command: exit 3}\n\
                \x20 - {id: last, type: command, command: echo last}\n";
    let opal = Opal::machine("").file("a.yaml", text);
    let document = opal.call(&["apply", "a.yaml", "--json"]).code(1).json();
    let error = |at: usize| document["steps"][at]["error"].as_str().unwrap_or_default().to_owned();
    assert!(error(0).ends_with("gone` does not exist"), "{document}");
    assert_eq!(error(1), "failed with exit code 3");
    assert_eq!(error(2), "");
}
