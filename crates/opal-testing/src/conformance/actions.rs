//! The laws for what acts at run time: each is run, with a session that only writes a log.

use std::path::Path;
use std::time::Duration;

use opal_core::action::{Halt, Why};
use opal_core::decorator::{BLOCK_TEXT, Block, Descriptor, Param, Presence, Subject};
use opal_core::hash::{Algorithm, Digest};
use opal_core::plan::{Arg, Node, Piece, Plan, Step};
use opal_core::{Registry, Span, Type, Value};

use super::{Findings, Law, Violation};
use crate::{Answer, LoggedSession, bare};
use opal_decorators::BUILT_IN;
use opal_exec::execute::{Outcome, execute};
use opal_session::stop::{Stop, USUAL_GRACE};
use opal_vault::Vault;

/// Every law that an execution decorator breaks.
///
/// `given` has the constants that the schema alone does not tell, and settings that keep it short.
#[must_use]
pub fn check_action(
    descriptor: &'static Descriptor,
    given: &[(&'static str, Value)],
) -> Vec<Violation> {
    let mut found = Findings::default();
    if descriptor.action.is_none() {
        found.add(Law::L1, "it acts at run time and has no action");
        return found.0;
    }
    let Ok(registry) = registry(descriptor) else {
        found.add(Law::L1, "its path is taken");
        return found.0;
    };
    let (runs, fails) = (runs(descriptor), descriptor.fails);
    let trial = Trial { plan: plan(descriptor, given), registry, runs, fails };
    scopes(&trial, &mut found);
    if trial.runs {
        exit_codes(&trial, &mut found);
        stops(&trial, &mut found);
    }
    found.0
}

/// The decorator around `inner`, and `after` after it.
struct Trial {
    plan: Plan,
    registry: Registry,
    /// Whether it runs commands at all.
    runs: bool,
    /// Whether it is there to fail.
    fails: bool,
}

fn runs(descriptor: &Descriptor) -> bool {
    descriptor.block != Block::Forbidden || descriptor.params.iter().any(|param| param.shell)
}

/// L10: what it does to directory and environment ends with it.
fn scopes(trial: &Trial, found: &mut Findings) {
    let session = LoggedSession::new();
    let outcome = trial.run(&session, &Stop::new());
    let log = session.log();
    if trial.fails {
        let failed = matches!(outcome.halt, Some(Halt::Failed(_))) && log.is_empty();
        return found.demand(Law::L10, failed, || "it is there to fail, and does not".to_owned());
    }
    found.demand(Law::L10, outcome.halt.is_none(), || "it fails where nothing does".to_owned());
    found.demand(Law::L10, log.last().is_some_and(|line| line == "run `after` in /p"), || {
        "the steps after it do not run as they would without it".to_owned()
    });
}

/// L9: a failure inside is its own, with its code, and stops what follows.
fn exit_codes(trial: &Trial, found: &mut Findings) {
    let session = answering(trial, &Answer::code(42));
    let outcome = trial.run(&session, &Stop::new());
    let code = match &outcome.halt {
        Some(Halt::Failed(failure)) => Some(failure.code),
        _ => None,
    };
    found.demand(Law::L9, code == Some(42), || {
        format!("what fails in it with 42 ends it with {code:?}")
    });
}

/// L11: it ends when it is asked to, for whatever reason, and nothing of it starts after that.
fn stops(trial: &Trial, found: &mut Findings) {
    for why in [Why::Signal(15), Why::TimedOut] {
        let session = answering(trial, &Answer::default().takes(LONG));
        let run = Stop::new();
        let stop = match why {
            Why::TimedOut => run.limited(SHORT, USUAL_GRACE),
            _ => run.clone(),
        };
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                if why != Why::TimedOut {
                    std::thread::sleep(SHORT);
                    run.ask(why);
                }
            });
            trial.run(&session, &stop)
        });
        let started = session.log().iter().filter(|line| line.starts_with("run")).count();
        found.demand(Law::L11, outcome.halt == Some(Halt::Stopped(why)) && started == 1, || {
            format!("asked to stop by {why:?}, it ends with {:?}", outcome.halt)
        });
    }
}

