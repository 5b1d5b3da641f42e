//! Reading and planning a configuration, with a world of plain data.

use std::collections::BTreeMap;
use std::path::PathBuf;

use opal_config::Config;
use opal_core::contract::plan_hash;
use opal_core::hash::{Algorithm, Digest};
use opal_core::plan::Plan;
use opal_core::selection::Selection;
use opal_core::{Diagnostic, LineIndex, Registry};
use opal_plan::Words;
use opal_plan::check;
use opal_plan::lower;
use opal_plan::plan::{Purpose, Request, Unplanned, plan};
use opal_plan::unit::Unit;
use opal_testing::MemoryWorld;
use opal_testing::planning::FixedKeys;

pub(crate) fn registry() -> Registry {
    opal_decorators::registry()
}

#[track_caller]
pub(crate) fn read(text: &str) -> Config {
    opal_config::read(text, &registry()).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

/// The faults as `line:column CODE message`.
pub(crate) fn faults(text: &str) -> Vec<String> {
    let errors = match opal_config::read(text, &registry()) {
        Ok(_) => return Vec::new(),
        Err(errors) => errors,
    };
    assert!(!errors.is_empty(), "refused without a reason");
    let lines = LineIndex::new(text);
    let shown = errors.iter().map(|error| {
        assert!(text.get(error.primary.span.range()).is_some(), "{error:#?}");
        assert!(!error.help.is_empty(), "{error:#?}");
        let place = lines.position(text, error.primary.span.start);
        format!("{}:{} {} {}", place.line, place.column, error.code.as_str(), error.message)
    });
    shown.collect()
}

/// The plan of a unit, as it is made for a contract.
pub(crate) fn plan_of(
    unit: &Unit,
    text: Option<(&opal_syntax::Parse, &str)>,
) -> Result<Plan, Vec<Diagnostic>> {
    let (registry, arguments) = (registry(), BTreeMap::new());
    let request = Request {
        unit,
        registry: &registry,
        text,
        function: None,
        arguments: &arguments,
        algorithm: Algorithm::Sha256,
        purpose: Purpose::Contract,
        selection: Selection::default(),
    };
    match plan(&request, &MemoryWorld::default(), &mut FixedKeys) {
        Ok(resolved) => Ok(resolved.plan),
        Err(Unplanned::Errors(errors)) => Err(errors),
        Err(Unplanned::Key(error)) => panic!("{error}"),
    }
}

#[track_caller]
pub(crate) fn hash_of_config(config: &Config) -> Digest {
    let unit = opal_config::lower(config, &registry());
    plan_hash(&plan_of(&unit, None).unwrap_or_else(|errors| panic!("{errors:#?}")))
}

/// The hash of the plan of a source, which the check has nothing against.
#[track_caller]
pub(crate) fn hash_of_source(source: &str) -> Digest {
    let registry = registry();
    let checked = check::check(source, &registry).diagnostics;
    assert!(!checked.iter().any(Diagnostic::is_error), "{checked:#?}\n{source}");
    let parse = opal_syntax::parse(source, &Words(&registry));
    let unit = lower::unit(&parse, source);
    let planned = plan_of(&unit, Some((&parse, source)));
    plan_hash(&planned.unwrap_or_else(|errors| panic!("{errors:#?}\n{source}")))
}

pub(crate) fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file of the repository.
pub(crate) fn file(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap()
}
