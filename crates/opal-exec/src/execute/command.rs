//! One command of a step: given to the session, its output shown, captured or dropped.

use std::collections::BTreeMap;

use opal_core::action::{Command, Completed, Halt, OutputOf, Stage};
use opal_core::resolver::{MAX_VALUE_BYTES, ScriptPart, Trouble, TroubleKind};
use opal_core::target::Program;
use opal_core::wiped::Wiped;
use opal_core::{Data, Secret};

use super::actor::Actor;
use super::context::Context;
use super::halts::{NOT_WRITTEN, bug, failed, go_on, unable};
use super::lets::{flags, label_of, without_line_ends};
use super::pump::{Bounded, Ended, pump};
use super::show::{Drop, Show};
use crate::error::{Bug, StepError};
use opal_session::{Output, Taker, Work};
use opal_vault::trace::{TRACEPARENT, Traced};

/// The decorator of commands for a shell, which a target may have another program for.
const SHELL: &str = "shell";

/// What the system takes in one argument of a program.
const MAX_ARGUMENT_BYTES: usize = 128 * 1024;

impl<'p> Actor<'_, 'p> {
    pub(super) fn run(&mut self, command: &Command<'_>) -> Result<Completed, Halt> {
        go_on(&self.here.stop)?;
        self.walk.check_record(self.here)?;
        let here = self.under(&command.under)?;
        let result = match command.output {
            OutputOf::Shown => self.shown(command, &here),
            OutputOf::Captured => self.captured(command, &here),
        };
        self.timed(result, &command.under, &here.stop)
    }

    fn shown(&mut self, command: &Command<'_>, here: &Context<'p>) -> Result<Completed, Halt> {
        let outputs = (here.stdout.output(), here.stderr.output());
        let (stdout, stderr) = match outputs {
            (Ok(stdout), Ok(stderr)) => (stdout, stderr),
            (Err(error), _) | (_, Err(error)) => return Err(unable(self.begun.step, &error)),
        };
        let mut show = Show::new(self.walk, here, self.begun.number);
        let code = self.give(command, here, [stdout, stderr], &mut show);
        // Its end says whether it was read.
        let _ = show.finish();
        if here.screen.is_cut() {
            return Err(failed(self.begun.step, NOT_WRITTEN, StepError::OutputNotStored));
        }
        code.map(only)
    }

    /// Through pipes of its own: on a terminal's the line ends would be others.
    fn captured(&mut self, command: &Command<'_>, here: &Context<'p>) -> Result<Completed, Halt> {
        let pipes = opal_session::pipe().and_then(|out| Ok((out, opal_session::pipe()?)));
        let ((out, to_out), (err, to_err)) =
            pipes.map_err(|error| unable(self.begun.step, &error))?;
        let ended = Ended::default();
        let (code, out, err) = std::thread::scope(|scope| {
            let take = |from| {
                let into = Bounded::new(MAX_VALUE_BYTES);
                pump(scope, from, into, here.stop.clone(), &ended)
            };
            let pumps = take(out).and_then(|out| Ok((out, take(err)?)));
            let (out, err) = pumps.map_err(|error| unable(self.begun.step, &error))?;
            let outputs = [Output::To(to_out), Output::To(to_err)];
            let code = self.give(command, here, outputs, &mut Drop);
            ended.set();
            Ok((code, out.join(), err.join()))
        })?;
        let (Ok(out), Ok(err)) = (out, err) else {
            return Err(bug(self.begun.step, Bug::LostOutput));
        };
        // Nor is shown what it said: it could hold what cannot be hidden.
        if out.copied.is_err() || err.copied.is_err() {
            return Err(self.fail(1, StepError::OutputTooLarge.into()));
        }
        let stdout = text(out.to.bytes);
        if let Ok(stdout) = &stdout {
            self.hide(stdout);
            self.waiting = Wiped::new(err.to.bytes.to_vec());
        }
        let code = code?;
        let stdout = stdout.map_err(|trouble| self.fail(1, trouble))?;
        let stderr = Secret::new(String::from_utf8_lossy(&err.to.bytes));
        Ok(Completed { code, stdout, stderr })
    }

    /// Captured output is hidden before anything else of the step is shown, and where the step
    /// fails as well.
    fn hide(&self, stdout: &Secret) {
        let step = self.begun.step;
        if let Some(binding) = step.binding.as_ref().filter(|_| !flags(step).public) {
            let label = label_of(&binding.id);
            let value = Data::Text(without_line_ends(stdout));
            // Where there are too many of them, the step fails when it is bound.
            let _ = self.here.hide(self.walk.job, flags(step).secret, &value, &label);
        }
    }

    fn give(
        &mut self,
        command: &Command<'_>,
        here: &Context<'p>,
        [stdout, stderr]: [Output; 2],
        taker: &mut dyn Taker,
    ) -> Result<i32, Halt> {
        let script = match self.appended.is_empty() {
            true => command.script,
            false => &redirected(command.script, self.appended),
        };
        self.has_long_values = has_long_values(script, here);
        let there = here.interpreter().filter(|_| self.begun.descriptor.path == SHELL);
        let traced = self.traced(here);
        let work = Work {
            script,
            interpreter: command.interpreter.or(there.map(Program::name)),
            arguments: match command.interpreter {
                Some(_) => &[],
                None => there.map_or(&[], Program::arguments),
            },
            directory: &here.directory,
            previous: here.previous.as_deref(),
            environment: traced.as_ref().unwrap_or(&here.environment),
            limits: here.limits,
            stdin: here.stdin.input().map_err(|error| unable(self.begun.step, &error))?,
            stdout,
            stderr,
        };
        let ended = here.session(self.walk.job).run(work, &here.stop, taker);
        if !matches!(&ended, Ok(ended) if ended.code == 0 && !ended.is_reported) {
            if let Ok(ended) = &ended {
                self.code = Some(ended.code);
            }
            // Whatever it ended with: it was asked to.
            go_on(&here.stop)?;
        }
        let ended = ended.map_err(|trouble| self.fail(not_run(&trouble), trouble))?;
        self.code = Some(ended.code);
        let moved = ended.directory.filter(|_| command.under.directory.is_none());
        self.moved = moved.map(|directory| (directory, ended.previous));
        Ok(ended.code)
    }
}

