//! The bytes between opal and a helper: what is sent arrives, however it is cut, and nothing else is
//! taken for it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::collections::BTreeMap;
use std::time::Duration;

use opal_core::action::{Limits, Why};
use opal_core::context::Context;
use opal_core::files::{Attributes, Entry, EntryKind, Existing};
use opal_core::hash::Digest;
use opal_core::journal::{JournalKey, Opening};
use opal_core::message;
use opal_core::resolver::{Answer, ScriptPart, Trouble, TroubleKind};
use opal_core::target::{Engine, Hop, Pod, Via};
use opal_core::{Data, Secret};
use opal_session::reach::{Dialling, Nonce};
use opal_session::wire::codec::{Malformed, Wire, decoded, encoded};
use opal_session::wire::credit::{Account, Budget, Outlet, Total};
use opal_session::wire::effect::{Effect, Running, Windows};
use opal_session::wire::frame::{Assembly, Channel, Kind, MAX_REQUEST, MORE, StreamId, header};
use opal_session::wire::hello::Begin;
use opal_session::wire::look::{Asked, Command, Look};
use opal_session::wire::reaching::Reaching;
use opal_session::wire::reply::{Halting, Reply};
use opal_session::wire::{
    LEAST_WINDOW, MAX_BUFFERS, MAX_FRAME, MAX_MESSAGE, MAX_REQUESTS, Timing, WINDOW,
};
use opal_session::{Ended, Face, Size};
use proptest::prelude::*;

fn data() -> impl Strategy<Value = Data> {
    let leaf = prop_oneof![
        Just(Data::Null),
        any::<bool>().prop_map(Data::Bool),
        any::<i64>().prop_map(Data::Int),
        any::<f64>().prop_map(Data::Float),
        any::<String>().prop_map(Data::text),
        any::<i64>().prop_map(|it| Data::Duration(opal_core::duration::Duration::from_nanos(it))),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Data::Array),
            prop::collection::btree_map(any::<String>(), inner, 0..4).prop_map(Data::Map),
        ]
    })
}

fn script() -> impl Strategy<Value = Vec<ScriptPart>> {
    let part = prop_oneof![
        any::<String>().prop_map(ScriptPart::Text),
        (data(), any::<u32>())
            .prop_map(|(data, bits)| ScriptPart::Data(data, Context::from_bits(bits))),
        any::<String>().prop_map(|text| ScriptPart::Raw(Secret::new(text))),
    ];
    prop::collection::vec(part, 0..4)
}

fn environment() -> impl Strategy<Value = BTreeMap<String, Secret>> {
    prop::collection::btree_map(any::<String>(), any::<String>().prop_map(Secret::new), 0..4)
}

fn look() -> impl Strategy<Value = Look> {
    let asked = (script(), any::<Option<String>>(), environment(), environment(), any::<bool>());
    let asked = asked.prop_map(|(parts, interpreter, around, environment, drops_excess)| Asked {
        command: Command::Script { parts },
        interpreter,
        base: "/base".into(),
        directory: "/place".into(),
        inner: Some("~/x".to_owned()),
        around,
        environment,
        drops_excess,
    });
    prop_oneof![
        any::<String>().prop_map(|name| Look::Env { name }),
        any::<(String, String)>().prop_map(|(base, path)| Look::Place { base: base.into(), path }),
        asked.prop_map(|asked| Look::Ask { asked }),
        prop::collection::vec(script(), 0..3).prop_map(|scripts| Look::Check { scripts }),
    ]
}

const SIZE: Size = Size { rows: 24, columns: 80, width: 0, height: 1 };

fn opening() -> impl Strategy<Value = Opening> {
    let parts = any::<(String, (i64, i64), String, [u8; 32], u64)>();
    parts.prop_map(|(order, (end, now), target, key, claim)| Opening {
        order,
        end,
        now,
        target,
        key: JournalKey::new(key),
        claim,
        patience: Duration::from_secs(40),
    })
}

