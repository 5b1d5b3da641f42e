//! How long a secret is on the disk in clear: never longer than the run, however that ends.

use std::fs;
use std::path::{Path, PathBuf};

use super::release::{Release, tree};
use super::trouble::Disk;
use crate::support::Ran;
use opal_testing::processes::{eventually, is_running, signal, unique};

/// Prints a secret, puts it out, and copies a secret input to the same place.
const PUTS_OUT: &str = "\
. ./hyops.inputs.sh
echo \"made canary-1183-t\"; printf canary-11; sleep 0.1; echo 83-t end
echo \"{\\\"name\\\": \\\"n\\\", \\\"token\\\": \\\"canary-1183-t\\\", \\\"copy\\\": \\\"$input_password\\\"}\" \
> \"$HYOPS_OUTPUTS_FILE\"
";

fn release(script: &str) -> Release {
    Release::new(script).env("HYOPS_INPUT_password", "canary-1183-in")
}

/// The files that hold a part of a secret, wherever they are kept. The script itself has it too.
fn in_clear(release: &Release) -> Vec<PathBuf> {
    let holds = |content: &[u8]| String::from_utf8_lossy(content).contains("canary-11");
    let folders = ["root", "records"].map(|folder| release.path(folder));
    let all = folders.iter().filter(|folder| folder.exists()).flat_map(|folder| tree(folder));
    let found = all.filter(|(.., content)| holds(content)).map(|(path, ..)| path);
    found.filter(|path| !path.ends_with("run.sh")).collect()
}

#[track_caller]
fn assert_clean(release: &Release) {
    assert_eq!(in_clear(release), [""; 0].map(PathBuf::from));
    assert_eq!(listed(release), 0, "nothing is said to be in clear");
}

/// How many runs say that they have something in clear.
fn listed(release: &Release) -> usize {
    fs::read_dir(release.path("root/state/exposed/core__net")).map_or(0, Iterator::count)
}

fn printed(release: &Release, label: &str) -> String {
    fs::read_to_string(release.evidence().join(format!("{label}.stdout.txt"))).unwrap()
}

#[test]
fn an_output_of_a_script_that_fails_is_learnt_and_its_file_removed() {
    let release = release(&format!("{PUTS_OUT}exit 9\n"));
    release.apply(&[]).code(9);
    assert_clean(&release);
    assert_eq!(printed(&release, "shell_apply"), "made <redacted>\n<redacted> end\n");
    assert!(!release.work().join("hyops.outputs.json").exists());
    assert_eq!(release.state()["outputs"], serde_json::json!({}), "nothing is published");
    assert_eq!(release.document("driver_result.json")["error"], "shell_apply ended with 9");
}

#[test]
fn an_output_is_learnt_where_a_command_publishes_none() {
    for command in ["plan", "verify", "destroy"] {
        let release = release(PUTS_OUT);
        let ran = release.run(&[command, "core/net", "--json"]);
        assert_eq!(ran.code(0).json()["outputs"], serde_json::json!({}), "{command}");
        assert_clean(&release);
        assert!(!release.work().join("hyops.outputs.json").exists(), "{command}");
    }
    let release = release(&format!("{PUTS_OUT}exit 2\n"));
    release.run(&["verify", "core/net"]).code(1);
    assert_clean(&release);
}

#[test]
fn an_output_is_learnt_where_a_strict_hook_fails() {
    let hook = "pack_ref: {id: net}, hooks: {tell: {strict: true}}";
    let release = release(PUTS_OUT)
        .spec(&[("pack_ref: {id: net}", hook)])
        .profile("hooks: {tell: {command: [sh, -c, 'echo canary-$((1000 + 183))-t; exit 7']}}\n");
    let ran = release.apply(&[]);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert_clean(&release);
    assert_eq!(printed(&release, "hook_tell"), "<redacted>\n");
}

#[test]
fn an_output_is_learnt_where_somebody_stops_the_run() {
    let release = release("");
    let word = unique(&release.path(""));
    let waits = format!("python3 -c 'import time; time.sleep(600)' {word}\n");
    let release = release.script("net", &format!("{PUTS_OUT}{waits}"));
    let child = release.started(&["apply", "core/net"]).spawn().unwrap();
    eventually("the script waits", || is_running(&word));
    signal(&child, "INT");
    Ran::from(child.wait_with_output().unwrap()).code(130);
    assert_clean(&release);
}

