use std::collections::BTreeMap;
use std::path::Path;

use opal_core::resolver::Input;
use opal_core::resource::Status;

use super::*;
use opal_session::stop::Stop;
use opal_session::{Place, Session};
use opal_testing::LoggedSession;
use opal_testing::MemoryWorld;

fn inputs(given: &[(&'static str, &str)]) -> Inputs {
    let mut inputs = Inputs::default();
    for (name, value) in [("file", "/f"), ("line", "new")].iter().chain(given) {
        let data = if *value == "true" { Data::Bool(true) } else { Data::text(*value) };
        inputs.args.insert(name, Input::Data(data));
    }
    inputs
}

fn verify(given: &[(&'static str, &str)], world: &MemoryWorld) -> Result<Finding, Trouble> {
    FileLine.verify(&inputs(given), world)
}

fn applied(given: &[(&'static str, &str)], world: MemoryWorld) -> (bool, LoggedSession) {
    let session = LoggedSession::new().world(world);
    let (root, environment, stop) = (Path::new("/"), BTreeMap::new(), Stop::new());
    let place = Place {
        base: root,
        directory: root,
        environment: &environment,
        sources: None,
        stop: &stop,
    };
    let is_done = apply(&inputs(given), &*session.probe(&place), &*session.files(&stop)).is_ok();
    (is_done, session)
}

#[test]
fn what_is_found_decides() {
    let there = |content: &str| MemoryWorld::default().file("/f", content);
    let nothing = MemoryWorld::default;
    for (given, world, status, message) in [
        (&[][..], there("new\n"), Status::Satisfied, "`/f` has the line"),
        (&[], there("old\n"), Status::Drifted, "`/f` does not have the line"),
        (&[], nothing(), Status::Missing, "`/f` does not exist"),
        (&[("match", "^o")], there("a\nold\n"), Status::Drifted, "line 2 of `/f` differs"),
        (&[("state", "absent")], nothing(), Status::Satisfied, "`/f` does not have the line"),
        (&[("state", "absent")], there("a\n"), Status::Satisfied, "`/f` does not have the line"),
        (
            &[("state", "absent")],
            there("new\na\nnew\n"),
            Status::Drifted,
            "lines 1 and 3 of `/f` should be absent",
        ),
    ] {
        let finding = verify(given, &world).unwrap();
        assert_eq!((finding.status, finding.message.expose()), (status, message), "{given:?}");
        assert_eq!(finding.details.is_some(), status != Status::Satisfied);
    }
}

#[test]
fn what_cannot_be_decided_is_blocked_with_the_path_and_the_reason() {
    let file = |content: &[u8]| MemoryWorld::default().file("/f", content);
    let denied = Trouble::new(
        TroubleKind::Denied,
        "`/f` cannot be read: permission denied",
        "be somebody else",
    );
    for (given, world, message) in [
        (
            &[("match", "^o")][..],
            file(b"o1\no2\n"),
            "lines 1 and 2 of `/f` match, but only one should",
        ),
        (&[], file(b"a\0b"), "`/f` is binary: it contains a NUL byte"),
        (&[], file(b"a\nb\xe9\n"), "line 2 of `/f` is not UTF-8"),
        (
            &[("line", "5 €"), ("encoding", "latin-1")],
            file(b""),
            "character 3 of `line` cannot be written to `/f` in Latin-1",
        ),
        (&[("match", "(")], file(b""), "invalid regular expression in `match`"),
        (&[], MemoryWorld::default().link("/f", "/g"), "`/f` is a symlink"),
        (&[], MemoryWorld::default().directory("/f"), "`/f` is a directory, not a file"),
        (
            &[],
            MemoryWorld::default().special("/f"),
            "`/f` is neither a file nor a directory, not a file",
        ),
        (
            &[],
            MemoryWorld::default().closed_file("/f", denied),
            "`/f` cannot be read: permission denied",
        ),
    ] {
        let trouble = verify(given, &world).unwrap_err();
        assert_eq!(trouble.message, message);
        assert!(!trouble.help.is_empty());
        let (is_done, session) = applied(given, world);
        let log = session.log();
        assert!(
            !is_done && log.iter().all(|it| ["write /f", "drop /f"].contains(&&**it)),
            "{log:?}"
        );
    }
}

#[test]
fn the_diff_shows_the_change_in_readable_characters() {
    let given = [("line", "name=Zoë"), ("match", "^name="), ("encoding", "latin-1")];
    let world = MemoryWorld::default().file("/f", b"caf\xe9\nname=J\xfcrgen\n");
    let finding = verify(&given, &world).unwrap();
    assert_eq!(
        finding.details.unwrap().report(),
        "--- expected: /f\n+++ actual: /f\n@@ -1,2 +1,2 @@\n café\n-name=Zoë\n+name=Jürgen\n"
    );
}

#[test]
fn a_change_is_written_and_no_change_is_not() {
    let (is_done, session) = applied(&[], MemoryWorld::default().file("/f", "a\n"));
    assert!(is_done);
    assert_eq!(session.log(), ["write /f", "keep /f"]);
    assert_eq!(session.kept("/f").unwrap(), b"a\nnew\n");

    let there = MemoryWorld::default().file("/f", "new\n");
    let (is_done, session) = applied(&[("backup", "true")], there);
    assert!(is_done);
    assert_eq!(session.log(), ["write /f", "drop /f"]);
}

#[test]
fn a_backup_is_made_first_under_a_name_that_nothing_has() {
    let attributes = Attributes { mode: Some(0o640), owner: Some(5), group: Some(6) };
    let world = || {
        let world = MemoryWorld::default().file("/f", "a\n").attributes("/f", attributes);
        world.file("/f.bak", "older\n").link("/f.bak.1", "/nowhere")
    };
    let (is_done, session) = applied(&[("backup", "true")], world());
    assert!(is_done);
    let log = session.log();
    assert_eq!(log, ["write /f", "write /f.bak.2 as 640 of 5 in 6", "keep /f.bak.2", "keep /f"]);
    assert_eq!(session.kept("/f.bak.2").unwrap(), b"a\n");

    let (is_done, session) = applied(&[("backup", "true"), ("backup_dir", "/backups")], world());
    assert!(is_done);
    let log = session.log();
    assert_eq!(log[1..3], ["make directory /backups", "write /backups/f.bak as 640 of 5 in 6"]);
}

#[test]
fn a_new_file_needs_no_backup() {
    let (is_done, session) = applied(&[("backup", "true")], MemoryWorld::default());
    assert!(is_done);
    assert_eq!(session.log(), ["write /f", "keep /f"]);
}
