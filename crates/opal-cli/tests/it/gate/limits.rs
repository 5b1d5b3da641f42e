//! What rules refuse besides missing approvals, who can sign, and what the gate cannot prevent: each limit is shown.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command};

use opal_testing::needs;
use opal_testing::processes::eventually;

use super::rewritten::rewritten;
use super::{BY_ANN, Gate};

#[test]
fn a_rule_can_refuse_that_only_some_targets_run() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    gate.policy(&format!("{BY_ANN}limit = \"refuse\"\n"));
    gate.approve("d.plan", "ann");
    let ran = gate.opal.call(&["run", "--plan", "d.plan", "--limit", "web1"]);
    ran.code(77).says("the policy refuses `--limit` for this contract").says("omit `--limit`");
    gate.run("d.plan").code(0);
}

#[test]
fn a_contract_that_skips_its_preflight_is_refused_under_a_rule() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    let skips = rewritten(&gate, "d.plan", |_, made| {
        made.options.insert("skip-preflight".to_owned(), vec!["urgent".to_owned()]);
    });
    gate.opal.write("skips.plan", skips);
    gate.policy(BY_ANN);
    gate.approve("skips.plan", "ann");
    gate.run("skips.plan")
        .code(77)
        .says("`--skip-preflight` cannot be used with a contract that needs an approval");
}

/// An agent of `ssh` that ends with the test.
struct SshAgent(Child);

impl Drop for SshAgent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The private key is nowhere on the machine: the agent has it.
#[test]
fn a_key_that_only_an_ssh_agent_has_approves() {
    if !needs::program("ssh-agent") || !needs::program("ssh-add") {
        return;
    }
    let gate = Gate::new();
    let socket = gate.opal.path().join("agent.sock");
    let mut agent = Command::new("ssh-agent");
    agent.arg("-D").arg("-a").arg(&socket).stdout(std::process::Stdio::null());
    let _agent = SshAgent(agent.spawn().unwrap());
    eventually("the agent listens", || socket.exists());
    let mut add = Command::new("ssh-add");
    add.arg("-q").arg(gate.key("ann")).env("SSH_AUTH_SOCK", &socket);
    assert!(add.status().unwrap().success());
    fs::remove_file(gate.key("ann")).unwrap();
    let socket = socket.display().to_string();
    let gate = Gate { opal: gate.opal.env("SSH_AUTH_SOCK", &socket) };
    gate.plan(&["deploy", "-o", "d.plan"]);
    gate.policy(BY_ANN);
    let public = gate.key("ann").with_added_extension("pub").display().to_string();
    let (code, shown) = gate.says(&["plan", "approve", "d.plan", "--key", &public], "y\r");
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("every process that reaches your SSH agent"), "{shown}");
    gate.run("d.plan").code(0).stdout("deploying to eu-west-1\n");
}

/// `targets` protects names: the same steps under another name are free. Without it, every task is protected.
#[test]
fn the_same_steps_under_another_name_are_free_unless_a_rule_has_no_targets() {
    let gate = Gate::with(
        "fun deploy() {\n    echo deploying\n}\n\nfun tidy() {\n    echo deploying\n}\n",
    );
    for task in ["deploy", "tidy"] {
        gate.plan(&[task, "-o", &format!("{task}.plan")]);
    }
    gate.policy(BY_ANN);
    gate.run("deploy.plan").code(77).says("needs 1 approval");
    gate.run("tidy.plan").code(0).stdout("deploying\n");
    gate.policy("[[approval]]\nby = [ANN]\n");
    gate.run("tidy.plan").code(77).says("needs 1 approval").hides("deploying\n");
}

/// The runner is another account: what the agent's account can write decides nothing.
#[test]
fn another_account_can_change_neither_policy_nor_root_nor_inbox_and_runs_nothing() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    gate.policy(BY_ANN);
    gate.opal.call(&["plan", "submit", "d.plan"]).code(0);
    let open = |name: &str, mode: u32| {
        fs::set_permissions(gate.opal.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    // The agent may read the project and the contract, and begin programs there.
    ["", "home"].iter().for_each(|name| open(name, 0o755));
    let root = gate.opal.path().join("home/.opal").display().to_string();
    let Some(ran) = gate.opal.as_nobody(&["--root", &root, "run", "--plan", "d.plan"]) else {
        return;
    };
    // It is sealed to the runner.
    ran.code(76).says("this machine is not among the recipients").hides("deploying to");
    let policy = gate.opal.read("home/.opal/config/policy.toml");
    let try_all = "for path in config/policy.toml config/x ledger/x inbox/x x; do \
                   if echo harm > \"$0/$path\"; then echo \"wrote $path\"; fi; done; \
                   if mv \"$0\" \"$0.old\" || rm -rf \"$0/inbox\"; then echo removed; fi; true";
    let words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c"];
    let mut words: Vec<&std::ffi::OsStr> = words.iter().map(AsRef::as_ref).collect();
    words.extend::<[&std::ffi::OsStr; 2]>([try_all.as_ref(), root.as_ref()]);
    let tried = gate.opal.started_by(&words).output().unwrap();
    assert!(tried.stdout.is_empty(), "{tried:?}");
    assert_eq!(gate.opal.read("home/.opal/config/policy.toml"), policy);
    gate.run("d.plan").code(77).says("needs 1 approval");
}
