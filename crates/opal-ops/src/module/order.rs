//! What a module builds on, in the order in which it is applied.

use std::collections::BTreeMap;

use opal_core::cycles::cycles;
use opal_modules::{ModuleRef, Spec};

/// So many modules may be applied for one.
pub const MOST_MODULES: usize = 1_000;

/// Why there is no order. `E` is why a spec could not be loaded.
#[derive(Debug)]
pub enum NotOrdered<E> {
    Spec(E),
    /// `a -> b -> a`.
    Cycle(String),
    TooMany,
}

/// The module after everything that it requires, each once. `spec` loads the spec of a module.
pub fn order<E>(
    module: &ModuleRef,
    spec: &mut dyn FnMut(&ModuleRef) -> Result<Spec, E>,
) -> Result<Vec<ModuleRef>, NotOrdered<E>> {
    let mut modules = vec![module.clone()];
    let mut known = BTreeMap::from([(module.clone(), 0)]);
    let mut edges: Vec<Vec<(usize, ())>> = Vec::new();
    while let Some(next) = modules.get(edges.len()) {
        let spec = spec(next).map_err(NotOrdered::Spec)?;
        let mut needed = Vec::new();
        for dependency in spec.dependencies.iter().filter(|dependency| dependency.required) {
            let module = &dependency.module_ref;
            let index = *known.entry(module.clone()).or_insert(modules.len());
            if index == modules.len() {
                modules.push(module.clone());
            }
            needed.push((index, ()));
        }
        if modules.len() > MOST_MODULES {
            return Err(NotOrdered::TooMany);
        }
        edges.push(needed);
    }
    if let Some(cycle) = cycles(&edges).first() {
        return Err(NotOrdered::Cycle(cycle.path(|index| modules[index].as_str())));
    }
    Ok(dependencies_first(&edges).into_iter().map(|index| modules[index].clone()).collect())
}

/// What node 0 reaches, each after all that it needs. Without recursion; there is no cycle.
fn dependencies_first(edges: &[Vec<(usize, ())>]) -> Vec<usize> {
    let mut seen = vec![false; edges.len()];
    let (mut path, mut order) = (vec![(0, 0)], Vec::new());
    while let Some((node, next)) = path.last_mut() {
        match edges[*node].get(*next) {
            Some((to, ())) => {
                *next += 1;
                if !std::mem::replace(&mut seen[*to], true) {
                    path.push((*to, 0));
                }
            }
            None => {
                order.push(*node);
                path.pop();
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of `a`, where each pair is a module and what it requires; `?` before a name means
    /// that it is not required.
    fn ordered(graph: &[(&str, &str)]) -> Result<String, String> {
        let spec = |module: &ModuleRef| -> Result<Spec, String> {
            let needs = graph.iter().find(|(name, _)| *name == module.as_str());
            let needs = needs.ok_or_else(|| format!("unknown {module}"))?.1;
            let dependencies: String = needs
                .split_whitespace()
                .map(|name| {
                    let required = !name.starts_with('?');
                    let name = name.trim_start_matches('?');
                    format!("  - {{module_ref: {name}, required: {required}}}\n")
                })
                .collect();
            let text = format!(
                "api_version: hybridops/v1\nkind: ModuleSpec\nmodule_ref: {module}\n\
                 inputs: {{defaults: {{}}}}\nrequirements: {{credentials: []}}\n\
                 execution: {{driver: shell/script, profile: local@v1, pack_ref: {{id: p}}}}\n\
                 dependencies:\n{dependencies}"
            );
            Ok(Spec::read(&text).found.expect("a spec"))
        };
        let module = ModuleRef::parse("a").unwrap();
        let words = |why| match why {
            NotOrdered::Spec(why) => why,
            NotOrdered::Cycle(path) => path,
            NotOrdered::TooMany => "too many".to_owned(),
        };
        order(&module, &mut { spec })
            .map_err(words)
            .map(|modules| modules.iter().map(ModuleRef::as_str).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn what_is_required_comes_first_and_once() {
        for (graph, expected) in [
            (&[("a", "")][..], "a"),
            (&[("a", "b c"), ("b", "d"), ("c", "d"), ("d", "")], "d b c a"),
            (&[("a", "?gone b"), ("b", "")], "b a"),
        ] {
            assert_eq!(ordered(graph).unwrap(), expected);
        }
    }

    #[test]
    fn a_cycle_is_printed_and_a_long_chain_is_not_one() {
        for (graph, expected) in [
            (&[("a", "a")][..], "a -> a"),
            (&[("a", "b"), ("b", "c"), ("c", "b")], "b -> c -> b"),
            (&[("a", "gone")], "unknown gone"),
        ] {
            assert_eq!(ordered(graph).unwrap_err(), expected);
        }
        let names: Vec<String> = (0..=MOST_MODULES).map(|index| format!("m{index}")).collect();
        let chain = |count: usize| -> Vec<(&str, &str)> {
            let mut chain = vec![("a", names[1].as_str())];
            chain.extend((1..count - 1).map(|at| (names[at].as_str(), names[at + 1].as_str())));
            chain.push((names[count - 1].as_str(), ""));
            chain
        };
        assert_eq!(ordered(&chain(200)).unwrap().split(' ').count(), 200);
        let long = chain(MOST_MODULES + 1);
        assert_eq!(ordered(&long).unwrap_err(), "too many");
    }
}
