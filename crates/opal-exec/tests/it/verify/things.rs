//! Resources of plain data, which write down when they are verified and when they are applied.
//!
//! The first part of a thing's name is the group that it belongs to: each test has one of its own.

#![allow(dead_code, reason = "every suite that has this file uses its own part of it")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use opal_core::action::{Action, Halt, Pause, Stage};
use opal_core::decorator::{Capability, Descriptor, Param, Presence, Resource};
use opal_core::resolver::{Inputs, Probe, Trouble, TroubleKind};
use opal_core::resource::{Details, Finding, Verify};
use opal_core::types::TypeRef;
use opal_core::{Data, Type};
use opal_testing::processes::eventually;

const WORD: Param = Param { presence: Presence::Optional, ..Param::BASE };
const TIME: Param = Param { ty: Type::Duration, ..WORD };
const WORDS: Param = Param { ty: Type::Array(TypeRef::Static(&Type::String)), ..WORD };

/// `is` says what a verification finds, whatever was applied; `takes` how long it takes; `meets`
/// how many looks wait for each other; `apply` how it is made.
pub(crate) static THING: Descriptor = A_THING;

/// One that belongs to the packages of the machine.
pub(crate) static PACKAGE: Descriptor =
    Descriptor { path: "test.package", capabilities: &[Capability::Packages], ..A_THING };

/// One that belongs to its users.
pub(crate) static USER: Descriptor =
    Descriptor { path: "test.user", capabilities: &[Capability::Users], ..A_THING };

const A_THING: Descriptor = Descriptor {
    path: "test.thing",
    params: &[
        Param { name: "name", ..Param::BASE },
        Param { name: "is", ..WORD },
        Param { name: "takes", ..TIME },
        Param { name: "meets", ty: Type::Int, ..WORD },
        Param { name: "apply", ..WORD },
        Param { name: "size", ..WORD },
        Param { name: "id", ..WORD },
        Param { name: "depends_on", ..WORDS },
        Param { name: "verify_timeout", ..TIME },
    ],
    resource: Some(Resource { yaml: "thing", key: &["name"], verify: &Thing }),
    action: Some(&Thing),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct Thing;

#[derive(Default)]
struct Group {
    log: Vec<String>,
    made: BTreeSet<String>,
    busy: usize,
    most: usize,
    making: usize,
    most_made: usize,
}

static GROUPS: Mutex<BTreeMap<String, Group>> = Mutex::new(BTreeMap::new());

fn group<T>(name: &str, work: impl FnOnce(&mut Group) -> T) -> T {
    let mut groups: MutexGuard<'_, _> = GROUPS.lock().expect("no test panics in here");
    let first = name.split('/').next().unwrap_or(name).to_owned();
    work(groups.entry(first).or_default())
}

/// What was verified and applied, in order.
pub(crate) fn log(of: &str) -> Vec<String> {
    group(of, |group| group.log.clone())
}

/// How many looks were under way at a time.
pub(crate) fn most_at_once(of: &str) -> usize {
    group(of, |group| group.most)
}

/// How many were made at a time.
pub(crate) fn most_made_at_once(of: &str) -> usize {
    group(of, |group| group.most_made)
}

/// It is there from the beginning.
pub(crate) fn is_there(name: &str) {
    group(name, |group| group.made.insert(name.to_owned()));
}

fn text<'i>(inputs: &'i Inputs, name: &str) -> &'i str {
    inputs.text(name).unwrap_or_default()
}

fn short(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

impl Verify for Thing {
    fn verify(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Finding, Trouble> {
        let name = text(inputs, "name");
        group(name, |group| {
            group.log.push(format!("look {}", short(name)));
            group.busy += 1;
            group.most = group.most.max(group.busy);
        });
        meet(inputs);
        let waited = wait(inputs, probe);
        let is_made = group(name, |group| {
            group.busy -= 1;
            group.made.contains(name)
        });
        waited?;
        Ok(match text(inputs, "is") {
            "missing" => Finding::missing("not there"),
            "drifted" => Finding::drifted("different").with_details(Details::words("-a\n+b\n")),
            "unknown" => Finding::unknown("nobody can tell"),
            "blocked" => {
                let message = format!("`{name}` cannot be read");
                return Err(Trouble::new(TroubleKind::Denied, message, "ask for permission"));
            }
            "panic" => panic!("a resource with a bug"),
            _ if is_made => Finding::satisfied("there"),
            _ => Finding::missing(format!("`{name}` does not exist")),
        })
    }
}

/// Waits until so many looks have been under way at a time, and then long enough for one too many to
/// be seen.
fn meet(inputs: &Inputs) {
    let Some(Data::Int(meets)) = inputs.data("meets") else { return };
    eventually("they meet", || {
        i64::try_from(most_at_once(text(inputs, "name"))).is_ok_and(|most| most >= *meets)
    });
    std::thread::sleep(Duration::from_millis(2));
}

fn wait(inputs: &Inputs, probe: &dyn Probe) -> Result<(), Trouble> {
    let Some(Data::Duration(takes)) = inputs.data("takes") else { return Ok(()) };
    let takes = Duration::from_nanos(takes.as_nanos().unsigned_abs());
    let since = Instant::now();
    while since.elapsed() < takes {
        std::thread::sleep(Duration::from_millis(2));
        if text(inputs, "is") == "hanging" {
            continue;
        }
        match probe.stat(Path::new("/")) {
            Err(trouble) if trouble.kind == TroubleKind::TimedOut => return Err(trouble),
            _ => {}
        }
    }
    Ok(())
}

/// Longer than any test takes.
const LONG: Pause = Pause {
    duration: opal_core::Duration::from_nanos(600_000_000_000),
    attempt: 1,
    of: 1,
    code: 0,
};

impl Action for Thing {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let name = text(inputs, "name");
        group(name, |group| group.log.push(format!("make {}", short(name))));
        match text(inputs, "apply") {
            "fails" => {
                let trouble = Trouble::new(TroubleKind::Failed, "it cannot be made", "try later");
                return Err(stage.fail(3, trouble));
            }
            "stopped" => {
                let _ = stage.pause(&LONG);
                let trouble = Trouble::new(TroubleKind::Failed, "it was cut off", "try later");
                return Err(stage.fail(3, trouble));
            }
            "slowly" => {
                group(name, |group| {
                    group.making += 1;
                    group.most_made = group.most_made.max(group.making);
                });
                std::thread::sleep(Duration::from_millis(30));
                group(name, |group| {
                    group.making -= 1;
                    group.made.insert(name.to_owned())
                });
            }
            "nothing" => {}
            _ => drop(group(name, |group| group.made.insert(name.to_owned()))),
        }
        Ok(Data::Null)
    }
}
