//! `opal module`: list, show, validate, lint.

use std::os::unix::fs::symlink;

use opal_modules::inputs;
use serde_json::json;

use crate::support::{Opal, assert_schema, repository};

const SPEC: &str = "\
api_version: hybridops/v1
kind: ModuleSpec
module_ref: core/net
metadata: {title: A network, description: \"one\\n\\ntwo\"}
inputs: {defaults: {size: small, network: {cidr: 10.0.0.0/8}}}
requirements: {credentials: []}
execution: {driver: shell/script, profile: local@v1, pack_ref: {id: net}}
";

const PROFILE: &str = "\
api_version: hybridops/v1
kind: DriverProfile
profile_ref: local@v1
driver: shell/script
";

/// A release with one module that has everything it needs.
pub(crate) fn release() -> Opal {
    Opal::machine("")
        .file("rel/modules/core/net/spec.yml", SPEC)
        .file("rel/drivers/shell/script/profiles/local@v1.profile.yml", PROFILE)
        .file("rel/packs/shell/script/net/stack/run.sh", "#!/bin/sh\n")
}

pub(crate) fn validate<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let line = ["module", "validate", "core.net", "--module-root", "rel/modules"];
    line.into_iter().chain(more.iter().copied()).collect()
}

fn examples() -> String {
    repository().join("examples/modules").display().to_string()
}

#[test]
fn a_module_is_listed_shown_and_validated() {
    let opal = release();
    let root = ["--module-root", "rel/modules"];
    opal.call(&["module", "list", root[0], root[1]]).code(0).stdout("core/net  A network\n");
    let shown = opal.call(&["module", "show", "core/net", root[0], root[1]]);
    shown.code(0).says("shell/script").says("network, size").says("  one\n\n  two\n");
    let document = opal.call(&["module", "show", "core.net", root[0], root[1], "--json"]).json();
    assert_eq!(document["module_id"], "core__net");
    opal.call(&validate(&[]))
        .code(0)
        .stdout("core/net is valid: spec, profile, pack and 2 inputs\n");
    let document = opal.call(&validate(&["--json"])).code(0).json();
    assert_eq!(
        (&document["valid"], &document["inputs"]),
        (&json!(true), &json!(["network", "size"]))
    );
}

#[test]
fn a_slip_of_a_command_is_pointed_out() {
    Opal::new().args(["module", "lintt"]).run().code(2).says("did you mean `opal module lint`?");
    Opal::new().args(["module"]).run().code(2);
}

#[test]
fn the_modules_root_is_typed_then_set_then_beside_the_program() {
    let opal = release().file("other/org/x/spec.yml", SPEC.replace("core/net", "org/x"));
    let set = [("HYOPS_MODULES_ROOT", "other")];
    opal.call_with(&set, &["module", "list"]).code(0).says("org/x");
    let typed = ["module", "list", "--module-root", "rel/modules"];
    opal.call_with(&set, &typed).code(0).says("core/net").hides("org/x");
    opal.call_with(&[("HYOPS_MODULES_ROOT", "gone")], &["module", "list"]).code(78).says("gone");
    opal.call(&["module", "list"]).code(78).says("--module-root");
}

#[test]
fn a_repository_is_never_a_root() {
    let opal =
        release().file("rel/.git/HEAD", "ref: refs/heads/main\n").file("modules/.git/HEAD", "");
    opal.call(&["module", "list"]).code(78);
    opal.call(&validate(&[])).code(0);
}

#[test]
fn packs_come_from_the_variable_and_nowhere_else_when_it_is_set() {
    let opal = release().file("mine/packs/shell/script/net/stack/run.sh", "");
    let stack = |value: &str| {
        let ran = opal.call_with(&[("HYOPS_PACKS_ROOT", value)], &validate(&["--json"]));
        ran.code(0).json()["stack"].as_str().unwrap().to_owned()
    };
    assert_eq!(stack("mine"), "mine/packs/shell/script/net/stack");
    assert_eq!(stack("mine/packs"), "mine/packs/shell/script/net/stack");
    let ran = opal.call_with(&[("HYOPS_PACKS_ROOT", "gone")], &validate(&[]));
    ran.code(78).says("HYOPS_PACKS_ROOT");
}

