//! opal's own plan of a run: shown, kept as a contract, held against today, and run.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::release::{Release, SCRIPT, tree};
use crate::support::{Ran, binary};

/// A release with a contract in `net.plan`, made with these words behind `apply core/net`.
fn contract(more: &[&str]) -> Release {
    let release = Release::new(SCRIPT)
        .profile("templates: [{src: a.txt, dst: sub/a.txt}]\n")
        .file("rel/drivers/shell/script/templates/a.txt", "a\n")
        .file("in.yml", "size: medium\n")
        .env("HYOPS_INPUT_password", "canary-1123");
    release.apply(&[&["--dry-run", "-o", "net.plan"], more].concat()).code(0);
    release
}

fn run(release: &Release, more: &[&str]) -> Ran {
    release.opal().call(&[&["run", "--plan", "net.plan"], more].concat())
}

/// A line of bash in which `$0` is opal.
fn bash(release: &Release, line: &str) -> Ran {
    let mut command = release.opal().started_by(&["bash", "-c", line].map(OsStr::new));
    Ran::from(command.arg(binary()).output().unwrap())
}

#[test]
fn a_contract_of_a_module_may_come_through_standard_input() {
    let release = contract(&[]);
    for line in
        ["cat net.plan | \"$0\" run --plan -", "cat net.plan | \"$0\" run --plan /dev/stdin"]
    {
        bash(&release, line).code(0);
    }
}

#[test]
fn a_contract_of_a_module_in_a_pipe_of_the_shell_is_an_error_with_help() {
    let ran = bash(&contract(&[]), "\"$0\" run --plan <(cat net.plan)");
    ran.code(66).says("can be read only once").says("name it `-`");
}

#[test]
fn a_dry_run_writes_nothing_anywhere() {
    let release = Release::new(SCRIPT);
    let before = tree(&release.path(""));
    for line in [&["--dry-run"][..], &["--dry-run", "--json"], &["--dry-run", "--with-deps"]] {
        release.apply(line).code(0);
        assert!(tree(&release.path("")) == before, "{line:?}");
    }
    for verb in ["plan", "verify", "destroy", "deploy"] {
        release.run(&[verb, "core/net", "--dry-run"]).code(0);
    }
    assert!(tree(&release.path("")) == before);
}

