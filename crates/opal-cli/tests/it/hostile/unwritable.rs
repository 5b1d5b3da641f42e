//! Where nothing can be written, direct runs go on and contracts do not.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::needs;
use crate::support::{Opal, Ran, binary};

const TASK: &str =
    "fun up() {\n    try {\n        echo step\n    } finally {\n        echo cleaned\n    }\n}\n";

/// Calls that look, and need no place of their own.
const LOOKS: [&[&str]; 6] =
    [&["list"], &["check"], &["plan", "up"], &["up", "--dry-run"], &[], &["runs", "list"]];

#[track_caller]
fn goes_on(opal: &Opal, env: &[(&str, &str)]) {
    let ran = opal.call_with(env, &["up"]);
    ran.code(0).stdout("step\ncleaned\n").says("warning: this run has no record").says("help: ");
    assert_eq!(ran.stderr.matches("warning:").count(), 1, "{ran:#?}");
    let json = opal.call_with(env, &["up", "--json"]);
    assert!(json.code(0).json()["run"].is_null() || json.json().get("run").is_none(), "{json:#?}");
}

#[test]
fn without_a_home_a_direct_run_warns_once_and_goes_on() {
    let opal = Opal::project(TASK)
        .file("a.yaml", "version: 1\nsteps:\n  - {id: a, type: directory, path: d}\n");
    for env in [&[][..], &[("HOME", "/nonexistent/home")], &[("HOME", "/dev/null")]] {
        goes_on(&opal, env);
        for args in LOOKS {
            let ran = opal.call_with(env, args);
            // A list of runs has no place to look in.
            let code = if args == ["runs", "list"] { 78 } else { 0 };
            assert_eq!(ran.code, code, "{args:?} {ran:#?}");
        }
        opal.call_with(env, &["verify", "a.yaml"]).code(1);
        opal.call_with(env, &["apply", "a.yaml", "-y"]).code(0).says("has no record");
        std::fs::remove_dir(opal.path().join("d")).unwrap();
    }
}

/// A root on a file system that takes nothing: a directory of root's, for somebody else.
#[test]
fn a_home_that_cannot_be_written_is_like_none() {
    if !needs::root() {
        return;
    }
    let opal = Opal::machine(TASK);
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(opal.path(), open).unwrap();
    let Some(ran) = opal.as_nobody(&["up"]) else { return };
    ran.code(0).stdout("step\ncleaned\n").says("warning: this run has no record");
    for args in LOOKS {
        let ran = opal.as_nobody(args).unwrap();
        assert_eq!(ran.code, 0, "{args:?} {ran:#?}");
    }
}

#[test]
fn a_contract_does_not_start_where_its_record_cannot_be_written() {
    let opal = Opal::machine(TASK);
    opal.call(&["plan", "up", "-o", "c.plan"]).code(0);
    opal.write("home/.opal/logs", "in the way");
    let ran = opal.call(&["run", "--plan", "c.plan"]);
    ran.code(74).says("nothing was run").hides("step\n").hides("cleaned\n");
}

/// One call with a limit on the size of every file it writes, in units of 512 bytes.
fn limited(opal: &Opal, blocks: u32, args: &[&str]) -> Ran {
    let limit = format!("ulimit -f {blocks}; exec \"$@\"");
    let words = ["sh", "-c", &limit, "sh"].map(str::as_ref);
    let mut command = opal.started_by(&[&words[..], &[binary().as_os_str()]].concat());
    Ran::from(command.args(args).output().unwrap())
}

/// Prints more than a file may hold, without writing one.
const LOUD: &str = "fun up() {\n    try {\n        seq 200000 | tail -n 100000\n        echo next\n    } \
                    finally {\n        echo cleaned\n    }\n}\n";

#[test]
fn a_record_that_fills_the_disk_stops_no_direct_run() {
    let ran = limited(&Opal::machine(LOUD), 128, &["up"]);
    assert!(ran.stdout.ends_with("200000\nnext\ncleaned\n"), "{}", ran.stderr);
    ran.code(0).says("warning: the record of this run is incomplete");
    assert_eq!(ran.stdout.lines().count(), 100_002);
    assert_eq!(ran.stderr.matches("warning:").count(), 1, "{}", ran.stderr);
}

