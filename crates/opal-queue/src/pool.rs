//! A pool on the server: its streams, buckets and subjects.
//!
//! | what | name | kind |
//! |---|---|---|
//! | shares | `opal-POOL`, `opal.shares.POOL.ORDER.SHARE` | stream, work queue |
//! | events | `opal-events`, `opal.events.ORDER.SHARE` | stream |
//! | claims, counters, stops | `opal-claims-POOL` | key-value bucket |
//! | orders, contracts, sources | `opal-objects-POOL` | object bucket |
//!
//! A dispatcher makes what is missing. A runner only looks: it may not make anything. Both refuse streams and
//! buckets that have other settings than opal gives them ([`settings`]).

mod settings;

use std::time::Duration;

use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::stream::Stream;
use async_nats::jetstream::{kv, message::PublishMessage, object_store};
use opal_core::hash::{Algorithm, Digest};
use opal_trust::order::{OrderId, is_pool};
use tokio::io::AsyncReadExt as _;
use tokio::time::{Instant, timeout};

use crate::server::{MAX_SKEW, Server};
use crate::trouble::Trouble;

/// How long the server may send nothing of an object.
const IDLE: Duration = Duration::from_secs(20);

/// How long all of an object may take.
const MAX_LOADING: Duration = Duration::from_secs(15 * 60);

/// Bytes that are read of an object at once.
const CHUNK: u64 = 256 * 1024;

/// Bytes of a message that a server must take: what servers take unless their configuration says otherwise. Results
/// and events are smaller.
const MIN_PAYLOAD: usize = 1 << 20;

const EVENTS: &str = "opal-events";
const CONSUMER: &str = "runners";

/// A pool whose parts exist.
#[derive(Clone)]
pub(crate) struct Pool {
    pub(crate) server: Server,
    pub(crate) name: String,
    pub(crate) claims: kv::Store,
    objects: object_store::ObjectStore,
}

/// The names of a pool's parts.
pub(crate) struct Names<'p>(pub(crate) &'p str);

impl Names<'_> {
    pub(crate) fn stream(&self) -> String {
        format!("opal-{}", self.0)
    }

    pub(crate) fn claims(&self) -> String {
        format!("opal-claims-{}", self.0)
    }

    pub(crate) fn objects(&self) -> String {
        format!("opal-objects-{}", self.0)
    }

    /// The subject of a share.
    pub(crate) fn share(&self, order: OrderId, share: u32) -> String {
        format!("opal.shares.{}.{order}.{share}", self.0)
    }

    fn shares(&self) -> String {
        format!("opal.shares.{}.>", self.0)
    }

    /// What a runner, and `opal runs tail` on its machine, may publish and may subscribe to.
    pub(crate) fn permissions(&self) -> (Vec<String>, Vec<String>) {
        let (stream, claims, objects) = (self.stream(), self.claims(), self.objects());
        let publish = vec![
            "opal.events.*.*".to_owned(),
            format!("opal.shares.{}.*.*", self.0),
            format!("$KV.{claims}.>"),
            format!("$JS.API.STREAM.INFO.{stream}"),
            format!("$JS.API.STREAM.INFO.KV_{claims}"),
            format!("$JS.API.STREAM.INFO.OBJ_{objects}"),
            format!("$JS.API.CONSUMER.INFO.{stream}.{CONSUMER}"),
            format!("$JS.API.CONSUMER.MSG.NEXT.{stream}.{CONSUMER}"),
            format!("$JS.API.DIRECT.GET.KV_{claims}.>"),
            format!("$JS.API.DIRECT.GET.OBJ_{objects}.>"),
            format!("$JS.API.STREAM.MSG.GET.KV_{claims}"),
            format!("$JS.API.STREAM.MSG.GET.OBJ_{objects}"),
            format!("$JS.API.CONSUMER.CREATE.OBJ_{objects}.>"),
            format!("$JS.API.CONSUMER.CREATE.OBJ_{objects}"),
            // Answers to the server's flow control while a large object comes.
            format!("$JS.FC.OBJ_{objects}.>"),
            format!("$JS.ACK.{stream}.{CONSUMER}.>"),
            // `opal runs tail` reads events, which are sealed.
            format!("$JS.API.STREAM.INFO.{EVENTS}"),
            format!("$JS.API.CONSUMER.CREATE.{EVENTS}"),
            format!("$JS.API.CONSUMER.CREATE.{EVENTS}.>"),
            format!("$JS.API.CONSUMER.MSG.NEXT.{EVENTS}.>"),
        ];
        (publish, vec![format!("{}.>", crate::server::INBOX)])
    }
}

