//! A pool on the server: its streams, buckets and subjects.
//!
//! | what | name | kind |
//! |---|---|---|
//! | shares | `opal-POOL`, `opal.shares.POOL.ORDER.SHARE` | stream, work queue |
//! | events | `opal-events`, `opal.events.ORDER.SHARE` | stream |
//! | claims, counters, stops | `opal-claims-POOL` | key-value bucket |
//! | orders, contracts, sources | `opal-objects-POOL` | object bucket |
//!
//! A dispatcher makes what is missing. A runner only looks: it may not make anything.

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, Stream};
use async_nats::jetstream::{kv, message::PublishMessage, object_store};
use opal_core::hash::{Algorithm, Digest};
use opal_trust::order::{OrderId, is_pool};
use tokio::io::AsyncReadExt as _;

use crate::server::{MAX_SKEW, Server};
use crate::time::seconds;
use crate::trouble::Trouble;

/// After how many seconds a share is given to another runner unless its runner asks for more time.
const ACK_WAIT: u64 = 30;

/// How long everything is kept: the longest order, and a day.
const MAX_AGE: Duration = Duration::from_secs(31 * 24 * 3600);

/// In which time a share that is sent twice is one.
const DUPLICATES: Duration = Duration::from_secs(3600);

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

    /// What a runner may publish and what it may subscribe to.
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
            format!("$JS.ACK.{stream}.{CONSUMER}.>"),
        ];
        (publish, vec![format!("{}.>", crate::server::INBOX)])
    }
}

/// The subject of events of a share.
pub(crate) fn events(order: OrderId, share: u32) -> String {
    format!("opal.events.{order}.{share}")
}

/// Whether this can be the name of a pool.
pub(crate) fn named(name: Option<&str>) -> Result<String, Trouble> {
    let name = name.ok_or(Trouble::NoPool)?;
    match is_pool(name) {
        true => Ok(name.to_owned()),
        false => Err(Trouble::PoolName(opal_core::view::visible::brief(name, 80))),
    }
}

impl Pool {
    /// Makes what is missing of a pool.
    pub(crate) async fn make(server: Server, name: &str) -> Result<Self, Trouble> {
        let failed = |why: String| Trouble::server("making the pool", why);
        let names = Names(name);
        let shares = Config {
            name: names.stream(),
            subjects: vec![names.shares()],
            retention: RetentionPolicy::WorkQueue,
            max_age: MAX_AGE,
            duplicate_window: DUPLICATES,
            ..Config::default()
        };
        let stream = &server.stream;
        let shares =
            stream.get_or_create_stream(shares).await.map_err(|it| failed(it.to_string()))?;
        let events = Config {
            name: EVENTS.to_owned(),
            subjects: vec!["opal.events.*.*".to_owned()],
            max_age: MAX_AGE,
            ..Config::default()
        };
        stream.get_or_create_stream(events).await.map_err(|it| failed(it.to_string()))?;
        // No `backoff`: it would replace `ack_wait`.
        let consumer = pull::Config {
            durable_name: Some(CONSUMER.to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: seconds(ACK_WAIT),
            max_ack_pending: 20_000,
            ..pull::Config::default()
        };
        let made = shares.get_or_create_consumer(CONSUMER, consumer).await;
        made.map_err(|it| failed(it.to_string()))?;
        // The client asks the account first where it makes a bucket, and cannot read what a server of 2.9
        // answers. A bucket is a stream with these settings.
        let bucket = Config {
            name: format!("KV_{}", names.claims()),
            subjects: vec![format!("$KV.{}.>", names.claims())],
            max_messages_per_subject: 1,
            max_age: MAX_AGE,
            discard: DiscardPolicy::New,
            allow_rollup: true,
            deny_delete: true,
            allow_direct: true,
            ..Config::default()
        };
        stream.get_or_create_stream(bucket).await.map_err(|it| failed(it.to_string()))?;
        if stream.get_object_store(names.objects()).await.is_err() {
            let bucket = object_store::Config {
                bucket: names.objects(),
                max_age: MAX_AGE,
                ..object_store::Config::default()
            };
            stream.create_object_store(bucket).await.map_err(|it| failed(it.to_string()))?;
        }
        Self::open(server, name).await
    }

    /// A pool that exists.
    pub(crate) async fn open(server: Server, name: &str) -> Result<Self, Trouble> {
        let names = Names(name);
        let claims = server.stream.get_key_value(names.claims()).await;
        let claims = claims.map_err(|it| Trouble::server("opening the pool", it))?;
        let objects = server.stream.get_object_store(names.objects()).await;
        let objects = objects.map_err(|it| Trouble::server("opening the pool", it))?;
        Ok(Self { server, name: name.to_owned(), claims, objects })
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
        let object = self.objects.get(name.hex()).await.map_err(|it| failed(it.to_string()))?;
        let mut bytes = Vec::new();
        let mut reader = object.take(most as u64 + 1);
        let read =
            tokio::time::timeout(Duration::from_secs(120), reader.read_to_end(&mut bytes)).await;
        match read {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => return Err(failed(error.to_string())),
            Err(_) => return Err(failed("no answer".to_owned())),
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
