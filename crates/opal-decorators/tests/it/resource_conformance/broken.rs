//! A resource for each law, which breaks it.

use std::fs;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use opal_core::Data;
use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Descriptor, Resource};
use opal_core::resolver::{Inputs, Probe, Trouble, TroubleKind};
use opal_core::resource::Status::{self, Blocked, Missing};
use opal_core::resource::{Finding, Verify};
use opal_testing::conformance::{Case, Law, check_resource};

type Look = fn(&dyn Probe) -> Result<Finding, Trouble>;

/// A resource made of two functions.
#[derive(Debug)]
struct Made {
    look: Look,
    act: fn(&dyn Probe),
}

impl Verify for Made {
    fn verify(&self, _: &Inputs, probe: &dyn Probe) -> Result<Finding, Trouble> {
        (self.look)(probe)
    }
}

impl Action for Made {
    fn act(&self, _: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        (self.act)(&*stage.probe());
        Ok(Data::Null)
    }
}

const DEMO: Descriptor = Descriptor { path: "demo.thing", ..Descriptor::BASE };

const fn resource(made: &'static Made) -> Option<Resource> {
    Some(Resource { yaml: "demo", key: &[], verify: made })
}

fn laws(descriptor: &'static Descriptor, status: Status) -> Vec<Law> {
    let case = Case { name: "demo", status, prepare: |_| Ok(Vec::new()) };
    check_resource(descriptor, &[case]).into_iter().map(|violation| violation.law).collect()
}

fn file(probe: &dyn Probe) -> std::path::PathBuf {
    probe.place("file").expect("it is beside the source")
}

fn is_there(probe: &dyn Probe) -> Result<Finding, Trouble> {
    Ok(match file(probe).exists() {
        true => Finding::satisfied("there"),
        false => Finding::missing("not there"),
    })
}

fn write(probe: &dyn Probe) {
    fs::write(file(probe), "x").expect("the directory is its own");
}

#[test]
fn one_that_obeys_is_left_alone() {
    static GOOD: Made = Made { look: is_there, act: write };
    static IT: Descriptor = Descriptor { resource: resource(&GOOD), action: Some(&GOOD), ..DEMO };
    assert_eq!(laws(&IT, Missing), []);
    assert_eq!(laws(&IT, Status::Drifted), [Law::R1], "it is not what the case says");
}

#[test]
fn two_looks_that_differ_are_found() {
    static LOOKS: AtomicU64 = AtomicU64::new(0);
    static FICKLE: Made = Made {
        look: |probe| match file(probe).exists() {
            true => Ok(Finding::satisfied("there")),
            false => {
                let count = LOOKS.fetch_add(1, Ordering::SeqCst);
                Ok(Finding::missing(format!("not there for the {count}. time")))
            }
        },
        act: write,
    };
    static IT: Descriptor =
        Descriptor { resource: resource(&FICKLE), action: Some(&FICKLE), ..DEMO };
    assert_eq!(laws(&IT, Missing), [Law::R1]);
}

#[test]
fn a_verification_with_an_effect_is_found() {
    static MEDDLES: Made = Made {
        look: |probe| {
            fs::write(probe.place("seen")?, "x").expect("the directory is its own");
            is_there(probe)
        },
        act: write,
    };
    static IT: Descriptor =
        Descriptor { resource: resource(&MEDDLES), action: Some(&MEDDLES), ..DEMO };
    assert!(laws(&IT, Missing).contains(&Law::R2));
}

#[test]
fn an_action_that_does_not_help_is_found() {
    static IDLE: Made = Made { look: is_there, act: |_| {} };
    static IT: Descriptor = Descriptor { resource: resource(&IDLE), action: Some(&IDLE), ..DEMO };
    assert!(laws(&IT, Missing).contains(&Law::R3));
}

#[test]
fn an_action_that_does_more_each_time_is_found() {
    static GROWS: Made = Made {
        look: is_there,
        act: |probe| {
            let file = fs::OpenOptions::new().create(true).append(true).open(file(probe));
            file.and_then(|mut file| file.write_all(b"x")).expect("the directory is its own");
        },
    };
    static IT: Descriptor = Descriptor { resource: resource(&GROWS), action: Some(&GROWS), ..DEMO };
    assert_eq!(laws(&IT, Missing), [Law::R4]);
}

#[test]
fn one_that_is_blocked_and_then_acts_is_found() {
    static LOOKS: AtomicU64 = AtomicU64::new(0);
    static GIVES_IN: Made = Made {
        look: |probe| match LOOKS.fetch_add(1, Ordering::SeqCst) {
            0 | 1 => Err(Trouble::new(TroubleKind::Denied, "`file` is locked", "unlock it")),
            _ => is_there(probe),
        },
        act: write,
    };
    static IT: Descriptor =
        Descriptor { resource: resource(&GIVES_IN), action: Some(&GIVES_IN), ..DEMO };
    assert_eq!(laws(&IT, Blocked), [Law::R5]);
}

#[test]
fn one_that_is_blocked_without_a_reason_is_found() {
    static SULKS: Made = Made {
        look: |_| {
            let help = Vec::new();
            Err(Trouble { kind: TroubleKind::Failed, message: "no".into(), help })
        },
        act: write,
    };
    static IT: Descriptor = Descriptor { resource: resource(&SULKS), action: Some(&SULKS), ..DEMO };
    assert_eq!(laws(&IT, Blocked), [Law::R6, Law::R6]);
}
