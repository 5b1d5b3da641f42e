//! Targets in a contract, with a real SSH server: who answered when it was made, and who answers now.

use std::fs;
use std::process::Command;

use opal_testing::needs;
use opal_testing::sshd::Sshd;

use crate::support::{Opal, Ran, binary};

const SOURCE: &str =
    "fun task() {\n    @ssh.host(\"web1\") {\n        echo ran >> marks\n    }\n}\n";

/// A server whose account is known by these names, and a project that reaches it.
fn servers(names: &[&str], source: &str) -> Option<(Sshd, Opal)> {
    let helper = binary().with_file_name("opal-target");
    if !needs::has("the target helper (`cargo build -p opal-target`)", helper.exists()) {
        return None;
    }
    let mut sshd = Sshd::start()?;
    sshd.name_hosts(names);
    let opal = Opal::project(source).env("PATH", sshd.path().to_str().unwrap());
    Some((sshd, opal))
}

fn plan(opal: &Opal) -> Ran {
    opal.call(&["--root", "root", "plan", "task", "-o", "c.plan"])
}

fn run(opal: &Opal, more: &[&str]) -> Ran {
    opal.call(&[&["--root", "root", "run", "--plan", "c.plan"], more].concat())
}

/// How often the step has run.
fn marks(sshd: &Sshd) -> usize {
    let text = fs::read_to_string(sshd.account().home.join("marks")).unwrap_or_default();
    text.lines().count()
}

/// The fingerprint, as `ssh-keygen` writes it.
fn fingerprint(sshd: &Sshd, file: &str) -> String {
    let file = sshd.directory().join(file);
    let output = Command::new("ssh-keygen").arg("-lf").arg(file).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.split(' ').nth(1).unwrap().to_owned()
}

fn keygen(sshd: &Sshd, words: &[&str]) {
    let made = Command::new("ssh-keygen").current_dir(sshd.directory()).args(words).output();
    assert!(made.unwrap().status.success());
}

#[test]
fn a_changed_host_key_is_77_and_76_once_ssh_knows_it_and_nothing_runs() {
    let Some((mut sshd, opal)) = servers(&["web1"], SOURCE) else { return };
    let old = fingerprint(&sshd, "host.pub");
    plan(&opal).code(0);
    run(&opal, &[]).code(0);
    assert_eq!(marks(&sshd), 1);
    sshd.change_host_key(&[]);
    let new = fingerprint(&sshd, "host.pub");
    let refused = run(&opal, &[]);
    refused.code(77).says(&format!("host key is {old} in the contract, {new} now"));
    refused.says("nothing was run").says("ssh-keygen -R");
    // Not even then is a key accepted that `ssh` refuses.
    run(&opal, &["--force"]).code(77);
    sshd.know_host();
    let refused = run(&opal, &[]);
    assert_eq!(
        refused.code(76).stderr.lines().take(3).collect::<Vec<_>>(),
        [
            &*format!("infra_mutated:web1: host key is {old} in the contract, {new} now"),
            "error: contract refused: 1 difference (infra_mutated); nothing was run",
            "  help: if web1 was reinstalled, `opal plan -o c.plan --root root task` makes a new contract",
        ]
    );
    assert_eq!(marks(&sshd), 1);
    run(&opal, &["--force"]).code(0).says("infra_mutated:web1");
    assert_eq!(marks(&sshd), 2);
    plan(&opal).code(0);
    run(&opal, &[]).code(0);
}

#[test]
fn a_second_key_of_a_host_is_not_a_difference() {
    let Some((mut sshd, opal)) = servers(&["web1"], SOURCE) else { return };
    keygen(&sshd, &["-q", "-t", "ecdsa", "-N", "", "-f", "second"]);
    let line = format!("HostKey {}", sshd.directory().join("second").display());
    sshd.restart(&[&line]);
    let host = format!("[127.0.0.1]:{}", sshd.port());
    let second = fs::read_to_string(sshd.directory().join("second.pub")).unwrap();
    let (first, second) = (format!("{host} {}", sshd.host_key()), format!("{host} {second}"));
    // The contract has the key that the client knew then.
    fs::write(sshd.known_hosts(), &first).unwrap();
    plan(&opal).code(0);
    let shown = opal.call(&["--root", "root", "plan", "show", "c.plan"]);
    shown.code(0).says(&fingerprint(&sshd, "host.pub"));
    // `ssh` prefers the type that it finds first, and would ask for the other key now.
    for known in [[&*second, &*first].concat(), [&*first, &*second].concat()] {
        fs::write(sshd.known_hosts(), known).unwrap();
        run(&opal, &[]).code(0);
    }
    // Without the contract's key the host is another one, whatever else it has.
    sshd.change_host_key(&[&line]);
    fs::write(sshd.known_hosts(), format!("{host} {}{second}", sshd.host_key())).unwrap();
    run(&opal, &[]).code(76).says("infra_mutated:web1: host key is ");
    assert_eq!(marks(&sshd), 2);
}

#[test]
fn a_host_without_a_key_of_the_contracts_type_is_another_one() {
    let Some((mut sshd, opal)) = servers(&["web1"], SOURCE) else { return };
    plan(&opal).code(0);
    fs::remove_file(sshd.directory().join("host")).unwrap();
    keygen(&sshd, &["-q", "-t", "ecdsa", "-N", "", "-f", "host"]);
    sshd.restart(&[]);
    run(&opal, &[]).code(77).says("in the contract, ");
    sshd.know_host();
    run(&opal, &[]).code(76).says("infra_mutated:web1: host key is ");
    assert_eq!(marks(&sshd), 0);
}

#[test]
fn views_say_who_answered_in_plain_words() {
    let Some((sshd, opal)) = servers(&["web1"], SOURCE) else { return };
    plan(&opal).code(0);
    let key = fingerprint(&sshd, "host.pub");
    let uid = sshd.account().uid();
    let line = format!(
        "web1: ssh web1, user number {uid}, linux {}, host key {key} (ssh-ed25519), machine <32:sha256:",
        std::env::consts::ARCH
    );
    let shown = opal.call(&["--root", "root", "plan", "show", "c.plan"]);
    shown.code(0).says("\nTargets:\n").says(&line);
    opal.call(&["--root", "root", "plan", "verify", "c.plan"]).code(0).says(&line);
    let json = opal.call(&["--root", "root", "plan", "show", "c.plan", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json.code(0).stdout).unwrap();
    let target = &json["provenance"]["targets"][0];
    assert_eq!(target["name"], "web1");
    assert_eq!(target["host_key"]["identity"], key);
    assert_eq!(target["transport"][0], "ssh web1");
    // The ID of a machine is not in the clear.
    let machine = fs::read_to_string("/etc/machine-id").unwrap_or_default();
    assert!(!json.to_string().contains(machine.trim()) || machine.trim().is_empty());
    opal.call(&["--root", "root", "plan", "task", "-o", "d.plan"]).code(0);
    opal.call(&["--root", "root", "plan", "diff", "c.plan", "d.plan"]).code(0);
    opal.call(&["--root", "root", "plan", "diff", "c.plan"]).code(0);
}
