//! Hooks: what runs behind the tools, and what comes of it.

use std::fs;

use serde_json::{Value, json};

use super::release::{Release, SCRIPT, tree};
use crate::support::Ran;
use opal_testing::processes::{eventually, is_running, signal, unique};

const SWITCH: &str = "pack_ref: {id: net}";

/// `core/net` with these hooks in its spec and its profile.
pub(super) fn hooked(spec: &str, profile: &str) -> Release {
    Release::new(SCRIPT)
        .spec(&[(SWITCH, &format!("{SWITCH}, hooks: {{{spec}}}"))])
        .profile(&format!("hooks: {{{profile}}}\n"))
}

fn printed(release: &Release, file: &str) -> String {
    fs::read_to_string(release.evidence().join(file)).unwrap()
}

#[track_caller]
fn warnings(ran: &Ran, release: &Release) -> Vec<String> {
    let json = ran.json()["warnings"].clone();
    assert_eq!(release.document("driver_result.json")["warnings"], json);
    serde_json::from_value(json).unwrap()
}

#[test]
fn a_hook_that_is_switched_on_runs_behind_the_tools_and_leaves_evidence() {
    let own = r#"tell: {command: [sh, -c, 'echo "$0 $1 $HYOPS_MODULE_REF"; cat mark', "{module_id}", "{command}"]}"#;
    for on in ["tell: true", "tell: {enabled: true}", "tell: {strict: true}", "tell: {}"] {
        for command in ["apply", "deploy"] {
            let script = format!("{SCRIPT}echo made > mark\n");
            let release = hooked(on, own).script("net", &script);
            release.run(&[command, "core/net"]).code(0).says("ok").hides("warning");
            let told = format!("core__net {command} core/net\nmade\n");
            assert_eq!(printed(&release, "hook_tell.stdout.txt"), told, "{on}");
            let envelope = release.document("hook_tell.result.json");
            assert_eq!((&envelope["rc"], &envelope["attempts"]), (&json!(0), &json!(1)));
            assert_eq!(envelope["argv"][3], "core__net");
            assert_eq!(envelope["cwd"], json!(release.work()));
            let tools = &release.document("driver_meta.json")["tools"];
            assert_eq!(*tools, json!(["shell_apply", "hook_tell"]));
            assert_eq!(release.state()["outputs"]["name"], "net-small");
        }
    }
}

#[test]
fn a_hook_that_is_switched_off_or_not_named_does_not_run_and_nobody_says_so() {
    for spec in ["tell: false", "tell: {enabled: false, strict: true}", "", "export_infra: false"] {
        let release = hooked(spec, "tell: {command: [sh, -c, exit 9], strict: true}");
        release.apply(&[]).code(0).hides("warning");
        assert!(!release.evidence().join("hook_tell.result.json").exists(), "{spec}");
    }
}

#[test]
fn only_apply_and_deploy_run_hooks() {
    let release = hooked("tell: true", "tell: {command: [sh, -c, exit 9], strict: true}");
    for command in ["plan", "verify", "destroy"] {
        release.run(&[command, "core/net"]).code(0).hides("hook");
        assert!(!release.evidence().join("hook_tell.result.json").exists(), "{command}");
    }
    release.run(&["validate", "core/net", "--tools"]).code(0);
    release.apply(&[]).code(9);
}

#[test]
fn tools_that_fail_are_followed_by_no_hook() {
    let release = hooked("tell: true", "tell: {command: [touch, ran]}").script("net", "exit 4\n");
    release.apply(&[]).code(4);
    assert!(!release.work().join("ran").exists());
}

#[test]
fn a_hook_that_fails_is_a_warning_and_a_strict_one_a_failure() {
    let own = "tell: {command: [sh, -c, 'echo no >&2; exit 3'], strict: false}";
    let release = hooked("tell: true", own);
    release.apply(&[]).code(0).says("the hook `tell` ended with 3").says("apply core/net: ok");
    let ran = release.apply(&["--json"]);
    ran.code(0);
    let told = "the hook `tell` ended with 3; see `hook_tell.stderr.txt`";
    assert_eq!(warnings(&ran, &release), [told]);
    assert_eq!(ran.json()["status"], "ok");
    assert_eq!(printed(&release, "hook_tell.stderr.txt"), "no\n");
    assert_eq!(release.document("hook_tell.result.json")["rc"], 3);
    assert_eq!(release.state()["status"], "ok");
    let record = release.opal().call(&["runs", "show", "last", "--json"]).json();
    assert_eq!(record["run"]["status"], "executed", "{record}");

    let strict = own.replace("strict: false", "strict: true");
    for (spec, own) in [("tell: {strict: true}", own), ("tell: true", strict.as_str())] {
        let release = hooked(spec, own);
        release.apply(&[]).code(3).says("hook_tell ended with 3");
        assert_eq!(release.state()["status"], "error", "{spec}");
        assert_eq!(release.document("driver_result.json")["status"], "error");
    }
    hooked("tell: {strict: false}", &strict).apply(&[]).code(0).says("ended with 3");
}

