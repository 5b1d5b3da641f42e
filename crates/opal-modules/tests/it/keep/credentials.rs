use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use opal_modules::keep::{Credentials, RuntimeRoot};
use opal_vault::Vault;

use crate::keep::support::{CANARY, private, root};

fn read(root: &RuntimeRoot, names: &[&str]) -> Credentials {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    Credentials::read(root, &names).unwrap()
}

fn hidden(credentials: &Credentials) -> Vec<&str> {
    credentials.values.iter().map(|hidden| hidden.value.expose()).collect()
}

#[test]
fn files_are_found_by_the_identifier_and_all_others_are_missing() {
    let (_folder, root) = root();
    let folder = root.credentials();
    private(&folder, "gcp.credentials.tfvars", "a = \"b\"\n");
    private(&folder, "gcp.json", "{\"a\": true}");
    private(&folder, "gcp.prod.env", "A=b\n");
    private(&folder, "gcp2.env", "A=b\n");
    private(&folder, "empty.env", "\n  \n");
    private(root.path(), "outside.env", "A=b\n");
    let found = read(&root, &["gcp", "aws", "empty", "../outside", "gc"]);
    let files: Vec<&Path> = found.files["gcp"].iter().map(|path| path.as_path()).collect();
    assert_eq!(files, [folder.join("gcp.credentials.tfvars"), folder.join("gcp.json")]);
    assert_eq!(found.missing(), ["../outside", "aws", "empty", "gc"]);
    assert!(read(&root, &[]).missing().is_empty());
}

#[test]
fn tools_know_where_the_files_are() {
    let (_folder, root) = root();
    let folder = root.credentials();
    let tfvars = private(&folder, "my-cloud.credentials.tfvars", "a = 1\n");
    let env = private(&folder, "my-cloud.env", "A=b\n");
    let variables = read(&root, &["my-cloud"]).variables();
    let names: Vec<&str> = variables.keys().map(String::as_str).collect();
    let expected = [
        "HYOPS_CREDENTIALS_DIR",
        "HYOPS_MY_CLOUD_CREDENTIALS_FILE",
        "HYOPS_MY_CLOUD_ENV_FILE",
        "HYOPS_MY_CLOUD_TFVARS",
    ];
    assert_eq!(names, expected);
    assert_eq!(variables["HYOPS_MY_CLOUD_CREDENTIALS_FILE"], tfvars);
    assert_eq!(variables["HYOPS_MY_CLOUD_ENV_FILE"], env);
}

