//! The page of a run or a verification.

use maud::{Markup, html};
use opal_core::resource::Status;
use opal_vault::targets::{FleetTable, TargetEnd};

use crate::colours;
use crate::frame;
use crate::printed::Printed;
use crate::report::{Case, Check, Outcome, Report, target_step};
use crate::text::{head, line, lines};
use crate::timeline::{self, Scale};
use opal_core::duration::rounded as time;

/// The whole page.
#[must_use]
pub fn document(report: &Report) -> String {
    let title = format!("{}: {}", line(&report.name), line(&report.status));
    frame::document(&title, &body(report))
}

fn body(report: &Report) -> Markup {
    let class = if report.is_good { "good" } else { "bad" };
    let scale = Scale::of(report);
    html! {
        h1 { code { (line(&report.name)) } ": " span class=(class) { (line(&report.status)) } }
        p { (line(&report.summary)) }
        @if let Some(trouble) = &report.trouble { p.trouble { (line(trouble)) } }
        (frame::facts(&report.facts))
        @if !report.fleets.is_empty() {
            h2 { "Targets" }
            @for fleet in &report.fleets { (targets(fleet)) }
        }
        (timeline::section(report, scale))
        @if !report.cases.is_empty() {
            h2 { "Steps" }
            @for case in &report.cases { (step(case, scale)) }
        }
        @if let Some(plan) = &report.plan {
            h2 { "Plan" }
            details { summary { "Show the plan" } pre { (lines(plan)) } }
        }
    }
}

fn targets(fleet: &FleetTable) -> Markup {
    let class = |end: TargetEnd| match end {
        TargetEnd::Ok => "good",
        TargetEnd::Failed | TargetEnd::Unreachable | TargetEnd::Lost => "bad",
        TargetEnd::Skipped | TargetEnd::Stopped => "skip",
    };
    html! {
        table {
            tr { th { "target" } th { "status" } th { "step" } th { "code" } th { "time" } }
            @for row in &fleet.rows {
                tr {
                    td { (line(&row.name)) }
                    td class=(class(row.end)) { (row.end.name()) }
                    td { @if let Some(step) = target_step(row) { code { (head(&step)) } } }
                    td { @if let Some(code) = row.code { (code) } }
                    td { @if let Some(took) = row.took { (time(took)) } }
                }
            }
        }
    }
}

fn step(case: &Case, scale: Scale) -> Markup {
    let has_more = case.message.is_some() || !case.checks.is_empty() || !case.printed.is_empty();
    if !has_more {
        return html! { div.step { div.row { (row(case, scale)) } } };
    }
    html! {
        details.step open[case.is_bad()] {
            summary.row { (row(case, scale)) }
            div.more {
                p.path {
                    (line(&case.path))
                    @if let Some((file, number)) = &case.place { " – " (line(file)) ":" (number) }
                }
                @if case.text.trim().lines().nth(1).is_some() { pre { (lines(case.text.trim())) } }
                @if let Some(message) = &case.message { p { (line(message)) } }
                @for check in &case.checks { (verification(check, case)) }
                @if !case.printed.is_empty() { (printed(&case.printed)) }
            }
        }
    }
}

fn row(case: &Case, scale: Scale) -> Markup {
    let (class, sign) = match case.outcome {
        Outcome::Passed => ("s good", "✓"),
        Outcome::Failed | Outcome::Error => ("s bad", "✗"),
        Outcome::Skipped => ("s skip", "–"),
    };
    html! {
        span class=(class) { (sign) " " (case.status) }
        code { (head(&case.name())) }
        (scale.bars(case))
        span.took { @if !case.spans.is_empty() { (time(case.took())) } }
    }
}

/// What a verification found: its status, its words unless the case has them, and what differs.
fn verification(check: &Check, case: &Case) -> Markup {
    let class = if check.status == Status::Satisfied { "good" } else { "bad" };
    let message = case.message.as_ref() != Some(&check.message) && !check.message.is_empty();
    html! {
        p { span class=(class) { (check.status.name()) } @if message { ": " (line(&check.message)) } }
        @if let Some(details) = &check.details {
            pre { @for text in details.lines() {
                @let class = side(text);
                @if class.is_empty() { (lines(text)) } @else { span class=(class) { (lines(text)) } }
                "\n"
            } }
        }
    }
}

/// The colour of a line. It decides about nothing else: what begins like this may be content.
fn side(text: &str) -> &'static str {
    match text.as_bytes().first() {
        Some(b'+') => "c2",
        Some(b'-') => "c1",
        Some(b'@') => "d",
        _ => "",
    }
}

/// The first and the last lines.
fn printed(printed: &Printed) -> Markup {
    let [first, last] = printed.parts().map(colours::lines);
    html! {
        pre {
            @for line in &first { (frame::coloured(line)) "\n" }
            @if printed.left_out() > 0 {
                span.cut { "… " (printed.left_out()) " more lines …" } "\n"
            }
            @for line in &last { (frame::coloured(line)) "\n" }
        }
    }
}
