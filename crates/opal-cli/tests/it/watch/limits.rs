//! What a machine or a project has too much or too little of.

use std::ffi::OsStr;
use std::fs::{self, File};

use rustix::process::{Pid, Signal, kill_process};

use super::{BUILD, Watching, project};
use crate::needs;
use crate::pty::start;
use crate::support::binary;

#[test]
fn without_watches_of_the_system_files_are_polled() {
    let opal = project(BUILD);
    // In a namespace of its own, the user may have no watches at all.
    let none = "echo 0 > /proc/sys/user/max_inotify_watches && exec \"$@\"";
    let words = ["unshare", "-Ur", "sh", "-c", none, "sh"];
    let mut words: Vec<&OsStr> = words.iter().map(AsRef::as_ref).collect();
    let tried = opal.started_by(&[&words[..], &["true".as_ref()]].concat()).status();
    if !needs::has("user namespaces", tried.is_ok_and(|status| status.success())) {
        return;
    }
    words.extend(["/usr/bin/env".as_ref(), "--default-signal=INT".as_ref(), binary().as_os_str()]);
    let mut watching = Watching::spawn(opal.started_by(&words).args(["watch", "all"]));
    watching.until("ran").until("watching: ");
    assert_eq!(watching.count("by polling: the system has no file watches left"), 1);
    opal.write("src/a.c", "other\n");
    watching.until("changed: `src/a.c`").until("ran").until("watching: ");
    fs::remove_file(opal.path().join("src/b.c")).unwrap();
    watching.until("changed: `src/b.c`").until("ran").until("watching: ");
    assert_eq!(watching.end(Signal::INT), 130);
}

#[test]
fn more_than_two_hundred_thousand_files_are_refused_with_a_way_out() {
    let opal = project(BUILD);
    for folder in 0..201 {
        let folder = opal.path().join(format!("src/{folder}"));
        fs::create_dir(&folder).unwrap();
        for file in 0..1000 {
            File::create(folder.join(file.to_string())).unwrap();
        }
    }
    let refused = opal.call(&["watch", "all"]);
    refused.code(2).says("more than 200000 files").says("have git ignore").says("@cached(");
    refused.hides("ran");
    let blocked = opal.call(&["verify", "build"]);
    blocked.code(1).says("the patterns match more than 200000 files").hides("built");
    opal.call(&["build"]).code(1).says("narrower patterns").hides("built");
    // What git ignores does not count.
    opal.write(".gitignore", "/home\n/src/*/\n/src/out\n");
    let mut watching = Watching::begin(&opal, &["watch", "all"]);
    watching.until("ran").until("watching: ");
}

#[test]
fn a_watch_that_ends_with_an_error_ends_its_round_first() {
    use std::os::unix::ffi::OsStrExt as _;
    let text = "fun serve() {\n    try {\n        echo began\n        sleep 600\n    } finally {\n        \
                echo cleaned up\n    }\n}\n";
    let opal = project(text);
    let mut watching = Watching::begin(&opal, &["watch", "serve"]);
    watching.until("began");
    // No name that could be shown.
    File::create(opal.path().join("src").join(OsStr::from_bytes(b"\xff"))).unwrap();
    watching.until("cleaned up").until("is not UTF-8");
    assert_eq!(watching.code(), 2);
}

#[test]
fn missing_arguments_are_asked_for_once() {
    use std::io::{Read as _, Write as _};
    let text = "fun greet(name: String, times: Int, to...) {\n    echo \"hi @var.name $((6 * 7))\" \
                @var.times\n}\n";
    let opal = project(text).env("TERM", "xterm").args(["watch", "greet", "--times=3"]);
    let (mut child, mut own) = start(opal.interruptible());
    let (mut shown, mut bytes) = (String::new(), [0; 4096]);
    let mut until = |own: &mut File, text: &str, count: usize| {
        while shown.matches(text).count() < count {
            let read = own.read(&mut bytes).unwrap();
            shown.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
        shown.clone()
    };
    until(&mut own, "name", 1);
    own.write_all(b"o'neil -x\r").unwrap();
    until(&mut own, "watching", 1);
    opal.write("src/a.c", "other\n");
    let shown = until(&mut own, "watching", 2);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(shown.matches("hi o'neil -x 42 3").count(), 2, "{shown}");
}
