//! `opal watch TASK`: runs a task, and again after each change of a file.
//!
//! Each round is a process of its own, `opal run TASK`, so a round that is stopped cleans up as any run
//! does that gets a signal, and every round reads everything afresh. Here only files are checked.
//!
//! | what | where |
//! |---|---|
//! | which files count | `field` |
//! | the words of a round, and its process | `round` |
//! | rounds that the task itself causes | `own` |

mod field;
mod own;
mod round;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use opal_core::action::Why;
use opal_ops::planning::Subject;
use opal_session::stop::Order;
use opal_session::watching::{self, Change, Snapshot, Watcher};

use super::plan::trust::{self, DirectRun};
use super::{command_line, task};
use crate::context::Context;
use crate::counting::Letter;
use crate::failure::{Exit, Failure};
use crate::options::Asked;
use crate::signals::Watched;
use crate::verb::Verb;
use crate::view;
use clap::ArgMatches;
use field::Area;
use own::Own;
use round::{Round, Words};

/// A change counts once nothing has changed for so long, and at the latest after the other.
const QUIET: Duration = Duration::from_millis(50);
const LATEST: Duration = Duration::from_millis(500);

/// How often a round and signals are asked about.
const TICK: Duration = Duration::from_millis(10);

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    task::typed(context, matches, Verb::Watch)
}

/// Runs `subject` again and again.
pub(crate) fn watch(
    context: &Context<'_>,
    subject: &Subject<'_>,
    asked: &Asked,
) -> Result<Exit, Failure> {
    asked.for_run()?;
    if asked.plan.dry_run {
        return Err(Failure::usage(
            "`--dry-run` has no effect on `opal watch`, which runs the task",
            "omit it, or show the plan once: `opal TASK --dry-run`",
        ));
    }
    if let Some(option) = asked.run.of_a_source().filter(|option| *option != "--verify-first") {
        return Err(Failure::usage(
            format!("`{option}` has no effect on `opal watch`, which runs the whole task"),
            "omit it",
        ));
    }
    let name = subject.function.clone().unwrap_or_else(|| subject.loaded.name.clone());
    let again = command_line::plan(context, subject);
    // Each round is checked with its plan, too.
    let run = DirectRun { target: &name, functions: &BTreeSet::new(), words: &again };
    trust::may_run_directly(context, &asked.plan, &subject.loaded.policed(), run)?;
    let area = Area::of(context, subject, asked)?;
    area.may_run(asked)?;
    let watched = Watched::begin()?;
    watched.stop().attend();
    let letter = Letter::new();
    let mut session = Session {
        words: Words::of(context, subject, letter.path()),
        letter,
        context,
        subject,
        asked,
        area,
        watched: &watched,
        before: Snapshot::default(),
        watcher: Watcher::new(),
        own: Own::default(),
        is_due: false,
        late: BTreeSet::new(),
        is_repeated: false,
    };
    session.run()
}

/// One call of `opal watch`.
struct Session<'s> {
    context: &'s Context<'s>,
    subject: &'s Subject<'s>,
    asked: &'s Asked,
    area: Area,
    watched: &'s Watched,
    words: Words,
    /// In which a round says which files count.
    letter: Letter,
    /// The baseline: what was seen before the last round read anything.
    before: Snapshot,
    watcher: Watcher,
    own: Own,
    /// Whether the files are to be checked although nobody tells of a change.
    is_due: bool,
    /// Files that began to count during the round, and may have changed after the round read them.
    late: BTreeSet<Box<str>>,
    /// Whether only such files have started the round.
    is_repeated: bool,
}

/// What follows a round.
enum Next {
    /// Another one, where something has changed by its end.
    Changed(Vec<Change>),
    End(Exit),
}

