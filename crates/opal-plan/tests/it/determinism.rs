//! Planning is a function: the same source, arguments and world give the same plan, to the byte.
//!
//! The programs are made up, a thousand of them from a fixed seed; `determinism/programs.rs` says
//! of what.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use opal_testing::planning;

mod programs;
mod random;

use std::collections::BTreeSet;
use std::time::Duration;

use opal_core::contract::{Contract, Encoding, Provenance, compare, encode, plan_hash};
use opal_core::plan::{Plan, RedirectTarget, Step};
use opal_plan::plan::{Purpose, Resolved};
use opal_testing::MemoryWorld;

use planning::Project;

const PROGRAMS: u64 = 1_000;

fn planned(project: &Project) -> Resolved {
    match project.plan() {
        Ok(resolved) => resolved,
        Err(errors) => {
            let errors: String = errors.iter().map(|error| project.line(error)).collect();
            panic!("{errors}\n{}", project.source)
        }
    }
}

fn project(seed: u64, purpose: Purpose) -> Project {
    let source = programs::program(seed);
    Project::new(&source).purpose(purpose).world(programs::world)
}

fn bytes(contract: &Contract) -> Vec<u8> {
    let encoding =
        Encoding { envelope: b"sealed", auth_key: &[1; 32], compress: false, signer: None };
    encode(contract, &encoding).unwrap()
}

/// Every path of a plan, redirections included.
fn paths(steps: &[Step], into: &mut Vec<Box<str>>) {
    for step in steps {
        into.push(step.path.clone());
        paths(&step.block, into);
        for redirect in &step.redirects {
            if let RedirectTarget::Step(target) = &redirect.target {
                paths(std::slice::from_ref(target), into);
            }
        }
    }
}

fn steps_of(plan: &Plan) -> usize {
    let mut found = Vec::new();
    paths(&plan.steps, &mut found);
    let distinct: BTreeSet<&Box<str>> = found.iter().collect();
    assert_eq!(distinct.len(), found.len(), "{found:#?}");
    found.len()
}

#[test]
fn a_thousand_programs_give_the_same_quick_plan_twice() {
    let mut steps = 0;
    for seed in 0..PROGRAMS {
        let once = || planned(&project(seed, Purpose::Quick));
        let (one, two) = (once(), once());
        assert_eq!(format!("{one:?}"), format!("{two:?}"), "{}", programs::program(seed));
        steps += steps_of(&one.plan);
    }
    assert!(steps > 10 * PROGRAMS as usize, "the programs do little: {steps} steps");
}

#[test]
fn a_thousand_contracts_hold_when_they_are_planned_again() {
    for seed in 0..PROGRAMS {
        let contract = || {
            let plan = planned(&project(seed, Purpose::Contract)).plan;
            Contract::new(plan, 0, Provenance::default()).unwrap()
        };
        let (before, after) = (contract(), contract());
        steps_of(before.plan());
        assert_eq!(bytes(&before), bytes(&after), "{}", programs::program(seed));
        let verdict = compare(&before, after.plan());
        assert!(verdict.is_same(), "{verdict:#?}\n{}", programs::program(seed));
        assert!(!verdict.source_moved);
    }
}

#[test]
fn a_formatted_program_is_the_same_plan_whatever_it_is_for() {
    for seed in 0..PROGRAMS {
        let before = project(seed, Purpose::Run);
        let words = opal_plan::Words(&before.registry);
        let formatted = opal_syntax::format(&before.source, &words, opal_syntax::Style::default());
        let after =
            Project::new(&formatted.unwrap()).purpose(Purpose::Contract).world(programs::world);
        let contract = Contract::new(planned(&before).plan, 0, Provenance::default()).unwrap();
        let fresh = planned(&after).plan;
        assert_eq!(contract.plan_hash(), plan_hash(&fresh), "{}", before.source);
        assert!(compare(&contract, &fresh).is_same(), "{}", before.source);
    }
}

#[test]
fn the_order_in_which_answers_arrive_changes_nothing() {
    let slow = |world: MemoryWorld| programs::world(world).slow(Duration::from_micros(300));
    for seed in 0..60 {
        let quick = planned(&project(seed, Purpose::Contract));
        for _ in 0..3 {
            let later = project(seed, Purpose::Contract).world(slow);
            assert_eq!(format!("{quick:?}"), format!("{:?}", planned(&later)), "{}", later.source);
        }
    }
}
