//! Every screen that a person can see, whole, in `test_data/screens/`. `UPDATE_EXPECT=1` rewrites the
//! files; read the difference before you commit it.
//!
//! | file | what it shows |
//! |---|---|
//! | `runs` | a run, a failure, one that is caught, parallel branches, a retry, a time limit |
//! | `dry_run`, `plan`, `contract` | plans as a tree and as JSON; a contract that is made, shown, compared, run and refused |
//! | `apply` | a configuration that is verified, previewed, applied, and verified again |
//! | `records` | `runs list`, `show`, `diff`, `tail` and `prune` |
//! | `check` | mistakes for people, as JSON and for a workflow on GitHub; `fmt --check` and `--diff` |
//! | `help` | `--help`, the help of a task and of a command, `list`, `explain`, `completions`, a typo |
//! | `keys`, `convert` | the commands of these names |
//! | `modules` | `module new`, `list`, `show`, `validate`, `preflight`, `plan`, `apply`, `verify` |
//! | `module_init` | targets that are prepared, and one that is missing |
//! | `blueprint` | a blueprint that is validated, planned and applied |
//!
//! The clock and the seed are held still, so only what a machine does differently each time is
//! replaced: its directory and name, hashes, and how long something took. They can be held only in debug builds.
#![cfg(debug_assertions)]

mod cases;

use std::fmt::Write as _;
use std::path::Path;

use opal_testing::expect::Differences;
use regex::Regex;

use crate::support::Opal;

/// A Sunday noon, and some time more for each command.
const NOON: u64 = 1_794_744_000;

/// A terminal session: commands, and what each prints.
struct Session {
    opal: Opal,
    /// Set for all commands.
    env: Vec<(&'static str, String)>,
    shown: String,
    count: u64,
    is_table: bool,
}

impl Session {
    fn new(opal: Opal) -> Self {
        Self { opal, env: Vec::new(), shown: String::new(), count: 0, is_table: false }
    }

    /// Spaces between columns are folded from now on, because their width depends on times.
    fn table(mut self) -> Self {
        self.is_table = true;
        self
    }

    fn env(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.env.push((name, value.into()));
        self
    }

    /// One command line; words are separated by a space.
    fn types(mut self, line: &str) -> Self {
        self.count += 1;
        let (clock, seed) = ((NOON + 60 * self.count).to_string(), self.count.to_string());
        let mut env = vec![("OPAL_TEST_CLOCK", clock.as_str()), ("OPAL_TEST_SEED", seed.as_str())];
        env.extend(self.env.iter().map(|(name, value)| (*name, value.as_str())));
        let ran = self.opal.call_with(&env, &line.split(' ').collect::<Vec<_>>());
        let _ = writeln!(self.shown, "$ opal {line}");
        for (stream, text) in [("", &ran.stdout), ("stderr", &ran.stderr)] {
            if !stream.is_empty() && !text.is_empty() {
                let _ = writeln!(self.shown, "[{stream}]");
            }
            self.shown.push_str(text);
            if !text.is_empty() && !text.ends_with('\n') {
                self.shown.push_str("[no newline]\n");
            }
        }
        let _ = writeln!(self.shown, "[exit {}]\n", ran.code);
        self
    }

    /// Something that happens between two commands.
    fn then(self, name: &str, text: &str) -> Self {
        self.opal.write(name, text);
        self
    }

    fn filtered(&self) -> String {
        let directory = self.opal.path().canonicalize().unwrap();
        let mut text = self.shown.replace(&directory.display().to_string(), "DIR");
        text = text.replace(&self.opal.path().display().to_string(), "DIR");
        let filters = [
            // Whole hashes, and their beginnings.
            (r"\b(sha256:|blake3:)?[0-9a-f]{64}\b", "HASH"),
            (r"\b(sha256|blake3):[0-9a-f]{6,}", "HASH"),
            // How long something took.
            (r"(?m)(^|[ (])[0-9]+(\.[0-9]+)?(ns|µs|ms|s)\b", "${1}TIME"),
            // Which machine it is.
            (r"(?m)( by +)\S+( with opal|$)", "${1}HOST$2"),
            (r#""(took_ms|duration_ms|elapsed_ms|pid|took)": ?[0-9.]+"#, r#""$1": N"#),
        ];
        for (pattern, to) in filters {
            text = Regex::new(pattern).unwrap().replace_all(&text, to).into_owned();
        }
        match self.is_table {
            true => Regex::new(r"(\S) {2,}").unwrap().replace_all(&text, "$1  ").into_owned(),
            false => text,
        }
    }
}

#[test]
fn every_screen_is_as_it_was_accepted() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test_data/screens");
    let mut differences = Differences::default();
    let mut known = Vec::new();
    for (name, session) in cases::CASES {
        let shown = session().filtered();
        differences.compare(&folder.join(format!("{name}.txt")), &shown);
        known.push((*name).to_owned());
    }
    differences.nothing_else(&folder, ".txt", &known);
    differences.none();
}

#[test]
fn the_clock_and_the_seed_are_held_still() {
    let opal = Opal::machine("fun main() {\n    echo @time.now\n}\n");
    let held = [("OPAL_TEST_CLOCK", "1794744000"), ("OPAL_TEST_SEED", "a")];
    let ids = |root: &str| {
        opal.call_with(&held, &["--root", root, "main"]).code(0).says("2026-11-15T12:00:00");
        let runs = opal.call(&["--root", root, "runs", "list", "--json"]).json();
        runs["runs"][0]["id"].as_str().unwrap().to_owned()
    };
    assert_eq!(ids("one"), ids("other"));
}