fn effect() -> impl Strategy<Value = Effect> {
    let limits = any::<(Option<u64>, Option<u64>, Option<u64>)>();
    let limits = limits.prop_map(|(memory, processes, cpu)| Limits { memory, processes, cpu });
    let work = (script(), environment(), limits, any::<bool>());
    let work = work.prop_map(|(script, environment, limits, has_input)| Running {
        script,
        interpreter: None,
        arguments: Vec::new(),
        directory: "/".into(),
        previous: Some("/tmp".into()),
        environment,
        limits,
        has_input,
        terminal: has_input.then(|| Face {
            size: SIZE,
            keys: [3, 28, 127, 21, 4, 26],
            is_utf8: true,
            kind: Some("xterm-256color".to_owned()),
        }),
        windows: Windows { output: 1, error: 2 },
    });
    let attributes = any::<(Option<u32>, Option<u32>, Option<u32>)>();
    let attributes = attributes.prop_map(|(mode, owner, group)| Attributes { mode, owner, group });
    prop_oneof![
        work.prop_map(|work| Effect::Run { work }),
        opening().prop_map(|opening| Effect::Journal { opening }),
        any::<(u32, String)>().prop_map(|(journal, path)| Effect::Begun { journal, path }),
        any::<(u32, String, i32)>().prop_map(|(journal, path, code)| Effect::Ended {
            journal,
            path,
            code
        }),
        (any::<u32>(), any::<String>(), attributes).prop_map(|(within, path, attributes)| {
            let (path, existing) = (path.into(), Existing::Refused);
            Effect::Write { within, path, attributes, existing }
        }),
        (any::<String>(), any::<bool>()).prop_map(|(path, recursive)| Effect::Remove {
            within: 0,
            path: path.into(),
            recursive,
        }),
    ]
}

fn reply() -> impl Strategy<Value = Reply> {
    let entry = any::<(u32, u32, u32, u64)>();
    let entry = entry.prop_map(|(mode, owner, group, bytes)| {
        let kind = [EntryKind::File, EntryKind::Directory, EntryKind::Link, EntryKind::Other];
        Entry { kind: kind[mode as usize % 4], mode, owner, group, bytes }
    });
    let ended = (any::<i32>(), any::<Option<String>>(), any::<bool>());
    prop_oneof![
        any::<(String, String)>().prop_map(|(one, other)| Reply::Trouble {
            trouble: Trouble::new(TroubleKind::Lost, message!("no `", one, "`"), other),
        }),
        prop::option::of(entry).prop_map(|entry| Reply::Entry { entry }),
        (any::<i32>(), any::<String>(), any::<String>()).prop_map(|(code, stdout, stderr)| {
            let (stdout, stderr) = (Secret::new(stdout), Secret::new(stderr));
            Reply::Answer { answer: Answer { code, stdout, stderr } }
        }),
        ended.prop_map(|(code, directory, is_reported)| {
            let directory = directory.map(Into::into);
            let previous = directory.clone();
            Reply::Ended { ended: Ended { code, directory, previous, is_reported } }
        }),
    ]
}

/// What is decoded is what was encoded, to the byte; and what is cut off anywhere is nothing.
fn arrives<T: Wire>(it: &T) {
    let bytes = encoded(it);
    let again: T = decoded(&bytes).unwrap();
    assert_eq!(*encoded(&again), *bytes);
    for cut in 0..bytes.len() {
        assert!(decoded::<T>(&bytes[..cut]).is_err(), "{cut} of {}", bytes.len());
    }
    let longer = [&**bytes, &[0]].concat();
    assert!(decoded::<T>(&longer).is_err());
}

