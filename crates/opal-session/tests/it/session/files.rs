//! Directories and files, as steps name them.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use opal_core::action::{Pending, Replace};
use opal_core::resolver::{Trouble, TroubleKind};
use opal_session::Session;
use opal_session::stop::Stop;

use crate::session::support::{Only, Place};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn replace(
    place: &Place,
    path: &str,
    mode: Option<u32>,
    append: bool,
) -> Result<Box<dyn Pending>, Trouble> {
    place.session.replace(&place.path(), &Replace { path, mode, append }, &Stop::new())
}

#[track_caller]
fn write(place: &Place, path: &str, mode: Option<u32>, append: bool, text: &str) {
    let mut pending = replace(place, path, mode, append).unwrap();
    pending.write_all(text.as_bytes()).unwrap();
    pending.keep().unwrap();
}

#[test]
fn a_directory_is_found_from_where_the_step_is() {
    let place = Place::new(Only::None);
    let from = place.path().join("a");
    fs::create_dir_all(from.join("b")).unwrap();
    fs::create_dir_all(place.path().join("home/c")).unwrap();
    let find = |path: &str, create| place.session.directory(&from, path, create, &Stop::new());
    assert_eq!(find("b", false), Ok(from.join("b")));
    assert_eq!(find("/", false), Ok("/".into()));
    assert!(find("~/c", false).unwrap().ends_with("home/c"));
    assert_eq!(find("new/deep", false).unwrap_err().kind, TroubleKind::Missing);
    assert_eq!(find("new/deep", true), Ok(from.join("new/deep")));
    fs::write(from.join("file"), "").unwrap();
    assert_eq!(find("file", false).unwrap_err().kind, TroubleKind::Invalid);
    assert_eq!(find("", false).unwrap_err().kind, TroubleKind::Invalid);
}

#[test]
fn a_file_appears_whole_or_not_at_all() {
    let place = Place::new(Only::None);
    let target = place.path().join("out");
    let mut pending = replace(&place, "out", None, false).unwrap();
    pending.write_all(b"half").unwrap();
    assert!(!target.exists());
    // A temporary name is there only where the file system has no files without one.
    for hidden in fs::read_dir(place.path()).unwrap() {
        assert_eq!(mode(&hidden.unwrap().path()), 0o600);
    }
    drop(pending);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    write(&place, "out", None, false, "whole");
    assert_eq!(fs::read_to_string(&target).unwrap(), "whole");
    let usual = place.path().join("usual");
    fs::write(&usual, "").unwrap();
    assert_eq!(mode(&target), mode(&usual));
}

#[test]
fn a_file_that_was_there_keeps_its_mode_and_gets_a_wanted_one() {
    let place = Place::new(Only::None);
    let target = place.path().join("out");
    fs::write(&target, "old").unwrap();
    fs::set_permissions(&target, PermissionsExt::from_mode(0o640)).unwrap();
    write(&place, "out", None, false, "new");
    assert_eq!((mode(&target), fs::read_to_string(&target).unwrap()), (0o640, "new".to_owned()));
    write(&place, "out", Some(0o755), false, "newer");
    assert_eq!(mode(&target), 0o755);
}

#[test]
fn what_is_added_is_added_to_what_is_there_when_it_is_kept() {
    let place = Place::new(Only::None);
    write(&place, "log", None, true, "1\n");
    let mut late = replace(&place, "log", None, true).unwrap();
    late.write_all(b"3\n").unwrap();
    write(&place, "log", None, true, "2\n");
    late.keep().unwrap();
    assert_eq!(fs::read_to_string(place.path().join("log")).unwrap(), "1\n2\n3\n");
}

