//! The gate: which contracts need the approval of people, and what does not count as one.

#![expect(clippy::disallowed_methods, reason = "real keys are made and used by `ssh-keygen`")]

mod attacks;
mod compared;
mod confined;
mod hostile;
mod inbox;
mod limits;
pub(crate) mod presence;
pub(crate) mod rewritten;
mod system;
mod table;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::prompts::answered;
use crate::support::{Opal, Ran};

pub(crate) const SOURCE: &str = "fun deploy() {\n    echo deploying to @env.REGION\n}\n\nfun test() {\n    echo tested\n}\n\n\
                      fun all() {\n    @cmd.deploy()\n}\n";

/// A machine, its project, and people with keys.
pub(crate) struct Gate {
    pub(crate) opal: Opal,
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self::with(SOURCE)
    }

    pub(crate) fn with(source: &str) -> Self {
        let opal = Opal::machine(source).env("REGION", "eu-west-1").env("TERM", "xterm");
        let gate = Self { opal };
        for name in ["ann", "bob", "eve"] {
            gate.make_key(name);
        }
        gate
    }

    fn make_key(&self, name: &str) {
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"])
            .arg(self.key(name))
            .status();
        assert!(made.unwrap().success());
    }

    pub(crate) fn key(&self, name: &str) -> PathBuf {
        self.opal.path().join(format!("{name}.key"))
    }

    /// As a policy writes a key: without the comment, with a name.
    pub(crate) fn listed(&self, key: &str, name: &str) -> String {
        let text = fs::read_to_string(self.key(key).with_added_extension("pub")).unwrap();
        let words: Vec<&str> = text.split_whitespace().take(2).collect();
        format!("\"{} {name}\"", words.join(" "))
    }

    /// `ANN` and `BOB` are their keys.
    pub(crate) fn policy(&self, text: &str) {
        let text = text
            .replace("ANN", &self.listed("ann", "ann"))
            .replace("BOB", &self.listed("bob", "bob"));
        let folder = self.opal.path().join("home/.opal/config");
        fs::create_dir_all(&folder).unwrap();
        for folder in [&folder, folder.parent().unwrap()] {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
        }
        fs::write(folder.join("policy.toml"), text).unwrap();
    }

    pub(crate) fn plan(&self, words: &[&str]) {
        self.opal.call(&[&["plan"], words].concat()).code(0);
    }

    pub(crate) fn run(&self, contract: &str) -> Ran {
        self.opal.call(&["run", "--plan", contract])
    }

    /// What a person sees and types.
    pub(crate) fn says(&self, words: &[&str], answer: &str) -> (i32, String) {
        let mut command = self.opal.command();
        command.args(words);
        answered(command, &[("? [y/N] ", answer)])
    }

    pub(crate) fn approve(&self, contract: &str, who: &str) -> String {
        let key = self.key(who).display().to_string();
        let (code, shown) = self.says(&["plan", "approve", contract, "--key", &key], "y\r");
        assert_eq!(code, 0, "{shown}");
        shown
    }

    fn lines(&self, contract: &str) -> String {
        self.opal.read(&format!("{contract}.approvals"))
    }

    /// A line as a program can write it, with a statement of its own.
    fn forge(
        &self,
        line: &str,
        change: impl Fn(&str) -> String,
        key: &str,
        namespace: &str,
    ) -> String {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let statement = change(&value["statement"].to_string());
        let mut signing = Command::new("ssh-keygen")
            .args(["-q", "-Y", "sign", "-n", namespace, "-f"])
            .arg(self.key(key))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        signing.stdin.take().unwrap().write_all(statement.as_bytes()).unwrap();
        let signature = String::from_utf8(signing.wait_with_output().unwrap().stdout).unwrap();
        let signature = serde_json::Value::String(signature);
        format!("{{\"signature\":{signature},\"statement\":{statement}}}\n")
    }
}

const BY_ANN: &str = "[[approval]]\nby = [ANN]\ntargets = [\"deploy\"]\n";

