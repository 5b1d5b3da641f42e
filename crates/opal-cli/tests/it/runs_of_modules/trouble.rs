//! Disks that are full or cannot be written, and readers that go away.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

use serde_json::json;

use super::release::{self, Release, SCRIPT};
use crate::needs;
use crate::support::Ran;

/// Mounts a small disk as the runtime root, and takes it away at the end.
pub(super) struct Disk<'d>(&'d Path);

impl<'d> Disk<'d> {
    pub(super) fn mounted(path: &'d Path, size: &str) -> Option<Self> {
        fs::create_dir_all(path).unwrap();
        let is_mounted =
            system(&["mount", "-t", "tmpfs", "-o", &format!("mode=700,{size}"), "tmpfs"], path);
        needs::has("a disk to mount", is_mounted).then_some(Self(path))
    }

    fn is_now(&self, options: &str) -> bool {
        system(&["mount", "-o", &format!("remount,{options}")], self.0)
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        system(&["umount"], self.0);
    }
}

#[expect(clippy::disallowed_methods, reason = "only the system's `mount` can make a disk")]
fn system(words: &[&str], path: &Path) -> bool {
    let mut command = std::process::Command::new(words[0]);
    command.args(&words[1..]).arg(path).output().is_ok_and(|it| it.status.success())
}

#[test]
fn a_disk_that_is_full_before_the_run_is_said_and_nothing_runs() {
    let release = Release::new("touch \"$OPAL_ROOT/ran\"\n");
    let root = release.path("root");
    let Some(_disk) = Disk::mounted(&root, "size=64k") else { return };
    fs::write(root.join("full"), vec![0; 128 << 10]).unwrap_err();
    let ran = release.apply(&[]);
    ran.code(74).says("No space left on device").says("free some space");
    assert!(!release.path("records/ran").exists());
}

#[test]
fn a_disk_that_fills_up_while_the_tool_prints_ends_the_run_with_a_reason() {
    let release = Release::new("yes 0123456789 | head -c 300000\n");
    let root = release.path("root");
    let Some(_disk) = Disk::mounted(&root, "size=192k") else { return };
    let ran = release.apply(&[]);
    ran.code(74).says("No space left on device");
    let state = release.state();
    assert_eq!((&state["status"], &state["pid"].is_u64()), (&json!("error"), &true));
    assert!(state["last_error"].as_str().unwrap().contains("No space left"), "{state}");
    let next = release.apply(&["--json"]).code(74).json();
    assert!(next["error"]["message"].as_str().unwrap().contains("No space left"), "{next}");
}

#[test]
fn evidence_that_goes_away_under_a_run_is_said_and_the_state_is_an_error() {
    let release = Release::new("rm -rf \"$HYOPS_RUNTIME_ROOT/logs\"; echo said\n");
    let error = release.apply(&["--json"]).code(74).json();
    assert!(error["error"]["message"].as_str().unwrap().contains("shell_apply"), "{error}");
    let state = release.state();
    assert_eq!((&error["status"], &error["exit_code"]), (&json!("error"), &json!(74)));
    assert_eq!(
        (&error["run_id"], &error["evidence_dir"]),
        (&state["run_id"], &state["evidence_dir"])
    );
    assert_eq!(state["status"], "error");
    assert!(state["last_error"].as_str().unwrap().contains("shell_apply"), "{state}");
}

#[test]
fn a_root_of_somebody_else_is_refused_in_words() {
    let release = Release::new(SCRIPT);
    release.apply(&[]).code(0);
    let before = release.runs();
    fs::set_permissions(release.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    let Some(ran) = release.opal().as_nobody(&["module", "apply", "core/net"]) else { return };
    ran.code(65).says("Permission denied").says("help: ");
    assert_eq!(release.runs(), before);
}

#[test]
fn a_root_that_cannot_be_written_is_said_before_anything_runs() {
    let release = Release::new(SCRIPT);
    let root = release.path("root");
    let Some(disk) = Disk::mounted(&root, "size=8m") else { return };
    release.apply(&[]).code(0);
    assert!(disk.is_now("ro"));
    for verb in ["apply", "destroy", "plan"] {
        let ran = release.run(&[verb, "core/net"]);
        ran.code(74).says("Read-only file system").says("--root DIR").hides("small\n");
    }
    let error = release.apply(&["--json"]).code(74).json();
    assert!(error["error"]["message"].as_str().unwrap().contains("Read-only"), "{error}");
    release.apply(&["--dry-run"]).code(0);
}

#[test]
fn a_record_that_cannot_be_written_stops_only_a_run_that_needs_it() {
    let release = Release::new(SCRIPT);
    release.apply(&[]).code(0);
    let before = release.state();
    let records = release.path("records");
    fs::remove_dir_all(&records).unwrap();
    fs::write(&records, "a file\n").unwrap();
    let set = [("HYOPS_INPUT_size", "large")];
    let ran = release.run_with(&set, &["apply", "core/net", "--sync"]);
    ran.code(74).says("--no-record").hides("apply large");
    assert_eq!(release.state(), before, "nothing ran");
    let result = release.document("driver_result.json");
    assert_eq!(result["status"], "error");
    assert!(!result["error"].as_str().unwrap().is_empty());
    let ran = release.apply(&["--no-record", "--events", "gone/events"]);
    ran.code(74).says("gone/events");
    assert_eq!(release.state(), before);
    let ran = release.run_with(&set, &["apply", "core/net"]);
    ran.code(0).says("this run has no record");
    assert_eq!(release.state()["outputs"]["name"], "net-large");
}

#[test]
fn evidence_that_cannot_be_written_stops_the_run() {
    let release = Release::new(SCRIPT).file("out", "a file");
    let ran = release.apply(&["--out-dir", "out"]);
    ran.code(74).says("out").hides("apply small");
    assert!(!release.has_state());
}

#[test]
fn a_closed_standard_output_does_not_end_a_run_half_way() {
    let release = Release::new(&format!(
        "i=0; while test $i -lt 3000; do echo line $i; i=$((i+1)); done\n{SCRIPT}"
    ));
    for more in [&[][..], &["--json"]] {
        let mut command = release.started(&[&["apply", "core/net"], more].concat());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert!(matches!(ran.code, 0 | 74 | 141), "{ran:?}");
        let status = release.state()["status"].clone();
        let result = release.document("driver_result.json")["status"].clone();
        assert_eq!(status, result, "{more:?}: both say the same");
        assert_ne!(status, json!("running"));
        let kept = fs::read_to_string(release.evidence().join("shell_apply.stdout.txt")).unwrap();
        let is_whole = kept.ends_with("apply small\n");
        assert_eq!(is_whole, status == "ok", "{more:?}: the evidence has all of it");
    }
}

#[test]
fn a_lock_that_cannot_be_made_is_trouble_with_the_disk() {
    let release = Release::new(SCRIPT).file("root/state/modules/core__net/latest.lock/x", "");
    release.apply(&[]).code(74).says("latest.lock");
    assert_eq!(release.runs(), 0);
    assert_eq!(release::tree(&release.path("root/work")).len(), 1, "nothing was copied");
}
