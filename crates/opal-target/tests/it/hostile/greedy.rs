//! A helper that wants the memory of opal: whatever it says without an end has a limit.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::thread;
use std::time::Duration;

use opal_core::resolver::{Links, TroubleKind};
use opal_remote::Greeting;
use opal_session::wire::Timing;
use opal_session::wire::frame::{Kind, MORE, StreamId, header};
use opal_session::wire::link::Sender;
use opal_session::wire::reply::Reply;
use opal_session::{Ends, pipe};

use super::{content, heard, is_lost, probe, read, stat, talk};

#[test]
fn messages_that_begin_and_never_end_are_the_end_of_the_connection() {
    for (why, payload) in [
        ("a frame that goes on is empty", &b""[..]),
        ("more than 256 messages have begun", &b"x"[..]),
    ] {
        let trouble = heard(stat, move |_, raw, number| {
            for more in 0..300 {
                let head = header(Kind::Reply, true, talk(number + more), payload.len());
                assert_eq!(head[4], Kind::Reply as u8 | MORE);
                // It is cut off in the middle.
                if raw.write_all(&[&head, payload].concat()).is_err() {
                    return;
                }
            }
        });
        is_lost(&trouble.unwrap_err(), why);
    }
}

#[test]
fn pieces_without_content_are_the_end_of_the_connection() {
    let trouble = heard(read, |sender, raw, number| {
        sender.message(Kind::Reply, talk(number), &Reply::Done).unwrap();
        let head = header(Kind::Data, false, content(number), 0);
        while raw.write_all(&head).is_ok() {}
    });
    is_lost(&trouble.unwrap_err(), "a piece of a stream is empty");
}

#[test]
fn content_that_comes_byte_by_byte_is_the_same_content() {
    const BYTES: usize = 100_000;
    let whole = |session: &opal_remote::RemoteSession| {
        probe(session, |probe| {
            let (mut file, mut bytes) = (probe.read(Path::new("/x"), Links::Followed)?, Vec::new());
            file.read_to_end(&mut bytes).unwrap();
            Ok(bytes)
        })
    };
    let byte = |at: usize| (at % 251) as u8;
    let bytes = heard(whole, move |sender, _, number| {
        sender.message(Kind::Reply, talk(number), &Reply::Done).unwrap();
        for at in 0..BYTES {
            sender.data(content(number), &[byte(at)]).unwrap();
        }
        sender.end(content(number), BYTES as u64).unwrap();
    });
    assert!(bytes.unwrap() == (0..BYTES).map(byte).collect::<Vec<u8>>());
}

#[test]
fn a_helper_that_never_says_hello_is_not_waited_for_without_an_end() {
    let ((output, inner), (_reader, input)) = (pipe().unwrap(), pipe().unwrap());
    let liar = thread::spawn(move || {
        let sender = Sender::new(inner);
        while sender.word(Kind::Ping, StreamId::LINK).is_ok() {}
    });
    let timing = Timing { ping: Duration::from_millis(50), lost: Duration::from_millis(200) };
    let trouble = Greeting::hear("liar", Ends { output, input }, &[], None, timing).unwrap_err();
    assert_eq!(trouble.kind, TroubleKind::Unreachable);
    assert!(trouble.message.contains("did not say hello in time"), "{trouble:?}");
    liar.join().unwrap();
}