#[test]
fn a_contract_runs_once_it_is_approved_and_then_never_again() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    gate.policy(BY_ANN);
    let ran = gate.run("d.plan");
    ran.code(77)
        .says("`d.plan` is refused: the contract needs 1 approval and has none; nothing was run");
    ran.says("these keys count: ann (ssh-ed25519 AAAA").says("`opal plan approve d.plan`");
    gate.opal.call(&["plan", "verify", "d.plan"]).code(77).says("needs 1 approval");
    let shown = gate.approve("d.plan", "ann");
    assert!(shown.contains("You approve these unseen:"), "{shown}");
    gate.opal.call(&["plan", "verify", "d.plan"]).code(0);
    gate.run("d.plan").code(0).stdout("deploying to eu-west-1\n");
    gate.run("d.plan").code(76).says("has already been run");
    let shown = gate.opal.call(&["runs", "list", "--json"]).code(0).json();
    let runs = shown["runs"].as_array().unwrap();
    let reasons: Vec<&str> =
        runs.iter().filter_map(|run| run["refused"]["reason"].as_str()).collect();
    assert_eq!(reasons, ["used", "not_approved"]);
    let record = runs.iter().find(|run| run["refused"].is_null()).unwrap();
    assert_eq!(record["contract"]["approvals"][0]["name"], "ann", "{record}");
}

#[test]
fn who_says_no_signs_nothing_and_nobody_at_the_terminal_is_a_usage_error() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    let key = gate.key("ann").display().to_string();
    let (code, shown) = gate.says(&["plan", "approve", "d.plan", "--key", &key], "n\r");
    assert_eq!(code, 130, "{shown}");
    assert!(!gate.opal.path().join("d.plan.approvals").exists());
    gate.opal
        .call(&["plan", "approve", "d.plan", "--key", &key])
        .code(2)
        .says("run it on a terminal");
    gate.opal.call(&["plan", "approve", "d.plan"]).code(66).says("there is no key to approve with");
    gate.opal
        .call(&["plan", "approve", "d.plan", "--key", "nokey"])
        .code(66)
        .says("there is no key `nokey`");
    let rsa = gate.opal.path().join("rsa.key");
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "rsa", "-b", "2048", "-N", "", "-f"])
        .arg(&rsa)
        .status();
    assert!(made.unwrap().success());
    let ran = gate.opal.call(&["plan", "approve", "d.plan", "--key", rsa.to_str().unwrap()]);
    ran.code(65).says("is not a key that can approve");
}

#[test]
fn what_does_not_count_is_named_with_its_reason() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    gate.plan(&["deploy", "-o", "other.plan"]);
    gate.approve("d.plan", "ann");
    gate.approve("other.plan", "ann");
    let (line, other) = (gate.lines("d.plan"), gate.lines("other.plan"));
    gate.policy(BY_ANN);
    let same = |text: &str| text.to_owned();
    let namespace = "opal-approval-v1";
    let hours = |hours: i64| {
        move |text: &str| {
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            let at = value["at"].as_i64().unwrap();
            text.replace(&format!("\"at\":{at}"), &format!("\"at\":{}", at + hours * 3600))
        }
    };
    let table = [
        (gate.forge(&line, same, "eve", namespace), "unknown key: it is not in `by`"),
        (gate.forge(&line, same, "ann", "file"), "the signature was made for something else"),
        (gate.forge(&line, hours(-25), "ann", namespace), "older than `max_age`"),
        (gate.forge(&line, hours(1), "ann", namespace), "dated in the future"),
        (other.clone(), "approves another contract"),
        (
            line.replace("\"note\":null", "\"note\":\"x\""),
            "the signature does not match the statement",
        ),
        (line.replace("SSH SIGNATURE", "SSH SIGNATUR"), "not an SSH signature"),
    ];
    for (forged, why) in table {
        assert_ne!(forged, line, "{why}");
        gate.opal.write("d.plan.approvals", forged);
        gate.run("d.plan").code(77).says("has none").says(why);
    }
    // Other spellings of a statement are no approvals at all.
    let unknown = |text: &str| text.replace("\"v\":1", "\"v\":1,\"x\":1");
    for forged in [
        gate.forge(&line, unknown, "ann", namespace),
        gate.forge(&line, |text| text.replace("\"at\":", "\"at\": "), "ann", namespace),
        "nonsense\n".repeat(1000),
    ] {
        gate.opal.write("d.plan.approvals", forged);
        gate.run("d.plan").code(77).says("has none").says("d.plan.approvals:1: not an approval");
    }
    // Nor does anything in the file act on a terminal.
    gate.opal.write("d.plan.approvals", "{\"\u{9b}2J\u{202e}x\":1}\n");
    gate.run("d.plan").code(77).says("unknown member").hides("\u{9b}").hides("\u{202e}");
    // Among a thousand broken lines one that counts is found.
    gate.opal.write("d.plan.approvals", "nonsense\n".repeat(1000) + &line);
    gate.run("d.plan").code(0).says("(and 999 other lines)");
}

