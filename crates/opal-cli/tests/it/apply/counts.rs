//! However an apply ends, every account of it has the same counts.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::{Opal, Ran};

/// A way to end: what there is before, the configuration, and what is counted.
struct Row {
    name: &'static str,
    /// Directories that are there before.
    there: &'static [&'static str],
    /// What comes before `steps:`.
    settings: &'static str,
    steps: &'static [&'static str],
    args: &'static [&'static str],
    code: i32,
    counts: &'static str,
    last: &'static str,
}

const USUAL: Row = Row {
    name: "",
    there: &[],
    settings: "",
    steps: &[A, B],
    args: &[],
    code: 0,
    counts: "",
    last: "",
};

const A: &str = "id: a, type: directory, path: a";
const B: &str = "id: b, type: directory, path: b, depends_on: [a]";
const BAD: &str = "id: bad, type: command, command: exit 3";
const ALONE: &str = "settings: {parallel: 1}\n";
const GO_ON: &str = "settings: {continue_on_error: true}\n";

const ROWS: &[Row] = &[
    Row { name: "all is new", counts: "done 2", last: "done: 2 steps in ", ..USUAL },
    Row {
        name: "some is there",
        there: &["a"],
        counts: "done 1, satisfied 1",
        last: "done: 2 steps, 1 already satisfied in ",
        ..USUAL
    },
    Row {
        name: "all is there",
        there: &["a", "b"],
        counts: "satisfied 2",
        last: "done: 2 steps, 2 already satisfied in ",
        ..USUAL
    },
    Row {
        name: "some is selected",
        there: &["a"],
        args: &["--only", "b"],
        counts: "done 1, skipped 1",
        last: "done: 1 step, 1 skipped in ",
        ..USUAL
    },
    Row {
        name: "a step fails and what depends on it is skipped",
        settings: GO_ON,
        steps: &[BAD, A, "id: late, type: directory, path: late, depends_on: [bad]"],
        code: 1,
        counts: "done 1, failed 1, skipped 1",
        last: "failed: 1 step done, 1 failed, 1 skipped in ",
        ..USUAL
    },
    Row {
        name: "a step fails and the others are not started",
        settings: ALONE,
        steps: &[A, BAD, "id: late, type: directory, path: late"],
        code: 1,
        counts: "done 1, failed 1",
        last: "failed: 1 step done, 1 failed in ",
        ..USUAL
    },
    Row {
        name: "a step is blocked",
        settings: GO_ON,
        steps: &[A, "id: bad, type: copy, source: gone, destination: bad"],
        code: 1,
        counts: "done 1, failed 1",
        last: "failed: 1 step done, 1 failed in ",
        ..USUAL
    },
    Row {
        name: "a step times out",
        settings: "settings: {timeout: 1}\n",
        steps: &["id: slow, type: command, command: sleep 60"],
        code: 1,
        counts: "failed 1",
        last: "failed: 0 steps done, 1 failed in ",
        ..USUAL
    },
    Row {
        name: "a step undoes another",
        steps: &[
            "id: one, type: line_in_file, file: f, line: a=1, match: '^a='",
            "id: two, type: command, command: echo a=2 > f, depends_on: [one]",
        ],
        code: 1,
        counts: "done 1, failed 1",
        last: "failed: 1 step done, 1 failed in ",
        ..USUAL
    },
    Row {
        name: "a step fails while another runs",
        steps: &[
            "id: long, type: command, command: touch begun; sleep 60",
            "id: bad, type: command, command: until test -e begun; do sleep 0.05; done; exit 3",
        ],
        code: 1,
        counts: "failed 1, stopped 1",
        last: "failed: 0 steps done, 1 failed, 1 stopped in ",
        ..USUAL
    },
];

impl Row {
    /// The row on a machine of its own, with `more` arguments.
    fn apply(&self, more: &[&str]) -> (Opal, Ran) {
        let steps: String = self.steps.iter().map(|step| format!("  - {{{step}}}\n")).collect();
        let text = format!("version: 1\n{}steps:\n{steps}", self.settings);
        let opal = Opal::machine("").file("a.yaml", text);
        for folder in self.there {
            std::fs::create_dir(opal.path().join(folder)).unwrap();
        }
        let ran = opal.call(&[&["apply", "a.yaml"], self.args, more].concat());
        assert_eq!(ran.code, self.code, "{}: {ran:#?}", self.name);
        (opal, ran)
    }
}

/// `done 1, failed 1`: the counts that are not zero.
fn told(counts: &Value) -> String {
    let counts = counts.as_object().unwrap().iter().filter(|(_, count)| **count != 0);
    counts.map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
}

/// The same, from what the document says of each step; one that was never started counts nowhere.
fn tally(steps: &Value) -> String {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for step in steps.as_array().unwrap() {
        let status = match step["status"].as_str().unwrap() {
            "timed_out" => "failed",
            "not_started" => continue,
            status => status,
        };
        *counts.entry(status).or_default() += 1;
    }
    counts.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
}

#[test]
fn the_terminal_the_json_of_an_apply_and_the_record_have_the_same_counts() {
    for row in ROWS {
        let name = row.name;
        let (opal, shown) = row.apply(&[]);
        let line = shown.stderr.lines().last().unwrap();
        assert!(line.starts_with(row.last), "{name}: {shown:#?}");
        let recorded = opal.call(&["runs", "show", "--json"]).code(0).json();
        assert_eq!(told(&recorded["run"]["counts"]), row.counts, "{name}: the record");
        let (_opal, ran) = row.apply(&["--json"]);
        let document = ran.json();
        assert_eq!(told(&document["counts"]), row.counts, "{name}: the document");
        assert_eq!(tally(&document["steps"]), row.counts, "{name}: the steps of the document");
        let folder = document["record"].as_str().unwrap();
        let summary = std::fs::read_to_string(format!("{folder}/summary.json")).unwrap();
        let summary: Value = serde_json::from_str(&summary).unwrap();
        assert_eq!(summary["counts"], document["counts"], "{name}: summary.json");
    }
}
