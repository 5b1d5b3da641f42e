//! Every way in which a contract is refused: what is said, the exit code, and the record that is left.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use serde_json::Value;

use crate::support::{Opal, Ran, binary};

const PROJECT: &str = "\
var VERSION = @env.VERSION(public=true)

fun deploy(env = \"staging\") {
    echo @var.env @var.VERSION @env.TOKEN > out.txt
}
";

fn machine() -> Opal {
    Opal::machine(PROJECT).env("VERSION", "1.4.0").env("TOKEN", "canary-token-5150")
}

fn planned(more: &[&str]) -> Opal {
    let opal = machine();
    plan(&opal, more);
    opal
}

fn plan(opal: &Opal, more: &[&str]) {
    opal.call(&[&["plan", "-o", "c.plan"], more, &["deploy"]].concat()).code(0);
}

fn policy(opal: &Opal, text: &str) {
    let folder = opal.path().join("home/.opal/config");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o700)).unwrap();
    opal.write("home/.opal/config/policy.toml", text);
    let file = folder.join("policy.toml");
    std::fs::set_permissions(file, PermissionsExt::from_mode(0o600)).unwrap();
}

fn run(opal: &Opal, more: &[&str]) -> Ran {
    opal.call(&[&["run", "--plan", "c.plan"], more].concat())
}

/// The newest record: a refused contract with this reason, which `runs list` and `runs show` tell.
#[track_caller]
fn recorded(opal: &Opal, reason: &str, code: i32) -> Value {
    let listed = opal.call(&["runs", "list", "--json"]).code(0).json();
    // Names of one second are in no order.
    let started = |run: &&Value| run["started_at"].as_str().unwrap().to_owned();
    let newest = listed["runs"].as_array().unwrap().iter().max_by_key(started).unwrap();
    assert_eq!(newest["status"], "refused", "{listed:#}");
    assert_eq!(newest["refused"]["reason"], reason, "{listed:#}");
    assert_eq!(newest["code"], code, "{listed:#}");
    assert_eq!(newest["contract"]["path"], "c.plan");
    assert_eq!(newest["contract"]["file_digest"].as_str().map(str::len), Some(64));
    let id = newest["id"].as_str().unwrap();
    let shown = opal.call(&["runs", "show", id]);
    shown.code(0).says("refused").says(reason).hides("canary-token");
    assert!(!opal.path().join("out.txt").exists(), "nothing ran");
    newest.clone()
}

#[track_caller]
fn refused(opal: &Opal, more: &[&str], code: i32, reason: &str) -> Ran {
    let ran = run(opal, more);
    ran.code(code).hides("canary-token");
    recorded(opal, reason, code);
    ran
}

#[test]
fn a_tampered_file_is_refused_wherever_it_was_touched() {
    let opal = planned(&[]);
    let whole = opal.bytes("c.plan");
    let changed = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    // Another letter of Base64, so that it is another recipient and still a recipient.
    let mut other = whole.clone();
    other[150] = if other[150] == b'A' { b'B' } else { b'A' };
    let mut longer = whole.clone();
    longer.extend([0; 8]);
    let half = whole[..whole.len() / 2].to_vec();
    let files = [
        ("magic", changed(0), "tampered"),
        ("major version", changed(4), "tampered"),
        ("flags", changed(8), "tampered"),
        ("time", changed(24), "tampered"),
        ("PlanHash", changed(64), "tampered"),
        ("target", changed(98), "tampered"),
        // Whom it is sealed to cannot be told any more.
        ("a recipient", other, "not_sealed"),
        ("the end", changed(whole.len() - 1), "tampered"),
        ("cut", half, "tampered"),
        ("a byte", vec![b'O'], "tampered"),
        ("empty", Vec::new(), "tampered"),
        ("longer", longer, "tampered"),
        ("not a contract", b"fun deploy() { true }".to_vec(), "tampered"),
    ];
    for (what, bytes, reason) in files {
        opal.write("c.plan", bytes);
        let ran = run(&opal, &[]);
        assert_eq!(ran.code, 76, "{what}: {ran:?}");
        recorded(&opal, reason, 76);
    }
}

