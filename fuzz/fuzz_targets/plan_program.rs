//! Any source: what passes the check is planned without a panic, within limits, the same twice;
//! every place that an error names is a piece of the source.

#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use opal_core::contract::{Contract, Provenance, compare, plan_hash};
use opal_core::hash::Algorithm;
use opal_core::{Diagnostic, Registry, Value};
use opal_plan::plan::{Purpose, Request, Resolved, Unplanned, plan};
use opal_core::selection::Selection;
use opal_plan::unit::Unit;
use opal_testing::planning::FixedKeys;
use opal_testing::MemoryWorld;
use opal_plan::Words;
use opal_plan::check;
use opal_plan::lower;
use opal_syntax::Parse;

struct Program<'p> {
    text: &'p str,
    registry: &'p Registry,
    parse: &'p Parse,
    unit: &'p Unit,
}

impl Program<'_> {
    fn plan(&self, function: Option<&str>, purpose: Purpose) -> Option<Resolved> {
        let arguments: BTreeMap<String, Value> = BTreeMap::new();
        let request = Request {
            unit: self.unit,
            registry: self.registry,
            text: Some((self.parse, self.text)),
            function,
            arguments: &arguments,
            algorithm: Algorithm::Sha256,
            purpose,
            selection: Selection::default(),
        };
        let world = MemoryWorld::default().otherwise("3");
        match plan(&request, &world, &mut FixedKeys) {
            Ok(resolved) => Some(resolved),
            Err(Unplanned::Errors(errors)) => {
                assert!(!errors.is_empty());
                for found in errors {
                    assert!(self.text.get(found.primary.span.range()).is_some(), "{found:#?}");
                    assert!(!found.help.is_empty(), "{found:#?}");
                }
                None
            }
            Err(Unplanned::Key(error)) => panic!("{error}"),
        }
    }

    fn check(&self, function: Option<&str>) {
        if let Some(quick) = self.plan(function, Purpose::Quick) {
            let _ = plan_hash(&quick.plan);
        }
        let Some(first) = self.plan(function, Purpose::Contract) else { return };
        let Ok(contract) = Contract::new(first.plan, 0, Provenance::default()) else { return };
        let again = self.plan(function, Purpose::Contract).expect("it could be planned before");
        let verdict = compare(&contract, &again.plan);
        assert!(verdict.is_same(), "{verdict:#?}");
    }
}

fuzz_target!(|text: &str| {
    let registry = opal_decorators::registry();
    let checked = check::check(text, &registry);
    if checked.diagnostics.iter().any(Diagnostic::is_error) {
        return;
    }
    let parse = opal_syntax::parse(text, &Words(&registry));
    let unit = lower::unit(&parse, text);
    let program = Program { text, registry: &registry, parse: &parse, unit: &unit };
    program.check(None);
    for function in &unit.functions {
        program.check(Some(&function.name.text));
    }
});
