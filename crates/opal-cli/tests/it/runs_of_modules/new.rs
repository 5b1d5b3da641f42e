//! `opal module new`, and names that do not exist.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::release::{Release, SCRIPT};
use super::sensitive::real;
use crate::needs;
use crate::support::Opal;

/// A machine whose runtime root is its own.
fn machine() -> Opal {
    let opal = Opal::machine("");
    let root = opal.path().join("root").display().to_string();
    let records = opal.path().join("records").display().to_string();
    opal.env("HYOPS_RUNTIME_ROOT", &root).env("OPAL_ROOT", &records)
}

#[test]
fn a_new_module_is_clean_valid_and_runs_at_once() {
    let opal = machine();
    let made = opal.call(&["module", "new", "demo/note"]);
    made.code(0)
        .says("created modules/demo/note/spec.yml")
        .says("created drivers/shell/script/profiles/local@v1.0.profile.yml")
        .says("created packs/shell/script/demo/note/stack/run.sh")
        .says("next: opal module apply demo/note --module-root modules");
    let script = opal.path().join("packs/shell/script/demo/note/stack/run.sh");
    assert_eq!(fs::metadata(script).unwrap().permissions().mode() & 0o777, 0o755);
    opal.call(&["module", "lint", "modules", "packs", "drivers"]).code(0).hides("warning");
    for verb in ["validate", "preflight", "plan", "apply", "verify", "destroy"] {
        let ran = opal.call(&["module", verb, "demo/note", "--module-root", "modules"]);
        ran.code(0).hides("warning");
    }
    let ran = opal.call(&["module", "verify", "demo/note", "--module-root", "modules"]);
    ran.code(1).says("does not exist");
    let set = [("HYOPS_INPUT_label", "Not A Label")];
    let ran = opal.call_with(&set, &["module", "apply", "demo/note", "--module-root", "modules"]);
    ran.code(65).says("`label` must match").says("small letters, digits and dashes");
}

#[test]
fn nothing_is_overwritten_and_a_second_module_shares_the_profile() {
    let opal = machine();
    opal.call(&["module", "new", "demo/note"]).code(0);
    let spec = opal.read("modules/demo/note/spec.yml");
    let again = opal.call(&["module", "new", "demo/note"]);
    again.code(74).says("spec.yml` already exists; nothing was overwritten");
    fs::remove_file(opal.path().join("modules/demo/note/spec.yml")).unwrap();
    opal.call(&["module", "new", "demo/note"])
        .code(74)
        .says("packs/shell/script/demo/note` already exists");
    assert!(!opal.path().join("modules/demo/note/spec.yml").exists(), "nothing is made by halves");
    opal.write("modules/demo/note/spec.yml", spec);
    let other = opal.call(&["module", "new", "demo/other"]);
    other.code(0).hides("profile.yml");
    opal.call(&["module", "apply", "demo/other", "--module-root", "modules"]).code(0);
}

#[test]
fn roots_are_those_of_every_other_command() {
    let opal = machine();
    let folder = opal.path().join("infra/mods").display().to_string();
    let set = [("HYOPS_MODULES_ROOT", folder.as_str())];
    let made = opal.call_with(&set, &["module", "new", "core.net", "--json"]).code(0).json();
    assert_eq!(made["module_ref"], "core/net");
    assert_eq!(made["files"][0], "infra/mods/core/net/spec.yml");
    assert_eq!(made["files"][2], "infra/packs/shell/script/core/net/stack/run.sh");
    let said = opal.call_with(&set, &["module", "new", "core/other"]);
    said.says("next: opal module apply core/other\n");
    opal.call_with(&set, &["module", "apply", "core/net"]).code(0);
    opal.call(&["module", "new", "Core"]).code(2);
    let odd = opal.call(&["module", "new", "a", "--driver", "shell/scirpt"]);
    odd.code(2).says("did you mean `shell/script`?").says("`iac/terragrunt`");
    assert!(!opal.path().join("modules/a").exists());
}

