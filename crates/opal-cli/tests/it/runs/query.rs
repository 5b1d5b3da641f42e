//! `opal runs stats`, `sql` and `export`: questions about all runs, and what they must not do.

use std::fs;

use serde_json::Value;

use crate::needs;
use crate::support::{Opal, assert_schema, binary, copy_files};

const TASKS: &str = "\
fun hello() {
    echo one
    @retry(attempts=2, delay=1ms) { sh -c 'test -e again || { touch again; exit 3; }' }
}

fun fails() {
    sh -c 'exit 3'
}

fun site() {
    @file.copy(destination=\"app.conf\", content=\"port=80\\n\")
}
";

/// Runs of each task; none where the helper was not built.
fn ran() -> Option<Opal> {
    let helper = binary().with_file_name("opal-serve").exists();
    if !needs::has("the helper `opal-serve` (`cargo build -p opal-serve`)", helper) {
        return None;
    }
    let opal = Opal::machine(TASKS);
    for (words, code) in [(["hello"], 0), (["fails"], 3), (["site"], 0), (["hello"], 0)] {
        opal.call(&words).code(code);
    }
    Some(opal)
}

fn rows(opal: &Opal, query: &str) -> Value {
    let ran = opal.call(&["runs", "sql", query, "--json"]);
    ran.code(0);
    ran.json()["rows"].clone()
}

#[test]
fn runs_steps_and_verifications_are_tables() {
    let Some(opal) = ran() else { return };
    let query = "SELECT task, status, done, retries FROM runs ORDER BY id";
    let expected = serde_json::json!([
        ["hello", "executed", 2, 1],
        ["fails", "failed", 0, 0],
        ["site", "executed", 1, 0],
        ["hello", "executed", 2, 0],
    ]);
    assert_eq!(rows(&opal, query), expected);
    let query =
        "SELECT result, attempt, code FROM steps WHERE path LIKE 'hello.retry%.shell%' ORDER BY id";
    assert_eq!(
        rows(&opal, query),
        serde_json::json!([["failed", 1, 3], ["done", 2, 0], ["done", 1, 0]])
    );
    let query = "SELECT DISTINCT verifications.status FROM verifications JOIN runs ON runs.id = run \
                 WHERE task = 'site' ORDER BY 1";
    assert_eq!(rows(&opal, query), serde_json::json!([["missing"], ["satisfied"]]));
    let table = opal.call(&["runs", "sql", "SELECT task, code FROM runs WHERE code > 0"]);
    table.code(0).stdout("task   code\nfails  3\n");
    let csv = opal.call(&["runs", "sql", "SELECT 'a,\"b', NULL, '', x'00ff', char(27)", "--csv"]);
    let line = csv.code(0).stdout.lines().nth(1).unwrap();
    assert_eq!(line, "\"a,\"\"b\",,\"\",00ff,\u{241b}");
}

#[test]
fn stats_say_how_often_tasks_and_steps_fail_and_which_change() {
    let Some(opal) = ran() else { return };
    fs::write(opal.path().join("commands.opl"), TASKS.replace("exit 3'", "exit 0'")).unwrap();
    opal.call(&["fails"]).code(0);
    let found = opal.call(&["runs", "stats", "--json"]);
    let found = found.code(0).json();
    let tasks = found["tasks"].as_array().unwrap();
    let shown: Vec<String> = tasks
        .iter()
        .map(|it| {
            format!(
                "{} {} {} {} {}",
                it["task"], it["runs"], it["failed"], it["turns"], it["status"]
            )
        })
        .collect();
    let expected = [
        "\"fails\" 2 1 1 \"executed\"",
        "\"hello\" 2 0 0 \"executed\"",
        "\"site\" 1 0 0 \"executed\"",
    ];
    assert_eq!(shown, expected);
    let newest =
        rows(&opal, "SELECT started_at FROM runs WHERE task = 'fails' ORDER BY id DESC LIMIT 1");
    assert_eq!(tasks[0]["since"], newest[0][0]);
    let one = opal.call(&["runs", "stats", "hello", "--json"]);
    let one = one.code(0).json();
    let steps = one["steps"].as_array().unwrap();
    let retried = steps.iter().find(|it| it["path"] == "hello.retry[0].shell[0]").unwrap();
    assert_eq!(
        (&retried["started"], &retried["failed"], &retried["retried"]),
        (&3.into(), &1.into(), &1.into())
    );
    opal.call(&["runs", "stats"]).code(0).says("1 of 2");
    opal.call(&["runs", "stats", "nothing"]).code(0).says("No runs of `nothing` have ended");
}

#[test]
fn a_query_reads_four_tables_and_can_do_nothing_else() {
    let Some(opal) = ran() else { return };
    for query in [
        "DELETE FROM runs",
        "INSERT INTO runs (id) VALUES ('x')",
        "UPDATE runs SET status = 'executed'",
        "DROP TABLE runs",
        "CREATE TABLE x (a)",
        "CREATE TEMP TABLE x (a)",
        "CREATE TEMP TRIGGER t AFTER INSERT ON runs BEGIN SELECT 1; END",
        "ATTACH DATABASE '/tmp/x.db' AS x",
        "ATTACH ':memory:' AS x",
        "DETACH DATABASE main",
        "PRAGMA writable_schema = 1",
        "PRAGMA query_only = 0",
        "PRAGMA hard_heap_limit = 0",
        "SELECT * FROM pragma_database_list",
        "SELECT * FROM pragma_table_info('runs')",
        "SELECT load_extension('x')",
        "SELECT * FROM sqlite_schema",
        "SELECT * FROM known",
        "SELECT * FROM folders",
        "VACUUM INTO '/tmp/x.db'",
        "VACUUM",
        "BEGIN",
        "SELECT 1; DELETE FROM runs",
        "SELECT 1; SELECT 2",
        "SELECT nothing FROM runs",
        "SELECT readfile('/etc/passwd')",
        "not sql",
    ] {
        let ran = opal.call(&["runs", "sql", query]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{query}: {ran:#?}");
        ran.says("help: ");
    }
    assert_eq!(rows(&opal, "SELECT count(*) FROM runs"), serde_json::json!([[4]]));
    let endless =
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n";
    opal.call(&["runs", "sql", endless]).code(69).says("timed out after 5 s");
    for large in [
        "SELECT zeroblob(200000000)",
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 200) \
         SELECT hex(randomblob(500000)) FROM n",
    ] {
        opal.call(&["runs", "sql", large]).code(69).says("needs more than 100 MB");
    }
}

#[test]
fn damaged_pruned_and_removed_records_are_rows_or_gone_and_the_index_is_disposable() {
    let Some(opal) = ran() else { return };
    let query = "SELECT task, status, unreadable IS NOT NULL, pruned FROM runs ORDER BY id";
    rows(&opal, query);
    let folder = |task: &str| {
        let runs = fs::read_dir(opal.path().join("home/.opal/logs/run").join(task)).unwrap();
        let mut runs: Vec<_> = runs.map(|entry| entry.unwrap().path()).collect();
        runs.sort();
        runs.remove(0)
    };
    // Cut in the middle, as by a full disk, and damaged in the middle.
    let index = opal.path().join("home/.opal/index.sqlite");
    let summary = folder("fails").join("summary.json");
    fs::write(&summary, &fs::read(&summary).unwrap()[..40]).unwrap();
    let events = folder("site").join("events.jsonl");
    let text = fs::read_to_string(&events).unwrap();
    fs::write(&events, text.replacen("\"attempt\"", "\"att", 1)).unwrap();
    opal.call(&["runs", "prune", "--keep", "1"]).code(0).says("removed 1 run");
    let expected = serde_json::json!([
        ["hello", "executed", 0, 1],
        [null, null, 1, null],
        ["site", "executed", 1, null],
        ["hello", "executed", 0, null],
    ]);
    for index_is in ["the one from before", "gone", "damaged", "of another version"] {
        match index_is {
            "gone" => fs::remove_file(&index).unwrap(),
            "damaged" => {
                fs::write(&index, "SQLite format 3\0 and then nothing of the kind").unwrap()
            }
            "of another version" => {
                let mut bytes = fs::read(&index).unwrap();
                bytes[60..64].copy_from_slice(&[0, 0, 0, 99]);
                fs::write(&index, bytes).unwrap();
            }
            _ => {
                // What ended is not read again: only a new index sees the damage.
                let found = rows(&opal, "SELECT count(*), count(pruned) FROM runs");
                assert_eq!(found, serde_json::json!([[4, 1]]));
                continue;
            }
        }
        assert_eq!(rows(&opal, query), expected, "the index is {index_is}");
    }
    let steps = "SELECT count(*) FROM steps JOIN runs ON runs.id = run WHERE pruned";
    assert_eq!(rows(&opal, steps), serde_json::json!([[0]]));
    fs::remove_dir_all(opal.path().join("home/.opal/logs/run/site")).unwrap();
    assert_eq!(rows(&opal, "SELECT count(*) FROM runs"), serde_json::json!([[3]]));
}

#[test]
fn records_that_come_late_move_or_go_are_noticed() {
    let Some(opal) = ran() else { return };
    let logs = opal.path().join("home/.opal/logs/run");
    let count = |query: &str| rows(&opal, &format!("SELECT count(*) FROM {query}"))[0][0].clone();
    assert_eq!(count("runs"), 4);
    // From another machine, with the name of a time before all others.
    let site = fs::read_dir(logs.join("site")).unwrap().next().unwrap().unwrap().path();
    let late = |task: &str| logs.join(task).join("run-20200101T000000Z-00000000");
    copy_files(&site, &late("hello"));
    assert_eq!(count("runs"), 5);
    assert_eq!(count("runs WHERE id = 'run-20200101T000000Z-00000000'"), 1);
    // One goes and another one comes between two questions.
    fs::remove_dir_all(late("hello")).unwrap();
    opal.call(&["hello"]).code(0);
    assert_eq!(count("runs WHERE task = 'hello'"), 3);
    assert_eq!(count("runs WHERE id = 'run-20200101T000000Z-00000000'"), 0);
    fs::rename(&site, late("site")).unwrap();
    assert_eq!(count("runs"), 5);
    assert_ne!(count("steps WHERE run LIKE 'run-2020%'"), 0);
}

#[test]
fn exports_have_each_run_once_and_are_as_their_schema_says() {
    let opal = Opal::machine(TASKS);
    let exported = |since: &[&str]| {
        let ran = opal.call(&[&["runs", "export"][..], since].concat());
        let lines: Vec<Value> =
            ran.code(0).stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        lines.iter().for_each(|line| assert_schema("runs-1.json", line));
        let cursor = lines.last().unwrap()["cursor"].as_str().unwrap().to_owned();
        (lines, cursor)
    };
    let tasks = |lines: &[Value]| {
        let runs = lines.iter().filter(|line| line["kind"] == "run");
        runs.map(|run| run["task"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (nothing, first) = exported(&[]);
    assert_eq!(nothing.len(), 1);
    opal.call(&["hello"]).code(0);
    opal.call(&["fails"]).code(3);
    let (lines, second) = exported(&["--since", &first]);
    assert_eq!(tasks(&lines), ["hello", "fails"]);
    let kinds = |kind: &str| lines.iter().filter(|line| line["kind"] == kind).count();
    // Two attempts are two starts, each in a block.
    assert_eq!((kinds("run"), kinds("step"), kinds("cursor")), (2, 5, 1), "{lines:#?}");
    opal.call(&["site"]).code(0);
    let (lines, third) = exported(&["--since", &second]);
    assert_eq!(tasks(&lines), ["site"]);
    assert!(lines.iter().any(|line| line["kind"] == "verification"), "{lines:#?}");
    // A run that was pruned before it was exported has its line.
    opal.call(&["hello"]).code(0);
    opal.call(&["runs", "prune", "--keep", "0"]).code(0);
    let (lines, fourth) = exported(&["--since", &third]);
    assert_eq!((tasks(&lines), &lines[0]["pruned"]), (vec!["hello".to_owned()], &true.into()));
    assert!(tasks(&exported(&["--since", &fourth]).0).is_empty());
    assert_eq!(tasks(&exported(&["--since", "1h"]).0).len(), 4);
    opal.call(&["runs", "export", "--since", "1/nothing//"]).code(2).says("--since");
}
