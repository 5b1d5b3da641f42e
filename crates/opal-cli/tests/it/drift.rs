//! A contract against today: what counts as a difference, how it is told, and how it is mended.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::support::{Opal, Ran, binary};

const PROJECT: &str = "\
var REPLICAS = int(@env.REPLICAS)

// Deploys.
fun deploy(env = \"staging\") {
    if @env.MODE == \"fast\" {
        echo fast
    } else {
        echo slow
    }
    kubectl scale --replicas=@var.REPLICAS
    cat @file.read(\"VERSION\")
    echo @shell.output(\"cat out.txt\")
}

fun unrelated() = echo unrelated
";

const WORLD: [(&str, &str); 2] = [("REPLICAS", "31337"), ("MODE", "fast")];

fn project() -> Opal {
    Opal::machine(PROJECT).file("VERSION", "canary-1.2.3").file("out.txt", "canary-out\n")
}

/// A project with its contract in `c.plan`.
fn planned() -> Opal {
    let opal = project();
    opal.call_with(&WORLD, &["plan", "deploy", "-o", "c.plan"]).code(0);
    opal
}

fn run(opal: &Opal, env: &[(&str, &str)], more: &[&str]) -> Ran {
    opal.call_with(env, &[&["run", "--plan", "c.plan", "--dry-run"], more].concat())
}

/// Refused with `code`, for people and for programs, and the same difference in `plan diff`.
#[track_caller]
fn drifted(opal: &Opal, env: &[(&str, &str)], code: &str) -> (Ran, Value) {
    let ran = run(opal, env, &[]);
    ran.code(76).stdout("").says(code).says("nothing was run").says("help: ").hides("canary");
    let machine = run(opal, env, &["--json"]);
    let document = machine.code(76).hides("canary").json();
    assert_eq!(document["code"], code, "{document:#}");
    assert_eq!(document["same"], false);
    (ran, document)
}

#[test]
fn planning_twice_verifies() {
    let opal = planned();
    for _ in 0..2 {
        run(&opal, &WORLD, &[]).code(0).stderr("");
        run(&opal, &WORLD, &["--strict-source"]).code(0);
        opal.call_with(&WORLD, &["plan", "diff", "c.plan"])
            .code(0)
            .stdout("the plans are the same\n");
    }
    let document = opal.call_with(&WORLD, &["plan", "diff", "c.plan", "--json"]).code(0).json();
    assert_eq!(document["same"], true);
    assert_eq!(document["differences"], serde_json::json!([]));
}

#[test]
fn another_environment_is_env_changed_and_names_the_variable_and_its_steps() {
    let opal = planned();
    let other = [("REPLICAS", "31338"), ("MODE", "fast")];
    let (ran, document) = drifted(&opal, &other, "env_changed");
    ran.says("because `env.REPLICAS` changed")
        .says("deploy.shell[0]")
        .hides("31337")
        .hides("31338");
    ran.says("- contract: kubectl scale --replicas=<5:sha256:");
    let one = &document["differences"][0];
    assert_eq!(one["change"], "value");
    assert_eq!(one["causes"][0]["key"], "env.REPLICAS");
    assert_eq!(document["may_be_forced"], true);
    opal.call_with(&other, &["plan", "diff", "c.plan"])
        .code(1)
        .says("env_changed")
        .hides("31337")
        .hides("31338");
}

#[test]
fn structure_that_the_environment_steered_is_env_changed() {
    let opal = planned();
    let (ran, document) = drifted(&opal, &[("REPLICAS", "31337"), ("MODE", "calm")], "env_changed");
    ran.says("step `deploy.if[0]` has changed, because `env.MODE` changed");
    ran.says("→ yes").says("→ no, else").hides("--force");
    assert_eq!(document["may_be_forced"], false);
    let causes = document["differences"].as_array().unwrap();
    assert!(causes.iter().all(|one| one["causes"][0]["key"] == "env.MODE"), "{document:#}");
}

#[test]
fn a_value_that_only_steered_counts_through_its_branch() {
    let opal = project();
    let calm = [("REPLICAS", "31337"), ("MODE", "calm")];
    opal.call_with(&calm, &["plan", "deploy", "-o", "c.plan"]).code(0);
    run(&opal, &[("REPLICAS", "31337"), ("MODE", "idle")], &[]).code(0).hides("MODE");
}

#[test]
fn a_variable_that_is_gone_is_env_changed() {
    let opal = planned();
    let (ran, document) = drifted(&opal, &[("MODE", "fast")], "env_changed");
    ran.says("the environment variable `REPLICAS` is not set").says("commands.opl:1:20");
    assert_eq!(document["files"][0]["diagnostics"][0]["code"], "E0804");
    let last = ran.stderr.lines().rev().find(|line| line.starts_with("error")).unwrap();
    assert!(last.contains("(env_changed)"), "the verdict comes last: {}", ran.stderr);
    run(&opal, &[("MODE", "fast")], &["--force"]).code(76);
}

#[test]
fn a_variable_that_is_gone_is_env_changed_wherever_it_is_read() {
    for source in [
        "fun a() = echo @env.X\n",
        "fun a() = echo @secret.env.X\n",
        "fun a() = echo \"before @env.X after\"\n",
        "fun a() {\n    var y = \"x-@env.X\"\n    echo @var.y\n}\n",
        "fun a() {\n    for x in split(@env.X, \",\") { echo @var.x }\n}\n",
        "fun a() = echo @shell.output(\"echo @env.X\")\n",
    ] {
        let opal = Opal::machine(source);
        opal.call_with(&[("X", "canary-x")], &["plan", "a", "-o", "c.plan"]).code(0);
        run(&opal, &[("X", "canary-x")], &[]).code(0);
        drifted(&opal, &[], "env_changed");
    }
}

#[test]
fn a_file_that_is_gone_is_infra_missing() {
    let opal = planned();
    fs::remove_file(opal.path().join("VERSION")).unwrap();
    let (ran, document) = drifted(&opal, &WORLD, "infra_missing");
    ran.says("the file `VERSION` does not exist").says("commands.opl:");
    assert_eq!(document["may_be_forced"], false);
    run(&opal, &WORLD, &["--force"]).code(76);
    opal.write("VERSION", "canary-1.2.3");
    run(&opal, &WORLD, &[]).code(0);
}

#[test]
fn any_other_value_is_value_changed() {
    let opal = planned();
    opal.write("VERSION", "canary-1.2.4");
    let (ran, document) = drifted(&opal, &WORLD, "value_changed");
    ran.says("file.read(path=\"VERSION\"): <").says("--force");
    assert_eq!(document["differences"].as_array().unwrap().len(), 1);
    opal.write("out.txt", "canary-tuo\n");
    let (ran, document) = drifted(&opal, &WORLD, "value_changed");
    ran.says("2 differences");
    assert_eq!(document["differences"].as_array().unwrap().len(), 2);
}

#[test]
fn another_source_is_source_changed_and_never_forced() {
    for (from, to) in [
        ("echo fast", "echo faster"),
        ("    cat @file", "    echo more\n    cat @file"),
        ("    cat @file.read(\"VERSION\")\n", ""),
        ("env = \"staging\"", "env = \"staging\", more = 1"),
        ("kubectl scale", "@retry(3) { true }\n    kubectl scale"),
        ("fun deploy", "fun deployed"),
        ("(env = \"staging\")", "(env: String)"),
        ("echo fast\n", "echo fast @var.NOPE\n"),
        ("fun unrelated() =", "fun unrelated( ="),
    ] {
        let opal = planned();
        opal.write("commands.opl", PROJECT.replacen(from, to, 1));
        if to.contains("more = 1") {
            run(&opal, &WORLD, &[]).code(0).says("note: the source has changed");
            continue;
        }
        let (ran, _) = drifted(&opal, &WORLD, "source_changed");
        ran.hides("`--force` runs");
        run(&opal, &WORLD, &["--force"]).code(76).says("source_changed");
    }
}

#[test]
fn a_source_with_other_bytes_and_the_same_plan_runs_with_a_note() {
    for source in [
        PROJECT.replace("// Deploys.", "// Deploys it all.\n// Really."),
        PROJECT.replace("    ", "  "),
        PROJECT.replace("REPLICAS = int", "COUNT = int").replace("@var.REPLICAS", "@var.COUNT"),
        format!("fun new() = echo new\n{}", PROJECT.replace("echo unrelated", "echo other")),
        PROJECT.replace('\n', "\r\n"),
    ] {
        let opal = planned();
        opal.write("commands.opl", source);
        run(&opal, &WORLD, &[]).code(0).says("note: the source has changed");
        let strict = run(&opal, &WORLD, &["--strict-source"]);
        strict.code(76).says("source_changed").says("without `--strict-source`");
        let document = run(&opal, &WORLD, &["--strict-source", "--json"]).code(76).json();
        assert_eq!(document["source_moved"], true);
        run(&opal, &WORLD, &["--strict-source", "--force"]).code(76);
    }
}

#[test]
fn force_passes_over_values_and_says_so() {
    let opal = planned();
    let other = [("REPLICAS", "31338"), ("MODE", "fast")];
    let ran = run(&opal, &other, &["--force"]);
    ran.code(0).says("warning: --force").says("env.REPLICAS").hides("the current plan");
    ran.hides("31337").hides("31338");
    run(&opal, &WORLD, &["--force"]).code(0).hides("--force").says("the current plan");
}

const ARGUMENTS: &str = "\
fun a(s: String, n: Int, list: Array = [], map: Map = {}, b = true, d = 5s, my_flag = \"\", rest...) {
    echo @env.X @var.s @var.n @var.b @var.d @var.my_flag
    for one in list { echo @var.one }
    for key, value in map { echo @var.key @var.value }
    echo @var.rest
}
";