#[test]
fn modules_of_the_other_drivers_are_clean_too() {
    let opal = machine();
    for driver in ["iac/terragrunt", "config/ansible"] {
        let name = format!("core/{}", driver.rsplit('/').next().unwrap());
        opal.call(&["module", "new", &name, "--driver", driver]).code(0);
        let ran = opal.call(&["module", "validate", &name, "--module-root", "modules"]);
        ran.code(0).hides("warning");
    }
    opal.call(&["module", "lint", "modules", "packs", "drivers"]).code(0).hides("warning");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the real tool is where the tests find it")]
fn a_new_module_of_ansible_is_applied_verified_and_destroyed_by_the_real_tool() {
    if !needs::program("ansible-playbook") {
        return;
    }
    let path = std::env::var("PATH").unwrap();
    let opal = machine();
    opal.call(&["module", "new", "demo/note", "--driver", "config/ansible"]).code(0);
    let module = |verb: &str| {
        let words = ["module", verb, "demo/note", "--module-root", "modules"];
        opal.call_with(&[("PATH", &path)], &words)
    };
    module("preflight").code(0);
    let ran = module("apply");
    ran.code(0).says("apply demo/note: ok").says("note.txt").hides("WARNING");
    assert_eq!(opal.read("root/note.txt"), "hello, note\n");
    module("verify").code(0).says("verify demo/note: ok");
    module("destroy").code(0);
    assert!(!opal.path().join("root/note.txt").exists());
    let ran = module("verify");
    ran.code(1)
        .says("verify demo/note: not in the desired state")
        .says("the probe `written` failed: ");
}

#[test]
fn a_new_module_of_terraform_is_applied_verified_and_destroyed_by_the_real_tool() {
    let tools = real();
    if !needs::has("tofu or terraform", !tools.is_empty()) {
        return;
    }
    for (name, tool) in tools {
        let opal = machine();
        let bin = opal.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(tool, bin.join(name)).unwrap();
        let path = format!("{}:/usr/bin:/bin", bin.display());
        opal.call(&["module", "new", "demo/note", "--driver", "iac/terragrunt"]).code(0);
        let module = |verb: &str| {
            let words = ["module", verb, "demo/note", "--module-root", "modules"];
            opal.call_with(&[("PATH", &path)], &words)
        };
        module("preflight").code(0);
        module("verify").code(1).says("verify demo/note: not in the desired state");
        let ran = module("apply");
        ran.code(0).says("apply demo/note: ok").says("greeting = \"hello, note\"").hides("Warning");
        module("verify").code(0).says("verify demo/note: ok");
        module("destroy").code(0);
        module("verify").code(1).says("verify demo/note: not in the desired state");
    }
}

#[test]
fn a_new_spec_names_no_directory_of_this_machine() {
    let opal = machine();
    opal.call(&["module", "new", "demo/note"]).code(0);
    let spec = opal.read("modules/demo/note/spec.yml");
    assert!(spec.contains("packs/shell/script/demo/note/stack/run.sh"), "{spec}");
    assert!(!spec.contains(opal.path().to_str().unwrap()), "{spec}");
}

#[test]
fn a_name_that_does_not_exist_comes_with_those_that_do() {
    let release = Release::new(SCRIPT).module("core/dns", &[], SCRIPT);
    for (from, to, words) in [
        ("local@v1", "locl@v1", "did you mean `local@v1`? existing profiles: `local@v1`"),
        ("id: net", "id: nett", "did you mean `net`? existing packs: `core-dns`, `net`"),
        ("local@v1", "far@v9", "existing profiles: `local@v1`"),
    ] {
        let release = Release::new(SCRIPT).module("core/dns", &[], SCRIPT).spec(&[(from, to)]);
        for verb in ["apply", "validate"] {
            release.run(&[verb, "core/net"]).code(65).says(words);
        }
    }
    let driver = Release::new(SCRIPT).spec(&[("shell/script", "shell/scirpt")]);
    driver.run(&["apply", "core/net"]).code(65).says("has no profile `local@v1`");
    let file = "rel/drivers/shell/scirpt/profiles/local@v1.profile.yml";
    let profile = super::release::PROFILE.replace("shell/script", "shell/scirpt");
    let driver = driver.file(file, profile);
    driver.run(&["apply", "core/net"]).code(65).says("did you mean `shell/script`?");
    let missing = release.run(&["apply", "core/nte"]);
    missing.code(66).says("did you mean `core/net`? existing modules: `core/dns`, `core/net`");
    let presets = Release::new(SCRIPT)
        .spec(&[("}}\noutputs", "}, presets: {large: {}, small: {}}}\noutputs")]);
    let set = [("HYOPS_INPUT_preset_ref", "lareg")];
    presets.run_with(&set, &["apply", "core/net"]).code(65).says("did you mean `large`?");
}
