//! What a run must not say, and what it must not pass over in silence.

use std::fs;

use super::release::{Release, SCRIPT, tree};

#[track_caller]
fn assert_unkept(release: &Release, secret: &str) {
    for folder in ["root/logs", "root/state", "root/meta", "records"] {
        for (path, .., content) in tree(&release.path(folder)) {
            let text = String::from_utf8_lossy(&content);
            assert!(!text.contains(secret), "{}", path.display());
        }
    }
}

#[test]
fn a_password_inside_of_a_value_is_in_no_plan_and_in_no_evidence() {
    let secret = "postgres://app:Hunter2Canary@db/x";
    let script = ". ./hyops.inputs.sh; test \"$input_conn\" = postgres://app:Hunter2Canary@db/x || exit 9\n\
                  echo \"$input_conn\"; echo it is Hunter2Canary\n";
    let release = Release::new(script).env("HYOPS_INPUT_conn", secret);
    for more in [&["--dry-run"][..], &["--dry-run", "--json"], &["--json"], &[]] {
        release.apply(more).code(0).hides("Hunter2Canary");
    }
    release.apply(&["--dry-run", "-o", "net.plan"]).code(0).hides("Hunter2Canary");
    let contract = fs::read(release.path("net.plan")).unwrap();
    assert!(!String::from_utf8_lossy(&contract).contains("Hunter2Canary"));
    assert_unkept(&release, "Hunter2Canary");
}

#[test]
fn a_variable_is_hidden_as_it_was_written_even_where_its_word_does_not_count() {
    let release =
        Release::new("env\n. ./hyops.inputs.sh; test \"$input_db_password\" = canary-77-won\n")
            .env("HYOPS_INPUT_db_password", "canary-77-lost")
            .env("HYOPS_INPUTS_JSON", r#"{"db_password": "canary-77-won"}"#);
    release.apply(&[]).code(0).hides("canary-77");
    assert_unkept(&release, "canary-77");
}

#[test]
fn a_text_that_happens_to_be_json_reaches_the_tools_as_it_is() {
    let script = ". ./hyops.inputs.sh; test \"$input_db_password\" = 12345678e3 || exit 9\n";
    let release = Release::new(script).env("HYOPS_INPUT_db_password", "12345678e3");
    release.apply(&[]).code(0).hides("12345678");
    let short = release.run_with(&[("HYOPS_INPUT_db_password", "123")], &["apply", "core/net"]);
    short.code(65).says("`db_password` is a secret of fewer than 4 characters").hides("123");
}

#[test]
fn words_about_secrets_are_no_secrets() {
    let inputs = r#"{"credentials": {"mode": "env"}, "auth": "ldap"}"#;
    let release = Release::new("echo asking ldap\n").env("HYOPS_INPUTS_JSON", inputs);
    release.apply(&["--dry-run"]).code(0).says("ldap").says("env");
    release.apply(&[]).code(0).says("asking ldap");
    let off = [("HYOPS_INPUTS_JSON", r#"{"auth": "off"}"#)];
    release.run_with(&off, &["apply", "core/net"]).code(0);
}

#[test]
fn a_contract_holds_what_is_published_and_which_credentials_the_tools_get() {
    for change in [
        ("publish: [name]", "publish: [name, other]"),
        ("credentials: []", "credentials: [hetzner]"),
        ("pack_ref: {id: net}", "pack_ref: {id: net}, hooks: {export_infra: true}"),
    ] {
        let release = Release::new(SCRIPT)
            .private("root/credentials/hetzner.env", "HCLOUD_TOKEN=canary-4471-token\n");
        release.apply(&["--dry-run", "-o", "net.plan"]).code(0);
        let release = release.spec(&[change]);
        let ran = release.opal().call(&["run", "--plan", "net.plan"]);
        assert_ne!(ran.code, 0, "{change:?}");
        assert_eq!(release.runs(), 0, "{change:?}");
    }
}

#[test]
fn a_secret_of_a_profile_is_refused_and_what_may_be_one_is_hidden() {
    let release = Release::new(SCRIPT).profile("env: {DB_PASSWORD: canary-3308}\n");
    for line in [&["apply", "core/net"][..], &["lint", "rel"], &["lint", "rel", "--json"]] {
        release.run(line).code(65).says("E1110").hides("canary-3308");
    }
    let release = Release::new("echo \"$SLACK_WEBHOOK\"\n")
        .profile("env: {SLACK_WEBHOOK: canary-3309-hook}\n");
    release.apply(&[]).code(0).hides("canary-3309");
    assert_unkept(&release, "canary-3309");
}

#[test]
fn what_a_driver_or_a_profile_does_not_do_is_told_wherever_a_run_is_told_of() {
    let release = Release::new(SCRIPT)
        .spec(&[("pack_ref: {id: net}", "pack_ref: {id: net}, hooks: {export_infra: true}")])
        .profile("policy: {naming: {env: a}}\n");
    let told = ["the hook `export_infra` does not run", "`policy.naming.env` has no effect"];
    let ran = release.apply(&[]);
    let json = release.apply(&["--json"]).code(0).json()["warnings"].to_string();
    let kept = release.document("driver_result.json")["warnings"].to_string();
    for warning in told {
        ran.code(0).says(warning);
        assert!(json.contains(warning) && kept.contains(warning), "{json} {kept}");
    }
    release.run(&["lint", "rel"]).code(0).says("W1111");
}
