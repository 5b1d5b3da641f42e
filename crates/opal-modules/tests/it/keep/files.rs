use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use opal_core::Data;
use opal_modules::keep::file::write;
use opal_vault::Vault;
use serde_json::{Value, json};

use crate::keep::support::{CANARY, document, mode, names, vault};

fn shown(value: &Value) -> Value {
    serde_json::from_slice(vault().json(value, &[""]).bytes()).unwrap()
}

#[test]
fn a_file_is_the_owners_alone_and_so_is_the_way_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/meta.json");
    write(&path, &Vault::new().scrub("text")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "text");
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&folder.path().join("a")), 0o700);
    assert_eq!(names(path.parent().unwrap()), ["meta.json"]);
}

#[test]
fn a_link_at_the_path_is_replaced_and_what_it_names_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("meta.json"), folder.path().join("other"));
    fs::write(&other, "mine").unwrap();
    symlink(&other, &path).unwrap();
    write(&path, &Vault::new().scrub("new")).unwrap();
    assert_eq!(fs::read_to_string(&other).unwrap(), "mine");
    assert!(path.symlink_metadata().unwrap().is_file());
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
}

#[test]
fn what_cannot_be_written_is_named_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("meta.json");
    fs::create_dir(&path).unwrap();
    let unkept = write(&path, &Vault::new().scrub("new")).unwrap_err();
    assert_eq!(unkept.path, path);
    assert_eq!(names(folder.path()), ["meta.json"]);

    fs::write(folder.path().join("file"), "").unwrap();
    let below = folder.path().join("file/meta.json");
    assert_eq!(write(&below, &Vault::new().scrub("new")).unwrap_err().path, below);
}

#[test]
fn whoever_reads_finds_a_whole_document_at_every_moment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("latest.json");
    let vault = Vault::new();
    let write_one = |count: usize| {
        let value = json!({"count": count, "text": "x".repeat(count % 5 * 5_000)});
        write(&path, &vault.json(&value, &[""])).unwrap();
    };
    write_one(0);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            (1..100).for_each(write_one);
            is_over.store(true, Ordering::SeqCst);
        });
        while !is_over.load(Ordering::SeqCst) {
            assert!(document(&path)["count"].is_u64());
        }
    });
    assert_eq!(document(&path)["count"], 99);
    assert_eq!(names(folder.path()), ["latest.json"]);
}

#[test]
fn a_document_is_indented_sorted_and_ends_in_a_line_end() {
    let value = json!({"b": [1, {}], "a": {"z": null, "y": true}});
    let text = "{\n  \"a\": {\n    \"y\": true,\n    \"z\": null\n  },\n  \"b\": [\n    1,\n    {}\n  ]\n}\n";
    assert_eq!(Vault::new().json(&value, &[""]).text(), text);
}

#[test]
fn a_secret_is_hidden_wherever_it_is() {
    let value = json!({
        "plain": CANARY,
        "inside": format!("https://x/?a={CANARY}&b"),
        "list": ["a", [CANARY]],
        CANARY: {"below": 1},
    });
    let text = vault().json(&value, &[""]).text().into_owned();
    assert!(!text.contains(CANARY), "{text}");
    assert_eq!(shown(&value)["<redacted>"]["below"], 1);
    assert_eq!(shown(&value)["inside"], "https://x/?a=<redacted>&b");
}

#[test]
fn a_number_that_is_hidden_becomes_a_text() {
    let vault = Vault::new();
    vault.register(&Data::Int(51_505_150), "<redacted>");
    let document: Value = serde_json::from_slice(
        vault.json(&json!({"a": 51_505_150, "b": [51_505_150, 7]}), &[""]).bytes(),
    )
    .unwrap();
    assert_eq!(document, json!({"a": "<redacted>", "b": ["<redacted>", 7]}));
}

#[test]
fn what_is_below_a_key_that_says_secret_is_hidden_unless_it_is_nothing() {
    let value = json!({
        "db_password": "unknown to the vault",
        "apiKey": 123_456,
        "tokens": ["a"],
        "secrets": {"deep": {"er": "x"}},
        "token": null,
        "token_enabled": true,
        "passwd": "",
        "credentials": {},
        "token_ttl": 3600,
        "private_key_file": "/k",
    });
    let hidden = "<redacted>";
    let expected = json!({
        "db_password": hidden,
        "apiKey": hidden,
        "tokens": hidden,
        "secrets": hidden,
        "token": null,
        "token_enabled": true,
        "passwd": "",
        "credentials": {},
        "token_ttl": 3600,
        "private_key_file": "/k",
    });
    assert_eq!(shown(&value), expected);
}

#[test]
fn what_opal_says_itself_stays_whatever_is_secret() {
    let vault = Vault::with_patterns();
    for word in ["postgres", "outputs", "status", "2026", "4242"] {
        vault.register(&Data::text(word), "<redacted>");
    }
    let value = json!({
        "module_ref": "platform/postgres",
        "credentials": ["postgres"],
        "status": "ok since 2026",
        "pid": 4_242,
        "outputs": {"postgres": "postgres://h/", "pass_key": "no known word", "n": {"status": 4_242}},
        "checks": [{"name": "tool:postgres", "detail": "no postgres"}, {"name": "x", "detail": null}],
    });
    let shown = vault.json(&value, &["/outputs/*", "/checks/*/detail", "/not/there"]);
    let read: Value = serde_json::from_slice(shown.bytes()).unwrap();
    let mut expected = value;
    expected["outputs"] = json!({
        "postgres": "<redacted>://h/",
        "pass_key": "<redacted>",
        "n": {"<redacted>": "<redacted>"},
    });
    expected["checks"][0]["detail"] = "no <redacted>".into();
    assert_eq!(read, expected);
}

#[test]
fn a_secret_from_a_key_to_its_value_is_hidden_in_both_and_the_document_can_be_read() {
    let vault = Vault::new();
    vault.register(&Data::text("key\": \"some-val"), "<redacted>");
    let shown = vault.document(&json!({"some-key": "some-value", "z": 1}), &[""]);
    assert_eq!(shown, json!({"some-<redacted>": "<redacted>ue", "z": 1}));
}

#[test]
fn a_document_stays_one_whatever_the_vault_hides_by_its_looks() {
    let vault = Vault::with_patterns();
    let pem = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n";
    let value = json!({
        "log": "Authorization: Bearer abcdefghijklmnop\npassword=hunter2hunter2",
        "pem": pem,
        "cut": &pem[..60],
        "odd_auth": 123_456,
        "x-auth-token": {"n": 1},
        "auth": [1, 2],
        "url": "https://me:hunter2hunter2@example.test/",
        "text": "token: |\n  hunter2hunter2\n",
        "nested": "{\"password\": \"hunter2hunter2\"}",
        "z": "the end",
    });
    let shown = vault.json(&value, &[""]).text().into_owned();
    let read: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(read["z"], "the end", "{shown}");
    for secret in ["hunter2", "abcdefghijklmnop", "MIIEvQ", "123456"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
}
