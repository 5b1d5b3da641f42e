//! Calls of plugins, each beside `bash -c true`, which it replaces: with `cargo xtask bench plugins`.
//!
//! `--guests DIR` names a directory with a package for each language, made from the templates for authors;
//! without it, the guest of the tests is measured. `--bars` fails where a bar is missed, `--quick` measures
//! a few times only.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark starts programs and prints what it measured"
)]

#[path = "../tests/it/fixtures.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod fixtures;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fixtures::{Opal, compile, component, hosts, invocation, named};
use opal_core::data::Secret;
use opal_core::protocol::call::{Function, Invocation};
use opal_plugins::client::{Component, Hosts};

/// `bash -c true` on the machine of the design pages, which bars in milliseconds refer to.
const UNIT_MS: f64 = 1.23;

/// Threads that call at the same time.
const CALLERS: usize = 8;

/// What a call in a language may take, in milliseconds.
struct Language {
    name: &'static str,
    first: f64,
    pipelined: f64,
    alone: f64,
    /// Pipelined calls of a round, and what all of them may take.
    calls: usize,
    all: Option<f64>,
}

const LANGUAGES: [Language; 4] = [
    Language {
        name: "rust",
        first: 12.0,
        pipelined: 0.15,
        alone: 0.3,
        calls: 1_000,
        all: Some(250.0),
    },
    Language { name: "c", first: 12.0, pipelined: 0.15, alone: 0.3, calls: 1_000, all: None },
    Language {
        name: "javascript",
        first: 15.0,
        pipelined: 0.6,
        alone: 0.8,
        calls: 1_000,
        all: None,
    },
    Language { name: "python", first: 25.0, pipelined: 4.0, alone: 4.5, calls: 200, all: None },
];

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let is_given = |option: &str| words.iter().any(|word| word == option);
    let folder =
        words.iter().position(|word| word == "--guests").map(|at| Path::new(&words[at + 1]));
    let mut bench = Bench { is_quick: is_given("--quick"), missed: Vec::new() };
    println!("{:<44} {:>10} {:>10} {:>10}  bash -c true", "plugins", "ms", "bar here", "bar");
    for language in &LANGUAGES {
        match Guest::of(language.name, folder) {
            Some(guest) => bench.language(language, &guest),
            None => println!("{} is not measured: its package is not built", language.name),
        }
    }
    bench.stop();
    if is_given("--bars") {
        assert!(bench.missed.is_empty(), "bars that were missed: {}", bench.missed.join("; "));
    }
}

/// A component, and the call of it.
struct Guest {
    component: Component,
    call: Invocation,
}

impl Guest {
    /// None where the package was not built.
    fn of(language: &str, folder: Option<&Path>) -> Option<Self> {
        let Some(folder) = folder else {
            let call = invocation("guest.subject", "x");
            return (language == "rust").then(|| Self { component: component(), call });
        };
        let file: PathBuf = folder.join(language).join(format!("plugins/{language}.wasm"));
        let (compiled, exports) = compile(&std::fs::read(file).ok()?).unwrap();
        let mut call = invocation(&format!("{language}.greeting"), "");
        call.subject = None;
        call.args = Secret::new("{\"name\":\"world\",\"style\":\"short\"}");
        Some(Self { component: named(&format!("local/{language}"), compiled, exports), call })
    }

    fn resolve(&self, hosts: &Hosts) {
        hosts.call(&self.component, Function::Resolve, &self.call, &mut Opal::default()).unwrap();
    }
}

struct Bench {
    is_quick: bool,
    missed: Vec<String>,
}

impl Bench {
    fn language(&mut self, language: &Language, guest: &Guest) {
        let name = language.name;
        let first = self.beside(41, || guest.resolve(&hosts()));
        self.bar(&format!("{name}: start, cached load, first call"), &first, language.first);
        let hosts = hosts();
        guest.resolve(&hosts);
        let alone = self.beside(301, || guest.resolve(&hosts));
        self.bar(&format!("{name}: further call, alone"), &alone, language.alone);
        let calls = if self.is_quick { language.calls / 10 } else { language.calls };
        let many = self.beside(11, || in_parallel(&|| guest.resolve(&hosts), calls));
        let count = u32::try_from(calls / CALLERS * CALLERS).unwrap();
        let each = Took { work: many.work / count, bash: many.bash };
        self.bar(&format!("{name}: further call, pipelined"), &each, language.pipelined);
        if let Some(all) = language.all.filter(|_| !self.is_quick) {
            self.bar(&format!("{name}: {calls} values"), &many, all);
        }
        println!(
            "{name}: a call of its own takes × {:.2} of a `bash -c true`, a pipelined one × {:.2}",
            alone.of_bash(),
            each.of_bash()
        );
    }

    /// From Ctrl+C to the end of a call that would not end.
    fn stop(&mut self) {
        const BEFORE: Duration = Duration::from_millis(20);
        let (hosts, guest) = (hosts(), component());
        let mut took = self.beside(11, || {
            let stops_after = Some(Instant::now() + BEFORE);
            let mut opal = Opal { stops_after, ..Opal::default() };
            let it = invocation("guest.loop", "");
            assert!(hosts.call(&guest, Function::Resolve, &it, &mut opal).is_err());
        });
        took.work = took.work.saturating_sub(BEFORE);
        self.bar("stop", &took, 50.0);
    }

    /// Medians of runs that take turns with `bash -c true`, so that a slow moment of the machine hits both.
    fn beside(&self, rounds: usize, mut work: impl FnMut()) -> Took {
        let rounds = if self.is_quick { rounds / 8 + 2 } else { rounds };
        let (mut all, mut bash) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            all.push(timed(&mut work));
            bash.push(timed(&mut || {
                let done = Command::new("bash").args(["-c", "true"]).stdin(Stdio::null()).status();
                assert!(done.unwrap().success());
            }));
        }
        Took { work: median(all), bash: median(bash) }
    }

    /// Both sides of a bar: what it took, and what it may take on this machine now.
    fn bar(&mut self, name: &str, took: &Took, most_ms: f64) {
        let most = most_ms / UNIT_MS * ms(took.bash);
        let holds = ms(took.work) <= most;
        println!(
            "{name:<44} {:>10.3} {most:>10.3} {most_ms:>10}  {:.2} ms: {}",
            ms(took.work),
            ms(took.bash),
            if holds { "holds" } else { "MISSED" }
        );
        if !holds {
            self.missed.push(name.to_owned());
        }
    }
}

/// What something took, and a `bash -c true` in the same session.
struct Took {
    work: Duration,
    bash: Duration,
}

impl Took {
    fn of_bash(&self) -> f64 {
        ms(self.work) / ms(self.bash)
    }
}

/// So many calls by all callers.
fn in_parallel(call: &(impl Fn() + Sync), count: usize) {
    std::thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| (0..count / CALLERS).for_each(|_| call()));
        }
    });
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

fn timed(work: &mut impl FnMut()) -> Duration {
    let since = Instant::now();
    work();
    since.elapsed()
}

fn median(mut all: Vec<Duration>) -> Duration {
    all.sort();
    all[all.len() / 2]
}