#[test]
fn a_signature_of_another_contract_is_refused() {
    let opal = machine();
    opal.call(&["keys", "generate", "release"]).code(0);
    plan(&opal, &["--sign", "release"]);
    let one = opal.bytes("c.plan");
    plan(&opal, &["--sign", "release", "--once"]);
    let mut other = opal.bytes("c.plan");
    // The record of the signature is the last 72 bytes: kind, length, signature, padding.
    let (from, to) = (one.len() - 72, other.len() - 72);
    other[to..].copy_from_slice(&one[from..]);
    opal.write("c.plan", other);
    refused(&opal, &[], 77, "tampered").says("the signature does not match its signer");
}

#[test]
fn a_contract_that_is_sealed_to_others_names_the_key_of_this_machine() {
    let (maker, opal) = (planned(&[]), machine());
    opal.write("c.plan", maker.bytes("c.plan"));
    let ran = refused(&opal, &[], 76, "not_sealed");
    let key = opal.call(&["keys", "show", "runner"]).stdout;
    let key = key.trim();
    ran.says(&format!("this machine is not among the recipients; its key is {key}"));
    ran.says(&format!("--recipient {key}"));
    maker.call(&["plan", "-o", "c.plan", "--recipient", key, "deploy"]).code(0);
    opal.write("c.plan", maker.bytes("c.plan"));
    run(&opal, &[]).code(0);
}

#[test]
fn what_the_policy_does_not_accept_is_refused() {
    let stranger = machine();
    stranger.call(&["keys", "generate", "other"]).code(0);
    let key = stranger.call(&["keys", "show", "other"]).stdout;
    let trusted = format!("trusted_keys = [\"{}\"]\n", key.trim());
    for (text, reason) in [
        ("require_signature = true\n", "unsigned"),
        (&*trusted, "unsigned"),
        ("require_expiry = true\n", "not_trusted"),
    ] {
        let opal = planned(&[]);
        policy(&opal, text);
        refused(&opal, &[], 77, reason);
    }
    let opal = machine();
    opal.call(&["keys", "generate", "release"]).code(0);
    plan(&opal, &["--sign", "release"]);
    policy(&opal, &trusted);
    refused(&opal, &[], 77, "not_trusted").says("not trusted");
}

#[test]
fn an_expired_contract_is_refused() {
    let opal = planned(&["--expires", "1s"]).later();
    refused(&opal, &[], 76, "expired").says("it expired at").says("--expires 1s");
}

#[test]
fn a_used_contract_is_refused() {
    let opal = planned(&["--once"]);
    run(&opal, &[]).code(0);
    std::fs::remove_file(opal.path().join("out.txt")).unwrap();
    refused(&opal, &[], 76, "used").says("has already been run").says("--once");
}

#[test]
fn a_contract_without_a_plan_to_compare_with_is_refused() {
    let opal = planned(&[]);
    let unset = |opal: &Opal| {
        let line = ["-u", "VERSION", binary().to_str().unwrap(), "run", "--plan", "c.plan"];
        opal.started_by(&["env"].iter().chain(&line).map(|it| it.as_ref()).collect::<Vec<_>>())
            .output()
            .unwrap()
    };
    assert_eq!(unset(&opal).status.code(), Some(76));
    let record = recorded(&opal, "not_plannable", 76);
    let message = record["refused"]["message"].as_str().unwrap();
    assert!(message.contains("env_changed") && message.contains("VERSION"), "{message}");
    opal.write("commands.opl", "fun deploy( {\n");
    refused(&opal, &[], 76, "not_plannable");
    std::fs::remove_file(opal.path().join("commands.opl")).unwrap();
    refused(&opal, &[], 66, "not_plannable").says("commands.opl");
}

