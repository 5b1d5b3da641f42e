//! Targets of a run: each is dialled once, and again when its connection is lost.

mod holding;
mod image;
mod options;
mod plain;
mod room;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use opal_core::crossing::{Crossing, HelperUse, Settings};
use opal_core::resolver::{Probe, Trouble};
use opal_core::target::{Hop, Identity};
use opal_session::stop::Stop;
use opal_session::targets::{Access, Reach, Reached, Refused, Trust};
use opal_session::wire::Timing;
use opal_session::world::OsWorld;
use opal_session::{Session, Terminal};

use crate::dial::master::Persist;
use crate::dial::pace::Pace;
use crate::dial::ssh::SshOptions;
use crate::dial::{Asker, Base, Dialled, Mode, Options, Origin, dial};
use crate::error::RemoteError;
use crate::greeting::Terms;
use crate::helper::Programs;
use crate::plain::{PlainSession, Why};
use crate::session::{ReadOnlySession, RemoteSession};
use holding::{End, Holding};
use image::Asked;
use options::{length, ssh_options};
use room::Live;

/// Connections that are made at the same time at most. A block says how many of its targets are at work.
const MOST: usize = 256;

/// What is needed to reach a target.
pub struct Ready {
    pub origin: Arc<Origin>,
    pub programs: Programs,
    /// Opal's machine, as it is read for targets.
    pub world: Arc<OsWorld>,
    /// Tells the processes of this run from all others.
    pub marker: String,
    /// Who answers what `ssh` asks.
    pub asker: Option<Arc<dyn Asker>>,
    /// Where connections by `ssh` stay open, or why nobody knows.
    pub persist: Result<Option<Persist>, Trouble>,
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ready").field("origin", &self.origin).finish_non_exhaustive()
    }
}

/// Makes it when the first target is asked for.
type Prepare = Box<dyn Fn() -> Ready + Send + Sync>;

/// The targets of a run.
pub struct Targets {
    prepare: Prepare,
    ready: OnceLock<Ready>,
    slots: Mutex<BTreeMap<(Vec<Level>, Access), Slot>>,
    /// Those that have a connection.
    live: Live,
    /// How many connections are made at the same time.
    pace: Arc<Pace>,
    /// Whom connections may lead to.
    holding: Holding,
    /// Of opal, where somebody sits in front of it.
    terminal: OnceLock<Arc<Terminal>>,
}

/// A hop, and the visit that its target was made for.
type Level = (Hop, u64);

/// A target. Whoever holds its lock dials.
#[derive(Clone)]
struct Slot {
    /// No other one has it.
    number: usize,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    open: Option<Open>,
    /// Whether there was a connection before.
    was_open: bool,
}

/// A target with a connection.
#[derive(Clone)]
struct Open {
    settings: Arc<Settings>,
    session: Kept,
}

/// What is made for one block ends when the block lets go of it; everything else is there for the next.
#[derive(Clone)]
enum Kept {
    Held(Opened),
    Acting(Weak<RemoteSession>),
    Reading(Weak<ReadOnlySession>),
}

#[derive(Clone)]
enum Opened {
    Acting(Arc<RemoteSession>),
    Reading(Arc<ReadOnlySession>),
    /// Only commands, or nothing at all.
    Plain(Arc<PlainSession>),
}

/// One connection that is to be made.
struct Leg<'a> {
    crossing: &'a Crossing,
    /// All crossings up to and with this one.
    way: &'a [Crossing],
    /// All hops up to and with this one.
    levels: &'a [Level],
    access: Access,
    marker: String,
    /// Whether an earlier one was lost.
    was_open: bool,
    stop: &'a Stop,
}

impl Targets {
    /// Nothing happens before a target is asked for.
    #[must_use]
    pub fn new(prepare: impl Fn() -> Ready + Send + Sync + 'static) -> Self {
        Self {
            prepare: Box::new(prepare),
            ready: OnceLock::new(),
            slots: Mutex::default(),
            live: Live::default(),
            pace: Arc::new(Pace::new(MOST)),
            holding: Holding::default(),
            terminal: OnceLock::new(),
        }
    }

    fn ready(&self) -> &Ready {
        self.ready.get_or_init(|| (self.prepare)())
    }

    fn slot(&self, levels: &[Level], access: Access) -> Slot {
        let mut slots = lock(&self.slots);
        let number = slots.len();
        let new = || Slot { number, state: Arc::default() };
        slots.entry((levels.to_vec(), access)).or_insert_with(new).clone()
    }