#[test]
fn what_is_missing_is_named() {
    let opal = release();
    let root = ["--module-root", "rel/modules"];
    opal.call(&["module", "show", "core/gone", root[0], root[1]])
        .code(66)
        .says("unknown module `core/gone`");
    opal.call(&["module", "show", "Core/Net", root[0], root[1]]).code(2).says("write `core/net`");
    opal.call(&["module", "show", "../../etc", root[0], root[1]]).code(2);
    opal.write("rel/modules/core/net/spec.yml", SPEC.replace("id: net", "id: gone"));
    opal.call(&validate(&[])).code(65).says("unknown pack `gone`");
    let error = opal.call(&validate(&["--json"])).code(65).json();
    assert!(error["error"]["message"].as_str().unwrap().contains("unknown pack"), "{error}");
    opal.write("rel/modules/core/net/spec.yml", SPEC.replace("local@v1", "other@v1"));
    opal.call(&validate(&[])).code(65).says("no profile `other@v1`");
    let needs = format!("{SPEC}dependencies: [{{module_ref: core/gone}}]\n");
    opal.write("rel/modules/core/net/spec.yml", &needs);
    opal.call(&validate(&[])).code(65).says("unknown module `core/gone`");
    opal.write("rel/modules/core/net/spec.yml", needs.replace("}]", ", required: false}]"));
    opal.call(&validate(&[])).code(0);
}

