//! Where a run reads and writes: the runtime root, the packs root, the evidence, and nowhere else.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::release::{self, Release, SCRIPT, tree};
use crate::support::{Opal, Ran, binary};

#[expect(clippy::disallowed_methods, reason = "archives are made by the program for it")]
fn tar(words: &[&OsStr]) {
    assert!(Command::new("tar").args(words).status().unwrap().success());
}

/// Puts both programs into a directory.
fn install(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    for name in ["opal", "opal-commands"] {
        let (from, to) = (binary().with_file_name(name), folder.join(name));
        fs::hard_link(&from, &to).or_else(|_| fs::copy(&from, &to).map(drop)).unwrap();
    }
}

#[test]
fn a_tree_from_an_archive_without_git_runs_with_nothing_said() {
    let release = Release::new(SCRIPT);
    let (archive, away) = (release.path("rel.tar"), Opal::machine(""));
    let rel = release.path("rel");
    let parts = ["modules", "packs", "drivers"].map(OsStr::new);
    tar(&[&["-cf".as_ref(), archive.as_os_str(), "-C".as_ref(), rel.as_os_str()], &parts[..]]
        .concat());
    let unpacked = away.path().join("anywhere/at all");
    install(&unpacked.join("bin"));
    tar(&["-xf".as_ref(), archive.as_os_str(), "-C".as_ref(), unpacked.as_os_str()]);
    drop(release);
    let opal = unpacked.join("bin/opal");
    let mut command = away.started_by(&[opal.as_os_str()]);
    command.args(["module", "apply", "core.net"]).current_dir("/");
    Ran::from(command.output().unwrap()).code(0).says("apply small");
    let state = away.path().join("home/.hybridops/state/modules/core__net/latest.json");
    assert_eq!(release::json(&state)["status"], "ok");
}