#[test]
fn two_keys_of_one_person_are_one_person() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    gate.policy(&format!(
        "[[approval]]\nby = [ANN, {}, BOB]\nneeded = 2\n",
        gate.listed("eve", "ann")
    ));
    gate.approve("d.plan", "ann");
    gate.approve("d.plan", "eve");
    gate.run("d.plan").code(77).says("needs 2 approvals and has 1 (ann)");
    // Nor is a name another one that only looks like it.
    for name in ["Ann", "ann\u{200b}", "a nn", "aNn"] {
        let eve = gate.listed("eve", name);
        gate.policy(&format!("[[approval]]\nby = [ANN, {eve}, BOB]\nneeded = 2\n"));
        gate.run("d.plan").code(77).says("needs 2 approvals and has 1 (");
        gate.policy(&format!("[[approval]]\nby = [ANN, {eve}]\nneeded = 2\n"));
        gate.run("d.plan").code(78).says("`needed` is 2, and `by` names 1");
    }
    // One key under two names is one person, too.
    let again = gate.listed("ann", "zoe");
    gate.policy(&format!("[[approval]]\nby = [ANN, {again}]\nneeded = 2\n"));
    gate.run("d.plan").code(78).says("`needed` is 2, and `by` names 1");
    gate.policy("[[approval]]\nby = [ANN, BOB]\nneeded = 2\n");
    gate.approve("d.plan", "bob");
    gate.run("d.plan").code(0);
}

#[test]
fn a_rejection_binds_also_when_its_line_is_gone() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    gate.policy("[[approval]]\nby = [ANN, BOB]\n");
    gate.approve("d.plan", "ann");
    let approved = gate.lines("d.plan");
    let key = gate.key("bob").display().to_string();
    let (code, shown) =
        gate.says(&["plan", "reject", "d.plan", "--key", &key, "--note", "wrong region"], "y\r");
    assert_eq!(code, 0, "{shown}");
    gate.run("d.plan").code(77).says("rejected by bob: wrong region");
    gate.opal.write("d.plan.approvals", approved);
    gate.run("d.plan").code(77).says("rejected by bob");
    // Whoever is not listed rejects nothing.
    gate.plan(&["deploy", "-o", "e.plan"]);
    gate.approve("e.plan", "ann");
    let key = gate.key("eve").display().to_string();
    let (code, shown) = gate.says(&["plan", "reject", "e.plan", "--key", &key], "y\r");
    assert!(code == 0 && shown.contains("it counts for nothing"), "{shown}");
    gate.run("e.plan").code(0);
}

#[test]
fn makers_and_what_they_may_not_do() {
    let gate = Gate::new();
    gate.opal.call(&["keys", "generate", "ci"]).code(0);
    let ci = gate.opal.call(&["keys", "show", "ci"]).stdout.trim().to_owned();
    gate.plan(&["deploy", "-o", "unsigned.plan"]);
    gate.plan(&["deploy", "-o", "signed.plan", "--sign", "ci"]);
    gate.policy(&format!("[[approval]]\nby = [ANN]\nmakers = [\"{ci} ci\"]\n"));
    for plan in ["unsigned.plan", "signed.plan"] {
        gate.approve(plan, "ann");
    }
    gate.run("unsigned.plan")
        .code(77)
        .says("is not signed by one of the `makers`")
        .says("--sign KEY");
    gate.policy(&format!("[[approval]]\nby = [ANN]\nmakers = [\"{ci} ann\"]\nnot_maker = true\n"));
    gate.run("signed.plan").code(77).says("`not_maker`: this person made the contract");
    // Also under another name for the same person.
    gate.policy(&format!("[[approval]]\nby = [ANN]\nmakers = [\"{ci} Ann\"]\nnot_maker = true\n"));
    gate.run("signed.plan").code(77).says("`not_maker`: this person made the contract");
    gate.policy(&format!("[[approval]]\nby = [ANN]\nmakers = [\"{ci} ci\"]\nnot_maker = true\n"));
    gate.run("signed.plan").code(0);
}

#[test]
fn what_would_run_something_else_than_was_approved_is_refused() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    gate.policy(BY_ANN);
    gate.approve("d.plan", "ann");
    let from = ["--from", "deploy.shell[0]"];
    for options in [&["--force"][..], &from] {
        let ran = gate.opal.call(&[&["run", "--plan", "d.plan"], options].concat());
        ran.code(77).says(&format!(
            "`{}` cannot be used with a contract that needs an approval",
            options[0]
        ));
    }
    gate.opal
        .call_with(&[("REGION", "us-east-1")], &["run", "--plan", "d.plan"])
        .code(76)
        .says("env_changed");
    gate.run("d.plan").code(0);
}