/// Whether a server takes what runners send.
fn takes_messages(server: &Server) -> Result<(), Trouble> {
    match server.client.server_info().max_payload {
        largest if largest < MIN_PAYLOAD => Err(Trouble::Payload(largest)),
        _ => Ok(()),
    }
}

/// The subject of events of a share.
pub(crate) fn events(order: OrderId, share: u32) -> String {
    format!("opal.events.{order}.{share}")
}

/// Whether this can be the name of a pool.
pub(crate) fn named(name: Option<&str>) -> Result<String, Trouble> {
    let name = name.ok_or(Trouble::NoPool)?;
    if !is_pool(name) {
        return Err(Trouble::PoolName(opal_core::view::visible::brief(name, 80)));
    }
    // Servers may keep streams in directories that differ only by case.
    if Names(name).stream().eq_ignore_ascii_case(EVENTS) {
        return Err(Trouble::PoolReserved(name.to_owned()));
    }
    Ok(name.to_owned())
}

impl Pool {
    /// Makes what is missing of a pool.
    pub(crate) async fn make(server: Server, name: &str) -> Result<Self, Trouble> {
        let failed = |why: String| Trouble::server("making the pool", why);
        takes_messages(&server)?;
        let names = Names(name);
        let stream = &server.stream;
        for config in settings::streams(&names) {
            stream.get_or_create_stream(config).await.map_err(|it| failed(it.to_string()))?;
        }
        let shares = stream.get_stream(names.stream()).await;
        let shares = shares.map_err(|it| failed(it.to_string()))?;
        let made = shares.get_or_create_consumer(CONSUMER, settings::consumer()).await;
        made.map_err(|it| failed(it.to_string()))?;
        Self::open(server, name).await
    }

    /// A pool that exists, with the settings that opal gives it.
    pub(crate) async fn open(server: Server, name: &str) -> Result<Self, Trouble> {
        let failed = |why: String| Trouble::server("opening the pool", why);
        takes_messages(&server)?;
        let names = Names(name);
        for config in settings::streams(&names) {
            let found = server.stream.get_stream(&config.name).await;
            let found = found.map_err(|it| failed(it.to_string()))?;
            settings::check(&config, &found.cached_info().config)?;
        }
        let claims = server.stream.get_key_value(names.claims()).await;
        let claims = claims.map_err(|it| failed(it.to_string()))?;
        let objects = server.stream.get_object_store(names.objects()).await;
        let objects = objects.map_err(|it| failed(it.to_string()))?;
        let pool = Self { server, name: name.to_owned(), claims, objects };
        let consumer = pool.consumer().await?;
        settings::check_consumer(&consumer.cached_info().config)?;
        Ok(pool)
    }

