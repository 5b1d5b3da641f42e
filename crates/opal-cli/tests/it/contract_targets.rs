//! Targets in a contract, with a real SSH server: who answered when it was made, and who answers now.

use std::ffi::OsStr;
use std::fs;

use opal_testing::needs;
use opal_testing::podman::{NAME, Podman};
use opal_testing::sshd::Sshd;

use crate::servers::servers;
use crate::support::{Opal, Ran, binary};

const SOURCE: &str =
    "fun task() {\n    @ssh.host(\"web1\") {\n        echo ran >> marks\n    }\n}\n";

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

#[test]
fn a_changed_host_key_is_77_and_76_once_ssh_knows_it_and_nothing_runs() {
    let Some((mut sshd, opal)) = servers(&["web1"], SOURCE) else { return };
    let old = sshd.fingerprint("host.pub");
    plan(&opal).code(0);
    run(&opal, &[]).code(0);
    assert_eq!(marks(&sshd), 1);
    sshd.change_host_key(&[]);
    let new = sshd.fingerprint("host.pub");
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
    let record = opal.call(&["--root", "root", "runs", "show"]);
    record.code(0).says("infra_mutated: web1: host key is ");
    run(&opal, &["--force"]).code(0).says("infra_mutated:web1");
    assert_eq!(marks(&sshd), 2);
    plan(&opal).code(0);
    run(&opal, &[]).code(0);
}

