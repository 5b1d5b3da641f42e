//! `opal adopt`: objects of state files, of real ones too, as steps.

use std::fs;
use std::process::{Command, Stdio};

use opal_testing::processes::eventually;
use opal_testing::terraform;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{ended, real, rooted};
use crate::support::{Opal, Ran};

/// A project with the real provider `local`, accepted.
fn project() -> Option<Opal> {
    let program = real("local")?;
    let wanted =
        "name = \"shop\"\n\n[plugins]\n\"terraform/hashicorp/local\" = { path = \"bin/box\" }\n";
    let opal = rooted("").file("opal.mod", wanted);
    fs::create_dir_all(opal.path().join("bin")).unwrap();
    fs::copy(program, opal.path().join("bin/box")).unwrap();
    super::executable(&opal);
    super::accept_as(&opal, "terraform/hashicorp/local");
    Some(opal)
}

/// A file as Terraform keeps it.
fn local_file(filename: &str, content: &str) -> Value {
    let id = "da39a3ee5e6b4b0d3255bfef95601890afd80709";
    json!({"schema_version": 0, "sensitive_attributes": [], "attributes": {
        "content": content, "content_base64": null, "content_sha1": id, "id": id,
        "directory_permission": "0777", "file_permission": "0644", "filename": filename,
        "sensitive_content": null, "source": null}})
}

fn resource(of: &str, name: &str, instances: &[Value]) -> Value {
    json!({"mode": "managed", "type": of, "name": name, "instances": instances,
        "provider": "provider[\"evil.example/nobody/local\"]"})
}

fn state(resources: &[Value]) -> String {
    json!({"version": 4, "terraform_version": "1.12.6", "serial": 1, "lineage": "x", "outputs": {},
        "resources": resources})
    .to_string()
}

/// What it says apart from the source.
fn adopted(opal: &Opal, code: i32) -> Ran {
    ended(opal, &["adopt", "terraform.tfstate", "-o", "infra.opl"], code)
}

#[test]
fn a_state_becomes_steps_that_are_in_the_desired_state() {
    let Some(opal) = project() else { return };
    let files = [local_file("motd.txt", "welcome\n")];
    let opal = opal
        .file("terraform.tfstate", state(&[resource("local_file", "motd", &files)]))
        .file("motd.txt", "welcome\n");
    let ran = adopted(&opal, 0);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("✓  local_file.motd  satisfied"), "{ran:?}");
    assert!(ran.stderr.contains("1 object: 1 satisfied\n"), "{ran:?}");
    // Nothing is only in the state file, and nobody is told to delete it.
    assert!(!ran.stderr.contains("keep") && !ran.stderr.contains("delete"), "{ran:?}");
    let source = "# Objects of terraform.tfstate, by `opal adopt`.\nfun infra() {\n    # local_file.motd\n    \
                  @local.file(content=\"welcome\\n\", file_permission=\"0644\", filename=\"motd.txt\")\n}\n";
    assert_eq!(opal.read("infra.opl"), source);
    ended(&opal, &["fmt", "--check", "infra.opl"], 0);
    let ran = ended(&opal, &["-f", "infra.opl", "verify", "infra"], 0);
    assert!(ran.stdout.contains("everything is in the desired state"), "{ran:?}");
    // Without a file the source goes to standard output, and nothing else does.
    let ran = ended(&opal, &["adopt", "terraform.tfstate"], 0);
    assert_eq!(ran.stdout, source);
    assert!(!ran.stderr.contains('\u{1b}'), "{ran:?}");
    let ran = ended(&opal, &["--color", "always", "adopt", "terraform.tfstate"], 0);
    assert!(ran.stderr.contains("\u{1b}[32msatisfied"), "{ran:?}");
}

