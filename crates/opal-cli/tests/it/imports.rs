//! The lines of `opal runs export` in the databases of other people: the blocks of the guide are run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use opal_testing::databases::{Database, PASSWORD, USER};
use opal_testing::guest::build_directory;

use crate::needs;
use crate::support::{Opal, repository};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/imports.py");

/// A block of the guide, by what follows its fence.
fn block(info: &str) -> String {
    let page = fs::read_to_string(repository().join("docs/guide/records.md")).unwrap();
    let (_, rest) = page.split_once(&format!("```{info}\n")).unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

fn output(command: &mut Command) -> String {
    let ran = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    String::from_utf8(ran.stdout).unwrap()
}

/// A database that `runs.jsonl` of a directory is imported into.
pub(crate) enum System {
    Postgres(Database),
    /// A package of PyPI, and its Python.
    Package(&'static str, PathBuf),
}

impl System {
    /// None where it is not installed.
    pub(crate) fn postgres() -> Option<Self> {
        Database::postgres().map(Self::Postgres)
    }

    pub(crate) fn duckdb() -> Option<Self> {
        Self::package("duckdb", "`duckdb` of PyPI in target/tools/duckdb")
    }

    #[allow(dead_code, reason = "only the long tests import into it")]
    pub(crate) fn clickhouse() -> Option<Self> {
        Self::package("clickhouse", "`chdb` of PyPI in target/tools/clickhouse")
    }

    fn package(name: &'static str, what: &str) -> Option<Self> {
        let python = build_directory().join("tools").join(name).join("bin/python");
        needs::has(what, python.exists()).then_some(Self::Package(name, python))
    }

    /// Runs the block of the guide: what its last line prints, a row on each line.
    #[expect(clippy::disallowed_methods, reason = "databases are programs")]
    pub(crate) fn import(&self, folder: &Path) -> String {
        match self {
            Self::Postgres(database) => {
                let block = block("sh postgres");
                let lines = block.lines().map(|line| line.strip_prefix("$ ").unwrap());
                let script: Vec<&str> = lines.collect();
                let mut bash = Command::new("bash");
                bash.args(["-ec", &script.join("\n")]).current_dir(folder);
                bash.env("PGHOST", database.socket()).env("PGUSER", USER);
                output(bash.env("PGPASSWORD", PASSWORD).env("PGDATABASE", "postgres"))
            }
            Self::Package(name, python) => {
                let statements = block(&format!("sql {name}"));
                output(Command::new(python).args([SCRIPT, name, &statements]).current_dir(folder))
            }
        }
    }
}

/// Runs of three tasks in `runs.jsonl`.
pub(crate) fn exported() -> Opal {
    let source = "fun build() {\n    echo compiling\n}\n\nfun fails() {\n    sh -c 'exit 3'\n}\n\n\
                  fun site() {\n    @file.copy(destination=\"app\", content=\"a\")\n}\n";
    let opal = Opal::machine(source);
    for (task, code) in [("build", 0), ("fails", 3), ("site", 0), ("build", 0)] {
        opal.call(&[task]).code(code);
    }
    let lines = opal.call(&["runs", "export"]);
    opal.write("runs.jsonl", &lines.code(0).stdout);
    opal
}

/// What the queries of the guide say about them.
pub(crate) const ROWS: [&str; 3] = ["build,2,true", "fails,1,true", "site,1,true"];

/// Imports twice, the second time with what is new, and what is not.
pub(crate) fn assert_imports(system: &System) {
    let opal = exported();
    let rows = |text: &str| {
        // Each prints a truth in its own words.
        let text = text.replace(",t\n", ",true\n").replace(",1\n", ",true\n");
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(rows(&system.import(&opal.path())), ROWS);
    assert_eq!(rows(&system.import(&opal.path())), ROWS, "the same lines once more");
    opal.call(&["fails"]).code(3);
    let lines = opal.call(&["runs", "export"]);
    opal.write("runs.jsonl", &lines.code(0).stdout);
    let more = ["build,2,true", "fails,2,true", "site,1,true"];
    assert_eq!(rows(&system.import(&opal.path())), more);
}

#[test]
fn postgresql_imports_runs_as_the_guide_says() {
    let Some(system) = System::postgres() else { return };
    assert_imports(&system);
}

#[test]
fn duckdb_imports_runs_as_the_guide_says() {
    let Some(system) = System::duckdb() else { return };
    assert_imports(&system);
}

#[test]
fn text_that_no_database_stores_is_exported_as_a_symbol() {
    let opal = exported();
    let folder = opal.path().join("home/.opal/logs/run/fails");
    let record = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let summary = record.join("summary.json");
    let text = fs::read_to_string(&summary).unwrap();
    let hostile = text.replacen("\"host\":\"", "\"host\":\"a\\u0000b\\u0001c\\u0002\\\"", 1);
    assert_ne!(hostile, text);
    fs::write(&summary, hostile).unwrap();
    let lines = opal.call(&["runs", "export"]);
    lines.code(0).says("\"host\":\"a\u{2400}b\\u0001c\\u0002\\\"");
    opal.write("runs.jsonl", &lines.stdout);
    let Some(system) = System::postgres() else { return };
    assert_eq!(system.import(&opal.path()).lines().count(), 3);
}