/// Planning runs programs of the source: not even those begin before somebody has approved.
#[test]
fn nothing_of_a_contract_runs_before_it_is_approved() {
    let gate = Gate::with(
        "var found = @shell.output(\"echo once >> planned; echo x\", public=true)\n\nfun deploy() {\n    \
         echo @var.found\n}\n",
    );
    gate.plan(&["deploy", "-o", "d.plan"]);
    gate.policy(BY_ANN);
    let planned =
        || std::fs::read_to_string(gate.opal.path().join("planned")).unwrap().lines().count();
    let before = planned();
    gate.run("d.plan").code(77);
    assert_eq!(planned(), before, "a refused contract is not planned again");
    gate.approve("d.plan", "ann");
    gate.run("d.plan").code(0);
    assert!(planned() > before);
}

#[test]
fn a_run_of_another_contract_is_not_continued_under_a_rule() {
    let gate = Gate::with("fun deploy() {\n    echo first\n    test -e ready\n    echo last\n}\n");
    gate.plan(&["deploy", "-o", "one.plan"]);
    gate.run("one.plan").code(1);
    gate.policy(BY_ANN);
    gate.plan(&["deploy", "-o", "two.plan"]);
    gate.approve("two.plan", "ann");
    gate.opal.write("ready", "");
    let runs = gate.opal.call(&["runs", "list", "--json"]).code(0).json();
    let resume = format!("--resume={}", runs["runs"][0]["id"].as_str().unwrap());
    let resumed = gate.opal.call(&["run", "--plan", "two.plan", &resume]);
    resumed.code(77).says("`--resume` cannot be used with a contract that needs an approval");
    let whole = gate.run("two.plan");
    whole.code(0);
    assert!(whole.stdout.contains("first") && whole.stdout.contains("last"), "{}", whole.stdout);
}

#[test]
fn a_rule_holds_for_what_it_names_and_for_what_calls_it() {
    let gate = Gate::new();
    for task in ["deploy", "test", "all"] {
        gate.plan(&[task, "-o", &format!("{task}.plan")]);
    }
    gate.policy(BY_ANN);
    gate.run("test.plan").code(0);
    gate.run("all.plan").code(77).says("needs 1 approval");
    gate.policy("[[approval]]\nby = [ANN]\nexcept = [\"all\"]\n");
    gate.run("all.plan").code(0);
    gate.run("test.plan").code(77);
    // A script is known by its file.
    gate.opal.write("backup.opl", "echo saved\n");
    gate.plan(&["./backup.opl", "-o", "b.plan"]);
    gate.policy("[[approval]]\nby = [ANN]\ntargets = [\"backup.opl\"]\n");
    gate.run("b.plan").code(77).says("needs 1 approval");
    // Under contract only, also where another function calls it.
    gate.policy("[[approval]]\nneeded = 0\ntargets = [\"deploy\"]\ndirect = \"refuse\"\n");
    gate.opal.call(&["deploy"]).code(77).says("the policy requires a contract for `deploy`");
    gate.opal.call(&["all"]).code(77).says("the policy requires a contract for `all`");
    gate.opal.call(&["test"]).code(0);
    gate.run("deploy.plan").code(0);
}

#[test]
fn further_demands_of_a_rule_are_met_or_named() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    gate.plan(&["test", "-o", "t.plan"]);
    gate.policy("[[approval]]\nby = [ANN]\npublic_values = true\nonce = false\n");
    for plan in ["d.plan", "t.plan"] {
        gate.approve(plan, "ann");
    }
    gate.run("d.plan").code(77).says("has 1 value that nobody can see in it");
    gate.run("t.plan").code(0);
    gate.run("t.plan").code(0);
    gate.policy("[[approval]]\nby = [ANN]\npresence = true\n");
    gate.run("t.plan").code(77).says("`presence` needs a hardware key that was touched");
    gate.policy("[[approval]]\nby = [ANN]\nmax_age = \"1s\"\n");
    let later = gate.opal.later();
    later.call(&["run", "--plan", "t.plan"]).code(77).says("older than the approval rule allows");
}

#[test]
fn a_key_without_a_passphrase_that_steps_can_use_is_named() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    gate.policy(BY_ANN);
    gate.approve("d.plan", "ann");
    let ssh = gate.opal.path().join("home/.ssh");
    fs::create_dir(&ssh).unwrap();
    fs::copy(gate.key("ann"), ssh.join("id_ed25519")).unwrap();
    gate.run("d.plan")
        .code(0)
        .says("id_ed25519`, which has no passphrase; the approval proves nothing");
}