proptest! {
    #[test]
    fn a_request_or_reply_arrives_as_it_was_sent(
        look in look(), effect in effect(), reply in reply(), environment in environment(),
    ) {
        arrives(&look);
        arrives(&effect);
        arrives(&reply);
        let marker = "m".to_owned();
        arrives(&Begin { version: 1, marker, start: None, environment, is_login: true });
    }

    #[test]
    fn any_bytes_are_decoded_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = decoded::<Look>(&bytes);
        let _ = decoded::<Effect>(&bytes);
        let _ = decoded::<Reply>(&bytes);
        let _ = decoded::<Begin>(&bytes);
        let mut assembly = Assembly::default();
        assembly.add(&bytes);
        while let Ok(Some(_)) = assembly.frame() {}
    }

    #[test]
    fn frames_are_the_same_however_the_pipe_cuts_them(
        payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 1..8),
        cuts in prop::collection::vec(1..20_usize, 1..50),
    ) {
        let stream = |at: usize| StreamId::new(at as u32 + 1, Channel::Output);
        let framed = |(at, payload): (usize, &Vec<u8>)| {
            [&header(Kind::Data, false, stream(at), payload.len())[..], payload].concat()
        };
        let bytes = payloads.iter().enumerate().map(framed).collect::<Vec<_>>().concat();
        let (mut assembly, mut rest, mut found) = (Assembly::default(), &*bytes, Vec::new());
        for cut in cuts.iter().cycle() {
            let (now, later) = rest.split_at((*cut).min(rest.len()));
            assembly.add(now);
            while let Some(frame) = assembly.frame().unwrap() {
                prop_assert_eq!((frame.kind, frame.stream), (Kind::Data, stream(found.len())));
                found.push(frame.payload.to_vec());
            }
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(found, payloads);
    }
}

fn frame(kind: Kind, more: bool, number: u32, payload: &[u8]) -> Vec<u8> {
    let stream = StreamId::new(number, Channel::Talk);
    [&header(kind, more, stream, payload.len())[..], payload].concat()
}

#[test]
fn a_long_message_comes_in_parts_with_others_in_between() {
    let mut assembly = Assembly::default();
    for bytes in [
        frame(Kind::Reply, true, 1, b"ab"),
        frame(Kind::Reply, true, 2, b"x"),
        frame(Kind::Ping, false, 0, b""),
        frame(Kind::Reply, false, 1, b"c"),
        frame(Kind::Reply, false, 2, b"y"),
    ] {
        assembly.add(&bytes);
    }
    let mut next = || assembly.frame().unwrap().map(|it| (it.kind, it.payload.to_vec()));
    assert_eq!(next(), Some((Kind::Ping, Vec::new())));
    assert_eq!(next(), Some((Kind::Reply, b"abc".to_vec())));
    assert_eq!(next(), Some((Kind::Reply, b"xy".to_vec())));
    assert_eq!(next(), None);
}

#[test]
fn frames_and_messages_have_their_limits() {
    let refused = |bytes: &[u8]| {
        let mut assembly = Assembly::default();
        assembly.add(bytes);
        assembly.frame().unwrap_err()
    };
    let mut long = header(Kind::Data, false, StreamId::LINK, MAX_FRAME + 1);
    assert_eq!(refused(&long), Malformed("a frame is longer than 1 MiB"));
    long[4] = Kind::Data as u8 | MORE;
    long[..4].fill(0);
    assert_eq!(refused(&long), Malformed("a frame goes on that cannot"));
    long[4] = 15;
    assert_eq!(refused(&long), Malformed("unknown kind of frame"));
    let mut assembly = Assembly::default();
    let part = vec![0; MAX_FRAME];
    for _ in 0..MAX_MESSAGE / MAX_FRAME {
        assembly.add(&frame(Kind::Look, true, 1, &part));
        assert!(assembly.frame().unwrap().is_none());
    }
    assembly.add(&frame(Kind::Look, false, 1, &[0]));
    assert_eq!(assembly.frame().unwrap_err(), Malformed("a message is longer than 64 MiB"));
    assert_eq!(
        refused(&frame(Kind::Reply, true, 1, b"")),
        Malformed("a frame that goes on is empty")
    );
    // The last one may be: who reads it knows the message by then.
    let many = (1..=MAX_REQUESTS as u32).flat_map(|number| frame(Kind::Reply, true, number, b"x"));
    let mut assembly = Assembly::default();
    assembly.add(&many.collect::<Vec<u8>>());
    assembly.add(&frame(Kind::Reply, false, 1, b""));
    assert_eq!(assembly.frame().unwrap().unwrap().payload[..], *b"x");
    assembly.add(&[frame(Kind::Look, true, 1, b"x"), frame(Kind::Look, true, 2, b"x")].concat());
    let error = assembly.frame().unwrap_err();
    assert_eq!(error, Malformed("more than 256 messages have begun"));
    assert_eq!(StreamId::new(MAX_REQUEST, Channel::Input).number(), u32::MAX);
}

