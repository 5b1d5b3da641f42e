//! The functions of a component: what they are given, and what they give.

use std::collections::BTreeSet;

use opal_core::data::Secret;
use opal_core::protocol::call::{
    Acted, Finding, Found, Function, Invocation, Judged, Opened, Outcome, Program, Resolved, Ssh,
    Target, Targets, Verdict,
};
use opal_core::protocol::{Body, Ending, Kind, Refusal, Shape};
use opal_core::resolver::MAX_VALUE_BYTES;
use wasmtime::component::{Instance, InstancePre, Resource};
use wasmtime::{Store, format_err};

use super::State;
use crate::bindings::exports::opal::plugin::{
    action, boundary, policy, sink, source, state, value, wrapper,
};
use crate::bindings::opal::plugin::host;

/// The interfaces of a component; none of what it does not export.
pub(super) struct Exports {
    value: Option<value::GuestIndices>,
    state: Option<state::GuestIndices>,
    action: Option<action::GuestIndices>,
    wrapper: Option<wrapper::GuestIndices>,
    policy: Option<policy::GuestIndices>,
    boundary: Option<boundary::GuestIndices>,
    source: Option<source::GuestIndices>,
    sink: Option<sink::GuestIndices>,
}

type Answer<T> = wasmtime::Result<Result<T, host::Error>>;

impl Exports {
    pub(super) fn new(
        instance: &InstancePre<State>,
        found: &BTreeSet<String>,
    ) -> wasmtime::Result<Self> {
        let has = |name: &str| found.contains(name).then_some(());
        Ok(Self {
            value: has("value").map(|()| value::GuestIndices::new(instance)).transpose()?,
            state: has("state").map(|()| state::GuestIndices::new(instance)).transpose()?,
            action: has("action").map(|()| action::GuestIndices::new(instance)).transpose()?,
            wrapper: has("wrapper").map(|()| wrapper::GuestIndices::new(instance)).transpose()?,
            policy: has("policy").map(|()| policy::GuestIndices::new(instance)).transpose()?,
            boundary: has("boundary")
                .map(|()| boundary::GuestIndices::new(instance))
                .transpose()?,
            source: has("source").map(|()| source::GuestIndices::new(instance)).transpose()?,
            sink: has("sink").map(|()| sink::GuestIndices::new(instance)).transpose()?,
        })
    }

    pub(super) fn call(
        &self,
        store: &mut Store<State>,
        instance: &Instance,
        function: Function,
        invocation: &Invocation,
    ) -> wasmtime::Result<Result<Body, Refusal>> {
        let call = &call(invocation);
        let missing = || format_err!("it does not export `{}`", function.interface());
        macro_rules! guest {
            ($name:ident) => {
                self.$name.as_ref().ok_or_else(missing)?.load(&mut *store, instance)?
            };
        }
        match function {
            Function::Resolve => {
                let answer = guest!(value).call_resolve(store, call, probe())?;
                Ok(given(answer, |value| Resolved { value: Secret::new(value), secrets: None }))
            }
            Function::Verify => {
                let answer = guest!(state).call_verify(store, call, probe())?;
                Ok(given(answer, finding))
            }
            Function::Act => {
                let answer = guest!(action).call_act(store, call, probe(), stage())?;
                Ok(given(answer, |acted| Acted {
                    output: Secret::new(acted.output),
                    identity: acted.identity.map(Secret::new),
                    adopted: acted.adopted,
                    unread: None,
                    secrets: None,
                    digest: None,
                    message: None,
                    changes: None,
                }))
            }
            Function::Begin => {
                let answer = guest!(wrapper).call_begin(store, call, probe(), stage())?;
                Ok(given(answer, |opened| Opened {
                    token: Secret::new(opened.token),
                    env: opened.env.into_iter().map(|(k, v)| (k, Secret::new(v))).collect(),
                }))
            }
            Function::End => {
                let token = invocation.token.as_ref().map_or("", |token| token.expose());
                let outcome = outcome(invocation.outcome.unwrap_or(Outcome::Stopped));
                nothing(guest!(wrapper).call_end(store, call, token, outcome, stage()))
            }
            Function::Judge => {
                let event = invocation.event.as_ref().ok_or_else(|| format_err!("no event"))?;
                let event = policy::Event {
                    target: event.target.clone(),
                    attempt: event.attempt,
                    outcome: event.outcome.map(outcome),
                };
                let answer = guest!(policy).call_judge(store, call, &event)?;
                Ok(given(answer, |verdict| Judged { verdict: judged(verdict) }))
            }
            Function::Targets => {
                let answer = guest!(boundary).call_targets(store, call, probe())?;
                Ok(given(answer, |all| Targets { targets: all.into_iter().map(target).collect() }))
            }
            Function::Read => {
                let to = Resource::new_own(0);
                nothing(guest!(source).call_read(store, call, to, probe()))
            }
            Function::Write => {
                let bytes = Resource::new_own(0);
                nothing(guest!(sink).call_write(store, call, bytes, stage()))
            }
        }
    }
}