#[test]
fn a_server_that_does_not_answer_is_infra_missing_and_69_without_a_contract() {
    let source = |port: u16| {
        format!("fun deploy() {{\n    echo @http.get(\"http://127.0.0.1:{port}/v\")\n}}\n")
    };
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let opal = Opal::machine(&source(port));
    let answer = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut asked, _) = server.accept().unwrap();
        let _ = asked.read(&mut [0; 1024]);
        asked.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nv1").unwrap();
    });
    plan(&opal, &[]);
    answer.join().unwrap();
    let ran = refused(&opal, &[], 76, "not_plannable");
    ran.says("(infra_missing)").says("E0821").says("cannot be reached");
    assert_eq!(run(&opal, &["--json"]).json()["code"], "infra_missing");
    opal.call(&["deploy"]).code(69).says("E0821");
}

#[test]
fn drift_is_recorded_as_the_refusal_shows_it() {
    let opal = planned(&[]);
    let ran = opal.call_with(&[("VERSION", "1.4.1")], &["run", "--plan", "c.plan"]);
    ran.code(76).says("env_changed: env.VERSION: 1.4.0 in the contract, 1.4.1 now");
    ran.says("deploy.shell[0] (commands.opl:4)");
    let record = recorded(&opal, "drifted", 76);
    assert_eq!(record["drift"][0]["code"], "env_changed");
    assert_eq!(record["drift"][0]["words"], "env.VERSION: 1.4.0 in the contract, 1.4.1 now");
    let token = [("TOKEN", "canary-token-other")];
    let ran = opal.call_with(&token, &["run", "--plan", "c.plan"]);
    ran.code(76).says("env.TOKEN: <17:sha256:").hides("canary");
    let words = recorded(&opal, "drifted", 76)["drift"][0]["words"].as_str().unwrap().to_owned();
    assert!(words.contains("<17:sha256:") && !words.contains("canary"), "{words}");
    opal.write("commands.opl", format!("# moved\n{PROJECT}"));
    refused(&opal, &["--strict-source"], 76, "drifted");
    let message = recorded(&opal, "drifted", 76)["refused"]["message"].clone();
    assert_eq!(message, "the source has changed since the contract was made (source_changed)");
}

#[test]
fn a_plan_file_may_be_a_link_and_never_a_pipe_that_nobody_writes() {
    let opal = planned(&[]);
    std::fs::rename(opal.path().join("c.plan"), opal.path().join("real.plan")).unwrap();
    symlink("real.plan", opal.path().join("c.plan")).unwrap();
    run(&opal, &[]).code(0);
    // The contract stays where the link leads.
    plan(&opal, &[]);
    assert!(opal.path().join("c.plan").symlink_metadata().unwrap().is_symlink());
    std::fs::remove_file(opal.path().join("c.plan")).unwrap();
    symlink("/proc/self/mem", opal.path().join("c.plan")).unwrap();
    assert_ne!(run(&opal, &[]).code, 0);
}

/// The command between backticks behind `make a new contract:`.
fn suggested(ran: &Ran) -> &str {
    let (_, rest) = ran.stderr.split_once("make a new contract: `").unwrap();
    rest.split_once('`').unwrap().0
}

#[expect(clippy::disallowed_methods, reason = "bash is another program, run by a test")]
fn pasted(opal: &Opal, line: &str, env: &[(&str, &str)]) {
    let path = binary().parent().unwrap().display().to_string();
    let ran = Command::new("bash")
        .args(["-c", line])
        .current_dir(opal.path())
        .env_clear()
        .env("PATH", format!("{path}:/usr/bin:/bin"))
        .env("HOME", opal.path().join("home"))
        .envs(env.iter().copied())
        .output()
        .unwrap();
    assert!(ran.status.success(), "{line}: {ran:?}");
}

