//! The last words about a run: what it came to, and after a failure what to know and to type.

use std::path::Path;
use std::time::Duration;

use opal_core::message::{Message, counted};
use opal_core::view::visible;
use opal_vault::event::{Counts, Status};
use opal_vault::targets::FleetTable;

use opal_exec::execute::FailedStep;
use opal_vault::Vault;

use super::super::ink::Ink;
use super::words;

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    pub(crate) status: Status,
    /// What opal ends with.
    pub(crate) code: i32,
    pub(crate) took: Duration,
    pub(crate) steps: Counts,
    /// How the targets of its fleets ended.
    pub(crate) fleets: &'a [FleetTable],
    /// None where no step is to blame.
    pub(crate) failed: Option<Failed<'a>>,
    /// Steps that failed as well, in other branches or while cleaning up, and how many more there
    /// were.
    pub(crate) beside: Vec<Failed<'a>>,
    pub(crate) more: usize,
    /// The keys of values that were hidden, though nobody declared them secret.
    pub(crate) hidden: &'a [Box<str>],
    /// The steps that were at work when the time of the run was over.
    pub(crate) late: &'a [Box<str>],
    /// What to type to go on: `opal deploy prod --resume`.
    pub(crate) resume: Option<&'a str>,
    /// What that does on the targets of a fleet: `continues web2 and starts web3`.
    pub(crate) resumption: Option<String>,
    /// Something in it is a value, and hidden.
    pub(crate) is_resume_hidden: bool,
    pub(crate) record: Option<&'a Path>,
}

/// The step that ended a run.
#[derive(Debug)]
pub(crate) struct Failed<'a> {
    /// Of its start; none where it never started.
    pub(crate) number: Option<u64>,
    /// Its own, or that of the only step in it, where that may be shown.
    pub(crate) id: Option<&'a str>,
    pub(crate) path: &'a str,
    pub(crate) decorator: &'a str,
    pub(crate) code: i32,
    /// As the plan shows it, with placeholders.
    pub(crate) text: String,
    /// What opal itself has to say about it, and what to do.
    pub(crate) message: Option<String>,
    pub(crate) help: Vec<String>,
    /// Where it stands: a file, and a line from 1.
    pub(crate) place: Option<(String, u32)>,
}

impl<'a> Failed<'a> {
    pub(crate) fn of(
        step: &'a FailedStep,
        id: Option<&'a str>,
        decorator: &'a str,
        place: Option<(String, u32)>,
        vault: &Vault,
    ) -> Self {
        let trouble = step.trouble.as_ref();
        let shown = |text: &Message| vault.scrub(text).text().into_owned();
        Self {
            number: step.number,
            id,
            path: &step.path,
            decorator,
            code: step.code,
            text: step.text.text().into_owned(),
            message: trouble.map(|trouble| shown(&trouble.message)),
            help: trouble.map(|it| it.help.iter().map(shown).collect()).unwrap_or_default(),
            place,
        }
    }

    /// `deploy.opl:12`.
    fn placed(&self) -> Option<String> {
        self.place.as_ref().map(|(file, line)| format!("{}:{line}", visible::line(file)))
    }

    /// By what people call it.
    pub(super) fn name(&self) -> &'a str {
        self.id.unwrap_or(self.path)
    }
}

/// What a run ends with that took too long.
const TIME_IS_OVER: i32 = 124;

/// Steps that are named of those that took too long.
const MAX_LATE: usize = 3;

/// Of the command of a step that failed beside another.
const MAX_BESIDE_COLUMNS: usize = 60;

