//! One call of a test, and what it gave.

use std::collections::BTreeMap;

use opal_core::data::{Data, Secret};
use opal_core::protocol::call::{
    Acted, Event, Finding, Function, Judged, Opened, Outcome, Resolved, Verdict,
};
use opal_core::protocol::{Ending, Refusal, line};
use opal_core::resolver::{Input, Inputs};
use opal_vault::Vault;

use super::world::{Asked, Scene, Twist, World};
use crate::adapt::{Adapter, Nothing};
use crate::client::CallFailure;
use crate::client::failure::Why;
use crate::client::grants::Grants;

/// A call, apart from the world that answers it.
#[derive(Clone, Debug)]
pub(super) struct CallOf<'c> {
    pub(super) function: Function,
    pub(super) inputs: &'c Inputs,
    pub(super) event: Option<Event>,
    pub(super) token: Option<Secret>,
    pub(super) outcome: Option<Outcome>,
    pub(super) twist: Twist,
    /// Another seed for random numbers than the usual one.
    pub(super) seed: Option<&'static str>,
}

/// What a call gave, and what it asked for.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) gave: Gave,
    pub(super) asked: Vec<Asked>,
    pub(super) denied: Vec<String>,
    pub(super) unanswered: Vec<String>,
    pub(super) kept: Option<Secret>,
    /// Where the text of a secret appeared.
    pub(super) leak: Option<&'static str>,
}

#[derive(Debug)]
pub(super) enum Gave {
    /// Of the type that the manifest promises: canonical JSON.
    Result(Secret),
    Acted {
        output: Secret,
        adopted: bool,
    },
    Finding(Finding),
    Opened(Opened),
    Verdict(Verdict),
    Ended,
    Error(Refusal),
    /// The answer was no longer wanted.
    Cancelled,
    /// Anything that a plugin must not do: a trap, a limit, a result of another type.
    Broke(String),
}

impl Gave {
    /// What two equal calls must have in common, to the byte.
    pub(super) fn bytes(&self) -> String {
        let text = |text: &Option<Secret>| text.as_ref().map(|it| it.expose().to_owned());
        match self {
            Self::Result(json) => format!("result {}", json.expose()),
            Self::Acted { output, adopted } => format!("acted {adopted} {}", output.expose()),
            Self::Finding(it) => {
                let (details, identity) = (text(&it.details), text(&it.identity));
                format!("{} {} {details:?} {identity:?}", it.status.word(), it.message.expose())
            }
            Self::Opened(it) => {
                let env = it.env.iter().map(|(name, value)| format!("{name}={}", value.expose()));
                format!("token {} env {:?}", it.token.expose(), env.collect::<Vec<_>>())
            }
            Self::Verdict(Verdict::Proceed) => "proceed".to_owned(),
            Self::Verdict(Verdict::Retry(pause)) => format!("retry {pause}"),
            Self::Verdict(Verdict::Stop(why)) => format!("stop {}", why.expose()),
            Self::Ended => "done".to_owned(),
            Self::Error(it) => {
                let help: Vec<&str> = it.help.iter().map(|it| it.expose()).collect();
                format!("error {} {} {help:?}", it.kind.word(), it.message.expose())
            }
            Self::Cancelled => "cancelled".to_owned(),
            Self::Broke(why) => format!("broke: {why}"),
        }
    }

    pub(super) const fn is_failure(&self) -> bool {
        matches!(self, Self::Error(_) | Self::Broke(_) | Self::Cancelled)
    }

    /// What it gave, for a report. Texts of the plugin may be long.
    pub(super) fn shown(&self) -> String {
        let text: String =
            self.bytes().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        match text.char_indices().nth(300) {
            Some((at, _)) => format!("{}…", &text[..at]),
            None => text,
        }
    }
}

