//! The settings of a pool's streams and buckets, and whether those that exist have them.
//!
//! With others the design does not hold: a stream that drops the oldest message loses shares, and a bucket that
//! forgets claims gives a share to two runners. How often and where the server stores them is the operator's.

use std::time::Duration;

use async_nats::jetstream::consumer::{self, AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy};

use super::{CONSUMER, EVENTS, Names};
use crate::time::seconds;
use crate::trouble::Trouble;

/// After how many seconds a share is given to another runner unless its runner asks for more time.
const ACK_WAIT: u64 = 30;

/// How long everything is kept: the longest order, and a day.
const MAX_AGE: Duration = Duration::from_secs(31 * 24 * 3600);

/// In which time a message that is sent twice is one.
const DUPLICATES: Duration = Duration::from_secs(3600);

/// Shares that runners have at a time.
const MAX_PENDING: i64 = 20_000;

/// The streams of a pool. Buckets are streams too. The client asks the account first where it makes a bucket, and
/// cannot read what a server of 2.9 answers.
pub(super) fn streams(names: &Names<'_>) -> [Config; 4] {
    let (claims, objects) = (names.claims(), names.objects());
    let shares = Config {
        name: names.stream(),
        subjects: vec![names.shares()],
        retention: RetentionPolicy::WorkQueue,
        max_age: MAX_AGE,
        duplicate_window: DUPLICATES,
        ..Config::default()
    };
    let events = Config {
        name: EVENTS.to_owned(),
        subjects: vec!["opal.events.*.*".to_owned()],
        max_age: MAX_AGE,
        duplicate_window: DUPLICATES,
        ..Config::default()
    };
    let claims = Config {
        name: format!("KV_{claims}"),
        subjects: vec![format!("$KV.{claims}.>")],
        max_messages_per_subject: 1,
        max_age: MAX_AGE,
        discard: DiscardPolicy::New,
        allow_rollup: true,
        deny_delete: true,
        allow_direct: true,
        ..Config::default()
    };
    let objects = Config {
        name: format!("OBJ_{objects}"),
        subjects: vec![format!("$O.{objects}.C.>"), format!("$O.{objects}.M.>")],
        max_age: MAX_AGE,
        discard: DiscardPolicy::New,
        allow_rollup: true,
        allow_direct: true,
        ..Config::default()
    };
    [shares, events, claims, objects]
}

/// Where runners take shares from. No `backoff`: it would replace `ack_wait`.
pub(super) fn consumer() -> pull::Config {
    pull::Config {
        durable_name: Some(CONSUMER.to_owned()),
        ack_policy: AckPolicy::Explicit,
        ack_wait: seconds(ACK_WAIT),
        max_ack_pending: MAX_PENDING,
        ..pull::Config::default()
    }
}

/// Whether a stream has the settings that it should have.
pub(super) fn check(ours: &Config, found: &Config) -> Result<(), Trouble> {
    // 0 and -1 are both no limit.
    let limit = |it: i64| it.max(0);
    let is_any_window = ours.duplicate_window.is_zero();
    let all = [
        ("subjects", ours.subjects == found.subjects),
        ("retention", ours.retention == found.retention),
        ("discard", ours.discard == found.discard && !found.discard_new_per_subject),
        ("max_age", ours.max_age == found.max_age),
        (
            "max_msgs_per_subject",
            limit(ours.max_messages_per_subject) == limit(found.max_messages_per_subject),
        ),
        ("max_msgs", limit(found.max_messages) == 0),
        ("max_bytes", limit(found.max_bytes) == 0),
        ("max_msg_size", limit(found.max_message_size.into()) == 0),
        ("duplicate_window", is_any_window || ours.duplicate_window == found.duplicate_window),
        ("storage", ours.storage == found.storage),
        ("no_ack", !found.no_ack),
        ("sealed", !found.sealed),
        ("allow_rollup_hdrs", ours.allow_rollup == found.allow_rollup),
        ("deny_delete", ours.deny_delete == found.deny_delete),
        ("deny_purge", !found.deny_purge),
        ("allow_direct", ours.allow_direct == found.allow_direct),
        ("mirror", found.mirror.is_none()),
        ("sources", found.sources.as_ref().is_none_or(Vec::is_empty)),
        ("republish", found.republish.is_none()),
        ("subject_transform", found.subject_transform.is_none()),
    ];
    same(&ours.name, &all)
}