#[test]
fn a_second_key_of_a_host_is_not_a_difference() {
    let Some((mut sshd, opal)) = servers(&["web1"], SOURCE) else { return };
    sshd.keygen(&["-q", "-t", "ecdsa", "-N", "", "-f", "second"]);
    let line = format!("HostKey {}", sshd.directory().join("second").display());
    sshd.restart(&[&line]);
    let host = format!("[127.0.0.1]:{}", sshd.port());
    let second = fs::read_to_string(sshd.directory().join("second.pub")).unwrap();
    let (first, second) = (format!("{host} {}", sshd.host_key()), format!("{host} {second}"));
    // The contract has the key that the client knew then.
    fs::write(sshd.known_hosts(), &first).unwrap();
    plan(&opal).code(0);
    let shown = opal.call(&["--root", "root", "plan", "show", "c.plan"]);
    shown.code(0).says(&sshd.fingerprint("host.pub"));
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
    sshd.keygen(&["-q", "-t", "ecdsa", "-N", "", "-f", "host"]);
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
    let key = sshd.fingerprint("host.pub");
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

#[test]
fn a_missing_target_is_refused_and_omitted_by_force() {
    let source = "fun task() {\n    @ssh.hosts(inventory=\"hosts.ini\", max_concurrency=1) {\n        \
                  echo \"ran on @target.name\"\n    }\n}\n";
    let Some((mut sshd, opal)) = servers(&["web1", "web2", "web3"], source) else { return };
    let opal = opal.file("hosts.ini", "web1\nweb2\n");
    plan(&opal).code(0);
    run(&opal, &[]).code(0).says("web2    ok");
    // A host more, a host less.
    fs::write(opal.path().join("hosts.ini"), "web1\nweb3\n").unwrap();
    let refused = run(&opal, &[]);
    refused.code(76).says("infra_missing:web2: it is selected in the contract, and no longer now");
    refused.says("infra_mutated:web3: it is selected now, and is not in the contract");
    assert_eq!(refused.stdout, "");
    let forced = run(&opal, &["--force"]);
    assert_eq!(forced.code(0).stdout, "ran on web1\n");
    // A host that does not answer.
    fs::write(opal.path().join("hosts.ini"), "web1\nweb2\n").unwrap();
    sshd.configure("Host web2\n  Port 1\n");
    let refused = run(&opal, &[]);
    refused.code(76).says("infra_missing:web2: host unreachable: connection refused");
    refused.says("error: contract refused: 1 difference (infra_missing); nothing was run");
    assert_eq!(refused.stdout, "");
    let forced = run(&opal, &["--force"]);
    assert_eq!(forced.code(0).stdout, "ran on web1\n");
    let json = run(&opal, &["--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.code(76).stdout).unwrap();
    assert_eq!(json["differences"][0]["machine"], "web2");
    assert_eq!(json["differences"][0]["code"], "infra_missing");
    // A contract is not made of a host that does not answer.
    plan(&opal).code(69).says("`web2`: host unreachable");
}

#[test]
fn a_target_whose_values_are_read_is_compared_before_they_are() {
    let source = "fun task() {\n    @ssh.host(\"web1\") {\n        echo @shell.output(\"touch read; echo x\")\n    }\n}\n";
    let Some((mut sshd, opal)) = servers(&["web1"], source) else { return };
    plan(&opal).code(0);
    let read = sshd.account().home.join("read");
    fs::remove_file(&read).unwrap();
    sshd.change_host_key(&[]);
    run(&opal, &[]).code(77);
    sshd.know_host();
    let refused = run(&opal, &[]);
    refused.code(76).says("infra_mutated:web1: host key is ").says("nothing was run");
    assert!(!read.exists());
    let shown = opal.call(&["--root", "root", "plan", "diff", "c.plan"]);
    shown.says("infra_mutated:web1: host key is ");
    sshd.configure("Host web1\n  Port 1\n");
    run(&opal, &[]).code(76).says("infra_missing:web1: host unreachable");
}

#[test]
fn a_missing_target_whose_values_are_in_the_plan_is_omitted_by_force() {
    let source = "fun task() {\n    @ssh.hosts([\"web1\", \"web2\"], max_concurrency=1) {\n        \
                  echo \"ran on @target.name\" @shell.output(\"echo x\")\n    }\n}\n\
                  fun one() {\n    @ssh.host(\"web2\") {\n        echo @shell.output(\"echo x\")\n    }\n}\n";
    let Some((mut sshd, opal)) = servers(&["web1", "web2"], source) else { return };
    plan(&opal).code(0);
    opal.call(&["--root", "root", "plan", "one", "-o", "one.plan"]).code(0);
    sshd.configure("Host web2\n  Port 1\n");
    let refused = run(&opal, &[]);
    refused.code(76).says("infra_missing:web2: host unreachable").says("nothing was run");
    refused.says("the plan needs values of web2; `--force` omits it from a fleet");
    assert_eq!(refused.stdout, "");
    let forced = run(&opal, &["--force"]);
    forced.code(0).says("infra_missing:web2: host unreachable");
    assert_eq!(forced.stdout.lines().count(), 1, "{forced:?}");
    assert!(forced.stdout.starts_with("ran on web1 "), "{forced:?}");
    let limited = run(&opal, &["--limit", "all:!web2"]);
    assert_eq!(limited.code(0).stdout.lines().count(), 1, "{limited:?}");
    // A block on one host cannot do without it.
    let alone = opal.call(&["--root", "root", "run", "--plan", "one.plan", "--force"]);
    alone.code(76).says("infra_missing:web2: host unreachable").says("nothing was run");
}

/// A server on a machine of its own, whose step loses the connection once and writes another machine ID.
fn moving(before: &str, after: &str) -> Option<(Sshd, Opal)> {
    let mut sshd = Sshd::start_as_machine(before)?;
    sshd.name_hosts(&["web1"]);
    let file = sshd.directory().join("machine-id");
    let source = format!(
        "fun task() {{\n    @retry(attempts=2, delay=1ms, lost=\"retry\") {{\n        @ssh.host(\"web1\") {{\n            \
         echo ran >> marks\n            test -e there || {{ touch there; printf {after} > {}; kill -9 $PPID; }}\n        \
         }}\n    }}\n}}\n",
        file.display()
    );
    let opal = Opal::project(&source).env("PATH", sshd.path().to_str().unwrap());
    Some((sshd, opal))
}

const ONE: &str = "11111111111111111111111111111111";
const OTHER: &str = "22222222222222222222222222222222";

#[test]
fn another_machine_after_a_reconnect_gets_nothing() {
    for is_contract in [false, true] {
        let Some((sshd, opal)) = moving(ONE, OTHER) else { return };
        let ran = match is_contract {
            false => opal.call(&["task"]),
            true => {
                plan(&opal).code(0);
                run(&opal, &[])
            }
        };
        ran.code(76).says("infra_mutated:web1: ");
        assert_eq!(marks(&sshd), 1, "{ran:?}");
    }
    // The same machine is reached again.
    let Some((sshd, opal)) = moving(ONE, ONE) else { return };
    opal.call(&["task"]).code(0);
    assert_eq!(marks(&sshd), 2);
}

#[test]
fn another_machine_with_the_same_key_is_refused_and_accepted_by_force() {
    let Some(mut sshd) = Sshd::start_as_machine(ONE) else { return };
    sshd.name_hosts(&["web1"]);
    let opal = Opal::project(SOURCE).env("PATH", sshd.path().to_str().unwrap());
    plan(&opal).code(0);
    fs::write(sshd.directory().join("machine-id"), OTHER).unwrap();
    let refused = run(&opal, &[]);
    refused
        .code(76)
        .says("infra_mutated:web1: another machine or image answers now than in the contract\n");
    refused.hides(ONE).hides(OTHER);
    assert_eq!(marks(&sshd), 0);
    run(&opal, &["--force"]).code(0);
    // What a target says of itself is not proven: a copy of the key and of the ID is the same host.
    fs::write(sshd.directory().join("machine-id"), ONE).unwrap();
    sshd.restart(&[]);
    run(&opal, &[]).code(0);
}

#[test]
fn a_banner_cannot_imitate_a_key() {
    let Some((mut sshd, opal)) = servers(&["web1"], SOURCE) else { return };
    let fake = "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let banner = sshd.directory().join("banner");
    fs::write(&banner, format!("HOSTNAME\n\n\nssh-ed25519\n{fake}\nhost key is {fake}\n")).unwrap();
    sshd.restart(&[&format!("Banner {}", banner.display())]);
    plan(&opal).code(0);
    let shown = opal.call(&["--root", "root", "plan", "show", "c.plan"]);
    shown.code(0).says(&sshd.fingerprint("host.pub")).hides(fake);
    run(&opal, &[]).code(0);
}

#[test]
fn a_contract_with_another_key_in_its_provenance_is_damaged() {
    let Some((mut sshd, opal)) = servers(&["web1"], SOURCE) else { return };
    let old = sshd.fingerprint("host.pub");
    plan(&opal).code(0);
    sshd.change_host_key(&[]);
    sshd.know_host();
    let new = sshd.fingerprint("host.pub");
    let file = opal.path().join("c.plan");
    let mut bytes = fs::read(&file).unwrap();
    let at = bytes.windows(old.len()).position(|part| part == old.as_bytes()).unwrap();
    bytes[at..at + new.len()].copy_from_slice(new.as_bytes());
    fs::write(&file, bytes).unwrap();
    for more in [&[][..], &["--force"]] {
        run(&opal, more).code(76).says("`c.plan` is refused");
    }
    opal.call(&["--root", "root", "plan", "show", "c.plan"]).code(76);
    assert_eq!(marks(&sshd), 0);
}

#[test]
fn a_whole_task_runs_on_the_targets_that_the_command_line_names() {
    let source = "var HERE = @env.PLACE\n\nfun task(word: String = \"hello\") {\n    \
                  echo \"@var.word from @target.name @var.HERE\"\n    @file.directory(\"made\")\n}\n";
    let Some((sshd, opal)) = servers(&["web1", "web2"], source) else { return };
    let opal = opal.env("PLACE", "here").file("hosts.ini", "[web]\nweb[1:2]\n");
    let plain = opal.call(&["plan", "task", "--on", "web1"]);
    plain.code(0).says("task:\n└─ @ssh.host(host=\"web1\")\n   ├─ echo");
    plain.says("--on = \"web1\"");
    let made = sshd.account().home.join("made");
    opal.call(&["verify", "task", "--on", "web1"])
        .code(1)
        .says("web1    task.ssh.host[0].file.directory[0]")
        .says("`opal --on web1 task`");
    let ran = opal.call(&["task", "bye", "--on", "web1"]);
    assert_eq!(ran.code(0).stdout, "bye from web1 here\n");
    assert!(made.is_dir() && !opal.path().join("made").exists());
    let ran = opal.call(&["--on", "web1,web2", "run", "task"]);
    assert_eq!(ran.code(0).stdout, "hello from web1 here\nhello from web2 here\n");
    let ran = opal.call(&["task", "--on", "hosts.ini#web:!web1", "--dry-run"]);
    ran.code(0).says("@ssh.hosts(inventory=\"hosts.ini\", select=\"web:!web1\") → web2");
    // The contract has it, and so has the command that makes a new one.
    opal.call(&["--root", "root", "plan", "task", "--on", "hosts.ini#web", "-o", "c.plan"]).code(0);
    run(&opal, &[]).code(0).says("web2    ok");
    run(&opal, &["--on", "web1"]).code(2).says("a contract already contains its hosts");
    fs::write(opal.path().join("hosts.ini"), "[web]\nweb1\n").unwrap();
    let refused = run(&opal, &[]);
    refused
        .code(76)
        .says("infra_missing:web2: ")
        .says("--on 'hosts.ini#web' task` makes a new contract");
    for (targets, said) in [("", "a target is empty"), ("-oX", "`-oX`: "), ("hosts.ini#", "empty")]
    {
        opal.call(&["task", &format!("--on={targets}")]).code(2).says(said);
    }
}

#[test]
fn a_container_is_known_by_its_image() {
    let helper = binary().with_file_name("opal-target");
    if !needs::has("the target helper (`cargo build -p opal-target`)", helper.exists()) {
        return;
    }
    let Some(podman) = Podman::start(&helper) else { return };
    let source = format!(
        "fun task() {{\n    @container.exec(\"{NAME}\", engine=\"podman\") {{\n        echo ran\n    }}\n}}\n"
    );
    let path = podman.environment().remove(OsStr::new("PATH")).unwrap();
    let opal = Opal::project(&source).env("PATH", path.to_str().unwrap());
    plan(&opal).code(0);
    let shown = opal.call(&["--root", "root", "plan", "show", "c.plan"]);
    shown.code(0).says(&format!("{NAME}: container {NAME} engine=podman, user number 0, linux "));
    assert_eq!(run(&opal, &[]).code(0).stdout, "ran\n");
    // Made again out of the same image, it is the same.
    podman.replace(NAME);
    run(&opal, &[]).code(0);
    assert!(podman.run(&["commit", "--change", "LABEL other=1", NAME, "other"]));
    podman.replace("other");
    let refused = run(&opal, &[]);
    refused.code(76).says(&format!("infra_mutated:{NAME}: another machine or image answers now"));
    assert_eq!(refused.stdout, "");
    assert!(podman.run(&["rm", "--force", "--time", "0", NAME]));
    run(&opal, &[]).code(76).says(&format!("infra_missing:{NAME}: "));
    // A step may make it: a contract can be made without it.
    plan(&opal).code(0);
    podman.replace("other");
    assert_eq!(run(&opal, &[]).code(0).stdout, "ran\n");
}

#[test]
fn users_on_a_host_are_targets_of_their_own() {
    if !needs::has("sudo", std::path::Path::new("/usr/bin/sudo").exists()) {
        return;
    }
    let source = "fun task() {\n    @ssh.host(\"web1\", as=\"root\") {\n        id -un\n    }\n    \
                  @ssh.host(\"web1\") {\n        @as(\"root\") {\n            id -un\n        }\n    }\n}\n";
    let Some((mut sshd, opal)) = servers(&["web1"], source) else { return };
    let uid = sshd.account().uid();
    let _rule = sshd.account().may_be_anyone();
    plan(&opal).code(0);
    let shown = opal.call(&["--root", "root", "plan", "show", "c.plan"]);
    shown.code(0).says("  web1: ssh web1 as=root via=sudo, user number 0, linux ");
    shown.says(&format!("  web1: ssh web1, user number {uid}, linux "));
    shown.says("  web1/root: ssh web1 / sudo user=root, user number 0, linux ");
    assert_eq!(run(&opal, &[]).code(0).stdout, "root\nroot\n");
    sshd.change_host_key(&[]);
    sshd.know_host();
    let refused = run(&opal, &[]);
    refused.code(76).says("infra_mutated:web1: host key is ");
    assert_eq!(refused.stdout, "");
}

#[test]
fn a_direct_run_and_one_without_targets_have_nothing_of_this() {
    let Some((mut sshd, opal)) = servers(&["web1"], SOURCE) else { return };
    // The user's own configuration decides outside of contracts.
    fs::write(sshd.known_hosts(), "").unwrap();
    sshd.configure("Host web1\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n");
    opal.call(&["task"]).code(0);
    plan(&opal).code(69).says("`web1`: ");
    let opal = Opal::project("fun task() {\n    echo hello\n}\n");
    plan(&opal).code(0);
    let shown = opal.call(&["--root", "root", "plan", "show", "c.plan"]);
    shown.code(0).hides("Targets:");
    run(&opal, &[]).code(0);
}
