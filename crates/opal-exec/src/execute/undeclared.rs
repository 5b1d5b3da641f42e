//! What a run has hidden though nobody declared it a secret: people should learn of it once, and of
//! how to see it.

use std::collections::BTreeSet;

use opal_core::plan::Key;

use super::job::Job;
use super::lets::label_of;

/// Values that are named of those that were hidden.
const MOST: usize = 100;

/// The keys of such values, sorted: `env.API_KEY`, `file.read(path="VERSION")`, `let.id`.
pub(super) fn undeclared(job: &Job<'_>) -> Vec<Box<str>> {
    let showing = job.showing;
    let is_text = |key: &Key| showing.visible.contains_key(key);
    let texts = showing
        .hidden
        .iter()
        .filter(|(key, hidden)| is_text(key) && job.vault.has_used(&hidden.label));
    let texts: Vec<&str> = texts.map(|(_, hidden)| &*hidden.label).collect();
    let mut names = BTreeSet::new();
    for (key, hidden) in &showing.hidden {
        let label = &*hidden.label;
        let is_used = job.vault.has_used(label) || texts.iter().any(|text| text.contains(label));
        if !is_text(key) && is_used && !hidden.class.is_declared() {
            match job.plan.values.get(key) {
                Some(value) => names.extend(
                    value
                        .roots
                        .iter()
                        .filter(|root| {
                            showing.class(root).is_secret() && !showing.class(root).is_declared()
                        })
                        .map(|root| Box::from(&**root)),
                ),
                None => drop(names.insert(Box::from(&**key))),
            }
        }
    }
    for step in job.plan.all_steps() {
        let binding = step.binding.as_ref();
        if let Some(binding) = binding.filter(|it| job.vault.has_used(&label_of(&it.id))) {
            names.insert(format!("let.{}", binding.name).into());
        }
    }
    names.into_iter().take(MOST).collect()
}
