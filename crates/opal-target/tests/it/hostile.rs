//! A helper that lies, and an opal that lies: whatever is said that cannot be ends the connection, with
//! the reason.

mod greedy;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;

use opal_core::Secret;
use opal_core::files::{Entry, EntryKind};
use opal_core::hash::Digest;
use opal_core::resolver::{Links, Trouble, TroubleKind};
use opal_core::tree::{Found, Part, TreeLimits};
use opal_remote::{Greeting, RemoteSession, Terms};
use opal_session::stop::Stop;
use opal_session::wire::codec::{Encoder, Name, Wire, encoded};
use opal_session::wire::effect::Effect;
use opal_session::wire::facts::Names;
use opal_session::wire::frame::{Channel, Kind, Receiver, StreamId, header};
use opal_session::wire::hello::{Begin, Hello};
use opal_session::wire::link::Sender;
use opal_session::wire::look::Look;
use opal_session::wire::reply::Reply;
use opal_session::wire::{BUILD, Timing, VERSION};
use opal_session::world::{OsWorld, Surroundings};
use opal_session::{Ends, Place, Session, pipe};

use crate::served::PROGRAM;

fn hello() -> Hello {
    Hello {
        version: VERSION,
        build: BUILD.to_owned(),
        digest: None,
        user: 0,
        machine: String::new(),
        os: "linux".to_owned(),
        arch: "x86_64".to_owned(),
        name: "liar".to_owned(),
        start: "/".into(),
        home: None,
        is_read_only: false,
    }
}

/// One request, and what the liar says to it: how the session sees it.
fn lied(
    ask: impl FnOnce(&RemoteSession) -> Result<(), Trouble>,
    lie: impl FnOnce(&Sender, u32) + Send + 'static,
) -> Trouble {
    heard(ask, |sender, _, number| lie(sender, number)).unwrap_err()
}

/// The same where the session may believe it. The file is the pipe that the liar's words go to.
fn heard<T>(
    ask: impl FnOnce(&RemoteSession) -> Result<T, Trouble>,
    lie: impl FnOnce(&Sender, &mut File, u32) + Send + 'static,
) -> Result<T, Trouble> {
    let ((output, inner_output), (inner_input, input)) = (pipe().unwrap(), pipe().unwrap());
    let liar = thread::spawn(move || {
        let mut raw = File::from(inner_output.try_clone().unwrap());
        let sender = Sender::new(inner_output);
        let mut receiver = Receiver::new(inner_input, Timing::default().lost);
        sender.message(Kind::Hello, StreamId::LINK, &hello()).unwrap();
        loop {
            let Ok(frame) = receiver.frame() else { return };
            if matches!(frame.kind, Kind::Look | Kind::Effect) {
                lie(&sender, &mut raw, frame.stream.request);
                drop(raw);
                break;
            }
        }
        while receiver.frame().is_ok() {}
    });
    let ends = Ends { output, input };
    let greeting = Greeting::hear("liar", ends, &[], None, Timing::default()).unwrap();
    let origin = Arc::new(OsWorld::new(Surroundings::default()));
    let session = RemoteSession::new(greeting.act(Terms::default()).unwrap(), origin);
    let came = ask(&session);
    drop(session);
    liar.join().unwrap();
    came
}

fn stat(session: &RemoteSession) -> Result<(), Trouble> {
    probe(session, |probe| probe.stat(Path::new("/")).map(drop))
}

fn list(session: &RemoteSession) -> Result<(), Trouble> {
    probe(session, |probe| probe.list(Path::new("/")).map(drop))
}

/// All of a file. What is lost in the middle is an error of reading.
fn read(session: &RemoteSession) -> Result<(), Trouble> {
    probe(session, |probe| {
        let mut file = probe.read(Path::new("/x"), Links::Followed)?;
        file.read_to_end(&mut Vec::new()).unwrap_err();
        // Whoever asks next hears why.
        probe.stat(Path::new("/")).map(drop)
    })
}

fn probe<T>(
    session: &RemoteSession,
    look: impl FnOnce(&dyn opal_core::resolver::Probe) -> Result<T, Trouble>,
) -> Result<T, Trouble> {
    let (root, none, stop) = (Path::new("/"), BTreeMap::new(), Stop::new());
    let place =
        Place { base: root, directory: root, environment: &none, sources: None, stop: &stop };
    look(&*session.probe(&place))
}

