//! Fleets of more hosts than a process may have files open for.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::{fifo, local, release, table};
use crate::support::{Opal, Ran, binary};

/// A project whose hosts are `h1` to `hN` of `hosts.ini`, each with a connection of its own. They are this machine:
/// a stand-in for `docker` runs what it is given.
fn many(count: usize, block: &str, options: &str) -> Option<Opal> {
    let opal = local(count, block, options)?;
    let source = opal.read("commands.opl").replace("\"local\"", "\"docker\"");
    opal.write("commands.opl", &source);
    opal.write("hosts.ini", format!("h[1:{count}] ansible_connection=docker\n"));
    let opal = opal
        .file("bin/docker", "#!/bin/sh\n[ \"$1 $2\" = \"exec -i\" ] && shift 3 && exec \"$@\"\n");
    let bin = opal.path().join("bin");
    fs::set_permissions(bin.join("docker"), fs::Permissions::from_mode(0o755)).unwrap();
    Some(opal.env("PATH", &format!("{}:/usr/bin:/bin", bin.display())))
}

/// Calls opal where it may have 256 files open, and says otherwise itself.
fn limited(opal: &Opal, words: &[&str]) -> Ran {
    let (program, limit) = (binary(), "ulimit -S -n 256; exec \"$0\" \"$@\"");
    let start = [OsStr::new("sh"), OsStr::new("-c"), OsStr::new(limit), program.as_os_str()];
    Ran::from(opal.started_by(&start).args(words).output().unwrap())
}

#[test]
fn all_hosts_are_at_work_at_once_however_few_files_a_process_may_have_open() {
    let folder = tempfile::tempdir().unwrap();
    let (begun, at) = (folder.path().join("begun"), folder.path().display());
    fs::create_dir(&begun).unwrap();
    fifo(&folder.path().join("go"));
    let block = format!("        touch {at}/begun/@target.name; : < {at}/go\n");
    let Some(opal) = many(40, &block, ", max_concurrency=40") else { return };
    let ran = std::thread::scope(|scope| {
        let writer = scope.spawn(|| release(&begun, 40));
        let ran = limited(&opal, &["task"]);
        drop(writer.join());
        ran
    });
    let rows = table(&ran.code(0).stderr);
    assert!(rows.len() == 40 && rows.iter().all(|row| row[1] == "ok"), "{}", ran.stderr);
    assert_eq!(fs::read_dir(&begun).unwrap().count(), 40);
}

#[test]
fn verify_reaches_more_hosts_than_a_process_may_have_files_open() {
    let Some(opal) = many(40, "        @file.directory(\"d-@target.name\")\n", "") else { return };
    let ran = limited(&opal, &["verify", "task"]);
    ran.code(1).says("40 resources: 40 missing").hides("blocked");
}

#[test]
fn connections_of_hosts_that_have_ended_do_not_all_stay_open() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = folder.path().join("daemon");
    // How many processes opal has started and not ended when the last host is at work. What the first one has
    // started is still there when somebody comes back to it.
    let count = "{ cat /proc/[0-9]*/stat 2>/dev/null || true; } | awk -v of=$(awk '{print $4}' /proc/$PPID/stat) '$4 == of' | wc -l";
    let block = format!(
        "        test @target.name != h1 || {{ (setsid sleep 54374 > /dev/null 2>&1 & echo $! > {at}); }}\n        \
         test @target.name != h145 || {{ {count}; }}\n",
        at = daemon.display()
    );
    let Some(opal) = many(145, &block, ", max_concurrency=4") else { return };
    let first = opal.read("commands.opl");
    let first = first.trim_end().strip_suffix('}').unwrap();
    let second = format!(
        "    @ssh.hosts(inventory=\"hosts.ini\", connections=[\"docker\"], select=\"h1\") {{\n        kill $(cat {})\n    }}\n}}\n",
        daemon.display()
    );
    opal.write("commands.opl", format!("{first}{second}"));
    let ran = opal.call(&["task"]);
    let open: usize = ran.code(0).stdout.trim().parse().unwrap();
    assert!((100..135).contains(&open), "{open} of 145");
}
