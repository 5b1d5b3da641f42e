//! One process of the helper, its calls and how it ends.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::net::Shutdown;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use opal_core::data::Secret;
use opal_core::protocol::call::{Function, Invocation, Load, Native};
use opal_core::protocol::request::Service;
use opal_core::protocol::{Body, CALL_SECS, Call, Kind, Malformed, Message, Refusal, Reply, line};
use rustix::process::Signal;

use super::Serve;
use super::child::Helper;
pub use super::ended::Ended;
use super::limits::{Nothing, OwnTime, within};
use super::room::Room;
use super::sending::send;

/// How often a call asks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(10);

/// How long a helper may say nothing about a call that it works on.
const SILENCE: Duration = Duration::from_secs(CALL_SECS + 5);

/// So many calls a helper works on at a time. Of more than these it need not say anything about each.
const CROWD: usize = 64;

/// A helper that runs. It ends when this is dropped, and when opal ends.
#[derive(Debug)]
pub struct Host {
    shared: Arc<Shared>,
    reader: Option<JoinHandle<()>>,
    room: Room,
}

#[derive(Debug)]
struct Shared {
    socket: Mutex<UnixStream>,
    /// The same, to end the connection in the middle of a line.
    control: UnixStream,
    open: Mutex<Open>,
    /// Whether the code of a package is the process: then its limits are counted here.
    is_native: bool,
}

#[derive(Debug)]
struct Open {
    next: u64,
    calls: BTreeMap<u64, Sender<Event>>,
    helper: Helper,
    /// When it said anything last, about whichever call.
    heard: Instant,
    ended: Option<Ended>,
    /// Why opal ended it.
    reason: Option<Ended>,
}

#[derive(Debug)]
enum Event {
    Asked(Call),
    Answered(Reply),
    Ended(Ended),
}

/// What a call gave: its answer, and what was printed meanwhile.
pub type Given = (Result<Body, Refusal>, Option<Secret>);

impl Host {
    /// Starts the helper at a path, and asks it for its build.
    pub fn start(program: &Path, build: &str) -> Result<Self, Ended> {
        Self::start_as(program, build, &[])
    }

    /// Compiles a component from one file into another, in a process that does nothing else. Gives what
    /// it exports.
    pub fn compile(
        program: &Path,
        build: &str,
        from: &File,
        to: &File,
    ) -> Result<Result<Vec<String>, Refusal>, Ended> {
        let host = Self::start_as(program, build, &["compile"])?;
        let files = [from.as_fd(), to.as_fd()];
        // What it may take is limited there, by the time of the processor.
        let silence = Duration::from_secs(600);
        let (result, _) =
            host.ask("compile", None, Body::default(), &files, &mut Nothing, silence)?;
        match result.map(|body| body.get("exports")) {
            Ok(Some(exports)) => Ok(Ok(exports)),
            Ok(None) => Err(Ended::Malformed(Malformed::NotMessage("no exports"))),
            Err(refusal) => Ok(Err(refusal)),
        }
    }

