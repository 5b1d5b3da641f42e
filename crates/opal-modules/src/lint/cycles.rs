//! Modules that depend on each other in a cycle.

use std::collections::BTreeMap;

use opal_core::cycles::cycles;
use opal_core::{Code, Diagnostic};

use super::Spec;
use opal_core::gather::Gather as _;

/// More say nothing new.
const MOST_CYCLES: usize = 10;

/// The dependencies that close a cycle, each with the file it is in.
pub(crate) fn find(specs: &[(usize, Spec)]) -> Vec<(usize, Diagnostic)> {
    let name = |index: usize| specs[index].1.module_ref.as_str();
    let by_ref: BTreeMap<&str, usize> =
        (0..specs.len()).map(|index| (name(index), index)).gathered();
    let edges: Vec<Vec<_>> = specs
        .iter()
        .map(|(file, spec)| {
            let known = spec.dependencies.iter().filter_map(|dependency| {
                let index = *by_ref.get(dependency.module_ref.as_str())?;
                Some((index, (*file, dependency.span)))
            });
            known.collect()
        })
        .collect();
    let found = cycles(&edges).into_iter().take(MOST_CYCLES).map(|cycle| {
        let (file, span) = cycle.closed_by;
        let path = cycle.path(name);
        let message = format!("dependency cycle between modules: `{path}`");
        let error = Diagnostic::new(Code::ConfigCycle, span, message);
        (file, error.label("closes the cycle").help("remove one of these dependencies"))
    });
    found.collect()
}
