//! Every built-in execution decorator obeys the laws, and the suite finds those that do not.

use opal_core::action::{Action, Conditions, Directory, Halt, Stage};
use opal_core::decorator::{Block, Descriptor};
use opal_core::resolver::Inputs;
use opal_core::{Data, Duration, Value};
use opal_decorators::BUILT_IN;
use opal_testing::conformance::{Law, check_action};

#[test]
fn the_built_in_decorators_obey_the_laws() {
    let mut checked = Vec::new();
    // What describes a state has laws of its own.
    let acts = BUILT_IN.iter().filter(|it| it.resource.is_none() || it.path == "shell");
    // A block on a target needs one: `opal-exec/tests/it/execute/targets.rs` has them.
    let acts = acts.filter(|descriptor| descriptor.boundary.is_none());
    for descriptor in acts.filter(|descriptor| descriptor.action.is_some()) {
        let given = match descriptor.path {
            "retry" => vec![("delay", Value::Duration(Duration::from_millis(1)))],
            _ => Vec::new(),
        };
        let broken = check_action(descriptor, &given);
        assert!(broken.is_empty(), "@{}: {broken:?}", descriptor.path);
        checked.push(descriptor.path);
    }
    checked.sort_unstable();
    assert_eq!(
        checked,
        [
            "cmd",
            "confirm",
            "environ",
            "fail",
            "limits",
            "log",
            "mysql",
            "needs",
            "parallel",
            "print",
            "psql",
            "rethrow",
            "retry",
            "script",
            "shell",
            "sqlite",
            "timeout",
            "to.display",
            "workdir"
        ]
    );
}

#[test]
fn what_acts_and_is_not_a_resource_can_be_run() {
    let acts = BUILT_IN.iter().filter(|descriptor| descriptor.is_action());
    for descriptor in acts.filter(|descriptor| descriptor.resource.is_none()) {
        assert!(descriptor.action.is_some() || descriptor.sink.is_some(), "@{}", descriptor.path);
    }
}

const WRAPPER: Descriptor =
    Descriptor { path: "demo.wrapper", block: Block::Required, ..Descriptor::BASE };

fn breaks(descriptor: &'static Descriptor, law: Law) {
    let broken = check_action(descriptor, &[]);
    assert!(broken.iter().any(|violation| violation.law == law), "{broken:?}");
}

#[derive(Debug)]
struct Swallows;

impl Action for Swallows {
    fn act(&self, _: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let _ = stage.block(&Conditions::default());
        Ok(Data::Null)
    }
}

#[test]
fn a_failure_that_is_swallowed_is_found() {
    static SWALLOWS: Descriptor = Descriptor { action: Some(&Swallows), ..WRAPPER };
    breaks(&SWALLOWS, Law::L9);
}

#[derive(Debug)]
struct Insists;

impl Action for Insists {
    fn act(&self, _: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        match stage.block(&Conditions::default()) {
            Err(Halt::Stopped(_)) => Err(stage.exit(1)),
            other => other.map(|()| Data::Null),
        }
    }
}

#[test]
fn an_order_that_is_not_passed_on_is_found() {
    static INSISTS: Descriptor = Descriptor { action: Some(&Insists), ..WRAPPER };
    breaks(&INSISTS, Law::L11);
}

#[derive(Debug)]
struct Refuses;

impl Action for Refuses {
    fn act(&self, _: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let directory = Some(Directory { path: "elsewhere".into(), create: false });
        stage.block(&Conditions { directory, ..Conditions::default() })?;
        Err(stage.exit(1))
    }
}

#[test]
fn a_failure_out_of_nothing_is_found() {
    static REFUSES: Descriptor = Descriptor { action: Some(&Refuses), ..WRAPPER };
    breaks(&REFUSES, Law::L10);
}
