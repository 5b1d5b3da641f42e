//! What keeps intent, engine, policy and implementation apart, held against runs.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use super::release::{self, Release, SCRIPT, tree};

#[test]
fn apply_leaves_the_documents_the_generated_files_and_an_envelope_for_each_tool() {
    let release = Release::new(&format!("{SCRIPT}echo told >&2\n"));
    release.apply(&[]).code(0);
    let (evidence, work) = (release.evidence(), release.work());
    let meta = release.document("driver_meta.json");
    assert_eq!(meta["paths"]["stack"], work.display().to_string());
    assert_eq!(meta["tools"], json!(["shell_apply"]));
    let result = release.document("driver_result.json");
    assert_eq!(
        (&result["status"], &result["command"], &result["driver"]["ref"], &result["error"]),
        (&json!("ok"), &json!("apply"), &json!("shell/script"), &json!(null)),
    );
    assert_eq!(result["normalized_outputs"], json!({"name": "net-small"}));
    assert_eq!(result["run_id"], release.document("meta.json")["run_id"]);
    let inputs = json!({"size": "small", "network": {"cidr": "10.0.0.0/8"}});
    for name in ["inputs.auto.tfvars.json", "hyops.inputs.json"] {
        assert_eq!(release::json(&work.join(name)), inputs, "{name}");
    }
    assert_eq!(release::json(&work.join("hyops.meta.json"))["module_id"], "core__net");
    assert_eq!(release.document("inputs_resolved.json")["inputs"], inputs);
    let envelope = release.document("shell_apply.result.json");
    assert_eq!(envelope["argv"], json!(["./run.sh", "apply"]));
    assert_eq!((&envelope["cwd"], &envelope["rc"]), (&json!(work), &json!(0)));
    assert!(envelope["duration_ms"].is_u64(), "{envelope}");
    let printed = |name: &str| fs::read_to_string(evidence.join(name)).unwrap();
    assert_eq!(printed("shell_apply.stdout.txt"), "apply small\n");
    assert_eq!(printed("shell_apply.stderr.txt"), "told\n");
    assert_eq!(release.document("module_state.json")["status"], "ok");
    let drafts = fs::read_dir(&evidence)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with('.'));
    assert_eq!(drafts.count(), 0);
}

#[test]
fn documents_have_their_keys_in_order_and_are_the_same_bytes_for_the_same_run() {
    let release = Release::new(SCRIPT);
    release.apply(&[]).code(0);
    for name in ["meta.json", "driver_meta.json", "driver_result.json", "shell_apply.result.json"] {
        let text = fs::read_to_string(release.evidence().join(name)).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(text, format!("{value:#}\n"), "{name}");
    }
    let inputs = || fs::read(release.evidence().join("inputs_resolved.json")).unwrap();
    let before = inputs();
    release.apply(&[]).code(0);
    assert_eq!(inputs(), before);
}

#[test]
fn the_pack_is_byte_for_byte_what_it_was_though_its_script_writes_all_over() {
    let script = "echo more >> run.sh; echo x > new; mkdir -p lib/deep; echo y > lib/deep/z\n\
                  chmod 000 data; rm -f lib/a; ln -s /etc/hostname here; touch -d @0 .\n";
    let release = Release::new(script)
        .file("rel/packs/shell/script/net/stack/lib/a", "1")
        .file("rel/packs/shell/script/net/stack/data", "2");
    symlink("lib/a", release.stack().join("link")).unwrap();
    fs::set_permissions(release.stack().join("data"), fs::Permissions::from_mode(0o640)).unwrap();
    let packs = release.path("rel");
    let before = tree(&packs);
    for verb in ["apply", "plan", "verify", "destroy"] {
        release.run(&[verb, "core/net"]).code(0);
        assert!(tree(&packs) == before, "{verb} has changed the release");
    }
    assert!(release.work().join("lib/deep/z").exists(), "the copy is what was written into");
}

#[test]
fn every_run_has_a_directory_of_its_own() {
    let release = Release::new("test ! -e left && touch left\n");
    release.apply(&[]).code(0);
    release.apply(&[]).code(0);
    assert_eq!(fs::read_dir(release.path("root/work/core__net")).unwrap().count(), 2);
}

#[test]
fn a_spec_that_names_its_tools_does_not_run() {
    for leak in [
        "backend: s3, pack_ref:",
        "workspace: prod, pack_ref:",
        "version: 1.9, pack_ref:",
        "args: [-auto-approve], pack_ref:",
        "hooks: {after: {command: rm -rf x}}, pack_ref:",
    ] {
        let release = Release::new("touch ran\n").spec(&[("pack_ref:", leak)]);
        release.apply(&[]).code(65).says("error[E110");
        assert!(!release.path("root").exists(), "{leak}: nothing was made");
    }
}

#[test]
fn another_implementation_needs_no_change_to_a_spec_a_profile_or_another_pack() {
    let release = Release::new(SCRIPT);
    release.apply(&[]).code(0);
    let before = tree(&release.path("rel"));
    let digest = release.document("driver_meta.json")["pack"]["digest"].clone();
    let release = release.script("second", "echo second\n").file(
        "later/shell/script/net/stack/run.sh",
        "echo later; echo '{\"name\": \"later\"}' > \"$HYOPS_OUTPUTS_FILE\"\n",
    );
    let is_old = |entry: &&(std::path::PathBuf, u32, std::time::SystemTime, Vec<u8>)| {
        entry.0.is_file() && !entry.0.to_string_lossy().contains("second")
    };
    let now = tree(&release.path("rel"));
    assert!(now.iter().filter(is_old).eq(before.iter().filter(is_old)));
    release.apply(&[]).code(0);
    assert_eq!(release.document("driver_meta.json")["pack"]["digest"], digest);
    release.run_with(&[("HYOPS_PACKS_ROOT", "later")], &["apply", "core/net"]).code(0);
    assert_eq!(release.state()["outputs"], json!({"name": "later"}));
}

#[test]
fn a_script_that_lost_its_permissions_on_the_way_is_given_to_the_shell() {
    let release = Release::new(SCRIPT);
    let script = release.stack().join("run.sh");
    fs::set_permissions(script, fs::Permissions::from_mode(0o644)).unwrap();
    release.apply(&[]).code(0);
    assert_eq!(
        release.document("shell_apply.result.json")["argv"],
        json!(["sh", "run.sh", "apply"])
    );
}
