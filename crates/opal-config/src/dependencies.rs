//! Ids and dependencies: each id once, each dependency there, and no cycles.

use std::collections::BTreeMap;

use opal_core::cycles::cycles;
use opal_core::{Code, Diagnostic, Span};

use super::document::{Node, NodeKind};
use super::report::Report;
use opal_yaml::fields::Fields;

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
                let message = format!("duplicate step id `{id}`");
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
                    let message = format!("unknown step id `{wanted}`");
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
    report_cycles(drafts, &by_id, report);
}

fn disabled(draft: &Draft<'_>, id: &str, span: Span, report: &mut Report<'_>) {
    let message = format!("the step `{id}` is disabled, so nothing can depend on it");
    let mut error = Diagnostic::new(Code::ConfigDependency, span, message);
    if let Some((_, place)) = draft.id {
        error = error.also(place, "disabled here");
    }
    report.push(error.help("enable it, or disable this step too"));
}

/// More say nothing new.
const MOST_CYCLES: usize = 10;

fn report_cycles(drafts: &[Draft<'_>], by_id: &BTreeMap<&str, usize>, report: &mut Report<'_>) {
    let edges: Vec<Vec<(usize, Span)>> = drafts
        .iter()
        .map(|draft| {
            let wanted = draft.depends_on.iter();
            wanted.filter_map(|(id, span)| Some((*by_id.get(id)?, *span))).collect()
        })
        .collect();
    for cycle in cycles(&edges).into_iter().take(MOST_CYCLES) {
        let path = cycle.path(|step| drafts[step].id.map_or("", |(id, _)| id));
        let message = format!("dependency cycle between steps: `{path}`");
        let error = Diagnostic::new(Code::ConfigCycle, cycle.closed_by, message);
        report.push(error.label("closes the cycle").help("remove one of these dependencies"));
    }
}
