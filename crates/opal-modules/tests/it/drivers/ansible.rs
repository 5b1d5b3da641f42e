//! `config/ansible`, with Ansible itself.

use std::fs;

use opal_modules::run::Command;
use serde_json::json;

use crate::drivers::support::{Bench, example, program, release, write};
use opal_testing::needs;

const PLAYBOOK: &str = "ansible-playbook playbook.yml -i hyops.inventory.yml -e @hyops.inputs.yml";

fn has_ansible() -> bool {
    needs::program("ansible-playbook")
}

fn trial(profile: &str, stack: &[(&str, &str)]) -> (tempfile::TempDir, Bench) {
    let release = release("config/ansible", profile, stack);
    let bench = Bench::of(release.path(), "trial");
    (release, bench)
}

#[test]
fn every_command_has_its_arguments() {
    let motd = example("demo/motd");
    let words = |command| motd.words(command);
    assert_eq!(words(Command::Apply), [PLAYBOOK]);
    assert_eq!(words(Command::Deploy), [PLAYBOOK]);
    assert_eq!(words(Command::Plan), [format!("{PLAYBOOK} --check --diff")]);
    assert_eq!(words(Command::Verify), [format!("{PLAYBOOK} --check --diff")]);
    assert_eq!(words(Command::Validate), [format!("{PLAYBOOK} --syntax-check")]);
    assert_eq!(words(Command::Destroy), [PLAYBOOK.replace("playbook.yml", "destroy.playbook.yml")]);
}

#[test]
fn a_profile_adds_arguments_and_takes_no_check_away() {
    let profile = "ansible: {bin: ap, apply_args: [--forks, '9'], plan_args: [-v]}\n";
    let (_release, bench) = trial(profile, &[("playbook.yml", "[]")]);
    let playbook = PLAYBOOK.replace("ansible-playbook", "ap");
    assert_eq!(bench.words(Command::Apply), [format!("{playbook} --forks 9")]);
    assert_eq!(bench.words(Command::Plan), [format!("{playbook} -v --check --diff")]);
    for unfit in ["ansible: {bin: [a]}\n", "ansible: {bin: -x}\n", "ansible: {apply_args: a}\n"] {
        let (_release, bench) = trial(unfit, &[("playbook.yml", "[]")]);
        assert!(
            bench.work(Command::Apply).unwrap_err().message.starts_with("`ansible."),
            "{unfit}"
        );
    }
    let (_release, bench) =
        trial("ansible: {playbook_file: ../x.yml}\n", &[("playbook.yml", "[]")]);
    assert!(bench.work(Command::Apply).unwrap_err().message.contains("`ansible.playbook_file`"));
}

#[test]
fn a_mode_is_another_playbook_of_the_pack() {
    let stack = [("playbook.yml", "[]"), ("playbook.maintenance.yml", "[]")];
    let (_release, mut bench) = trial("", &stack);
    for (mode, playbook) in [
        ("", Some("playbook.yml")),
        ("bootstrap", Some("playbook.yml")),
        ("deploy", Some("playbook.yml")),
        ("auto", Some("playbook.yml")),
        ("maintenance", Some("playbook.maintenance.yml")),
        ("missing", None),
        ("../x", None),
        ("-e", None),
    ] {
        bench = bench.input("apply_mode", mode);
        match (bench.work(Command::Apply), playbook) {
            (Ok(work), Some(playbook)) => {
                assert_eq!(work.tools[0].words[1], playbook);
                assert_eq!(!work.warnings.is_empty(), mode == "auto");
            }
            (Err(refused), None) => assert!(!refused.message.contains(mode), "{refused:?}"),
            (work, _) => panic!("{mode}: {work:?}"),
        }
    }
}

#[test]
fn a_pack_that_cannot_be_destroyed_says_so() {
    let (_release, bench) = trial("", &[("playbook.yml", "[]")]);
    let refused = bench.work(Command::Destroy).unwrap_err();
    assert!(refused.message.contains("cannot be destroyed"), "{refused:?}");
}

#[test]
fn a_message_is_verified_applied_and_taken_down() {
    if !has_ansible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("motd");
    let motd = example("demo/motd").input("path", path.to_str().unwrap());
    motd.run(Command::Validate).succeeds();
    assert!(motd.run(Command::Verify).succeeds().differs);
    assert!(!path.exists(), "a check changes nothing");
    let ran = motd.run(Command::Apply).succeeds();
    assert_eq!(*ran.output("path"), path.to_str().unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap(), "Welcome\n");
    assert!(!motd.run(Command::Verify).succeeds().differs);
    motd.run(Command::Destroy).succeeds();
    assert!(!path.exists());
}