#[test]
fn inputs_are_merged_and_held_against_the_schema_without_showing_a_value() {
    let schema = json!({"properties": {"network": {"properties": {"mtu": {"type": "integer"}}}}});
    let opal = release()
        .file("rel/modules/core/net/inputs.schema.json", schema.to_string())
        .file("in.yml", "network: {mtu: canary-9321}\n");
    let with_file = validate(&["--inputs", "in.yml"]);
    let ran = opal.call(&with_file);
    ran.code(65).says("input validation failed for core/net: `network.mtu`").hides("canary-9321");
    let set = [("HYOPS_INPUT_network__mtu", "9000")];
    opal.call_with(&set, &with_file).code(0);
    let json = [set[0], ("HYOPS_INPUTS_JSON", r#"{"network": {"mtu": "canary-9321"}}"#)];
    opal.call_with(&json, &with_file).code(65).hides("canary-9321");
    let placeholder = [("HYOPS_INPUT_SIZE", "CHANGE_ME")];
    opal.call_with(&placeholder, &validate(&[]))
        .code(65)
        .says("`size` still contains the placeholder");
    opal.write("in.yml", "size: {a: b\n");
    opal.call(&with_file).code(65).says("in.yml:1:");
    opal.call(&validate(&["--inputs", "gone.yml"])).code(66);
}

#[test]
fn what_is_still_to_be_filled_in_is_told_and_no_fault() {
    let open = SPEC.replace("size: small", "size: CHANGE_ME_SIZE");
    let schema = json!({"required": ["owner"]});
    let opal = release()
        .file("rel/modules/core/net/spec.yml", open)
        .file("rel/modules/core/net/inputs.schema.json", schema.to_string())
        .file("in.yml", "size: large\nowner: me\n");
    let ran = opal.call(&validate(&[]));
    ran.code(0).says("pack and 2 inputs\nstill to be filled in: owner, size\n");
    let document = opal.call(&validate(&["--json"])).code(0).json();
    assert_eq!((&document["valid"], &document["open"]), (&json!(true), &json!(["owner", "size"])));
    let document = opal.call(&validate(&["--inputs", "in.yml", "--json"])).code(0).json();
    assert_eq!(document["open"], json!([]));
    opal.call_with(&[("HYOPS_INPUT_owner", "me")], &validate(&[])).code(65).says("placeholder");
    opal.call_with(&[("HYOPS_INPUT_size", "s")], &validate(&[])).code(65).says("owner");
}

#[test]
fn a_secret_in_a_spec_is_refused_and_nowhere_shown() {
    let wrong = SPEC.replace("size: small", "db_password: canary-5093");
    let opal = release().file("rel/modules/core/net/spec.yml", wrong);
    for line in [vec!["module", "lint", "rel"], validate(&[])] {
        opal.call(&line).code(65).says("E1110").says("`db_password`").hides("canary-5093");
        let json: Vec<&str> = line.into_iter().chain(["--json"]).collect();
        opal.call(&json).code(65).says("E1110").hides("canary-5093");
    }
    let wrong = SPEC.replace("credentials: []", "credentials: [TOKEN=canary-5093]");
    opal.write("rel/modules/core/net/spec.yml", wrong);
    opal.call(&["module", "lint", "rel"]).code(65).says("E1106").hides("canary-5093");
}

#[test]
fn every_breach_is_reported_with_its_file_line_and_rule() {
    let wrong = SPEC
        .replace("credentials: []", "credentials: [TOKEN=abc]")
        .replace("pack_ref:", "backend: s3, pack_ref:")
        .replace("core/net", "core/gcp/net-2026");
    let opal = release().file("rel/modules/core/net/spec.yml", wrong);
    let ran = opal.call(&["module", "lint", "rel"]);
    ran.code(65).says("E1104").says("E1106").says("E1107").says("W1108");
    ran.says("rel/modules/core/net/spec.yml:7:").says("rel/modules/core/net/spec.yml:6:");
    let document = opal.call(&["module", "lint", "rel", "--json"]).code(65).json();
    assert_eq!(document["summary"]["modules"], 1);
    opal.call(&["module", "lint", "gone"]).code(66);
    opal.call(&["module", "lint", "home/.keep"]).code(66);
}

#[test]
fn circles_between_modules_are_printed() {
    let depends = |on: &str| format!("dependencies: [{{module_ref: {on}}}]\n");
    let opal = release()
        .file("rel/modules/core/net/spec.yml", format!("{SPEC}{}", depends("core/b")))
        .file(
            "rel/modules/core/b/spec.yml",
            format!("{}{}", SPEC.replace("core/net", "core/b"), depends("core/net")),
        );
    let ran = opal.call(&["module", "lint", "rel"]);
    ran.code(65).says("E1009").says("core/b -> core/net -> core/b");
}

#[test]
fn packs_that_cannot_travel_are_refused() {
    let opal = release()
        .file("secret", "x")
        .file("rel/packs/shell/script/net/.git/config", "")
        .file("rel/packs/iac/terragrunt/a/stack/main.tf", "terraform {\n  backend \"s3\" {}\n}\n");
    let stack = opal.path().join("rel/packs/shell/script/net/stack");
    symlink("../../../../../../secret", stack.join("out")).unwrap();
    symlink("/etc/hostname", stack.join("absolute")).unwrap();
    symlink("run.sh", stack.join("fine")).unwrap();
    let document = opal.call(&["module", "lint", "rel", "--json"]).code(65).json();
    let files = document["files"].as_array().unwrap();
    let refused: Vec<&str> = files
        .iter()
        .filter(|file| file["diagnostics"][0]["code"] == "E1109")
        .map(|file| file["file"].as_str().unwrap().rsplit('/').next().unwrap())
        .collect();
    assert_eq!(refused, ["main.tf", ".git", "absolute", "out"]);
}

#[test]
fn a_pack_or_a_module_that_is_a_link_elsewhere_is_refused() {
    let opal = release()
        .file("outside/stack/run.sh", "")
        .file("away/spec.yml", SPEC.replace("core/net", "core/away"));
    symlink("../../../../outside", opal.path().join("rel/packs/shell/script/linked")).unwrap();
    symlink("../../../away", opal.path().join("rel/modules/core/away")).unwrap();
    opal.write("rel/modules/core/net/spec.yml", SPEC.replace("id: net", "id: linked"));
    opal.call(&validate(&[])).code(65).says("leads out of the packs root");
    opal.call(&["module", "show", "core/away", "--module-root", "rel/modules"])
        .code(66)
        .says("leads out");
}

#[test]
fn bombs_and_huge_files_are_refused_at_once() {
    let mut bomb = String::from("a: &a [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 0..9 {
        let (below, this) = (char::from(b'a' + level), char::from(b'b' + level));
        bomb.push_str(&format!("{this}: &{this} [{}]\n", vec![format!("*{below}"); 10].join(", ")));
    }
    let opal = release().file("rel/modules/core/bomb/spec.yml", format!("{SPEC}{bomb}"));
    opal.call(&["module", "lint", "rel"]).code(65).says("E1001").says("core/bomb/spec.yml");
    let huge = std::fs::File::create(opal.path().join("rel/modules/core/bomb/spec.yml")).unwrap();
    huge.set_len(100 << 20).unwrap();
    opal.call(&["module", "lint", "rel"]).code(65).says("larger than 16 MiB");
    opal.call(&["module", "show", "core/bomb", "--module-root", "rel/modules"])
        .code(66)
        .says("16 MiB");
    opal.call(&validate(&["--inputs", "rel/modules/core/bomb/spec.yml"])).code(65).says("16 MiB");
}

#[test]
fn the_shipped_examples_are_clean_and_valid() {
    let (folder, opal) = (examples(), Opal::machine(""));
    opal.call(&["module", "lint", &folder]).code(0).says("no problems found");
    let root = format!("{folder}/modules");
    let listed = opal.call(&["module", "list", "--module-root", &root, "--json"]).code(0).json();
    let modules = listed["modules"].as_array().unwrap();
    assert!(!modules.is_empty());
    for module in modules {
        let name = module["module_ref"].as_str().unwrap();
        opal.call(&["module", "validate", name, "--module-root", &root]).code(0);
    }
    let file = format!("{folder}/inputs/large.yml");
    opal.call(&["module", "validate", "demo.server", "--module-root", &root, "--inputs", &file])
        .code(0);
    let preset = [("HYOPS_INPUT_preset_ref", "huge")];
    opal.call_with(&preset, &["module", "validate", "demo/network", "--module-root", &root])
        .code(65)
        .says("`large`, `small`");
}

#[test]
fn the_published_schemas_accept_what_reading_accepts() {
    let read = |path: &str| {
        let text = std::fs::read_to_string(format!("{}/{path}", examples())).unwrap();
        serde_json::Value::Object(inputs::read_file(&text).unwrap())
    };
    for module in ["hello", "demo/network", "demo/server"] {
        assert_schema("module-1.json", &read(&format!("modules/{module}/spec.yml")));
    }
    assert_schema("profile-1.json", &read("drivers/shell/script/profiles/local@v1.0.profile.yml"));
    assert_schema("blueprint-1.json", &read("blueprints/demo/site@v1/blueprint.yml"));
}

#[test]
fn the_published_schemas_refuse_what_reading_refuses() {
    let schema = |name: &str| {
        let path = repository().join("docs/schema").join(name);
        let text = std::fs::read_to_string(path).unwrap();
        jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap()
    };
    let json = |text: &str| serde_json::Value::Object(inputs::read_file(text).unwrap());
    let module = schema("module-1.json");
    assert!(module.is_valid(&json(SPEC)));
    for (from, to) in [
        ("ModuleSpec", "Module"),
        ("core/net", "Core"),
        ("credentials: []", "credentials: [TOKEN=a]"),
        ("pack_ref:", "backend: s3, pack_ref:"),
        ("id: net", "id: ../x"),
        ("defaults:", "values:"),
    ] {
        let text = SPEC.replace(from, to);
        assert!(!module.is_valid(&json(&text)), "{text}");
        assert!(opal_modules::Spec::read(&text).found.is_none(), "{text}");
    }
    let profile = schema("profile-1.json");
    assert!(profile.is_valid(&json(PROFILE)));
    let policy = "policy: {tool_versions: {sh: '>=5, <6', jq: 1.7}, workspace: {mode: local}, naming: \
                  {workspace_pattern: 'a-{b}', c: d}, constraints: {credential_contracts: {a: \
                  {required_tfvars: [b]}}}}\nworkspace_policy: {mode: local}\n";
    let text = format!("{PROFILE}{policy}");
    assert!(profile.is_valid(&json(&text)));
    assert!(opal_modules::Profile::read(&text).found.is_some());
    for more in [
        "inputs: {}\n",
        "policy: {defaults: {retries: -1}}\n",
        "templates: [{src: ../a, dst: b}]\n",
        "policy: {tool_versions: {sh: [1]}}\n",
        "policy: {workspace: {mode: clodu}}\n",
        "policy: {naming: {workspace_pattern: '{a'}}\n",
        "policy: {constraints: {credential_contracts: {a: {required_tfvars: b}}}}\n",
    ] {
        let text = format!("{PROFILE}{more}");
        assert!(!profile.is_valid(&json(&text)), "{text}");
        assert!(opal_modules::Profile::read(&text).found.is_none(), "{text}");
    }
}
