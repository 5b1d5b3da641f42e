//! A million runs in the databases of other people, by the blocks of the guide.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::imports::{System, assert_imports, exported};

/// Runs, each with a step.
const RUNS: usize = 1_000_000;

#[test]
fn clickhouse_imports_runs_as_the_guide_says() {
    let Some(system) = System::clickhouse() else { return };
    assert_imports(&system);
}

#[test]
fn a_million_runs_are_imported_into_each_database() {
    let opal = exported();
    let folder = opal.path();
    multiply(&folder.join("runs.jsonl"));
    for system in [System::postgres(), System::duckdb(), System::clickhouse()] {
        let Some(system) = system else { continue };
        let found = system.import(&folder);
        let counts = found.lines().map(|line| line.split(',').nth(1).unwrap());
        let counts: usize = counts.map(|it| it.parse::<usize>().unwrap()).sum();
        assert_eq!(counts, RUNS, "{found}");
    }
}

/// The first run and its step of an export, again and again under other ids.
fn multiply(path: &Path) {
    let text = fs::read_to_string(path).unwrap();
    let pair: Vec<&str> = text.lines().take(2).collect();
    let pair = pair.join("\n") + "\n";
    let (_, rest) = pair.split_once("\"run-").unwrap();
    let id = format!("run-{}", rest.split_once('"').unwrap().0.split('/').next().unwrap());
    let (start, _) = id.rsplit_once('-').unwrap();
    let mut all = String::with_capacity(pair.len() * RUNS);
    for number in 0..RUNS {
        let own = format!("{start}-{number:08x}");
        write!(all, "{}", pair.replace(&id, &own)).unwrap();
    }
    fs::write(path, all).unwrap();
}
