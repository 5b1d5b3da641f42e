//! The helper's side: serves the session of its machine.
//!
//! ```text
//! pipe ──▶ the first thread: frames, in order ──▶ pool: a thread for each request that runs
//!                                                  │ looking, acting, running, writing
//! pipe ◀── replies and streams, from all threads ◀─┘
//! ```
//!
//! When the pipe ends or falls silent, opal is gone: all processes of the run are ended, what was
//! half written is removed, and the helper ends. After a good-bye what the steps have left running
//! stays, as it does on opal's machine.
//!
//! | what | where |
//! |---|---|
//! | requests that run, what is held for later ones | `requests` |
//! | who runs them | `pool` |
//! | requests that only read | `looking` |
//! | requests that change something | `acting`, commands in `running`, files in `writing` |
//! | a target inside this one | `reaching` |
//! | one session of a run at a time | `lock` |
//! | which steps of an order have begun and ended | `journal` |
//! | what is left when the helper is killed | `guard`, by the `group` that root has |
//! | what opal sends for a command or a file | `inlet` |
//! | helpers of other versions, which nobody uses any more | `versions` |
//! | the helper as a program, and its descriptors | [`program`], `stdio` |

mod acting;
mod group;
mod guard;
mod inlet;
mod journal;
mod lock;
mod looking;
mod pool;
pub mod program;
mod reaching;
mod requests;
mod running;
mod stdio;
mod versions;
mod writing;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use opal_core::action::Why;
use opal_core::hash::{Algorithm, Digest};

use super::codec::{Malformed, decoded};
use super::effect::Effect;
use super::frame::{Channel, Frame, Kind, Loss, MAX_REQUEST, Receiver, StreamId};
use super::hello::{Begin, Hello};
use super::link::Sender;
use super::look::Look;
use super::reply::Halting;
use super::{BUILD, Timing, VERSION};
use crate::local::login;
use crate::stop::Stop;
use crate::{LocalSession, Setup};
use guard::Guard;
use requests::Helper;

/// How long processes have to end by themselves when opal is gone.
const LAST_GRACE: Duration = Duration::from_secs(1);

/// How long requests may take to end after that.
const LAST_WAIT: Duration = Duration::from_secs(3);

/// What a helper serves.
pub struct Service {
    /// Of the process: nothing here reads it.
    pub environment: BTreeMap<OsString, OsString>,
    /// Where steps start, unless opal says so. Absolute.
    pub start: PathBuf,
    pub home: Option<PathBuf>,
    /// Whether effects cannot be decoded.
    pub is_read_only: bool,
    /// Whether the hello has the digest of the program: it takes a few milliseconds.
    pub tells_digest: bool,
    pub timing: Timing,
    /// What starts this program once more: itself, and the words before its own.
    pub own: Vec<OsString>,
}

/// The names of the variables and never their values.
impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service")
            .field("environment", &self.environment.keys())
            .field("start", &self.start)
            .field("is_read_only", &self.is_read_only)
            .finish_non_exhaustive()
    }
}

/// Serves until opal says good-bye, or is gone: then the reason.
pub fn serve(input: OwnedFd, output: OwnedFd, service: Service) -> Result<(), Loss> {
    let sender = Arc::new(Sender::new(output));
    let mut receiver = Receiver::new(input, service.timing.lost);
    let system = |error: std::io::Error| Loss::System(error.kind());
    sender.message(Kind::Hello, StreamId::LINK, &hello(&service)).map_err(system)?;
    sender.keep_pinging(service.timing.ping).map_err(system)?;
    let begin = begin(&mut receiver)?;
    let marker = begin.marker.clone();
    let (own, home) = (service.own.clone(), service.home.clone());
    let session = session(service, begin).map_err(system)?;
    let helper = Arc::new(Helper::new(sender, session, &marker, own, home));
    let served = frames(&mut receiver, &helper);
    helper.sender.stop_pinging();
    if served.is_err() {
        helper.stop.be_patient(LAST_GRACE);
        helper.stop.ask(Why::Cancelled);
    }
    helper.end(LAST_WAIT);
    helper.sender.settle(LAST_WAIT);
    if served.is_err() {
        helper.session.end_all(LAST_GRACE / 2, &Stop::new());
    }
    helper.guard.iter().for_each(Guard::dismiss);
    served
}

fn hello(service: &Service) -> Hello {
    let host = rustix::system::uname();
    Hello {
        version: VERSION,
        build: BUILD.to_owned(),
        digest: service.tells_digest.then(own_digest).flatten(),
        user: rustix::process::geteuid().as_raw(),
        machine: machine(),
        os: std::env::consts::OS.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        name: host.nodename().to_string_lossy().into_owned(),
        start: service.start.clone(),
        home: service.home.clone(),
        is_read_only: service.is_read_only,
    }
}

