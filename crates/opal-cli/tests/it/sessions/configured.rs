//! The `ssh` of opal's machine, where its configuration or its age is in the way.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::servers::servers;

const SOURCE: &str = "fun task() {\n    @ssh.host(\"web1\") {\n        true\n    }\n}\n";

#[test]
fn a_broken_configuration_of_ssh_is_named_with_its_line() {
    let Some((mut sshd, opal)) = servers(&["web1"], SOURCE) else { return };
    sshd.configure("Port 22\nColour blue\n");
    let ran = opal.call(&["task"]);
    ran.code(69).says("`web1`: ssh refuses its configuration: ");
    ran.says("ssh_config: line 2: Bad configuration option: colour");
    ran.says("help: correct the configuration of `ssh`").hides("unreachable");
}

#[test]
fn an_ssh_that_is_too_old_for_contracts_is_named() {
    let Some((sshd, opal)) = servers(&["web1"], SOURCE) else { return };
    // It has never heard of this option, as OpenSSH before 8.5.
    let old = format!(
        "#!/bin/sh\ncase \"$*\" in *KnownHostsCommand=*) echo \
         \"command-line: line 0: Bad configuration option: knownhostscommand\" >&2; exit 255;; esac\n\
         exec {} \"$@\"\n",
        sshd.directory().join("bin/ssh").display()
    );
    let opal = opal.file("old/ssh", old);
    let bin = opal.path().join("old");
    fs::set_permissions(bin.join("ssh"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), sshd.path().display());
    let opal = opal.env("PATH", &path).args(["--root", "root"]);
    // A direct run does not need it.
    opal.call(&["task"]).code(0);
    let refused = opal.call(&["plan", "task", "-o", "c.plan"]);
    refused.says("contracts need OpenSSH 8.5 or newer on opal's machine").hides("unreachable");
    assert!(!opal.path().join("c.plan").exists());
}