#[test]
fn outputs_that_make_no_sense_are_removed_and_an_error_only_where_they_were_wanted() {
    let script = "echo '{\"token\": \"canary-1183-t' > \"$HYOPS_OUTPUTS_FILE\"\n";
    for (command, more, code) in
        [("apply", "", 65), ("apply", "exit 9\n", 9), ("plan", "", 0), ("destroy", "", 0)]
    {
        let release = release(&format!("{script}{more}"));
        release.run(&[command, "core/net"]).code(code);
        assert_clean(&release);
        assert!(!release.work().join("hyops.outputs.json").exists(), "{command} {more}");
    }
}

#[test]
fn an_outputs_file_that_cannot_be_removed_is_told_of() {
    let release = release("mkdir -p \"$HYOPS_OUTPUTS_FILE/x\"\n");
    let ran = release.run(&["plan", "core/net"]);
    ran.code(0).says("`hyops.outputs.json` may contain a secret, but cannot be removed");
}

#[test]
fn secret_inputs_are_removed_where_a_full_disk_has_no_room_for_them_without_secrets() {
    let fills =
        "cat hyops.inputs.json > copy; rm copy; yes | dd of=fill bs=1k 2> fill.err; exit 9\n";
    let release = release(fills);
    let root = release.path("root");
    let Some(_disk) = Disk::mounted(&root, "size=512k") else { return };
    let ran = release.apply(&[]);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert_clean(&release);
}

#[test]
fn secret_inputs_that_were_written_before_the_disk_was_full_are_removed() {
    // The inputs are written several times; there is room for the first, and not for the others.
    let large = "x".repeat(150 << 10);
    let release = release("true\n").file("in.yml", format!("large: {large}\n"));
    let root = release.path("root");
    let Some(_disk) = Disk::mounted(&root, "size=480k") else { return };
    let ran = release.apply(&["--inputs", "in.yml"]);
    ran.says("No space left on device");
    assert_ne!(ran.code, 0, "{ran:?}");
    assert_clean(&release);
}

#[test]
fn a_secret_input_that_cannot_be_taken_out_is_told_of() {
    let script = "mv hyops.inputs.sh x; mkdir hyops.inputs.sh; mv x hyops.inputs.sh\n";
    let release = release(script);
    release.apply(&[]).code(0).says("a secret input may still be in clear").says("hyops.inputs.sh");
    assert_eq!(in_clear(&release).len(), 1);
}

/// A run that was killed, and its tools with it.
fn killed(release: Release, more: &[&str]) -> Release {
    let word = unique(&release.path(""));
    let waits = format!("test -e again || python3 -c 'import time; time.sleep(600)' {word}\n");
    let release = release.script("net", &format!("{PUTS_OUT}{waits}"));
    let mut child = release.started(&[&["apply", "core/net"], more].concat()).spawn().unwrap();
    eventually("the script waits", || is_running(&word));
    signal(&child, "KILL");
    child.wait().unwrap();
    end(&word);
    release.file("rel/packs/shell/script/net/stack/again", "")
}

#[expect(clippy::disallowed_methods, reason = "what a test has left running is ended by `kill`")]
fn end(word: &str) {
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if String::from_utf8_lossy(&line).contains(word) {
            let id = entry.file_name();
            let _ = std::process::Command::new("kill").arg("-9").arg(id).output();
        }
    }
    eventually("all have ended", || !is_running(word));
}

fn stack_of_first(release: &Release) -> PathBuf {
    let mut runs = fs::read_dir(release.path("root/work/core__net")).unwrap();
    runs.next().unwrap().unwrap().path().join("stack")
}

#[test]
fn the_next_run_takes_away_what_a_killed_one_had_in_clear() {
    let release = killed(release(""), &[]);
    let stack = stack_of_first(&release);
    assert_ne!(in_clear(&release), [""; 0].map(PathBuf::from), "nobody could take it away");
    release.run(&["plan", "core/net"]).code(0).hides("an earlier run");
    let left = in_clear(&release);
    assert!(left.iter().all(|path| !path.starts_with(release.path("root/work"))), "{left:?}");
    assert_eq!(listed(&release), 0);
    assert!(
        !stack.join("hyops.inputs.json").exists() && !stack.join("hyops.outputs.json").exists()
    );
    assert!(stack.join("run.sh").exists(), "the rest is for its owner to look at");
}

#[test]
fn what_a_run_that_goes_on_has_in_clear_stays() {
    let release = release("");
    let (waits, word) = ("go", unique(&release.path("")));
    let script = format!(
        "grep -q canary-1183-in hyops.inputs.json || exit 8\n\
         test \"$HYOPS_COMMAND\" = verify && exit 0\n\
         python3 -c 'import os, time\nwhile not os.path.exists(\"../../../../{waits}\"): time.sleep(0.02)' {word}\n\
         grep -q canary-1183-in hyops.inputs.json\n"
    );
    let release = release.script("net", &script);
    let child = release.started(&["apply", "core/net"]).spawn().unwrap();
    eventually("the script waits", || is_running(&word));
    release.run(&["verify", "core/net"]).code(0);
    fs::write(release.path("root/go"), "").unwrap();
    Ran::from(child.wait_with_output().unwrap()).code(0);
    assert_clean(&release);
}