#[test]
fn an_object_that_terraform_would_replace_is_named() {
    let Some(opal) = project() else { return };
    let mut half = local_file("half.txt", "x");
    half["status"] = json!("tainted");
    let resources = [
        resource("local_file", "half", &[half]),
        resource("local_file", "whole", &[local_file("whole.txt", "x")]),
    ];
    let opal = opal.file("terraform.tfstate", state(&resources)).file("half.txt", "x");
    let opal = opal.file("whole.txt", "x");
    let ran = adopted(&opal, 0);
    let said = "\ntainted: their creation failed, so Terraform would replace them; opal does not:\n  \
                local_file.half\n";
    assert!(ran.stderr.contains(said), "{ran:?}");
    let document = ended(&opal, &["adopt", "terraform.tfstate", "--json"], 0).json();
    assert_eq!(document["objects"][0]["tainted"], json!(true), "{document}");
    assert_eq!(document["objects"][1]["tainted"], json!(false), "{document}");
}

#[test]
fn what_differs_is_in_the_table_and_in_the_exit_code() {
    let Some(opal) = project() else { return };
    let files = [local_file("gone.txt", "x")];
    let opal = opal.file("terraform.tfstate", state(&[resource("local_file", "gone", &files)]));
    let ran = adopted(&opal, 1);
    assert!(ran.stderr.contains("+  local_file.gone  missing"), "{ran:?}");
    ended(&opal, &["-f", "infra.opl", "infra"], 0);
    assert_eq!(opal.read("gone.txt"), "x");
}

#[test]
fn no_text_of_a_state_is_anything_but_data() {
    const HOSTILE: [&str; 12] = [
        "@env.HOME @secret.env.X @let.x @cmd.infra()",
        "\"\"\"\n@shell(\"touch owned\")\n\"\"\"",
        "\")\n    touch owned\n    @local.file(filename=\"x",
        "a\rtouch owned",
        "a\u{2028}touch owned\u{2029}b\u{85}c",
        "\u{202e}\u{2066}\u{feff}\u{200b}\u{e0041}\u{0}",
        "$(touch owned) `touch owned` ${HOME} $HOME",
        "\\u{40}env.HOME \\@ \\",
        "}\n}\nfun more() = touch owned\n",
        "# comment // other\n",
        "{{ item }} {\"a\": 1} [x]",
        "\u{1b}[2J\u{7}\t\n",
    ];
    let Some(opal) = project() else { return };
    let mut resources = Vec::new();
    for (number, text) in HOSTILE.iter().enumerate() {
        let mut file = local_file(&format!("out/{number}"), text);
        file["index_key"] = json!(text);
        let mut one = resource("local_file", &format!("x{text}"), &[file]);
        one["module"] = json!(format!("module.{text}"));
        resources.push(one);
    }
    let mut document: Value = serde_json::from_str(&state(&resources)).unwrap();
    document["outputs"] = json!({"\u{1b}[2J\nhelp: run rm": {"value": "x", "type": "string"}});
    let opal = opal.file("terraform.tfstate", document.to_string());
    let ran = adopted(&opal, 1);
    assert!(ran.stderr.contains("12 objects: 12 missing"), "{ran:?}");
    let is_drawn = |c: char| c == '\n' || !opal_core::view::visible::is_hidden(c);
    assert!(ran.stderr.chars().all(is_drawn), "{ran:?}");
    assert!(!ran.stderr.contains("\nhelp:"), "{ran:?}");
    let source = opal.read("infra.opl");
    assert!(source.chars().all(is_drawn), "{source}");
    ended(&opal, &["check", "infra.opl"], 0);
    ended(&opal, &["fmt", "--check", "infra.opl"], 0);
    // One function, with one step for each object, and no reference in any of them.
    let listed = ended(&opal, &["-f", "infra.opl", "list", "--json", "--all"], 0).json();
    assert_eq!(listed["tasks"].as_array().unwrap().len(), 1, "{listed}");
    let parse = opal_syntax::parse(&source, &opal_plan::Words(&opal_decorators::registry()));
    let unit = opal_plan::lower::unit(&parse, &source);
    assert_eq!((unit.functions.len(), unit.functions[0].body.statements.len()), (1, HOSTILE.len()));
    let steps = source.matches("\n    @local.file(").count();
    let references = source.replace("\\@", "").matches('@').count();
    assert_eq!((steps, references), (HOSTILE.len(), HOSTILE.len() + count_in_comments(&source)));
    // The values are the same, byte for byte.
    ended(&opal, &["-f", "infra.opl", "infra"], 0);
    for (number, text) in HOSTILE.iter().enumerate() {
        assert_eq!(opal.read(&format!("out/{number}")), *text);
    }
    assert!(!opal.path().join("owned").exists());
}