fn probe() -> Resource<host::Probe> {
    Resource::new_own(0)
}

fn stage() -> Resource<host::Stage> {
    Resource::new_own(0)
}

fn call(invocation: &Invocation) -> host::Call {
    host::Call {
        decorator: invocation.decorator.clone(),
        subject: invocation.subject.clone(),
        args: invocation.args.expose().to_owned(),
        secrets: (0..invocation.secrets).map(Resource::new_own).collect(),
        text: invocation.text.as_ref().map(|text| text.expose().to_owned()),
    }
}

fn nothing(answer: Answer<()>) -> wasmtime::Result<Result<Body, Refusal>> {
    Ok(match answer? {
        Ok(()) => Ok(Body::default()),
        Err(error) => Err(refusal(error)),
    })
}

/// What a plugin gives, within the limit of a value.
fn given<T, S: Shape>(
    answer: Result<T, host::Error>,
    shape: impl FnOnce(T) -> S,
) -> Result<Body, Refusal> {
    let body = Body::of(&shape(answer.map_err(refusal)?));
    if body.frames.len() as u64 > MAX_VALUE_BYTES {
        return Err(Refusal::engine(Ending::Volume, "its answer is larger than 8 MiB"));
    }
    Ok(body)
}

/// What a plugin says of a failure.
fn refusal(error: host::Error) -> Refusal {
    let kind = match error.kind {
        host::ErrorKind::Missing => Kind::Missing,
        host::ErrorKind::Denied => Kind::Denied,
        host::ErrorKind::Failed => Kind::Failed,
        host::ErrorKind::TimedOut => Kind::TimedOut,
        host::ErrorKind::TooLarge => Kind::TooLarge,
        host::ErrorKind::NotText => Kind::NotText,
        host::ErrorKind::Invalid => Kind::Invalid,
    };
    let help = error.help.into_iter().take(8).map(|help| Secret::new(cut(help))).collect();
    Refusal { kind, message: Secret::new(cut(error.message)), help, engine: None, identity: None }
}

/// opal shows 1 KiB of it.
fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(4 << 10));
    text
}

fn finding(finding: state::Finding) -> Finding {
    Finding {
        status: match finding.status {
            state::Status::Satisfied => Found::Satisfied,
            state::Status::Missing => Found::Missing,
            state::Status::Drifted => Found::Drifted,
            state::Status::Unknown => Found::Unknown,
        },
        message: Secret::new(finding.message),
        details: finding.details.map(Secret::new),
        identity: finding.identity.map(Secret::new),
        object: None,
        unread: None,
        secrets: None,
        digest: None,
        differences: None,
        account: None,
        marked: None,
        deletes: None,
        created: None,
        fixed: None,
    }
}

fn outcome(outcome: Outcome) -> host::Outcome {
    match outcome {
        Outcome::Done => host::Outcome::Done,
        Outcome::Failed(code) => host::Outcome::Failed(code),
        Outcome::Stopped => host::Outcome::Stopped,
    }
}

fn judged(verdict: policy::Verdict) -> Verdict {
    match verdict {
        policy::Verdict::Proceed => Verdict::Proceed,
        policy::Verdict::Retry(pause) => Verdict::Retry(pause),
        policy::Verdict::Stop(reason) => Verdict::Stop(Secret::new(reason)),
    }
}

fn target(target: boundary::Target) -> Target {
    let program = |it: boundary::Program| Program { name: it.name, args: it.args };
    let (ssh, other) = match target.transport {
        boundary::Transport::Ssh(ssh) => (Some(ssh), None),
        boundary::Transport::Program(program) => (None, Some(program)),
    };
    Target {
        name: target.name,
        ssh: ssh.map(|it| Ssh { host: it.host, port: it.port, user: it.user }),
        program: other.map(program),
        interpreter: target.interpreter.map(program),
        ready: target.ready.map(program),
        ready_within: target.ready_within,
    }
}
