//! What a killed process leaves beside the files that it writes.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, flock};
#[cfg(target_os = "linux")]
use rustix::fs::{Mode, OFlags};

use crate::needs;
use crate::support::Opal;
use opal_testing::processes::eventually;

const COPY: &str =
    "version: 1\nsteps:\n  - {id: a, type: copy, source: source, destination: out/copy}\n";

fn temporary(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let names = names.map(|it| it.unwrap().file_name().to_string_lossy().into_owned());
    let mut names: Vec<_> = names.filter(|it| it.starts_with(".opal-")).collect();
    names.sort();
    names
}

/// How many bytes a process has written into a new file in `folder`, with a temporary name or none.
pub(super) fn written(process: u32, folder: &Path) -> u64 {
    let real = folder.canonicalize().unwrap();
    let open = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let unnamed = open.map(|it| it.path()).filter(|it| {
        fs::read_link(it).is_ok_and(|to| {
            to.parent() == Some(&real) && to.to_string_lossy().ends_with(" (deleted)")
        })
    });
    let named = temporary(folder).into_iter().map(|name| folder.join(name));
    unnamed.chain(named).filter_map(|it| Some(fs::metadata(it).ok()?.len())).max().unwrap_or(0)
}

#[test]
fn an_apply_that_is_killed_in_the_middle_of_a_copy_leaves_nothing_beside_it() {
    let opal = Opal::machine("").file("a.yaml", COPY).file("source", "");
    let out = opal.path().join("out");
    fs::create_dir(&out).unwrap();
    let source = File::options().write(true).open(opal.path().join("source")).unwrap();
    source.set_len(256 << 20).unwrap();
    let mut apply = opal.command();
    let apply = apply.args(["apply", "a.yaml"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut apply = apply.spawn().unwrap();
    eventually("the copy is being written", || written(apply.id(), &out) > 0);
    apply.kill().unwrap();
    apply.wait().unwrap();
    assert!(!out.join("copy").exists(), "it was killed too late");
    #[cfg(target_os = "linux")]
    if rustix::fs::open(&out, OFlags::TMPFILE | OFlags::RDWR, Mode::from_raw_mode(0o600)).is_ok() {
        assert_eq!(temporary(&out), [""; 0]);
    }
    // A file system without unnamed files has something left until the next apply.
    source.set_len(3).unwrap();
    opal.call(&["apply", "a.yaml"]).code(0);
    assert_eq!(temporary(&out), [""; 0]);
    assert_eq!(opal.bytes("out/copy"), [0; 3]);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "files are dated by the clock of the system")]
fn the_next_write_removes_what_dead_processes_left_and_nothing_else() {
    let opal = Opal::machine("").file("a.yaml", COPY).file("source", "new\n");
    let out = opal.path().join("out");
    fs::create_dir(&out).unwrap();
    let file = |name: &str| File::create(out.join(name)).unwrap();
    let two_days_ago = SystemTime::now() - Duration::from_secs(2 * 24 * 60 * 60);
    let old = |name: &str| file(name).set_modified(two_days_ago).unwrap();
    // Written with a lock.
    file(".opal-00000000000000aa.new");
    let living = file(".opal-00000000000000bb.new");
    flock(&living, FlockOperation::LockExclusive).unwrap();
    living.set_modified(two_days_ago).unwrap();
    // Written by a version that took none.
    old(".opal-00000000000000cc");
    file(".opal-00000000000000dd");
    // Not opal's: another form, another kind.
    for name in [".opal-config", ".opal-00000000000000a.new", ".opal-00000000000000ee.old"] {
        old(name);
    }
    fs::create_dir(out.join(".opal-00000000000000ff.new")).unwrap();
    symlink("../source", out.join(".opal-0000000000000011.new")).unwrap();
    opal.call(&["apply", "a.yaml"]).code(0);
    let kept = [
        ".opal-0000000000000011.new",
        ".opal-00000000000000a.new",
        ".opal-00000000000000bb.new",
        ".opal-00000000000000dd",
        ".opal-00000000000000ee.old",
        ".opal-00000000000000ff.new",
        ".opal-config",
    ];
    assert_eq!(temporary(&out), kept);
    assert_eq!(opal.read("source"), "new\n");
    drop(living);
    fs::remove_file(out.join("copy")).unwrap();
    opal.call(&["apply", "a.yaml"]).code(0);
    assert!(!out.join(".opal-00000000000000bb.new").exists());
}

#[test]
fn every_command_that_replaces_a_file_removes_leftovers_beside_it() {
    let text = "fun   say() {\n    echo hello > @file.write(\"out\")\n}\nfun give() = echo x\n";
    let writes: [&[&str]; 4] =
        [&["say"], &["plan", "give", "-o", "give.plan"], &["fmt"], &["apply", "a.yaml"]];
    for args in writes {
        let opal = Opal::machine(text).file("source", "x").file("a.yaml", COPY.replace("out/", ""));
        opal.write(".opal-00000000000000aa.new", "half");
        opal.call(args).code(0);
        assert_eq!(temporary(&opal.path()), [""; 0], "{args:?}");
    }
}

#[test]
fn leftovers_of_another_user_stay() {
    if !needs::root() {
        return;
    }
    let opal = Opal::machine("").file("a.yaml", COPY).file("source", "new\n");
    let out = opal.path().join("out");
    fs::create_dir(&out).unwrap();
    let name = ".opal-00000000000000aa.new";
    fs::write(out.join(name), "half").unwrap();
    std::os::unix::fs::chown(out.join(name), Some(65534), None).unwrap();
    opal.call(&["apply", "a.yaml"]).code(0);
    assert_eq!(temporary(&out), [name]);
}
