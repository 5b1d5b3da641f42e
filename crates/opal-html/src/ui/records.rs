//! Records: the list of runs, and a run that goes on.

use maud::{Markup, PreEscaped, html};

use super::{Part, Site, Tab, page, parts};
use crate::frame;
use crate::text::line;

/// A run in a list.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub id: String,
    pub state: String,
    /// None where that is not known yet, or its record cannot be read.
    pub is_good: Option<bool>,
    pub target: String,
    pub started: Option<String>,
    /// What it came to.
    pub summary: String,
}

/// A run that goes on.
#[derive(Clone, Debug)]
pub struct Live {
    pub name: String,
    pub facts: Vec<(&'static str, String)>,
}

/// The list of runs.
#[must_use]
pub fn records(site: Site<'_>, all: &[Recorded], part: Part) -> String {
    let body = html! {
        h1 { "Records" }
        @if all.is_empty() { p { "No runs yet. `opal TASK` runs a task and records it." } } @else {
            table.wide {
                thead { tr { th { "run" } th { "task" } th { "status" } th { "started" } th { "steps" } } }
                tbody { @for one in all { (row(site, one)) } }
            }
        }
        (parts(site, Tab::Records, part))
    };
    page(site, Some(Tab::Records), "Records", &body, false)
}

fn row(site: Site<'_>, one: &Recorded) -> Markup {
    let class = match one.is_good {
        Some(true) => "good",
        Some(false) => "bad",
        None => "skip",
    };
    html! {
        tr {
            td { a href={ (site.base) "/records/" (line(&one.id)) } { code { (line(&one.id)) } } }
            td { code { (line(&one.target)) } }
            td class=(class) { (line(&one.state)) }
            td { @if let Some(at) = &one.started { (line(&second(at))) } }
            td { (line(&one.summary)) }
        }
    }
}

/// The page of a run that has ended: around the body of the report that `opal runs report` writes, as
/// [`body_of`](crate::body_of) gives it.
#[must_use]
pub fn record(site: Site<'_>, title: &str, body: &str) -> String {
    page(site, Some(Tab::Records), title, &html! { (PreEscaped(body)) }, false)
}

/// A time without the fraction of its second.
fn second(at: &str) -> String {
    at.split_once('.').map_or_else(|| at.to_owned(), |(second, _)| format!("{second}Z"))
}

/// The page of a run that goes on: the script adds what happens, and asks for the report at the end.
#[must_use]
pub fn live(site: Site<'_>, run: &Live) -> String {
    let body = html! {
        h1 { code { (line(&run.name)) } ": " span.skip { "running" } }
        (frame::facts(&run.facts))
        h2 { "Live output" }
        noscript { p.note { "Live output needs scripts; load this page again to see whether the run has ended." } }
        p.cut #live-state role="status" { "connecting" }
        div.live #live role="log" aria-label="Live output" tabindex="0" {}
    };
    page(site, Some(Tab::Records), &format!("{}: running", run.name), &body, true)
}