#[test]
fn a_key_of_opal_has_a_passphrase_and_approves() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    let generate = |answers: &[(&str, &str)]| {
        let mut command = gate.opal.command();
        command.args(["keys", "generate", "zoe", "--approve"]);
        answered(command, answers)
    };
    let (code, shown) = generate(&[("passphrase", "\r"), ("again", "\r")]);
    assert!(code == 2 && shown.contains("needs a passphrase"), "{shown}");
    let (code, shown) = generate(&[("passphrase", "swordfish\r"), ("again", "swordfish\r")]);
    assert!(code == 0 && shown.contains("ssh-ed25519 AAAA"), "{shown}");
    let public = gate.opal.call(&["keys", "show", "zoe"]).stdout.trim().to_owned();
    gate.opal
        .call(&["keys", "list"])
        .code(0)
        .says("zoe     approve  ssh-ed25519 AAAA")
        .says("runner  seal     age1");
    let ran = gate.opal.call(&["plan", "deploy", "-o", "x.plan", "--sign", "zoe"]);
    ran.says("is a key that approves, and cannot sign contracts");
    gate.policy(&format!("[[approval]]\nby = [\"{public} zoe\"]\n"));
    let mut command = gate.opal.command();
    command.args(["plan", "approve", "d.plan", "--key", "zoe"]);
    let (code, shown) = answered(command, &[("? [y/N] ", "y\r"), ("passphrase", "swordfish\r")]);
    assert_eq!(code, 0, "{shown}");
    let ran = gate.run("d.plan");
    ran.code(0).hides("has no passphrase");
}

#[test]
fn an_approval_is_never_written_through_a_symlink() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    gate.opal.write("profile", "safe\n");
    std::os::unix::fs::symlink("profile", gate.opal.path().join("d.plan.approvals")).unwrap();
    let key = gate.key("ann").display().to_string();
    let (code, shown) = gate.says(&["plan", "approve", "d.plan", "--key", &key], "y\r");
    assert_eq!(code, 74, "{shown}");
    assert_eq!(gate.opal.read("profile"), "safe\n");
}

#[test]
fn who_approved_one_before_sees_what_differs() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    let shown = gate.approve("d.plan", "ann");
    assert!(shown.contains("echo deploying to"), "{shown}");
    gate.opal.write("commands.opl", SOURCE.replace("echo deploying to", "echo now deploying to"));
    gate.plan(&["deploy", "-o", "e.plan"]);
    let shown = gate.approve("e.plan", "ann");
    assert!(
        shown.contains("which you approved last") && shown.contains("now deploying to"),
        "{shown}"
    );
    let line: serde_json::Value = serde_json::from_str(&gate.lines("e.plan")).unwrap();
    let before: serde_json::Value = serde_json::from_str(&gate.lines("d.plan")).unwrap();
    assert_eq!(line["statement"]["compared"], before["statement"]["contract"]);
    // Somebody else has approved nothing yet.
    let shown = gate.approve("e.plan", "bob");
    assert!(!shown.contains("which you approved last"), "{shown}");
}

#[test]
fn a_rule_that_is_not_understood_is_an_error_with_its_line() {
    let gate = Gate::new();
    gate.plan(&["deploy", "-o", "d.plan"]);
    for (rule, message) in [
        ("by = [ANN]\nneded = 1", "policy.toml:3: unknown key `neded`"),
        ("targets = [\"deploy\"]", "`by` names nobody"),
        ("by = [ANN]\nneeded = 2", "`needed` is 2, and `by` names 1"),
        ("by = [\"ssh-rsa AAAA x\"]", "expected a public key `ssh-ed25519`"),
        ("by = [ANN]\nnot_maker = true", "`not_maker` needs `makers`"),
        ("by = [ANN]\nmax_age = \"0s\"", "`max_age` must be longer than zero"),
        ("by = [ANN]\ntree = \"head\"", "`tree` expects `commit` or `any`"),
        ("by = [ANN]\nenvironment = [\"LD_PRELOAD\"]", "`LD_PRELOAD` needs a value here"),
        ("by = [ANN]\nenvironment = [\"A B\"]", "expected the name of a variable"),
    ] {
        gate.policy(&format!("[[approval]]\n{rule}\n"));
        gate.run("d.plan").code(78).says(message);
    }
    gate.opal.write("opal.mod", "[[policy.approval]]\nneeded = 0\nenvironment = [\"A=1\"]\n");
    gate.policy("");
    gate.run("d.plan").code(78).says("`environment` of a project cannot set a value");
}
