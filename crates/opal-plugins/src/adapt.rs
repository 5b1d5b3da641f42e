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

mod blocks;
mod code;
pub mod ending;
pub mod native;
mod streams;

use std::collections::BTreeMap;

use opal_core::Duration;
use opal_core::action::{Action, Halt, Level, Stage};
use opal_core::data::{Data, Secret, json};
use opal_core::decorator::Block;
use opal_core::parameter::{self, Mismatch};
use opal_core::protocol::body::View;
use opal_core::protocol::call::{self, Acted, Function, Invocation, Resolved};
use opal_core::protocol::{Body, Frames, Shape, line};
use opal_core::resolver::{Input, Inputs, Probe, Resolver, Trouble};
use opal_core::resource::{Details, Finding, Status, Verify};
use opal_core::shape::Shape as ResultShape;
use opal_core::types::Type;

pub use self::code::{Code, Made, RUNTIME, Runtime};
use crate::client::Serve;
use crate::client::failure::{CallFailure, Why};
use crate::client::handles::Handles;
use crate::client::serving::{Acting, Powers, Reading};

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
        let handles = Handles::new(secrets);
        let subject = inputs.subject.clone();
        let text = inputs.block_text().map(Secret::new);
        let seed = self.seed(&[subject.as_deref().unwrap_or_default(), args.expose()]);
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

    /// What random numbers of a call derive from.
    fn seed(&self, of: &[&str]) -> String {
        let own: [&str; 3] = [&self.code.name, &self.code.version, &self.decorator];
        let parts: Vec<&[u8]> = own.iter().chain(of).map(|part| part.as_bytes()).collect();
        self.code.runtime.get().map(|it| it.cache.seed(&parts)).unwrap_or_default()
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
        let (body, log): (Body, _) = runtime.hosts.call(&component, function, invocation, serve)?;
        match body.read() {
            Some(answer) => Ok((answer, log)),
            None => Err(self.failure(Why::Strange("its answer has another form".to_owned()))),
        }
    }

    /// A result as a value of the type that the manifest says.
    pub(crate) fn data(&self, text: &Secret) -> Result<Data, CallFailure> {
        let strange = |what: String| self.failure(Why::Strange(what));
        let data = json::read(text.expose())
            .map_err(|fault| strange(format!("its result is not JSON: {}", fault.reason)))?;
        let Some(wanted) = &self.returns else {
            return Ok(Data::Null);
        };
        let data = match (wanted, data) {
            (Type::Duration, Data::Text(text)) => match Duration::parse(text.expose()) {
                Ok(duration) => Data::Duration(duration),
                Err(_) => Data::Text(text),
            },
            (_, data) => data,
        };
        let fits = match self.shape {
            Some(shape) => shape.check(&data),
            None => parameter::accepts(wanted, &data),
        };
        match fits {
            Ok(()) => Ok(data),
            Err(Mismatch::Shape { place, why, .. }) => {
                let place = place.trim_start_matches('.');
                let what = if place.is_empty() { String::new() } else { format!(" `{place}`") };
                Err(strange(format!("its result{what} is not what its manifest promises: {why}")))
            }
            Err(_) => {
                let found = data.type_of();
                Err(strange(format!("its manifest promises {wanted}, and its result is {found}")))
            }
        }
    }

    /// Fails the step.
    fn halt(stage: &dyn Stage, failure: &CallFailure) -> Halt {
        // Where the run was stopped, that is why the call has no answer.
        match stage.go_on() {
            Err(halt) if failure.is_cancelled() => halt,
            _ => stage.fail(failure.code(), failure.trouble()),
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
        let (invocation, handles) = self.invocation(inputs);
        let (acted, halt) = {
            let mut acting = self.acting(stage, handles)?;
            let acted = self.call::<Acted>(Function::Act, &invocation, &mut acting);
            (acted, acting.halt.take())
        };
        if let Some(halt) = halt {
            return Err(halt);
        }
        let (acted, log) = acted.map_err(|failure| Self::halt(stage, &failure))?;
        Self::printed(stage, log)?;
        if acted.adopted {
            let what = acted.identity.as_ref().map_or("an object", |identity| identity.expose());
            stage.log(Level::Info, &Secret::new(format!("adopted {what}")))?;
        }
        self.data(&acted.output).map_err(|failure| Self::halt(stage, &failure))
    }
}

impl Resolver for Adapter {
    fn resolve(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Data, Trouble> {
        let (invocation, handles) = self.invocation(inputs);
        let powers = self.powers().map_err(|failure| failure.trouble())?;
        let mut reading = Reading { probe, powers, handles };
        let resolved = self.call::<Resolved>(Function::Resolve, &invocation, &mut reading);
        let resolved = resolved.and_then(|(resolved, _)| self.data(&resolved.value));
        resolved.map_err(|failure| failure.trouble())
    }
}

impl Verify for Adapter {
    fn verify(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Finding, Trouble> {
        let (invocation, handles) = self.invocation(inputs);
        let powers = self.powers().map_err(|failure| failure.trouble())?;
        let mut reading = Reading { probe, powers, handles };
        let found = self.call::<call::Finding>(Function::Verify, &invocation, &mut reading);
        let (found, _) = found.map_err(|failure| failure.trouble())?;
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
        Ok(match found.details {
            Some(details) => finding.with_details(Details::words(details.expose())),
            None => finding,
        })
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
