//! Contracts as CI uses them: made on one machine, run on another; sealing, sources, randomness.

use std::fs;
use std::path::Path;

use crate::support::{Opal, Ran};

const PROJECT: &str = "\
var TOKEN = @secret.env.TOKEN

fun deploy(env: String) {
    kubectl --context @var.env apply -f k8s/
    curl --oauth2-bearer @var.TOKEN https://example.com/
    cat @file.read(\"VERSION\")
}
";

const TOKEN: &str = "canary-token-5150";

/// An empty machine with a checkout of the project.
fn machine() -> Opal {
    Opal::machine(PROJECT).file("VERSION", "canary-version-1.2.3").env("TOKEN", TOKEN)
}

/// The bytes of a contract that was made on `opal`.
fn contract(opal: &Opal, more: &[&str]) -> Vec<u8> {
    opal.call(&[&["plan", "-o", "made.plan"], more, &["deploy", "prod"]].concat()).code(0);
    opal.bytes("made.plan")
}

fn run(opal: &Opal, contract: &[u8]) -> Ran {
    opal.write("brought.plan", contract);
    opal.call(&["run", "--plan", "brought.plan", "--dry-run"])
}

fn public_key(opal: &Opal) -> String {
    opal.call(&["keys", "show", "runner"]).code(0).stdout.trim().to_owned()
}

/// A runner key as a CI keeps it, as text.
fn ci_key() -> String {
    let keys = Opal::machine("");
    keys.call(&["keys", "generate", "ci", "--seal"]).code(0);
    keys.read("home/.opal/credentials/ci.key")
}

#[test]
fn a_contract_sealed_to_another_runner_runs_there_and_nowhere_else() {
    let (maker, runner, stranger) = (machine(), machine(), machine());
    let made = contract(&maker, &["--recipient", &public_key(&runner)]);
    run(&maker, &made).code(0);
    run(&runner, &made).code(0).says("brought.plan is the current plan");
    let refused = run(&stranger, &made);
    refused.code(76).stdout("").says("infra_missing:seed_keystore").says("--recipient");
    stranger.call(&["plan", "verify", "brought.plan"]).code(76).says("infra_missing:seed_keystore");
    let own = contract(&maker, &[]);
    run(&runner, &own).code(76).says("this machine is not among the recipients");
    let unknown = "this runner cannot open `brought.plan`, so it cannot check that it is intact";
    stranger.call(&["plan", "show", "brought.plan"]).code(0).says(unknown);
    stranger.call(&["plan", "diff", "brought.plan", "brought.plan"]).code(0).says(unknown);
}

#[test]
fn looking_at_a_contract_makes_no_key() {
    let (maker, reviewer) = (machine(), machine());
    let made = contract(&maker, &[]);
    reviewer.write("brought.plan", &made);
    for line in
        [&["plan", "show", "brought.plan"][..], &["plan", "diff", "brought.plan", "brought.plan"]]
    {
        reviewer.call(line).code(0).says("cannot check that it is intact");
    }
    assert!(!reviewer.path().join("home/.opal").exists());
}

#[test]
fn recipients_may_come_from_a_file_and_are_checked() {
    let (maker, one, two) = (machine(), machine(), machine());
    let team = format!("# the team\n{}\n\n{}\n", public_key(&one), public_key(&two));
    maker.write("team.txt", team);
    let made = contract(&maker, &["--recipient", "team.txt"]);
    run(&one, &made).code(0);
    run(&two, &made).code(0);
    for wrong in ["age1nonsense", "gone.txt", ""] {
        let line = ["plan", "-o", "no.plan", "--recipient", wrong, "deploy", "prod"];
        let ran = maker.call(&line);
        assert!([2, 66, 78].contains(&ran.code), "{ran:?}");
        ran.says("help");
    }
    assert!(!maker.path().join("no.plan").exists());
}

#[test]
fn a_key_that_is_brought_along_makes_and_runs_contracts_and_is_written_nowhere() {
    let key = ci_key();
    let secret = key.lines().find(|line| line.starts_with("AGE-SECRET-KEY")).unwrap();
    let safe = tempfile::tempdir().unwrap();
    let file = safe.path().join("ci.key");
    fs::write(&file, &key).unwrap();
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let file = file.display().to_string();
    let program = format!("cmd:cat {file}");
    let maker = machine();
    let line = ["plan", "-o", "made.plan", "deploy", "prod"];
    maker.call_with(&[("OPAL_IDENTITY", &key)], &line).code(0);
    let made = maker.bytes("made.plan");
    run(&maker, &made).code(76).says("infra_missing:seed_keystore");
    let runner = machine();
    runner.write("brought.plan", &made);
    for identity in [key.as_str(), secret, &file, &program] {
        let line = ["run", "--plan", "brought.plan", "--dry-run"];
        let ran = runner.call_with(&[("OPAL_IDENTITY", identity)], &line);
        ran.code(0).hides(secret);
    }
    for identity in [&file, &program] {
        let line = ["run", "--plan", "brought.plan", "--dry-run"];
        for command in [&line[..], &["plan", "verify", "brought.plan"]] {
            let ran = runner.call(&[command, &["--identity", identity]].concat());
            assert!(matches!(ran.code, 0), "{ran:?}");
        }
    }
    assert!(!runner.path().join("home/.opal").exists(), "no key of its own was needed");
    for opal in [&maker, &runner] {
        assert_nowhere(&opal.path(), &secret[16..40]);
    }
    let wrong = [("OPAL_IDENTITY", "AGE-SECRET-KEY-1CANARY")];
    let ran = runner.call_with(&wrong, &["run", "--plan", "brought.plan"]);
    ran.code(78).says("`OPAL_IDENTITY` is not a runner key").hides("1CANARY");
}

/// No file under `folder` holds `text`.
fn assert_nowhere(folder: &Path, text: &str) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_nowhere(&path, text);
        } else {
            let bytes = fs::read(&path).unwrap();
            let found = bytes.windows(text.len()).any(|window| window == text.as_bytes());
            assert!(!found, "{}", path.display());
        }
    }
}

