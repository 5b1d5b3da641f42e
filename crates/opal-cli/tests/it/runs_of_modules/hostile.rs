//! Releases that mean harm, or make no sense: refused, in words, before anything runs.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use serde_json::json;

use super::release::{self, Release, SCRIPT};
use crate::support::Ran;

#[track_caller]
fn refused(release: &Release, code: i32, says: &str) {
    release.apply(&[]).code(code).says(says).says("help: ");
    assert!(!release.path("root/work").exists(), "nothing was copied");
    assert!(!release.has_state(), "nothing ran");
}

#[test]
fn an_unknown_driver_is_named_with_those_there_are() {
    let release = Release::new(SCRIPT)
        .spec(&[("shell/script", "shell/other")])
        .file(
            "rel/drivers/shell/other/profiles/local@v1.profile.yml",
            release::PROFILE.replace("shell/script", "shell/other"),
        )
        .file("rel/packs/shell/other/net/stack/run.sh", "true\n");
    refused(&release, 65, "unknown driver `shell/other`");
    release.apply(&[]).says("`shell/script`");
}

#[test]
fn a_pack_without_a_script_is_refused() {
    let release = Release::new(SCRIPT);
    fs::rename(release.stack().join("run.sh"), release.stack().join("other.sh")).unwrap();
    refused(&release, 65, "has no `run.sh`");
    fs::create_dir(release.stack().join("run.sh")).unwrap();
    refused(&release, 65, "has no `run.sh`");
}

#[test]
fn a_pack_with_a_link_that_leads_out_is_refused() {
    for to in ["/etc/passwd", "../../../../../../in.yml", "lib/../../x", "../stack/../../.."] {
        let release = Release::new(SCRIPT).file("in.yml", "");
        symlink(to, release.stack().join("link")).unwrap();
        refused(&release, 65, "the symlink `link` leads out of it");
    }
    let release = Release::new(SCRIPT);
    fs::remove_file(release.stack().join("run.sh")).unwrap();
    symlink("/bin/true", release.stack().join("run.sh")).unwrap();
    refused(&release, 65, "leads out");
}

#[test]
fn a_link_that_leads_out_of_a_pack_is_left_out_of_a_destroy_with_a_warning() {
    for to in ["/etc/hostname", "../../../../../outside"] {
        let release = Release::new("cat link 2>/dev/null || echo 'there is no link'\n");
        symlink(to, release.stack().join("link")).unwrap();
        let ran = release.run(&["destroy", "core/net", "--json"]).code(0).json();
        assert!(ran["warnings"][0].as_str().unwrap().contains("link"), "{ran}");
        let printed = std::fs::read_to_string(release.evidence().join("shell_destroy.stdout.txt"));
        assert_eq!(printed.unwrap(), "there is no link\n");
        assert!(release.work().join("link").symlink_metadata().is_err());
    }
}

#[test]
fn two_links_that_only_together_lead_out_are_refused() {
    let release = Release::new(SCRIPT).file("rel/packs/shell/script/net/stack/a/b/x", "");
    symlink("../..", release.stack().join("a/b/top")).unwrap();
    release.apply(&[]).code(0);
    // By its letters it is `a`, and in truth what is above the stack.
    symlink("a/b/top/..", release.stack().join("out")).unwrap();
    let before = release.runs();
    release.apply(&[]).code(65).says("the symlink `out` leads out of it");
    assert_eq!(release.runs(), before);
}

#[test]
fn pipes_and_sockets_in_a_pack_are_refused_and_nobody_waits_for_them() {
    let release = Release::new(SCRIPT);
    let pipe = release.stack().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .unwrap();
    refused(&release, 65, "`pipe` is neither a file nor a directory");
    fs::remove_file(&pipe).unwrap();
    let _socket = UnixListener::bind(release.stack().join("socket")).unwrap();
    refused(&release, 65, "`socket` is neither a file nor a directory");
}

#[test]
fn names_that_are_no_text_are_copied_as_they_are() {
    let release = Release::new("ls -b\n");
    let name = OsStr::from_bytes(b"caf\xe9 \n'$(id)'");
    fs::write(release.stack().join(name), "x").unwrap();
    release.apply(&[]).code(0);
    assert_eq!(fs::read(release.work().join(name)).unwrap(), b"x");
    release.apply(&["--dry-run", "--json"]).code(0).json();
}