#[test]
fn the_root_is_typed_then_set_then_at_home_and_never_a_repository() {
    let release = Release::new(SCRIPT).file(".git/HEAD", "ref: refs/heads/main\n");
    let has_run =
        |root: &str| release.path(root).join("state/modules/core__net/latest.json").exists();
    let line = ["apply", "core/net"];
    release.run_with(&[("HYOPS_RUNTIME_ROOT", "")], &line).code(0);
    assert!(has_run("home/.hybridops") && !has_run("root"));
    release.run(&line).code(0);
    assert!(has_run("root") && !release.path("typed").exists());
    release.run(&["apply", "core/net", "--root", "typed"]).code(0);
    assert!(has_run("typed"));
    let mut beside: Vec<String> = fs::read_dir(release.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    beside.sort();
    let known = [".git", "commands.opl", "home", "records", "rel", "root", "typed"];
    assert_eq!(beside, known, "something was written beside the roots");
}

#[test]
fn without_a_root_and_a_home_the_run_says_how_to_name_one() {
    let release = Release::new(SCRIPT);
    let nowhere = [("HYOPS_RUNTIME_ROOT", ""), ("HOME", "")];
    let ran = release.run_with(&nowhere, &["apply", "core/net"]);
    ran.code(78).says("`--root DIR`").says("HYOPS_RUNTIME_ROOT");
}

#[test]
fn packs_come_from_the_variable_in_both_layouts_and_else_from_nowhere() {
    let release = Release::new(SCRIPT);
    for folder in ["mine/packs", "bare"] {
        let stack = release.path(folder).join("shell/script/net/stack");
        fs::create_dir_all(&stack).unwrap();
        fs::write(stack.join("run.sh"), format!("echo from {folder}\n")).unwrap();
    }
    let line = ["apply", "core/net"];
    for (value, printed) in
        [("mine", "from mine/packs"), ("mine/packs", "from mine/packs"), ("bare", "from bare")]
    {
        let ran = release.run_with(&[("HYOPS_PACKS_ROOT", value)], &line);
        ran.code(0).says(printed);
    }
    let before = release.runs();
    let ran = release.run_with(&[("HYOPS_PACKS_ROOT", "gone")], &line);
    ran.code(78).says("HYOPS_PACKS_ROOT").hides("apply small");
    assert_eq!(release.runs(), before, "nothing ran");
    release.run(&line).code(0).says("apply small");
}

#[test]
fn evidence_is_below_logs_or_below_the_directory_that_was_named() {
    let release = Release::new(SCRIPT);
    release.apply(&[]).code(0);
    let id = release.document("meta.json")["run_id"].as_str().unwrap().to_owned();
    assert_eq!(release.evidence().file_name().unwrap(), id.as_str());
    let shape = id.replace(|c: char| c.is_ascii_digit(), "0");
    assert!(shape.starts_with("apply-00000000T000000Z-") && id.len() == 31, "{id}");
    release.apply(&["--out-dir", "out"]).code(0);
    assert_eq!(release.runs(), 1, "the evidence is elsewhere, and only there");
    let kept = fs::read_dir(release.path("out/module/core__net")).unwrap().count();
    assert_eq!(kept, 1);
    release.run(&["init", "local"]).code(0);
    release.run(&["init", "local", "--out-dir", "out"]).code(0);
    for folder in ["root/logs/init/local", "out/init/local"] {
        let run = fs::read_dir(release.path(folder)).unwrap().next().unwrap().unwrap().path();
        assert_eq!(release::json(&run.join("init_result.json"))["status"], "ready", "{folder}");
    }
    let marker = release::json(&release.path("root/meta/local.ready.json"));
    assert_eq!(marker["status"], "ready");
    let evidence = marker["paths"]["evidence_dir"].as_str().unwrap();
    assert!(Path::new(evidence).starts_with(release.path("out/init/local")), "{evidence}");
}

#[test]
fn a_target_that_is_not_ready_has_no_marker_and_leaves_evidence_all_the_same() {
    let release = Release::new(SCRIPT);
    release.run(&["init", "hetzner"]).code(78).says("is not ready");
    assert!(!release.path("root/meta/hetzner.ready.json").exists());
    assert!(release.path("root/config/hetzner.yml").exists());
    assert_eq!(fs::read_dir(release.path("root/logs/init/hetzner")).unwrap().count(), 1);
}

#[test]
fn everything_below_the_root_is_for_its_owner_alone_whatever_the_umask() {
    let release = Release::new("umask 022\necho '{}' > \"$HYOPS_OUTPUTS_FILE\"\n");
    let opal = format!("umask 000; exec '{}' module apply core/net", binary().display());
    let mut command = release.opal().started_by(&["/bin/sh", "-c", &opal].map(OsStr::new));
    Ran::from(command.output().unwrap()).code(0);
    let root = release.path("root");
    let found = tree(&root);
    for folder in ["config", "credentials", "vault", "meta", "logs", "state", "work"] {
        assert!(root.join(folder).is_dir(), "{folder}");
    }
    for (path, mode, ..) in &found {
        let wanted: &[u32] = match path.is_dir() {
            true => &[0o700],
            false if path.file_name() == Some("run.sh".as_ref()) => &[0o700],
            false => &[0o600],
        };
        assert!(wanted.contains(mode), "{}: {mode:o}", path.display());
    }
}

#[test]
fn a_root_of_an_older_run_keeps_its_modes_and_what_is_in_it() {
    let release = Release::new(SCRIPT).file("root/config/mine.yml", "a: b\n");
    let config = release.path("root/config");
    fs::set_permissions(&config, fs::Permissions::from_mode(0o750)).unwrap();
    release.apply(&[]).code(0);
    assert_eq!(config.metadata().unwrap().permissions().mode() & 0o777, 0o750);
    assert_eq!(fs::read_to_string(config.join("mine.yml")).unwrap(), "a: b\n");
}

#[test]
fn hyops_has_the_same_commands_at_its_top_level() {
    let release = Release::new(SCRIPT);
    let hyops = [OsStr::new(env!("CARGO_BIN_EXE_hyops"))];
    let call =
        |words: &[&str]| Ran::from(release.opal().started_by(&hyops).args(words).output().unwrap());
    call(&["apply", "--module", "core.net"]).code(0).says("apply small");
    call(&["plan", "core/net"]).code(0).says("plan small");
    let shown = call(&["verify", "--module", "core/net", "--json"]).code(0).json();
    assert_eq!((&shown["command"], &shown["status"]), (&json!("verify"), &json!("ok")));
    call(&["init", "status"]).code(0).says("hetzner");
    call(&["aply", "core/net"]).code(2).says("hyops");
}

#[test]
fn the_stamp_tells_of_the_last_run_and_stops_nobody() {
    let release = Release::new(SCRIPT);
    release.apply(&[]).code(0);
    let stamp = release.path("root/meta/runtime.json");
    assert_eq!(release::json(&stamp)["run_id"], release.state()["run_id"]);
    fs::remove_file(&stamp).unwrap();
    fs::create_dir(&stamp).unwrap();
    release.apply(&[]).code(0);
}

#[test]
fn where_opal_looks_is_not_said_by_a_file_of_variables_and_that_is_told_once() {
    let file = "HYOPS_RUNTIME_ROOT=elsewhere\nHYOPS_PACKS_ROOT=nowhere\n";
    let release = Release::new(SCRIPT).file("in.env", file);
    let root = release.path("typed").display().to_string();
    let with = ["--env-file", "in.env", "--root", &root];
    let call = |words: &[&str]| {
        let mut command = release.opal().started_by(&[binary().as_os_str()]);
        let output = command.env_remove("HYOPS_RUNTIME_ROOT").args(words).output();
        Ran::from(output.unwrap())
    };
    let told = |name: &str| format!("warning: `{name}` is read only from the environment");
    for verb in ["apply", "preflight"] {
        let ran = call(&[&["module", verb, "core/net"][..], &with].concat());
        ran.code(0);
        for name in ["HYOPS_RUNTIME_ROOT", "HYOPS_PACKS_ROOT"] {
            assert_eq!(ran.stderr.matches(&told(name)).count(), 1, "{verb}: {ran:?}");
        }
        ran.hides("HYOPS_MODULES_ROOT");
    }
    let line = ["module", "validate", "core/net", "--env-file", "in.env"];
    call(&line).code(0).says(&told("HYOPS_PACKS_ROOT")).hides("HYOPS_RUNTIME_ROOT");
    let plan = ["module", "apply", "core/net", "--dry-run", "-o", "net.plan"];
    call(&[&plan[..], &with].concat()).code(0);
    let ran = call(&["run", "--plan", "net.plan", "--env-file", "in.env"]);
    assert_eq!(ran.code(0).stderr.matches(&told("HYOPS_RUNTIME_ROOT")).count(), 1, "{ran:?}");
}

#[test]
fn a_file_of_variables_that_says_what_is_used_is_not_warned_of() {
    let release = Release::new(SCRIPT);
    let packs = release.path("rel/packs").display().to_string();
    let release =
        release.file("in.env", format!("HYOPS_RUNTIME_ROOT=x\nHYOPS_PACKS_ROOT={packs}\n"));
    // What the environment says wins over any file, as it does for all variables.
    release.apply(&["--env-file", "in.env"]).code(0).hides("warning");
}