impl Actor<'_, '_> {
    /// The environment with the span of the step; none where no trace is kept, or the source sets another one.
    fn traced(&self, here: &Context<'_>) -> Option<BTreeMap<String, Secret>> {
        let trace = self.walk.job.trace?;
        if here.environment.contains_key(TRACEPARENT) {
            return None;
        }
        let (path, number) = (&*self.begun.step.path, self.begun.number);
        let step = Traced::Step { path, attempt: self.begun.attempt.into(), number };
        let mut environment = BTreeMap::clone(&here.environment);
        environment.insert(TRACEPARENT.to_owned(), Secret::new(trace.variable(step)));
        Some(environment)
    }
}

fn only(code: i32) -> Completed {
    Completed { code, stdout: Secret::new(""), stderr: Secret::new("") }
}

/// The command with redirections after it. In braces, since it may end in the body of a heredoc.
fn redirected(script: &[ScriptPart], appended: &[ScriptPart]) -> Vec<ScriptPart> {
    let text = |text: &str| ScriptPart::Text(text.to_owned());
    let mut parts = vec![text("{ ")];
    parts.extend(script.iter().cloned());
    parts.push(text("\n}"));
    parts.extend(appended.iter().cloned());
    parts
}

/// Whether a program may get more in one argument, or in one variable, than the system takes.
fn has_long_values(script: &[ScriptPart], here: &Context<'_>) -> bool {
    let bytes = |part: &ScriptPart| match part {
        ScriptPart::Data(data, _) => size(data),
        ScriptPart::Text(_) | ScriptPart::Raw(_) => 0,
    };
    let is_long = |value: &Secret| value.expose().len() >= MAX_ARGUMENT_BYTES;
    script.iter().map(bytes).sum::<usize>() >= MAX_ARGUMENT_BYTES
        || here.environment.values().any(is_long)
}

fn size(data: &Data) -> usize {
    match data {
        Data::Text(text) => text.expose().len(),
        Data::Array(items) => items.iter().map(size).sum(),
        _ => 0,
    }
}

fn text(bytes: Wiped<Vec<u8>>) -> Result<Secret, Trouble> {
    std::str::from_utf8(&bytes).map(Secret::new).map_err(|_| StepError::OutputNotText.into())
}

/// What a shell says where it cannot run something: only of the program that runs a command does
/// a session say that it is missing.
fn not_run(trouble: &Trouble) -> i32 {
    match trouble.kind {
        TroubleKind::Missing => 127,
        TroubleKind::Denied => 126,
        TroubleKind::Lost => 69,
        TroubleKind::Mutated => 76,
        _ => 1,
    }
}