#[test]
fn links_are_followed_and_devices_are_written_to() {
    let place = Place::new(Only::None);
    fs::create_dir(place.path().join("d")).unwrap();
    symlink("d/real", place.path().join("link")).unwrap();
    write(&place, "link", None, false, "through");
    assert_eq!(fs::read_to_string(place.path().join("d/real")).unwrap(), "through");
    assert!(fs::symlink_metadata(place.path().join("link")).unwrap().is_symlink());
    write(&place, "/dev/null", None, false, "gone");
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn what_cannot_be_written_says_why_and_what_to_do() {
    let place = Place::new(Only::None);
    for (path, kind) in [
        ("no/dir/file", TroubleKind::Missing),
        (".", TroubleKind::Invalid),
        ("", TroubleKind::Invalid),
    ] {
        let trouble = replace(&place, path, None, false).map(drop).unwrap_err();
        assert_eq!(trouble.kind, kind, "{path}");
        assert!(!trouble.help.is_empty());
    }
    if Path::new("/dev/full").exists() {
        let mut pending = replace(&place, "/dev/full", None, false).unwrap();
        pending.write_all(b"x").unwrap();
        let trouble = pending.keep().unwrap_err();
        assert_eq!(trouble.kind, TroubleKind::TooLarge);
        assert!(trouble.help[0].contains("free some space"));
    }
}

#[test]
fn a_named_pipe_is_refused_before_anybody_waits_for_its_other_end() {
    let place = Place::new(Only::None);
    let fifo = place.path().join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RWXU).unwrap();
    let open = place.session.open(&place.path(), "fifo", &Stop::new()).unwrap_err();
    assert_eq!(open.message, "the file `fifo` cannot be read: it is a named pipe");
    let write = replace(&place, "fifo", None, false).map(drop).unwrap_err();
    assert_eq!(write.message, "the file `fifo` cannot be written: it is a named pipe");
    assert!(place.session.open(&place.path(), "/dev/null", &Stop::new()).is_ok());
}

#[test]
fn a_tilde_is_the_home_directory_however_many_slashes_follow() {
    let place = Place::new(Only::None);
    fs::create_dir_all(place.path().join("home")).unwrap();
    for path in ["~/out", "~//out", "~///out"] {
        write(&place, path, None, false, path);
        assert_eq!(fs::read_to_string(place.path().join("home/out")).unwrap(), path);
    }
    let other =
        place.session.directory(&place.path(), "~somebody", false, &Stop::new()).unwrap_err();
    assert_eq!(other.kind, TroubleKind::Invalid);
}

#[test]
fn a_file_is_read_from_its_beginning() {
    let place = Place::new(Only::None);
    fs::write(place.path().join("in"), "text").unwrap();
    let mut text = String::new();
    let open = |path: &str| place.session.open(&place.path(), path, &Stop::new());
    fs::File::from(open("in").unwrap()).read_to_string(&mut text).unwrap();
    assert_eq!(text, "text");
    assert_eq!(open("nosuch").unwrap_err().kind, TroubleKind::Missing);
    assert_eq!(open(".").unwrap_err().kind, TroubleKind::Invalid);
}

#[test]
fn a_message_names_a_path_as_something_given_since_it_may_be_a_value() {
    let place = Place::new(Only::None);
    fs::write(place.path().join("hunter2"), "").unwrap();
    fs::create_dir(place.path().join("hunter3")).unwrap();
    let (session, from) = (&place.session, place.path());
    let troubles = [
        session.directory(&from, "hunter1", false, &Stop::new()).map(drop),
        session.directory(&from, "hunter2", false, &Stop::new()).map(drop),
        session.directory(&from, "hunter2/sub", true, &Stop::new()).map(drop),
        session.open(&from, "hunter1", &Stop::new()).map(drop),
        session.open(&from, "hunter3", &Stop::new()).map(drop),
        replace(&place, "hunter1/file", None, false).map(drop),
        replace(&place, "hunter3", None, false).map(drop),
        place.run_in(&from.join("hunter1"), "true").ended.map(drop),
    ];
    for (at, trouble) in troubles.into_iter().enumerate() {
        let trouble = trouble.unwrap_err();
        // Only the step knows where it is: that is not a path of its own.
        assert_eq!(trouble.message.contains("`hunter"), at < 7, "{trouble:?}");
        let hidden = ["hunter1", "hunter2", "hunter3"];
        let words = format!("{:?}", trouble.without(&hidden));
        assert!(!words.contains("hunter") && !words.contains("entity"), "{words}");
    }
}
