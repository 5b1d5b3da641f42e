//! Which inputs and outputs are secret, and what becomes of them.

use std::fs;

use serde_json::json;

use super::release::{Release, SCRIPT, tree};

const SCHEMA: &str = "rel/modules/core/net/inputs.schema.json";

/// What a run keeps, and its tools do not.
fn kept(release: &Release) -> Vec<u8> {
    let folders = ["root/logs", "root/state", "root/meta", "records"];
    folders.iter().flat_map(|folder| tree(&release.path(folder))).flat_map(|it| it.3).collect()
}

#[track_caller]
fn assert_hidden(release: &Release, secret: &str) {
    let kept = String::from_utf8_lossy(&kept(release)).into_owned();
    let at = kept.find(secret).map(|at| &kept[at.saturating_sub(200)..at]);
    assert_eq!(at, None, "{secret} is kept behind this");
}

#[test]
fn an_input_is_secret_by_its_key_or_by_its_schema_whatever_its_type() {
    let schema = json!({"properties": {
        "pin": {"writeOnly": true},
        "door": {"properties": {"code": {"type": "integer", "writeOnly": true}}},
    }});
    let inputs = json!({
        "db": {"password": "p9zx"}, "pin": "q8yw", "door": {"code": 73_911_283},
        "api_tokens": ["first-7731x", {"value": "second-8842y"}], "token": true, "max_tokens": 5,
    });
    let release = Release::new("cat hyops.inputs.json\n")
        .file(SCHEMA, schema.to_string())
        .env("HYOPS_INPUTS_JSON", &inputs.to_string());
    let ran = release.apply(&[]);
    ran.code(0);
    let resolved = release.document("inputs_resolved.json")["inputs"].clone();
    assert_eq!(resolved["pin"], "<redacted>");
    assert_eq!(resolved["door"]["code"], "<redacted>");
    assert_eq!(resolved["token"], true, "a switch is no secret");
    for secret in ["73911283", "first-7731x", "second-8842y"] {
        ran.hides(secret);
        assert_hidden(&release, secret);
    }
    // Too short to be hidden within words; opal itself writes them nowhere.
    for secret in ["p9zx", "q8yw"] {
        ran.hides(secret);
        assert_hidden(&release, secret);
    }
    let planned = release.apply(&["--dry-run"]);
    planned.code(0).hides("p9zx").hides("q8yw").hides("73911283").says("\"max_tokens\": 5");
}

#[test]
fn a_secret_that_is_too_short_to_be_hidden_is_refused_by_its_place() {
    let schema = json!({"properties": {"pin": {"writeOnly": true}}});
    let release = Release::new(SCRIPT).file(SCHEMA, schema.to_string());
    for (inputs, place) in [
        (json!({"db": {"password": "q8y"}}), "`db.password`"),
        (json!({"pin": "q8y"}), "`pin`"),
        (json!({"pin": 981}), "`pin`"),
    ] {
        let set = [("HYOPS_INPUTS_JSON", &*inputs.to_string())];
        let ran = release.run_with(&set, &["apply", "core/net"]);
        ran.code(65).says("input validation failed for core/net").says(place);
        ran.hides("q8y").hides("981");
    }
    assert!(!release.path("root").exists());
}

#[test]
fn the_tools_get_the_secrets_that_nobody_sees() {
    let script = "test \"$HCLOUD_TOKEN\" = canary-4471-token || exit 9\n\
                  test -r \"$HYOPS_HETZNER_ENV_FILE\" || exit 10\n\
                  grep -q canary-4471-input inputs.auto.tfvars.json || exit 11\n\
                  . ./hyops.inputs.sh; test \"$input_password\" = canary-4471-input || exit 12\n";
    let release = Release::new(script)
        .spec(&[("credentials: []", "credentials: [hetzner]")])
        .private("root/credentials/hetzner.env", "HCLOUD_TOKEN=canary-4471-token\n")
        .env("HYOPS_INPUT_password", "canary-4471-input");
    release.apply(&[]).code(0).hides("canary-4471");
    assert_hidden(&release, "canary-4471");
}

