//! Decorators of packages as opal plans and runs them: like built-in ones.
//!
//! | what | where |
//! |---|---|
//! | the code of a package, compiled when it is called first | [`Code`], in `code` |
//! | values, states and actions | here |
//! | what opens before a block and closes after it, and what judges its runs | `blocks` |
//! | what was opened and is not closed yet | [`ending`] |
//! | native programs | [`native`] |
//! | what follows `<` and `>` | `streams` |
//! | blocks that run where a plugin says | `targets` |

mod blocks;
mod code;
pub mod ending;
pub mod native;
mod streams;
mod targets;

use std::collections::BTreeMap;

use opal_core::Duration;
use opal_core::action::{Action, Halt, Level, Object, ObjectNews, Stage};
use opal_core::data::{Data, Secret, json};
use opal_core::decorator::Block;
use opal_core::parameter::{self, Mismatch};
use opal_core::protocol::body::View;
use opal_core::protocol::call::{self, Acted, Function, Invocation, Resolved};
use opal_core::protocol::{Body, Frames, Shape, line};
use opal_core::resolver::{Input, Inputs, Probe, Resolver, Trouble};
use opal_core::resource::{Details, Finding, FoundObject, Status, Verify};
use opal_core::shape::Shape as ResultShape;
use opal_core::types::Type;

pub use self::code::{Code, Made, RUNTIME, Runtime};
use crate::client::Serve;
use crate::client::failure::{CallFailure, Why};
use crate::client::handles::Handles;
use crate::client::serving::{Acting, Keep, Powers, Reading};
use crate::manifest::TO_TARGET;

/// One decorator of a package.
#[derive(Debug)]
pub struct Adapter {
    pub code: &'static Code,
    /// As the package calls it.
    pub decorator: String,
    /// The parameters that are secrets.
    pub secrets: Vec<&'static str>,
    /// Whether its result holds secrets.
    pub gives_secrets: bool,
    pub returns: Option<Type>,
    /// All that its manifest says about what it returns.
    pub shape: Option<&'static ResultShape>,
    pub block: Block,
    /// How often a policy may try; none where it is not one.
    pub attempts: Option<u32>,
    /// Whether it describes a state, so that it verifies and creates before its block runs.
    pub is_resource: bool,
    /// Whether it opens something before its block and closes it afterwards.
    pub opens: bool,
    /// Whether its block runs where it says.
    pub has_targets: bool,
    /// Whether asking it takes time.
    pub is_expensive: bool,
    /// The parameters that are in plans for all to see.
    pub steering: &'static [&'static str],
}