#[test]
fn machines_that_make_their_key_at_the_same_moment_agree_on_one() {
    let opal = machine();
    let names: Vec<String> = (0..8).map(|index| format!("{index}.plan")).collect();
    let start = |name: &String| {
        opal.command().args(["plan", "-o", name.as_str(), "deploy", "prod"]).spawn().unwrap()
    };
    let children: Vec<_> = names.iter().map(start).collect();
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    for name in &names {
        opal.call(&["run", "--plan", name, "--dry-run"]).code(0);
    }
}

#[test]
fn without_a_home_plans_can_be_looked_at_and_contracts_need_somebody() {
    let opal = Opal::project("fun deploy() = echo @env.TOKEN\n").env("TOKEN", TOKEN);
    let shown = opal.call(&["plan", "deploy", "--json"]).code(0).json();
    assert_eq!(shown["provenance"]["placeholder_key"], "process");
    crate::support::assert_plan_schema(&shown);
    opal.call(&["plan", "deploy", "-o", "x.plan"])
        .code(74)
        .says("no one could open the contract: ");
    opal.call(&["plan", "deploy", "-o", "x.plan", "--sign", "k"]).code(78).says("HOME");
}

#[test]
fn where_no_key_can_be_kept_a_contract_needs_a_recipient() {
    let opal = machine();
    opal.write("no-directory", "");
    let no_root = ["--root", "no-directory"];
    let line = [&["plan"], &no_root[..], &["-o", "x.plan", "deploy", "prod"]].concat();
    opal.call(&line).code(74).says("no one could open the contract: ").says("--recipient");
    assert!(!opal.path().join("x.plan").exists());
    let view = opal.call(&[&["plan"], &no_root[..], &["deploy", "prod"]].concat());
    view.code(0).says("the placeholders are valid only for this view");
    let other = machine();
    let key = public_key(&other);
    let line = [&["plan", "--recipient", &key], &no_root[..], &["-o", "x.plan", "deploy", "prod"]];
    opal.call(&line.concat()).code(0);
    run(&other, &opal.bytes("x.plan")).code(0);
}

