//! When steps ran: a lane for each branch and target, and a bar for each attempt.

use std::collections::BTreeMap;
use std::time::Duration;

use maud::{Markup, html};
use opal_core::duration::rounded as time;

use crate::report::{Case, Report, Span};
use crate::text::{head, line};

/// Units of a bar.
const UNITS: u128 = 1_000;

/// Lanes that are drawn; the others are counted.
const MAX_LANES: usize = 100;

/// What everything is drawn against: nothing lies outside of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale(Duration);

impl Scale {
    pub(crate) fn of(report: &Report) -> Self {
        let spans = report.cases.iter().flat_map(|case| &case.spans);
        let last = spans.map(|span| span.start + span.took).max();
        Self(last.unwrap_or_default().max(report.took))
    }

    fn part(self, time: Duration) -> u128 {
        time.as_nanos() * UNITS / self.0.as_nanos().max(1)
    }

    /// The attempts of one step.
    pub(crate) fn bars(self, case: &Case) -> Markup {
        html! { svg.time viewBox={ "0 0 " (UNITS) " 10" } preserveAspectRatio="none" aria-hidden="true" {
            (self.attempts(&case.spans))
        } }
    }

    /// A bar for each attempt, and a thin line for the pauses between them.
    fn attempts(self, spans: &[Span]) -> Markup {
        let pauses = spans.windows(2).filter_map(|pair| {
            let end = self.part(pair[0].start + pair[0].took);
            let next = self.part(pair[1].start);
            (next > end).then_some((end, next - end))
        });
        html! {
            @for (start, length) in pauses { rect.p x=(start) y="4" width=(length) height="2" {} }
            @for span in spans {
                @let start = self.part(span.start).min(UNITS - 2);
                @let width = self.part(span.took).clamp(2, UNITS - start);
                rect x=(start) width=(width) height="10" class=[(!span.is_good).then_some("x")] {}
            }
        }
    }
}

/// Steps that ran one after the other.
struct Lane<'r> {
    name: String,
    cases: Vec<&'r Case>,
}

/// All lanes; nothing where no step has started.
pub(crate) fn section(report: &Report, scale: Scale) -> Markup {
    let lanes = lanes(report);
    if lanes.is_empty() {
        return html! {};
    }
    let hidden = lanes.len().saturating_sub(MAX_LANES);
    html! {
        h2 { "Timeline" }
        div.lanes {
            @for lane in lanes.iter().take(MAX_LANES) {
                div.lane {
                    code { (lane.name) }
                    svg.time viewBox={ "0 0 " (UNITS) " 10" } preserveAspectRatio="none" aria-hidden="true" {
                        @for case in &lane.cases { (scale.attempts(&case.spans)) }
                    }
                }
            }
            @if hidden > 0 { p.cut { "… " (hidden) " more lanes" } }
            div.lane.axis aria-hidden="true" { span {} span { "0" span { (time(scale.0)) } } }
        }
    }
}

/// In the order in which they first appear; what is in none is in the first one.
fn lanes(report: &Report) -> Vec<Lane<'_>> {
    let mut places: BTreeMap<(Option<&str>, Option<&str>), usize> = BTreeMap::new();
    let mut lanes: Vec<Lane<'_>> = Vec::new();
    for case in report.cases.iter().filter(|case| !case.spans.is_empty()) {
        let key = (case.target.as_deref(), case.lane.as_deref());
        let place = *places.entry(key).or_insert_with(|| {
            let name = match key {
                (None, None) => head(&report.name),
                // A branch of one step is that step.
                (None, Some(lane)) if *lane == *case.path => head(&case.text),
                (None, Some(lane)) => line(lane),
                (Some(target), None) => line(target),
                (Some(target), Some(lane)) => line(&format!("{target}: {lane}")),
            };
            lanes.push(Lane { name, cases: Vec::new() });
            lanes.len() - 1
        });
        lanes[place].cases.push(case);
    }
    lanes
}