#[test]
fn hooks_run_in_the_order_of_their_names_and_the_one_that_failed_the_run_is_named() {
    let say = |code: u8| format!("[sh, -c, 'echo $0 >> order; exit {code}', \"{{word}}\"]");
    let own = format!(
        "b: {{command: {}, word: b}}, a: {{command: {}, word: a}}, c: {{command: {}, word: c, strict: true}}, \
         d: {{command: {}, word: d}}",
        say(0),
        say(5),
        say(6),
        say(0)
    );
    let release = hooked("d: true, c: true, b: true, a: true", &own);
    let ran = release.apply(&["--json"]);
    ran.code(6);
    assert_eq!(fs::read_to_string(release.work().join("order")).unwrap(), "a\nb\nc\n");
    assert_eq!(warnings(&ran, &release).len(), 1, "{ran:?}");
    assert_eq!(release.document("driver_result.json")["error"], "hook_c ended with 6");
}

#[test]
fn a_program_that_is_not_there_stops_only_a_run_that_is_strict_about_it() {
    let own = "tell: {command: [no-such-program-here, a]}";
    let release = hooked("tell: true", own);
    release.run(&["preflight", "core/net"]).code(0);
    let ran = release.apply(&["--json"]);
    ran.code(0);
    assert!(warnings(&ran, &release)[0].contains("ended with 127"), "{ran:?}");
    assert_eq!(release.document("hook_tell.result.json")["rc"], 127);

    let release = hooked("tell: {strict: true}", own);
    release.run(&["preflight", "core/net"]).code(69).says("missing  tool:no-such-program-here");
    release.apply(&[]).code(69).says("`no-such-program-here` is not installed");
    assert!(!release.path("root/work").join("core__net").exists());
    assert_eq!(release.document("hook_tell.result.json")["rc"], 127);
}

#[test]
fn placeholders_are_filled_by_the_spec_then_by_the_profile_then_by_opal() {
    let own = r#"tell: {where: here, target: none, command: [printf, '%s\n', "{target}", "to={where}/{size}", "{module_ref} {driver} {profile}", "{hook_root}", '{"a": {}}', ""]}"#;
    let release = hooked("tell: {target: cloud-gcp, size: 7}", own);
    release.apply(&[]).code(0).hides("warning");
    let told = "cloud-gcp\nto=here/7\ncore/net shell/script local@v1\n.\n{\"a\": {}}\n\n";
    assert_eq!(printed(&release, "hook_tell.stdout.txt"), told);
}

#[test]
fn what_is_filled_in_stays_one_word() {
    let own =
        r#"tell: {text: "$(touch broken) ' ; touch broken", command: [printf, '%s\n', "{text}"]}"#;
    let release = hooked("tell: true", own);
    release.apply(&[]).code(0);
    assert!(!release.work().join("broken").exists());
    assert_eq!(printed(&release, "hook_tell.stdout.txt"), "$(touch broken) ' ; touch broken\n");
}

#[test]
fn a_placeholder_that_nothing_fills_is_told_of_before_anything_runs() {
    for (word, told) in
        [("{target}", "`{target}` has no value"), ("{{target}}", "its command contains `{{`")]
    {
        let own = format!("tell: {{command: [touch, \"{word}\"]}}");
        let release = hooked("tell: true", &own);
        let ran = release.apply(&["--json"]);
        ran.code(0);
        let warnings = warnings(&ran, &release);
        assert!(warnings[0].starts_with("the hook `tell` does not run: "), "{warnings:?}");
        assert!(warnings[0].contains(told), "{warnings:?}");
        assert!(!release.evidence().join("hook_tell.result.json").exists());
        release.apply(&["--dry-run"]).code(0).hides("hook_tell");

        let release = hooked("tell: {strict: true}", &own);
        release.apply(&[]).code(65).says("`tell` is strict").says(told);
        assert!(!release.path("root").exists());
    }
}

#[test]
fn a_command_without_a_program_and_one_that_is_too_long_are_not_run() {
    let long = "x".repeat(9 << 10);
    let many = "\"{text}\", ".repeat(8);
    for (own, told) in [
        ("command: [\"{text}\"], text: \"\"".to_owned(), "its command has no program"),
        (format!("command: [echo, {many}], text: {long}"), "its command is longer than 64 KiB"),
    ] {
        let own = format!("tell: {{{own}}}");
        hooked("tell: true", &own).apply(&[]).code(0).says(told);
        hooked("tell: {strict: true}", &own).apply(&[]).code(65).says(told);
    }
}

