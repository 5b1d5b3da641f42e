//! Blocks that run where a plugin says. What it says is bound by what it was granted, while planning and again
//! when the block runs; the names are those of the plan.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::num::NonZeroU16;

use opal_core::Duration;
use opal_core::action::{Fleet, Halt, OnFailure, Stage};
use opal_core::boundary::{Boundary, Member, planned};
use opal_core::crossing::{Crossing, Facts, PLACES, Settings, Target, places};
use opal_core::data::Secret;
use opal_core::protocol::call::{self, Function, Targets};
use opal_core::resolver::{Inputs, Probe, Trouble, TroubleKind};
use opal_core::target::{Carrier, Hop, Program, Readiness, Ssh};

use super::Adapter;
use crate::client::failure::{CallFailure, Why};
use crate::client::grants::{Grants, Use};
use crate::client::serving::Reading;

/// How long a target may take to be ready where the plugin does not say.
const READY_WITHIN: u32 = 300_000;

/// Targets at a time.
const MOST: usize = 20;

/// Another machine answers than the one that is meant.
const MUTATED: i32 = 76;

impl Boundary for Adapter {
    fn targets(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Vec<Member>, Trouble> {
        let targets = self.found(inputs, probe).map_err(|failure| failure.trouble())?;
        let member = |target: Target| {
            let host = match &target.hop {
                Hop::Ssh(ssh) => ssh.host.to_string(),
                _ => target.name.to_string(),
            };
            let facts = Facts { name: target.name.to_string(), host, ..Facts::default() };
            Member { target, facts }
        };
        Ok(targets.into_iter().map(member).collect())
    }

    /// Secrets are needed too, and name no target: what a plugin returns is shown.
    fn steering(&self) -> &'static [&'static str] {
        self.steering
    }

    fn is_expensive(&self, _: &Inputs) -> bool {
        self.is_expensive
    }

    fn is_fleet(&self, _: &Inputs) -> bool {
        true
    }

    fn needs_all(&self) -> bool {
        true
    }

    /// The parameters are the plugin's own, whatever their names are.
    fn crossing(&self, _: &Inputs, target: Target) -> Crossing {
        Crossing { target, settings: Settings::default().into(), visit: 0 }
    }

    fn check(&self, _: &Inputs) -> Result<(), Trouble> {
        Ok(())
    }
}