#[test]
fn a_secret_output_is_not_published_by_whatever_name_or_place() {
    let script = "cat > \"$HYOPS_OUTPUTS_FILE\" <<'E'\n\
        {\"name\": \"plain\", \"admin_password\": \"canary-5582-a\", \"unpublished\": \"canary-5582-b\",\n\
        \"url\": \"https://root:canary-5582-c@db.example\", \"note\": \"it is canary-5582-a\",\n\
        \"deep\": {\"api_key\": \"canary-5582-d\", \"port\": 1}, \"list\": [{\"token\": \"canary-5582-e\"}]}\nE\n";
    let publish = "publish: [name, admin_password, url, note, deep, list]";
    let release = Release::new(script).spec(&[("publish: [name]", publish)]);
    let ran = release.apply(&["--json"]);
    ran.code(0).hides("canary-5582");
    assert_hidden(&release, "canary-5582");
    let outputs = &release.state()["outputs"];
    assert_eq!((&outputs["name"], &outputs["deep"]["port"]), (&json!("plain"), &json!(1)));
    assert_eq!(outputs.get("admin_password"), None);
    assert_eq!(ran.json()["outputs"]["admin_password"], "<redacted>");
    let left = fs::read_dir(release.work()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(left.into_iter().all(|name| name != "hyops.outputs.json"), "all of it has been read");
    release.apply(&[]).code(0).hides("canary-5582").says("`admin_password` is secret");
}

#[test]
fn a_secret_that_only_an_output_tells_of_is_taken_out_of_what_was_printed_before() {
    // In two pieces too, which the record has on two lines; and in more than stands among the events.
    for much in ["", "seq 1 30000;"] {
        let script = format!(
            "{much} echo \"made canary-2206-a and canary-2206-b\"; echo canary-2206-a >&2\n\
             printf canary-22; sleep 0.2; echo 06-a end\n\
             echo '{{\"name\": \"n\", \"root_password\": \"canary-2206-a\", \
             \"db\": {{\"token\": \"canary-2206-b\"}}}}' > \"$HYOPS_OUTPUTS_FILE\"\n"
        );
        let release = Release::new(&script);
        release.apply(&[]).code(0);
        for (path, .., content) in
            ["root/logs", "records"].iter().flat_map(|it| tree(&release.path(it)))
        {
            let text = String::from_utf8_lossy(&content);
            assert!(!text.contains("canary-22"), "{}: {text}", path.display());
        }
        let path = release.evidence().join("shell_apply.stdout.txt");
        let printed = fs::read_to_string(path).unwrap();
        assert!(printed.ends_with("made <redacted> and <redacted>\n<redacted> end\n"), "{printed}");
        let shown = release.opal().call(&["runs", "show", "last", "--logs"]);
        assert!(
            shown.code(0).stdout.contains("made <redacted> and <redacted>"),
            "{}",
            shown.stdout
        );
        assert_eq!(
            release.opal().call(&["runs", "show", "last", "--json"]).json()["run"]["code"],
            0
        );
    }
}

#[test]
fn a_secret_input_that_comes_back_as_an_output_is_hidden_in_it() {
    let script = ". ./hyops.inputs.sh\n\
                  echo \"{\\\"name\\\": \\\"n-$input_password-n\\\"}\" > \"$HYOPS_OUTPUTS_FILE\"\n";
    let release = Release::new(script).env("HYOPS_INPUT_password", "canary-6693-in");
    release.apply(&["--json"]).code(0).hides("canary-6693-in");
    release.apply(&[]).code(0).hides("canary-6693-in");
    assert_hidden(&release, "canary-6693-in");
}

#[test]
fn an_error_about_outputs_quotes_nothing_of_them() {
    let script = "echo '{\"token\": \"canary-7704-t\", canary-7704' > \"$HYOPS_OUTPUTS_FILE\"\n";
    let release = Release::new(script);
    let ran = release.apply(&[]);
    ran.code(65).says("`hyops.outputs.json` is not a JSON object").hides("canary-7704");
    assert_hidden(&release, "canary-7704");
    assert_eq!(release.state()["status"], "error");
}

#[test]
fn a_fault_in_a_file_of_inputs_is_shown_without_its_values() {
    for text in [
        &b"size: a\npassword: canary-3317\npassword: canary-3317\n"[..],
        b"password: \"canary-3317\nother: [canary-3317\n",
        b"key: |\n  canary-3317\n\tcanary-3317\n",
        b"{password: canary-3317, password: canary-3317}\n",
        b"password: canary-3317 \xff\n",
        b"- canary-3317\n",
    ] {
        let release = Release::new(SCRIPT).file("in.yml", text);
        for more in [&[][..], &["--json"]] {
            let ran = release.apply(&[&["--inputs", "in.yml"], more].concat());
            assert_ne!(ran.code, 0, "{ran:?}");
            ran.says("in.yml").hides("canary-3317");
        }
    }
}

#[test]
fn credentials_that_cannot_be_hidden_stop_the_run() {
    let release = Release::new(SCRIPT)
        .spec(&[("credentials: []", "credentials: [hetzner]")])
        .private("root/credentials/hetzner.json", "{\"token\": \"canary-8815\"");
    release.apply(&[]).code(65).says("hetzner.json").hides("canary-8815");
    assert_eq!(release.runs(), 0);
}

#[test]
fn missing_credentials_are_named_with_where_they_belong() {
    let release = Release::new(SCRIPT).spec(&[("credentials: []", "credentials: [hetzner]")]);
    let ran = release.apply(&[]);
    ran.code(69).says("missing credentials `hetzner`").says("hetzner.credentials.env");
    assert_eq!(release.document("driver_result.json")["status"], "error");
    assert!(!release.has_state(), "nothing ran");
    release.apply(&["--skip-preflight", "they come from the agent"]).code(0);
}

#[test]
fn what_the_evidence_hides_of_an_input_is_a_secret_input_everywhere() {
    for key in ["pw", "root_pw", "pgpassword", "htpasswd"] {
        let release = Release::new(&format!(". ./hyops.inputs.sh; echo \"got $input_{key}\"\n"))
            .env(&format!("HYOPS_INPUT_{key}"), "Canary-1177-x");
        release.apply(&["--dry-run", "-o", "net.plan"]).code(0).hides("Canary-1177-x");
        release.apply(&[]).code(0).hides("Canary-1177-x").says("got <redacted>");
        let all = tree(&release.path(""));
        let holds = |content: &[u8]| String::from_utf8_lossy(content).contains("Canary-1177-x");
        let found: Vec<_> = all.iter().filter(|it| holds(&it.3)).map(|it| &it.0).collect();
        assert!(found.is_empty(), "{key}: {found:?}");
    }
}

#[test]
fn what_tells_that_an_output_is_a_secret_hides_it_where_that_is_not_said() {
    let script = "echo 'alone namedval-7890 and in-a-url-7891'\n\
        echo '{\"name\": [{\"name\": \"DB_PASSWORD\", \"value\": \"namedval-7890\"}],\n\
        \"url\": \"postgres://app:in-a-url-7891@db/x\"}' > \"$HYOPS_OUTPUTS_FILE\"\n";
    let release = Release::new(script);
    release.apply(&[]).code(0);
    assert_hidden(&release, "namedval-7890");
    assert_hidden(&release, "in-a-url-7891");
    let printed = fs::read_to_string(release.evidence().join("shell_apply.stdout.txt")).unwrap();
    assert_eq!(printed, "alone <redacted> and <redacted>\n");
}

#[test]
fn a_part_of_a_credential_is_hidden_by_itself_too() {
    let script = "echo alone in-a-url-7892; sed 's/ *//' \"$HYOPS_CREDENTIALS_DIR/v.yml\"\n";
    let release = Release::new(script)
        .spec(&[("credentials: []", "credentials: [acme]")])
        .private("root/credentials/acme.env", "DATABASE_URL=postgres://app:in-a-url-7892@db/x\n")
        .private("root/credentials/v.yml", "token: >-\n  folded-one-1\n  folded-two-2\nsize: 3\n");
    release.apply(&[]).code(0);
    for secret in ["in-a-url-7892", "folded-one-1", "folded-two-2"] {
        assert_hidden(&release, secret);
    }
}

/// Terraform shows such a text as `jsonencode({…})`, value by value.
#[test]
fn a_secret_document_is_hidden_value_by_value_except_for_what_is_plain() {
    let pin = |word: &str| 1_234_876_512_348_700 + u64::from(word.as_bytes()[0]);
    let document = |word: &str| {
        json!({"alpha": format!("{word}-in-1"), "beta": [{"deep": format!("{word}-in-2")}],
               "again": json!({"inner": format!("{word}-in-3")}).to_string(),
               "pin": pin(word), "password": &word[..4],
               "region": "eu-central-1", "mode": "automatic", "size": "medium"})
        .to_string()
    };
    let told = ["input", "output", "variable"];
    let print = |word: &str| {
        let long = [1, 2, 3].map(|number| format!("echo '+ x = {word}-in-{number}'\n")).concat();
        format!("{long}echo '+ x = {}, y = {}'\n", pin(word), &word[..4])
    };
    let prints = told.map(print).concat();
    let outputs = json!({"db_secret": document("output"), "name": "medium-eu-central-1-automatic"});
    let script = format!("{prints}printf %s '{outputs}' > \"$HYOPS_OUTPUTS_FILE\"\n");
    let cloud = format!("CLOUD_CREDENTIALS='{}'\n", document("variable"));
    let release = Release::new(&script)
        .env("HYOPS_INPUTS_JSON", &json!({"db_credentials": document("input")}).to_string())
        .private("root/credentials/cloud.env", &cloud);
    release.apply(&[]).code(0);
    for word in told {
        (1..=3).for_each(|number| assert_hidden(&release, &format!("{word}-in-{number}")));
        assert_hidden(&release, &pin(word).to_string());
        let printed = std::fs::read_to_string(release.evidence().join("shell_apply.stdout.txt"));
        assert!(printed.unwrap().contains("+ x = <redacted>, y = <redacted>\n"), "{word}");
    }
    assert_eq!(release.state()["outputs"], json!({"name": "medium-eu-central-1-automatic"}));
}