#[test]
fn the_suggested_command_has_every_option_and_works_when_pasted() {
    let opal =
        machine().file("my tasks.opl", PROJECT).file("it's.env", "TOKEN=canary-token-5150\n");
    opal.call(&["keys", "generate", "release"]).code(0);
    let other = Opal::machine("");
    let key = other.call(&["keys", "show", "runner"]).code(0).stdout.trim().to_owned();
    opal.call(&[
        "plan",
        "-f",
        "my tasks.opl",
        "-o",
        "my plan.plan",
        "--sign",
        "release",
        "--recipient",
        &key,
        "--expires",
        "2h",
        "--once",
        "--hash-algo",
        "blake3",
        "--env-file",
        "it's.env",
        "deploy",
        "--env",
        "it's $HOME; `x`",
    ])
    .code(0);
    let before = opal.call(&["plan", "show", "my plan.plan", "--json"]).json();
    let now = [("VERSION", "1.4.1")];
    let ran = opal.call_with(&now, &["run", "--plan", "my plan.plan"]);
    ran.code(76);
    let line = ran.stderr.lines().find(|line| line.contains("make a new contract: `")).unwrap();
    let (_, line) = line.split_once("make a new contract: `").unwrap();
    let line = line.strip_suffix('`').unwrap();
    for part in
        ["--sign release", "--recipient age1", "--expires 2h", "--once", "--hash-algo blake3"]
    {
        assert!(line.contains(part), "{line}");
    }
    pasted(&opal, line, &now);
    let after = opal.call(&["plan", "show", "my plan.plan", "--json"]).json();
    assert_eq!(after["arguments"], before["arguments"]);
    assert_eq!(after["provenance"]["options"], before["provenance"]["options"]);
    assert_eq!(after["provenance"]["once"], true);
    assert_eq!(after["provenance"]["signed_by"], before["provenance"]["signed_by"]);
    assert_eq!(after["header"]["hash_algorithm"], "blake3");
    assert_ne!(after["public"], before["public"]);
    opal.call_with(&now, &["run", "--plan", "my plan.plan"]).code(0);
}

#[test]
fn a_suggested_command_of_another_root_and_a_script_works_when_pasted() {
    let opal = machine().file("do it.opl", "echo @args @env.VERSION(public=true)\n");
    let root = opal.path().join("a root").display().to_string();
    opal.call(&["plan", "-o", "c.plan", "--root", &root, "do it.opl", "a b"]).code(0);
    let now = [("VERSION", "2")];
    let ran = opal.call_with(&now, &["run", "--plan", "c.plan", "--root", &root]);
    pasted(&opal, suggested(ran.code(76)), &now);
    opal.call_with(&now, &["run", "--plan", "c.plan", "--root", &root]).code(0).says("a b 2");
}

#[test]
fn a_suggested_command_works_whatever_its_files_begin_with() {
    let opal = machine().file("-do.opl", "echo @env.VERSION(public=true)\n");
    opal.call(&["plan", "-o", "./-c.plan", "./-do.opl"]).code(0);
    let now = [("VERSION", "2")];
    let ran = opal.call_with(&now, &["run", "--plan=-c.plan"]);
    pasted(&opal, suggested(ran.code(76)), &now);
    opal.call_with(&now, &["run", "--plan=-c.plan"]).code(0).says("2\n");
    let ran = opal.call_with(&[("VERSION", "3")], &["run", "--plan", "./-c.plan"]);
    pasted(&opal, suggested(ran.code(76)), &now);
}

