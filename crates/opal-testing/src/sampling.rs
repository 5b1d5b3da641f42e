//! What other processes of this machine could see: arguments and environments of all processes, again
//! and again while something runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often everything is read, where the machine is fast enough.
const EVERY: Duration = Duration::from_millis(5);

/// Where a value was seen, and in which program.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Sight {
    /// The name of the program's file; of a script, that of its interpreter.
    pub program: String,
    /// `cmdline` or `environ`.
    pub file: &'static str,
    pub value: String,
    /// The command line, for messages.
    pub line: String,
}

/// All that was seen.
#[derive(Debug, Default)]
pub struct Seen {
    /// The values, wherever they were.
    pub sights: BTreeSet<Sight>,
    /// Programs that ran, and how often each was seen.
    pub programs: BTreeMap<String, u64>,
    pub rounds: u64,
}

/// Reads until [`Sampler::end`].
#[derive(Debug)]
pub struct Sampler {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Seen>,
}

impl Sampler {
    /// Looks for these values in every process that starts from now on: those that run already are
    /// others'.
    #[must_use]
    pub fn start(values: &[&str]) -> Self {
        let values: Vec<String> = values.iter().map(|it| (*it).to_owned()).collect();
        let earlier: BTreeSet<String> = numbers().collect();
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            let mut seen = Seen::default();
            while !ends.load(Ordering::SeqCst) {
                let begun = Instant::now();
                for pid in numbers().filter(|pid| !earlier.contains(pid)) {
                    seen.process(&pid, &values);
                }
                seen.rounds += 1;
                thread::sleep(EVERY.saturating_sub(begun.elapsed()));
            }
            seen
        });
        Self { is_over, thread }
    }

    /// Ends it: all that was seen.
    ///
    /// # Panics
    /// If it has panicked.
    #[must_use]
    pub fn end(self) -> Seen {
        self.is_over.store(true, Ordering::SeqCst);
        self.thread.join().unwrap()
    }
}

impl Seen {
    fn process(&mut self, pid: &str, values: &[String]) {
        let Some(program) = program_of(pid) else { return };
        let read = |file: &str| fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let texts = ["cmdline", "environ"].map(|file| (file, read(file)));
        // It may have become another program in between.
        if program_of(pid).as_ref() != Some(&program) {
            return;
        }
        let line = String::from_utf8_lossy(&texts[0].1).replace('\0', " ");
        for (file, bytes) in &texts {
            let text = String::from_utf8_lossy(bytes);
            for value in values.iter().filter(|value| text.contains(value.as_str())) {
                let (program, line) = (program.clone(), line.clone());
                self.sights.insert(Sight { program, file, value: value.clone(), line });
            }
        }
        *self.programs.entry(program).or_default() += 1;
    }
}

fn program_of(pid: &str) -> Option<String> {
    let path = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    Some(path.file_name()?.to_string_lossy().into_owned())
}

fn numbers() -> impl Iterator<Item = String> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
}
