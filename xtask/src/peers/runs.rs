//! Questions about many runs, beside the same work in `sqlite3` and `grep`; and the page of a run, in Chromium.
//!
//! 100,000 records are on the disk before it starts; they are kept for the next time.

mod records;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{command, installed, judge, medians, pages, text, write};
use crate::chores::{release, run};
use crate::{say, tools};

/// `bash -c true` on the machine of the design pages, which bars in milliseconds refer to.
pub(super) const UNIT_MS: f64 = 1.23;

const RUNS: usize = 100_000;
const NEW: usize = 1_000;

/// Records that lists and searches are measured with: they use no index.
const LISTED: usize = 5_000;

/// New runs in the index: in milliseconds, and beside `sqlite3 .import` of the same rows.
const UPDATE: Bar = Bar { millis: 1_000.0, ratio: 3.0 };

/// `opal runs stats`: in milliseconds, and beside its query in `sqlite3`.
const STATS: Bar = Bar { millis: 200.0, ratio: 2.0 };

/// What was measured when it was built (10, 66 and 82 ms), and half of it more; the ratio is the one to `grep`
/// in the same files, which reads each of them.
const LISTS: [(&str, &[&str], f64); 3] = [
    ("runs list", &[], 15.0),
    ("runs list --failed", &["--failed", "--limit", "100000"], 99.0),
    ("runs list --grep", &["--grep", "not in any of them"], 123.0),
];

const ROUNDS: usize = 21;
const QUICK_ROUNDS: usize = 5;

struct Bar {
    millis: f64,
    ratio: f64,
}

pub(crate) fn compare(root: &Path, bars: bool, quick: bool) -> Result<(), String> {
    release(root)?;
    tools::provide(root, &[("sqlite3", "/usr/bin/sqlite3")]);
    let bench = Bench {
        opal: installed(root)?,
        folder: root.join("target/bench/runs"),
        tasks: root.join("crates/opal-serve/src/index/tasks.sql"),
        rounds: if quick { QUICK_ROUNDS } else { ROUNDS },
    };
    let mut missed = bench.lists()?;
    bench.prepare(root)?;
    missed.extend(bench.update()?);
    missed.extend(bench.stats()?);
    missed.extend(pages::compare(root, &bench.opal, bench.unit()?)?);
    judge(bars, &missed)
}

struct Bench {
    opal: PathBuf,
    folder: PathBuf,
    /// The query of `opal runs stats`.
    tasks: PathBuf,
    rounds: usize,
}

fn millis(took: Duration) -> f64 {
    took.as_secs_f64() * 1000.0
}

fn median(mut all: Vec<Duration>) -> f64 {
    all.sort();
    millis(all[all.len() / 2])
}

impl Bench {
    fn root(&self) -> PathBuf {
        self.folder.join("root")
    }

    /// `bash -c true`, in milliseconds.
    fn unit(&self) -> Result<f64, String> {
        let line = ["bash", "-c", "true"].map(str::to_owned).to_vec();
        Ok(millis(medians(&self.folder, &[line], self.rounds)?[0]))
    }

    /// `opal --root ROOT runs WORDS`.
    fn runs(&self, root: &Path, words: &[&str]) -> Result<Vec<String>, String> {
        let all = [&[text(&self.opal)?, "--root", text(root)?, "runs"], words].concat();
        Ok(all.into_iter().map(str::to_owned).collect())
    }

    /// Lists and searches, beside `grep` in the same files.
    fn lists(&self) -> Result<Vec<String>, String> {
        let root = self.folder.join("listed");
        records::make(&root, 0..LISTED)?;
        let mut lines = vec![["bash", "-c", "true"].map(str::to_owned).to_vec()];
        let grep = format!("grep -rlF 'not in any of them' '{}/logs/run' || true", text(&root)?);
        lines.push(["bash", "-c", &grep].map(str::to_owned).to_vec());
        for (_, words, _) in LISTS {
            lines.push(self.runs(&root, &[&["list"], words].concat())?);
        }
        let took = medians(&self.folder, &lines, self.rounds)?;
        let (unit, grep) = (millis(took[0]), millis(took[1]));
        let mut missed = Vec::new();
        for ((name, _, bar), took) in LISTS.into_iter().zip(&took[2..]) {
            let (took, most) = (millis(*took), bar / UNIT_MS * unit);
            missed.extend(tell(
                &format!("{name}, {LISTED} records"),
                &format!("{took:.1} ms, grep -r {grep:.1} ms: × {:.2}", took / grep),
                &format!("{most:.0} ms here ({bar:.0})"),
                took <= most,
            ));
        }
        Ok(missed)
    }

