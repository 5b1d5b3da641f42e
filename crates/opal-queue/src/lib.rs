//! The helper `opal-queue`: sending contracts to a pool of runners, and running them from it.
//!
//! Its first argument names the part, its second one the build of the `opal` that started it, its third one
//! the options as JSON ([`options`]).
//!
//! ```text
//! opal dispatch ──order, contract, sources, sealed──▶ NATS JetStream ──share──▶ opal runner
//!                                                                                │ start, event
//!               ◀──────────────── signed events, sealed ─────────────────────────┤
//!                                                          opal run --share N ◀──┘
//! ```
//!
//! | what | where |
//! |---|---|
//! | sending a contract and following it | `dispatch` |
//! | taking shares and having them run | `runner` |
//! | reading events (`opal runs tail --pool`) | `tail` |
//! | the messages about an order | `events` |
//! | what has become of an order, and whether all is in order | `follow` |
//! | the server: address, credentials, TLS, clock | `server` |
//! | streams, buckets and subjects of a pool | `pool` |
//! | what runners and dispatcher say to each other | `report` |
//! | trying again while the server is away | `patience` |
//! | the archive of sources | `bundle` |
//! | the one fleet of a contract, as shares | `fleet` |
//! | how far all runners are: batches and failures | `counter` |
//! | why something is not possible: all messages of this crate | `trouble` |
//!
//! Deliberately not here: planning and running. A runner starts `opal` for each share, with the checks that it
//! makes everywhere, and the target itself keeps who may work on it.

mod bundle;
mod counter;
mod dispatch;
mod events;
mod fleet;
mod follow;
mod notice;
mod options;
mod patience;
mod pool;
mod report;
mod runner;
mod server;
mod table;
mod tail;
mod time;
mod trouble;

use std::ffi::OsString;
use std::process::ExitCode;

use opal_helper::{BUILD, QUEUE, Unusable};

use notice::fail;
use options::Options;
use trouble::Trouble;

/// Runs the part that is named.
#[must_use]
pub fn run(mut words: impl Iterator<Item = OsString>) -> ExitCode {
    let (part, build, options) = (words.next(), words.next(), words.next());
    let (Some(part), Some(build)) = (part, build) else {
        let why = format!("`{QUEUE}` is a helper, which `opal` starts when it needs it");
        return fail(&why, "see `opal --help`", 2);
    };
    if build != BUILD {
        let build: String =
            build.to_string_lossy().chars().filter(char::is_ascii_graphic).take(80).collect();
        let why = format!("`{QUEUE}` is of another build: it is {BUILD}, and opal is {build}");
        return fail(&why, &Unusable::OtherBuild { name: QUEUE, build }.help(), 69);
    }
    // Keys must not be in a file after a crash.
    opal_files::memory::keep_private();
    let options = options.and_then(|it| Options::parse(it.to_str()?));
    let Some(options) = options else {
        return fail(&format!("`{QUEUE}` got no options"), "see `opal --help`", 2);
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else {
        return fail("the system gives no timer or no poll", "try again", 70);
    };
    let local = tokio::task::LocalSet::new();
    let ended = local.block_on(&runtime, async {
        match part.to_str() {
            Some("dispatch") => dispatch::run(&options).await,
            Some("runner") => runner::run(&options).await,
            Some("tail") => tail::run(&options).await,
            _ => Err(Trouble::NoPart),
        }
    });
    drop(local);
    runtime.shutdown_background();
    match ended {
        Ok(code) => ExitCode::from(code),
        Err(trouble) => fail(&trouble.to_string(), &trouble.help(), trouble.code()),
    }
}
