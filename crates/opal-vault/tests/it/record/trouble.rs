//! A record that cannot be written says so, and stays what it was.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use opal_core::contract::Earlier;
use opal_core::hash::Algorithm;
use opal_core::stream::Stream;
use opal_core::view::PlanView;
use opal_testing::shown;
use opal_vault::event::Status;
use opal_vault::record::reader::{self, State};
use opal_vault::record::{Contract, Writer};
use opal_vault::root::Root;
use opal_vault::witness::{Recorder, Unrecorded};

use crate::record::support::*;
use opal_testing::needs;

fn create(root: &Root) -> Result<(), (String, String)> {
    let plan = plan("deploy");
    let view = PlanView::new(&plan, plan.source_hash);
    match Writer::create(root, header("deploy", 1), &view, &VAULT, false) {
        Ok(writer) => writer.finish(&done()).map_err(|error| (error.to_string(), error.help())),
        Err(error) => Err((error.to_string(), error.help())),
    }
}

#[test]
fn a_root_that_is_a_file_is_said_to_be_one() {
    let place = Place::new();
    fs::write(place.root.path(), "").unwrap();
    let (message, help) = create(&place.root).unwrap_err();
    assert!(message.starts_with("the record of this run cannot be written: `"), "{message}");
    assert!(message.ends_with("is not a directory"), "{message}");
    assert!(help.contains("--root"), "{help}");
}

#[test]
fn a_folder_that_others_may_change_is_refused() {
    let place = Place::new();
    create(&place.root).unwrap();
    fs::set_permissions(place.target("deploy"), Permissions::from_mode(0o777)).unwrap();
    let (message, help) = create(&place.root).unwrap_err();
    assert!(message.contains("writable by users other than its owner"), "{message}");
    assert!(help.contains("chmod go-w"), "{help}");
}

#[test]
fn an_id_is_never_used_twice() {
    let place = Place::new();
    create(&place.root).unwrap();
    let (message, _) = create(&place.root).unwrap_err();
    assert!(message.contains("run-20261115T120001Z-00000001"), "{message}");
    assert_eq!(place.names("deploy").len(), 1);
}

#[test]
fn nothing_more_is_recorded_once_something_was_not() {
    let place = Place::new();
    let writer = place.writer("deploy", 1);
    step(&writer, 1, "p", b"x");
    // The name of the file that this step needs is in use.
    fs::create_dir(writer.folder().join("output-2.txt")).unwrap();
    writer.event(&started(2, "p")).unwrap();
    let much = shown(vec![b'x'; 70_000]);
    assert!(writer.trouble().is_none());
    assert_eq!(writer.output(2, Stream::Stdout, &much), Err(Unrecorded));
    assert_eq!(writer.event(&started(3, "p")), Err(Unrecorded));
    let trouble = writer.trouble().unwrap().to_string();
    assert!(trouble.contains("output-2.txt"), "{trouble}");
    let folder = writer.folder().to_owned();
    let error = writer.finish(&ending(Status::Failed, 74)).unwrap_err();
    assert_eq!(error.to_string(), trouble);
    assert_eq!(place.last().state, State::Ended(Status::Failed));
    assert_eq!(reader::steps(&folder).unwrap().len(), 2);
}

/// A file system of this size, and what happens to a run on it; not every machine lets a test
/// mount one.
#[expect(clippy::disallowed_methods, reason = "only the system's `mount` can make one")]
fn on_a_small_disk(options: &str, test: impl FnOnce(&Root, &dyn Fn(&str))) {
    let place = Place::new();
    fs::create_dir(place.root.path()).unwrap();
    let mount = |options: &str| {
        let mut command = std::process::Command::new("mount");
        command.args(["-t", "tmpfs", "-o", options, "none"]).arg(place.root.path());
        command.output().is_ok_and(|output| output.status.success())
    };
    if !needs::has("a disk to mount", mount(options)) {
        return;
    }
    let remount = |options: &str| {
        let mut command = std::process::Command::new("mount");
        command.args(["-o", options]).arg(place.root.path());
        assert!(command.output().unwrap().status.success());
    };
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        test(&place.root, &remount);
    }));
    let mut command = std::process::Command::new("umount");
    assert!(command.arg("-l").arg(place.root.path()).output().unwrap().status.success());
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn a_full_disk_ends_the_run_and_what_was_written_can_be_read() {
    on_a_small_disk("size=256k,mode=0700", |root, _| {
        let plan = plan("deploy");
        let view = PlanView::new(&plan, plan.source_hash);
        let writer = Writer::create(root, header("deploy", 1), &view, &VAULT, false).unwrap();
        let mut written = 0;
        while writer.event(&started(written + 1, "deploy.shell[0]")).is_ok() {
            written += 1;
            assert!(written < 100_000);
        }
        let trouble = writer.trouble().unwrap();
        assert!(trouble.to_string().contains("No space left"), "{trouble}");
        assert!(trouble.help().starts_with("free some space"), "{}", trouble.help());
        let steps = reader::steps(writer.folder()).unwrap();
        assert_eq!(steps.len() as u64, written);
        assert!(writer.finish(&ending(Status::Failed, 74)).is_err());
        let (message, help) = create_again(root).unwrap_err();
        assert!(message.contains("No space left"), "{message}: {help}");
    });
}

fn create_again(root: &Root) -> Result<(), (String, String)> {
    let plan = plan("deploy");
    let view = PlanView::new(&plan, plan.source_hash);
    let created = Writer::create(root, header("deploy", 2), &view, &VAULT, false);
    created.map(drop).map_err(|error| (error.to_string(), error.help()))
}

#[test]
fn a_root_that_cannot_be_written_is_said_to_be_so() {
    on_a_small_disk("size=1m,mode=0700", |root, remount| {
        create(root).unwrap();
        remount("remount,ro");
        let (message, help) = create_again(root).unwrap_err();
        assert!(message.contains("Read-only file system"), "{message}");
        assert!(help.contains("--root DIR"), "{help}");
        assert_eq!(reader::list(root).unwrap().len(), 1);
    });
}

#[test]
fn a_record_that_cannot_be_read_may_be_one_of_a_contract() {
    let place = Place::new();
    let mut header = header("deploy", 1);
    let digest = header.plan_hash.unwrap();
    header.contract = Some(Contract::new(digest, "a.plan"));
    let writer = place.writer_of(header);
    let folder = writer.folder().to_owned();
    writer.finish(&done()).unwrap();
    let earlier = || reader::earlier(&place.root, digest, Algorithm::Sha256).unwrap();
    assert_eq!(earlier().len(), 1);
    fs::write(folder.join("summary.json"), "{").unwrap();
    assert_eq!(earlier(), [Earlier::Unseen]);
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(earlier(), []);
}
