//! What actions may do, with everything seen to that must hold for every step.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use opal_core::Secret;
use opal_core::action::{
    BranchOutput, Command, Completed, Conditions, Failure, Fleet, Halt, Level, Object, OnFailure,
    OpenObject, Pause, Pending, Replace, Stage, TextFile,
};
use opal_core::files::Files;
use opal_core::inventory::EntryStore;
use opal_core::resolver::{Probe, Trouble};
use opal_core::stream::{Closed, Stream};
use opal_vault::event::{Kind, Opened};
use rustix::event::PollFlags;

use super::actor::{Actor, length};
use super::context::{Context, In, Out};
use super::halts::{NOT_WRITTEN, failed, go_on, unable};
use super::sending::Counted;
use super::show::Show;
use crate::error::StepError;
use crate::threads::lock;
use opal_session::stop::Order;
use opal_session::{Place, Taker};

/// What a shell says of a program that is there and cannot be started.
const NOT_EXECUTED: i32 = 126;

/// As what writes into a pipe that nobody reads: 128 and the number of `PIPE`.
const BROKEN_PIPE: i32 = 141;

/// How long a filter waits for more before it shows what it holds back.
const IDLE: Duration = Duration::from_millis(100);

impl Actor<'_, '_> {
    /// Passes scrubbed bytes on until there are no more.
    fn filter(&self, from: OwnedFd, mut to: Box<dyn Filtered + '_>) -> Result<(), Halt> {
        let mut from = File::from(from);
        let mut bytes = vec![0; 64 * 1024];
        loop {
            go_on(&self.here.stop)?;
            let ready = [(from.as_fd(), PollFlags::IN)];
            let ready = self.here.stop.wait(&ready, Some(IDLE), Order::GoOn);
            if ready.first().is_none_or(|flags| flags.is_empty()) {
                to.idle().map_err(|error| self.unwritten(&error))?;
                continue;
            }
            let count = from.read(&mut bytes).map_err(|error| unable(self.begun.step, &error))?;
            if count == 0 {
                return to.finish().map_err(|error| self.unwritten(&error));
            }
            to.push(&bytes[..count]).map_err(|error| self.unwritten(&error))?;
        }
    }

    /// What was not made because all was stopped has not failed.
    fn unless_stopped<T>(&self, made: Result<T, Trouble>) -> Result<T, Halt> {
        made.or_else(|trouble| {
            go_on(&self.here.stop)?;
            Err(self.fail(NOT_WRITTEN, trouble))
        })
    }

    /// Whether the source says that the block is tried again where a step of it is lost.
    fn repeats_lost(&self) -> bool {
        let lost = self.begun.step.arg("lost");
        let lost = lost.and_then(|it| self.here.values(self.walk.job).data(it).ok());
        lost.is_some_and(|it| it.as_text() == Some("retry"))
    }

    /// What was passed on did not arrive.
    fn unwritten(&self, error: &io::Error) -> Halt {
        match error.kind() {
            io::ErrorKind::BrokenPipe => self.fail(BROKEN_PIPE, StepError::BrokenPipe.into()),
            kind => self.fail(NOT_WRITTEN, StepError::PipeNotWritten(kind).into()),
        }
    }
}

/// Where filtered bytes go. Each says whether what it had to write was written.
trait Filtered {
    fn push(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Writes what need not be held back while nothing comes.
    fn idle(&mut self) -> io::Result<()>;
    /// Writes all that was held back.
    fn finish(&mut self) -> io::Result<()>;
}

fn broken(_: Closed) -> io::Error {
    io::ErrorKind::BrokenPipe.into()
}

impl Filtered for Show<'_> {
    fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.take(Stream::Stdout, bytes).map_err(broken)
    }

    fn idle(&mut self) -> io::Result<()> {
        self.pause().map_err(broken)
    }

    fn finish(&mut self) -> io::Result<()> {
        Show::finish(self).map_err(broken)
    }
}

/// A clean copy for a file or another command.
struct Copy {
    scrubber: opal_vault::Scrubber,
    to: File,
}

impl Filtered for Copy {
    fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.to.write_all(self.scrubber.push(bytes).bytes())
    }

    fn idle(&mut self) -> io::Result<()> {
        self.to.write_all(self.scrubber.idle().bytes())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.to.write_all(self.scrubber.finish().bytes())
    }
}

