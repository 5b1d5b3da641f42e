//! Redirections around a step, from left to right.
//!
//! | what follows | what happens |
//! |---|---|
//! | `> @file.write(…)` | the stream goes to the decorator's sink, which keeps it if the step succeeds |
//! | `< @file.read(…)` | the step reads the file itself, byte for byte |
//! | `> @acme.object(…)`, `< @acme.object(…)` | a decorator of a package runs beside the step |
//! | `> log 2>&1` at a command | the text follows the command, and the shell does it |
//! | `> log` after `@print(…)` or `@to.display()` | as in `… | cat > log` |
//! | `> log` after any other call, or after a block | `opal check` refuses it |

use std::io;
use std::thread::{Scope, ScopedJoinHandle};

use opal_core::Data;
use opal_core::action::{Failure, Halt, Pending, Sink};
use opal_core::plan::{Redirect, RedirectStream, RedirectTarget, Step};
use opal_core::resolver::{Input, Inputs, ScriptPart, Trouble};

use super::actor::{Actor, Begun};
use super::context::{Context, In, Out};
use super::halts::{NOT_WRITTEN, bug, failed, go_on, unable};
use super::inputs::inputs;
use super::pump::{Ended, Pumped, pump};
use super::run::Walk;
use super::show::Show;
use super::steps::{is_plain, reader};
use super::streams::{Beside, Draining, Feeding};
use crate::error::{Bug, StepError};
use crate::threads::STACK_BYTES;
use opal_session::Work;
use opal_session::stop::Stop;

/// A thread that carries a stream to what takes it.
type Pump<'scope> = ScopedJoinHandle<'scope, Pumped<Box<dyn Pending>>>;

/// A shell that copies the output of a decorator to where the text of a redirection says.
type Copier<'scope> = ScopedJoinHandle<'scope, Result<opal_session::Ended, Trouble>>;

/// What is connected to the streams of a step while it runs.
struct Plumbing<'scope, 'env, 'p> {
    beside: Beside<'scope, 'env, 'p>,
    /// For a shell that does its redirections itself.
    appended: Vec<ScriptPart>,
    sinks: Vec<Pump<'scope>>,
    copiers: Vec<Copier<'scope>>,
    feeding: Vec<Feeding<'scope>>,
    draining: Vec<Draining<'scope>>,
}

impl<'p> Walk<'p> {
    /// Does `work` with the streams of its step connected. What it does to directory and bindings
    /// stays.
    pub(super) fn redirected(
        &'p self,
        begun: &Begun<'p>,
        here: &mut Context<'p>,
        work: impl FnOnce(&mut Context<'p>, &[ScriptPart]) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let step = begun.step;
        if step.redirects.is_empty() {
            return work(here, &[]);
        }
        let ended = Ended::default();
        let mut inner = here.clone();
        let result = std::thread::scope(|scope| {
            let mut plumbing = Plumbing {
                beside: Beside { walk: self, begun, scope, ended: &ended },
                appended: Vec::new(),
                sinks: Vec::new(),
                copiers: Vec::new(),
                feeding: Vec::new(),
                draining: Vec::new(),
            };
            let connected = step
                .redirects
                .iter()
                .try_for_each(|redirect| self.connect(begun, redirect, &mut inner, &mut plumbing));
            let result = connected.and_then(|()| work(&mut inner, &plumbing.appended));
            // The other ends see that nothing more comes.
            inner.stdin = In::Nothing;
            (inner.stdout, inner.stderr) = (Out::Shown, Out::Shown);
            ended.set();
            plumbing.close(&inner.stop, result)
        });
        (here.directory, here.previous) = (inner.directory, inner.previous);
        here.lets = inner.lets;
        result
    }

    fn connect<'scope>(
        &'p self,
        begun: &Begun<'p>,
        redirect: &'p Redirect,
        inner: &mut Context<'p>,
        plumbing: &mut Plumbing<'scope, '_, 'p>,
    ) -> Result<(), Halt>
    where
        'p: 'scope,
    {
        let step = begun.step;
        let values = inner.values(self.job);
        let fail = |trouble| failed(step, 1, trouble);
        match &redirect.target {
            RedirectTarget::Shell(pieces) => {
                let text = values.script(pieces).map_err(fail)?;
                if is_plain(step) {
                    plumbing.appended.push(ScriptPart::Text(" ".to_owned()));
                    plumbing.appended.extend(trimmed(text));
                    return Ok(());
                }
                let (read, write) = opal_session::pipe().map_err(|it| unable(step, &it))?;
                let outer = Context { stdin: In::of(read), ..inner.clone() };
                plumbing.copiers.push(self.copier(begun, text, outer, plumbing.beside.scope)?);
                inner.stdout = Out::to(write);
            }
            RedirectTarget::Step(target) => match redirect.operator.stream() {
                Some((RedirectStream::In, _)) => self.source(begun, target, inner, plumbing)?,
                Some((stream, append)) => {
                    self.sink(begun, target, stream, append, inner, plumbing)?;
                }
                None => return Err(bug(step, Bug::NoStream)),
            },
        }
        Ok(())
    }

