use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use opal_core::Data;
use opal_modules::ModuleRef;
use opal_modules::keep::{Instance, Lock, NoLock, State, Status, time};
use serde_json::json;

use crate::keep::support::{CANARY, at, mode, names, root, run_id, vault};

fn state(status: Status) -> State {
    State {
        module_ref: ModuleRef::parse("core/greeting").unwrap(),
        instance: None,
        status,
        command: "apply".to_owned(),
        run_id: run_id().to_string(),
        started_at: time(at(0)),
        updated_at: time(at(5)),
        pid: 4_242,
        driver: "shell/script".to_owned(),
        profile: "local@v1.0".to_owned(),
        pack: "greeting".to_owned(),
        outputs: json!({"said": "hello"}).as_object().unwrap().clone(),
        error: None,
        evidence: "/logs/x".into(),
        inputs_digest: None,
        basis_digest: None,
    }
}

fn path(root: &Path) -> PathBuf {
    root.join("state/modules/core__greeting/latest.json")
}

#[test]
fn a_state_is_read_as_it_was_written() {
    let (_folder, root) = root();
    let path = path(root.path());
    assert_eq!(State::read(&path).unwrap(), None);
    for status in [Status::Running, Status::Ok, Status::Error, Status::Destroyed] {
        state(status).write(&path, &vault()).unwrap();
        assert_eq!(State::read(&path).unwrap(), Some(state(status)));
    }
    let full = State {
        instance: Some(Instance::parse("blue").unwrap()),
        error: Some("no such host".to_owned()),
        inputs_digest: Some("blake3:00".to_owned()),
        basis_digest: Some("blake3:01".to_owned()),
        ..state(Status::Error)
    };
    full.write(&path, &vault()).unwrap();
    assert_eq!(State::read(&path).unwrap(), Some(full));
    assert_eq!(mode(&path), 0o600);
}

#[test]
fn no_secret_is_published() {
    let (_folder, root) = root();
    let path = path(root.path());
    let outputs = json!({"url": format!("https://{CANARY}/"), "db_password": "x"});
    let published = State { outputs: outputs.as_object().unwrap().clone(), ..state(Status::Ok) };
    published.write(&path, &vault()).unwrap();
    let read = State::read(&path).unwrap().unwrap();
    assert_eq!(read.outputs["url"], "https://<redacted>/");
    assert_eq!(read.outputs["db_password"], "<redacted>");
}

#[test]
fn a_secret_that_equals_a_word_of_the_state_leaves_it_readable() {
    let (_folder, root) = root();
    let path = path(root.path());
    let vault = vault();
    let mut whole = State {
        instance: Some(Instance::parse("blue").unwrap()),
        inputs_digest: Some("blake3:00".to_owned()),
        basis_digest: Some("blake3:01".to_owned()),
        ..state(Status::Error)
    };
    for (key, value) in whole.value().as_object().unwrap() {
        vault.register(&Data::text(key.clone()), "<redacted>");
        vault.register(&Data::text(value.to_string().replace('"', "")), "<redacted>");
    }
    vault.register(&Data::text("greeting"), "<redacted>");
    whole.error = Some("the host greeting is gone".to_owned());
    whole.write(&path, &vault).unwrap();
    whole.error = Some("the host <redacted> is gone".to_owned());
    assert_eq!(State::read(&path).unwrap(), Some(whole));
}

#[test]
fn what_is_not_a_state_is_named() {
    let (_folder, root) = root();
    let path = path(root.path());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let whole = state(Status::Ok).value();
    let mut escaping = whole.clone();
    escaping["state_instance"] = "../x".into();
    let mut unknown = whole.clone();
    unknown["status"] = "fine".into();
    for text in [
        "",
        "{",
        "[]",
        "{}",
        "null",
        "{\"status\": \"ok\"}",
        &escaping.to_string(),
        &unknown.to_string(),
        &" ".repeat((1 << 20) + 1),
    ] {
        fs::write(&path, text).unwrap();
        let unkept = State::read(&path).unwrap_err();
        assert_eq!(unkept.path, path);
        assert!(unkept.help().contains(path.to_str().unwrap()), "{}", unkept.help());
    }
    fs::write(&path, whole.to_string()).unwrap();
    assert!(State::read(&path).unwrap().is_some());
    let link = path.with_file_name("link.json");
    symlink(&path, &link).unwrap();
    assert_eq!(State::read(&link).unwrap_err().path, link);
}

#[test]
fn a_state_that_could_not_be_read_back_is_not_written() {
    let (_folder, root) = root();
    let path = path(root.path());
    state(Status::Ok).write(&path, &vault()).unwrap();
    let outputs = json!({"much": "x".repeat(1 << 20)}).as_object().unwrap().clone();
    let huge = State { outputs, ..state(Status::Error) };
    assert!(huge.write(&path, &vault()).unwrap_err().to_string().contains("outputs"));
    assert_eq!(State::read(&path).unwrap(), Some(state(Status::Ok)));
}

#[test]
fn two_runs_of_one_instance_never_go_on_at_once() {
    let (_folder, root) = root();
    let path = path(root.path());
    let first = Lock::take(&path).unwrap();
    let busy = Lock::take(&path).unwrap_err();
    assert!(matches!(&busy, NoLock::Busy(state) if *state == path), "{busy:?}");
    assert!(busy.help().contains("latest.json"), "{}", busy.help());
    let other = path.with_file_name("instances").join("latest.json");
    drop(Lock::take(&other).unwrap());
    drop(first);
    drop(Lock::take(&path).unwrap());
    let lock = path.with_extension("lock");
    assert_eq!(mode(&lock), 0o600);
}

#[test]
fn a_lock_is_never_taken_through_a_link() {
    let (folder, root) = root();
    let path = path(root.path());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let elsewhere = folder.path().join("elsewhere");
    symlink(&elsewhere, path.with_extension("lock")).unwrap();
    assert!(matches!(Lock::take(&path), Err(NoLock::Unkept(_))));
    assert!(!elsewhere.exists());
}

#[test]
fn a_run_that_was_killed_is_seen_as_interrupted() {
    let (_folder, root) = root();
    let path = path(root.path());
    state(Status::Running).write(&path, &vault()).unwrap();
    let seen = State::seen(&path).unwrap().unwrap();
    assert_eq!((seen.status, seen.error.as_deref()), (Status::Error, Some("interrupted")));
    // Looking leaves no trace, and what is written stays for the next run to correct.
    assert_eq!(names(path.parent().unwrap()), ["latest.json"]);
    assert_eq!(State::read(&path).unwrap().unwrap().status, Status::Running);

    let lock = Lock::take(&path).unwrap();
    assert_eq!(State::seen(&path).unwrap().unwrap().status, Status::Running);
    drop(lock);
    assert_eq!(State::seen(&path).unwrap().unwrap().status, Status::Error);
    state(Status::Ok).write(&path, &vault()).unwrap();
    assert_eq!(State::seen(&path).unwrap(), Some(state(Status::Ok)));
}
