//! `opal ui`: pages for a person, served on this machine only. They show the inbox, contracts and records;
//! a decision about a contract is asked for here and taken in the terminal.
//!
//! | what | where |
//! |---|---|
//! | what it was started with | `options` |
//! | the address or socket, and what requests must name | `place` |
//! | the path that nobody can guess, and the ticket for it | `ticket` |
//! | connections, and how long each may take | `connections`, `life` |
//! | what every request must have | `guard` |
//! | which address shows what | `routes` |
//! | answers and their headers | `reply` |
//! | contracts, records, a run that goes on | `contracts`, `records`, `live` |
//! | parts of lists | `parts` |
//! | asking in the terminal, one question at a time | `deciding`, `decisions` |
//! | events for a page that is open | `stream` |
//! | what all of them share | `desk` |
//!
//! No request signs, runs, stops or writes anything. What a page shows of a plan or a run is what the `opal`
//! that is started writes; the terminal of `opal ui` and `opal plan approve` decide.

mod codes;
mod connections;
mod contracts;
mod deciding;
mod decisions;
mod desk;
mod guard;
mod life;
mod live;
mod options;
mod parts;
mod place;
mod records;
mod reply;
mod routes;
mod stream;
mod ticket;

use std::ffi::OsString;
use std::process::{ExitCode, Stdio};
use std::sync::Arc;

use opal_core::message::Reason;
use opal_vault::root::Root;
use tokio::signal::unix::{SignalKind, signal};

use self::codes::{BUG, NOT_TRUSTED, TIMED_OUT, UNAVAILABLE, UNWRITABLE};
use self::desk::Desk;
use self::options::Options;
use self::place::Place;
use self::ticket::{Left, Ticket};
use crate::child::Opal;
use crate::notice::{fail, say};

/// Under the runtime root.
const FOLDER: &str = "ui";

/// Serves until it is interrupted.
pub(crate) fn run(words: impl Iterator<Item = OsString>) -> ExitCode {
    let Some(options) = Options::read(words) else {
        return fail("its arguments are missing", "start it with `opal ui`", 2);
    };
    let opal = match opal_helper::find("opal") {
        Ok(opal) => opal,
        Err(unusable) => {
            let code = if unusable.is_unsafe() { NOT_TRUSTED } else { UNAVAILABLE };
            return fail(&unusable.to_string(), &unusable.help(), code);
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else {
        return fail("the system gives no timer or no poll", "try again", BUG);
    };
    let code = runtime.block_on(serve(&options, Opal::new(opal, Root::new(&options.root))));
    // A file may still be read for an answer that nobody waits for.
    runtime.shutdown_background();
    code
}

async fn serve(options: &Options, opal: Opal) -> ExitCode {
    let folder = match opal.root().directory(FOLDER) {
        Ok(folder) => folder,
        Err(error) => {
            let code = if error.is_unsafe() { NOT_TRUSTED } else { UNWRITABLE };
            return fail(&error.to_string(), &error.help(), code);
        }
    };
    let place = match Place::open(options) {
        Ok(place) => place,
        Err(refused) => return fail(&refused.to_string(), &refused.help(), refused.code()),
    };
    ticket::remove_stale(&folder, options.seconds(desk::TICKET_SECONDS));
    let ticket = match Ticket::new(&folder, &place.origin) {
        Ok(ticket) => ticket,
        Err(error) => {
            let why = format!("`{}` cannot be written: {}", folder.display(), Reason(error.kind()));
            return fail(&why, "free some space, or name another `--root`", UNWRITABLE);
        }
    };
    let Ok(ended) = Ended::listen() else {
        return fail("the system gives no signals", "try again", BUG);
    };
    announce(&place, &ticket);
    if options.opens {
        open(&ticket);
    }
    let desk = Arc::new(Desk::new(opal, options, folder, &place, ticket));
    let expired = Arc::clone(&desk);
    let code = tokio::select! {
        () = connections::accept(&place, &desk) => fail("the address cannot be listened on any more", "start `opal ui` again", UNAVAILABLE),
        () = ended.wait(&desk) => {
            say("opal ui: ended");
            ExitCode::SUCCESS
        }
        () = expired.expiry() => fail(
            "nobody has opened the pages within 60 seconds, so nobody can any more",
            "start `opal ui` again",
            TIMED_OUT,
        ),
    };
    desk.ticket().withdraw();
    code
}

/// Says where it is.
fn announce(place: &Place, ticket: &Ticket) {
    say("opal ui: inbox, contracts and records, for you on this machine");
    if let Some(command) = place.forwarding() {
        say(&format!("  on the machine of your browser:  {command}"));
    }
    say(&format!("  open once, within 60 seconds:  {}", ticket.url()));
    say("  Ctrl+C ends it");
}

/// Has a browser open the file of the ticket: the address itself would be in a list of processes.
fn open(ticket: &Ticket) {
    let Left::File(file) = ticket.left() else { return };
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut browser = tokio::process::Command::new(program);
    browser.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match browser.process_group(0).spawn() {
        Ok(mut started) => drop(tokio::spawn(async move { started.wait().await })),
        Err(_) => say(&format!("opal ui: no browser was started: `{program}` is missing")),
    }
}

/// What ends it.
struct Ended([tokio::signal::unix::Signal; 3]);

impl Ended {
    fn listen() -> std::io::Result<Self> {
        let of = |kind| signal(kind);
        let all = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let [interrupt, terminate, hangup] = all.map(of);
        Ok(Self([interrupt?, terminate?, hangup?]))
    }

    /// Ctrl+C while the terminal asks a question is an answer to that question.
    async fn wait(self, desk: &Desk) {
        let Self([mut interrupt, mut terminate, mut hangup]) = self;
        loop {
            tokio::select! {
                _ = interrupt.recv() => if !desk.decisions.is_asking() { return },
                _ = terminate.recv() => return,
                _ = hangup.recv() => return,
            }
        }
    }
}
