//! Damaged records among many: they are named, and hide no other.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::Opal;

/// Records of one task, each a copy of a real one.
const MANY: usize = 300;

/// A way to damage a record, and what is said about it; nothing where it can be read all the same.
type Damage = (fn(&Path), Option<&'static str>);

fn cut(path: &Path, length: usize) {
    let bytes = fs::read(path).unwrap();
    fs::write(path, &bytes[..length.min(bytes.len())]).unwrap();
}

const DAMAGES: [Damage; 8] = [
    (|record| cut(&record.join("summary.json"), 40), Some("summary.json")),
    (|record| cut(&record.join("summary.json"), 0), Some("summary.json")),
    (
        |record| fs::write(record.join("summary.json"), "{\"status\":\"odd\"}").unwrap(),
        Some("summary.json"),
    ),
    (
        |record| {
            fs::remove_file(record.join("summary.json")).unwrap();
            fs::create_dir(record.join("summary.json")).unwrap();
        },
        Some("summary.json"),
    ),
    (
        |record| {
            fs::remove_file(record.join("summary.json")).unwrap();
            fs::remove_file(record.join("events.jsonl")).unwrap();
        },
        Some("events.jsonl"),
    ),
    // As a process leaves it that was killed while it wrote.
    (
        |record| {
            fs::remove_file(record.join("summary.json")).unwrap();
            cut(&record.join("events.jsonl"), 300);
        },
        None,
    ),
    (
        |record| {
            fs::remove_file(record.join("summary.json")).unwrap();
            fs::write(record.join("events.jsonl"), "{\"kind\":\n").unwrap();
        },
        Some("events.jsonl"),
    ),
    (|record| cut(&record.join("events.jsonl"), 30), None),
];

/// Copies of one record, of which some are damaged.
fn many() -> (Opal, Vec<(PathBuf, Option<&'static str>)>) {
    let opal = Opal::machine("fun task() {\n    echo printed by all\n}\n");
    opal.call(&["task"]).code(0);
    let folder = opal.path().join("home/.opal/logs/run/task");
    let first = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let id = first.file_name().unwrap().to_str().unwrap().to_owned();
    let mut damaged = Vec::new();
    for number in 0..MANY {
        let own = format!("run-20250101T000000Z-{number:08x}");
        let record = folder.join(&own);
        fs::create_dir(&record).unwrap();
        for file in fs::read_dir(&first).unwrap().map(|it| it.unwrap().path()) {
            let text = fs::read_to_string(&file).unwrap().replace(&id, &own);
            fs::write(record.join(file.file_name().unwrap()), text).unwrap();
        }
        if number % 30 == 7 {
            let (damage, said) = DAMAGES[damaged.len() % DAMAGES.len()];
            damage(&record);
            damaged.push((record, said));
        }
    }
    (opal, damaged)
}

#[test]
fn truncated_records_among_many_are_listed_with_what_is_broken() {
    let (opal, damaged) = many();
    assert!(damaged.len() >= DAMAGES.len());
    let ran = opal.call(&["runs", "list", "--limit", "1000", "--json"]);
    let list = ran.code(0).json();
    let runs = list["runs"].as_array().unwrap();
    assert_eq!(runs.len(), MANY + 1);
    let table = opal.call(&["runs", "list", "--limit", "1000"]);
    table.code(0);
    for (record, said) in &damaged {
        let id = record.file_name().unwrap().to_str().unwrap();
        let row: &Value = runs.iter().find(|run| run["id"] == *id).unwrap();
        let line = table.stdout.lines().find(|line| line.starts_with(id)).unwrap();
        match said {
            Some(file) => {
                let path = record.join(file).display().to_string();
                let message = row["error"]["message"].as_str().unwrap();
                assert!(message.contains(&path), "{row}");
                assert!(!row["error"]["help"][0].as_str().unwrap().is_empty(), "{row}");
                assert!(line.contains("unreadable") && line.contains(file), "{line}");
            }
            None => assert!(row.get("error").is_none() && !line.contains("unreadable"), "{row}"),
        }
    }
    let broken = damaged.iter().filter(|(_, said)| said.is_some()).count();
    assert_eq!(runs.iter().filter(|run| run.get("error").is_some()).count(), broken);
}

#[test]
fn a_search_goes_on_past_records_that_cannot_be_read_and_says_how_many() {
    let (opal, damaged) = many();
    let broken = damaged.iter().filter(|(_, said)| said.is_some()).count();
    // Of a record whose events are cut, and of one that was killed early, the output is gone.
    let lost = damaged.iter().filter(|(_, said)| said.is_none()).count();
    for words in [&["--grep", "printed by all"][..], &["--step", "task.shell[0]"]] {
        let words = [&["runs", "list", "--limit", "1000", "--json"], words].concat();
        let ran = opal.call(&words);
        let found = ran.code(0).json();
        let found = found["runs"].as_array().unwrap().len();
        assert!((MANY + 1 - broken - lost..=MANY + 1 - broken).contains(&found), "{found}");
        ran.says(&format!("{broken} records cannot be read"));
    }
}