impl Adapter {
    /// The secrets among the arguments.
    pub(crate) fn given_secrets(&self, inputs: &Inputs) -> Vec<Secret> {
        let secret = |name: &&'static str| match inputs.data(name) {
            Some(Data::Text(text)) => Some(text.clone()),
            _ => None,
        };
        self.secrets.iter().filter_map(secret).collect()
    }

    /// What a decorator is called with: secrets as handles.
    pub(crate) fn invocation(&self, inputs: &Inputs) -> (Invocation, Handles) {
        let mut secrets: Vec<Secret> = Vec::new();
        let mut args: BTreeMap<String, Data> = BTreeMap::new();
        for (name, input) in &inputs.args {
            let Input::Data(data) = input else { continue };
            if *name == TO_TARGET {
                continue;
            }
            let data = match data {
                Data::Text(text) if self.secrets.contains(name) => {
                    secrets.push(text.clone());
                    let number = i64::try_from(secrets.len() - 1).unwrap_or(i64::MAX);
                    Data::Map(BTreeMap::from([("$secret".to_owned(), Data::Int(number))]))
                }
                data => data.clone(),
            };
            args.insert((*name).to_owned(), data);
        }
        let args = line::json(&Data::Map(args));
        let mut handles = Handles::new(secrets);
        handles.may_leave = inputs.is_true(TO_TARGET);
        let subject = inputs.subject.clone();
        let text = inputs.block_text().map(Secret::new);
        let step = [inputs.step.as_deref(), inputs.member.as_deref(), subject.as_deref()];
        let [step, member, of] = step.map(Option::unwrap_or_default);
        let seed = self.seed(&[step, member, of, args.expose()]);
        let invocation = Invocation {
            decorator: self.decorator.clone(),
            subject,
            args,
            secrets: handles.count(),
            text,
            seed,
            token: None,
            outcome: None,
            event: None,
        };
        (invocation, handles)
    }

    /// What random numbers of a call derive from: the run or the contract, the plugin, the step.
    fn seed(&self, of: &[&str]) -> String {
        let own: [&str; 3] = [&self.code.name, &self.code.version, &self.decorator];
        let parts: Vec<&[u8]> = own.iter().chain(of).map(|part| part.as_bytes()).collect();
        opal_trust::seeding::seed(&parts).hex()
    }

    fn failure(&self, why: Why) -> CallFailure {
        CallFailure {
            plugin: self.code.name.clone(),
            version: self.code.version.clone(),
            decorator: self.decorator.clone(),
            why,
        }
    }

    /// Calls a function, and expects an answer of a shape.
    pub(crate) fn call<T: Shape>(
        &self,
        function: Function,
        invocation: &Invocation,
        serve: &mut dyn Serve,
    ) -> Result<(T, Option<Secret>), CallFailure> {
        let runtime = self.code.runtime().map_err(|why| self.failure(why))?;
        let component = self.code.component(runtime).map_err(|why| self.failure(why))?;
        let called = runtime.hosts.call(&component, function, invocation, serve);
        let (body, log): (Body, _) = called.map_err(|failure| without_secrets(failure, serve))?;
        match body.read() {
            Some(answer) => Ok((answer, log.map(|log| serve.masked(&log)))),
            None => Err(self.failure(Why::Strange("its answer has another form".to_owned()))),
        }
    }

    /// A result as a value of the type that the manifest says.
    pub(crate) fn data(&self, text: &Secret) -> Result<Data, CallFailure> {
        result(text, self.returns.as_ref(), self.shape)
            .map_err(|what| self.failure(Why::Strange(what)))
    }

    /// Fails the step.
    fn halt(stage: &dyn Stage, failure: &CallFailure) -> Halt {
        // What it says may be about having been stopped.
        match stage.go_on() {
            Err(halt) => halt,
            Ok(()) => stage.fail(failure.code(), failure.trouble()),
        }
    }

    /// What a plugin printed, for whoever wants to know all.
    fn printed(stage: &mut dyn Stage, log: Option<Secret>) -> Result<(), Halt> {
        log.map_or(Ok(()), |log| stage.log(Level::Debug, &log))
    }

    fn powers(&self) -> Result<Powers<'_>, CallFailure> {
        let runtime = self.code.runtime().map_err(|why| self.failure(why))?;
        Ok(Powers { grants: &self.code.made(runtime).grants, web: &*runtime.web })
    }

    fn acting<'a>(
        &'a self,
        stage: &'a mut dyn Stage,
        handles: Handles,
    ) -> Result<Acting<'a>, Halt> {
        match self.powers() {
            Ok(powers) => Ok(Acting { stage, powers, handles, keep: None, halt: None }),
            Err(failure) => Err(Self::halt(stage, &failure)),
        }
    }

    fn plain(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let acted = self.apply(inputs, stage, None)?;
        self.data(&acted.output).map_err(|failure| Self::halt(stage, &failure))
    }

    /// Calls `act`, and notes what it acted on. `keep` takes the token of what it creates.
    fn apply(
        &self,
        inputs: &Inputs,
        stage: &mut dyn Stage,
        keep: Option<&mut Keep<'_>>,
    ) -> Result<Acted, Halt> {
        let (invocation, handles) = self.invocation(inputs);
        let (acted, halt) = {
            let mut acting = self.acting(stage, handles)?;
            if let Some(keep) = keep {
                acting.keep = Some(keep);
            }
            let acted = self.call::<Acted>(Function::Act, &invocation, &mut acting);
            let acted = acted.map(|(mut acted, log)| {
                acted.output = self.given(&acted.output, &acting);
                acted.identity = acted.identity.map(|it| acting.masked(&it));
                (acted, log)
            });
            (acted, acting.halt.take())
        };
        if let Some(halt) = halt {
            return Err(halt);
        }
        let (acted, log) = acted.map_err(|failure| Self::halt(stage, &failure))?;
        Self::printed(stage, log)?;
        self.note(stage, acted.identity.as_ref(), acted.adopted)?;
        Ok(acted)
    }

    /// Which object a step acted on, and whether somebody else had made it.
    fn note(
        &self,
        stage: &mut dyn Stage,
        identity: Option<&Secret>,
        is_adopted: bool,
    ) -> Result<(), Halt> {
        if identity.is_none() && !is_adopted {
            return Ok(());
        }
        let (plugin, version) = (&*self.code.name, &*self.code.version);
        let news = if is_adopted { ObjectNews::Adopted } else { ObjectNews::Made };
        stage.object(&Object { plugin, version, of: None, identity, news })
    }

    fn finding(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<call::Finding, CallFailure> {
        let (invocation, handles) = self.invocation(inputs);
        let mut reading = Reading { probe, powers: self.powers()?, handles };
        let found = self.call::<call::Finding>(Function::Verify, &invocation, &mut reading)?;
        let mut found = found.0;
        found.message = reading.masked(&found.message);
        found.details = found.details.map(|it| reading.masked(&it));
        found.identity = found.identity.map(|it| reading.masked(&it));
        Ok(found)
    }

    /// A result. Where the manifest does not say that it is secret, it holds no secret of the call.
    fn given(&self, result: &Secret, serve: &dyn Serve) -> Secret {
        if self.gives_secrets { result.clone() } else { serve.masked(result) }
    }
}

