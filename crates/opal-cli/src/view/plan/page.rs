//! What differs between two plans, as a page: `--format html`.

use std::collections::BTreeSet;

use opal_core::contract::Difference;
use opal_html::difference::{self, Changed, Pair, PlanDiff};

use super::Comparison;
use super::difference::{Steps, change, placeholders};

/// The whole page.
pub(super) fn document(comparison: &Comparison<'_>) -> String {
    let (before, after) = (&comparison.before.target.name, &comparison.after.target.name);
    let name = if before == after { after.clone() } else { format!("{before}, {after}") };
    let steps = Steps::new(comparison);
    let differences = &comparison.verdict.differences;
    difference::document(&PlanDiff {
        name,
        sides: comparison.names.map(str::to_owned),
        facts: facts(comparison),
        differences: differences.iter().map(|one| changed(&steps, one)).collect(),
        beside: (comparison.beside.iter())
            .map(|one| (one.name.clone(), [one.before.clone(), one.after.clone()]))
            .collect(),
        notes: super::notes(comparison),
        same: same(comparison, &steps),
    })
}

fn facts(comparison: &Comparison<'_>) -> Vec<(&'static str, String)> {
    let files = comparison.changed_files.join(", ");
    let changed = (!files.is_empty()).then_some(("changed files", files));
    let new = comparison.new_contract.map(|command| ("new contract", command.to_owned()));
    changed.into_iter().chain(new).collect()
}

fn changed(steps: &Steps<'_>, one: &Difference) -> Changed {
    let mut pairs = Vec::new();
    let mut more = 0;
    if let Some(key) = &one.key {
        let shown =
            [one.before.as_ref(), one.after.as_ref()].map(|side| side.map(ToString::to_string));
        pairs.push(Pair { name: key.to_string(), place: None, texts: shown });
        for (path, texts) in steps.users(key) {
            pairs.push(Pair { name: path.to_owned(), place: steps.file_line(path), texts });
        }
        more = steps.count_users(key).saturating_sub(pairs.len() - 1);
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
    Changed { code, change, words, by, causes: causes.collect(), pairs, more }
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
