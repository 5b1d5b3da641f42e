//! The ticket and the path: how the pages are opened, and by whom.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use opal_testing::processes::eventually;

use super::{Ui, files, mode};
use crate::support::Opal;

fn machine() -> Opal {
    Opal::machine("fun main() = echo x\n")
}

#[test]
fn a_ticket_opens_the_pages_once_and_a_second_use_is_refused_and_reported() {
    let opal = machine();
    let ui = Ui::start(opal.command(), &[]);
    let folder = opal.path().join("home/.opal/ui");
    let all = files(&folder);
    let [(file, text)] = &all[..] else { panic!("{all:?}") };
    assert_eq!((mode(file), mode(&folder)), (0o600, 0o700));
    let url = format!("http://{}{}", ui.client.authority, ui.ticket);
    assert!(String::from_utf8_lossy(text).contains(&url), "{url}");
    let ui = ui.entered();
    assert!(!file.exists(), "the file of the ticket is removed");
    assert!(ui.get("/inbox").ok().body.contains("No contract waits"));
    let again = ui.client.get_at(&ui.ticket);
    assert_eq!(again.status, 403);
    assert!(again.header("location").is_none() && !again.body.contains(&ui.client.base));
    ui.says("the ticket was used a second time");
    // Whoever has the pages keeps them.
    ui.get("/inbox").ok();
}

#[test]
fn the_path_is_in_no_argument_no_file_and_nothing_that_is_printed() {
    let opal = machine();
    opal.call(&["main"]).code(0);
    let ui = Ui::start(opal.command(), &[]).entered();
    for path in ["/inbox", "/records", "/nothing"] {
        ui.get(path);
    }
    let word = ui.client.base.trim_start_matches('/').to_owned();
    let line = fs::read_to_string(format!("/proc/{}/cmdline", ui.child.id())).unwrap();
    assert!(line.contains("opal-serve") && !line.contains(&word), "{line}");
    assert!(!ui.said().contains(&word), "{}", ui.said());
    for (path, bytes) in files(&opal.path()) {
        assert!(!String::from_utf8_lossy(&bytes).contains(&word), "{}", path.display());
    }
    // The next start has another one.
    let other = Ui::start(opal.command(), &[]).entered();
    assert_ne!(other.client.base, ui.client.base);
}

#[test]
fn a_browser_is_given_a_file_and_never_an_address() {
    let opal = machine().file(
        "bin/xdg-open",
        "#!/bin/sh\nfor it; do echo \"$it\"; done > opened.tmp\nmv opened.tmp opened\n",
    );
    let program = opal.path().join("bin/xdg-open");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", opal.path().join("bin").display());
    let start = |words: &[&str], display: &str| {
        let mut command = opal.command();
        command.env("PATH", &path);
        if !display.is_empty() {
            command.env("DISPLAY", display);
        }
        Ui::start(command, words)
    };
    let opened = opal.path().join("opened");
    let ui = start(&[], ":7");
    eventually("the browser is started", || opened.exists());
    let argument = opal.read("opened");
    assert_eq!(argument.lines().count(), 1, "{argument}");
    let text = fs::read_to_string(argument.trim()).unwrap();
    assert!(text.contains(&ui.ticket) && !argument.contains("http"), "{argument} {text}");
    let word = ui.ticket.rsplit_once('/').unwrap().1.to_owned();
    assert!(!argument.contains(&word), "{argument}");
    drop(ui);
    // Not where nobody wants one, and not where there is no screen.
    fs::remove_file(&opened).unwrap();
    for (words, display) in [(&["--no-open"][..], ":7"), (&[][..], "")] {
        drop(start(words, display).entered());
        assert!(!opened.exists(), "{words:?}");
    }
}

#[test]
fn a_ticket_that_nobody_uses_in_time_ends_the_server() {
    if !cfg!(debug_assertions) {
        // Only a debug build has short seconds.
        return;
    }
    let opal = machine().env("OPAL_TEST_UI_SECOND", "50");
    let mut ui = Ui::start(opal.command(), &[]);
    ui.says("nobody has opened the pages within 60 seconds");
    assert_eq!(ui.ends(), Some(124));
    assert_eq!(files(&opal.path().join("home/.opal/ui")), []);
}

/// Who is killed leaves the file of a ticket. It is worthless after a minute, and the next start removes it.
#[test]
fn the_file_of_a_ticket_that_was_left_is_removed_by_the_next_start() {
    if !cfg!(debug_assertions) {
        // Only a debug build has short seconds.
        return;
    }
    let opal = machine();
    let mut killed = Ui::start(opal.command(), &["--no-open"]);
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();
    let folder = opal.path().join("home/.opal/ui");
    let [(left, _)] = &files(&folder)[..] else { panic!("no file was left") };
    // Somebody else's, which may still be used, stays.
    let other = Ui::start(opal.command(), &["--no-open"]);
    assert_eq!(files(&folder).len(), 2);
    let file = fs::File::open(left).unwrap();
    let made = file.metadata().unwrap().modified().unwrap();
    file.set_modified(made - std::time::Duration::from_secs(61)).unwrap();
    let third = Ui::start(opal.command(), &["--no-open"]);
    assert!(!left.exists());
    assert_eq!(files(&folder).len(), 2);
    other.entered();
    third.entered();
}

#[test]
fn ctrl_c_and_signals_end_it_and_leave_nothing() {
    for name in ["INT", "TERM", "HUP"] {
        let opal = machine();
        let mut ui = Ui::start(opal.interruptible(), &[]);
        ui.signal(name);
        assert_eq!(ui.ends(), Some(0), "{name}: {}", ui.said());
        assert_eq!(files(&opal.path().join("home/.opal/ui")), [], "{name}");
    }
}

#[test]
fn a_root_that_others_can_write_is_refused() {
    let opal = machine();
    let root = opal.path().join("home/.opal");
    fs::create_dir_all(root.join("ui")).unwrap();
    fs::set_permissions(&root, fs::Permissions::from_mode(0o777)).unwrap();
    opal.call(&["ui"]).code(77).says("chmod");
}
