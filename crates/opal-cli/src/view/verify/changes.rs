//! What an apply would change.

use std::fmt::Write as _;

use opal_exec::verify::Report;
use opal_vault::verification::Verification;

use super::{
    LEGEND_OF_CHANGES, Paint, TARGET, document, has_diff, help_lines, left_alone, name_of,
    target_of, title_of, whole,
};
use crate::failure::{Exit, Failure};
use crate::options::Asked;
use crate::view::diagnostics::visible;
use crate::view::ink::Ink;
use crate::view::table::Table;
use crate::view::{print, print_json};
use opal_ops::preview::Effect;

/// What a dry run has found.
#[derive(Debug)]
pub(crate) struct Preview<'a> {
    /// The source, as the user knows it.
    pub(crate) file: &'a str,
    pub(crate) report: &'a Report,
    /// In the order of the report.
    pub(crate) effects: &'a [Effect],
    /// Steps that describe nothing: they would run.
    pub(crate) others: usize,
}

pub(crate) fn preview(preview: &Preview<'_>, asked: &Asked, ink: Ink) -> Result<Exit, Failure> {
    if asked.plan.is_json() {
        return print_json(&document::of(preview.file, preview.report, Some(preview.effects)));
    }
    print(&human(preview, ink))
}

pub(super) fn human(preview: &Preview<'_>, ink: Ink) -> String {
    let (all, paint) = (&preview.report.verifications, Paint(ink.colour));
    if all.is_empty() {
        return format!("no step describes a state\n{}", left_alone(preview.others));
    }
    let mut table = Table::new(["", TARGET, "STEP", "WOULD", "WHY"]).optional(TARGET);
    for (found, effect) in all.iter().zip(preview.effects) {
        table.row([
            paint.code(code(*effect), symbol(*effect)),
            target_of(found),
            name_of(found),
            paint.code(code(*effect), effect.name()),
            visible(&found.message.text()),
        ]);
    }
    let mut out = table.finish(|head| paint.code("2", head));
    if all.iter().any(has_diff) {
        let _ = write!(out, "\n{LEGEND_OF_CHANGES}\n");
    }
    for (found, effect) in all.iter().zip(preview.effects) {
        details(found, *effect, paint, &mut out);
    }
    let counts = Effect::ALL.into_iter().filter_map(|effect| {
        let count = preview.effects.iter().filter(|it| **it == effect).count();
        (count > 0).then(|| paint.code(code(effect), &format!("{count} {}", words(effect))))
    });
    let _ = write!(out, "\nnothing was changed: {}\n", counts.collect::<Vec<_>>().join(", "));
    match preview.others {
        0 => {}
        1 => out.push_str("1 more step only acts: it would run\n"),
        others => {
            let _ = writeln!(out, "{others} more steps only act: they would run");
        }
    }
    out
}

fn details(found: &Verification, effect: Effect, paint: Paint, out: &mut String) {
    let id = paint.code("1", &title_of(found));
    match &found.details {
        Some(details) => {
            let _ = writeln!(out, "\n{id}: {}", found.status.name());
            out.push_str(&whole(details, paint.0));
        }
        // Of a command there is no difference to show, but what it runs.
        None if matches!(effect, Effect::Create | Effect::Correct | Effect::Run)
            && *found.key.text() != *found.id =>
        {
            let (status, key) = (found.status.name(), visible(&found.key.text()));
            let _ = writeln!(out, "\n{id}: {status}, {key}");
        }
        None => {}
    }
    let blocked =
        found.blocked.as_ref().filter(|it| effect == Effect::Blocked && !it.by_prerequisite);
    if let Some(blocked) = blocked.filter(|blocked| !blocked.help.is_empty()) {
        let _ = writeln!(out, "\n{id}: {}", visible(&blocked.error.text()));
        help_lines(&blocked.help, paint, out);
    }
    if let Some(refusal) = &found.refusal {
        let _ = writeln!(out, "\n{id}: {}", visible(&refusal.error.text()));
        help_lines(&refusal.help, paint, out);
    }
}

fn symbol(effect: Effect) -> &'static str {
    match effect {
        Effect::Skip => "=",
        Effect::Create => "+",
        Effect::Correct => "~",
        Effect::Run => "▸",
        Effect::Open => "?",
        Effect::Wait => "…",
        Effect::Blocked => "✗",
    }
}

fn words(effect: Effect) -> &'static str {
    match effect {
        Effect::Skip => "already satisfied",
        Effect::Create => "to create",
        Effect::Correct => "to correct",
        Effect::Run => "to run",
        Effect::Open => "deferred",
        Effect::Wait => "waiting for others",
        Effect::Blocked => "blocked",
    }
}

fn code(effect: Effect) -> &'static str {
    match effect {
        Effect::Skip => "2",
        Effect::Create => "32",
        Effect::Correct => "33",
        Effect::Run | Effect::Open | Effect::Wait => "36",
        Effect::Blocked => "31",
    }
}
