//! The pages of `opal ui` in Chromium: the inbox, a contract that is approved, and a run while it goes on.

#![expect(clippy::disallowed_methods, reason = "browsers are programs")]

#[path = "../it/ui/client.rs"]
#[expect(dead_code, reason = "some helpers are only used by the other binary")]
mod client;
#[path = "../it/ui/started.rs"]
#[expect(dead_code, reason = "some helpers are only used by the other binary")]
mod started;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use opal_testing::needs;
use serde_json::{Value, json};

use crate::support::Opal;
use started::Ui;

const CHROMIUM: &str = "/usr/bin/chromium";
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/ui.cjs");
const MODULES: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/browsers/node_modules");

/// Where pictures of the pages go, for a person to look at.
const PICTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/pages");

const SOURCE: &str = "\
fun deploy(env = \"staging\") {
    echo build @var.env
    echo scale to @env.REPLICAS
    ./deploy.sh --wait
}

fun migrate() = echo migrating

fun slow() {
    printf '\\033[1;32mready\\033[0m <b>to</b> go\\n'
    until [ -e go ]; do sleep 0.05; done
    seq 1 300
    sh -c 'echo \"cannot reach db-1\" >&2; exit 4'
}
";

/// The browser and what drives it.
struct Browser {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Browser {
    fn start(profile: &Path, ticket: &str) -> Self {
        let mut child = Command::new("node")
            .args([SCRIPT, MODULES, CHROMIUM])
            .arg(profile)
            .args([PICTURES, ticket])
            .env("HOME", profile)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, input, output: BufReader::new(output) }
    }

    /// Does one thing, and waits until it is done.
    fn does(&mut self, task: &Value) {
        self.begins(task);
        let _: Value = self.line();
    }

    fn begins(&mut self, task: &Value) {
        self.input.write_all(format!("{task}\n").as_bytes()).unwrap();
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// What it has found in all pages.
    fn leave(self) -> Value {
        let Self { mut child, input, mut output } = self;
        drop(input);
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert!(child.wait().unwrap().success(), "{line}");
        serde_json::from_str(&line).unwrap()
    }
}

/// A machine with a policy, contracts in every state that matters, and records.
fn machine() -> Opal {
    let opal = Opal::machine(SOURCE)
        .file("deploy.sh", "#!/bin/sh\necho deployed\n")
        .env("REPLICAS", "3")
        .env("TERM", "xterm")
        .env("USER", "ann");
    let key = opal.path().join("ann.key");
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "ann", "-f"])
        .arg(&key)
        .status();
    assert!(made.unwrap().success());
    let listed = std::fs::read_to_string(key.with_added_extension("pub")).unwrap();
    let listed: Vec<&str> = listed.split_whitespace().take(2).collect();
    let policy =
        format!("[[approval]]\nby = [\"{} ann\"]\ntargets = [\"deploy\"]\n", listed.join(" "));
    // The first call makes the root, for its owner alone.
    opal.call(&["migrate"]).code(0);
    std::fs::create_dir_all(opal.path().join("home/.opal/config")).unwrap();
    opal.write("home/.opal/config/policy.toml", policy);
    opal
}

fn submitted(opal: &Opal, words: &[&str]) -> String {
    opal.call(&[&["plan"], words, &["-o", "x.plan"]].concat()).code(0);
    let entry = opal.call(&["plan", "submit", "x.plan", "--json"]).code(0).json();
    entry["id"].as_str().unwrap().to_owned()
}

#[test]
fn the_inbox_a_decision_and_a_live_run_in_chromium() {
    let is_there = Path::new(CHROMIUM).exists() && Path::new(MODULES).join("axe-core").exists();
    if !needs::has("`/usr/bin/chromium`, with puppeteer-core and axe-core of npm", is_there) {
        return;
    }
    std::fs::create_dir_all(PICTURES).unwrap();
    let opal = machine();
    let first = submitted(&opal, &["deploy"]);
    submitted(&opal, &["migrate"]);
    let key = opal.path().join("ann.key").display().to_string();
    let mut ui = Ui::in_terminal(opal.command(), &["--no-open", "--key", &key]);
    let profile = tempfile::tempdir().unwrap();
    let ticket = format!("http://{}{}", ui.client.authority, ui.ticket);
    let mut browser = Browser::start(profile.path(), &ticket);
    // A person approves in the terminal what the page asks for; the page follows by itself.
    let page = format!("/contracts/{first}");
    let asked = "asks whether to approve";
    browser.does(&json!({"click": "button[value=approve]", "path": page, "wait": asked}));
    ui.says("? [y/N] ");
    browser.does(&json!({"name": "ui-asking", "path": page, "wait": asked}));
    ui.types("y\r");
    browser.does(&json!({"stay": true, "wait": "The approval was signed in the terminal."}));
    // A later contract of the same task, with what differs.
    opal.write(
        "commands.opl",
        SOURCE.replace("--wait", "--force").replace("echo build", "echo rebuild"),
    );
    let second = submitted(&opal, &["deploy"]);
    browser.does(&json!({"name": "ui-inbox", "path": "/inbox", "wait": "deploy"}));
    browser.does(&json!({"name": "ui-contracts", "path": "/contracts", "wait": "approved by ann"}));
    browser.does(&json!({"name": "ui-contract", "path": format!("/contracts/{second}"), "wait": "Approve …"}));
    browser.does(&json!({"name": "ui-diff", "path": format!("/contracts/{second}/diff"), "wait": "differences"}));
    // A run that goes on, and then ends while its page is open.
    let mut run = opal.command().arg("slow").spawn().unwrap();
    let id = opal.running();
    let record = format!("/records/{id}");
    browser.does(&json!({"name": "ui-live", "path": record, "wait": "ready <b>to</b> go"}));
    browser.does(&json!({"stay": true, "path": record, "wait": "ready <b>to</b> go"}));
    let go = opal.path().join("go").display().to_string();
    browser.does(&json!({"write": go}));
    browser.does(&json!({"stay": true, "wait": "Timeline"}));
    assert_eq!(run.wait().unwrap().code(), Some(4));
    browser.does(&json!({"name": "ui-record", "path": record, "wait": "cannot reach db-1"}));
    browser.does(&json!({"name": "ui-records", "path": "/records", "wait": "migrate"}));
    browser.does(&json!({"name": "ui-missing", "path": "/nothing", "wait": "no such page"}));
    holds(&browser.leave());
    assert!(!ui.said().contains("second time"), "{}", ui.said());
}

/// What every page promises.
fn holds(found: &Value) {
    for what in ["requests", "axe", "wide"] {
        assert_eq!(found[what], json!([]), "{what}");
    }
    // The only thing that a console says is that a page which does not exist is missing.
    let console: Vec<&str> =
        found["console"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(
        console.iter().all(|line| line.contains("/nothing: ") && line.contains("404")),
        "{console:?}"
    );
    assert!(found["checked"].as_u64().unwrap() > 500, "{}", found["checked"]);
    for page in found["pages"].as_array().unwrap() {
        assert!(page["font"].as_str().unwrap().contains("system-ui"), "{page}");
        assert_eq!((&page["referrer"], &page["cookie"]), (&json!(""), &json!("")), "{page}");
    }
}