impl Stage for Actor<'_, '_> {
    fn block(&mut self, under: &Conditions) -> Result<(), Halt> {
        let mut here = self.under(under)?;
        if let Some((attempt, of)) = under.attempt {
            here.repeats_lost |= attempt < of && self.repeats_lost();
        }
        if under.attempt.is_some_and(|(attempt, _)| attempt > 1) {
            lock(&self.here.ledger.tally).try_again(&self.begun.step.path);
        }
        let stop = here.stop.clone();
        let result = self.walk.block(&self.begun.step.block, here);
        self.timed(result, under, &stop)
    }

    fn branches(
        &mut self,
        most: Option<usize>,
        on_failure: OnFailure,
        output: Option<BranchOutput>,
    ) -> Result<(), Halt> {
        let output = self.walk.job.output.of_block(output);
        self.walk.branches(self.begun.step, self.here, most, on_failure, output)
    }

    fn fleet(&mut self, fleet: &Fleet) -> Result<(), Halt> {
        self.run_fleet(fleet)
    }

    fn command(&mut self, command: &Command<'_>) -> Result<Completed, Halt> {
        self.run(command)
    }

    fn is_captured(&self) -> bool {
        self.begun.step.binding.is_some()
    }

    fn pause(&mut self, pause: &Pause) -> Result<(), Halt> {
        let duration = length(pause.duration);
        let Pause { attempt, of, code, .. } = *pause;
        let path = &*self.begun.step.path;
        let kind = Kind::Retrying { path, attempt, of, code, pause: duration };
        self.walk.tell(kind, self.here)?;
        self.wait(duration)
    }

    fn go_on(&self) -> Result<(), Halt> {
        go_on(&self.here.stop)
    }

    fn wait(&mut self, duration: Duration) -> Result<(), Halt> {
        let since = Instant::now();
        loop {
            go_on(&self.here.stop)?;
            let left = duration.saturating_sub(since.elapsed());
            if left.is_zero() {
                return Ok(());
            }
            let _ = self.here.stop.wait(&[], Some(left), Order::GoOn);
        }
    }

    fn cleaning(
        &mut self,
        limit: Duration,
        work: &mut dyn FnMut(&mut dyn Stage) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        if self.here.stop.order() == Order::Kill {
            return go_on(&self.here.stop);
        }
        let stop = self.here.stop.deaf().limited(limit, Duration::ZERO);
        let before = std::mem::replace(&mut self.here.stop, stop);
        let was_cleaning = std::mem::replace(&mut self.here.is_cleaning, true);
        let result = work(self);
        (self.here.stop, self.here.is_cleaning) = (before, was_cleaning);
        result
    }

    fn hides(&self, text: &Secret) -> bool {
        *self.here.vault(self.walk.job).scrub(text.expose()).text() != *text.expose()
    }

    fn log(&mut self, level: Level, message: &Secret) -> Result<(), Halt> {
        let message = self.here.vault(self.walk.job).scrub(message.expose());
        self.walk.tell(Kind::Log { path: &self.begun.step.path, level, message }, self.here)
    }

    fn opened(&mut self, object: &OpenObject<'_>) -> Result<(), Halt> {
        let object = Opened {
            id: object.id.into(),
            plugin: object.plugin.into(),
            version: object.version.into(),
            decorator: object.decorator.into(),
            token: self.here.vault(self.walk.job).scrub(object.token.expose()).into_owned(),
            is_kept: object.is_kept,
            target: self.here.target().map(|target| (&*target).into()),
        };
        lock(&self.walk.open).push(object.clone());
        self.walk.tell(Kind::Opened { path: &self.begun.step.path, object }, self.here)
    }

    fn object(&mut self, object: &Object<'_>) -> Result<(), Halt> {
        let vault = self.here.vault(self.walk.job);
        let identity = object.identity.map(|it| vault.scrub(it.expose()).into_owned());
        let (path, news) = (&*self.begun.step.path, object.news);
        let (plugin, version) = (object.plugin.into(), object.version.into());
        let of = object.of.map(Into::into);
        self.walk.tell(Kind::Object { path, plugin, version, of, identity, news }, self.here)
    }

    fn closed(&mut self, id: &str) -> Result<(), Halt> {
        lock(&self.walk.open).retain(|it| &*it.id != id);
        self.walk.tell(Kind::Closed { path: &self.begun.step.path, id: id.into() }, self.here)
    }