    /// The session at the end of a way, which is dialled where there is none.
    fn open(&self, way: &[Crossing], access: Access, stop: &Stop) -> Result<Opened, Trouble> {
        let Some((last, before)) = way.split_last() else {
            return Err(RemoteError::NoWay.into());
        };
        let levels: Vec<Level> = way.iter().flat_map(levels).collect();
        let slot = self.slot(&levels, access);
        let mut state = lock(&slot.state);
        if let Some(session) = state.open.as_ref().and_then(|open| open.session(&last.settings)) {
            return Ok(session);
        }
        // What was made for this block, and is gone, does not come back.
        if last.visit != 0 && state.was_open {
            return Err(RemoteError::OtherMachine { target: last.target.name.as_str() }.into());
        }
        // What it held is gone before another comes in its place.
        state.open = None;
        self.live.make_room();
        let was_open = std::mem::replace(&mut state.was_open, true);
        let mut session = match before {
            [] => None,
            before => Some(self.open(before, access, stop)?),
        };
        let first = levels.len() - last.hops().count();
        for at in first..levels.len() {
            let leg = Leg {
                crossing: last,
                way,
                levels: &levels[..=at],
                access,
                // The same for every connection to this target, and for no other one.
                marker: format!("{}-{}-{at}", self.ready().marker, slot.number),
                was_open,
                stop,
            };
            session = Some(self.dial(&leg, session.as_ref())?);
        }
        let session = session.ok_or(RemoteError::NoWay)?;
        let settings = Arc::clone(&last.settings);
        let is_made = levels.iter().any(|(_, visit)| *visit != 0);
        let kept = if is_made { session.let_go() } else { Kept::Held(session.clone()) };
        state.open = Some(Open { settings, session: kept });
        drop(state);
        self.live.add(slot);
        Ok(session)
    }

    fn dial(&self, leg: &Leg<'_>, from: Option<&Opened>) -> Result<Opened, Trouble> {
        let ready = self.ready();
        let Leg { crossing, levels, access, stop, .. } = leg;
        let Some((hop, visit)) = levels.last() else { return Err(RemoteError::NoWay.into()) };
        let Settings { password, lost, .. } = &*crossing.settings;
        let asker = ready.asker.as_deref().filter(|_| crossing.settings.asks);
        let hops: Vec<Hop> = levels.iter().map(|(hop, _)| hop.clone()).collect();
        let end = End { way: leg.way, hops: &hops };
        let usual = Timing::default();
        let lost = lost.map_or(usual.lost, length);
        let options = Options {
            origin: &ready.origin,
            programs: &ready.programs,
            timing: Timing { ping: usual.ping.min(lost / 3), lost },
            ssh: SshOptions {
                keys: self.holding.keys(&end),
                ..ssh_options(crossing, asker.is_none(), ready.persist.clone()?)
            },
            password: password.as_ref(),
            asker,
        };
        if crossing.settings.helper == HelperUse::None {
            return self.dial_plain(leg, from.is_none(), Why::Chosen);
        }
        let base = match from {
            None => Base::Here,
            Some(Opened::Plain(_)) => return Err(plain::no_way(leg)),
            Some(Opened::Acting(session)) => session.inside(),
            Some(Opened::Reading(session)) => session.inside(),
        };
        let mode = match access {
            Access::ReadOnly => Mode::ReadOnly,
            Access::Acting => Mode::Effect,
        };
        let name = &crossing.target.name;
        let gives = options.password.is_some();
        let dialled = self.pace.dial(gives, stop, || dial(name, base, hop, mode, &options, stop));
        let dialled: Dialled = match dialled {
            Err(error) if plain::is_possible(&error, leg) => {
                return self.dial_plain(leg, from.is_none(), plain::why(&error));
            }
            dialled => dialled.map_err(|error| self.holding.failed(&end, error))?,
        };
        let mut found = dialled.identity();
        let asked = Asked { origin: &ready.origin, there: from, stop };
        if self.holding.is_contract()
            && let Some(image) = image::id(hop, asked)
        {
            found.machine = image;
        }
        // What is made for a block is a new one each time, of the same image.
        match (*visit, hop) {
            (0, _) => self.holding.recognize(&end, found)?,
            (_, Hop::NewContainer(_)) => self.holding.judge(&end, found)?,
            _ => {}
        }
        self.begin(leg, dialled)
    }