/// What there is to know about a run that did not come to its end. `tail` are the last lines of the
/// step, where they are no longer in sight.
pub(super) fn failure(report: &Report<'_>, tail: &[String], ink: Ink) -> Option<String> {
    let mut lines = Vec::new();
    // Where the run timed out, the steps that took too long are named for it.
    let failed = report.failed.as_ref().filter(|_| report.late.is_empty());
    if let Some(failed) = failed {
        // Deeper than the rows below, so that no line of a value can be taken for one of them.
        let headline = headline(failed).replace('\n', "\n    ");
        lines.push(format!("{}: {headline}", ink.error("error")));
    } else if report.code == TIME_IS_OVER {
        lines.push(format!("{}: the run timed out", ink.error("error")));
    } else if report.status == Status::Interrupted {
        lines.push(format!("{}: the run was interrupted", ink.error("error")));
    }
    if let Some(place) = report.failed.as_ref().and_then(Failed::placed) {
        lines.push(format!("  {} {place}", ink.mark("-->")));
    }
    let mut row = |label: &str, text: &str| {
        let text = visible::lines(text).replace('\n', "\n    ");
        let gap = if text.starts_with('\n') { "" } else { " " };
        lines.push(format!("  {}:{gap}{text}", ink.label(label)));
    };
    report.late.iter().take(MAX_LATE).for_each(|name| row("took too long", name));
    if let Some(failed) = failed {
        match failed.id {
            Some(id) => row("step", &format!("{id} ({})", failed.path)),
            None => row("step", failed.path),
        }
    }
    if let Some(failed) = &report.failed {
        row("command", &words::shortened(failed.text.trim()));
        if failed.message.is_some() {
            row("exit code", &failed.code.to_string());
        }
        if !tail.is_empty() {
            let tail: Vec<String> = tail.iter().map(|line| format!("| {line}")).collect();
            row("last lines", &format!("\n{}", tail.join("\n")));
        }
        failed.help.iter().for_each(|help| row("help", help));
    }
    report.beside.iter().for_each(|failed| row("also failed", &beside(failed)));
    if report.more > 0 {
        row("also failed", &format!("… and {}", counted(report.more, "more step")));
    }
    if let Some(resume) = report.resume {
        let hidden = match report.is_resume_hidden {
            true => ", and fill in the hidden values",
            false => "",
        };
        row(
            "help",
            &match &report.resumption {
                Some(what) => format!("`{resume}` {what}{hidden}"),
                None => format!("to continue from there, run `{resume}`{hidden}"),
            },
        );
    }
    // Nothing has failed but the record itself, which has its own error.
    let is_own =
        report.status == Status::Failed && report.failed.is_none() && report.late.is_empty();
    if let Some(record) = report.record.filter(|_| !is_own) {
        row("record", &record.display().to_string());
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// What went wrong, in one sentence.
pub(crate) fn headline(failed: &Failed<'_>) -> String {
    match &failed.message {
        Some(message) => visible::lines(message),
        None => format!("a step {}", words::ending(failed.code)),
    }
}

/// A failure beside the one that a run is reported with.
fn beside(failed: &Failed<'_>) -> String {
    let text = visible::line(failed.text.trim());
    let text = words::cut(&text, MAX_BESIDE_COLUMNS);
    let why = failed.message.clone().unwrap_or_else(|| words::ending(failed.code));
    let place = failed.placed().map(|place| format!(" ({place})")).unwrap_or_default();
    let name = failed.name();
    // The line of a resource begins with its name.
    let is_named = |rest: &str| rest.starts_with(": ") || rest.starts_with(" (");
    let name = match text.strip_prefix(name).is_some_and(is_named) {
        true => String::new(),
        false => format!("{name}: "),
    };
    format!("{name}{text}: {}{place}", visible::line(&why))
}

/// Hidden values that are named.
const MAX_HIDDEN: usize = 5;

/// What was hidden without anybody having declared it secret, and how to see it.
pub(super) fn hidden(report: &Report<'_>, ink: Ink) -> Option<String> {
    let named = report.hidden.iter().take(MAX_HIDDEN);
    let names: Vec<String> = named.map(|key| format!("`@{}`", visible::line(key))).collect();
    let more = match report.hidden.len().saturating_sub(MAX_HIDDEN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let way = match report.hidden {
        [] => return None,
        [_] => "to show it, declare it with `public=true`",
        _ => "to show one, declare it with `public=true`",
    };
    let label = ink.label("hidden in the output");
    Some(format!("{label}: {}{more}; {way}", names.join(", ")))
}

/// `done: 4 steps in 2.3s`. A run that is done says how many steps ran, and then how many of them
/// did not just succeed; one that is not says how many did.
pub(super) fn closing(report: &Report<'_>, ink: Ink) -> String {
    let label = match report.status {
        Status::Executed | Status::Drifted => ink.good("done"),
        Status::Interrupted => ink.error("interrupted"),
        _ => ink.error("failed"),
    };
    format!("{label}: {}", came_to(report))
}

/// `4 steps, 1 failed in 2.3s`.
pub(crate) fn came_to(report: &Report<'_>) -> String {
    in_counts(report.status, report.steps, report.took)
}

/// What the steps of a run came to.
pub(crate) fn in_counts(status: Status, steps: Counts, took: Duration) -> String {
    let took = words::time(took);
    let Counts { done, satisfied, caught, failed, stopped, .. } = steps;
    let mut counts = vec![match status {
        Status::Executed | Status::Drifted => {
            counted(count(done + satisfied + caught + failed + stopped), "step")
        }
        _ => format!("{} done", counted(count(done), "step")),
    }];
    for (count, what) in [
        (steps.satisfied, "already satisfied"),
        (steps.failed, "failed"),
        (
            steps.caught,
            if steps.caught == 1 { "failed and was caught" } else { "failed and were caught" },
        ),
        (steps.stopped, "stopped"),
        (steps.skipped, "skipped"),
    ] {
        if count > 0 {
            counts.push(format!("{count} {what}"));
        }
    }
    format!("{} in {took}", counts.join(", "))
}

fn count(steps: u64) -> usize {
    usize::try_from(steps).unwrap_or(usize::MAX)
}

/// A step and its time.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) path: String,
    pub(super) text: String,
    pub(super) took: Duration,
}

/// How long each step took, the longest marked.
pub(super) fn timings(taken: &[Taken], left_out: usize) -> String {
    let longest = taken.iter().map(|step| step.took).max();
    let path_width = taken.iter().map(|step| step.path.chars().count()).max().unwrap_or(0);
    let mut lines = vec!["timings:".to_owned()];
    lines.extend(taken.iter().map(|step| {
        let mark = if Some(step.took) == longest { '*' } else { ' ' };
        let (took, path) = (words::time(step.took), &step.path);
        let text = words::cut(&step.text, 60);
        format!("{mark} {took:>7}  {path:path_width$}  {text}").trim_end().to_owned()
    }));
    if left_out > 0 {
        lines.push(format!("  … and {} more", counted(left_out, "step")));
    }
    lines.join("\n")
}
