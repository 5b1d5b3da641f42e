//! Decorators of a provider as opal plans and runs them.

use std::collections::BTreeMap;

use opal_core::action::{Action, Conditions, Halt, Level, Object, ObjectNews, Stage};
use opal_core::data::{Data, Secret};
use opal_core::protocol::call::{self, Acted, Invocation, Resolved};
use opal_core::protocol::request::Service;
use opal_core::protocol::{Body, Refusal, Shape, line};
use opal_core::resolver::{Input, Inputs, Probe, Resolver, Trouble};
use opal_core::resource::{Finding, Verify};
use opal_core::shape::Shape as ResultShape;
use opal_core::types::Type;

use super::Provider;
use super::bridge::{BRIDGE, Bridge, Configured, denied};
use super::deletion::Deletion;
use super::finding::finding;
use super::intent::{Acts, region};
use super::variables::gets;
use crate::adapt::result;
use crate::client::Serve;
use crate::client::failure::{CallFailure, Why};

/// The exit code of a step that would delete what nobody has confirmed.
const REFUSED: i32 = 2;

/// One decorator of a provider.
#[derive(Debug)]
pub(super) struct ProviderAdapter {
    pub(super) provider: &'static Provider,
    pub(super) path: &'static str,
    /// `aws_vpc`, or `aws_vpc.absent`.
    pub(super) of: String,
    pub(super) returns: Option<&'static ResultShape>,
    pub(super) ty: Option<Type>,
}

/// The block with the configuration of a provider: its steps, one after the other.
#[derive(Debug)]
pub(super) struct Around;

impl Action for Around {
    fn act(&self, _: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        stage.block(&Conditions::default()).map(|()| Data::Null)
    }
}

impl ProviderAdapter {
    fn failure(&self, why: Why) -> CallFailure {
        CallFailure {
            plugin: self.provider.name().to_owned(),
            version: self.provider.version().to_owned(),
            decorator: self.path.to_owned(),
            why,
        }
    }

    /// The arguments in clear: the provider needs them, and the helper is ours. `only` is the object that
    /// may be deleted.
    fn invocation(&self, inputs: &Inputs, only: Option<&Secret>) -> Invocation {
        let data = |input: &Input| match input {
            Input::Data(data) => Some(data.clone()),
            Input::Script(_) => None,
        };
        let args = inputs.args.iter();
        let args = args.filter_map(|(name, input)| Some(((*name).to_owned(), data(input)?)));
        let only = only.map(|only| ("$only".to_owned(), Data::Text(only.clone())));
        Invocation {
            decorator: self.of.clone(),
            subject: None,
            args: line::json(&Data::Map(args.chain(only).collect())),
            secrets: 0,
            text: None,
            seed: String::new(),
            token: None,
            outcome: None,
            event: None,
        }
    }

    fn configured(
        &self,
        bridge: &Bridge,
        inputs: &Inputs,
        probe: &dyn Probe,
    ) -> Result<Configured<'_>, Trouble> {
        let (config, given) = settings(inputs.settings());
        let mut environment: BTreeMap<String, Secret> = BTreeMap::new();
        let short = self.provider.wanted.short();
        for name in bridge.variables.iter().filter(|name| gets(short, name)) {
            if let Some(value) = probe.env(name)? {
                environment.insert(name.clone(), value);
            }
        }
        for (name, value) in given {
            if let Data::Text(value) = value {
                environment.insert(name, value);
            }
        }
        Ok(Configured {
            provider: self.provider,
            config: line::json(&Data::Map(config)),
            environment: environment.into_iter().collect(),
        })
    }

    fn bridge(&self) -> Result<&'static Bridge, CallFailure> {
        BRIDGE.get().ok_or_else(|| self.failure(Why::NoRuntime))
    }

    fn ask<T: Shape>(
        &self,
        function: &str,
        inputs: &Inputs,
        probe: &dyn Probe,
    ) -> Result<T, Trouble> {
        let bridge = self.bridge().map_err(|failure| trouble(&failure))?;
        let of = self.configured(bridge, inputs, probe)?;
        let invocation = self.invocation(inputs, None);
        let answer = bridge.call(&of, function, &invocation, &mut Reads(probe));
        answer.map_err(|why| trouble(&self.failure(why)))
    }

    fn data(&self, text: &Secret) -> Result<Data, CallFailure> {
        result(text, self.ty.as_ref(), self.returns).map_err(|why| self.failure(Why::Strange(why)))
    }

    /// What identifies the object that a step may delete: none where it never deletes one, and an empty text
    /// where there was nothing to delete. Whatever is there by the time of the apply, nobody agreed to it.
    fn only(
        &self,
        bridge: &Bridge,
        inputs: &Inputs,
        stage: &dyn Stage,
    ) -> Result<Option<Secret>, Halt> {
        if !self.of.ends_with(".absent") && !inputs.is_true("replace") {
            return Ok(None);
        }
        let found: Result<call::Finding, _> = self.ask("state.verify", inputs, &*stage.probe());
        let found = found.map_err(|trouble| stage.fail(1, trouble))?;
        let deletion = Deletion::of(&found, self.kind(), inputs, bridge.is_held());
        let deletion = deletion.map_err(|trouble| stage.fail(REFUSED, trouble))?;
        match deletion {
            None => Ok(Some(Secret::new(""))),
            Some(deletion) if bridge.may_delete(&deletion) => Ok(found.identity),
            Some(deletion) => Err(stage.fail(REFUSED, deletion.refused())),
        }
    }

    /// The type, without what the step does with it.
    pub(super) fn kind(&self) -> &str {
        self.of.strip_suffix(".absent").unwrap_or(&self.of)
    }

    pub(super) fn note(
        &self,
        stage: &mut dyn Stage,
        identity: Option<&Secret>,
        news: ObjectNews,
    ) -> Result<(), Halt> {
        let (plugin, version) = (self.provider.name(), self.provider.version());
        stage.object(&Object { plugin, version, of: Some(self.kind()), identity, news })
    }

    /// Applies, and records what was acted on.
    fn apply(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Acted, Halt> {
        let fail = |stage: &dyn Stage, failure: &CallFailure| match stage.go_on() {
            // What it says may be about having been stopped.
            Err(halt) => halt,
            Ok(()) => stage.fail(failure.code(), trouble(failure)),
        };
        let bridge = self.bridge().map_err(|failure| fail(stage, &failure))?;
        let of = self.configured(bridge, inputs, &*stage.probe());
        let of = of.map_err(|trouble| stage.fail(1, trouble))?;
        let only = self.only(bridge, inputs, stage)?;
        let invocation = self.invocation(inputs, only.as_ref());
        let region = region(inputs, &of.environment);
        let mut acts = Acts { adapter: self, bridge, inputs, region, stage, halt: None };
        let acted = bridge.call::<Acted>(&of, "action.act", &invocation, &mut acts);
        if let Some(halt) = acts.halt.take() {
            return Err(halt);
        }
        for log in bridge.take_printed() {
            stage.log(Level::Debug, &log)?;
        }
        let note = |stage: &mut dyn Stage, identity: Option<&Secret>| {
            self.note(stage, identity, ObjectNews::Made)
        };
        let acted = match acted {
            Ok(acted) => acted,
            Err(why) => {
                // What is there although the call failed.
                if let Why::Refused(Refusal { identity: Some(identity), .. }) = &why {
                    note(stage, Some(identity))?;
                }
                return Err(fail(stage, &self.failure(why)));
            }
        };
        note(stage, acted.identity.as_ref())?;
        if let Some(message) = &acted.message {
            let message = done(message, acted.changes.as_deref().unwrap_or_default(), stage);
            stage.log(Level::Info, &message)?;
        }
        Ok(acted)
    }
}