    fn start_as(program: &Path, build: &str, args: &[&'static str]) -> Result<Self, Ended> {
        let not_started = |error: std::io::Error| Ended::NotStarted(error.kind());
        let (own, theirs) = UnixStream::pair().map_err(not_started)?;
        let incoming = own.try_clone().map_err(not_started)?;
        let control = own.try_clone().map_err(not_started)?;
        let (program, args) = (program.to_owned(), args.to_vec());
        let is_native = args == ["native"];
        let (started, wait) = channel();
        // The thread that reads starts it, and lasts as long: a native program ends with the thread that
        // started it, so also where opal is killed.
        let reader = thread::spawn(move || {
            let helper = match Helper::start(&program, &args, theirs) {
                Ok(helper) => helper,
                Err(error) => return drop(started.send(Err(not_started(error)))),
            };
            let (calls, heard) = (BTreeMap::new(), Instant::now());
            let open = Open { next: 1, calls, helper, heard, ended: None, reason: None };
            let (socket, open) = (Mutex::new(own), Mutex::new(open));
            let shared = Arc::new(Shared { socket, control, open, is_native });
            let _ = started.send(Ok(Arc::clone(&shared)));
            shared.read(incoming);
        });
        let shared = wait.recv().unwrap_or(Err(Ended::Silent))?;
        let reader = Some(reader);
        let host = Self { shared, reader, room: Room::default() };
        let hello = host.ask("hello", None, Body::default(), &[], &mut Nothing, SILENCE)?;
        match hello.0.ok().and_then(|body| body.get::<String>("build")) {
            Some(found) if found == build => Ok(host),
            found => {
                let found = found.unwrap_or_default();
                let found = found.chars().filter(char::is_ascii_graphic).take(80).collect();
                Err(Ended::OtherBuild(found))
            }
        }
    }

    /// Starts a helper that confines itself and becomes a native program; gives what the program exports.
    pub fn native(
        program: &Path,
        build: &str,
        image: &File,
        native: &Native,
    ) -> Result<Result<(Self, Vec<String>), Refusal>, Ended> {
        let host = Self::start_as(program, build, &["native"])?;
        if native.run {
            let guarded = host.shared.open().helper.guard(program);
            guarded.map_err(|error| Ended::NotStarted(error.kind()))?;
        }
        let files = [image.as_fd()];
        let (became, _) =
            host.ask("native", None, Body::of(native), &files, &mut Nothing, SILENCE)?;
        if let Err(refusal) = became {
            return Ok(Err(refusal));
        }
        let (hello, _) = host.ask("hello", None, Body::default(), &[], &mut Nothing, SILENCE)?;
        match hello.map(|body| body.get("exports")) {
            Ok(Some(exports)) => Ok(Ok((host, exports))),
            Ok(None) => Err(Ended::Malformed(Malformed::NotMessage("no exports"))),
            Err(refusal) => Ok(Err(refusal)),
        }
    }

    /// Loads a component that was compiled and checked.
    pub fn load(
        &self,
        plugin: &str,
        compiled: &File,
        load: &Load,
    ) -> Result<Result<(), Refusal>, Ended> {
        let files = [compiled.as_fd()];
        let params = Body::of(load);
        let given = self.ask("load", Some(plugin), params, &files, &mut Nothing, SILENCE)?;
        Ok(given.0.map(|_| ()))
    }

    /// Calls a function of a plugin, and serves it meanwhile.
    pub fn call(
        &self,
        plugin: &str,
        function: Function,
        invocation: &Invocation,
        serve: &mut dyn Serve,
    ) -> Result<Given, Ended> {
        let params = Body::of(invocation);
        let bytes = params.frames.len() + invocation.args.expose().len();
        // A stream may wait for another one of the same step, so it does not wait for room.
        let streams = matches!(function, Function::Read | Function::Write);
        let _room = (!streams).then(|| self.room.take(plugin, bytes));
        let given = self.ask(function.word(), Some(plugin), params, &[], serve, SILENCE)?;
        Ok(if self.is_native() { within(given) } else { given })
    }

    /// Whether it has ended, and how.
    #[must_use]
    pub fn ended(&self) -> Option<Ended> {
        self.shared.open().ended.clone()
    }

    /// Whether it is a native program.
    #[must_use]
    pub fn is_native(&self) -> bool {
        self.shared.is_native
    }

    /// The process, for tests that kill it.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.shared.open().helper.pid()
    }