#[test]
fn refusals_and_diffs_show_public_values_in_the_lines_of_steps() {
    let text = "fun deploy() {\n    var all = [@env.VERSION(public=true), @env.TOKEN, \"c\"]\n    \
                echo @env.VERSION(public=true) @env.TOKEN\n    echo @var.all\n}\n";
    let opal = Opal::machine(text).env("TOKEN", "canary-token-5150");
    opal.call_with(&[("VERSION", "1.4.0")], &["plan", "-o", "c.plan", "deploy"]).code(0);
    let now = [("VERSION", "1.4.1")];
    for words in [&["run", "--plan", "c.plan"][..], &["plan", "diff", "c.plan"]] {
        let ran = opal.call_with(&now, words);
        ran.says("env.VERSION: 1.4.0 in the contract, 1.4.1 now\n")
            .says("- contract: echo 1.4.0 <17:sha256:")
            .says("+ now:      echo 1.4.1 <17:sha256:")
            .hides("canary");
        for line in ["- contract: echo 1.4.0 <17:sha256:", "+ now:      echo 1.4.1 <17:sha256:"] {
            let lines = ran.stdout.lines().chain(ran.stderr.lines());
            let found = lines.filter(|it| it.trim_start().starts_with(line));
            assert_eq!(found.count(), 2, "an array too: {ran:#?}");
        }
        // What the first line says is not said again below it.
        assert!(!ran.says("VERSION").stderr.contains("- contract: 1.4.0\n"), "{ran:#?}");
    }
}

#[test]
fn a_pipe_as_a_plan_file_is_refused_or_read_and_never_waited_for() {
    let opal = planned(&[]);
    let path = opal.path().join("pipe.plan");
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .unwrap();
    let ran = opal.call_with(&[("VERSION", "1")], &["run", "--plan", "pipe.plan"]);
    assert_ne!(ran.code, 0, "{ran:#?}");
    let ran = opal.call(&["plan", "show", "pipe.plan"]);
    assert_ne!(ran.code, 0, "{ran:#?}");
}