fn machine() -> String {
    let mut id = String::new();
    // Without one nothing is known, which is not trouble.
    if let Ok(file) = std::fs::File::open("/etc/machine-id") {
        let _ = file.take(64).read_to_string(&mut id);
    }
    id.trim().to_owned()
}

fn own_digest() -> Option<Digest> {
    let mut program = std::fs::File::open("/proc/self/exe").ok()?;
    let mut hasher = Algorithm::Sha256.hasher();
    let mut bytes = vec![0; 64 * 1024];
    loop {
        match program.read(&mut bytes).ok()? {
            0 => return Some(hasher.finish()),
            count => hasher.update(&bytes[..count]),
        }
    }
}

fn begin(receiver: &mut Receiver) -> Result<Begin, Loss> {
    loop {
        let frame = receiver.frame()?;
        match frame.kind {
            Kind::Ping => {}
            Kind::Begin => {
                let begin: Begin = decoded(&frame.payload)?;
                return match begin.version == VERSION {
                    true => Ok(begin),
                    false => Err(Malformed("opal speaks another version of the protocol").into()),
                };
            }
            _ => return Err(Malformed("the first frame is not a beginning").into()),
        }
    }
}

/// The session, and whether it has effects.
fn session(service: Service, begin: Begin) -> std::io::Result<(LocalSession, bool)> {
    let mut environment = match begin.is_login {
        true => login::environment(&service.environment, &service.start)?,
        false => service.environment,
    };
    let more = begin.environment.iter();
    environment.extend(more.map(|(name, value)| (name.into(), value.expose().into())));
    // A bash of Debian that ssh seems to have started reads `~/.bashrc`, unless another shell is above
    // it. The login shell was.
    let level = environment.entry("SHLVL".into()).or_insert_with(|| "1".into());
    if level == "0" {
        *level = "1".into();
    }
    // What commands take for it is what `~` is.
    let home = begin.environment.get("HOME").map(|home| PathBuf::from(home.expose()));
    let home = home.filter(|home| home.is_absolute()).or(service.home);
    let session = LocalSession::new(Setup {
        environment: environment.into(),
        start: begin.start.unwrap_or(service.start),
        home,
        marker: begin.marker,
        terminal: None,
        entries: None,
        pages: None,
    });
    Ok((session, !service.is_read_only))
}

fn frames(receiver: &mut Receiver, helper: &Arc<Helper>) -> Result<(), Loss> {
    loop {
        let frame = receiver.frame()?;
        match frame.kind {
            Kind::Ping => {}
            Kind::Bye => return Ok(()),
            Kind::Look => {
                let (number, look) = (number(&frame)?, decoded::<Look>(&frame.payload)?);
                looking::begin(helper, number, look)?;
            }
            // Nothing below this can decode one in a helper that only reads.
            Kind::Effect => {
                let held = helper.held.as_ref();
                let held = held.ok_or(Malformed("an effect in a session that only reads"))?;
                let (number, effect) = (number(&frame)?, decoded::<Effect>(&frame.payload)?);
                acting::begin(helper, held, number, effect)?;
            }
            Kind::Data | Kind::End | Kind::Window | Kind::Close | Kind::Stop => {
                stream(helper, frame)?;
            }
            Kind::Hello | Kind::Begin | Kind::Reply | Kind::Fail | Kind::Signal => {
                return Err(Malformed("a frame that only a helper sends").into());
            }
        }
    }
}

fn number(frame: &Frame) -> Result<u32, Malformed> {
    match frame.stream {
        StreamId { request: 1..=MAX_REQUEST, channel: Channel::Talk } => Ok(frame.stream.request),
        _ => Err(Malformed("a request on another stream than its own")),
    }
}

/// A frame for a request that runs. One that has just ended may get some more.
fn stream(helper: &Helper, frame: Frame) -> Result<(), Malformed> {
    let StreamId { request, channel } = frame.stream;
    let Some(open) = helper.find(request)? else { return Ok(()) };
    match (frame.kind, channel) {
        (Kind::Data, Channel::Input) => open.inlet.receive(frame.payload),
        (Kind::End, Channel::Input) => open.inlet.end(decoded(&frame.payload)?),
        (Kind::Window, Channel::Output | Channel::Error) => {
            open.outlet(channel).grant(decoded(&frame.payload)?)
        }
        (Kind::Close, Channel::Output | Channel::Error) => {
            open.outlet(channel).close(std::io::ErrorKind::BrokenPipe);
            Ok(())
        }
        (Kind::Stop, Channel::Talk) => {
            match decoded(&frame.payload)? {
                Halting::End { why, grace } => {
                    open.stop.be_patient(grace);
                    open.stop.ask(why);
                }
                Halting::Kill => open.stop.kill(),
            }
            Ok(())
        }
        _ => Err(Malformed("a frame on a stream where it has no meaning")),
    }
}
