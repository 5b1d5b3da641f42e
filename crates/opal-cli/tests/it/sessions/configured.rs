//! The `ssh` of opal's machine, where its configuration or its age is in the way.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use opal_testing::needs;

use crate::servers::servers;
use crate::support::Opal;

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

/// A project whose `ssh` is such a script, and who finds the system's programs after it.
fn with_ssh(script: &str) -> Opal {
    let source = SOURCE.replace("web1", "me@127.0.0.1:1");
    let opal = Opal::project(&source).file("bin/ssh", script).args(["--root", "root"]);
    let ssh = opal.path().join("bin/ssh");
    fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", opal.path().join("bin").display());
    opal.env("PATH", &path)
}

#[test]
fn options_that_the_users_configuration_ignores_are_ignored() {
    const SSH: &str = "/usr/bin/ssh";
    if !needs::has("an SSH client", std::path::Path::new(SSH).exists()) {
        return;
    }
    let opal = with_ssh(&format!("#!/bin/sh\nexec {SSH} -F \"${{0%/*}}/config\" \"$@\"\n"));
    let opal = opal.file("bin/config", "Host *\nIgnoreUnknown UseKeychain\nUseKeychain yes\n");
    // Nobody listens there: it got as far as that.
    let ran = opal.call(&["task"]);
    ran.code(69).says("connection refused").hides("refuses its configuration");
}

#[test]
fn an_older_ssh_is_asked_for_its_release_once_and_gets_no_option_that_it_does_not_know() {
    for (release, known, unknown) in [
        ("7.4p1", "ControlMaster=no", "RemoteCommand="),
        ("8.0p1", "RemoteCommand=none", "StdinNull="),
        ("9.2p1 Debian-2", "StdinNull=no", "IgnoreUnknown="),
    ] {
        let opal = with_ssh(&format!(
            "#!/bin/sh\necho \"$*\" >> \"${{0%/*}}/words\"\ncase $1 in -V) echo 'OpenSSH_{release}, OpenSSL' >&2; exit 0;; esac\n\
             echo 'ssh: connect to host x port 1: Connection refused' >&2; exit 255\n"
        ));
        opal.call(&["task"]).code(69).says("connection refused");
        let words = fs::read_to_string(opal.path().join("bin/words")).unwrap();
        assert_eq!(words.lines().filter(|line| *line == "-V").count(), 1, "{words}");
        assert!(words.contains(known) && !words.contains(unknown), "{release}: {words}");
    }
}

#[test]
fn the_agent_is_for_a_host_only_if_the_block_says_so() {
    for (option, said) in [("", "ForwardAgent=no"), (", forward_agent=true", "ForwardAgent=yes")] {
        let opal = with_ssh(
            "#!/bin/sh\necho \"$*\" >> \"${0%/*}/words\"\n\
             echo 'ssh: connect to host x port 1: Connection refused' >&2; exit 255\n",
        );
        let source = SOURCE.replace("\"web1\"", &format!("\"me@127.0.0.1:1\"{option}"));
        let opal = opal.file("commands.opl", source);
        opal.call(&["task"]).code(69);
        let words = fs::read_to_string(opal.path().join("bin/words")).unwrap();
        assert_eq!(words.matches("ForwardAgent=").count(), words.matches(said).count(), "{words}");
        assert!(words.contains(said), "{words}");
    }
}
