//! Which resources of a plan were selected, with `--only` and `--skip`.
//!
//! `opal verify` and `opal apply` mean the same by it: `only` names the steps that count, `skip` takes
//! steps away. A step is named by its id or by its path; the id of a step with `for_each` names every
//! element's step.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{Key, Plan, Step};
use crate::resolver::{Trouble, TroubleKind};
use crate::resource;
use crate::{Code, Data, Registry, Secret, Span, suggest};

use crate::unready::Unready;

#[derive(Clone, Copy, Debug, Default)]
pub struct Selection<'a> {
    /// Empty for all.
    pub only: &'a [String],
    pub skip: &'a [String],
    /// The targets of fleets that are left, by `--limit`; all without it.
    pub limit: Option<&'a str>,
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
        let described = |step: &&Step| resource::described(step, registry).is_some();
        let resources: Vec<&Step> = plan.all_steps().filter(described).collect();
        let named = |step: &&Step| Named {
            path: step.path.clone(),
            id: resource::id(step, values).map(Secret::new),
        };
        let all: Vec<Named> = resources.iter().map(named).collect();
        let chosen = self.choose(&all).map_err(|given| unknown(given, plan, &resources))?;
        if chosen.is_empty() && !self.is_all() {
            let help = "select at least one: `--only` names the steps to run, `--skip` the steps \
                to leave out";
            return Err(unready("no step is selected".to_owned(), help.to_owned()));
        }
        Ok(chosen.into_iter().map(|index| all[index].path.clone()).collect())
    }

    /// Which of `all` are selected, by their places in it. An error is the name that none of them has.
    pub fn choose(&self, all: &[Named]) -> Result<BTreeSet<usize>, &str> {
        let mut chosen = BTreeSet::new();
        if self.only.is_empty() {
            chosen.extend(0..all.len());
        }
        for given in self.only {
            chosen.extend(named(all, given)?);
        }
        for given in self.skip {
            for index in named(all, given)? {
                chosen.remove(&index);
            }
        }
        Ok(chosen)
    }
}

/// What a resource is selected by.
#[derive(Debug)]
pub struct Named {
    pub path: Box<str>,
    /// It may come from the world.
    pub id: Option<Secret>,
}

impl Named {
    fn is(&self, given: &str) -> bool {
        self.id() == Some(given) || *self.path == *given
    }

    /// Whether it is the step of an element of the one that is named: `site.shop` of `site`.
    fn is_element_of(&self, given: &str) -> bool {
        let rest = self.id().and_then(|id| id.strip_prefix(given));
        rest.is_some_and(|rest| rest.starts_with('.'))
    }

    pub fn id(&self) -> Option<&str> {
        self.id.as_ref().map(Secret::expose)
    }
}

fn named<'g>(all: &[Named], given: &'g str) -> Result<BTreeSet<usize>, &'g str> {
    let those = |is_it: &dyn Fn(&Named) -> bool| -> BTreeSet<usize> {
        let found = all.iter().enumerate().filter(|(_, named)| is_it(named));
        found.map(|(index, _)| index).collect()
    };
    let mut found = those(&|named| named.is(given));
    if found.is_empty() {
        found = those(&|named| named.is_element_of(given));
    }
    if found.is_empty() { Err(given) } else { Ok(found) }
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