#[test]
fn nothing_is_reserved_for_what_is_only_said_to_be_there() {
    // A list of four thousand million texts, in nine bytes.
    let bytes = [9, 255, 255, 255, 255, 0, 0, 0, 0];
    assert!(decoded::<Look>(&bytes).is_err());
}

#[test]
fn the_keys_of_a_map_come_once_and_in_order() {
    let pair = |key: &str| [encoded(&key.to_owned()).to_vec(), vec![1, 0, 0, 0, b'v']].concat();
    let map = |keys: &[&str]| {
        let count = u32::try_from(keys.len()).unwrap().to_le_bytes().to_vec();
        let pairs: Vec<Vec<u8>> = keys.iter().map(|key| pair(key)).collect();
        decoded::<BTreeMap<String, Secret>>(&[count, pairs.concat()].concat()).map(|it| it.len())
    };
    assert_eq!(map(&["a", "b"]), Ok(2));
    for keys in [["a", "a"], ["b", "a"]] {
        assert_eq!(map(&keys), Err(Malformed("the keys of a map are not in order")));
    }
}

#[test]
fn who_sends_keeps_to_the_window_and_who_receives_counts() {
    let mut account = Account::new(100);
    assert_eq!(account.receive(60), Ok(()));
    assert_eq!(account.take(40), None);
    assert_eq!(account.take(20), Some(60));
    assert_eq!(account.receive(100), Ok(()));
    assert_eq!(account.receive(1), Err(Malformed("more was sent than allowed")));
    assert_eq!(account.receive(0), Err(Malformed("a piece of a stream is empty")));
    assert_eq!(account.end(160), Ok(()));
    assert_eq!(account.end(161), Err(Malformed("a part of a stream is missing")));
    let outlet = Outlet::new(10);
    assert_eq!(outlet.wait(100, || false), Ok(10));
    assert_eq!(outlet.wait(100, || false), Err(std::io::ErrorKind::Interrupted));
    outlet.grant(5).unwrap();
    assert_eq!(outlet.wait(3, || false), Ok(3));
    assert!(outlet.grant(WINDOW).is_err());
    outlet.close(std::io::ErrorKind::BrokenPipe);
    assert_eq!(outlet.wait(1, || true), Err(std::io::ErrorKind::BrokenPipe));
}

#[test]
fn many_streams_share_what_one_target_may_have_on_its_way() {
    let budget = Budget::default();
    let windows: Vec<u32> = (0..MAX_REQUESTS).map(|_| budget.take()).collect();
    assert_eq!(windows[0], WINDOW);
    assert!(windows.iter().map(|it| u64::from(*it)).sum::<u64>() <= MAX_BUFFERS);
    windows.iter().for_each(|window| budget.give_back(*window));
    assert_eq!(budget.take(), WINDOW);
}