#[test]
fn a_contract_whose_record_fails_midway_stops_after_its_cleanup() {
    let opal = Opal::machine(LOUD);
    opal.call(&["plan", "up", "-o", "c.plan"]).code(0);
    let ran = limited(&opal, 128, &["run", "--plan", "c.plan"]);
    assert!(ran.stdout.ends_with("\ncleaned\n"), "{}", ran.stderr);
    ran.code(74).says("cannot be written").hides("next\n");
}

#[test]
fn a_limit_on_files_is_an_error_and_not_the_end_of_opal() {
    let text: String = (0..2000).map(|it| format!("fun f{it}()   =   echo {it}\n")).collect();
    let opal = Opal::machine(&text);
    let ran = limited(&opal, 8, &["fmt"]);
    ran.code(74).says("cannot be written");
    assert_eq!(opal.read("commands.opl"), text);
    // A step is ended by the signal, as always.
    let opal = Opal::machine("fun up() = dd if=/dev/zero of=big bs=1024 count=100\n");
    limited(&opal, 8, &["up"]).code(153);
}

#[test]
fn no_output_is_lost_where_temporary_files_cannot_be_written() {
    let text = "fun up() {\n    @parallel {\n        sh -c 'until [ -e go ]; do sleep 0.01; done; \
                echo first'\n        sh -c 'seq 300000; touch go'\n    }\n}\n";
    for directory in ["/nonexistent", "/dev/null", "/proc"] {
        let opal = Opal::machine(text).env("TMPDIR", directory);
        let ran = opal.call(&["up"]);
        assert_eq!(ran.stdout.lines().count(), 300_001, "{directory} {}", ran.stderr);
        ran.code(0);
    }
    // Not even in memory: the step fails, and it is said why.
    let text = "fun up() {\n    @parallel {\n        sh -c 'until [ -e go ]; do sleep 0.01; done; \
                echo first'\n        sh -c 'seq 20000000; touch go; exit 0'\n    }\n}\n";
    let ran = limited(&Opal::machine(text), 128, &["up", "--no-record"]);
    assert_eq!(ran.code, 74, "{}", ran.stderr);
    assert!(ran.stderr.contains("could not be stored while it waited"), "{}", ran.stderr);
}

#[test]
fn a_full_disk_is_like_a_read_only_one() {
    let opal = Opal::machine(TASK).file("disk/.keep", "");
    let disk = opal.path().join("disk");
    let Some(_mounted) = Full::mount(&disk) else { return };
    opal.call(&["--root", "disk", "up"])
        .code(0)
        .stdout("step\ncleaned\n")
        .says("warning: this run has no record");
}

/// A disk without a free byte, until it is dropped.
struct Full<'d>(&'d Path);

impl<'d> Full<'d> {
    #[expect(clippy::disallowed_methods, reason = "only `mount` makes a disk that is full")]
    fn mount(disk: &'d Path) -> Option<Self> {
        let mut mount = std::process::Command::new("mount");
        let mount =
            mount.args(["-t", "tmpfs", "-o", "size=16k,mode=700", "tmpfs"]).arg(disk).output();
        if !needs::has("a disk to mount", mount.is_ok_and(|it| it.status.success())) {
            return None;
        }
        let _ = std::fs::write(disk.join("full"), vec![0; 64 * 1024]);
        Some(Self(disk))
    }
}

impl Drop for Full<'_> {
    #[expect(clippy::disallowed_methods, reason = "what was mounted is unmounted")]
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(self.0).status();
    }
}

/// The group of the file that was there cannot be kept: its permissions are not those of another one.
#[test]
fn a_file_that_cannot_keep_its_group_gives_another_group_nothing() {
    let opal = Opal::machine("fun up() {\n    echo new > @file.write(\"shared\")\n}\n");
    if !needs::root() {
        return;
    }
    std::fs::set_permissions(opal.path(), Permissions::from_mode(0o777)).unwrap();
    let file = opal.path().join("shared");
    let modes = [(0o664, 0o604), (0o600, 0o600), (0o6755, 0o705)];
    for (before, after) in modes {
        std::fs::write(&file, "old").unwrap();
        std::os::unix::fs::chown(&file, Some(0), Some(0)).unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(before)).unwrap();
        let Some(ran) = opal.as_nobody(&["up", "--no-record"]) else { return };
        ran.code(0);
        assert_eq!(opal.read("shared"), "new\n");
        let mode = std::fs::metadata(&file).unwrap().permissions().mode() & 0o7777;
        assert_eq!(format!("{mode:o}"), format!("{after:o}"), "{before:o}");
        std::fs::remove_file(&file).unwrap();
    }
}