#[track_caller]
fn is_lost(trouble: &Trouble, why: &str) {
    assert_eq!(trouble.kind, TroubleKind::Lost, "{trouble:?}");
    assert!(trouble.message.contains(why), "{trouble:?}");
    assert!(trouble.message.contains("`liar`"), "{trouble:?}");
}

fn talk(number: u32) -> StreamId {
    StreamId::new(number, Channel::Talk)
}

fn content(number: u32) -> StreamId {
    StreamId::new(number, Channel::Output)
}

#[test]
fn an_answer_that_cannot_be_is_the_end_of_the_connection_with_the_reason() {
    type Lie = fn(&Sender, u32);
    let lies: [(&str, Lie); 9] = [
        ("an answer without a request", |sender, number| {
            sender.message(Kind::Reply, talk(number + 1), &Reply::Done).unwrap();
        }),
        ("an answer of another kind", |sender, number| {
            sender.message(Kind::Reply, talk(number), &Reply::Flag { flag: true }).unwrap();
        }),
        ("data for a stream that is not open", |sender, number| {
            sender.data(content(number), b"unasked").unwrap();
        }),
        ("where it has no meaning", |sender, number| {
            sender.word(Kind::Bye, talk(number)).unwrap();
        }),
        ("where it has no meaning", |sender, number| {
            sender.window(StreamId::new(number, Channel::Input), 1).unwrap();
        }),
        ("unknown kind of reply", |sender, number| {
            sender.message(Kind::Reply, talk(number), &99_u8).unwrap();
        }),
        ("a message ends in the middle", |sender, number| {
            sender.message(Kind::Reply, talk(number), &4_u8).unwrap();
        }),
        ("bytes after the end", |sender, number| {
            let mut bytes = Encoder::default();
            Reply::Entry { entry: None }.encode(&mut bytes);
            sender.message(Kind::Reply, talk(number), &Bytes(vec![4, 0, 0])).unwrap();
        }),
        ("the connection was closed", |sender, _| sender.close()),
    ];
    for (why, lie) in lies {
        is_lost(&lied(stat, lie), why);
    }
}

/// Bytes as they are.
struct Bytes(Vec<u8>);

impl Wire for Bytes {
    fn encode(&self, to: &mut Encoder) {
        to.raw(&self.0);
    }

    fn decode(
        _: &mut opal_session::wire::codec::Decoder<'_>,
    ) -> Result<Self, opal_session::wire::codec::Malformed> {
        unreachable!("it is only sent")
    }
}

/// A tree of a liar: a root, and entries of any depth with any name.
fn tree(entries: &[(u32, &str, EntryKind)]) -> Vec<u8> {
    let entry = |kind| Entry { kind, mode: 0o644, owner: 0, group: 0, bytes: 1 };
    let mut bytes = Encoder::default();
    bytes.count(entries.len() + 1);
    bytes.count(0);
    entry(EntryKind::Directory).encode(&mut bytes);
    None::<Digest>.encode(&mut bytes);
    for (depth, name, kind) in entries {
        depth.encode(&mut bytes);
        bytes.bytes(name.as_bytes());
        entry(*kind).encode(&mut bytes);
        (*kind == EntryKind::File).then_some(Digest([0; 32])).encode(&mut bytes);
    }
    bytes.into_bytes().to_vec()
}

#[test]
fn a_tree_that_leads_out_of_itself_is_the_end_of_the_connection() {
    let fetch = |session: &RemoteSession| {
        let limits = TreeLimits { entries: 3, bytes: 100 };
        probe(session, |probe| probe.tree(Path::new("/x"), &limits).map(drop))
    };
    use EntryKind::{File, Link};
    for (entries, why) in [
        (&[(1, "..", File)][..], "a name is `.` or `..`"),
        (&[(1, "a/../../x", File)], "a name contains `/`"),
        (&[(1, "a", File), (1, "a", File)], "not in order"),
        (&[(1, "a", Link), (2, "x", File)], "inside of what is not a directory"),
        (&[(1, "a", File), (1, "b", File), (1, "c", File)], "an answer of another kind"),
    ] {
        let bytes = tree(entries);
        let trouble = lied(fetch, move |sender, number| {
            sender.message(Kind::Reply, talk(number), &Reply::Done).unwrap();
            sender.data(content(number), &bytes).unwrap();
            sender.end(content(number), bytes.len() as u64).unwrap();
        });
        is_lost(&trouble, why);
    }
}