    fn print(&mut self, text: &Secret) -> Result<(), Halt> {
        let bytes = text.expose().as_bytes();
        let written = match &self.here.stdout {
            Out::Shown => {
                let mut show = Show::new(self.walk, self.here, self.begun.number);
                show.take(Stream::Stdout, bytes).and(show.finish()).is_ok()
            }
            Out::To(fd) => {
                let fd = fd.try_clone().map_err(|error| unable(self.begun.step, &error))?;
                File::from(fd).write_all(bytes).is_ok()
            }
        };
        if written { Ok(()) } else { Err(self.exit(BROKEN_PIPE)) }
    }

    fn pass_on(&mut self) -> Result<(), Halt> {
        let In::From(from) = &self.here.stdin else { return Ok(()) };
        let from = from.try_clone().map_err(|error| unable(self.begun.step, &error))?;
        let to: Box<dyn Filtered> = match &self.here.stdout {
            Out::Shown => Box::new(Show::new(self.walk, self.here, self.begun.number)),
            Out::To(fd) => {
                let to = fd.try_clone().map_err(|error| unable(self.begun.step, &error))?;
                Box::new(Copy {
                    scrubber: self.here.vault(self.walk.job).scrubber(),
                    to: to.into(),
                })
            }
        };
        self.filter(from, to)
    }

    fn replace(&mut self, replace: &Replace<'_>) -> Result<Box<dyn Pending>, Halt> {
        let session = self.here.session(self.walk.job);
        let opened = session.replace(&self.here.directory, replace, &self.here.stop);
        self.unless_stopped(opened)
    }

    fn text_file(&mut self, text: &str, extension: &str) -> Result<Box<dyn TextFile>, Halt> {
        let stop = &self.here.stop;
        let made = self.here.session(self.walk.job).text_file(text, extension, stop);
        self.unless_stopped(made)
    }

    fn probe(&self) -> Box<dyn Probe + '_> {
        let session = self.here.session(self.walk.job);
        let Context { base, sources, directory, environment, stop, .. } = &*self.here;
        session.probe(&Place { base, directory, environment, sources: Some(&**sources), stop })
    }

    fn origin_files(&self) -> Box<dyn Files + '_> {
        self.walk.job.session.files(&self.here.stop)
    }

    fn files(&self) -> Box<dyn Files + '_> {
        let files = self.here.session(self.walk.job).files(&self.here.stop);
        if self.here.site.is_none() {
            return files;
        }
        let sent = Arc::default();
        self.walk.job.audience.sends(&self.begun.step.path, &sent);
        Box::new(Counted { files, sent })
    }

    fn entries(&self) -> Option<&dyn EntryStore> {
        self.here.session(self.walk.job).entries()
    }

    fn random(&mut self) -> u64 {
        RandomState::new().hash_one(self.begun.number)
    }

    fn exit(&self, code: i32) -> Halt {
        let path = self.begun.step.path.clone();
        let is_too_long = code == NOT_EXECUTED && self.has_long_values;
        let trouble = is_too_long.then(|| StepError::ArgumentTooLong.into());
        Halt::Failed(Box::new(Failure::new(path, code, trouble)))
    }

    fn caught(&self) -> Option<Failure> {
        self.here.caught.as_deref().cloned()
    }

    fn is_under_contract(&self) -> bool {
        self.walk.job.is_under_contract
    }

    fn fail(&self, code: i32, trouble: Trouble) -> Halt {
        failed(self.begun.step, code, trouble)
    }
}

#[cfg(test)]
mod tests {
    use opal_core::Data;
    use opal_vault::Vault;

    use super::*;

    #[test]
    fn what_was_held_back_and_cannot_be_written_is_an_error() {
        let vault = Vault::new();
        vault.register(&Data::text("secret-0123456"), "<value>");
        let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let copy = || Copy { scrubber: vault.scrubber(), to: full() };
        let no_space = |result: io::Result<()>| {
            assert_eq!(result.unwrap_err().kind(), io::ErrorKind::StorageFull);
        };
        let mut at_the_end = copy();
        at_the_end.push(b"secret-01").unwrap();
        no_space(at_the_end.finish());
        let mut in_between = copy();
        in_between.push(b"se").unwrap();
        no_space(in_between.idle());
        no_space(copy().push(&[b'x'; 4096]));
    }
}
