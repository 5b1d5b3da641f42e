//! Rules in `/etc/opal`, which root owns: each call sees an `/etc` of its own.

use std::ffi::OsStr;
use std::fs;

use opal_testing::needs;

use super::{BY_ANN, Gate};
use crate::support::{Ran, binary};

/// A call with this policy of the system; none where the tests may not mount anything.
fn with_system(gate: &Gate, policy: &str, words: &[&str]) -> Option<Ran> {
    let etc = gate.opal.path().join("etc");
    fs::create_dir_all(etc.join("opal")).unwrap();
    for name in ["passwd", "group"] {
        fs::copy(format!("/etc/{name}"), etc.join(name)).unwrap();
    }
    let policy = policy.replace("ANN", &gate.listed("ann", "ann"));
    fs::write(etc.join("opal/policy.toml"), policy).unwrap();
    let mount = "mount --bind \"$0\" /etc && exec \"$@\"";
    let line = |program: &[&OsStr]| {
        let words: [&OsStr; 5] =
            ["unshare".as_ref(), "-m".as_ref(), "sh".as_ref(), "-c".as_ref(), mount.as_ref()];
        gate.opal.started_by(&[&words[..], &[etc.as_os_str()], program].concat())
    };
    let tried = line(&["true".as_ref()]).output().is_ok_and(|tried| tried.status.success());
    if !needs::root() || !needs::has("mounts in a namespace of its own", tried) {
        return None;
    }
    Some(Ran::from(line(&[binary().as_os_str()]).args(words).output().unwrap()))
}

#[test]
fn a_key_that_every_step_can_use_is_refused_where_the_machine_demands_approvals() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    gate.approve("d.plan", "ann");
    let run = ["run", "--plan", "d.plan"];
    let ssh = gate.opal.path().join("home/.ssh");
    fs::create_dir(&ssh).unwrap();
    fs::copy(gate.key("ann"), ssh.join("any-name")).unwrap();
    let Some(ran) = with_system(&gate, BY_ANN, &run) else { return };
    ran.code(77).says("any-name`, which has no passphrase").says("another account");
    // The same key in the runtime root.
    let credentials = gate.opal.path().join("home/.opal/credentials");
    fs::create_dir_all(&credentials).unwrap();
    fs::rename(ssh.join("any-name"), credentials.join("ann.key")).unwrap();
    with_system(&gate, BY_ANN, &run).unwrap().code(77).says("ann.key`, which has no passphrase");
    fs::remove_file(credentials.join("ann.key")).unwrap();
    with_system(&gate, BY_ANN, &run).unwrap().code(0).stdout("deploying to eu-west-1\n");
}

#[test]
fn all_rules_of_the_machine_the_user_and_the_project_must_be_met() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    let run = ["run", "--plan", "d.plan"];
    gate.policy("[[approval]]\nby = [BOB]\n");
    let eve = gate.listed("eve", "eve");
    gate.opal.write("opal.mod", format!("[[policy.approval]]\nby = [{eve}]\n"));
    for who in ["ann", "bob"] {
        gate.approve("d.plan", who);
        let Some(ran) = with_system(&gate, BY_ANN, &run) else { return };
        ran.code(77);
    }
    gate.approve("d.plan", "eve");
    let ran = with_system(&gate, BY_ANN, &run).unwrap();
    ran.code(0);
    // The value of a variable is that of the machine, wherever the user sets another one.
    gate.opal.write("opal.mod", "");
    gate.opal.write("commands.opl", "fun deploy() {\n    echo \"where=$WHERE\"\n}\n");
    gate.plan(&["deploy", "-o", "e.plan"]);
    gate.policy("environment = [\"WHERE=user\", \"HOME\"]\n");
    let system = "[[approval]]\nneeded = 0\nenvironment = [\"WHERE=system\"]\n";
    let ran = with_system(&gate, system, &["run", "--plan", "e.plan"]).unwrap();
    ran.code(0).stdout("where=system\n");
}