    /// The session of a target that may be sent something.
    fn begin(&self, leg: &Leg<'_>, dialled: Dialled) -> Result<Opened, Trouble> {
        let Settings { environment, is_login, .. } = &*leg.crossing.settings;
        // Where programs and files are is known to the helper from the beginning; nothing else is.
        let (known, given) = (environment.clone().into_iter())
            .partition(|(name, _)| ["HOME", "PATH"].contains(&name.as_str()));
        let terms = Terms {
            marker: leg.marker.clone(),
            environment: known,
            is_login: *is_login,
            ..Terms::default()
        };
        let world = Arc::clone(&self.ready().world);
        let session = match leg.access {
            Access::ReadOnly => {
                let session = dialled.look(terms, world)?;
                return Ok(Opened::Reading(Arc::new(session.giving(given))));
            }
            Access::Acting if leg.was_open => dialled.act_again(terms, world, leg.stop)?,
            Access::Acting => dialled.act(terms, world)?,
        };
        let terminal = self.terminal.get().cloned();
        Ok(Opened::Acting(Arc::new(session.on(terminal).giving(given))))
    }
}

impl Reach for Targets {
    fn reach(&self, way: &[Crossing], access: Access, stop: &Stop) -> Result<Reached, Trouble> {
        let opened = self.open(way, access, stop)?;
        let start = opened.start();
        let session: Arc<dyn Session + Send> = match opened {
            Opened::Acting(session) => session,
            Opened::Reading(session) => session,
            Opened::Plain(session) => session,
        };
        Ok(Reached { session, start })
    }

    fn lend(&self, terminal: Arc<Terminal>) {
        // There is one at most.
        let _ = self.terminal.set(terminal);
    }

    fn look(&self, way: &[Crossing]) -> Result<Box<dyn Probe>, Trouble> {
        match self.open(way, Access::ReadOnly, &Stop::new())? {
            Opened::Reading(session) => Ok(Box::new(session.standing())),
            Opened::Plain(session) => Ok(session.standing()),
            Opened::Acting(_) => Err(RemoteError::NoWay.into()),
        }
    }

    fn check(&self) -> Result<(), Trouble> {
        self.ready().persist.as_ref().map(drop).map_err(Clone::clone)
    }

    fn hold(&self, trust: Trust) {
        self.holding.hold(trust);
    }

    fn identity(&self, way: &[Crossing]) -> Option<Identity> {
        match &way.last()?.target.hop {
            Hop::NewContainer(new) => image::foreseen(self, way, new),
            _ => self.holding.identity(way),
        }
    }

    fn refused(&self) -> Vec<Refused> {
        self.holding.refused()
    }
}

impl Open {
    /// Its session, where it has a connection under these settings.
    fn session(&self, settings: &Settings) -> Option<Opened> {
        let session = match &self.session {
            Kept::Held(session) => session.clone(),
            Kept::Acting(session) => Opened::Acting(session.upgrade()?),
            Kept::Reading(session) => Opened::Reading(session.upgrade()?),
        };
        let is_good = !session.is_lost() && self.settings.is_same(settings);
        is_good.then_some(session)
    }
}

fn levels(crossing: &Crossing) -> impl Iterator<Item = Level> + use<> {
    let visit = crossing.visit;
    crossing.hops().map(move |hop| (hop, visit))
}

impl Opened {
    fn is_lost(&self) -> bool {
        match self {
            Self::Acting(session) => session.looking().lost().is_some(),
            Self::Reading(session) => session.looking().lost().is_some(),
            // Each command has a connection of its own.
            Self::Plain(_) => false,
        }
    }

    fn let_go(&self) -> Kept {
        match self {
            Self::Acting(session) => Kept::Acting(Arc::downgrade(session)),
            Self::Reading(session) => Kept::Reading(Arc::downgrade(session)),
            Self::Plain(_) => Kept::Held(self.clone()),
        }
    }

    fn start(&self) -> PathBuf {
        match self {
            Self::Acting(session) => session.looking().hello().start.clone(),
            Self::Reading(session) => session.looking().hello().start.clone(),
            Self::Plain(session) => session.start().to_owned(),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Targets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Targets").field("ready", &self.ready).finish_non_exhaustive()
    }
}