#[test]
fn all_targets_share_what_opal_may_have_on_its_way() {
    const SHARED: u64 = 4 * WINDOW as u64;
    static ALL: Total = Total::new(SHARED);
    let budgets: Vec<Budget> = (0..16).map(|_| Budget::of(&ALL)).collect();
    let windows: Vec<u32> = budgets.iter().map(Budget::take).collect();
    assert_eq!(windows[0], WINDOW);
    assert_eq!(windows[15], LEAST_WINDOW, "there is always a way on");
    let least = 16 * u64::from(LEAST_WINDOW);
    assert!(windows.iter().map(|it| u64::from(*it)).sum::<u64>() <= SHARED + least);
    // A connection that is gone keeps nothing.
    drop(budgets);
    assert_eq!(Budget::of(&ALL).take(), WINDOW);
}

#[test]
fn an_order_to_stop_arrives_with_its_reason_and_its_time() {
    for why in [Why::Signal(2), Why::TimedOut, Why::Cancelled] {
        let order = Halting::End { why, grace: Duration::from_millis(1_500) };
        assert_eq!(decoded(&encoded(&order)), Ok(order));
    }
    assert_eq!(decoded(&encoded(&Halting::Kill)), Ok(Halting::Kill));
}

#[test]
fn no_value_is_shown_by_a_request() {
    let environment = BTreeMap::from([("A".to_owned(), Secret::new("canary-1"))]);
    let text = Secret::new("canary-2");
    let shown = format!(
        "{:?} {:?}",
        Begin { version: 1, marker: String::new(), start: None, environment, is_login: false },
        Effect::TextFile { text, extension: String::new() }
    );
    assert!(!shown.contains("canary"), "{shown}");
}

#[test]
fn a_hop_inside_a_target_arrives_and_a_name_or_a_machine_that_cannot_be_does_not() {
    let dialling = Dialling {
        nonce: Nonce([3; 16]),
        digests: vec![Digest([4; 32])],
        is_read_only: true,
        timing: Timing::default(),
    };
    let windows = Windows { output: 1, error: 2 };
    let reaching = |hop| Reaching { hop, dialling: dialling.clone(), has_password: true, windows };
    let pod = Pod {
        name: "web-0".parse().unwrap(),
        namespace: Some("prod".parse().unwrap()),
        container: None,
        context: Some("admin@eu:1".parse().unwrap()),
    };
    for hop in [
        Hop::User { user: "root".parse().unwrap(), via: Via::Doas },
        Hop::Container { engine: Engine::Auto, name: "app".parse().unwrap() },
        Hop::Pod(pod),
    ] {
        let sent = reaching(hop.clone());
        let received: Reaching = decoded(&encoded(&sent)).unwrap();
        assert_eq!((received.hop, received.dialling), (hop, dialling.clone()));
        arrives(&Look::Reach { reaching: sent.clone() });
        arrives(&Effect::Reach { reaching: sent });
    }
    arrives(&Effect::Resize { command: 3, size: SIZE });
    arrives(&Effect::TakeOver { patience: Duration::from_secs(3) });
    // A name is parsed again where it arrives.
    let user = Hop::User { user: "root".parse().unwrap(), via: Via::Sudo };
    let mut bytes = encoded(&user).to_vec();
    let at = bytes.windows(4).position(|it| it == b"root").unwrap();
    bytes[at..at + 4].copy_from_slice(b"-oot");
    assert_eq!(decoded::<Hop>(&bytes), Err(Malformed("an invalid name")));
    for hop in [Hop::Local, Hop::Ssh("web1".parse().unwrap())] {
        assert_eq!(decoded::<Hop>(&encoded(&hop)), Err(Malformed("unknown kind of hop")));
    }
}

#[test]
fn the_kind_of_a_terminal_is_a_name_and_nothing_else() {
    let face =
        |kind: &str| Face { size: SIZE, keys: [0; 6], is_utf8: false, kind: Some(kind.to_owned()) };
    assert_eq!(
        decoded::<Face>(&encoded(&face("screen.xterm-new"))).unwrap(),
        face("screen.xterm-new")
    );
    for kind in ["", "a b", "a\n", "../x", "$(id)", &"x".repeat(65)] {
        assert!(decoded::<Face>(&encoded(&face(kind))).is_err(), "{kind}");
    }
}