#[test]
fn the_source_is_found_from_the_working_directory_and_f_overrides() {
    let maker = Opal::machine("").file("ops/tasks.opl", "fun a() = echo a\n");
    maker.call(&["-f", "ops/tasks.opl", "plan", "a", "-o", "a.plan", "--root", "root"]).code(0);
    let other = Opal::machine("").file("ops/tasks.opl", "fun a() = echo a\n");
    other.write("a.plan", maker.bytes("a.plan"));
    let root = maker.path().join("root").display().to_string();
    let line = ["run", "--plan", "a.plan", "--dry-run", "--root", &root];
    other.call(&line).code(0);
    fs::write(other.path().join("ops/tasks.opl"), "fun a() = echo b\n").unwrap();
    other.call(&line).code(76).says("source_changed");
    other.write("elsewhere.opl", "fun a() = echo a\n");
    for f in ["-f", "--file"] {
        other.call(&[&line[..], &[f, "elsewhere.opl"]].concat()).code(0);
        other.call(&[&[f, "elsewhere.opl"], &line[..]].concat()).code(0);
    }
    other.call(&["plan", "diff", "a.plan", "-f", "elsewhere.opl", "--root", &root]).code(0);
    fs::remove_file(other.path().join("ops/tasks.opl")).unwrap();
    other.call(&line).code(0).stderr("");
    fs::remove_file(maker.path().join("ops/tasks.opl")).unwrap();
    other.call(&line).code(66).says("the contract was made there").says("-f FILE");
}

#[test]
fn a_contract_made_below_the_project_runs_there_and_at_its_top() {
    let opal = Opal::machine("fun a() = echo a\n").file("deep/er/x", "");
    let deep = opal.path().join("deep/er");
    let call =
        |line: &[&str]| Ran::from(opal.command().args(line).current_dir(&deep).output().unwrap());
    call(&["plan", "a", "-o", "a.plan"]).code(0);
    call(&["run", "--plan", "a.plan", "--dry-run"]).code(0);
    opal.call(&["run", "--plan", "deep/er/a.plan", "--dry-run"]).code(0);
    call(&["plan", "a", "-o", "../../a.plan"]).code(0);
    opal.call(&["run", "--plan", "a.plan", "--dry-run"]).code(0);
}

#[test]
fn a_contract_says_itself_what_runs() {
    let opal = machine();
    contract(&opal, &[]);
    for words in [&["deploy"][..], &["deploy", "staging"], &["--", "staging"], &["x.opl"]] {
        let ran = opal.call(&[&["run", "--plan", "made.plan"], words].concat());
        ran.code(2).says("a contract already contains its target and arguments");
    }
    opal.call(&["run", "--plan", "made.plan", "--env", "staging", "--dry-run"]).code(2);
    opal.call(&["run", "--plan"]).code(2);
    opal.call(&["run", "--force"]).code(2).says("--plan");
    opal.call(&["run", "--plan", "gone.plan", "--dry-run"])
        .code(66)
        .says("the file `gone.plan` does not exist");
}

#[test]
fn a_contract_can_come_from_standard_input() {
    let opal = machine();
    let made = contract(&opal, &[]);
    for line in
        [&["run", "--plan", "-", "--dry-run"][..], &["plan", "verify", "-"], &["plan", "show", "-"]]
    {
        let ran = opal_with(&opal, line, &made);
        assert!(matches!(ran.code, 0), "{ran:?}");
    }
}

fn opal_with(opal: &Opal, line: &[&str], stdin: &[u8]) -> Ran {
    let mut command = opal.command();
    let mut child = command.args(line).stdin(std::process::Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), stdin).unwrap();
    Ran::from(child.wait_with_output().unwrap())
}