    /// Records, and an index that has all but the new ones.
    fn prepare(&self, root: &Path) -> Result<(), String> {
        records::make(&self.root(), 0..RUNS - NEW)?;
        records::remove_new(&self.root())?;
        // Only a directory that has not changed for a while is known to be as it was.
        std::thread::sleep(Duration::from_secs(3));
        for _ in 0..2 {
            let line = self.runs(&self.root(), &["sql", "SELECT count(*) FROM runs"])?;
            run(root, &line.iter().map(String::as_str).collect::<Vec<_>>())?;
        }
        self.copy("root/index.sqlite", "base.sqlite")?;
        records::make(&self.root(), RUNS - NEW..RUNS)?;
        std::thread::sleep(Duration::from_secs(3));
        self.quiet(&self.runs(&self.root(), &["sql", "SELECT 1"])?, None)?;
        let index = self.root().join("index.sqlite");
        for (table, id) in [("runs", "id"), ("steps", "run")] {
            let query = format!("SELECT * FROM {table} WHERE {id} >= '{}'", records::FIRST_NEW);
            let line = ["sqlite3", "-csv", text(&index)?, &query].map(str::to_owned);
            let rows = command(&line).output().map_err(|error| format!("`sqlite3`: {error}"))?;
            let count = rows.stdout.iter().filter(|byte| **byte == b'\n').count();
            if count < NEW {
                return Err(format!("the index has {count} of {NEW} new rows of `{table}`"));
            }
            write(&self.folder, &format!("{table}.csv"), &String::from_utf8_lossy(&rows.stdout))?;
        }
        Ok(())
    }

    fn copy(&self, from: &str, to: &str) -> Result<(), String> {
        let copied = fs::copy(self.folder.join(from), self.folder.join(to));
        copied.map(drop).map_err(|error| format!("`{to}` cannot be written: {error}"))
    }

    /// Runs a command to its end, with the file as its standard input.
    fn quiet(&self, line: &[String], input: Option<&Path>) -> Result<Duration, String> {
        let input = match input {
            Some(path) => fs::File::open(path).map(Stdio::from),
            None => Ok(Stdio::null()),
        };
        let input = input.map_err(|error| format!("`{}`: {error}", line[0]))?;
        let start = Instant::now();
        let mut command: Command = command(line);
        command.current_dir(&self.folder).stdin(input).stdout(Stdio::null());
        let ran = command.stderr(Stdio::null()).status();
        let took = start.elapsed();
        match ran {
            Ok(status) if status.success() => Ok(took),
            Ok(status) => Err(format!("`{}` failed ({status})", line.join(" "))),
            Err(error) => Err(format!("`{}` did not start: {error}", line[0])),
        }
    }

    /// New runs, by turns: opal reads records, `sqlite3` imports the rows that come of them. Both begin with the
    /// same index.
    fn update(&self) -> Result<Vec<String>, String> {
        let unit = ["bash", "-c", "true"].map(str::to_owned);
        let words = ["sql", "SELECT count(*) FROM runs"];
        let ours = self.runs(&self.root(), &words)?;
        let import = ["sqlite3", "-csv", "peer.sqlite", "PRAGMA synchronous = OFF"];
        let files = [".import runs.csv runs", ".import steps.csv steps"];
        let theirs = [&import[..], &files].concat();
        let theirs: Vec<String> = theirs.into_iter().map(str::to_owned).collect();
        let mut took = [Vec::new(), Vec::new(), Vec::new()];
        for round in 0..self.rounds {
            self.copy("base.sqlite", "root/index.sqlite")?;
            self.copy("base.sqlite", "peer.sqlite")?;
            for place in 0..3 {
                let at = (round + place) % 3;
                let line: &[String] = [&unit[..], &ours, &theirs][at];
                took[at].push(self.quiet(line, None)?);
            }
        }
        let [unit, ours, theirs] = took.map(median);
        let name = format!("index, {NEW} new of {RUNS} runs");
        Ok(beside(&name, &UPDATE, unit, ours, ("sqlite3 .import", theirs)))
    }

    fn stats(&self) -> Result<Vec<String>, String> {
        let query = fs::read_to_string(&self.tasks)
            .map_err(|error| format!("`{}`: {error}", self.tasks.display()))?;
        // Of all tasks.
        write(&self.folder, "tasks.sql", &(query.replace("?1", "NULL") + ";\n"))?;
        let unit = ["bash", "-c", "true"].map(str::to_owned).to_vec();
        let ours = self.runs(&self.root(), &["stats"])?;
        let theirs = ["sqlite3", "root/index.sqlite"].map(str::to_owned).to_vec();
        let input = self.folder.join("tasks.sql");
        let mut took = [Vec::new(), Vec::new(), Vec::new()];
        for round in 0..self.rounds {
            for place in 0..3 {
                let at = (round + place) % 3;
                let line = [&unit, &ours, &theirs][at];
                took[at].push(self.quiet(line, (at == 2).then_some(&*input))?);
            }
        }
        let [unit, ours, theirs] = took.map(median);
        let name = format!("runs stats, {RUNS} runs");
        Ok(beside(&name, &STATS, unit, ours, ("sqlite3", theirs)))
    }
}

/// Both bars of a comparison, in milliseconds of this machine.
fn beside(name: &str, bar: &Bar, unit: f64, ours: f64, peer: (&str, f64)) -> Vec<String> {
    let most = bar.millis / UNIT_MS * unit;
    let ratio = ours / peer.1;
    let line = format!("{ours:.1} ms, {} {:.1} ms: × {ratio:.2}", peer.0, peer.1);
    let bars = format!("{most:.0} ms here ({:.0}), × {}", bar.millis, bar.ratio);
    tell(name, &line, &bars, ours <= most && ratio <= bar.ratio).into_iter().collect()
}

/// Both sides of a bar; what was missed.
pub(super) fn tell(name: &str, line: &str, bars: &str, holds: bool) -> Option<String> {
    let verdict = if holds { "holds" } else { "MISSED" };
    say(&format!("{name:<36} {line} (bar {bars}): {verdict}"));
    (!holds).then(|| format!("{name}: {line}"))
}