#[test]
fn parts_of_a_tree_that_were_not_asked_for_are_the_end_of_the_connection() {
    let ask = |session: &RemoteSession| {
        let part = |name: &str, digest_up_to| Part { path: name.into(), digest_up_to };
        let parts = [part("a", Some(10)), part("b", None)];
        probe(session, |probe| probe.parts(Path::new("/x"), &parts).map(drop))
    };
    let found = |kind, bytes, digest: bool, link: Option<&str>| {
        let entry = Entry { kind, mode: 0o644, owner: 0, group: 0, bytes };
        let digest = digest.then_some(Digest([0; 32]));
        Some(Found { entry, digest, link: link.map(Into::into) })
    };
    use EntryKind::{Directory, File, Link};
    let whole = || found(File, 10, true, None);
    for lie in [
        vec![],
        vec![whole()],
        vec![whole(), None, None],
        vec![found(File, 10, false, None), None],
        vec![found(File, 11, true, None), None],
        vec![found(Directory, 1, true, None), None],
        vec![whole(), found(File, 1, true, None)],
        vec![whole(), found(File, 1, false, Some("/etc"))],
        vec![whole(), found(Link, 1, false, None)],
    ] {
        let trouble = lied(ask, move |sender, number| {
            sender.message(Kind::Reply, talk(number), &Reply::Parts { found: lie }).unwrap();
        });
        is_lost(&trouble, "an answer of another kind");
    }
}

#[test]
fn a_second_answer_is_the_end_of_the_connection() {
    let twice = |session: &RemoteSession| {
        probe(session, |probe| {
            // The stream of the file keeps the request open.
            let file = probe.read(Path::new("/x"), Links::Followed)?;
            while session.looking().lost().is_none() {
                thread::yield_now();
            }
            drop(file);
            probe.stat(Path::new("/")).map(drop)
        })
    };
    let trouble = lied(twice, |sender, number| {
        sender.message(Kind::Reply, talk(number), &Reply::Done).unwrap();
        sender.message(Kind::Reply, talk(number), &Reply::Done).unwrap();
    });
    is_lost(&trouble, "a second answer");
}

#[test]
fn a_stream_that_is_cut_off_or_too_long_is_never_shorter_content() {
    type Lie = fn(&Sender, u32);
    let lies: [(&str, Lie); 3] = [
        ("a part of a stream is missing", |sender, number| {
            sender.message(Kind::Reply, talk(number), &Reply::Done).unwrap();
            sender.data(content(number), b"half").unwrap();
            sender.end(content(number), 8).unwrap();
        }),
        ("more was sent than allowed", |sender, number| {
            sender.message(Kind::Reply, talk(number), &Reply::Done).unwrap();
            let chunk = vec![0; 1024 * 1024];
            // It is cut off in the middle.
            while sender.data(content(number), &chunk).is_ok() {}
        }),
        ("the connection was closed", |sender, number| {
            sender.message(Kind::Reply, talk(number), &Reply::Done).unwrap();
            sender.data(content(number), b"half").unwrap();
            sender.close();
        }),
    ];
    for (why, lie) in lies {
        is_lost(&lied(read, lie), why);
    }
}

#[test]
fn names_are_one_component_each_and_none_is_there_twice() {
    let names = |names: &[&str]| {
        let names = names.iter().map(|name| Name(name.into())).collect();
        Reply::Names { names: Names(names) }
    };
    for (why, reply) in [
        ("a name is empty", names(&[""])),
        ("`.` or `..`", names(&["."])),
        ("`.` or `..`", names(&[".."])),
        ("contains `/`", names(&["../../etc/passwd"])),
        ("contains NUL", names(&["a\0b"])),
        ("not in order", names(&["a", "a"])),
        ("not in order", names(&["b", "a"])),
    ] {
        let trouble = lied(list, move |sender, number| {
            sender.message(Kind::Reply, talk(number), &reply).unwrap();
        });
        is_lost(&trouble, why);
    }
    let many: Vec<Name> = (0..200_001).map(|at| Name(format!("{at:09}").into())).collect();
    let trouble = lied(list, move |sender, number| {
        sender.message(Kind::Reply, talk(number), &Reply::Names { names: Names(many) }).unwrap();
    });
    is_lost(&trouble, "more than 200,000 names");
}