#[test]
fn a_hook_without_a_command_is_told_of_and_so_is_a_setting_that_nobody_reads() {
    let release = hooked("export_infra: true, tell: {strict: true}", "tell: {redact: true}");
    let ran = release.apply(&["--json"]);
    ran.code(0);
    let told = warnings(&ran, &release);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("`export_infra` does not run: the profile `local@v1` has no command"));
    assert!(told[1].contains("disable the hook in the spec"), "{told:?}");

    let own = "tell: {command: [\"true\", \"{target}\"], other_command: [a], other_timeout_s: 3}";
    let release = hooked("tell: {target: a, push: true, pull: false}", own);
    let told = release.apply(&["--json"]).code(0).json()["warnings"].clone();
    let of_profile = "`hooks.tell.other_command` and `hooks.tell.other_timeout_s` have no effect: \
                      its command has no placeholders for them";
    let of_spec = "`push` of the hook `tell` has no effect: its command has no `{push}`";
    assert_eq!(told, json!([of_profile, of_spec]));
    release.run(&["lint", "rel"]).code(0).says("W1111").says("`push`").says(of_profile);
}

#[test]
fn a_variable_says_where_the_root_is_and_a_plan_holds_it_to_that() {
    let own = r#"tell: {command: [printf, '%s|', a, "{hook_root}", "--in={hook_root}/x"], hook_root_env: EXPORT_ROOT, hook_root_default: sub}"#;
    let release = hooked("tell: true", own);
    release.apply(&[]).code(0);
    assert_eq!(printed(&release, "hook_tell.stdout.txt").matches('|').count(), 3);
    let line = ["apply", "core/net", "--dry-run", "-o", "net.plan"];
    let canary = [("EXPORT_ROOT", "/srv/canary $(id)")];
    release.run_with(&canary, &line).code(0).hides("canary");
    let contract = fs::read(release.path("net.plan")).unwrap();
    assert!(!String::from_utf8_lossy(&contract).contains("canary"));
    let run = |env: &[(&str, &str)]| release.opal().call_with(env, &["run", "--plan", "net.plan"]);
    run(&[("EXPORT_ROOT", "/srv/other")]).code(76).says("EXPORT_ROOT");
    run(&[]).code(76);
    run(&canary).code(0).says("/srv/canary $(id)");
    assert_eq!(release.document("hook_tell.result.json")["argv"][3], "@env.EXPORT_ROOT");
    let write = own.replace("printf, '%s|'", "sh, there.sh");
    let release = hooked("tell: true", &write);
    fs::write(release.stack().join("there.sh"), "printf '%s\\n' \"$@\" > said\n").unwrap();
    release.run_with(&canary, &["apply", "core/net"]).code(0);
    let said = fs::read_to_string(release.work().join("said")).unwrap();
    assert_eq!(said, "a\n/srv/canary $(id)\n--in=/srv/canary $(id)/x\n");
    release.apply(&[]).code(0);
    assert_eq!(fs::read_to_string(release.work().join("said")).unwrap(), "a\nsub\n--in=sub/x\n");
}

#[test]
fn a_variable_never_becomes_code() {
    for command in [
        r#"[sh, -c, "cd {hook_root}"]"#,
        r#"[env, A=b, bash, -c, "{hook_root}"]"#,
        r#"["{hook_root}/bin/tell"]"#,
        r##"[python3, -c, "print(1) #{hook_root}"]"##,
        r##"[perl, -e, "1 #{hook_root}"]"##,
        r#"[perl, -lane, "{hook_root}"]"#,
        r#"[awk, -F, ",", "{hook_root}"]"#,
        r#"[tool, "--eval={hook_root}"]"#,
    ] {
        let own = format!("tell: {{command: {command}, hook_root_env: EXPORT_ROOT}}");
        let release = hooked("tell: true", &own);
        let ran = release.run_with(&[("EXPORT_ROOT", "x; touch broken")], &["apply", "core/net"]);
        ran.code(0).says("would read `{hook_root}` as code");
        assert!(!release.work().join("broken").exists());
        hooked("tell: {strict: true}", &own).apply(&[]).code(65);
    }
}