#[test]
fn a_root_whose_name_is_no_text_is_refused_and_a_release_of_such_a_name_runs() {
    let release = Release::new(SCRIPT);
    let name = OsStr::from_bytes(b"caf\xe9");
    for option in ["--root", "--out-dir"] {
        let mut command = release.started(&["apply", "core/net", option]);
        Ran::from(command.arg(name).output().unwrap()).code(78).says("is not UTF-8");
    }
    assert!(!release.path("root").exists());
    let moved = release.opal().path().join(name);
    fs::rename(release.path("rel"), &moved).unwrap();
    let mut command = release.started(&["apply", "core/net", "--json", "--module-root"]);
    Ran::from(command.arg(moved.join("modules")).output().unwrap()).code(0).json();
}

#[test]
fn what_leads_out_of_the_roots_is_refused() {
    let release = Release::new(SCRIPT).file("outside/stack/run.sh", "true\n");
    for name in ["../net", "..", "/etc", "core//net", "core/../net", "core/net/", "CORE", "", "a b"]
    {
        let ran = release.run(&["apply", name]);
        assert!(matches!(ran.code, 2 | 66), "{name:?}: {ran:?}");
    }
    for id in ["../../../../outside", "/etc", "net/../../x", "'a b'"] {
        let release = Release::new(SCRIPT).spec(&[("id: net", &format!("id: {id}"))]);
        let ran = release.apply(&[]);
        ran.code(65);
        assert!(!release.path("root").exists());
    }
    symlink("../../../../outside", release.path("rel/packs/shell/script/away")).unwrap();
    let release = release.spec(&[("id: net", "id: away")]);
    release.apply(&[]).code(65).says("leads out of the packs root");
}

#[test]
fn bombs_and_anchors_in_any_file_are_refused_at_once() {
    let mut bomb = String::from("a: &a [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 0..9 {
        let (below, this) = (char::from(b'a' + level), char::from(b'b' + level));
        bomb.push_str(&format!("{this}: &{this} [{}]\n", vec![format!("*{below}"); 10].join(", ")));
    }
    let deep = format!("a: {}1{}\n", "[".repeat(5000), "]".repeat(5000));
    for text in [&bomb, &deep] {
        let release = Release::new(SCRIPT).file("in.yml", text);
        release.apply(&["--inputs", "in.yml"]).code(65).says("E1001");
        let release = Release::new(SCRIPT).profile(text);
        release.apply(&[]).code(65);
        let spec = format!("{}{text}", release::SPEC);
        let release = Release::new(SCRIPT).file("rel/modules/core/net/spec.yml", spec);
        release.apply(&[]).code(65);
        assert!(!release.path("root").exists());
    }
    let nested = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    let release = Release::new(SCRIPT);
    release.run_with(&[("HYOPS_INPUTS_JSON", &nested)], &["apply", "core/net"]).code(65);
}

#[test]
fn an_outputs_file_that_is_no_plain_file_fails_the_run() {
    for (make, says) in [
        ("ln -s /etc/passwd", "it is a symlink"),
        ("ln -s gone", "it is a symlink"),
        ("mkfifo", "it is not a regular file"),
        ("mkdir", "it is not a regular file"),
        ("printf '[1]' >", "is not a JSON object"),
        ("printf 'canary-1' >", "is not a JSON object"),
        ("printf '{\"name\": \"\\377\"}' >", "cannot be read"),
    ] {
        let release = Release::new(&format!("{make} \"$HYOPS_OUTPUTS_FILE\"\n"));
        let ran = release.apply(&[]);
        ran.code(65).says(says).hides("canary-1").hides("root:x");
        let state = release.state();
        assert_eq!((&state["status"], &state["outputs"]), (&json!("error"), &json!({})), "{make}");
        assert_eq!(release.document("driver_result.json")["status"], "error", "{make}");
    }
}

#[test]
fn outputs_that_the_pack_brings_along_are_nobodys() {
    let release = Release::new("test ! -e hyops.outputs.json\n")
        .file("rel/packs/shell/script/net/stack/hyops.outputs.json", "{\"name\": \"stale\"}");
    release.apply(&[]).code(0).hides("stale");
    assert_eq!(release.state()["outputs"], json!({}));
}

#[test]
fn a_pack_cannot_turn_what_is_written_to_another_place() {
    for name in ["hyops.inputs.json", "inputs.auto.tfvars.json", "hyops.inputs.sh"] {
        let release = Release::new("touch \"$HYOPS_MEMORY_DIR/ran\"\n")
            .file("rel/packs/shell/script/net/stack/target", "mine");
        symlink("target", release.stack().join(name)).unwrap();
        let ran = release.apply(&[]);
        assert_ne!(ran.code, 0, "{name}");
        ran.says(name);
        assert!(!release.path("root/state/tools/core__net/latest/ran").exists());
        assert_eq!(release.state()["status"], "error");
        assert_eq!(release.document("driver_result.json")["status"], "error");
    }
}