    /// One call of the helper, whatever it is: that of providers has its own.
    pub(crate) fn ask(
        &self,
        call: &str,
        plugin: Option<&str>,
        params: Body,
        files: &[BorrowedFd<'_>],
        serve: &mut dyn Serve,
        silence: Duration,
    ) -> Result<Given, Ended> {
        let (events, wait) = channel();
        let id = self.shared.begin(events)?;
        let (call, plugin) = (call.to_owned(), plugin.map(str::to_owned));
        let message = Message::Call(Call { id, parent: None, plugin, call, params });
        if let Err(error) = self.shared.send(&message, files) {
            self.shared.open().calls.remove(&id);
            return match error {
                // Nothing of it was sent.
                Malformed::LongLine | Malformed::LongFrames => {
                    let kind = Kind::TooLarge;
                    Ok((Err(Refusal::new(kind, "the arguments are too large")), None))
                }
                _ => Err(self.shared.wait_for_end()),
            };
        }
        let given = self.shared.follow(id, &wait, serve, silence);
        self.shared.open().calls.remove(&id);
        given
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.shared.end(Ended::Silent);
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

impl Shared {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, events: Sender<Event>) -> Result<u64, Ended> {
        let mut open = self.open();
        if let Some(ended) = &open.ended {
            return Err(ended.clone());
        }
        let id = open.next;
        open.next += 1;
        open.calls.insert(id, events);
        Ok(id)
    }

    fn send(&self, message: &Message, files: &[BorrowedFd<'_>]) -> Result<(), Malformed> {
        let bytes = line::bytes(message)?;
        let mut socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        send(&mut socket, &bytes, files).map_err(|error| Malformed::Io(error.kind()))
    }

    /// Serves a call until it is answered.
    fn follow(
        &self,
        id: u64,
        wait: &Receiver<Event>,
        serve: &mut dyn Serve,
        silence: Duration,
    ) -> Result<Given, Ended> {
        let mut heard = Instant::now();
        let mut cancelled: Option<Instant> = None;
        let mut own = OwnTime::default();
        loop {
            match wait.recv_timeout(LOOK) {
                Ok(Event::Answered(reply)) => return Ok((reply.result, reply.log)),
                Ok(Event::Ended(ended)) => return Err(ended),
                Ok(Event::Asked(call)) => {
                    own.asked(&call, heard);
                    self.serve(&call, serve)?;
                    heard = Instant::now();
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.wait_for_end()),
            }
            if cancelled.is_none() && serve.is_stopped() {
                let _ = self.send(&Message::Cancel(id), &[]);
                cancelled = Some(Instant::now());
            }
            if let Some(refusal) = own.exceeded(heard).filter(|_| self.is_native) {
                // Nobody can make it stop but by ending it.
                self.end(Ended::Silent);
                return Ok((Err(refusal), None));
            }
            // Of too many calls, some wait for their turn.
            let is_quiet =
                |open: &Open| open.calls.len() <= CROWD || open.heard.elapsed() > silence;
            let is_silent = heard.elapsed() > silence && is_quiet(&self.open());
            if is_silent || cancelled.is_some_and(|since| since.elapsed() > serve.parting()) {
                self.end(Ended::Silent);
            }
        }
    }

    fn serve(&self, call: &Call, serve: &mut dyn Serve) -> Result<(), Ended> {
        let Some(service) = Service::named(&call.call) else {
            self.end(Ended::Malformed(Malformed::NotMessage("an unknown service")));
            return Err(self.wait_for_end());
        };
        let result = serve.serve(service, &call.params);
        let reply = |result| Message::Reply(Reply { id: call.id, result, log: None });
        // Where it ended, the reader says how.
        if let Err(Malformed::LongLine | Malformed::LongFrames) = self.send(&reply(result), &[]) {
            let kind = Kind::TooLarge;
            let refusal = Refusal::new(kind, "more than 16 MiB");
            let _ = self.send(&reply(Err(refusal)), &[]);
        }
        Ok(())
    }

    /// Reads what the helper says until it ends; then everyone who waits hears how.
    fn read(&self, incoming: UnixStream) {
        let mut incoming = BufReader::with_capacity(64 << 10, incoming);
        let found = loop {
            match line::read(&mut incoming) {
                Ok(Some(message)) => match self.pass(message) {
                    Ok(()) => {}
                    Err(reason) => break Some(Malformed::NotMessage(reason)),
                },
                // A connection that breaks is how a helper ends.
                Ok(None) | Err(Malformed::Io(_) | Malformed::Cut) => break None,
                Err(malformed) => break Some(malformed),
            }
        };
        if let Some(malformed) = found {
            self.end(Ended::Malformed(malformed));
        }
        let mut open = self.open();
        // It has closed its end, and has nothing more to do.
        let status = open.helper.wait();
        let ended = open.reason.clone().unwrap_or(status);
        open.ended = Some(ended.clone());
        for events in std::mem::take(&mut open.calls).into_values() {
            let _ = events.send(Event::Ended(ended.clone()));
        }
    }

    fn pass(&self, message: Message) -> Result<(), &'static str> {
        let (id, event) = match message {
            Message::Call(call) => (call.parent.ok_or("a call for nothing")?, Event::Asked(call)),
            Message::Reply(reply) => (reply.id, Event::Answered(reply)),
            Message::Cancel(_) => return Err("a cancellation"),
        };
        let mut open = self.open();
        open.heard = Instant::now();
        let events = open.calls.get(&id).ok_or("an unknown call")?;
        let _ = events.send(event);
        Ok(())
    }

    /// Ends the helper, in the middle of whatever it does.
    fn end(&self, reason: Ended) {
        let mut open = self.open();
        if open.ended.is_none() {
            open.reason.get_or_insert(reason);
            let signal = if self.is_native { Signal::TERM } else { Signal::KILL };
            open.helper.signal(signal);
            // Whatever is still there some time after the reader has seen the end is killed.
            let _ = self.control.shutdown(Shutdown::Both);
        }
    }

    /// How it ended: the connection to it is gone already, so the reader is about to say.
    fn wait_for_end(&self) -> Ended {
        let until = Instant::now() + super::PARTING;
        loop {
            if let Some(ended) = self.open().ended.clone() {
                return ended;
            }
            if Instant::now() > until {
                self.end(Ended::Silent);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}