/// A session that answers so wherever the trial gets to first.
fn answering(trial: &Trial, answer: &Answer) -> LoggedSession {
    let session = LoggedSession::new().on(INNER, answer.clone()).on(OWN, answer.clone());
    match trial.own_command() {
        Some(command) => session.on(&command, answer.clone()),
        None => session,
    }
}

/// The step of its block.
const INNER: &str = "cd inner";
/// The command that it is given: where that goes, the step goes.
const OWN: &str = "own";
/// The step after it.
const AFTER: &str = "after";
/// Long enough for a command to begin.
const SHORT: Duration = Duration::from_millis(200);
/// Nobody waits for it.
const LONG: Duration = Duration::from_secs(600);

impl Trial {
    /// The first command that it runs by itself, such as the program for the text of its block.
    fn own_command(&self) -> Option<String> {
        let session = LoggedSession::new();
        self.run(&session, &Stop::new());
        let log = session.log();
        let mut commands =
            log.iter().filter_map(|line| line.strip_prefix("run `")?.rsplit_once("` in "));
        commands.next().map(|(command, _)| command.to_owned()).filter(|it| it != AFTER)
    }

    fn run(&self, session: &LoggedSession, stop: &Stop) -> Outcome {
        let (registry, vault) = (&self.registry, Vault::new());
        execute(&bare::job(&self.plan, registry, session, Path::new("/p"), &vault, stop))
    }
}

pub(super) fn registry(descriptor: &'static Descriptor) -> Result<Registry, impl std::fmt::Debug> {
    let others = BUILT_IN.iter().filter(|known| known.path != descriptor.path).copied();
    Registry::new(&others.chain([descriptor]).collect::<Vec<_>>())
}

fn plan(descriptor: &Descriptor, given: &[(&'static str, Value)]) -> Plan {
    let mut step = step(Node::decorator(descriptor.path), "trial.it");
    if let Subject::Required(_) = descriptor.subject {
        step.args.push(("subject".into(), Arg::Const(Value::text("conformance"))));
    }
    let has_one = given.iter().any(|(name, _)| descriptor.one_of.contains(name));
    for param in descriptor.params {
        let value = given.iter().find(|(name, _)| *name == param.name);
        let arg = match (value, &param.presence) {
            (Some((_, value)), _) => Arg::Const(value.clone()),
            (None, Presence::Required) if param.shell => text(OWN),
            (None, Presence::Required) => Arg::Const(sample(param)),
            (None, _) if descriptor.one_of.first() == Some(&param.name) && !has_one => {
                Arg::Const(sample(param))
            }
            _ => continue,
        };
        step.args.push((param.name.into(), arg));
    }
    if descriptor.block == Block::Text {
        step.args.push((BLOCK_TEXT.into(), Arg::Const(Value::text("text\n"))));
    } else if descriptor.block != Block::Forbidden || step.node.is_function() {
        step.block.push(command(INNER, "trial.it.inner"));
    }
    plan_of(vec![step, command(AFTER, "trial.after")])
}

pub(super) fn plan_of(steps: Vec<Step>) -> Plan {
    Plan { steps, ..Plan::empty("trial", Algorithm::Sha256, Digest([0; 32])) }
}

pub(super) fn step(node: Node, path: &str) -> Step {
    Step::new(node, path, Span::at(0))
}

fn command(script: &str, path: &str) -> Step {
    Step { args: vec![("command".into(), text(script))], ..step(Node::Shell, path) }
}

fn text(script: &str) -> Arg {
    Arg::Shell(vec![Piece::Text(script.into())])
}

fn sample(param: &Param) -> Value {
    match &param.ty {
        Type::Bool => Value::Bool(true),
        Type::Int => Value::Int(param.range.map_or(1, |(least, _)| least)),
        Type::Float => Value::Float(1.0),
        Type::Duration => Value::Duration(opal_core::Duration::from_secs(600)),
        _ => Value::text("conformance"),
    }
}
