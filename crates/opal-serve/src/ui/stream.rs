//! Events for a page that is open: server-sent events. A page that no longer listens, or is too slow, is left.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::http::Response;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use hyper::body::{Bytes, Frame};
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::desk::Desk;
use super::life::Life;
use super::reply::Reply;

/// Messages that wait for the page.
const MOST_WAITING: usize = 16;

/// Where events of one page go.
#[derive(Debug)]
pub(super) struct Events {
    to: mpsc::Sender<Bytes>,
    /// How long the page may take to read.
    limit: Duration,
    ping: Duration,
    next_ping: Instant,
    life: Life,
    _turn: OwnedSemaphorePermit,
}

/// A place for events, and the answer that brings them; none where too many pages listen.
pub(super) fn open(desk: &Desk, life: &Life) -> Option<(Events, Response<Body>)> {
    let turn = desk.stream()?;
    life.goes_on();
    let (to, from) = mpsc::channel(MOST_WAITING);
    let next_ping = Instant::now() + desk.ping;
    let (limit, ping, life) = (desk.request_limit, desk.ping, life.clone());
    let events = Events { to, limit, ping, next_ping, life, _turn: turn };
    let mut response = Response::new(Body::new(Stream(from)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    Some((events, response))
}

/// There are too many.
pub(super) fn full() -> Reply {
    Reply::refused("too many pages show something live; close one")
}

impl Events {
    /// Sends an event; says whether the page still listens.
    pub(super) async fn send(&mut self, name: &str, data: &Value) -> bool {
        // JSON on one line: a line feed in a text is written as `\n`.
        self.bytes(format!("event: {name}\ndata: {data}\n\n")).await
    }

    /// Says that it is still there, if it is time to.
    pub(super) async fn ping(&mut self) -> bool {
        if self.to.is_closed() {
            return false;
        }
        if Instant::now() < self.next_ping {
            return true;
        }
        self.next_ping = Instant::now() + self.ping;
        self.bytes(": ping\n\n".to_owned()).await
    }

    /// Waits until it is time for a ping, or the page is gone.
    pub(super) async fn wait(&self) {
        tokio::select! {
            () = sleep_until(self.next_ping) => {}
            () = self.to.closed() => {}
        }
    }

    async fn bytes(&self, text: String) -> bool {
        let sent = tokio::time::timeout(self.limit, self.to.send(text.into())).await;
        sent.is_ok_and(|sent| sent.is_ok())
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.life.ends();
    }
}

/// The body of the answer.
struct Stream(mpsc::Receiver<Bytes>);

impl hyper::body::Body for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}
