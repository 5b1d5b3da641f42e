//! Ids and dependencies: each id once, each dependency there, and no circles.

use std::collections::BTreeMap;

use opal_core::{Code, Diagnostic, Span};

use super::document::{Node, NodeKind};
use super::fields::Fields;
use super::report::Report;

/// What a step is to others. Steps with faults have it too, so that one fault is not reported twice.
#[derive(Debug)]
pub struct Draft<'n> {
    id: Option<(&'n str, Span)>,
    depends_on: Vec<(&'n str, Span)>,
    pub enabled: bool,
}

impl<'n> Draft<'n> {
    /// `key` names what it depends on.
    pub fn of(fields: &Fields<'n>, key: &str) -> Self {
        let word = |node: &'n Node| match &node.kind {
            NodeKind::Scalar { text, .. } => Some((text.as_str(), node.span)),
            _ => None,
        };
        let depends_on = match fields.get(key).map(|node| &node.kind) {
            Some(NodeKind::List(items)) => items.iter().filter_map(|item| word(item)).collect(),
            _ => Vec::new(),
        };
        Self { id: fields.get("id").and_then(word), depends_on, enabled: true }
    }
}

pub fn check(drafts: &[Draft<'_>], report: &mut Report<'_>) {
    let mut by_id: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, draft) in drafts.iter().enumerate() {
        let Some((id, span)) = draft.id else { continue };
        match by_id.get(id).and_then(|first| drafts[*first].id) {
            Some((_, first)) => {
                let message = format!("there are two steps with the id `{id}`");
                let error = Diagnostic::new(Code::ConfigRepeatedId, span, message);
                report.push(error.also(first, "the first").help("give one of them another id"));
            }
            None => {
                by_id.insert(id, index);
            }
        }
    }
    for draft in drafts {
        for (wanted, span) in &draft.depends_on {
            match by_id.get(wanted) {
                None => {
                    let message = format!("there is no step with the id `{wanted}`");
                    let error = Diagnostic::new(Code::ConfigDependency, *span, message);
                    report.unknown(error, wanted, by_id.keys().copied());
                }
                Some(index) if draft.enabled && !drafts[*index].enabled => {
                    disabled(&drafts[*index], wanted, *span, report);
                }
                Some(_) => {}
            }
        }
    }
    circles(drafts, &by_id, report);
}

fn disabled(draft: &Draft<'_>, id: &str, span: Span, report: &mut Report<'_>) {
    let message = format!("the step `{id}` is disabled, so nothing can depend on it");
    let mut error = Diagnostic::new(Code::ConfigDependency, span, message);
    if let Some((_, place)) = draft.id {
        error = error.also(place, "disabled here");
    }
    report.push(error.help("enable it, or disable this step too"));
}

/// A step on the way of the search.
#[derive(Debug)]
struct Visit {
    step: usize,
    /// The next of its dependencies to follow.
    next: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    OnTheWay,
    Done,
}

/// Printing a circle takes its length, so there is an end to it.
const MOST_CIRCLES: usize = 10;

/// Follows every dependency once; whoever meets its own way has found a circle.
fn circles(drafts: &[Draft<'_>], by_id: &BTreeMap<&str, usize>, report: &mut Report<'_>) {
    let mut states = vec![State::New; drafts.len()];
    let mut left = MOST_CIRCLES;
    for start in 0..drafts.len() {
        if states[start] != State::New {
            continue;
        }
        states[start] = State::OnTheWay;
        let mut way = vec![Visit { step: start, next: 0 }];
        while let Some(visit) = way.last_mut() {
            let Some((wanted, span)) = drafts[visit.step].depends_on.get(visit.next).copied()
            else {
                states[visit.step] = State::Done;
                way.pop();
                continue;
            };
            visit.next += 1;
            let Some(step) = by_id.get(wanted).copied() else { continue };
            match states[step] {
                State::New => {
                    states[step] = State::OnTheWay;
                    way.push(Visit { step, next: 0 });
                }
                State::OnTheWay if left > 0 => {
                    left -= 1;
                    circle(drafts, &way, step, span, report);
                }
                State::OnTheWay | State::Done => {}
            }
        }
    }
}

fn circle(drafts: &[Draft<'_>], way: &[Visit], back: usize, span: Span, report: &mut Report<'_>) {
    const MOST_SHOWN: usize = 12;
    let ids = way.iter().skip_while(|visit| visit.step != back);
    let ids: Vec<&str> = ids.filter_map(|visit| drafts[visit.step].id).map(|(id, _)| id).collect();
    let mut shown = ids[..ids.len().min(MOST_SHOWN)].join(" -> ");
    if ids.len() > MOST_SHOWN {
        shown.push_str(" -> …");
    }
    let first = ids.first().copied().unwrap_or_default();
    let message = format!("these steps depend on each other in a circle: `{shown} -> {first}`");
    let error = Diagnostic::new(Code::ConfigCycle, span, message);
    report.push(error.label("closes the circle").help("remove one of these dependencies"));
}
