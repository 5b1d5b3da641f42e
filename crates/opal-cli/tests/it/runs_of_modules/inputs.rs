//! Whose word counts for an input, as the tools of a run see it.

use serde_json::json;

use super::release::{self, Release, SCRIPT};

const KEYS: &str = "default: d, preset: d, import: d, file: d, variable: d, json: d";

/// A module whose inputs are each last said by the one that they are called after.
fn release() -> Release {
    let all = |who: &str| KEYS.replace(": d", &format!(": {who}"));
    let after = |who: &str| {
        let all = all(who);
        let at = all.find(&format!("{who}: ")).unwrap();
        all[at..].to_owned()
    };
    let imports = "import: who.import, file: who.file, variable: who.variable, json: who.json";
    let spec = format!(
        "inputs: {{defaults: {{preset_ref: p, list: [1, 2], who: {{{}}}}}, presets: {{p: {{who: {{{}}}, list: [3]}}}}}}",
        all("default"),
        after("preset")
    );
    let dependency =
        format!("dependencies: [{{module_ref: core/base, imports: {{{imports}}}}}]\nexecution:");
    let outputs = "echo '{\"import\": \"import\", \"file\": \"import\", \"variable\": \"import\", \"json\": \"import\"}' > \"$HYOPS_OUTPUTS_FILE\"\n";
    let release = Release::new("cat hyops.inputs.json\n")
        .module(
            "core/base",
            &[("publish: [name]", "publish: [import, file, variable, json]")],
            outputs,
        )
        .spec(&[
            ("inputs: {defaults: {size: small, network: {cidr: 10.0.0.0/8}}}", &spec),
            ("execution:", &dependency),
        ])
        .file("in.yml", format!("who: {{{}}}\n", after("file")));
    release.run(&["apply", "core/base"]).code(0);
    release
}