    pub(crate) fn names(&self) -> Names<'_> {
        Names(&self.name)
    }

    /// Where shares are taken from.
    pub(crate) async fn consumer(&self) -> Result<PullConsumer, Trouble> {
        let failed = |why: String| Trouble::server("opening the pool", why);
        let stream = self.server.stream.get_stream(self.names().stream()).await;
        let stream = stream.map_err(|it| failed(it.to_string()))?;
        stream.get_consumer(CONSUMER).await.map_err(|it| failed(it.to_string()))
    }

    /// Where events are read from.
    pub(crate) async fn events(server: &Server) -> Result<Stream, Trouble> {
        let stream = server.stream.get_stream(EVENTS).await;
        stream.map_err(|it| Trouble::server("opening the events", it))
    }

    /// Stores sealed bytes under their digest.
    pub(crate) async fn store(&self, bytes: &[u8]) -> Result<Digest, Trouble> {
        let name = Algorithm::Sha256.digest(&[bytes]);
        let mut reader = bytes;
        let stored = self.objects.put(name.hex().as_str(), &mut reader).await;
        stored.map_err(|it| Trouble::server("storing the order", it))?;
        Ok(name)
    }

    /// The bytes that have this digest; none where the server has others.
    pub(crate) async fn load(&self, name: Digest, most: usize) -> Result<Option<Vec<u8>>, Trouble> {
        let failed = |why: String| Trouble::server("reading an order", why);
        let info = self.objects.info(name.hex()).await.map_err(|it| failed(it.to_string()))?;
        // A link would lead to another object, perhaps of another bucket.
        let is_link = info.options.as_ref().is_some_and(|it| it.link.is_some());
        if is_link || info.size > most {
            return Ok(None);
        }
        let object = self.objects.get(name.hex()).await.map_err(|it| failed(it.to_string()))?;
        let (begun, mut bytes) = (Instant::now(), Vec::new());
        let mut reader = object.take(most as u64 + 1);
        loop {
            let mut chunk = (&mut reader).take(CHUNK);
            match timeout(IDLE, chunk.read_to_end(&mut bytes)).await {
                Ok(Ok(0)) => break,
                Ok(Ok(_)) if begun.elapsed() < MAX_LOADING => {}
                Ok(Ok(_)) => return Err(failed("it takes too long".to_owned())),
                Ok(Err(error)) => return Err(failed(error.to_string())),
                Err(_) => return Err(failed("no answer".to_owned())),
            }
        }
        let is_whole = bytes.len() <= most && Algorithm::Sha256.digest(&[&bytes]) == name;
        Ok(is_whole.then_some(bytes))
    }

    /// Sends a share once: the server drops another of the same order and number.
    pub(crate) async fn send_share(
        &self,
        order: OrderId,
        share: u32,
        ticket: &str,
    ) -> Result<(), Trouble> {
        let failed = |why: String| Trouble::server("sending a share", why);
        let message = PublishMessage::build()
            .payload(ticket.to_owned().into())
            .message_id(format!("{order}.{share}"));
        let subject = self.names().share(order, share);
        let sent = self.server.stream.send_publish(subject, message).await;
        sent.map_err(|it| failed(it.to_string()))?.await.map_err(|it| failed(it.to_string()))?;
        Ok(())
    }

    /// Checks the clock of this machine against the server's, by a value that it writes. `who` is a name that
    /// only this machine uses.
    pub(crate) async fn check_clock(&self, who: &str) -> Result<(), Trouble> {
        let failed = |why: String| Trouble::server("comparing clocks", why);
        let key = format!("clock.{who}");
        let put = self.claims.put(&key, "".into()).await;
        put.map_err(|it| failed(it.to_string()))?;
        let entry = self.claims.entry(&key).await.map_err(|it| failed(it.to_string()))?;
        let entry = entry.ok_or_else(|| failed("a value is gone at once".to_owned()))?;
        let off = (entry.created.unix_timestamp() - unix_time()).unsigned_abs();
        match Duration::from_secs(off) {
            off if off > MAX_SKEW => Err(Trouble::Clock(off)),
            _ => Ok(()),
        }
    }
}

/// Now, in Unix seconds.
pub(crate) fn unix_time() -> i64 {
    jiff::Timestamp::now().as_second()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_whose_stream_is_that_of_events_is_refused() {
        for name in ["events", "Events", "EVENTS"] {
            assert!(matches!(named(Some(name)), Err(Trouble::PoolReserved(_))), "{name}");
        }
        for name in ["eu", "event", "claims-eu", "objects-eu", "events-eu"] {
            assert_eq!(named(Some(name)).ok().as_deref(), Some(name));
        }
    }

    #[test]
    fn no_two_pools_share_a_stream_or_a_bucket() {
        let mut all = std::collections::BTreeSet::from([EVENTS.to_owned()]);
        let pools =
            ["eu", "us", "claims-eu", "objects-eu", "KV_x", "eu-claims", "claims-claims-eu"];
        for pool in pools {
            for config in settings::streams(&Names(pool)).into_iter().filter(|it| it.name != EVENTS)
            {
                assert!(all.insert(config.name.clone()), "{pool}: {}", config.name);
            }
        }
    }
}