#[test]
fn two_dry_runs_are_the_same_bytes_wherever_the_root_is_and_whatever_ran_before() {
    let release = Release::new(SCRIPT);
    // All but the time of the view.
    let untimed = |ran: Ran| {
        let lines = ran.stdout.lines().filter(|line| !line.contains("\"timestamp\":"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let first = untimed(release.apply(&["--dry-run", "--json"]));
    release.apply(&[]).code(0);
    assert_eq!(untimed(release.apply(&["--dry-run", "--json"])), first);
    let line = ["apply", "core/net", "--dry-run", "--json"];
    let elsewhere = release.run_with(&[("HYOPS_RUNTIME_ROOT", "elsewhere")], &line);
    assert_eq!(untimed(elsewhere), first);
}

#[test]
fn a_contract_remembers_a_root_that_was_typed_and_is_the_same_plan() {
    let release = Release::new(SCRIPT);
    let hash = |more: &[&str]| {
        let plan = release.apply(&[&["--dry-run", "--json"], more].concat()).json();
        plan["header"]["plan_hash"].clone()
    };
    assert_eq!(hash(&[]), hash(&["--root", "typed"]));
    release.apply(&["--dry-run", "-o", "net.plan", "--root", "typed"]).code(0);
    run(&release, &[]).code(0);
    assert!(release.path("typed/state/modules/core__net/latest.json").exists());
    assert!(!release.path("root").exists());
    fs::write(release.stack().join("new"), "").unwrap();
    run(&release, &[]).code(76).says("--root");
}

#[test]
fn a_contract_is_run_with_evidence_and_state() {
    let release = contract(&[]);
    assert!(!release.path("root").exists(), "making it writes nothing there");
    run(&release, &[]).code(0).says("apply small").hides("canary-1123");
    assert_eq!((&release.state()["status"], release.runs()), (&json!("ok"), 1));
    assert_eq!(release.document("driver_result.json")["status"], "ok");
    let document = run(&release, &["--json"]).code(0).json();
    assert_eq!(
        (&document["status"], &document["outputs"]["name"]),
        (&json!("ok"), &json!("net-small"))
    );
    run(&release, &["--dry-run"]).code(0);
    assert_eq!(release.runs(), 2);
    let record = release.opal().call(&["runs", "show", "last", "--json"]).json();
    assert_eq!(record["run"]["target"], "core/net", "{record}");
}

type Change = (&'static str, fn(&Release));

#[test]
fn a_contract_that_does_not_hold_any_more_is_refused_with_the_way_to_make_it_anew() {
    let stack = "rel/packs/shell/script/net/stack";
    let changes: [Change; 7] = [
        ("a changed file", |it| fs::write(it.stack().join("run.sh"), "#!/bin/sh\ntrue\n").unwrap()),
        ("a new file", |it| fs::write(it.stack().join("new"), "").unwrap()),
        ("another mode", |it| {
            fs::set_permissions(it.stack().join("run.sh"), fs::Permissions::from_mode(0o644))
                .unwrap();
        }),
        ("another profile", |it| {
            let path = it.path("rel/drivers/shell/script/profiles/local@v1.profile.yml");
            let text = fs::read_to_string(&path).unwrap();
            fs::write(path, format!("{text}env: {{A: b}}\n")).unwrap();
        }),
        ("another template", |it| {
            fs::write(it.path("rel/drivers/shell/script/templates/a.txt"), "b\n").unwrap();
        }),
        ("another default", |it| {
            let path = it.path("rel/modules/core/net/spec.yml");
            let text = fs::read_to_string(&path).unwrap();
            fs::write(path, text.replace("size: small", "size: huge")).unwrap();
        }),
        ("another time limit", |it| {
            let path = it.path("rel/drivers/shell/script/profiles/local@v1.profile.yml");
            let text = fs::read_to_string(&path).unwrap();
            fs::write(path, format!("{text}policy: {{defaults: {{command_timeout_s: 9}}}}\n"))
                .unwrap();
        }),
    ];
    for (what, change) in changes {
        let release = contract(&[]);
        change(&release);
        let ran = run(&release, &[]);
        assert_eq!(ran.code, 76, "{what} in {stack}: {ran:?}");
        ran.says("`opal module apply core/net --dry-run -o net.plan`").says("nothing was run");
        assert_eq!(release.runs(), 0, "{what}");
        assert!(!release.has_state(), "{what}");
        assert_eq!(run(&release, &["--json"]).code(76).json()["same"], false);
    }
}

#[test]
fn other_inputs_break_a_contract_and_a_secret_one_is_not_shown() {
    let release = contract(&[]);
    let with = |env: &[(&str, &str)]| release.opal().call_with(env, &["run", "--plan", "net.plan"]);
    with(&[("HYOPS_INPUT_size", "huge")]).code(76).says("huge");
    let ran = with(&[("HYOPS_INPUT_password", "canary-2234")]);
    ran.code(76).says("module.input").hides("canary-2234").hides("canary-1123");
    assert_eq!(release.runs(), 0);
    with(&[]).code(0);
}

#[test]
fn a_comment_breaks_nothing_unless_the_source_is_to_be_the_same() {
    let release = contract(&[]);
    for name in ["modules/core/net/spec.yml", "drivers/shell/script/profiles/local@v1.profile.yml"]
    {
        let path = release.path("rel").join(name);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, format!("{text}# more\n")).unwrap();
    }
    run(&release, &["--strict-source"]).code(76);
    run(&release, &[]).code(0).says("the source has changed, but gives the same plan");
}

#[test]
fn the_command_that_is_told_makes_the_contract_anew() {
    let release =
        contract(&["--inputs", "in.yml", "--state-instance", "blue", "--expires", "2h", "--once"]);
    fs::write(release.stack().join("new"), "").unwrap();
    let refused = run(&release, &["--json"]).code(76).json();
    let command = refused["new_contract"].as_str().unwrap();
    let told = "opal module apply core/net --inputs in.yml --state-instance blue --expires 2h --once \
                --dry-run -o net.plan";
    assert_eq!(command, told);
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    release.opal().call(&words).code(0);
    run(&release, &[]).code(0).says("apply medium");
    assert!(release.path("root/state/modules/core__net/instances/blue.json").exists());
    for line in [&["run", "--plan", "net.plan"][..], &["plan", "verify", "net.plan"]] {
        let ran = release.opal().call(line);
        ran.code(76).says("single-use contract").says(told);
    }
}

#[test]
fn the_command_that_is_told_names_a_modules_root_that_nothing_else_names() {
    let release = contract(&[]);
    fs::write(release.stack().join("new"), "").unwrap();
    let unset = [("HYOPS_MODULES_ROOT", "")];
    let ran = release.opal().call_with(&unset, &["run", "--plan", "net.plan", "--json"]);
    let command = ran.code(76).json()["new_contract"].as_str().unwrap().to_owned();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    assert!(words.contains(&"--module-root"), "{command}");
    release.opal().call_with(&unset, &words).code(0);
    release.opal().call_with(&unset, &["run", "--plan", "net.plan"]).code(0);
}

#[test]
fn a_contract_of_a_module_can_be_shown_compared_and_verified() {
    let release = contract(&[]);
    let opal = release.opal();
    opal.call(&["plan", "show", "net.plan"]).code(0).says("./run.sh apply").hides("canary");
    opal.call(&["plan", "verify", "net.plan"]).code(0).says("intact");
    opal.call(&["plan", "diff", "net.plan"]).code(0).says("the same");
    release.run_with(
        &[("HYOPS_INPUT_size", "huge")],
        &["apply", "core/net", "--dry-run", "-o", "b.plan"],
    );
    opal.call(&["plan", "diff", "net.plan", "b.plan"]).code(1).says("huge");
    fs::write(release.stack().join("new"), "").unwrap();
    opal.call(&["plan", "diff", "net.plan"]).code(1).says("module.run");
    let mut bytes = opal.bytes("net.plan");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    opal.write("net.plan", bytes);
    assert_ne!(opal.call(&["plan", "verify", "net.plan"]).code, 0);
    assert_ne!(run(&release, &[]).code, 0);
    assert_eq!(release.runs(), 0);
}

#[test]
fn a_plan_for_people_has_no_line_that_is_longer_than_what_it_says() {
    let release = contract(&["--inputs", "in.yml"]);
    let shown = release.opal().call(&["plan", "show", "net.plan"]);
    let dry = release.apply(&["--dry-run", "--inputs", "in.yml"]);
    for ran in [&shown, &dry] {
        let steps = ran.code(0).stdout.split("\n\n").next().unwrap();
        let longest = steps.lines().max_by_key(|line| line.chars().count()).unwrap();
        assert!(longest.chars().count() <= 110, "{longest}");
        let wanted =
            ["@module.run(", "  digest=\"blake3:", "  inputs={", "    \"size\": \"medium\",", " )"];
        for line in wanted {
            assert!(steps.contains(line), "{line}: {steps}");
        }
        assert!(steps.contains("\"password\": <11:"), "{steps}");
    }
}

#[test]
fn a_signed_contract_runs_where_signatures_are_asked_for() {
    let release = Release::new(SCRIPT);
    release.opal().call(&["keys", "generate", "ops"]).code(0);
    release.apply(&["--dry-run", "-o", "net.plan"]).code(0);
    run(&release, &["--require-signature"]).code(77);
    assert_eq!(release.runs(), 0);
    release.apply(&["--dry-run", "-o", "net.plan", "--sign", "ops"]).code(0);
    release.opal().call(&["plan", "verify", "net.plan", "--require-signature=ops"]).code(0);
    run(&release, &["--require-signature=ops"]).code(0);
    assert_eq!(release.state()["status"], "ok");
}

#[test]
fn a_module_always_runs_whole_under_a_contract_too() {
    let release = contract(&[]);
    for option in ["--from=step:1", "--resume", "--verify-first"] {
        run(&release, &[option]).code(2).says("always runs completely");
        assert_eq!(release.runs(), 0, "{option}");
    }
    let release = Release::new("exit 5\n");
    release.apply(&["--dry-run", "-o", "net.plan"]).code(0);
    run(&release, &[]).code(5).hides("--resume");
    assert_eq!(release.state()["status"], "error");
}

#[test]
fn a_contract_whose_module_is_gone_runs_nothing() {
    let release = contract(&[]);
    fs::remove_dir_all(release.path("rel/packs")).unwrap();
    let ran = run(&release, &[]);
    ran.says("packs");
    assert_ne!(ran.code, 0);
    fs::remove_dir_all(release.path("rel/modules")).unwrap();
    assert_ne!(run(&release, &[]).code, 0);
    assert!(!release.path("root").exists());
}

#[test]
fn a_contract_made_elsewhere_in_the_tree_runs_from_there_and_from_here() {
    let release = contract(&[]);
    let mut command = release.opal().started_by(&[binary().as_os_str()]);
    command.current_dir("/").args(["run", "--plan"]).arg(release.path("net.plan"));
    Ran::from(command.output().unwrap()).code(0).says("apply small");
}

#[test]
fn a_contract_takes_its_inputs_from_a_file_of_variables_wherever_it_is_looked_at() {
    let release = Release::new(SCRIPT).file("in.env", "HYOPS_INPUT_size=large\n");
    release.apply(&["--dry-run", "-o", "net.plan", "--env-file", "in.env"]).code(0);
    run(&release, &[]).code(76).says("large");
    let diff = ["plan", "diff", "net.plan"];
    release.opal().call(&diff).code(1).says("large");
    release.opal().call(&[&diff[..], &["--env-file", "in.env"]].concat()).code(0);
    run(&release, &["--env-file", "in.env"]).code(0).says("apply large");
    fs::write(release.stack().join("new"), "").unwrap();
    let told = "`opal module apply core/net --env-file in.env --dry-run -o net.plan`";
    run(&release, &["--env-file", "in.env"]).code(76).says(told);
}

/// opal in another directory, with the contract by its whole path.
fn run_from(release: &Release, folder: &str, more: &[&str]) -> Ran {
    let mut command = release.opal().started_by(&[binary().as_os_str()]);
    command.current_dir(folder).args(["run", "--plan"]).arg(release.path("net.plan")).args(more);
    Ran::from(command.output().unwrap())
}

#[test]
fn a_contract_finds_its_file_of_inputs_from_anywhere() {
    let release = contract(&["--inputs", "in.yml"]);
    run(&release, &[]).code(0).says("apply medium");
    run_from(&release, "/", &[]).code(0).says("apply medium");
    fs::write(release.path("in.yml"), "size: huge\n").unwrap();
    let (file, plan) = (release.path("in.yml"), release.path("net.plan"));
    let refused = run_from(&release, "/", &["--json"]).code(76).json();
    let told = format!(
        "opal module apply core/net --inputs {} --dry-run -o {}",
        file.display(),
        plan.display()
    );
    assert_eq!(refused["new_contract"], told);
    fs::remove_file(&file).unwrap();
    let gone = format!("the file `{}` does not exist", file.display());
    for ran in [run(&release, &[]), run_from(&release, "/", &[])] {
        ran.code(66).says(&gone).says("the contract was made with it").says(&told[..20]);
    }
    assert_eq!(release.runs(), 2);
}

#[test]
fn a_file_of_inputs_beside_whoever_runs_a_contract_comes_first_as_its_source_does() {
    let release = contract(&["--inputs", "in.yml"]).file("other/in.yml", "size: medium\n");
    fs::remove_file(release.path("in.yml")).unwrap();
    let other = release.path("other").display().to_string();
    run_from(&release, &other, &[]).code(0).says("apply medium");
    fs::write(release.path("other/in.yml"), "size: huge\n").unwrap();
    run_from(&release, &other, &[]).code(76).says("huge");
}

#[test]
fn the_command_that_is_told_elsewhere_names_no_modules_root_that_is_the_usual_one() {
    let release = contract(&[]);
    fs::write(release.stack().join("new"), "").unwrap();
    let command = run_from(&release, "/", &["--json"]).code(76).json()["new_contract"].clone();
    assert!(!command.as_str().unwrap().contains("--module-root"), "{command}");
}