const RANDOM: &str = "\
var ONE = @random.password(length=24)
var LASTING = @random.password(length=24, regen_key=\"db-v1\")
var KEY = @crypto.generate_key(type=\"ed25519\", regen_key=\"deploy-v1\")

fun rotate() {
    mysql --password=@var.ONE
    psql \"password=@var.LASTING\"
    printf '%s' \"key: @var.KEY\"
    mysql --again=@var.ONE --other=\"@random.password(length=24)\"
}
";

/// Placeholders by key, as `plan show --json` has them.
fn placeholders(opal: &Opal, file: &str) -> serde_json::Map<String, serde_json::Value> {
    let shown = opal.call(&["plan", "show", file, "--json"]).code(0).json();
    shown["values"].as_object().unwrap().clone()
}

#[test]
fn random_values_are_the_same_in_every_run_of_a_contract_and_new_in_the_next() {
    let opal = Opal::machine(RANDOM);
    for file in ["one.plan", "two.plan"] {
        opal.call(&["plan", "rotate", "-o", file]).code(0);
        for _ in 0..2 {
            opal.call(&["run", "--plan", file, "--dry-run"]).code(0);
            opal.call(&["plan", "diff", file]).code(0).says("the plans are the same");
        }
    }
    let (one, two) = (placeholders(&opal, "one.plan"), placeholders(&opal, "two.plan"));
    assert_eq!(one.len(), 4, "{one:?}");
    assert!(one.keys().eq(two.keys()));
    for (key, placeholder) in &one {
        assert_eq!(two[key] == *placeholder, key.contains("regen_key"), "{key}");
    }
    let diff = opal.call(&["plan", "diff", "one.plan", "two.plan", "--json"]).code(1).json();
    assert_eq!(diff["code"], "value_changed");
    assert_eq!(diff["differences"].as_array().unwrap().len(), 2);
}

#[test]
fn a_lasting_random_value_is_the_same_on_the_runner_it_was_sealed_to() {
    let (maker, runner) = (Opal::machine(RANDOM), Opal::machine(RANDOM));
    let key = public_key(&runner);
    for file in ["one.plan", "two.plan"] {
        maker.call(&["plan", "rotate", "-o", file, "--recipient", &key]).code(0);
        runner.write(file, maker.bytes(file));
        runner.call(&["run", "--plan", file, "--dry-run"]).code(0);
        runner.call(&["plan", "diff", file]).code(0);
    }
    let lasting = |all: serde_json::Map<String, serde_json::Value>| {
        all.into_iter().filter(|(key, _)| key.contains("regen_key")).collect::<Vec<_>>()
    };
    let there = lasting(placeholders(&runner, "one.plan"));
    assert_eq!(there.len(), 2);
    assert_eq!(there, lasting(placeholders(&runner, "two.plan")));
    assert_eq!(there, lasting(placeholders(&maker, "one.plan")));
    maker.write("commands.opl", RANDOM.replace("db-v1", "db-v2"));
    maker.call(&["plan", "rotate", "-o", "new.plan"]).code(0);
    let new = lasting(placeholders(&maker, "new.plan"));
    assert_ne!(new[1].1, there[1].1);
    assert_eq!(new[0], there[0], "the other key stays");
}

#[test]
fn a_random_value_may_not_steer() {
    let opal =
        Opal::machine("fun a() {\n    if @random.password(length=9) == \"x\" { echo x }\n}\n");
    for more in [&[][..], &["-o", "x.plan"]] {
        opal.call(&[&["plan", "a"], more].concat()).code(65).says("commands.opl:2:");
    }
}

#[test]
fn the_key_of_the_runner_is_nothing_that_a_plan_can_read() {
    let key = ci_key();
    let opal = Opal::machine(
        "fun a() {\n    echo @env.OPAL_IDENTITY\n}\n\
         fun b() {\n    echo @shell.output(\"printenv OPAL_IDENTITY || echo none\", public=true)\n}\n",
    );
    let env = [("OPAL_IDENTITY", key.as_str())];
    let read = opal.call_with(&env, &["plan", "a", "--resolve", "--json"]);
    read.code(65).says("OPAL_IDENTITY").hides("AGE-SECRET-KEY");
    let ran = opal.call_with(&env, &["plan", "b", "--resolve", "--json"]);
    ran.code(0).says("none").hides("AGE-SECRET-KEY");
    let shown = opal.call_with(&env, &["plan", "b", "--format", "cmd:env"]);
    shown.code(0).says("PATH=").hides("AGE-SECRET-KEY");
}

#[test]
fn keys_that_are_not_there_are_missed_before_anything_is_asked() {
    let opal = Opal::machine("fun a() = echo @shell.output(\"touch asked; echo long-enough\")\n");
    for option in [["--sign", "nobody"], ["--recipient", "age1nobody"]] {
        let ran = opal.call(&["plan", "-o", "c.plan", option[0], option[1], "a"]);
        assert_ne!(ran.code, 0, "{ran:?}");
        assert!(!opal.path().join("asked").exists(), "{option:?}");
    }
    opal.call(&["plan", "-o", "c.plan", "a"]).code(0);
    assert!(opal.path().join("asked").exists());
}

#[test]
fn a_contract_where_a_task_is_wanted_is_pointed_to_its_command() {
    let opal = Opal::machine("fun a() = echo \"$HOME@var.n\"\nvar n = 2\n");
    opal.call(&["plan", "prod.plan"]).code(2).says("`opal plan show prod.plan`");
    opal.call(&["run", "prod.plan"]).code(2).says("`opal run --plan prod.plan`");
    opal.call(&["a", "--dry-run"]).code(0).says("echo \"${HOME}2\"");
}