/// What was done: `changed: path "/" → "/ci/"`. Opposite what is hidden there may be an older secret.
fn done(message: &Secret, changes: &[(String, (Secret, Secret))], stage: &dyn Stage) -> Secret {
    let each =
        changes.iter().map(|(path, (now, before))| match stage.hides(now) || stage.hides(before) {
            true => path.clone(),
            false => format!("{path} {} → {}", before.expose(), now.expose()),
        });
    match each.collect::<Vec<_>>().join(", ") {
        all if all.is_empty() => message.clone(),
        all => Secret::new(format!("{}: {all}", message.expose())),
    }
}

/// In words. What the helper says about a provider names it already.
fn trouble(failure: &CallFailure) -> Trouble {
    let mut trouble = failure.trouble();
    if let Why::Refused(Refusal { message, help, engine: None, .. }) = &failure.why {
        let line =
            |text: &Secret| text.expose().lines().map(str::trim).collect::<Vec<_>>().join("; ");
        trouble.message = line(message).into();
        trouble.help = help.iter().map(|help| line(help).into()).collect();
    }
    trouble
}

/// The settings of a block, apart: the configuration of the provider, and the variables that it gets.
fn settings(
    given: Option<&BTreeMap<String, Data>>,
) -> (BTreeMap<String, Data>, BTreeMap<String, Data>) {
    let mut config = given.cloned().unwrap_or_default();
    let environment = match config.remove("env") {
        Some(Data::Map(given)) => given,
        _ => BTreeMap::new(),
    };
    config.remove("expect");
    // The manifest gives attributes of these names another one.
    for own in ["env", "expect"] {
        if let Some(value) = config.remove(&format!("{own}_")) {
            config.insert(own.to_owned(), value);
        }
    }
    (config, environment)
}

impl Resolver for ProviderAdapter {
    fn resolve(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Data, Trouble> {
        let resolved: Resolved = self.ask("value.resolve", inputs, probe)?;
        self.data(&resolved.value).map_err(|failure| trouble(&failure))
    }
}

impl Verify for ProviderAdapter {
    fn verify(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Finding, Trouble> {
        let found: call::Finding = self.ask("state.verify", inputs, probe)?;
        if let Some(bridge) = BRIDGE.get() {
            let deletion = Deletion::of(&found, self.kind(), inputs, bridge.is_held())?;
            deletion.into_iter().for_each(|deletion| bridge.saw(deletion));
        }
        let data = match (&found.object, &self.ty) {
            (Some(object), Some(_)) => {
                Some(self.data(object).map_err(|failure| trouble(&failure))?)
            }
            _ => None,
        };
        Ok(finding(&found, self.kind(), data))
    }

    /// The helper verifies what it applied until it is in the desired state, or fails.
    fn is_verified_after(&self) -> bool {
        false
    }
}

impl Action for ProviderAdapter {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let acted = self.apply(inputs, stage)?;
        if self.ty.is_none() {
            return Ok(Data::Null);
        }
        let data = self.data(&acted.output);
        data.map_err(|failure| stage.fail(failure.code(), trouble(&failure)))
    }
}

/// Whether anybody still waits is all that is asked here.
struct Reads<'a>(&'a dyn Probe);

impl Serve for Reads<'_> {
    fn serve(&mut self, _: Service, _: &Body) -> Result<Body, Refusal> {
        denied()
    }

    fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }
}