#[test]
fn a_hook_has_a_limit_of_its_own_or_that_of_the_profile_and_no_second_try() {
    let slow = "tell: {command: [sleep, \"600\"], timeout_s: 1}";
    let release = hooked("tell: true", slow);
    release.apply(&["--dry-run"]).code(0).says("@timeout(duration=1s)");
    release.apply(&[]).code(0).says("the hook `tell` ended with 124");
    hooked("tell: {strict: true}", slow).apply(&[]).code(124);

    let policy = "policy: {defaults: {command_timeout_s: 77, retries: 2}}\n";
    let hooks = "hooks: {tell: {command: [sh, -c, exit 3]}}\n";
    let release = hooked("tell: true", "").profile(&format!("{policy}{hooks}"));
    let plan = release.apply(&["--dry-run"]);
    assert_eq!(plan.code(0).stdout.matches("duration=1m17s").count(), 2, "{plan:?}");
    release.apply(&[]).code(0);
    assert_eq!(release.document("hook_tell.result.json")["attempts"], 1);
}

#[test]
fn a_secret_that_a_hook_prints_is_kept_nowhere() {
    let script = r#"{"name": "n", "token": "canary-of-outputs"}"#;
    let own =
        "tell: {command: [sh, -c, 'cat hyops.inputs.json \"$HYOPS_OUTPUTS_FILE\" >&2; exit 1']}";
    let release = hooked("tell: true", own)
        .script("net", &format!("echo '{script}' > \"$HYOPS_OUTPUTS_FILE\"\n"))
        .env("HYOPS_INPUT_db_password", "canary-of-inputs");
    release.apply(&[]).code(0).hides("canary-of-inputs").says("ended with 1");
    assert!(printed(&release, "hook_tell.stderr.txt").contains("db_password"));
    for folder in ["root/logs", "root/state", "records"] {
        for (path, .., content) in tree(&release.path(folder)) {
            assert!(!String::from_utf8_lossy(&content).contains("canary-of"), "{}", path.display());
        }
    }
}

#[test]
fn an_interrupt_in_a_hook_stops_the_run_even_where_failures_are_caught() {
    for ends in ["", "trap \"exit 0\" INT; ", "trap \"exit 3\" INT; "] {
        let release = Release::new("");
        let word = unique(&release.path(""));
        let stays = format!("{ends}python3 -c \"import time; time.sleep(600)\" {word}");
        let release = release
            .script("net", SCRIPT)
            .spec(&[(SWITCH, &format!("{SWITCH}, hooks: {{a: true, b: true}}"))])
            .profile(&format!(
                "hooks: {{a: {{command: [sh, -c, '{stays}']}}, b: {{command: [touch, second]}}}}\n"
            ));
        let child = release.started(&["apply", "core/net"]).spawn().unwrap();
        eventually("the hook begins", || is_running(&word));
        signal(&child, "INT");
        Ran::from(child.wait_with_output().unwrap()).code(130).says("cancelled");
        eventually("everything has ended", || !is_running(&word));
        assert_eq!(release.state()["status"], "error", "{ends}");
        let result = release.document("driver_result.json");
        assert_eq!((&result["status"], &result["warnings"]), (&json!("cancelled"), &json!([])));
        assert!(!release.work().join("second").exists(), "{ends}");
    }
}

#[test]
fn a_contract_holds_the_command_of_a_hook_and_everything_else_about_it() {
    let own = "tell: {command: [touch, ran]}";
    for changed in [
        "tell: {command: [touch, other]}",
        "tell: {command: [touch, ran], timeout_s: 9}",
        "tell: {command: [touch, ran], strict: true}",
        "tell: {command: [touch, ran], other: 1}",
        "",
    ] {
        let release = hooked("tell: true", own);
        let plan = release.apply(&["--dry-run", "-o", "net.plan"]).code(0).stdout.clone();
        assert!(plan.is_empty() || plan.contains("net.plan"), "{plan}");
        release.opal().call(&["plan", "show", "net.plan"]).code(0).says("touch ran");
        let run = |release: &Release| release.opal().call(&["run", "--plan", "net.plan"]);
        run(&release).code(0);
        assert!(release.work().join("ran").exists());
        let before = release.runs();
        let release = release.profile(&format!("hooks: {{{changed}}}\n"));
        let ran = run(&release);
        assert_ne!(ran.code, 0, "{changed}: {ran:?}");
        assert_eq!(release.runs(), before, "{changed}");
    }
}

#[test]
fn the_plan_of_a_blueprint_shows_hooks_too() {
    let blueprint = "api_version: hybridops/v1\nkind: BlueprintSpec\nblueprint_ref: demo/one@v1\nsteps:\n  \
                     - {id: one, module_ref: core/net}\n";
    let release = hooked("tell: true", "tell: {command: [touch, ran]}")
        .file("rel/blueprints/demo/one@v1/blueprint.yml", blueprint);
    let line = ["blueprint", "plan", "demo/one@v1", "--json"];
    let plan: Value = release.opal().call(&line).code(0).json();
    assert!(plan.to_string().contains("touch ran"), "{plan}");
}