/// Calls a decorator in a world, which changes as the call changes it.
///
/// # Errors
/// There is no helper that runs plugins: nothing can be said about this one.
pub(super) fn call(
    adapter: &Adapter,
    grants: &Grants,
    of: &CallOf<'_>,
    world: &mut World,
) -> Result<Ran, CallFailure> {
    let (mut invocation, handles) = adapter.invocation(of.inputs);
    invocation.event.clone_from(&of.event);
    invocation.token.clone_from(&of.token);
    invocation.outcome = of.outcome;
    invocation.seed = of.seed.unwrap_or("5a").repeat(32);
    let mut scene = Scene::new(world, grants, handles);
    scene.twist = of.twist;
    let given = match of.function {
        Function::Resolve => {
            let found = adapter.call::<Resolved>(of.function, &invocation, &mut scene);
            found.and_then(|(it, log)| Ok((Gave::Result(typed(adapter, &it.value)?), log)))
        }
        Function::Act => {
            let found = adapter.call::<Acted>(of.function, &invocation, &mut scene);
            found.and_then(|(it, log)| {
                let output = typed(adapter, &it.output)?;
                Ok((Gave::Acted { output, adopted: it.adopted }, log))
            })
        }
        Function::Verify => adapter
            .call::<Finding>(of.function, &invocation, &mut scene)
            .map(|(it, log)| (Gave::Finding(it), log)),
        Function::Begin => adapter
            .call::<Opened>(of.function, &invocation, &mut scene)
            .map(|(it, log)| (Gave::Opened(it), log)),
        Function::Judge => adapter
            .call::<Judged>(of.function, &invocation, &mut scene)
            .map(|(it, log)| (Gave::Verdict(it.verdict), log)),
        _ => adapter
            .call::<Nothing>(of.function, &invocation, &mut scene)
            .map(|(_, log)| (Gave::Ended, log)),
    };
    let (gave, log) = match given {
        Ok(given) => given,
        Err(failure) => (failed(failure)?, None),
    };
    let Scene { asked, denied, unanswered, kept, logged, read, .. } = scene;
    let secrets = adapter.given_secrets(of.inputs).into_iter().chain(read).collect::<Vec<_>>();
    let logged = logged.into_iter().chain(log).collect::<Vec<_>>();
    let leak = leak(adapter, &secrets, &gave, &logged);
    Ok(Ran { gave, asked, denied, unanswered, kept, leak })
}

fn typed(adapter: &Adapter, text: &Secret) -> Result<Secret, CallFailure> {
    adapter.data(text).map(|data| line::json(&data))
}

fn failed(failure: CallFailure) -> Result<Gave, CallFailure> {
    Ok(match &failure.why {
        Why::Unusable(_) | Why::NoRuntime => return Err(failure),
        Why::Refused(refusal) => match refusal.engine {
            None => Gave::Error(refusal.clone()),
            Some(Ending::Cancelled) => Gave::Cancelled,
            Some(_) => Gave::Broke(refusal.message.expose().to_owned()),
        },
        Why::Strange(what) => Gave::Broke(what.clone()),
        Why::Crashed(_) | Why::CrashedAgain(_) => {
            Gave::Broke(failure.trouble().message.to_string())
        }
    })
}

/// Where the text of a secret appears, in any form that the scrubber knows. A result that the manifest
/// marks as secret may hold it.
fn leak(
    adapter: &Adapter,
    secrets: &[Secret],
    gave: &Gave,
    logged: &[Secret],
) -> Option<&'static str> {
    if secrets.is_empty() {
        return None;
    }
    let vault = Vault::new();
    for secret in secrets {
        vault.register(&Data::Text(secret.clone()), "secret");
    }
    let has = |text: &str| vault.scrub_bytes(text.as_bytes()).bytes() != text.as_bytes();
    let place = match gave {
        Gave::Error(_) | Gave::Broke(_) => "in its error",
        Gave::Finding(_) => "in its finding",
        Gave::Opened(_) => "in its token or its variables",
        _ => "in its result",
    };
    let is_secret = adapter.gives_secrets
        && matches!(gave, Gave::Result(_) | Gave::Acted { .. } | Gave::Opened(_));
    if !is_secret && has(&gave.bytes()) {
        return Some(place);
    }
    logged.iter().any(|it| has(it.expose())).then_some("in its log")
}

/// The arguments as a report shows them: without secrets.
pub(super) fn input(adapter: &Adapter, inputs: &Inputs) -> String {
    let mut args: BTreeMap<String, Data> = BTreeMap::new();
    for (name, input) in &inputs.args {
        let Input::Data(data) = input else { continue };
        let is_secret = adapter.secrets.contains(name);
        args.insert((*name).to_owned(), if is_secret { Data::text("…") } else { data.clone() });
    }
    line::json(&Data::Map(args)).expose().to_owned()
}