fn count_in_comments(source: &str) -> usize {
    let comments = source.lines().filter(|line| line.trim_start().starts_with('#'));
    comments.map(|line| line.replace("\\@", "").matches('@').count()).sum()
}

#[test]
fn secrets_are_read_from_the_environment_and_written_nowhere() {
    let Some(opal) = project() else { return };
    let mut hidden = local_file("key.txt", "canary-4711");
    hidden["attributes"]["file_permission"] = json!("0600");
    let mut said = local_file("said.txt", "canary-4712");
    said["sensitive_attributes"] = json!([[{"type": "get_attr", "value": "content"}]]);
    let resources = [
        resource("local_sensitive_file", "key", &[hidden]),
        resource("local_file", "said", &[said]),
    ];
    let opal = opal.file("terraform.tfstate", state(&resources)).file("said.txt", "canary-0000");
    let ran = adopted(&opal, 1);
    let json = ended(&opal, &["adopt", "terraform.tfstate", "--json"], 1).stdout;
    for text in [&opal.read("infra.opl"), &ran.stderr, &json] {
        assert!(!text.contains("canary"), "{text}");
    }
    for name in ["LOCAL_SENSITIVE_FILE_KEY_CONTENT", "LOCAL_FILE_SAID_CONTENT"] {
        assert!(opal.read("infra.opl").contains(&format!("content=@secret.env.{name}")));
        assert!(ran.stderr.contains(&format!("\n  {name}: content of ")), "{ran:?}");
    }
    assert!(ran.stderr.contains("keep `terraform.tfstate`, encrypted"), "{ran:?}");
    let given = [
        ("LOCAL_SENSITIVE_FILE_KEY_CONTENT", "canary-4711"),
        ("LOCAL_FILE_SAID_CONTENT", "canary-4712"),
    ];
    opal.call_with(&given, &["-f", "infra.opl", "infra"]).code(0);
    assert_eq!(opal.read("said.txt"), "canary-4712");
}

#[test]
fn what_has_no_step_is_listed_with_the_reason_and_the_file_is_to_be_kept() {
    let Some(opal) = project() else { return };
    let password = json!({"schema_version": 3, "attributes": {"length": 8, "result": "canary-1"}});
    let mut deposed = local_file("old.txt", "x");
    deposed["deposed"] = json!("ab12");
    let mut all: Value = serde_json::from_str(&state(&[
        resource("random_password", "db", std::slice::from_ref(&password)),
        resource("tls_private_key", "web", std::slice::from_ref(&password)),
        resource("aws_vpc", "main", &[json!({"attributes": {"id": "vpc-1"}})]),
        resource("local_file", "old", &[deposed]),
        json!({"mode": "data", "type": "local_file", "name": "read", "instances": [{}]}),
    ]))
    .unwrap();
    all["outputs"] = json!({"address": {"value": "canary-2", "type": "string"}});
    let opal = opal.file("terraform.tfstate", all.to_string());
    let ran = adopted(&opal, 1);
    for expected in [
        "3 objects: 3 not adopted\n",
        "random_password.db: exists only in a state file (E1402); use `@random.password`",
        "tls_private_key.web: exists only in a state file (E1402); use `@crypto.generate_key`",
        "aws_vpc.main: no provider of this project has `aws_vpc`; add it with `opal plugin add terraform/",
        "data sources, which are values in opal:\n  data.local_file.read\n",
        "only in the state file:\n  random_password.db: all its values\n",
        "  the output address\n  local_file.old: a deposed object\n",
        "\nkeep `terraform.tfstate`, encrypted: it has values that the steps do not have\n",
    ] {
        assert!(ran.stderr.contains(expected), "{expected}: {ran:?}");
    }
    assert!(!ran.stderr.contains("canary"), "{ran:?}");
    assert!(!opal.path().join("infra.opl").exists(), "there is nothing to write");
    let json = ended(&opal, &["adopt", "terraform.tfstate", "--json"], 1).json();
    assert_eq!((&json["source"], &json["keep_state"]), (&Value::Null, &json!(true)));
    assert_eq!(json["objects"][0]["code"], "E1402");
    assert_eq!(json["deposed"], json!(["local_file.old"]));
    assert!(!json.to_string().contains("canary"), "{json}");
}

