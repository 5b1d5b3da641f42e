//! What differs between two plans, as a page: `--format html`.

use std::collections::BTreeSet;

use opal_core::contract::Difference;
use opal_html::difference::{self, Changed, Pair, PlanDiff};

use super::difference::{Steps, change, placeholders};
use super::{Beside, Comparison};

/// The whole page.
pub(super) fn document(comparison: &Comparison<'_>) -> String {
    let (before, after) = (&comparison.before.target.name, &comparison.after.target.name);
    let name = if before == after { after.clone() } else { format!("{before}, {after}") };
    let steps = Steps::all(comparison);
    let differences = &comparison.verdict.differences;
    difference::document(&PlanDiff {
        name,
        sides: comparison.names.map(str::to_owned),
        facts: facts(comparison),
        differences: differences.iter().map(|one| changed(&steps, one)).collect(),
        beside: beside(comparison, false),
        packages: beside(comparison, true),
        notes: super::notes(comparison),
        same: same(comparison, &steps),
    })
}

/// What differs of packages, or of everything else that the plan does not have.
fn beside(comparison: &Comparison<'_>, of_packages: bool) -> Vec<Pair> {
    let meant = comparison.beside.iter().filter(|one| one.is_package == of_packages);
    let pair =
        |one: &Beside| Pair { name: one.name.clone(), place: None, texts: one.sides().map(Some) };
    meant.map(pair).collect()
}

fn facts(comparison: &Comparison<'_>) -> Vec<(&'static str, String)> {
    let files = comparison.changed_files.join(", ");
    let changed = (!files.is_empty()).then_some(("changed files", files));
    let new = comparison.new_contract.map(|command| ("new contract", command.to_owned()));
    changed.into_iter().chain(new).collect()
}

fn changed(steps: &Steps<'_>, one: &Difference) -> Changed {
    let mut pairs = Vec::new();
    if let Some(key) = &one.key {
        let shown =
            [one.before.as_ref(), one.after.as_ref()].map(|side| side.map(ToString::to_string));
        pairs.push(Pair { name: key.to_string(), place: None, texts: shown });
        for (path, texts) in steps.users(key) {
            pairs.push(Pair { name: path.to_owned(), place: steps.file_line(path), texts });
        }
    } else if let Some(path) = one.path.as_deref() {
        let (name, place) = (path.to_owned(), steps.file_line(path));
        pairs.push(Pair { name, place, texts: steps.texts(one) });
    }
    let causes = one.other_causes().map(|cause| Pair {
        name: cause.key.to_string(),
        place: None,
        texts: placeholders(cause),
    });
    let (code, change) = (one.code.name(), change(one.change));
    let words = match &one.machine {
        Some(machine) => format!("{machine}: {}", one.words),
        None => one.words.clone(),
    };
    let by = one.causes.iter().map(|cause| cause.key.to_string()).collect();
    Changed { code, change, words, by, causes: causes.collect(), pairs }
}

/// The steps of the plan of now that no difference is about.
fn same(comparison: &Comparison<'_>, steps: &Steps<'_>) -> Vec<(String, String)> {
    let mut told: BTreeSet<&str> = BTreeSet::new();
    for one in &comparison.verdict.differences {
        told.extend(one.path.as_deref());
        told.extend(one.key.iter().flat_map(|key| steps.paths_of(key)));
    }
    let others = comparison.after.all_steps().filter(|step| !told.contains(&*step.path));
    others.map(|step| (step.path.to_string(), steps.text_after(step))).collect()
}