impl Adapter {
    /// What the plugin answers, each target once and as granted.
    fn found(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Vec<Target>, CallFailure> {
        let (invocation, handles) = self.invocation(inputs);
        let powers = self.powers()?;
        let mut reading = Reading { probe, powers, handles };
        let (answer, _) = self.call::<Targets>(Function::Targets, &invocation, &mut reading)?;
        let mut targets: Vec<Target> = Vec::new();
        for one in answer.targets {
            let target = self.target(powers.grants, one)?;
            if targets.iter().any(|it| it.name == target.name) {
                return Err(self.strange(format!("it names the target `{}` twice", target.name)));
            }
            targets.push(target);
        }
        match targets.is_empty() {
            true => Err(self.strange("it gives no targets")),
            false => Ok(targets),
        }
    }

    fn strange(&self, what: impl Display) -> CallFailure {
        self.failure(Why::Strange(what.to_string()))
    }

    fn target(&self, grants: &Grants, given: call::Target) -> Result<Target, CallFailure> {
        let name = given.name.parse().map_err(|error| self.strange(error))?;
        let refused = |what: &str| {
            let what = format!("it returns {what} for the target `{name}`");
            move |refusal: opal_core::protocol::Refusal| {
                self.strange(format!("{what}: {}", refusal.message.expose()))
            }
        };
        let program = |what: &str, how: Use, it: call::Program| {
            let words: Vec<&str> = it.args.iter().map(String::as_str).collect();
            let program = Program::new(&it.name, it.args.clone());
            let program = program.map_err(|error| self.strange(error))?;
            let shown = format!("the {what} `{program}`");
            grants.command(how, &it.name, &words).map_err(refused(&shown))?;
            Ok(program)
        };
        let hop = match (given.ssh, given.program) {
            (Some(ssh), None) => {
                let shown = format!("`ssh` to `{}`", ssh.host);
                grants.ssh(ssh.user.as_deref(), &ssh.host).map_err(refused(&shown))?;
                Hop::Ssh(self.ssh(&ssh)?)
            }
            (None, Some(it)) => Hop::Program(Carrier {
                program: program("transport", Use::Transport, it)?,
                has_agent: grants.has_agent(),
            }),
            _ => return Err(self.strange("a target has one transport")),
        };
        let interpreter = given.interpreter.map(|it| program("interpreter", Use::Run, it));
        let ready = given.ready.map(|it| program("program `ready`", Use::Run, it)).transpose()?;
        let within = match given.ready_within {
            0 => READY_WITHIN,
            within => within,
        };
        let within = Duration::from_millis(within.into());
        Ok(Target {
            interpreter: interpreter.transpose()?,
            ready: ready.map(|program| Readiness { program, within }),
            ..Target::new(name, hop)
        })
    }

    fn ssh(&self, given: &call::Ssh) -> Result<Ssh, CallFailure> {
        let user = given.user.as_deref().map(str::parse).transpose();
        let port = given.port.map(|port| NonZeroU16::new(port).ok_or("0 is not a port"));
        Ok(Ssh {
            host: given.host.parse().map_err(|error| self.strange(error))?,
            port: port.transpose().map_err(|error| self.strange(error))?,
            user: user.map_err(|error| self.strange(error))?,
        })
    }

    /// Runs the block on every target of the plan, where the plugin says they are now.
    pub(super) fn on_targets(
        &self,
        inputs: &Inputs,
        environment: BTreeMap<String, Secret>,
        stage: &mut dyn Stage,
    ) -> Result<(), Halt> {
        let planned = planned(inputs).map_err(|trouble| stage.fail(1, trouble))?;
        let targets = match stage.is_pretended() {
            true => planned,
            false => self.still_there(inputs, planned, stage)?,
        };
        let settings = std::sync::Arc::new(Settings { environment, ..Settings::default() });
        let crossing = |target| Crossing { target, settings: settings.clone(), visit: 0 };
        let crossings: Vec<Crossing> = targets.into_iter().map(crossing).collect();
        let batches = vec![crossings.len()];
        stage.fleet(&Fleet {
            crossings,
            most: MOST,
            batches,
            tolerate: 0,
            on_failure: OnFailure::Wait,
            is_reached_first: false,
            output: None,
        })
    }

    /// The targets of the plan as the plugin gives them now. Addresses may be others: what the step created has
    /// one only now. All else is what people have seen in the plan.
    fn still_there(
        &self,
        inputs: &Inputs,
        planned: Vec<Target>,
        stage: &mut dyn Stage,
    ) -> Result<Vec<Target>, Halt> {
        let found = {
            let probe = stage.probe();
            self.found(inputs, &*probe)
        };
        let mut found = found.map_err(|failure| Self::halt(stage, &failure))?;
        let total = inputs.open.get(PLACES).and_then(places).map_or(planned.len(), |(_, of)| of);
        let mutated = |what: String| {
            let help = "plan again: the plugin gives other targets now";
            stage.fail(MUTATED, Trouble::new(TroubleKind::Mutated, what, help))
        };
        if found.len() != total {
            let count = found.len();
            return Err(mutated(format!(
                "the plan has {total} targets, and there are {count} now"
            )));
        }
        let mut targets = Vec::new();
        for before in planned {
            let name = before.name.as_str();
            let Some(at) = found.iter().position(|it| it.name == before.name) else {
                return Err(mutated(format!("infra_missing:{name}: it is not given any more")));
            };
            let now = found.swap_remove(at);
            if !is_as_planned(&before, &now) {
                let (before, now) = (before.transport(), now.transport());
                let what = format!("infra_mutated:{name}: `{before}` in the plan, `{now}` now");
                return Err(mutated(what));
            }
            targets.push(now);
        }
        Ok(targets)
    }
}

/// Whether nothing has changed but the address.
fn is_as_planned(before: &Target, now: &Target) -> bool {
    let hop = match (&before.hop, &now.hop) {
        (Hop::Ssh(before), Hop::Ssh(now)) => before.user == now.user,
        (before, now) => before == now,
    };
    hop && before.interpreter == now.interpreter && before.ready == now.ready
}
