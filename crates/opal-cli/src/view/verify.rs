//! What a look at resources has found: `opal verify`, `--verify-first` and `--dry-run`.
//!
//! | what | where |
//! |---|---|
//! | one row a step, and the counts | here |
//! | what would change | `changes` |
//! | differences, line by line | `difference` |
//! | as one JSON document | `document` |
//! | a sign of life while it takes long | `progress` |

mod changes;
mod difference;
mod document;
mod progress;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use opal_core::message::counted;
use opal_core::resource::Status;
use opal_exec::verify::Report;
use opal_vault::Shown;
use opal_vault::verification::{Blocked, ShownDetails, Verification};

use super::diagnostics::visible;
use super::ink::Ink;
use super::run::time;
use super::table::Table;
use super::{print, print_json, say};
use crate::failure::{Exit, Failure};
use crate::options::Asked;

pub(crate) use changes::{Preview, preview};
pub(crate) use difference::{bounded, whole};
pub(crate) use document::of as document;
pub(crate) use progress::Progress;

/// How the differences of a verification are read, and those of an apply.
const LEGEND_OF_A_REPORT: &str =
    "differences: lines with `-` are expected, lines with `+` are actual";
const LEGEND_OF_CHANGES: &str =
    "differences: lines with `-` are removed, lines with `+` are written";

/// What `opal verify` has found.
#[derive(Debug)]
pub(crate) struct Findings<'a> {
    /// The source, as the user knows it.
    pub(crate) file: &'a str,
    pub(crate) report: &'a Report,
    /// Steps that describe nothing.
    pub(crate) others: usize,
    /// Not all were asked for.
    pub(crate) is_part: bool,
    /// The words that bring it about.
    pub(crate) apply_command: &'a str,
}

pub(crate) fn show(findings: &Findings<'_>, asked: &Asked, ink: Ink) -> Result<Exit, Failure> {
    if asked.plan.is_json() {
        return print_json(&document::of(findings.file, findings.report, None));
    }
    print(&human(findings, asked.run.verbose, ink))
}

/// What was found before the first step of a run.
pub(crate) fn first(report: &Report, asked: &Asked, ink: Ink) {
    if asked.run.quiet {
        return;
    }
    let mut out = format!("{}\n", summary(report, Paint(ink.colour)));
    let satisfied = report.verifications.iter().filter(|it| it.status == Status::Satisfied);
    let skipped: Vec<String> = satisfied.map(title_of).collect();
    if !skipped.is_empty() {
        let names = skipped.join(", ");
        let _ = writeln!(out, "will be skipped, unless an earlier step changes it: {names}");
    }
    say(&out);
}

fn human(findings: &Findings<'_>, verbose: bool, ink: Ink) -> String {
    let (report, paint) = (findings.report, Paint(ink.colour));
    if report.verifications.is_empty() {
        let (file, others) = (visible(findings.file), left_alone(findings.others));
        return format!(
            "nothing to verify: no step of this plan in {file} describes a state\n{others}"
        );
    }
    let mut out = table(&report.verifications, paint);
    if verbose {
        if report.verifications.iter().any(has_diff) {
            let _ = write!(out, "\n{LEGEND_OF_A_REPORT}\n");
        }
        report.verifications.iter().for_each(|found| details(found, paint, &mut out));
    }
    let _ = write!(out, "\n{}\n", summary(report, paint));
    if !findings.is_part {
        out.push_str(&left_alone(findings.others));
    }
    out.push_str(&next(findings, verbose));
    out
}

fn table(all: &[Verification], paint: Paint) -> String {
    let head = ["", TARGET, "STEP", "STATUS", "TOOK", "MESSAGE"];
    let mut table = Table::new(head).optional(TARGET);
    for found in all {
        let Verification { status, message, took, .. } = found;
        table.row([
            paint.status(*status, symbol(*status)),
            target_of(found),
            name_of(found),
            paint.status(*status, status.name()),
            time(*took),
            visible(&message.text()),
        ]);
    }
    table.finish(|head| paint.code("2", head))
}

/// The head of the column that says where; there is none where all is on opal's machine.
const TARGET: &str = "TARGET";

fn target_of(found: &Verification) -> String {
    found.target.as_deref().map(visible).unwrap_or_default()
}

/// What a step is called where there is no column for its target.
fn title_of(found: &Verification) -> String {
    match &found.target {
        Some(target) => format!("{} on {}", name_of(found), visible(target)),
        None => name_of(found),
    }
}