impl Resolver for Adapter {
    fn resolve(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Data, Trouble> {
        let (invocation, handles) = self.invocation(inputs);
        let powers = self.powers().map_err(|failure| failure.trouble())?;
        let mut reading = Reading { probe, powers, handles };
        let resolved = self.call::<Resolved>(Function::Resolve, &invocation, &mut reading);
        let resolved =
            resolved.and_then(|(resolved, _)| self.data(&self.given(&resolved.value, &reading)));
        resolved.map_err(|failure| failure.trouble())
    }
}

impl Verify for Adapter {
    /// What has a block verifies when its turn comes, and its block runs whatever is found.
    fn is_by_action(&self) -> bool {
        matches!(self.block, Block::Optional | Block::Required)
    }

    fn verify(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Finding, Trouble> {
        let found = self.finding(inputs, probe).map_err(|failure| failure.unverified())?;
        let message = found.message.expose().lines().next().unwrap_or_default().to_owned();
        let status = match found.status {
            call::Found::Satisfied => Status::Satisfied,
            call::Found::Missing => Status::Missing,
            call::Found::Drifted => Status::Drifted,
            call::Found::Unknown => Status::Unknown,
        };
        let finding = match status {
            Status::Satisfied => Finding::satisfied(message),
            Status::Missing => Finding::missing(message),
            Status::Drifted => Finding::drifted(message),
            Status::Unknown | Status::Blocked => Finding::unknown(message),
        };
        let finding = match found.details {
            Some(details) => finding.with_details(Details::words(details.expose())),
            None => finding,
        };
        // A contract is about this object and no other.
        let object = |identity| FoundObject { identity: Some(identity), ..FoundObject::default() };
        Ok(Finding { object: found.identity.map(object), ..finding })
    }
}

impl Action for Adapter {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        match self.block {
            Block::Forbidden | Block::Text => self.plain(inputs, stage),
            Block::Optional | Block::Required => self.around(inputs, stage),
        }
    }
}

/// A failure that says nothing of the secrets of the call.
fn without_secrets(mut failure: CallFailure, serve: &dyn Serve) -> CallFailure {
    if let Why::Refused(refusal) = &mut failure.why {
        refusal.message = serve.masked(&refusal.message);
        for help in &mut refusal.help {
            *help = serve.masked(help);
        }
    }
    failure
}

/// A result as a value of the type that its manifest says; what is strange about it otherwise.
pub(crate) fn result(
    text: &Secret,
    wanted: Option<&Type>,
    shape: Option<&ResultShape>,
) -> Result<Data, String> {
    let data = json::read(text.expose())
        .map_err(|fault| format!("its result is not JSON: {}", fault.reason))?;
    let Some(wanted) = wanted else {
        return Ok(Data::Null);
    };
    let data = match (wanted, data) {
        (Type::Duration, Data::Text(text)) => match Duration::parse(text.expose()) {
            Ok(duration) => Data::Duration(duration),
            Err(_) => Data::Text(text),
        },
        (_, data) => data,
    };
    let fits = match shape {
        Some(shape) => shape.check(&data),
        None => parameter::accepts(wanted, &data),
    };
    match fits {
        Ok(()) => Ok(data),
        Err(Mismatch::Shape { place, why, .. }) => {
            let place = place.trim_start_matches('.');
            let what = if place.is_empty() { String::new() } else { format!(" `{place}`") };
            Err(format!("its result{what} is not what its manifest promises: {why}"))
        }
        Err(_) => {
            let found = data.type_of();
            Err(format!("its manifest promises {wanted}, and its result is {found}"))
        }
    }
}

/// An answer that says only that it is done.
pub(crate) struct Nothing;

impl Shape for Nothing {
    fn write(&self, _: &mut Frames) -> Data {
        Body::default().data
    }

    fn read(view: View<'_>) -> Option<Self> {
        matches!(view.data, Data::Map(_)).then_some(Self)
    }
}
