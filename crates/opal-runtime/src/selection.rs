//! Which resources of a plan were selected, with `--only` and `--skip`.
//!
//! `opal verify` and `opal apply` mean the same by it: `only` names the steps that count, `skip` takes
//! steps away. A step is named by its id or by its path; the id of a step with `for_each` names every
//! element's step.

use std::collections::{BTreeMap, BTreeSet};

use opal_core::plan::{Key, Plan, Step};
use opal_core::resolver::{Trouble, TroubleKind};
use opal_core::resource;
use opal_core::{Code, Data, Registry, Span, suggest};

use crate::execute::Unready;

#[derive(Clone, Copy, Debug, Default)]
pub struct Selection<'a> {
    /// Empty for all.
    pub only: &'a [String],
    pub skip: &'a [String],
}

impl Selection<'_> {
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.only.is_empty() && self.skip.is_empty()
    }

    /// The paths of the selected resources. An id that no resource has is an error, and so is a
    /// selection of nothing.
    pub fn paths(
        &self,
        plan: &Plan,
        values: &BTreeMap<Key, Data>,
        registry: &Registry,
    ) -> Result<BTreeSet<Box<str>>, Unready> {
        let mut resources = Vec::new();
        collect(&plan.steps, registry, &mut resources);
        let named = |given: &str| -> Result<BTreeSet<&str>, Unready> {
            let all = |is_it: &dyn Fn(&Step) -> bool| -> BTreeSet<&str> {
                let found = resources.iter().filter(|step| is_it(step));
                found.map(|step| &*step.path).collect()
            };
            let mut found = all(&|step| is_named(step, given, values));
            if found.is_empty() {
                found = all(&|step| is_of_element(step, given, values));
            }
            if found.is_empty() { Err(unknown(given, plan, &resources)) } else { Ok(found) }
        };
        let mut chosen = BTreeSet::new();
        if self.only.is_empty() {
            chosen.extend(resources.iter().map(|step| &*step.path));
        }
        for given in self.only {
            chosen.extend(named(given)?);
        }
        for given in self.skip {
            for path in named(given)? {
                chosen.remove(path);
            }
        }
        if chosen.is_empty() && !self.is_all() {
            let help = "select at least one: `--only` names the steps, `--skip` takes some away";
            return Err(unready("no step is selected".to_owned(), help.to_owned()));
        }
        Ok(chosen.into_iter().map(Into::into).collect())
    }
}

fn collect<'p>(steps: &'p [Step], registry: &Registry, into: &mut Vec<&'p Step>) {
    for step in steps {
        if resource::described(step, registry).is_some() {
            into.push(step);
        }
        collect(&step.block, registry, into);
    }
}

fn is_named(step: &Step, given: &str, values: &BTreeMap<Key, Data>) -> bool {
    resource::id(step, values) == Some(given) || *step.path == *given
}

/// Whether it is the step of an element of the one that is named: `site.shop` of `site`.
fn is_of_element(step: &Step, given: &str, values: &BTreeMap<Key, Data>) -> bool {
    let of = |id: &str| id.strip_prefix(given).is_some_and(|rest| rest.starts_with('.'));
    resource::id(step, values).is_some_and(of)
}

fn unknown(given: &str, plan: &Plan, resources: &[&Step]) -> Unready {
    let names = resources.iter().map(|step| resource::name(plan, step));
    let help = match suggest::nearest(given, names.clone()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => {
            let names: Vec<String> = names.take(20).map(|name| format!("`{name}`")).collect();
            format!("expected one of: {}", names.join(", "))
        }
    };
    unready(format!("the plan has no resource `{given}`"), help)
}

/// What is wrong with what was asked for, and with no step of the plan.
fn unready(message: String, help: String) -> Unready {
    let trouble = Trouble::new(TroubleKind::Invalid, message, help);
    Unready { path: String::new(), span: Span::at(0), line: 1, code: Code::NotReady, trouble }
}