    /// Connects what follows `<` to the input of a step.
    fn source<'scope>(
        &'p self,
        begun: &Begun<'p>,
        target: &'p Step,
        inner: &mut Context<'p>,
        plumbing: &mut Plumbing<'scope, '_, 'p>,
    ) -> Result<(), Halt>
    where
        'p: 'scope,
    {
        let fail = |trouble| failed(begun.step, 1, trouble);
        let name = target.node.path().unwrap_or_default();
        let found = self.job.registry.get(name);
        if let Some((descriptor, source)) = found.and_then(|found| Some((found, found.source?))) {
            let inputs = inputs(target, descriptor, inner.values(self.job)).map_err(fail)?;
            let (input, feeding) = plumbing.beside.feed(source, inputs, inner)?;
            inner.stdin = input;
            plumbing.feeding.extend(feeding);
            return Ok(());
        }
        let path = reader(target).map(|path| inner.values(self.job).data(path)).transpose();
        let path = path.map_err(fail)?.unwrap_or(Data::Null);
        let path = path.as_text().unwrap_or_default();
        let file =
            inner.session(self.job).open(&inner.directory, path, &inner.stop).map_err(fail)?;
        inner.stdin = In::of(file);
        Ok(())
    }

    fn copier<'scope>(
        &'p self,
        begun: &Begun<'p>,
        text: Vec<ScriptPart>,
        outer: Context<'p>,
        scope: &'scope Scope<'scope, '_>,
    ) -> Result<Copier<'scope>, Halt>
    where
        'p: 'scope,
    {
        let number = begun.number;
        let mut script = vec![ScriptPart::Text("command -p cat ".to_owned())];
        script.extend(trimmed(text));
        let work = move || {
            let work = Work {
                script: &script,
                interpreter: None,
                arguments: &[],
                directory: &outer.directory,
                previous: outer.previous.as_deref(),
                environment: &outer.environment,
                limits: outer.limits,
                stdin: outer.stdin.input().map_err(|it| not_written(&it))?,
                stdout: outer.stdout.output().map_err(|it| not_written(&it))?,
                stderr: outer.stderr.output().map_err(|it| not_written(&it))?,
            };
            let mut show = Show::new(self, &outer, number);
            let ended = outer.session(self.job).run(work, &outer.stop, &mut show);
            // Its end says whether it was read.
            let _ = show.finish();
            ended
        };
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        thread.spawn_scoped(scope, work).map_err(|error| unable(begun.step, &error))
    }

    /// Connects what follows `>` to the output of a step.
    fn sink<'scope>(
        &'p self,
        begun: &Begun<'p>,
        target: &'p Step,
        stream: RedirectStream,
        append: bool,
        inner: &mut Context<'p>,
        plumbing: &mut Plumbing<'scope, '_, 'p>,
    ) -> Result<(), Halt>
    where
        'p: 'scope,
    {
        let step = begun.step;
        let name = target.node.path().unwrap_or_default();
        let found = self.job.registry.get(name).and_then(|found| Some((found, found.sink?)));
        let (descriptor, sink) = found.ok_or_else(|| bug(step, Bug::NoSink(name)))?;
        let values = inner.values(self.job);
        let mut inputs = inputs(target, descriptor, values).map_err(|it| failed(step, 1, it))?;
        if let (true, Some(param)) = (append, descriptor.param("append")) {
            inputs.args.insert(param.name, Input::Data(Data::Bool(true)));
        }
        let write = self.sink_end(begun, sink, inputs, inner, plumbing)?;
        if matches!(stream, RedirectStream::Out | RedirectStream::Both) {
            inner.stdout = write.clone();
        }
        if matches!(stream, RedirectStream::Err | RedirectStream::Both) {
            inner.stderr = write;
        }
        Ok(())
    }

    /// What leads to a sink.
    fn sink_end<'scope>(
        &'p self,
        begun: &Begun<'p>,
        sink: Sink,
        inputs: Inputs,
        inner: &mut Context<'p>,
        plumbing: &mut Plumbing<'scope, '_, 'p>,
    ) -> Result<Out, Halt>
    where
        'p: 'scope,
    {
        let sink = match sink {
            Sink::Kept(sink) => sink,
            Sink::Streamed(sink) => {
                let (write, draining) = plumbing.beside.drain(sink, inputs, inner)?;
                plumbing.draining.extend(draining);
                return Ok(write);
            }
        };
        let pending = sink.open(&inputs, &mut Actor::new(self, begun, inner, &[]))?;
        let unable = |error: io::Error| unable(begun.step, &error);
        let (read, write) = opal_session::pipe().map_err(unable)?;
        let (scope, ended) = (plumbing.beside.scope, plumbing.beside.ended);
        let pump = pump(scope, read, pending, inner.stop.clone(), ended).map_err(unable)?;
        plumbing.sinks.push(pump);
        Ok(Out::to(write))
    }
}

