//! The messages about orders, from the first one on. A connection that was lost and is back makes a new consumer
//! after the last message: the client would notice only after a minute that its own is gone.

use std::pin::Pin;
use std::sync::atomic::Ordering;

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::pull::OrderedConfig;
use futures_util::{Stream, StreamExt as _};
use tokio::time::{Duration, sleep};

use crate::patience::PAUSE;
use crate::pool::Pool;
use crate::server::Server;
use crate::trouble::Trouble;

/// How often the connection is asked for.
const TICK: Duration = Duration::from_millis(500);

pub(crate) struct Events {
    server: Server,
    filter: String,
    /// The number of the next message in the stream.
    next: u64,
    /// How often there was a connection when the consumer was made.
    connects: u64,
    messages: Pin<Box<dyn Stream<Item = Message>>>,
}

/// The share of a message's subject.
pub(crate) fn share_of(subject: &str) -> Option<u32> {
    subject.rsplit('.').next()?.parse().ok()
}

fn connects(server: &Server) -> u64 {
    server.client.statistics().connects.load(Ordering::Relaxed)
}

async fn begin(
    server: &Server,
    filter: &str,
    next: u64,
) -> Result<Pin<Box<dyn Stream<Item = Message>>>, Trouble> {
    let failed = |why: String| Trouble::server("reading events", why);
    let events = Pool::events(server).await?;
    let how = OrderedConfig {
        filter_subject: filter.to_owned(),
        deliver_policy: match next {
            0 => DeliverPolicy::All,
            start_sequence => DeliverPolicy::ByStartSequence { start_sequence },
        },
        ..OrderedConfig::default()
    };
    let consumer = events.create_consumer(how).await.map_err(|it| failed(it.to_string()))?;
    let messages = consumer.messages().await.map_err(|it| failed(it.to_string()))?;
    Ok(Box::pin(messages.filter_map(|it| std::future::ready(it.ok()))))
}

impl Events {
    /// All messages whose subject has this form.
    pub(crate) async fn of(server: &Server, filter: String) -> Result<Self, Trouble> {
        let connects = connects(server);
        let messages = begin(server, &filter, 0).await?;
        Ok(Self { server: server.clone(), filter, next: 0, connects, messages })
    }

    /// The next message. It waits while the server is away, and may be dropped while it waits.
    pub(crate) async fn next(&mut self) -> Message {
        loop {
            let message = tokio::select! {
                message = self.messages.next() => message,
                () = sleep(TICK) => {
                    if connects(&self.server) == self.connects {
                        continue;
                    }
                    None
                }
            };
            let Some(message) = message else {
                self.again().await;
                continue;
            };
            let Some(number) = message.info().ok().map(|it| it.stream_sequence) else { continue };
            // What came before its consumer was made again.
            if number >= self.next {
                self.next = number + 1;
                return message;
            }
        }
    }

    async fn again(&mut self) {
        let now = connects(&self.server);
        match begin(&self.server, &self.filter, self.next).await {
            Ok(messages) => {
                self.connects = now;
                self.messages = messages;
            }
            Err(_) => sleep(PAUSE).await,
        }
    }
}
