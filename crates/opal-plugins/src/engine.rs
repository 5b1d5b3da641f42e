//! The code of a decorator before its package is installed: every call is an error.

use opal_core::Data;
use opal_core::action::{Action, Halt, Stage};
use opal_core::boundary::{Boundary, Member};
use opal_core::resolver::{Inputs, Probe, Resolver, Trouble, TroubleKind};
use opal_core::resource::{Finding, Verify};

/// The exit code of a step whose helper is missing.
const UNAVAILABLE: i32 = 69;

#[derive(Debug)]
pub(crate) struct Unwired;

pub(crate) static UNWIRED: Unwired = Unwired;

fn trouble() -> Trouble {
    Trouble::new(
        TroubleKind::Unreachable,
        "the code of this package is not loaded",
        "install it: `opal plugin install`",
    )
}

impl Resolver for Unwired {
    fn resolve(&self, _: &Inputs, _: &dyn Probe) -> Result<Data, Trouble> {
        Err(trouble())
    }
}

impl Action for Unwired {
    fn act(&self, _: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        Err(stage.fail(UNAVAILABLE, trouble()))
    }
}

impl Verify for Unwired {
    fn verify(&self, _: &Inputs, _: &dyn Probe) -> Result<Finding, Trouble> {
        Err(trouble())
    }
}

impl Boundary for Unwired {
    fn targets(&self, _: &Inputs, _: &dyn Probe) -> Result<Vec<Member>, Trouble> {
        Err(trouble())
    }

    fn steering(&self) -> &'static [&'static str] {
        &[]
    }
}

/// A decorator that is written in opal: the steps that took the place of its call.
#[derive(Debug)]
pub(crate) struct Expanded;

pub(crate) static EXPANDED: Expanded = Expanded;

impl Action for Expanded {
    fn act(&self, _: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        stage.block(&opal_core::action::Conditions::default()).map(|()| Data::Null)
    }
}