impl Plumbing<'_, '_, '_> {
    /// Waits until everything that was written has arrived. What a sink has is kept where all went
    /// well.
    fn close(self, stop: &Stop, mut result: Result<(), Halt>) -> Result<(), Halt> {
        let begun = self.beside.begun;
        let step = begun.step;
        // What was connected last writes into what was connected before.
        let lost = || bug(step, Bug::LostOutput);
        let mut broken = None;
        for copier in self.copiers.into_iter().rev() {
            match copier.join().map_err(|_| lost()) {
                Ok(Ok(ended)) if ended.code == 0 => {}
                Ok(Ok(ended)) => {
                    // Nobody took what the step printed, which may have ended it.
                    let failure = Failure::new(step.path.clone(), ended.code, None);
                    result = go_on(stop).and(Err(Halt::Failed(Box::new(failure))));
                }
                Ok(Err(trouble)) => broken = Some(failed(step, NOT_WRITTEN, trouble)),
                Err(halt) => broken = Some(halt),
            }
        }
        let mut kept = Vec::new();
        for sink in self.sinks {
            match sink.join().map_err(|_| lost()) {
                Ok(Pumped { to, copied: Ok(()) }) => kept.push(to),
                // The step was cut short by this, whatever it ended with.
                Ok(Pumped { copied: Err(error), .. }) => {
                    broken = broken.or(Some(failed(step, NOT_WRITTEN, not_written(&error))));
                }
                Err(halt) => broken = broken.or(Some(halt)),
            }
        }
        for source in self.feeding {
            // What came too short is not what the step was meant to read.
            if let Err(halt) = source.close(begun) {
                broken = broken.or(Some(halt));
            }
        }
        let are_drained: Vec<bool> = self.draining.iter().map(Draining::is_drained).collect();
        let is_fine = result.is_ok() && broken.is_none() && are_drained.iter().all(|it| *it);
        for (sink, is_drained) in self.draining.into_iter().zip(are_drained) {
            match sink.close(is_fine, begun) {
                // A sink that ends before the step cuts it short; one that ends because the step failed does
                // not count.
                Err(halt) if is_fine || !is_drained => broken = broken.or(Some(halt)),
                _ => {}
            }
        }
        if let Some(halt) = broken {
            // Where all was stopped, that is why.
            return go_on(stop).and(Err(halt));
        }
        result?;
        let keep = |pending: Box<dyn Pending>| pending.keep();
        let kept = kept.into_iter().try_for_each(keep);
        kept.or_else(|it| go_on(stop).and(Err(failed(step, NOT_WRITTEN, it))))
    }
}

/// Without the blanks in front of it.
fn trimmed(mut text: Vec<ScriptPart>) -> Vec<ScriptPart> {
    if let Some(ScriptPart::Text(first)) = text.first_mut() {
        *first = first.trim_start().to_owned();
    }
    text
}

fn not_written(error: &io::Error) -> Trouble {
    StepError::OutputNotWritten(error.kind()).into()
}