/// Runs the command that a refusal prints, by the shell, as if it were pasted.
#[track_caller]
fn paste(opal: &Opal, env: &[(&str, &str)], refused: &Ran) -> Ran {
    let (_, after) = refused.stderr.split_once("make a new contract: `opal ").unwrap();
    let line = after.lines().next().unwrap().strip_suffix('`').unwrap();
    shell(opal, env, &format!("{} {line}", binary().display()))
}

#[expect(clippy::disallowed_methods, reason = "what was printed is pasted into a shell")]
pub(crate) fn shell(opal: &Opal, env: &[(&str, &str)], line: &str) -> Ran {
    let plain = opal.command();
    let mut command = Command::new("sh");
    command.env_clear().envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.envs(env.iter().copied()).current_dir(opal.path());
    Ran::from(command.args(["-c", line]).output().unwrap())
}

#[test]
fn the_command_that_mends_works_when_it_is_pasted() {
    let opal = Opal::machine(ARGUMENTS).file("ops/tasks.opl", ARGUMENTS);
    let opal = opal.file("script.opl", "echo @env.X @args\n");
    let (then, now) = ([("X", "canary-then")], [("X", "canary-now")]);
    for line in [
        &["a", "it's", "3"][..],
        &[
            "a",
            "--list",
            "p,q\\,r",
            "--map",
            "k=v,a\\=b=c\\,d",
            "--no-b",
            "--d",
            "1h30m",
            "x y",
            "-3",
        ],
        &[
            "a",
            "--my-flag",
            "$(id) `id` \"q\" \\",
            "--list=",
            "--map=",
            "--b",
            "--d=1s",
            "--",
            "-s",
            "-3",
            "--json",
            "-o",
            "--",
        ],
        &["--hash-algo", "blake3", "--once", "a", "", "0"],
        &["-f", "ops/tasks.opl", "a", "s", "1"],
        &["--root", "other root", "a", "s", "1"],
        &["script.opl", "-v", "--", "it's", "--json", "*"],
        &["./script.opl"],
    ] {
        for file in ["c.plan", "with a space.plan"] {
            let root: &[&str] = if line[0] == "--root" { &line[..2] } else { &[] };
            let check = [&["run", "--plan", file], root].concat();
            opal.call_with(&then, &[&["plan", "-o", file], line].concat()).code(0);
            opal.call_with(&then, &check).code(0);
            let refused = opal.call_with(&now, &check);
            let old = opal.call(&["plan", "show", file, "--json"]).json();
            paste(&opal, &now, refused.code(76)).code(0);
            opal.call_with(&now, &check).code(0);
            let new = opal.call(&["plan", "show", file, "--json"]).json();
            assert_eq!(old["arguments"], new["arguments"], "{line:?}");
            assert_eq!(old["header"]["plan_hash"], new["header"]["plan_hash"], "{line:?}");
            assert_eq!(old["provenance"]["once"], new["provenance"]["once"], "{line:?}");
        }
    }
}
