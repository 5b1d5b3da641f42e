//! Files that opal reads for itself are regular files, and nobody waits for the other end of a pipe.

use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::{Opal, Ran};

fn pipe(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

/// What the call did; a call that waits for ever is killed and fails the test.
#[track_caller]
fn ends(command: &mut Command) -> Ran {
    let mut child = command.spawn().unwrap();
    let (sender, ended) = std::sync::mpsc::channel();
    let pid = rustix::process::Pid::from_child(&child);
    let watch = std::thread::spawn(move || {
        if ended.recv_timeout(Duration::from_secs(60)).is_err() {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    });
    drop(child.stdin.take());
    let ran = Ran::from(child.wait_with_output().unwrap());
    let _ = sender.send(());
    watch.join().unwrap();
    assert_ne!(ran.code, -1, "it waited for a pipe");
    ran
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for() {
    let table: [(&str, &[&str], i32); 10] = [
        ("home/.opal/config/policy.toml", &["run", "--plan", "kept.plan"], 78),
        ("home/.opal/credentials/runner.key", &["plan", "up", "-o", "c.plan"], 74),
        ("home/.opal/credentials/ci.key", &["plan", "up", "-o", "c.plan", "--sign", "ci"], 74),
        ("opal.mod", &["run", "--plan", "kept.plan"], 78),
        (".env", &["up", "--env-file", ".env"], 66),
        ("x.opl", &["run", "x.opl"], 66),
        ("x.opl", &["check", "x.opl"], 66),
        ("x.yaml", &["verify", "x.yaml"], 2),
        ("c.plan", &["run", "--plan", "c.plan"], 66),
        ("id", &["plan", "up", "-o", "c.plan", "--identity", "./id"], 74),
    ];
    for (path, args, code) in table {
        let opal = Opal::machine("fun up() = echo ran\n");
        for folder in ["home/.opal", "home/.opal/config", "home/.opal/credentials"] {
            let folder = opal.path().join(folder);
            std::fs::create_dir_all(&folder).unwrap();
            let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
            std::fs::set_permissions(folder, private).unwrap();
        }
        if args.contains(&"kept.plan") {
            opal.call(&["plan", "up", "-o", "kept.plan"]).code(0);
        }
        pipe(&opal.path().join(path));
        let ran = ends(opal.command().args(args));
        assert_eq!(ran.code, code, "{path} {args:?} {ran:#?}");
        assert!(!ran.stdout.contains("ran\n"), "{path}");
    }
}

#[test]
fn nobody_waits_for_the_reader_of_what_is_written() {
    let opal = Opal::machine("fun up() = echo ran\n").file("page.tmpl", "{{.name}}\n");
    let pipe_path = opal.path().join("out");
    pipe(&pipe_path);
    for words in [
        &["plan", "up", "-o", "out"][..],
        &["convert", "page.tmpl", "-o", "out", "--force"],
        &["up", "--events", "out"],
    ] {
        let ran = ends(opal.command().args(words));
        ran.code(74).says("the named pipe has no reader").hides("ran\n");
    }
    // It is still a pipe, and whoever reads it gets the contract.
    let gently = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let reader = std::fs::OpenOptions::new().read(true).custom_flags(gently).open(&pipe_path);
    ends(opal.command().args(["plan", "up", "-o", "out"])).code(0);
    let mut read = Vec::new();
    reader.unwrap().read_to_end(&mut read).unwrap();
    assert!(read.starts_with(b"OPAL"), "{read:?}");
}

#[test]
fn a_source_that_is_a_pipe_is_not_passed_over() {
    let opal = Opal::machine("fun up() = echo outer\n").file("sub/.keep", "");
    pipe(&opal.path().join("sub/commands.opl"));
    for args in [&["up"][..], &["list"], &["check"], &[]] {
        let ran = ends(opal.command().args(args).current_dir(opal.path().join("sub")));
        ran.code(66).says("a named pipe, not a regular file").hides("outer");
    }
}

#[test]
fn a_device_is_refused_and_read_to_no_end() {
    let opal = Opal::machine("fun up() = echo ran\n");
    ends(opal.command().args(["up", "--env-file", "/dev/zero"])).code(66).says("a device");
    ends(opal.command().args(["run", "/dev/zero"])).code(66).says("a device");
    ends(opal.command().args(["up", "--env-file", "/dev/null"])).code(0).stdout("ran\n");
}

#[test]
fn a_descriptor_that_opal_was_given_is_read() {
    let opal = Opal::machine("fun up() = echo @env.X(public=true)\n");
    let words = [
        "bash".as_ref(),
        "-c".as_ref(),
        "\"$0\" up --env-file <(echo X=from-a-pipe) && \"$0\" run <(echo echo script)".as_ref(),
        crate::support::binary().as_os_str(),
    ];
    let mut command = opal.started_by(&words);
    ends(command.stdin(Stdio::null())).code(0).stdout("from-a-pipe\nscript\n");
}