#[test]
fn every_value_in_every_form_is_hidden() {
    let (_folder, root) = root();
    let folder = root.credentials();
    for (name, text, values) in [
        (
            "a.env",
            "A=bare-a # note\nexport B='single $b'\nC=\"two\\nlines\"\n",
            &["bare-a", "single $b", "two\nlines"][..],
        ),
        ("b.json", r#"{"k": "json-b", "l": [{"password": 1234}], "m": true}"#, &["json-b", "1234"]),
        (
            "c.tfvars",
            "# n\ntok = \"tf-\\\"c\" // n\nmap = { \"key\" = \"in-map\", n = 42 }\nlist = [\"x\", \"y\"]\npem = <<-EOT\n  line\n  EOT\n/* n = \"no\" */ b = true\n",
            &["tf-\"c", "in-map", "42", "x", "y", "  line\n"],
        ),
        (
            "d.yml",
            "k: yaml-d\nlist: [{deep: value}, 007]\nnone: ~\nblock: |\n  b\n",
            &["yaml-d", "value", "007", "b\n"],
        ),
        ("e.token", "  just-this\n", &["just-this", "just-this"]),
        ("f.tfvars.json", r#"{"k": "tf-json"}"#, &["tf-json"]),
    ] {
        let path = private(&folder, name, text);
        let id = &name[..1];
        assert_eq!(hidden(&read(&root, &[id])), values, "{name}");
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_name_that_says_secret_makes_a_short_value_one() {
    let (_folder, root) = root();
    let text = r#"{"pin": "abcd", "password": "abcd", "secrets": {"x": "efgh"}}"#;
    private(&root.credentials(), "a.json", text);
    let found = read(&root, &["a"]);
    let declared: Vec<(&str, bool)> =
        found.values.iter().map(|hidden| (hidden.name.as_str(), hidden.is_declared)).collect();
    assert_eq!(declared, [("password", true), ("pin", false), ("x", true)]);
    let vault = Vault::new();
    found.register(&vault);
    assert_eq!(vault.scrub("abcd efgh").text(), "<redacted> <redacted>");
}

#[test]
fn a_place_among_credentials_stays_visible_for_others_need_it() {
    let (_folder, root) = root();
    let text = format!(
        "project_id = \"demo-project-1\"\nregion = \"europe-west1\"\ntoken = \"{CANARY}\"\nurl = \"https://u:{CANARY}@host/\"\n"
    );
    private(&root.credentials(), "gcp.credentials.tfvars", &text);
    let found = read(&root, &["gcp"]);
    let alone = CANARY;
    assert_eq!(hidden(&found), [CANARY, &format!("https://u:{CANARY}@host/"), alone]);
}

#[test]
fn variables_are_set_as_they_are_written() {
    let (_folder, root) = root();
    private(&root.credentials(), "a.env", "A=$HOME\nB=\nC=a=b\nA=\"\\$x\"\n# D=1\n");
    let found = read(&root, &["a"]);
    let set: Vec<(&str, &str)> =
        found.environment.iter().map(|(name, value)| (name.as_str(), value.expose())).collect();
    assert_eq!(set, [("A", "$x"), ("B", ""), ("C", "a=b")]);
}

#[test]
fn what_cannot_be_read_cannot_be_hidden_and_is_refused_without_a_word_of_it() {
    let (_folder, root) = root();
    for (name, text) in [
        ("a.env", format!("A=b\n{CANARY}\n")),
        ("a.env", format!("A='{CANARY}\n")),
        ("a.env", format!("A='x'{CANARY}\n")),
        ("a.env", format!("1A={CANARY}\n")),
        ("a.json", format!("{{\"a\": \"{CANARY}\"")),
        ("a.tfvars", format!("a = \"{CANARY}\n")),
        ("a.tfvars", format!("a = <<EOT\n{CANARY}\n")),
        ("a.yml", format!("a: [{CANARY}\n")),
        ("a.token", "x".repeat((1 << 20) + 1)),
    ] {
        let path = private(&root.credentials(), name, &text);
        let found = read(&root, &["a"]);
        let unusable = found.fault("a").unwrap();
        assert!(unusable.message.contains(path.to_str().unwrap()), "{unusable:?}");
        assert!(!format!("{unusable:?}").contains(CANARY), "{unusable:?}");
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_credential_that_others_could_read_is_refused() {
    let (_folder, root) = root();
    let path = private(&root.credentials(), "a.env", "A=b\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let found = read(&root, &["a"]);
    assert!(found.values.is_empty(), "it is not even read");
    let unusable = found.fault("a").unwrap();
    assert!(unusable.help.contains("chmod 600"), "{unusable:?}");
    assert_eq!(hidden(&read(&root, &["b"])), ["b"], "nobody asks for it, and it is hidden");
}

#[test]
fn what_nobody_has_asked_for_is_hidden_and_sets_no_variable() {
    let (_folder, root) = root();
    let folder = root.credentials();
    private(&folder, "asked.env", "A=of-the-named\n");
    private(&folder, "other.env", "B=of-another\n");
    private(&folder, "id_ed25519", "of-a-key\n");
    fs::create_dir_all(folder.join("deep/er")).unwrap();
    private(&folder.join("deep/er"), "x.json", r#"{"k": "of-below"}"#);
    let found = read(&root, &["asked"]);
    let expected = ["of-the-named", "of-below", "of-a-key", "of-a-key", "of-another"];
    assert_eq!(hidden(&found), expected);
    assert_eq!(found.environment.keys().collect::<Vec<_>>(), ["A"]);
    assert_eq!(found.files.keys().collect::<Vec<_>>(), ["asked"]);
    assert!(!found.variables().keys().any(|name| name.contains("OTHER")));
    assert_eq!(found.warnings, [""; 0]);
}

#[test]
fn what_nobody_has_asked_for_stops_no_run_and_a_warning_names_what_is_not_hidden() {
    let (_folder, root) = root();
    let folder = root.credentials();
    let torn = private(&folder, "torn.json", &format!("{{\"a\": \n\"{CANARY}\"\n"));
    let huge = private(&root.vault(), "huge.token", &"x".repeat((1 << 20) + 1));
    private(&root.vault(), "plain.env", "A=of-the-vault\n");
    let deep = root.vault().join("1/2/3/4/5/6/7/8/9");
    fs::create_dir_all(&deep).unwrap();
    private(&deep, "x.env", "A=too-deep\n");
    std::os::unix::fs::symlink(root.vault(), root.vault().join("cycle")).unwrap();
    let found = read(&root, &[]);
    assert!(hidden(&found).contains(&"of-the-vault"));
    assert!(hidden(&found).contains(&format!("\"{CANARY}\"").as_str()), "line by line");
    assert_eq!(found.warnings.len(), 3, "{:?}", found.warnings);
    for (warning, path) in found.warnings.iter().zip([&torn, &huge, &deep]) {
        assert!(warning.contains(path.to_str().unwrap()), "{warning}");
        assert!(warning.contains("hidden") && !warning.contains(CANARY), "{warning}");
    }
}

#[test]
fn more_files_than_anybody_keeps_are_not_all_read() {
    let (_folder, root) = root();
    for number in 0..=1000 {
        private(&root.vault(), &format!("{number}.token"), "same-for-all\n");
    }
    let found = read(&root, &[]);
    assert_eq!(found.values.len(), 2 * 1000, "whole, and its one line");
    assert!(found.warnings[0].contains("more than 1000 files"), "{:?}", found.warnings);
}

#[test]
fn what_is_in_the_vault_is_hidden_and_what_is_encrypted_hides_itself() {
    let (_folder, root) = root();
    private(&root.vault(), "plain.env", "A=from-the-vault\n");
    private(&root.vault(), "odd.json", "no json at all\n");
    private(&root.vault(), "bootstrap.vault.env", "$ANSIBLE_VAULT;1.1;AES256\n6162636465\n");
    fs::write(root.vault().join("binary"), [0xff, 0xfe, 0x00]).unwrap();
    fs::create_dir(root.vault().join("team")).unwrap();
    private(&root.vault().join("team"), "a.token", "of-the-team\n");
    let found = read(&root, &[]);
    assert_eq!(
        hidden(&found),
        ["no json at all", "no json at all", "from-the-vault", "of-the-team", "of-the-team"]
    );
    assert!(found.environment.is_empty());
}

#[test]
fn debug_shows_counts_and_no_value() {
    let (_folder, root) = root();
    private(&root.credentials(), "a.env", &format!("TOKEN={CANARY}\n"));
    let found = read(&root, &["a"]);
    let debug = format!("{found:?} {:?}", found.values);
    assert!(debug.contains("values: 1") && !debug.contains(CANARY), "{debug}");
}