#[test]
fn every_record_of_a_contract_is_in_the_chain_and_no_direct_run() {
    let opal = planned(&[]);
    opal.call_with(&[("VERSION", "1.4.0")], &["deploy"]).code(0);
    let path = opal.path().join("home/.opal/logs/chain.jsonl");
    assert!(!path.exists(), "a direct run");
    run(&opal, &[]).code(0);
    opal.call_with(&[("VERSION", "2")], &["run", "--plan", "c.plan"]).code(76);
    let bytes = opal.bytes("c.plan");
    opal.write("c.plan", &bytes[..bytes.len() - 1]);
    run(&opal, &[]).code(76);
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert_eq!(lines[0]["previous"], "0".repeat(64));
    let mut before = lines.iter().map(|line| line["previous"].clone()).collect::<Vec<_>>();
    before.dedup();
    assert_eq!(before.len(), 3);
    for line in &lines {
        let record = opal.path().join("home/.opal/logs/run").join(line["record"].as_str().unwrap());
        assert!(record.join("summary.json").is_file(), "{line}");
    }
    let mode = std::os::unix::fs::MetadataExt::mode(&path.metadata().unwrap());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_policy_can_demand_contracts() {
    let source = "fun deploy() {\n    touch ran\n}\n\nfun test() {\n    true\n}\n";
    let rule = "[[approval]]\ntargets = [\"dep*\"]\ndirect = \"refuse\"\nneeded = 0\n";
    for (text, test) in [("direct = \"refuse\"\n", 77), (rule, 0)] {
        let opal = Opal::machine(source);
        policy(&opal, text);
        let ran = opal.call(&["deploy"]);
        ran.code(77).says("the policy requires a contract for `deploy`");
        ran.says("`opal plan -o FILE deploy`");
        assert!(!opal.path().join("ran").exists());
        opal.call(&["test"]).code(test);
        opal.call(&["deploy", "--dry-run"]).code(0);
        opal.call(&["plan", "-o", "c.plan", "deploy"]).code(0);
        run(&opal, &[]).code(0);
        assert!(opal.path().join("ran").exists());
    }
    // What is not understood is never passed over.
    for (text, says) in [
        ("direct = \"no\"\n", "`refuse` or `allow`"),
        ("directs = \"refuse\"\n", "unknown key `directs`"),
        ("[[approval]]\nby = [\"ann\"]\n", "expected a public key `ssh-ed25519`"),
        ("[[approval]]\ndirect = \"refuse\"\nneeded = 1\n", "`by` names nobody"),
        ("[approval]\nneeded = 0\n", "a list of tables"),
    ] {
        let opal = Opal::machine(source);
        policy(&opal, text);
        opal.call(&["deploy"]).code(78).says(says);
        assert!(!opal.path().join("ran").exists(), "{text}");
    }
    // A project may tighten, and not loosen.
    let opal = Opal::machine(source).file("opal.mod", "[policy]\ndirect = \"refuse\"\n");
    opal.call(&["deploy"]).code(77);
    opal.write("opal.mod", "[policy]\ndirect = \"allow\"\n");
    policy(&opal, "direct = \"refuse\"\n");
    opal.call(&["deploy"]).code(77);
}

#[test]
fn records_of_contracts_go_by_age_alone() {
    let opal = planned(&[]);
    run(&opal, &[]).code(0);
    std::fs::remove_file(opal.path().join("out.txt")).unwrap();
    opal.call_with(&[("VERSION", "2")], &["run", "--plan", "c.plan"]).code(76);
    opal.call(&["deploy"]).code(0);
    let count = || opal.call(&["runs", "list", "--json"]).json()["runs"].as_array().unwrap().len();
    assert_eq!(count(), 3);
    opal.call(&["runs", "prune", "--keep", "0"]).code(0).says("removed 1 run");
    assert_eq!(count(), 2);
    opal.call(&["runs", "prune", "--before", "2020-01-01"]).code(0).says("No runs to remove");
    for wrong in ["x", "2026-1-1", "20260101", "2026-13-01"] {
        assert_eq!(opal.call(&["runs", "prune", "--before", wrong]).code, 2, "{wrong}");
    }
    opal.call(&["runs", "prune", "--before", "2999-01-01"]).code(0).says("removed 2 runs");
    assert_eq!(count(), 0);
}

#[test]
fn resolved_random_values_have_their_number_and_the_seed_is_named() {
    let opal = Opal::machine(
        "var P = @random.password(length=12)\n\nfun t() {\n    printf '%s' @var.P\n}\n",
    );
    opal.call(&["plan", "-o", "c.plan", "t"]).code(0);
    let shown = opal.call(&["plan", "show", "c.plan"]);
    shown.code(0).says("printf '%s' ¹<12:sha256:").says("Resolved:\n  1. @random.password");
    shown.says("Seed: chacha20-drbg, hkdf-sha256, scope plan, hash ");
    let line = opal.call(&["plan", "show", "c.plan", "--format", "json-compact"]).stdout;
    assert_eq!(line.lines().count(), 1);
    let whole = opal.call(&["plan", "show", "c.plan", "--format", "json"]).json();
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), whole);
    assert!(whole["header"]["timestamp"].is_string());
}

#[test]
fn a_path_that_a_tree_shows_is_where_a_run_can_begin() {
    let opal = Opal::machine("fun t() {\n    echo one\n    @retry { echo two }\n}\n");
    opal.call(&["t", "--dry-run", "--paths"]).code(0).says("echo two  [t.retry[0].shell[0]]");
    for from in ["step:t.retry[0]", "t.retry[0]", "step:t.retry[0].shell[0]", "step:2"] {
        opal.call(&["t", "--from", from]).code(0).stdout("two\n");
    }
    opal.call(&["t", "--from", "step:t.nope[0]"]).code(2).says("t.nope[0]");
}

#[test]
fn a_refusal_shows_public_values_in_clear_in_its_steps_too() {
    let opal = planned(&[]);
    let ran = opal.call_with(&[("VERSION", "1.4.1")], &["run", "--plan", "c.plan"]);
    ran.code(76).says("env_changed: env.VERSION: 1.4.0 in the contract, 1.4.1 now");
    ran.says("- contract: echo staging 1.4.0 <17:").says("+ now:      echo staging 1.4.1 <17:");
    ran.hides("canary-token").hides("<5:sha256:");
    assert_eq!(ran.stderr.matches("1.4.0").count(), 2, "{ran:#?}");
}
