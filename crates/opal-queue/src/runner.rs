//! `opal runner`: takes shares of a pool and has them run.
//!
//! | what | where |
//! |---|---|
//! | the keys of this runner, the server's permissions, whether all is in order | `check` |
//! | an order and everything in it, checked before anything runs | `prepared` |
//! | contracts that run once | `seen` |
//! | what all shares use | `desk` |
//! | why a share is not run, and when it is tried again | `refusal` |
//! | who hears that | `refusing` |
//! | the record of it | `recorded` |
//! | who works on a share | `claim` |
//! | a share from its message to its acknowledgement | `share` |
//! | its directory | `folder` |
//! | a share while its process runs | `running` |
//! | how it ends | `ending` |
//! | what becomes of its message | `outcome` |
//! | the process, and the lines it reads and writes | `child` |

mod check;
mod child;
mod claim;
mod desk;
mod ending;
mod folder;
mod outcome;
mod prepared;
mod recorded;
mod refusal;
mod refusing;
mod running;
mod seen;
mod share;

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use async_nats::jetstream::consumer::PullConsumer;
use futures_util::StreamExt as _;
use opal_trust::keys::{Credentials, Runner, SigningKey};
use opal_trust::order::MAX_SHARE;
use opal_trust::policy::{Files, Policy, Settings};
use opal_vault::root::Root;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::notice::say;
use crate::options::Options;
use crate::pool::{self, Pool};
use crate::server::{Server, connect};
use crate::trouble::Trouble;
use desk::{Desk, Room};

pub(crate) use outcome::{PAST_END, is_failure};
pub(crate) use prepared::Ticket as ShareTicket;
pub(crate) use refusal::ENDED;

/// The rules of the machine.
const SYSTEM: &str = "/etc/opal/policy.toml";

/// Targets at a time, unless `--capacity` says otherwise.
const CAPACITY: usize = 100;

/// How long one request for shares waits.
const PULL: Duration = Duration::from_secs(2);

/// When a server or a pool that is not there is looked for again.
const PAUSE: Duration = Duration::from_secs(2);

/// How often clocks are compared.
const CLOCK: Duration = Duration::from_secs(60);

/// Who this runner is.
pub(crate) struct Own {
    runner: Runner,
    key: SigningKey,
}

fn own(root: &Root) -> Result<Own, Trouble> {
    let runner = Runner::of_machine(root)?;
    if let Some(why) = runner.why_ephemeral() {
        return Err(Trouble::NoLastingKey(why.to_owned()));
    }
    Ok(Own { runner, key: Credentials::new(root).queue_key()? })
}

pub(crate) fn policy(root: &Root) -> Result<Policy, Trouble> {
    let files = Files {
        system: Some(PathBuf::from(SYSTEM)),
        user: Some(root.path().join("config/policy.toml")),
        projects: Vec::new(),
    };
    Ok(files.load(Policy::default())?)
}

pub(crate) async fn run(options: &Options) -> Result<u8, Trouble> {
    let root = options.root();
    if options.is("permissions") {
        return check::permissions(options);
    }
    if options.is("keys") {
        return check::keys(&own(&root)?);
    }
    let name = pool::named(options.text("pool"))?;
    let policy = policy(&root)?;
    let dispatchers = policy.dispatchers().cloned().ok_or(Trouble::NoDispatchers)?;
    let (own, settings) = (own(&root)?, Settings::load(root.path())?);
    let opal = opal_helper::find("opal").map_err(Trouble::Helper)?;
    if options.is("check") {
        return check::check(options, &settings, &own, &name, dispatchers.len()).await;
    }
    let mut ends = Ends::new()?;
    folder::sweep();
    let server = connect(options, &settings).await?;
    let Some(pool) = wait_for(&server, &name, &mut ends).await? else { return Ok(0) };
    let desk = Desk {
        opal,
        root,
        runner: own.runner,
        key: own.key,
        policy,
        dispatchers,
        pool,
        orders: RefCell::default(),
        preparing: tokio::sync::Mutex::new(()),
        declined: RefCell::default(),
        reported: RefCell::default(),
        stopping: Cell::new(false),
        busy: Cell::new(0),
        freed: Notify::new(),
    };
    let capacity =
        options.number("capacity").and_then(|it| usize::try_from(it).ok()).unwrap_or(CAPACITY);
    serve(Rc::new(desk), capacity, &mut ends).await
}

/// Waits for a pool; none where this runner is asked to end before.
async fn wait_for(server: &Server, name: &str, ends: &mut Ends) -> Result<Option<Pool>, Trouble> {
    let mut said = String::new();
    loop {
        let why = match Pool::open(server.clone(), name).await {
            Ok(pool) => return Ok(Some(pool)),
            Err(trouble @ (Trouble::Settings { .. } | Trouble::Payload(_))) => return Err(trouble),
            Err(trouble) => trouble.to_string(),
        };
        if why != said {
            say(&format!("opal runner: waiting for the pool `{name}`: {why}"));
            said = why;
        }
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = ends.asked() => return Ok(None),
        }
    }
}

/// Takes shares until it is asked to end, and waits for those that run.
async fn serve(desk: Rc<Desk>, capacity: usize, ends: &mut Ends) -> Result<u8, Trouble> {
    let who = check::short(&desk.key);
    desk.pool.check_clock(&who).await?;
    say(&format!("opal runner: pool `{}`, {capacity} targets at a time", desk.pool.name));
    let mut compared = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    loop {
        let is_full = desk.busy.get() > 0 && desk.busy.get() + MAX_SHARE > capacity;
        tokio::select! {
            () = ends.asked() => break,
            () = desk.freed.notified(), if is_full => continue,
            taken = take(&desk, &who, &mut compared), if !is_full => {
                if let Some(message) = taken {
                    let (desk, mut room) = (Rc::clone(&desk), Room::take(&desk));
                    tasks.spawn_local(async move { share::work(desk, message, &mut room).await });
                }
            }
        }
        while tasks.try_join_next().is_some() {}
    }
    desk.stopping.set(true);
    say(
        "opal runner: ending: what runs is stopped with its cleanup, and its shares go back to the pool",
    );
    tokio::select! {
        () = async { while tasks.join_next().await.is_some() {} } => Ok(0),
        () = ends.asked() => Ok(130),
    }
}

/// One share; none where there is none now.
async fn take(
    desk: &Desk,
    who: &str,
    compared: &mut Instant,
) -> Option<async_nats::jetstream::Message> {
    if compared.elapsed() >= CLOCK {
        if let Err(trouble) = desk.pool.check_clock(who).await {
            say(&format!("opal runner: no share is taken: {trouble}"));
            tokio::time::sleep(PAUSE).await;
            return None;
        }
        *compared = Instant::now();
    }
    let consumer: Result<PullConsumer, Trouble> = desk.pool.consumer().await;
    let pulled = match consumer {
        Ok(consumer) => consumer.batch().max_messages(1).expires(PULL).messages().await.ok(),
        Err(_) => None,
    };
    let Some(mut messages) = pulled else {
        tokio::time::sleep(PAUSE).await;
        return None;
    };
    // A server that goes away meanwhile never answers.
    tokio::time::timeout(PULL + PAUSE, messages.next()).await.ok()??.ok()
}

/// The signals that end it.
pub(crate) struct Ends {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl Ends {
    pub(crate) fn new() -> Result<Self, Trouble> {
        let listen = |kind| signal(kind).map_err(Trouble::SystemSignals);
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
        })
    }

    pub(crate) async fn asked(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