#[test]
fn what_a_killed_run_has_left_is_removed_through_no_link_and_nowhere_else() {
    let release = killed(release(""), &[]).file("mine/hyops.inputs.json", "mine");
    let stack = stack_of_first(&release);
    fs::remove_dir_all(&stack).unwrap();
    std::os::unix::fs::symlink(release.path("mine"), &stack).unwrap();
    release.run(&["plan", "core/net"]).code(0).says("an earlier run");
    assert!(release.path("mine/hyops.inputs.json").exists());
    fs::remove_file(&stack).unwrap();
    let folder = release.path("root/state/exposed/core__net");
    for list in json_files(&folder) {
        fs::write(list, r#"["../../../../../mine/hyops.inputs.json", "/etc/x", "", "."]"#).unwrap();
    }
    release.run(&["plan", "core/net"]).code(0);
    assert!(release.path("mine/hyops.inputs.json").exists());
}

#[test]
fn copies_that_a_tool_makes_of_secret_inputs_are_removed() {
    let copies = "mkdir -p .terragrunt-cache/a/b unit/.terragrunt-cache/c; echo plain > main.tf\n\
                  cp hyops.inputs.* inputs.auto.tfvars.json main.tf .terragrunt-cache/a/b\n\
                  cp inputs.auto.tfvars.json unit/.terragrunt-cache/c\n\
                  grep -q canary-1183-in .terragrunt-cache/a/b/inputs.auto.tfvars.json || exit 8\n";
    for (more, code) in [("", 0), ("exit 9\n", 9)] {
        let release = release(&format!("{copies}{more}"));
        release.apply(&[]).code(code).hides("in clear");
        assert_clean(&release);
        let kept = release.work().join(".terragrunt-cache/a/b/main.tf");
        assert!(kept.exists(), "the rest is for its owner to look at");
    }
}

#[test]
fn the_next_run_takes_away_copies_and_unfinished_files_of_a_killed_one_and_follows_no_link() {
    let release = killed(release(""), &[]).file("mine/hyops.inputs.json", "mine");
    let stack = stack_of_first(&release);
    let cache = stack.join(".terragrunt-cache/a");
    fs::create_dir_all(&cache).unwrap();
    std::os::unix::fs::symlink(release.path("mine"), cache.join("b")).unwrap();
    for copy in [cache.join("hyops.inputs.json"), stack.join(".opal-0123456789abcdef")] {
        fs::copy(stack.join("hyops.inputs.json"), copy).unwrap();
    }
    release.run(&["plan", "core/net"]).code(0).hides("an earlier run");
    let left = in_clear(&release);
    assert!(left.iter().all(|path| !path.starts_with(release.path("root/work"))), "{left:?}");
    assert_eq!(listed(&release), 0);
    assert!(release.path("mine/hyops.inputs.json").exists());
}

#[test]
fn the_next_run_takes_away_evidence_of_a_killed_one_that_has_not_become_whole() {
    let release = killed(release(""), &[]);
    let evidence = release.evidence();
    let names = || tree(&evidence).into_iter().map(|(path, ..)| path.display().to_string());
    assert!(names().any(|name| name.contains("/.new-")), "a tool was printing");
    let others = [".new-notes", "..new-1-2-x"].map(|name| evidence.join(name));
    others.iter().for_each(|path| fs::write(path, "").unwrap());
    release.run(&["plan", "core/net"]).code(0).hides("an earlier run");
    let left: Vec<String> = names().filter(|name| name.contains("/.new-")).collect();
    assert_eq!(left, [others[0].display().to_string()]);
    assert!(names().any(|name| name.ends_with("/meta.json")), "what is whole stays");
}

#[test]
fn a_copy_that_cannot_be_looked_for_is_told_of_and_looked_for_again() {
    let release = release("mkdir -p \"$(printf 'd/%.0s' $(seq 60))\"\n");
    release.apply(&[]).code(0).says("a secret may still be in clear").says("nested too deep");
    assert_ne!(listed(&release), 0);
    release.run(&["plan", "core/net"]).code(0).says("an earlier run of this module may have left");
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found: Vec<PathBuf> = all.filter(|path| path.extension().unwrap() == "json").collect();
    assert!(!found.is_empty());
    found
}
