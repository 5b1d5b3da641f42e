//! Modules that depend on each other in a circle.

use std::collections::BTreeMap;

use opal_core::{Code, Diagnostic, Span};

use super::Spec;

/// Printing a circle takes its length, so there is an end to it.
const MOST_CIRCLES: usize = 10;
const MOST_SHOWN: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    OnTheWay,
    Done,
}

/// The dependencies that close a circle, each with the file it stands in. Follows each one once.
pub(crate) fn find(specs: &[(usize, Spec)]) -> Vec<(usize, Diagnostic)> {
    let names = specs.iter().map(|(_, spec)| spec.module_ref.as_str());
    let by_ref: BTreeMap<&str, usize> =
        names.enumerate().map(|(index, name)| (name, index)).collect();
    let mut states = vec![State::New; specs.len()];
    let mut found = Vec::new();
    for start in 0..specs.len() {
        if states[start] != State::New {
            continue;
        }
        states[start] = State::OnTheWay;
        // Each spec on the way, and which of its dependencies is next.
        let mut way = vec![(start, 0)];
        while let Some((index, next)) = way.last_mut() {
            let (file, spec) = &specs[*index];
            let Some(dependency) = spec.dependencies.get(*next) else {
                states[*index] = State::Done;
                way.pop();
                continue;
            };
            *next += 1;
            let Some(wanted) = by_ref.get(dependency.module_ref.as_str()).copied() else {
                continue;
            };
            match states[wanted] {
                State::New => {
                    states[wanted] = State::OnTheWay;
                    way.push((wanted, 0));
                }
                State::OnTheWay if found.len() < MOST_CIRCLES => {
                    let circle =
                        way.iter().map(|(index, _)| *index).skip_while(|index| *index != wanted);
                    let names = circle.map(|index| specs[index].1.module_ref.as_str());
                    found.push((*file, diagnostic(&names.collect::<Vec<_>>(), dependency.span)));
                }
                State::OnTheWay | State::Done => {}
            }
        }
    }
    found
}

fn diagnostic(names: &[&str], span: Span) -> Diagnostic {
    let mut shown = names[..names.len().min(MOST_SHOWN)].join(" -> ");
    if names.len() > MOST_SHOWN {
        shown.push_str(" -> …");
    }
    let first = names.first().copied().unwrap_or_default();
    let message = format!("these modules depend on each other in a circle: `{shown} -> {first}`");
    Diagnostic::new(Code::ConfigCycle, span, message)
        .label("closes the circle")
        .help("remove one of these dependencies")
}