#[test]
fn a_helper_of_another_build_or_version_is_not_accepted() {
    let greet = |hello: Hello| {
        let ((output, inner), (_reader, input)) = (pipe().unwrap(), pipe().unwrap());
        Sender::new(inner).message(Kind::Hello, StreamId::LINK, &hello).unwrap();
        let ends = Ends { output, input };
        Greeting::hear("liar", ends, &[], None, Timing::default()).map(drop)
    };
    assert!(greet(hello()).is_ok());
    let other = greet(Hello { build: "0.0.0+1".to_owned(), ..hello() }).unwrap_err();
    assert!(other.message.contains("another build"), "{other:?}");
    assert_eq!(other.kind, TroubleKind::Unreachable);
    let other = greet(Hello { version: 2, ..hello() }).unwrap_err();
    assert!(other.message.contains("another version"), "{other:?}");
}

/// A real helper, and bytes for it that opal never sends.
fn helper(arguments: &[&str]) -> Child {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn framed(kind: Kind, stream: StreamId, it: &impl Wire) -> Vec<u8> {
    let bytes = encoded(it);
    [&header(kind, false, stream, bytes.len())[..], &bytes].concat()
}

fn begin() -> Vec<u8> {
    let marker = "hostile".to_owned();
    let environment = BTreeMap::from([("CANARY".to_owned(), Secret::new("canary-1"))]);
    let begin = Begin { version: VERSION, marker, start: None, environment, is_login: false };
    framed(Kind::Begin, StreamId::LINK, &begin)
}

#[track_caller]
fn ends_with(arguments: &[&str], bytes: &[u8], why: &str) {
    let mut child = helper(arguments);
    // It may have gone before all of it was written.
    let _ = child.stdin.as_mut().unwrap().write_all(bytes);
    let ended = child.wait_with_output().unwrap();
    let complaint = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(1), "{complaint}");
    assert!(complaint.contains(why), "{why}: {complaint}");
    assert!(!complaint.contains("canary"), "{complaint}");
}

#[test]
fn a_helper_ends_at_what_opal_never_says() {
    let after = |rest: Vec<u8>| [begin(), rest].concat();
    let env = Look::Env { name: "A".to_owned() };
    let look = |number| framed(Kind::Look, talk(number), &env);
    for (why, bytes) in [
        ("the connection was closed", Vec::new()),
        ("the first frame is not a beginning", look(1)),
        ("longer than 1 MiB", after(vec![255, 255, 255, 255, 3, 4, 0, 0, 0])),
        ("unknown kind of frame", after(vec![0, 0, 0, 0, 77, 4, 0, 0, 0])),
        ("a frame goes on that cannot", after(vec![0, 0, 0, 0, 0x86, 4, 0, 0, 0])),
        ("unknown kind of reading request", after(framed(Kind::Look, talk(1), &99_u8))),
        ("another stream than its own", after(framed(Kind::Look, content(1), &env))),
        ("another stream than its own", after(framed(Kind::Look, talk(0), &env))),
        ("a frame that only a helper sends", after(framed(Kind::Reply, talk(1), &Reply::Done))),
        ("a stream that no request has opened", after(framed(Kind::Window, content(9), &1_u32))),
        ("nothing is held", after(framed(Kind::Effect, talk(1), &Effect::Keep { file: 7 }))),
    ] {
        ends_with(&[], &bytes, why);
    }
    ends_with(&["--no-such-option"], &[], "unknown argument");
}

#[test]
fn a_helper_that_only_reads_cannot_decode_an_effect() {
    let effect = Effect::Remove { within: 0, path: "/nowhere".into(), recursive: true };
    let bytes = [begin(), framed(Kind::Effect, talk(1), &effect)].concat();
    ends_with(&["--read-only"], &bytes, "an effect in a session that only reads");
}

#[test]
fn values_deeper_than_64_levels_are_refused() {
    // A script with a list in a list in a list …
    let mut bytes = vec![9, 1, 0, 0, 0, 1, 0, 0, 0, 1];
    for _ in 0..65 {
        bytes.extend([6, 1, 0, 0, 0]);
    }
    bytes.extend([0; 5]);
    let frame = framed(Kind::Look, talk(1), &Bytes(bytes));
    ends_with(&[], &[begin(), frame].concat(), "64 levels");
}