impl Session<'_> {
    fn run(&mut self) -> Result<Exit, Failure> {
        loop {
            self.renew()?;
            let round = match self.area.may_run(self.asked) {
                Ok(()) => Some(self.begin()?),
                // Said, and gone on with the next change.
                Err(failure) => {
                    view::watch::failure(&failure, self.context.err());
                    None
                }
            };
            let changes = match round {
                Some(round) => match self.attend(round)? {
                    Next::Changed(changes) => changes,
                    Next::End(exit) => return Ok(exit),
                },
                None => Vec::new(),
            };
            let changes = match changes.is_empty() {
                true => {
                    let count = self.before.files.len();
                    view::watch::waiting(count, self.watcher.polls(), self.context.err());
                    match self.wait()? {
                        Some(changes) => changes,
                        None => return Ok(self.interrupted()),
                    }
                }
                false => changes,
            };
            if let Some(files) = self.own.caused(&changes, Instant::now()) {
                // What changes after the words counts.
                self.before = self.snapshot()?;
                view::watch::paused(&files, self.context.err());
                match self.wait()? {
                    Some(changes) => view::watch::changed(&changes, self.context.err()),
                    None => return Ok(self.interrupted()),
                }
                continue;
            }
            view::watch::changed(&changes, self.context.err());
            self.is_repeated = changes.iter().all(|change| self.late.contains(&change.name));
        }
    }

    /// Prepares a round. The baseline is taken before anything is read that decides about the round, so
    /// that every later change starts another one.
    fn renew(&mut self) -> Result<(), Failure> {
        self.before = self.snapshot()?;
        self.late.clear();
        let area = self.area.renewed(self.context, self.subject, self.asked);
        self.adopt(area)
    }

    /// Watches another area from the baseline on.
    fn adopt(&mut self, area: Area) -> Result<(), Failure> {
        if area == self.area {
            return Ok(());
        }
        let (old, new) = (self.area.snapshot(&self.before)?, area.snapshot(&self.before)?);
        let (mut before, mut late) = std::mem::take(&mut self.before).moved(&old, new);
        // A task that reads another new file in each round would never come to an end.
        if self.is_repeated {
            before.files.append(&mut late);
        }
        self.before = before;
        self.late.extend(late.into_keys());
        self.area = area;
        self.watcher.follow(&self.before.directories);
        // Nobody has told of changes in a directory that was not followed.
        self.is_due = true;
        Ok(())
    }

    fn begin(&self) -> Result<Round, Failure> {
        // Where that is not possible, the quick plan alone says which files count.
        let _ = self.letter.open();
        Round::begin(&self.words)
    }

    /// Takes what the round says of the files that count; whether it has said it.
    fn learn(&mut self) -> Result<bool, Failure> {
        let Some(said) = self.letter.read() else { return Ok(false) };
        self.adopt(self.area.learned(said))?;
        Ok(true)
    }

    /// Waits for the end of a round, whatever happens: where the files can no longer be compared, it is
    /// stopped first.
    fn attend(&mut self, mut round: Round) -> Result<Next, Failure> {
        let attended = self.follow(&mut round);
        if attended.is_err() {
            round.tell(Some(Why::Cancelled));
            // Why it is stopped is what counts.
            let _ = round.wait();
            self.letter.remove();
        }
        attended
    }

    /// Waits for the end of a round. A change stops it, or waits for it too.
    fn follow(&mut self, round: &mut Round) -> Result<Next, Failure> {
        let began = watching::now();
        let mut changes = Vec::new();
        let mut checked = Instant::now();
        let mut has_learned = false;
        let ended = loop {
            let ended = round.ended()?;
            if !has_learned {
                has_learned = self.learn()?;
            }
            if let Some(code) = ended {
                break code;
            }
            if self.watched.stop().order() != Order::GoOn {
                round.tell(self.watched.stop().why());
                let code = round.wait()?;
                return Ok(Next::End(self.ended(code)));
            }
            if self.words.queues || !changes.is_empty() {
                std::thread::sleep(TICK);
            } else if std::mem::take(&mut self.is_due) || self.stirs(&mut checked) {
                changes = self.changes()?;
                if !changes.is_empty() {
                    round.tell(Some(Why::Cancelled));
                }
            }
        };
        self.letter.remove();
        self.own.ran(began, watching::now());
        // Who presses Ctrl+C means all of it, and only the round may have heard of it.
        if ended == round::INTERRUPTED && changes.is_empty() {
            return Ok(Next::End(Exit::Step(ended)));
        }
        Ok(Next::Changed(changes))
    }

    /// Waits for a change; none where a signal came before.
    fn wait(&mut self) -> Result<Option<Vec<Change>>, Failure> {
        let mut checked = Instant::now();
        // Something may have changed while nobody waited.
        self.is_due = true;
        loop {
            if self.watched.stop().order() != Order::GoOn {
                return Ok(None);
            }
            let is_due = std::mem::take(&mut self.is_due);
            if is_due || self.stirs(&mut checked) {
                let changes = self.changes()?;
                if !changes.is_empty() {
                    if is_due {
                        self.settle();
                    }
                    return Ok(Some(changes));
                }
            }
        }
    }

    /// Whether it is time to check the files.
    fn stirs(&self, checked: &mut Instant) -> bool {
        let is_time = self.watcher.pause().is_some_and(|pause| checked.elapsed() >= pause);
        if !self.watcher.stirs(TICK) && !is_time {
            return false;
        }
        self.settle();
        *checked = Instant::now();
        true
    }

    /// Waits until nothing changes any more.
    fn settle(&self) {
        let since = Instant::now();
        while since.elapsed() < LATEST && self.watcher.stirs(QUIET) {}
    }

    /// What is not as it was before the last round.
    fn changes(&mut self) -> Result<Vec<Change>, Failure> {
        let now = self.snapshot()?;
        Ok(self.before.changes(&now))
    }

    /// Reads all files, and follows where they are. What happens from then on is told.
    fn snapshot(&mut self) -> Result<Snapshot, Failure> {
        loop {
            let now = self.area.snapshot(&self.before)?;
            if !self.watcher.follow(&now.directories) {
                return Ok(now);
            }
        }
    }

    fn interrupted(&self) -> Exit {
        self.watched.exit().unwrap_or(Exit::Done)
    }

    fn ended(&self, code: u8) -> Exit {
        self.watched.exit().unwrap_or(Exit::Step(code))
    }
}