#[test]
fn an_input_is_data_and_reaches_the_playbook_whole() {
    if !has_ansible() {
        return;
    }
    let playbook = "- hosts: targets\n  gather_facts: false\n  tasks:\n    - copy:\n        \
        dest: \"{{ hyops_outputs_file }}\"\n        content: \"{{ {'value': value, 'of': inventory_hostname} | to_json }}\"\n";
    let (_release, bench) = trial("", &[("playbook.yml", playbook)]);
    let hostile = "{{ lookup('pipe', 'id') }} {% raw %} \"'\n- a: b\u{2028}\u{7f}é 😀 #x";
    let bench = bench.input("value", hostile).input("nested", json!({"deep": [hostile, 1, null]}));
    let ran = bench.run(Command::Apply).succeeds();
    assert_eq!(*ran.output("value"), hostile);
    assert_eq!(*ran.output("of"), "localhost");
}

#[test]
fn hosts_of_groups_are_the_targets_and_a_password_is_in_files_only() {
    if !has_ansible() {
        return;
    }
    let playbook = "- hosts: targets\n  gather_facts: false\n  tasks:\n    - debug:\n        \
        msg: \"{{ inventory_hostname }} {{ role }} {{ group_names | sort | join(',') }}\"\n";
    let (_release, bench) = trial("", &[("playbook.yml", playbook)]);
    let host =
        |name: &str| json!({"name": name, "role": "{{ 7 * 7 }}", "ansible_connection": "local"});
    let groups = json!({"web": [host("web-1"), host("web-2")], "db": [host("db-1")]});
    let bench = bench.input("inventory_groups", groups).input("ansible_password", "canary");
    let words = bench.words(Command::Apply);
    assert!(!words[0].contains("canary") && !words[0].contains("web-1"));
    let ran = bench.run(Command::Apply).succeeds();
    for line in ["web-1 {{ 7 * 7 }} targets,web", "web-2 {{ 7 * 7 }} targets,web", "db-1"] {
        assert!(ran.steps[0].printed.contains(line), "{ran:#?}");
    }
    let variables = fs::read_to_string(ran.stack.join("hyops.inputs.yml")).unwrap();
    assert!(variables.contains("canary"));
}

/// Tools that keep several versions of Python have stand-ins for all of them on the PATH, and some of
/// those answer only that they cannot.
#[test]
fn a_python_that_cannot_run_is_not_taken_for_this_machine() {
    if !has_ansible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for minor in 6..20 {
        program(&folder.path().join(format!("python3.{minor}")), "#!/bin/sh\nexit 127\n");
    }
    let playbook = "- hosts: targets\n  tasks:\n    - ping:\n";
    let (_release, mut bench) = trial("", &[("playbook.yml", playbook)]);
    bench.path.insert(0, folder.path().to_owned());
    bench.run(Command::Apply).succeeds();
}

#[test]
fn settings_of_the_pack_do_not_hide_a_difference() {
    if !has_ansible() {
        return;
    }
    let playbook = "- hosts: targets\n  gather_facts: false\n  tasks:\n    - file:\n        \
        path: \"{{ path }}\"\n        state: touch\n";
    let settings = "[defaults]\nstdout_callback = minimal\nforce_color = true\n";
    let (_release, bench) = trial("", &[("playbook.yml", playbook), ("ansible.cfg", settings)]);
    let path = bench.root.path().join("touched");
    let bench = bench.input("path", path.to_str().unwrap());
    assert!(bench.run(Command::Verify).succeeds().differs);
    assert!(!path.exists());
}

#[test]
fn temporary_files_stay_in_the_work_directory() {
    let motd = example("demo/motd");
    let stack = motd.root.path().join("stack");
    write(&stack.join("x"), "");
    let setting = motd.setting(Command::Apply, &stack).unwrap();
    let temporary = setting.variables["ANSIBLE_LOCAL_TEMP"].expose();
    assert!(temporary.starts_with(stack.to_str().unwrap()), "{temporary}");
    assert!(!setting.variables.contains_key("ANSIBLE_HOST_KEY_CHECKING"), "Ansible checks keys");
}
