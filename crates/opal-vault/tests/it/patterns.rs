//! What a scrubber with patterns hides though nobody has registered it, and what it leaves alone.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod streams;

use opal_core::Data;
use opal_vault::{Vault, looks_secret};

use crate::logs::{Noise, logs};

const LABEL: &str = "<redacted>";

fn shown(text: &str) -> String {
    Vault::with_patterns().scrub(text).text().into_owned()
}

/// The lines of a table, without its remarks.
fn table(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    lines.map(|line| line.replace('·', "")).collect()
}

fn hidden_lines() -> Vec<String> {
    table(include_str!("patterns/hidden.txt"))
}

fn shown_lines() -> Vec<String> {
    table(include_str!("patterns/shown.txt"))
}

/// What a line of the table of hidden ones is, and what is shown of it.
fn case(line: &str) -> (String, String) {
    let mut expected = String::new();
    for (index, piece) in line.split('⟦').enumerate() {
        let rest = if index == 0 { piece } else { piece.split_once('⟧').unwrap().1 };
        expected.extend([if index == 0 { "" } else { LABEL }, rest]);
    }
    (line.replace(['⟦', '⟧'], ""), expected)
}

/// All that differ, so that a change of a rule shows all it does.
fn differences(cases: impl Iterator<Item = (String, String)>) -> String {
    let differ = cases.filter(|(text, expected)| shown(text) != *expected);
    differ
        .map(|(text, expected)| format!("{text}\n  is     {}\n  not    {expected}\n", shown(&text)))
        .collect()
}