#[test]
fn a_file_that_is_not_a_state_and_a_file_that_is_there_are_refused() {
    let Some(opal) = project() else { return };
    let opal = opal
        .file("text", "canary")
        .file("three", r#"{"version": 3, "x": "canary"}"#)
        .file("sealed", r#"{"encrypted_data": "canary"}"#)
        .file("list", "[]")
        .file("bytes", [0xff, 0xfe])
        .file("terraform.tfstate", state(&[]))
        .file("infra.opl", "mine\n");
    fs::File::create(opal.path().join("large")).unwrap().set_len((64 << 20) + 1).unwrap();
    for (file, code, expected) in [
        ("text", 65, "`text` is not JSON: line 1, column 1: expected a value"),
        ("three", 65, "`three` has version 3, and opal reads version 4"),
        ("sealed", 65, "`sealed` is encrypted: decrypt it first"),
        ("list", 65, "`list` is not a state file: it has no `version`"),
        ("bytes", 65, "`bytes` is not a state file: not UTF-8"),
        ("large", 65, "`large` is larger than 64 MiB"),
        ("gone", 66, "the file `gone` does not exist"),
        ("bin", 66, "`bin`"),
        ("-", 2, "cannot come from standard input"),
    ] {
        let ran = ended(&opal, &["adopt", file], code);
        assert!(ran.stderr.contains(expected) && ran.stderr.contains("help: "), "{file}: {ran:?}");
        assert!(!ran.stderr.contains("canary") && ran.stdout.is_empty(), "{file}: {ran:?}");
    }
    let json = ended(&opal, &["adopt", "text", "--json"], 65).json();
    assert!(json["error"]["message"].as_str().unwrap().contains("is not JSON"), "{json}");
    let ran = adopted(&opal, 74);
    assert!(ran.stderr.contains("`infra.opl` already exists"), "{ran:?}");
    assert_eq!(opal.read("infra.opl"), "mine\n");
    let words = ["adopt", "terraform.tfstate", "-o", "terraform.tfstate", "--force"];
    let ran = ended(&opal, &words, 2);
    assert!(ran.stderr.contains("is the source itself"), "{ran:?}");
    // A state without objects is one.
    let ran = ended(&opal, &["adopt", "terraform.tfstate"], 0);
    assert!(ran.stderr.contains("0 objects\n"), "{ran:?}");
}

#[test]
fn no_provider_starts_that_nobody_accepted() {
    let Some(opal) = project() else { return };
    let files = [local_file("motd.txt", "welcome\n")];
    let opal = opal.file("terraform.tfstate", state(&[resource("local_file", "motd", &files)]));
    super::exchange(&opal);
    let ran = adopted(&opal, 77);
    assert!(ran.stderr.contains("as it is now, is not accepted"), "{ran:?}");
    assert!(!opal.path().join("infra.opl").exists());
    // Without providers there is nothing to start.
    let opal = rooted("").file("terraform.tfstate", opal.read("terraform.tfstate"));
    let ran = adopted(&opal, 1);
    assert!(ran.stderr.contains("no provider of this project has `local_file`"), "{ran:?}");
}

#[test]
fn an_interrupt_ends_it_and_its_providers_and_nothing_is_written() {
    let Some(opal) = project() else { return };
    let made = rustix::fs::mkfifoat(
        rustix::fs::CWD,
        opal.path().join("pipe"),
        rustix::fs::Mode::from_raw_mode(0o600),
    );
    made.unwrap();
    // The provider waits for somebody who writes into it.
    let files = [local_file("pipe", "x")];
    let opal = opal.file("terraform.tfstate", state(&[resource("local_file", "pipe", &files)]));
    let mut command: Command = opal.interruptible();
    command.args(["adopt", "terraform.tfstate", "-o", "infra.opl"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually("the provider runs", || super::processes::running(&opal) > 0);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    eventually("the provider has ended", || super::processes::running(&opal) == 0);
    assert!(!opal.path().join("infra.opl").exists());
}

/// Applies with Terraform itself, or OpenTofu, and the providers that were built.
fn terraform(opal: &Opal) -> Option<()> {
    let folder = real("local")?.parent().unwrap().to_owned();
    let program = terraform::program()?;
    let names = ["hashicorp/local", "hashicorp/random", "hashicorp/tls", "hashicorp/time"];
    let providers = names.map(|name| (name, folder.as_path()));
    let words = ["apply", "-auto-approve", "-no-color"];
    let ran = terraform::run(&program, &opal.path(), &providers, &words);
    assert!(ran.status.success(), "{ran:?}");
    Some(())
}

#[test]
fn a_state_that_terraform_made_is_adopted() {
    let Some(opal) = project() else { return };
    let opal = opal.file(
        "main.tf",
        r#"
resource "random_password" "db" { length = 12 }
resource "time_static" "now" {}
resource "tls_private_key" "web" { algorithm = "ED25519" }
resource "terraform_data" "done" { input = "yes" }
resource "local_file" "zero" {
  filename        = "zero.txt"
  content         = "@env.HOME $${HOME} \"\"\" \u202e\u2028\r\n"
  file_permission = "0640"
}
resource "local_file" "each" {
  for_each = toset(["a", "b@c"])
  filename = "each-${each.key}.txt"
  content  = local_file.zero.id
}
resource "local_sensitive_file" "key" {
  filename = "key.txt"
  content  = random_password.db.result
}
output "id" { value = local_file.zero.id }
"#,
    );
    if terraform(&opal).is_none() {
        return;
    }
    let before = opal.read("terraform.tfstate");
    let ran = adopted(&opal, 1);
    assert!(ran.stderr.contains("8 objects: 4 satisfied, 4 not adopted"), "{ran:?}");
    assert!(ran.stderr.contains("keep `terraform.tfstate`, encrypted"), "{ran:?}");
    assert_eq!(opal.read("terraform.tfstate"), before);
    let source = opal.read("infra.opl");
    let place = |text: &str| source.find(text).unwrap();
    // What others depend on comes first.
    assert!(place("# local_file.zero") < place("# local_file.each[\"a\"]"), "{source}");
    let key = opal.read("key.txt");
    let given = [("LOCAL_SENSITIVE_FILE_KEY_CONTENT", key.as_str())];
    let ran = opal.call_with(&given, &["-f", "infra.opl", "verify", "infra"]);
    assert!(ran.code(0).stdout.contains("4 resources: 4 satisfied"), "{ran:?}");
    let ran = opal.call_with(&given, &["-f", "infra.opl", "infra"]);
    assert!(ran.code(0).stderr.contains("4 already satisfied"), "{ran:?}");
}