/// The same of where runners take shares from.
pub(super) fn check_consumer(found: &consumer::Config) -> Result<(), Trouble> {
    let all = [
        ("ack_policy", found.ack_policy == AckPolicy::Explicit),
        ("ack_wait", found.ack_wait == seconds(ACK_WAIT)),
        ("backoff", found.backoff.is_empty()),
        ("deliver_policy", found.deliver_policy == DeliverPolicy::All),
        ("filter_subject", found.filter_subject.is_empty() && found.filter_subjects.is_empty()),
        ("headers_only", !found.headers_only),
        ("max_ack_pending", found.max_ack_pending == MAX_PENDING),
        ("max_deliver", found.max_deliver <= 0),
    ];
    same(CONSUMER, &all)
}

fn same(name: &str, all: &[(&'static str, bool)]) -> Result<(), Trouble> {
    match all.iter().find(|(_, is_same)| !is_same) {
        None => Ok(()),
        Some((setting, _)) => Err(Trouble::Settings { name: name.to_owned(), setting }),
    }
}

#[cfg(test)]
mod tests {
    use async_nats::jetstream::consumer::IntoConsumerConfig as _;

    use super::*;

    /// What the server makes of the settings of a stream.
    fn stored(config: &Config) -> Config {
        let unlimited = |it: i64| if it == 0 { -1 } else { it };
        Config {
            max_messages: -1,
            max_bytes: -1,
            max_message_size: -1,
            max_messages_per_subject: unlimited(config.max_messages_per_subject),
            num_replicas: 3,
            ..config.clone()
        }
    }

    #[test]
    fn a_stream_with_other_settings_is_refused_by_name() {
        type Change = fn(&mut Config);
        let changes: [(&str, Change); 7] = [
            ("max_age", |it| it.max_age = Duration::ZERO),
            ("max_msgs", |it| it.max_messages = 10),
            ("max_bytes", |it| it.max_bytes = 1 << 30),
            ("retention", |it| it.retention = RetentionPolicy::Interest),
            ("deny_delete", |it| it.deny_delete = !it.deny_delete),
            ("subjects", |it| it.subjects.push("more".into())),
            ("sealed", |it| it.sealed = true),
        ];
        for ours in streams(&Names("eu")) {
            assert!(check(&ours, &stored(&ours)).is_ok(), "{}", ours.name);
            for (setting, change) in changes {
                let mut found = stored(&ours);
                change(&mut found);
                let Err(Trouble::Settings { name, setting: said }) = check(&ours, &found) else {
                    panic!("{}: {setting} was accepted", ours.name);
                };
                assert_eq!((name, said), (ours.name.clone(), setting));
            }
        }
    }

    /// `backoff` replaces `ack_wait`: a share would come again while its runner works on it.
    #[test]
    fn a_consumer_with_other_settings_is_refused_by_name() {
        type Change = fn(&mut consumer::Config);
        // What the server makes of ours.
        let ours =
            || consumer::Config { max_deliver: -1, ..super::consumer().into_consumer_config() };
        let changes: [(&str, Change); 5] = [
            ("ack_wait", |it| it.ack_wait = Duration::from_secs(1)),
            ("backoff", |it| it.backoff = vec![Duration::from_secs(1)]),
            ("max_deliver", |it| it.max_deliver = 3),
            ("filter_subject", |it| it.filter_subject = "opal.shares.eu.x.1".into()),
            ("headers_only", |it| it.headers_only = true),
        ];
        assert!(check_consumer(&ours()).is_ok());
        for (setting, change) in changes {
            let mut found = ours();
            change(&mut found);
            let Err(Trouble::Settings { setting: said, .. }) = check_consumer(&found) else {
                panic!("{setting} was accepted");
            };
            assert_eq!(said, setting);
        }
    }
}