#[test]
fn what_looks_like_a_secret_is_hidden_and_what_is_around_it_stays() {
    let lines = hidden_lines();
    assert!(lines.len() >= 60);
    let wrong = differences(lines.iter().map(|line| case(line)));
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_is_not_a_secret_is_shown() {
    let lines = shown_lines();
    assert!(lines.len() >= 60);
    let wrong = differences(lines.into_iter().map(|line| (line.clone(), line)));
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_was_hidden_once_is_shown_as_it_is() {
    for line in hidden_lines() {
        let (text, _) = case(&line);
        let once = shown(&text);
        assert_eq!(shown(&once), once, "{text}");
    }
}

#[test]
fn json_stays_json() {
    for line in hidden_lines() {
        let (text, _) = case(&line);
        if serde_json::from_str::<serde_json::Value>(&text).is_ok() {
            let seen = shown(&text);
            assert!(serde_json::from_str::<serde_json::Value>(&seen).is_ok(), "{seen}");
        }
    }
}

#[test]
fn without_patterns_nothing_of_it_is_hidden() {
    let vault = Vault::new();
    for line in hidden_lines() {
        let (text, _) = case(&line);
        assert_eq!(vault.scrub(&text).text(), text);
    }
}

#[test]
fn ordinary_logs_are_shown_as_they_are() {
    let size = if cfg!(debug_assertions) { 2_000_000 } else { 50_000_000 };
    let text = logs(&mut Noise(23), size);
    assert!(shown(&text) == text, "something was hidden");
}

#[test]
fn values_are_hidden_first_and_keep_their_labels() {
    let vault = Vault::with_patterns();
    vault.register(&Data::text("hunter2hunter2"), "<14:blake3:ab12>");
    let text = "password=hunter2hunter2 token=other1 hunter2hunter2\n";
    let expected = "password=<14:blake3:ab12> token=<redacted> <14:blake3:ab12>\n";
    assert_eq!(vault.scrub(text).text(), expected);
}

#[test]
fn colours_do_not_come_between_a_key_and_its_value() {
    for (text, expected) in [
        ("\x1b[31mpassword\x1b[0m: hunter2hunter2", "\x1b[31mpassword\x1b[0m: <redacted>"),
        (
            "pass\x1b[1mword\x1b[0m=\x1b[32mhun\x1b[33mter2\x1b[0m x",
            "pass\x1b[1mword\x1b[0m=\x1b[32m<redacted>\x1b[0m x",
        ),
        (
            "\"\x1b[34mtoken\x1b[m\"\x1b[1m:\x1b[m \"\x1b[32mabc\x1b[m\"",
            "\"\x1b[34mtoken\x1b[m\"\x1b[1m:\x1b[m \"\x1b[32m<redacted>\x1b[m\"",
        ),
        (
            "\x1b]8;;https://bob:hunter2@x.io\x1b\\link\x1b]8;;\x1b\\",
            "\x1b]8;;https://bob:<redacted>@x.io\x1b\\link\x1b]8;;\x1b\\",
        ),
    ] {
        assert_eq!(shown(text), expected);
    }
}

#[test]
fn lines_below_a_key_are_hidden_as_long_as_they_are_further_in() {
    for (text, expected) in [
        (
            "a:\n  token: |\n    one\n\n    two\n  b: c\n",
            "a:\n  token: |\n    <redacted>\n\n    <redacted>\n  b: c\n",
        ),
        ("- secret: >-\r\n    one\r\n  b: c\r\n", "- secret: >-\r\n    <redacted>\r\n  b: c\r\n"),
        ("+  token: |2 # x\n+    one\n+  b: c\n", "+  token: |2 # x\n<redacted>\n+  b: c\n"),
        (
            "password = <<-EOT\n  one\n  two\n  EOT\nb = c\n",
            "password = <<-EOT\n  <redacted>\n  <redacted>\n  EOT\nb = c\n",
        ),
        ("note: |\n  one\n", "note: |\n  one\n"),
    ] {
        assert_eq!(shown(text), expected);
    }
}

#[test]
fn a_block_is_hidden_after_times_and_names() {
    for lead in ["10:00:01Z ", "web-1  | ", "2026-11-15 10:00:09 INFO  [db1] ", "- ", "  + "] {
        for sign in ["|", "|-", ">", ">-", "|2", ">2-", "|+ # x"] {
            let text = format!("{lead}password: {sign}\n{lead}  one\n{lead}  two\n{lead}b: c\n");
            let seen = shown(&text);
            assert!(!seen.contains("one") && !seen.contains("two"), "{seen}");
            assert!(seen.ends_with(&format!("{lead}b: c\n")), "{seen}");
        }
    }
    let message = "10:00:01 INFO password: |\n    one\n  two\n10:00:02 INFO b: c\n";
    let expected = "10:00:01 INFO password: |\n    <redacted>\n  <redacted>\n10:00:02 INFO b: c\n";
    assert_eq!(shown(message), expected);
}

/// Each text with its secrets between `⟦` and `⟧`, in lines.
#[test]
fn a_value_is_hidden_in_a_line_below_its_name() {
    let texts = [
        "password:\n  ⟦hunter⟧\nb: c\n",
        "a:\n  password:\r\n    ⟦hunter⟧ # x\r\n  b: c\r\n",
        "{\n  \"password\":\n    \"⟦hunter 2⟧\",\n  \"b\": \"c\"\n}\n",
        "passphrase:\n  ⟦correct horse⟧\nb: c\n",
        "tokens:\n- ⟦abc123def⟧\n- ⟦ghi456jkl⟧\nb: c\n",
        "{\n  \"unseal_keys_b64\": [\n    \"⟦abc⟧\",\n    \"⟦def⟧\"\n  ],\n  \"b\": \"c\"\n}\n",
        "{\n  \"p_password\": {\n    \"sensitive\": true,\n    \"value\": \"⟦x1⟧\"\n  },\n  \"b\": {\n    \"value\": \"c\"\n  }\n}\n",
        "{\n  \"token\": {\n    \"a\": {\n      \"b\": 1\n    },\n    \"value\": \"⟦x1⟧\"\n  }\n}\n",
        "{\n  \"name\": \"DB_PASSWORD\",\n  \"value\": \"⟦x1⟧\"\n},\n{\n  \"name\": \"b\",\n  \"value\": \"c\"\n}\n",
        "- name: DB_PASSWORD\n  value: ⟦x1⟧\n- name: PORT\n  value: 80\n",
        "- name: DB_PASSWORD\n  value: |\n    ⟦x1⟧\n- name: PORT\n  value: 80\n",
        "  + name  = \"DB_PASSWORD\"\n  + value = \"⟦x1⟧\"\n",
        "10:00:01 password:\n10:00:02   ⟦hunter⟧\n10:00:03 b: c\n",
        "\x1b[34mpassword\x1b[0m:\n  ⟦hunter⟧\nb: c\n",
        // What is below is something else.
        "Password:\nwelcome\n",
        "enter the password:\n  then press return\n",
        "enter the password:\n  ansible-playbook\n",
        "password:\n  must be long\n",
        "credentials:\n  user: bob\n  region: eu\n",
        "db_password:\n  name: db\n  file: ./x\n",
        "secrets:\n  - db_password\n  - other\n",
        "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db\n      key: x\n- name: PORT\n  value: 80\n",
        "- Key: token\n  Owner: bob\n- Key: Name\n  Value: web\n",
    ];
    let wrong = differences(texts.iter().map(|text| case(text)));
    assert!(wrong.is_empty(), "{wrong}");
    for (text, _) in texts.iter().map(|text| case(text)) {
        let once = shown(&text);
        assert_eq!(shown(&once), once, "{text}");
        let is_json = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
        assert!(!is_json(&text) || is_json(&once), "{once}");
    }
}

/// As Ansible shows the lines that a command has printed.
const LINES_OF_A_LIST: [&str; 9] = [
    "stdout_lines:\n- 'user: bob'\n- 'password: |-'\n- '  ⟦hunter2⟧'\n- ''\n- '    ⟦second9⟧'\n- 'port: 80'\n- '  x'\n",
    "    a.stdout_lines:\r\n    - '  token: >2-'\r\n    - '      ⟦it''s⟧'\r\n    - \"      ⟦one\\ttwo⟧\"\r\n    - '  b: c'\r\n",
    "{\n  \"stdout_lines\": [\n    \"password: |-\",\n    \"  ⟦hunter \\\"2\\\"⟧\",\n    \"  ⟦second9⟧\"\n  ],\n  \"  b\": \"c\"\n}\n",
    "10:00:01 - 'password: |'\n10:00:02 - '  ⟦one⟧'\n10:00:03 - 'b: c'\n",
    "- '- secret: |'\n- '    ⟦one⟧'\n- '  b: c'\n",
    "[\n  'password: |',\n  '  ⟦one⟧', '  ⟦two⟧',\n  '  ⟦three⟧', 'b: c', '  d']\n  '  e'\n",
    // What is below is something else.
    "- 'note: |'\n- '  one'\n",
    "- 'password: |'\n- 'one'\n- '  two'\n",
    "- 'password: |'\n  - '  one'\n",
];

#[test]
fn lines_that_are_items_of_a_list_are_hidden_as_lines_below_a_key_are() {
    let cases = || LINES_OF_A_LIST.iter().map(|text| case(text));
    let wrong = differences(cases());
    assert!(wrong.is_empty(), "{wrong}");
    for (text, expected) in cases() {
        assert_eq!(shown(&expected), expected, "{text}");
        let is_json = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
        assert_eq!(is_json(&text), is_json(&expected), "{expected}");
    }
}

#[test]
fn a_name_without_a_value_hides_only_what_is_near() {
    let text = format!("password:\n{}", "  word\n".repeat(1000));
    let hidden = shown(&text).matches(LABEL).count();
    assert!((1..200).contains(&hidden), "{hidden} lines");
}

#[test]
fn a_text_looks_secret_where_a_part_of_it_is_hidden() {
    for line in hidden_lines() {
        assert!(looks_secret(&case(&line).0), "{line}");
    }
    for line in shown_lines() {
        assert!(!looks_secret(&line), "{line}");
    }
}

/// A private key of this kind, in lines.
fn private_key(kind: &str) -> String {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n";
    format!("-----BEGIN {kind}-----\n{}-----END {kind}-----\n", line.repeat(3))
}

#[test]
fn private_keys_are_hidden_from_their_first_line_to_their_last() {
    let hidden = format!("{LABEL}\n").repeat(5);
    for kind in ["", "RSA ", "EC ", "ENCRYPTED ", "OPENSSH "] {
        let text = format!("a\n{}b\n", private_key(&format!("{kind}PRIVATE KEY")));
        assert_eq!(shown(&text), format!("a\n{hidden}b\n"), "{kind}");
    }
    let pgp = private_key("PGP PRIVATE KEY BLOCK").replacen("-\n", "-\nVersion: 1\n\n", 1);
    assert_eq!(shown(&pgp), format!("{LABEL}\n{LABEL}\n\n{}", &hidden[LABEL.len() + 1..]));
    let inside = format!("k = \"{}\" x\n", private_key("PRIVATE KEY").trim_end());
    assert_eq!(shown(&inside), format!("k = \"{}\" x\n", hidden.trim_end()));
    let certificate = private_key("CERTIFICATE");
    assert_eq!(shown(&certificate), certificate);
}

#[test]
fn a_private_key_without_an_end_hides_no_more_than_64_kib() {
    let begin = "-----BEGIN PRIVATE KEY-----\n";
    let text = format!("{begin}{}", "an ordinary line\n".repeat(8_000));
    let seen = shown(&text);
    let hidden = seen.lines().filter(|line| *line == LABEL).count();
    assert!((60 << 10..=66 << 10).contains(&(hidden * 17)), "{hidden} lines");
    assert!(seen.ends_with("an ordinary line\n"));
}

#[test]
fn debug_tells_counts_only() {
    let vault = Vault::with_patterns();
    let mut scrubber = vault.scrubber();
    scrubber.push(b"password=hunter2");
    assert_eq!(format!("{scrubber:?}"), "Scrubber { held: 16, .. }");
}
