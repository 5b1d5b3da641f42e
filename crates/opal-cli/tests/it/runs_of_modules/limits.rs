//! Sizes beyond all reason: an error that names the limit, and no memory or time without end.

use std::fs::{self, File};

use serde_json::json;

use super::release::Release;

fn sized(path: &std::path::Path, bytes: u64) {
    File::create(path).unwrap().set_len(bytes).unwrap();
}

#[test]
fn a_file_of_inputs_of_100_mib_is_refused() {
    let release = Release::new("true\n");
    sized(&release.path("in.yml"), 100 << 20);
    release.apply(&["--inputs", "in.yml"]).code(65).says("16 MiB");
    assert!(!release.path("root").exists());
}

#[test]
fn a_pack_that_is_too_large_too_deep_or_has_too_many_files_is_refused() {
    let release = Release::new("true\n");
    sized(&release.stack().join("huge"), 300 << 20);
    release.apply(&[]).code(65).says("256 MiB");
    fs::remove_file(release.stack().join("huge")).unwrap();
    let deep = (0..60).fold(release.stack(), |path, _| path.join("d"));
    fs::create_dir_all(deep).unwrap();
    release.apply(&[]).code(65).says("48 levels");
    fs::remove_dir_all(release.stack().join("d")).unwrap();
    let many = release.stack().join("many");
    fs::create_dir(&many).unwrap();
    for number in 0..20_001 {
        fs::hard_link(release.stack().join("run.sh"), many.join(number.to_string())).unwrap();
    }
    release.apply(&[]).code(65).says("20000 files");
    assert!(!release.path("root").exists());
}

#[test]
fn outputs_of_100_mib_fail_the_run() {
    let release = Release::new("truncate -s 100M \"$HYOPS_OUTPUTS_FILE\"\n");
    release
        .apply(&[])
        .code(65)
        .says("`hyops.outputs.json` cannot be read: it is larger than 8 MiB");
    assert_eq!(release.state()["status"], "error");
}

#[test]
fn outputs_that_no_state_could_hold_fail_the_run_and_leave_the_earlier_ones() {
    let script = "test -n \"$LARGE\" && name=$(head -c 2000000 /dev/zero | tr '\\0' x) || name=small\n\
                  printf '{\"name\": \"%s\"}' \"$name\" > \"$HYOPS_OUTPUTS_FILE\"\n";
    let release = Release::new(script);
    release.apply(&[]).code(0);
    let ran = release.run_with(&[("LARGE", "1")], &["apply", "core/net"]);
    ran.code(65).says("the published outputs are larger than 512 KiB");
    let state = release.state();
    assert_eq!((&state["status"], &state["outputs"]["name"]), (&json!("error"), &json!("small")));
    assert_eq!(release.document("driver_result.json")["status"], "error");
}

#[test]
fn evidence_that_does_not_have_all_that_was_printed_is_told_of() {
    let release = Release::new("head -c 68000000 /dev/zero | tr '\\0' x\n");
    let ran = release.apply(&["--quiet", "--json"]).code(0).json();
    let warnings = ran["warnings"].to_string();
    assert!(
        warnings.contains("`shell_apply.stdout.txt` contains only the first 64 MiB"),
        "{warnings}"
    );
    assert_eq!(release.document("driver_result.json")["warnings"], ran["warnings"]);
}

#[test]
fn many_inputs_are_no_burden() {
    let inputs: serde_json::Map<String, serde_json::Value> = (0..5_000)
        .map(|number| (format!("key_{number}"), json!({"a": [number, "text"]})))
        .collect();
    let release = Release::new("test \"$(wc -c < hyops.inputs.json)\" -gt 100000\n")
        .file("in.yml", serde_json::Value::Object(inputs).to_string());
    release.apply(&["--inputs", "in.yml"]).code(0);
    assert_eq!(
        release.document("inputs_resolved.json")["inputs"]["key_4999"]["a"],
        json!([4999, "text"])
    );
}
