//! Hosts without a target helper: only commands run there.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use opal_testing::processes::{eventually, is_alive, signal};
use opal_testing::sshd::Sshd;
use tempfile::TempDir;

use crate::servers::servers;
use crate::support::Opal;

fn on_web1(arguments: &str, steps: &str) -> String {
    format!("fun task() {{\n    @ssh.host(\"web1\"{arguments}) {{\n        {steps}\n    }}\n}}\n")
}

#[test]
fn commands_run_without_a_helper_and_the_output_and_the_record_say_so() {
    let steps = "pwd\n        echo @var.TOKEN > token; echo \"$KEY\"\n        exit 7";
    let source = on_web1(", helper=\"none\", env={KEY: \"it's\"}", steps);
    let source = format!("var TOKEN = @secret.env.TOKEN\n\n{source}");
    let Some((sshd, opal)) = servers(&["web1"], &source) else { return };
    let home = sshd.account().home.clone();
    let opal = opal.env("TOKEN", "canary $(id) '\"");
    let ran = opal.call(&["--root", "root", "task"]);
    ran.code(7).hides("canary").says("only commands run on `web1`, without a helper");
    assert_eq!(ran.stdout, format!("{}\nit's\n", home.display()));
    assert_eq!(fs::read_to_string(home.join("token")).unwrap(), "canary $(id) '\"\n");
    assert!(!home.join(".cache/opal").exists());
    let record = opal.call(&["--root", "root", "runs", "show", "--events"]);
    record.code(0).says("only commands run on `web1`");
}

#[test]
fn resources_and_values_of_a_host_without_a_helper_are_blocked_with_the_reason() {
    let source = on_web1(", helper=\"none\"", "@file.directory(\"app\")");
    let Some((sshd, opal)) = servers(&["web1"], &source) else { return };
    let reason = "`web1` has no target helper";
    opal.call(&["verify", "task"]).code(1).says("blocked").says(reason);
    opal.call(&["task"]).code(1).says(reason).says("remove `helper=\"none\"`");
    assert!(!sshd.account().home.join("app").exists());
    let source = on_web1(", helper=\"none\"", "echo @file.read(\"x\")");
    let Some((_sshd, opal)) = servers(&["web1"], &source) else { return };
    opal.call(&["task"]).code(65).says("[E0805]: ").says(reason);
}

#[test]
fn what_only_a_helper_can_do_is_an_error_before_anything_connects() {
    for argument in ["as=\"root\"", "login=true", "password=@secret.env.P"] {
        let opal = Opal::project(&on_web1(&format!(", helper=\"none\", {argument}"), "id"));
        let ran = opal.env("P", "long enough").call(&["task"]);
        ran.code(65).says("[E1501]: ").says("needs the target helper");
    }
}

#[test]
fn ctrl_c_ends_a_command_on_a_host_without_a_helper() {
    let source = on_web1(", helper=\"none\"", "echo $$ > pid; sleep 1000");
    let Some((sshd, opal)) = servers(&["web1"], &source) else { return };
    let pid = sshd.account().home.join("pid");
    let opal = opal.args(["task"]);
    let mut child = opal.interruptible().spawn().unwrap();
    let read = || fs::read_to_string(&pid).unwrap_or_default().trim().to_owned();
    eventually("the command runs", || !read().is_empty());
    signal(&child, "INT");
    let code = child.wait().unwrap().code();
    assert_eq!(code, Some(130));
    eventually("it has ended", || !is_alive(&read()));
}

#[test]
fn a_command_is_not_sent_to_another_machine_than_the_first_one() {
    let Some(mut sshd) = Sshd::start_as_machine("0123456789abcdef0123456789abcdef\n") else {
        return;
    };
    sshd.name_hosts(&["web1"]);
    let steps = "echo first\n        echo 00112233445566778899aabbccddeeff > /etc/machine-id\n        \
                 echo @var.TOKEN > second";
    let source = on_web1(", helper=\"none\"", steps);
    let opal = Opal::project(&format!("var TOKEN = @secret.env.TOKEN\n\n{source}"))
        .env("TOKEN", "correct-horse")
        .env("PATH", sshd.path().to_str().unwrap());
    let ran = opal.call(&["task"]);
    ran.code(76).says("infra_mutated:web1: another machine or user answers");
    assert_eq!(ran.stdout, "first\n");
    assert!(!sshd.account().home.join("second").exists());
}

#[test]
fn a_changed_host_key_is_77_without_a_helper_too() {
    let source = on_web1(", helper=\"none\"", "touch sent");
    let Some((mut sshd, opal)) = servers(&["web1"], &source) else { return };
    sshd.change_host_key(&[]);
    opal.call(&["task"]).code(77).says("host key is SHA256:").says("ssh-keygen -R");
    assert!(!sshd.account().home.join("sent").exists());
}

#[test]
fn without_proc_a_command_runs_and_nobody_hears_of_what_is_missing() {
    // What `/proc` says about the shell is not there; all else is.
    let source = on_web1(", helper=\"none\"", "echo there");
    let Some((first, opal)) = servers(&["web1"], &source) else { return };
    drop(first);
    let Some(mut sshd) = Sshd::start_with("/bin/bash", &[]) else { return };
    sshd.name_hosts(&["web1"]);
    let rc = "read() { [ \"$2\" = l ] && { echo nothing there >&2; return 1; }; builtin read \"$@\"; }\nexport -f read\n";
    fs::write(sshd.account().home.join(".bashrc"), rc).unwrap();
    let ran = opal.env("PATH", sshd.path().to_str().unwrap()).call(&["task"]);
    assert_eq!(ran.code(0).stdout, "there\n");
    ran.hides("nothing there");
}

/// A server whose `uname -s` says something else.
fn server_of(system: &str, steps: &str) -> Option<(TempDir, Sshd, Opal)> {
    let bin = tempfile::tempdir().unwrap();
    fs::set_permissions(bin.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let shell = bin.path().join("sh");
    let script = format!(
        "#!/bin/bash\nuname() {{ [ \"$1\" = -s ] && echo {system} || echo vax; }}\nexport -f uname\n\
         exec /bin/bash \"$@\"\n"
    );
    fs::write(&shell, script).unwrap();
    fs::set_permissions(&shell, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("SetEnv PATH={}:/usr/bin:/bin", bin.path().display());
    let (first, opal) = servers(&["web1"], &on_web1("", steps))?;
    drop(first);
    let mut sshd = Sshd::start_with("/bin/sh", &[&path])?;
    sshd.name_hosts(&["web1"]);
    let opal = opal.env("PATH", sshd.path().to_str().unwrap());
    Some((bin, sshd, opal))
}

#[test]
fn a_host_that_opal_has_no_helper_for_gets_commands_only() {
    let Some((_bin, _sshd, opal)) = server_of("Plan9", "echo there") else { return };
    let ran = opal.call(&["task"]);
    ran.code(0).says("opal has no helper for such a machine");
    assert_eq!(ran.stdout, "there\n");
}

#[test]
fn a_host_with_windows_is_an_error() {
    let Some((_bin, _sshd, opal)) = server_of("MINGW64_NT-10.0", "echo there") else { return };
    let ran = opal.call(&["task"]);
    ran.code(69).says("a host with Windows cannot be a target");
    assert_eq!(ran.stdout, "");
}
