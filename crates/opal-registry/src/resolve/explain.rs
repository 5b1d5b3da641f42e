//! A conflict in plain English: who wants what.

use std::collections::BTreeSet;

use pubgrub::{DerivationTree, External};

use super::{Problem, Versions};
use crate::format::PackageName;
use crate::refusal::Refusal;

type Tree = DerivationTree<String, Versions, String>;

/// Requirements that one message names.
const MOST_LINES: usize = 12;

pub(super) fn conflict(tree: &Tree, problem: &Problem<'_>) -> Refusal {
    let mut reasons = Vec::new();
    let mut seen = BTreeSet::new();
    collect(tree, problem, &mut |reason: String| {
        if seen.insert(reason.clone()) {
            reasons.push(reason);
        }
    });
    reasons.truncate(MOST_LINES);
    let message = format!("no versions fit together: {}", reasons.join("; "));
    Refusal::conflict(message, "change one of these versions in opal.mod, or update opal")
}

fn collect(tree: &Tree, problem: &Problem<'_>, say: &mut dyn FnMut(String)) {
    match tree {
        DerivationTree::Derived(derived) => {
            collect(&derived.cause1, problem, say);
            collect(&derived.cause2, problem, say);
        }
        DerivationTree::External(External::FromDependencyOf(package, _, needed, set)) => {
            let Ok(name) = needed.parse::<PackageName>() else { return };
            let needs = problem.needs.borrow();
            let Some(need) = needs.get(&(package.clone(), name.clone())) else { return };
            let who = need.who.as_deref().map_or("opal.mod wants", |_| "needs");
            let who = match &need.who {
                Some(it) => format!("{it} {who}"),
                None => who.to_owned(),
            };
            say(format!("{who} {name} {}", need.requirement));
            if *set == Versions::empty() {
                say(existing(&name, problem));
            }
        }
        DerivationTree::External(External::NoVersions(package, _)) => {
            if let Ok(name) = package.parse::<PackageName>() {
                say(existing(&name, problem));
            }
        }
        DerivationTree::External(External::Custom(_, _, why)) => say(why.clone()),
        DerivationTree::External(External::NotRoot(..)) => {}
    }
}

/// Which versions of a package there are.
fn existing(name: &PackageName, problem: &Problem<'_>) -> String {
    if let Some(fixed) = problem.fixed.get(name) {
        return format!("{name} is {}", fixed.version);
    }
    let Ok(all) = problem.candidates(name) else { return format!("{name} is not known") };
    let written = all.iter().rev().take(8).map(|entry| match entry.yanked {
        Some(_) => format!("{} (yanked)", entry.version),
        None => entry.version.to_string(),
    });
    let written: Vec<String> = written.collect();
    match written.is_empty() {
        true => format!("{name} has no versions"),
        false => format!("the versions of {name} are {}", written.join(", ")),
    }
}