#[test]
fn a_run_takes_each_input_from_the_strongest_that_says_it() {
    let release = release();
    let set = [
        ("HYOPS_INPUT_who__variable", "variable"),
        ("HYOPS_INPUT_WHO__JSON", "\"variable\""),
        ("HYOPS_INPUTS_JSON", r#"{"who": {"json": "json"}}"#),
    ];
    release.run_with(&set, &["apply", "core/net", "--inputs", "in.yml"]).code(0);
    let expected = json!({
        "preset_ref": "p",
        "list": [3],
        "who": {
            "default": "default", "preset": "preset", "import": "import", "file": "file",
            "variable": "variable", "json": "json",
        },
    });
    assert_eq!(release::json(&release.work().join("hyops.inputs.json")), expected);
    assert_eq!(release.document("inputs_resolved.json")["inputs"], expected);
    let again = release.run(&["apply", "core/net"]);
    again.code(0);
    let seen = release::json(&release.work().join("hyops.inputs.json"));
    assert_eq!(
        (&seen["who"]["file"], &seen["who"]["preset"]),
        (&json!("import"), &json!("preset"))
    );
}

#[test]
fn inputs_that_do_not_fit_are_refused_before_anything_is_written() {
    let release = Release::new("true\n").file(
        "rel/modules/core/net/inputs.schema.json",
        r#"{"properties": {"size": {"enum": ["small", "large"]}}}"#,
    );
    let refused = [
        (("HYOPS_INPUT_size", "canary-9"), "`size`"),
        (
            ("HYOPS_INPUT_network__cidr", "REPLACE_ME"),
            "`network.cidr` still contains the placeholder",
        ),
        (("HYOPS_INPUTS_JSON", "[canary-9]"), "not a JSON object"),
        (("HYOPS_INPUT_size__deep", "1"), "`size` has no keys below it"),
        (("HYOPS_INPUT_big", "18446744073709551615"), "`HYOPS_INPUT_big`: a number does not fit"),
        (
            ("HYOPS_INPUT_big", "12345678901234567890123"),
            "does not fit in 64 bits; put it in quotes to make it a text",
        ),
        (("HYOPS_INPUTS_JSON", r#"{"big": [12345678901234567890123]}"#), "does not fit in 64 bits"),
        (("HYOPS_INPUTS_JSON", r#"{"size": "small", "size": "large"}"#), "`size` is given twice"),
    ];
    for (set, says) in refused {
        let ran = release.run_with(&[set], &["apply", "core/net"]);
        ran.code(65).says("input validation failed for core/net: ").says(says).hides("canary-9");
    }
    release.apply(&["--inputs", "gone.yml"]).code(66);
    assert!(!release.path("root").exists());
}

#[test]
fn every_kind_of_value_reaches_the_tools_as_it_was_given() {
    let inputs = json!({
        "text": "it's $(id) `id` \"x\"\n@env.HOME ${HOME} ü \u{1f980}", "int": -7, "float": 1.5, "none": null,
        "on": true, "list": [1, [2, {"a": []}]], "map": {"": 1, "a.b": 2, "a/b": 3, "a~b": 4, "ü": 5},
        "empty": {}, "size": "small", "network": {"cidr": "10.0.0.0/8"},
    });
    let release = Release::new(". ./hyops.inputs.sh; printf '%s' \"$input_text\" > text\n")
        .file("in.yml", inputs.to_string());
    release.apply(&["--inputs", "in.yml"]).code(0);
    let work = release.work();
    for name in ["hyops.inputs.json", "inputs.auto.tfvars.json"] {
        assert_eq!(release::json(&work.join(name)), inputs, "{name}");
    }
    let text = std::fs::read_to_string(work.join("text")).unwrap();
    assert_eq!(text, inputs["text"].as_str().unwrap());
}

#[test]
fn an_input_that_the_module_does_not_have_is_told_and_probably_a_slip() {
    let release = Release::new(SCRIPT);
    let ran = release.run_with(&[("HYOPS_INPUT_sise", "large")], &["apply", "core/net"]);
    ran.code(0).says("warning: unknown input `sise`; did you mean `size`?");
}

#[test]
fn what_is_taken_down_with_other_inputs_is_told() {
    let release = Release::new(SCRIPT);
    release.run_with(&[("HYOPS_INPUT_size", "large")], &["apply", "core/net"]).code(0);
    release.run(&["destroy", "core/net"]).code(0).says("the inputs differ from the last run");
}

#[test]
fn a_file_of_variables_says_inputs_and_the_environment_wins_over_it() {
    let json = "HYOPS_INPUTS_JSON='{\"network\": {\"cidr\": \"192.0.2.0/24\"}}'\n";
    let release = Release::new(SCRIPT)
        .file("in.env", format!("HYOPS_INPUT_size=large\nHYOPS_INPUT_color=red\n{json}"))
        .file("late.env", "HYOPS_INPUT_color=green\n")
        .file("in.yml", "size: from-yaml\n")
        .file("bad.env", "HYOPS_INPUT_size=CHANGE_ME\n");
    let files = ["--env-file", "in.env", "--env-file", "late.env", "--inputs", "in.yml"];
    let set = [("HYOPS_INPUT_size", "huge")];
    for verb in ["apply", "plan", "verify", "destroy"] {
        let words = [&[verb, "core/net"], &files[..]].concat();
        release.run(&words).code(0).says(&format!("{verb} large"));
        let network = json!({"cidr": "192.0.2.0/24"});
        let expected = json!({"size": "large", "color": "green", "network": network});
        assert_eq!(release.document("inputs_resolved.json")["inputs"], expected, "{verb}");
        release.run_with(&set, &words).code(0).says(&format!("{verb} huge"));
    }
    for verb in ["validate", "preflight", "apply"] {
        let ran = release.run(&[verb, "core/net", "--env-file", "bad.env"]);
        ran.code(65).says("`size` still contains the placeholder");
        release.run(&[verb, "core/net", "--env-file", "gone.env"]).code(66).says("gone.env");
        release.run_with(&set, &[verb, "core/net", "--env-file", "bad.env"]).code(0);
    }
    let before = ["--env-file", "bad.env", "module", "validate", "core/net"];
    release.opal().call(&before).code(65).says("`size` still contains the placeholder");
}

#[test]
fn a_variable_is_decoded_unless_its_default_is_a_text_that_was_filled_in() {
    let defaults =
        "{defaults: {size: small, ports: CHANGE_ME, count: '', db_password: CHANGE_ME, network";
    let release = Release::new(SCRIPT).spec(&[("{defaults: {size: small, network", defaults)]);
    let set = [
        ("HYOPS_INPUT_ports", "[22,80]"),
        ("HYOPS_INPUT_count", "3"),
        ("HYOPS_INPUT_size", "7"),
        ("HYOPS_INPUT_network__cidr", r#"{"a": 1}"#),
        ("HYOPS_INPUT_db_password", "12345678"),
    ];
    release.run_with(&set, &["apply", "core/net"]).code(0);
    let seen = release::json(&release.work().join("hyops.inputs.json"));
    let expected = json!({
        "size": "7", "ports": [22, 80], "count": 3, "network": {"cidr": {"a": 1}},
    });
    let seen: serde_json::Map<_, _> = seen.as_object().unwrap().clone();
    let seen: serde_json::Map<_, _> =
        seen.into_iter().filter(|(key, _)| key != "db_password").collect();
    assert_eq!(serde_json::Value::Object(seen), expected);
}

#[test]
fn an_output_that_would_come_out_as_another_is_refused() {
    let script = "echo '{\"name\": 12345678901234567890123}' > \"$HYOPS_OUTPUTS_FILE\"\n";
    let release = Release::new(script);
    release.apply(&[]).code(65).says("a number does not fit in 64 bits");
    assert_eq!(release.state()["status"], "error");
}
