//! What all requests share.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use opal_html::ui::Site;
use opal_vault::root::Root;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::decisions::Decisions;
use super::options::Options;
use super::place::Place;
use super::ticket::{Ticket, word};
use crate::child::{Ended, Opal, Unanswered};

/// Seconds that a request may take, between pings of a stream, and that a ticket counts.
const REQUEST_SECONDS: u32 = 30;
const PING_SECONDS: u32 = 15;

/// Seconds in which a key must be touched.
const TOUCH_SECONDS: u32 = 60;
pub(super) const TICKET_SECONDS: u32 = 60;

/// Pages that hear of events at the same time.
const MOST_STREAMS: usize = 16;

/// Processes that are asked at the same time.
const MOST_ASKED: usize = 4;

#[derive(Debug)]
pub(super) struct Desk {
    pub(super) opal: Opal,
    /// Where `opal` is started.
    here: PathBuf,
    /// A directory that only this user can write.
    pub(super) folder: PathBuf,
    /// What `opal plan approve` is given.
    pub(super) key: Option<OsString>,
    /// What requests must name as `Host`, and forms as `Origin`.
    pub(super) authority: String,
    pub(super) origin: String,
    /// The path that nobody can guess.
    pub(super) word: String,
    /// The same with a `/` in front.
    pub(super) base: String,
    pub(super) decisions: Decisions,
    pub(super) request_limit: Duration,
    pub(super) ping: Duration,
    pub(super) touch_limit: Duration,
    ticket: Ticket,
    ticket_limit: Duration,
    streams: Arc<Semaphore>,
    asked: Semaphore,
}

impl Desk {
    pub(super) fn new(
        opal: Opal,
        options: &Options,
        folder: PathBuf,
        place: &Place,
        ticket: Ticket,
    ) -> Self {
        let word = word();
        Self {
            opal,
            here: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
            folder,
            key: options.key.clone(),
            authority: place.authority.clone(),
            origin: place.origin.clone(),
            base: format!("/{word}"),
            word,
            decisions: Decisions::new(options.by_touch),
            request_limit: options.seconds(REQUEST_SECONDS),
            ping: options.seconds(PING_SECONDS),
            touch_limit: options.seconds(TOUCH_SECONDS),
            ticket,
            ticket_limit: options.seconds(TICKET_SECONDS),
            streams: Arc::new(Semaphore::new(MOST_STREAMS)),
            asked: Semaphore::new(MOST_ASKED),
        }
    }

    pub(super) const fn root(&self) -> &Root {
        self.opal.root()
    }

    pub(super) const fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    pub(super) fn site<'s>(&'s self, nonce: &'s str) -> Site<'s> {
        Site { base: &self.base, nonce }
    }

    /// Returns when the ticket has become worthless without having been used.
    pub(super) async fn expiry(&self) {
        tokio::time::sleep(self.ticket_limit).await;
        if !self.ticket.withdraw() {
            std::future::pending::<()>().await;
        }
    }

    /// A place among the streams, where there is one.
    pub(super) fn stream(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.streams).try_acquire_owned().ok()
    }

    /// What `opal` says.
    pub(super) async fn ask(&self, words: &[&str]) -> Result<Ended, Unanswered> {
        // It is never closed.
        let _turn = self.asked.acquire().await;
        self.opal.ask(&self.here, words).await
    }
}