/// `conf`, or `conf (Web server)` where the step has a name.
fn name_of(found: &Verification) -> String {
    let id = visible(&found.id);
    match &found.name {
        Some(name) => format!("{id} ({})", visible(&name.text())),
        None => id,
    }
}

/// Whether there is a difference to show line by line.
fn has_diff(found: &Verification) -> bool {
    found.details.as_ref().is_some_and(ShownDetails::has_diff)
}

/// What there is to say about a step in several lines.
fn details(found: &Verification, paint: Paint, out: &mut String) {
    // Of one that a prerequisite blocks, only what its own verification reports.
    let has_more = |it: &&Blocked| !it.by_prerequisite || it.help.len() > 1;
    let blocked = found.blocked.as_ref().filter(has_more);
    if found.details.is_none() && blocked.is_none() {
        return;
    }
    let (name, key) = (title_of(found), visible(&found.key.text()));
    // An object of the world is called by its key.
    let key = if key == name { String::new() } else { format!(", {key}") };
    let _ = writeln!(out, "\n{}: {}{key}", paint.code("1", &name), found.status.name());
    if let Some(details) = &found.details {
        out.push_str(&whole(details, paint.0));
    }
    let help = blocked.map_or(&[][..], |blocked| &blocked.help);
    let help = found.refusal.as_ref().map_or(help, |refusal| {
        let error = visible(&refusal.error.text());
        let _ = writeln!(out, "  apply will not fix it: {error}");
        &refusal.help
    });
    help_lines(help, paint, out);
}

fn help_lines(help: &[Shown<'_>], paint: Paint, out: &mut String) {
    for help in help {
        let _ = writeln!(out, "  {}: {}", paint.code("1;32", "help"), visible(&help.text()));
    }
}

/// `4 resources: 2 satisfied, 1 missing, 1 drifted in 12ms`.
/// The same without colours.
pub(crate) fn summary_line(report: &Report) -> String {
    summary(report, Paint(false))
}

fn summary(report: &Report, paint: Paint) -> String {
    let all = &report.verifications;
    let counts = Status::ALL.into_iter().filter_map(|status| {
        let count = all.iter().filter(|found| found.status == status).count();
        (count > 0).then(|| paint.status(status, &format!("{count} {}", status.name())))
    });
    let counts = counts.collect::<Vec<_>>().join(", ");
    let counts = if counts.is_empty() { String::new() } else { format!(": {counts}") };
    format!("{}{counts} in {}", counted(all.len(), "resource"), time(report.took))
}

/// Steps that are not looked at.
fn left_alone(others: usize) -> String {
    match others {
        0 => String::new(),
        1 => "1 more step only acts: it is not verified\n".to_owned(),
        _ => format!("{others} more steps only act: they are not verified\n"),
    }
}

/// What to type next.
fn next(findings: &Findings<'_>, verbose: bool) -> String {
    let all = &findings.report.verifications;
    let has = |status| all.iter().any(|found| found.status == status);
    let own = all.iter().filter_map(|found| found.blocked.as_ref());
    let is_blocked = own.into_iter().any(|blocked| !blocked.by_prerequisite);
    let mut out = String::new();
    if all.iter().all(|found| found.status == Status::Satisfied) {
        return "everything is in the desired state\n".to_owned();
    }
    if has(Status::Missing) || has(Status::Drifted) {
        let _ = writeln!(
            out,
            "to apply what is not in the desired state: `{}`",
            visible(findings.apply_command)
        );
    }
    if !verbose && has(Status::Drifted) {
        out.push_str("to see the differences: `--verbose`\n");
    }
    if is_blocked {
        out.push_str("blocked resources stay blocked until the reason is fixed");
        out.push_str(if verbose { "\n" } else { "; `--verbose` shows how\n" });
    }
    out
}

/// One character for each status.
pub(super) fn symbol(status: Status) -> &'static str {
    match status {
        Status::Satisfied => "✓",
        Status::Missing => "+",
        Status::Drifted => "~",
        Status::Blocked => "✗",
        Status::Unknown => "?",
    }
}

/// Colours, where they are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint(pub(super) bool);

impl Paint {
    pub(super) fn code(self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub(super) fn status(self, status: Status, text: &str) -> String {
        let code = match status {
            Status::Satisfied => "32",
            Status::Missing | Status::Drifted => "33",
            Status::Blocked => "31",
            Status::Unknown => "36",
        };
        self.code(code, text)
    }
}
