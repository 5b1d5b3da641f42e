//! What the pages show: the inbox, contracts and records, each also as JSON.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::Ui;
use super::attacks::{submitted, submitted_with};
use crate::gate::Gate;
use crate::report::hostile_texts;
use crate::support::{Opal, copy_files};

#[test]
fn the_inbox_has_what_waits_and_contracts_have_everything() {
    let gate = Gate::new();
    gate.policy("[[approval]]\nby = [ANN]\ntargets = [\"deploy\"]\n");
    let waits = submitted(&gate, "deploy");
    let done = submitted(&gate, "test");
    gate.approve(&done, "ann");
    let ui = Ui::start(gate.opal.command(), &[]).entered();
    let inbox = ui.get("/inbox.json").ok().json();
    let ids = |list: &serde_json::Value| -> Vec<String> {
        let all = list["contracts"].as_array().unwrap().iter();
        all.map(|it| it["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&inbox), [&*waits]);
    let page = ui.get("/inbox").ok().body;
    assert!(page.contains(&waits) && !page.contains(&done), "{page}");
    assert!(page.contains("1 more needed"), "{page}");
    let all = ui.get("/contracts.json").ok().json();
    let listed = gate.opal.call(&["plan", "inbox", "--json"]).json();
    assert_eq!(all["contracts"], listed["contracts"]);
    assert_eq!((&all["page"], &all["pages"], &all["total"]), (&1.into(), &1.into(), &2.into()));
    let page = ui.get("/contracts").ok().body;
    assert!(page.contains(&waits) && page.contains(&done), "{page}");
}

/// Without its rules opal knows nothing about the inbox: that is not an empty one.
#[test]
fn an_inbox_that_cannot_be_listed_is_not_an_empty_one() {
    let gate = Gate::new();
    gate.policy("[[approval]]\nby = [ANN]\n");
    let id = submitted(&gate, "deploy");
    let ui = Ui::start(gate.opal.command(), &[]).entered();
    gate.policy("nonsense = 1\n");
    for path in ["/inbox", "/contracts", "/inbox.json", "/contracts.json"] {
        let answer = ui.get(path);
        assert_eq!(answer.status, 500, "{path} {answer:?}");
        assert!(answer.body.contains("unknown key `nonsense`"), "{path} {answer:?}");
        assert!(!answer.body.contains("No contract waits"), "{path} {answer:?}");
    }
    assert_eq!(ui.get(&format!("/contracts/{id}")).status, 500);
    gate.policy("[[approval]]\nby = [ANN]\n");
    assert!(ui.get("/inbox").ok().body.contains(&id));
}

#[test]
fn a_key_that_no_rule_lists_is_an_unknown_key_on_pages_too() {
    let gate = Gate::new();
    gate.policy("[[approval]]\nby = [ANN]\n");
    let id = submitted(&gate, "deploy");
    gate.approve(&id, "eve");
    let ui = Ui::start(gate.opal.command(), &[]).entered();
    for path in ["/inbox".to_owned(), "/contracts".to_owned(), format!("/contracts/{id}")] {
        let page = ui.get(&path).ok().body;
        assert!(page.contains("unknown key SHA256:"), "{path} {page}");
        assert!(page.contains("counts for nothing") && !page.contains("approved by"), "{page}");
    }
}

/// What ran once without anybody's approval was not approved last, nor was it with other arguments.
#[test]
fn only_what_people_have_approved_with_these_arguments_is_called_approved() {
    let gate = Gate::with("fun deploy(region: String = \"eu\") {\n    echo @var.region\n}\n");
    gate.policy("[[approval]]\nby = [ANN]\ntargets = [\"other\"]\n");
    let used = submitted_with(&gate, &["deploy", "--once"]);
    gate.run(&used).code(0);
    let id = submitted(&gate, "deploy");
    let ui = Ui::start(gate.opal.command(), &[]).entered();
    let listed = ui.get("/contracts.json").ok().json();
    let mut all = listed["contracts"].as_array().unwrap().iter();
    assert!(all.any(|it| it["id"] == *used && it["state"] == "used"), "{listed:#}");
    let compared = |id: &str| ui.get(&format!("/contracts/{id}/diff.json"));
    assert_eq!(compared(&id).status, 404);
    gate.approve(&id, "ann");
    let other = submitted_with(&gate, &["deploy", "us"]);
    assert_eq!(compared(&other).status, 404);
    let same = submitted_with(&gate, &["deploy", "--expires", "2h"]);
    assert_eq!(compared(&same).ok().json()["compared"], *id);
}

#[test]
fn a_contract_is_shown_whole_with_its_digest_and_what_differs() {
    let gate = Gate::new();
    gate.policy("[[approval]]\nby = [ANN]\ntargets = [\"deploy\"]\n");
    let first = submitted(&gate, "deploy");
    gate.approve(&first, "ann");
    let source = gate.opal.read("commands.opl");
    gate.opal.write("commands.opl", source.replace("deploying", "shipping"));
    let id = submitted(&gate, "deploy");
    let ui = Ui::start(gate.opal.command(), &[]).entered();
    let page = ui.get(&format!("/contracts/{id}")).ok();
    let file = gate.opal.path().join(format!("home/.opal/inbox/{id}/contract.plan"));
    let path = file.display().to_string();
    let sum = gate.opal.started_by(&["sha256sum".as_ref(), file.as_os_str()]).output().unwrap();
    let sum = String::from_utf8(sum.stdout).unwrap();
    let digest = sum.split(' ').next().unwrap();
    assert!(page.body.contains(&format!("sha256:{digest}")), "{}", page.body);
    // The body is the one that `opal plan show` writes.
    let shown = gate.opal.call(&["plan", "show", &path, "--format", "html"]).code(0).stdout.clone();
    let (_, body) = shown.split_once("<main>").unwrap();
    assert!(page.body.contains(body.rsplit_once("</main>").unwrap().0), "{}", page.body);
    assert!(page.body.contains("echo shipping to"), "{}", page.body);
    // Nobody can be asked here, so there is no form, and the page says what to type.
    assert!(!page.body.contains("<form") && !page.body.contains("<button"), "{}", page.body);
    assert!(page.body.contains(&format!("opal plan approve {}", &id[..8])), "{}", page.body);
    let json = ui.get(&format!("/contracts/{id}.json")).ok().json();
    assert_eq!(json["plan"], gate.opal.call(&["plan", "show", &path, "--json"]).json());
    assert_eq!(json["digest"], format!("sha256:{digest}"));
    assert_eq!(json["contract"]["state"], "waiting");
    // What differs from the one that was approved.
    assert!(page.body.contains(&format!("/contracts/{id}/diff")), "{}", page.body);
    let diff = ui.get(&format!("/contracts/{id}/diff")).ok().body;
    assert!(diff.contains("<del>deploy</del>") && diff.contains("<ins>shipp</ins>"), "{diff}");
    let diff = ui.get(&format!("/contracts/{id}/diff.json")).ok().json();
    assert_eq!((diff["compared"].as_str(), diff["contract"].as_str()), (Some(&*first), Some(&*id)));
    assert!(diff["diff"]["differences"].as_array().is_some_and(|it| !it.is_empty()), "{diff}");
    // There is nothing to compare the first one with.
    assert_eq!(ui.get(&format!("/contracts/{first}/diff")).status, 404);
}

#[test]
fn a_contract_that_was_changed_or_never_was_is_not_shown() {
    let gate = Gate::new();
    let id = submitted(&gate, "test");
    let file = gate.opal.path().join(format!("home/.opal/inbox/{id}/contract.plan"));
    fs::write(&file, "x").unwrap();
    let ui = Ui::in_terminal(gate.opal.command(), &["--no-open"]).entered();
    let page = ui.get(&format!("/contracts/{id}")).ok().body;
    assert!(page.contains("changed") && page.contains("is not what was submitted"), "{page}");
    assert!(!page.contains("<form"), "{page}");
    let zeros = "0".repeat(32);
    for id in
        [&zeros, &id[..8], "..", "%2e%2e", "x", "../../credentials", "..%2f..%2fcredentials%2fx"]
    {
        for path in [
            format!("/contracts/{id}"),
            format!("/contracts/{id}.json"),
            format!("/contracts/{id}/diff"),
        ] {
            let answer = ui.get(&path);
            assert!(matches!(answer.status, 400 | 403 | 404), "{path} {answer:?}");
        }
    }
}

#[test]
fn a_record_is_the_report_and_the_json_of_its_run() {
    let opal = Opal::machine("fun main(text: String) {\n    echo said @var.text\n}\n");
    opal.call(&["main", "hello"]).code(0);
    let ui = Ui::start(opal.command(), &[]).entered();
    let list = ui.get("/records.json").ok().json();
    let id = list["runs"][0]["id"].as_str().unwrap();
    let page = ui.get("/records").ok().body;
    assert!(page.contains(id) && page.contains("1 done"), "{page}");
    let page = ui.get(&format!("/records/{id}")).ok().body;
    opal.call(&["runs", "report", id, "-o", "r.html"]).code(0);
    let report = opal.read("r.html");
    let body = report.split_once("<main>").unwrap().1.rsplit_once("</main>").unwrap().0;
    assert!(page.contains(body), "{page}");
    let json = ui.get(&format!("/records/{id}.json")).ok().json();
    assert_eq!(json, opal.call(&["runs", "show", id, "--json"]).json());
    assert_eq!(ui.get("/records/last").status, 404);
    assert_eq!(ui.get("/records/last.json").status, 404);
    // Nothing is left of it.
    let left = super::files(&opal.path().join("home/.opal/ui"));
    assert_eq!(left, []);
}

/// Copies a record, under another id.
fn copied(record: &Path, id: &str) -> std::path::PathBuf {
    let folder = record.with_file_name(id);
    copy_files(record, &folder);
    folder
}

#[test]
fn lists_have_pages_and_damaged_records_damage_nothing_else() {
    let opal = Opal::machine("fun main() = echo x\n");
    opal.call(&["main"]).code(0);
    let runs = opal.path().join("home/.opal/logs/run/main");
    let record = fs::read_dir(&runs).unwrap().next().unwrap().unwrap().path();
    let id = |n: u32| format!("run-20200101T000000Z-{n:08x}");
    for n in 0..60 {
        copied(&record, &id(n));
    }
    let ui = Ui::start(opal.command(), &[]).entered();
    let first = ui.get("/records.json").ok().json();
    assert_eq!(first["runs"].as_array().unwrap().len(), 50);
    assert_eq!((&first["pages"], &first["total"]), (&2.into(), &61.into()));
    let second = ui.get("/records.json?page=2").ok().json();
    assert_eq!(second["runs"].as_array().unwrap().len(), 11);
    assert_eq!(second["runs"][10]["id"], id(0));
    let page = ui.get("/records").ok().body;
    assert!(page.contains("page 1 of 2, 61 in all") && page.contains("/records?page=2"), "{page}");
    for query in ["page=0", "page=3", "page=x", "page=-1", "page=99999999999999999999", "x=1"] {
        assert_eq!(ui.get(&format!("/records?{query}")).status, 404, "{query}");
    }
    // Every way in which a killed machine or an editor can leave a record.
    let half = |n: u32, name: &str| {
        let path = runs.join(id(n)).join(name);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    };
    let remove = |n: u32, name: &str| fs::remove_file(runs.join(id(n)).join(name)).unwrap();
    half(0, "summary.json");
    half(1, "events.jsonl");
    half(2, "plan.json");
    remove(3, "summary.json");
    half(4, "events.jsonl");
    remove(4, "summary.json");
    remove(5, "events.jsonl");
    super::files(&runs.join(id(6))).iter().for_each(|(path, _)| fs::remove_file(path).unwrap());
    fs::write(runs.join(id(7)).join("summary.json"), "{}").unwrap();
    fs::write(runs.join(id(8)).join("events.jsonl"), "\u{0}\u{1}\n{\n[]\n").unwrap();
    let locked = runs.join(id(9));
    fs::set_permissions(locked.join("summary.json"), fs::Permissions::from_mode(0o000)).unwrap();
    let list = ui.get("/records.json?page=2").ok().json();
    let state = |n: u32| list["runs"][usize::try_from(10 - n).unwrap()]["status"].clone();
    assert_eq!(state(0), "unreadable");
    assert_eq!(state(3), "crashed");
    assert!(ui.get("/records?page=2").ok().body.contains("its record is damaged"));
    for n in 0..10 {
        for path in [format!("/records/{}", id(n)), format!("/records/{}.json", id(n))] {
            let answer = ui.get(&path);
            assert!(matches!(answer.status, 200 | 500), "{path} {answer:?}");
            let is_json = path.ends_with(".json");
            assert!(!is_json || answer.json().is_object());
            assert!(is_json || answer.body.contains("</html>"), "{path} {answer:?}");
        }
    }
    assert_eq!(ui.get(&format!("/records/{}", id(0))).status, 500);
    ui.get(&format!("/records/{}", id(20))).ok();
}

#[test]
fn hostile_texts_stay_text_on_every_page() {
    let texts = hostile_texts::all().join("\n");
    let source = "fun hostile(text: String) {\n    cat hostile.txt\n    sh -c 'cat hostile.txt; exit 1' x @var.text\n}\n";
    let opal = Opal::machine(source).file("hostile.txt", texts.clone() + "\n");
    let opal = opal.env("USER", "<script>alert(1)</script>\u{202e}");
    opal.call(&["hostile", &format!("--text={texts}"), "-q"]);
    opal.call(&["plan", "hostile", &format!("--text={texts}"), "-o", "x.plan"]).code(0);
    opal.call(&["plan", "submit", "x.plan"]).code(0);
    let ui = Ui::in_terminal(opal.command(), &["--no-open"]).entered();
    let run = ui.get("/records.json").ok().json()["runs"][0]["id"].as_str().unwrap().to_owned();
    let contract =
        ui.get("/contracts.json").ok().json()["contracts"][0]["id"].as_str().unwrap().to_owned();
    let mut texts = 0;
    for path in [
        "/inbox".to_owned(),
        "/contracts".to_owned(),
        format!("/contracts/{contract}"),
        "/records".to_owned(),
        format!("/records/{run}"),
    ] {
        let page = ui.get(&path).ok().body;
        for tag in [
            "<script",
            "<img",
            "<iframe",
            "<object",
            "<base",
            "<link",
            "<meta http-equiv",
            "<svg onload",
            "<template",
        ] {
            assert!(!page.contains(tag), "{tag} in {path}");
        }
        assert_eq!(page.matches("<style").count(), 1, "{path}");
        assert_eq!(page.matches("</main>").count(), 1, "{path}");
        let acts = |c: char| opal_core::view::visible::is_hidden(c) && !matches!(c, '\n' | '\t');
        assert!(!page.contains(acts), "{path}: {:?}", page.find(acts));
        texts += page.matches("&lt;script&gt;").count();
    }
    assert!(texts > 20, "{texts}");
    // Live events are JSON in one line.
    let mut events = ui.client.events(&format!("/records/{run}/events"));
    events.until("event: over");
    let (_, events) = events.text.split_once("\r\n\r\n").unwrap();
    let lines = events.lines().filter_map(|line| line.strip_prefix("data: "));
    for line in lines {
        let data: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(data.is_object(), "{line}");
    }
}
