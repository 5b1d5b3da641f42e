//! One HTML file: no script, no request, and a policy of its own that forbids both.

use std::time::Duration;

use base64ct::{Base64, Encoding as _};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use opal_core::hash::Algorithm;
use opal_vault::targets::{FleetTable, TargetEnd};

use crate::colours;
use crate::printed::Printed;
use crate::report::{Case, Outcome, Report, target_step};
use crate::text::{head, line, lines};
use opal_core::duration::rounded as time;

const STYLE: &str = include_str!("page.css");

/// Units of the timeline.
const UNITS: u128 = 1_000;

/// The whole page.
#[must_use]
pub fn document(report: &Report) -> String {
    let digest = Base64::encode_string(&Algorithm::Sha256.digest(&[STYLE.as_bytes()]).0);
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    );
    let title = format!("{}: {}", line(&report.name), line(&report.status));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { main { (body(report)) } }
        }
    };
    page.into_string()
}

fn body(report: &Report) -> Markup {
    let class = if report.is_good { "good" } else { "bad" };
    let whole = whole(report);
    html! {
        h1 { code { (line(&report.name)) } ": " span class=(class) { (line(&report.status)) } }
        p { (line(&report.summary)) }
        @if let Some(trouble) = &report.trouble { p.trouble { (line(trouble)) } }
        @if !report.facts.is_empty() {
            dl { @for (name, text) in &report.facts { dt { (name) } dd { (line(text)) } } }
        }
        @if !report.fleets.is_empty() {
            h2 { "Targets" }
            @for fleet in &report.fleets { (targets(fleet)) }
        }
        @if !report.cases.is_empty() {
            h2 { "Steps" }
            @for case in &report.cases { (step(case, whole)) }
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

/// What the timeline is drawn against: nothing lies outside of it.
fn whole(report: &Report) -> Duration {
    let spans = report.cases.iter().flat_map(|case| &case.spans);
    spans.map(|span| span.start + span.took).max().unwrap_or_default().max(report.took)
}

fn step(case: &Case, whole: Duration) -> Markup {
    let has_more = case.message.is_some() || case.details.is_some() || !case.printed.is_empty();
    if !has_more {
        return html! { div.step { div.row { (row(case, whole)) } } };
    }
    html! {
        details.step open[case.is_bad()] {
            summary.row { (row(case, whole)) }
            div.more {
                p.path {
                    (line(&case.path))
                    @if let Some((file, number)) = &case.place { " – " (line(file)) ":" (number) }
                }
                @if case.text.trim().lines().nth(1).is_some() { pre { (lines(case.text.trim())) } }
                @if let Some(message) = &case.message { p { (line(message)) } }
                @if let Some(details) = &case.details { pre { (lines(details)) } }
                @if !case.printed.is_empty() { (printed(&case.printed)) }
            }
        }
    }
}

fn row(case: &Case, whole: Duration) -> Markup {
    let (class, sign) = match case.outcome {
        Outcome::Passed => ("s good", "✓"),
        Outcome::Failed | Outcome::Error => ("s bad", "✗"),
        Outcome::Skipped => ("s skip", "–"),
    };
    html! {
        span class=(class) { (sign) " " (case.status) }
        code { (head(&case.name())) }
        (timeline(case, whole))
        span.took { @if !case.spans.is_empty() { (time(case.took())) } }
    }
}

/// When its attempts ran, and the pauses between them.
fn timeline(case: &Case, whole: Duration) -> Markup {
    let part = |time: Duration| time.as_nanos() * UNITS / whole.as_nanos().max(1);
    html! {
        svg.time viewBox={ "0 0 " (UNITS) " 10" } preserveAspectRatio="none" aria-hidden="true" {
            @for span in &case.spans {
                rect x=(part(span.start).min(UNITS - 2)) width=(part(span.took).max(2)) height="10"
                    class=[(!span.is_good).then_some("x")] {}
            }
        }
    }
}

/// The first and the last lines.
fn printed(printed: &Printed) -> Markup {
    let [first, last] = printed.parts().map(colours::lines);
    html! {
        pre {
            @for line in &first { (coloured(line)) }
            @if printed.left_out() > 0 {
                span.cut { "… " (printed.left_out()) " more lines …" } "\n"
            }
            @for line in &last { (coloured(line)) }
        }
    }
}

fn coloured(line: &colours::Line) -> Markup {
    html! {
        @for (look, text) in line {
            @let classes = look.classes();
            @if classes.is_empty() { (text) } @else { span class=(classes) { (text) } }
        }
        "\n"
    }
}
