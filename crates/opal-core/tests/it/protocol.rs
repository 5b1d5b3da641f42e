//! The plugin protocol: what arrives is what was sent, and hostile lines end the connection.

use std::io::BufReader;

use opal_core::data::Secret;
use opal_core::protocol::body::Body;
use opal_core::protocol::call::{Event, Finding, Found, Invocation, Judged, Outcome, Verdict};
use opal_core::protocol::request::{Command, Completed, HttpRequest, Part};
use opal_core::protocol::{
    Call, Ending, Kind, MAX_FRAMES, MAX_LINE, Malformed, Message, Refusal, Reply, line,
};
use opal_core::wiped::Wiped;
use opal_core::{Data, Duration};

fn read(bytes: &[u8]) -> Result<Option<Message>, Malformed> {
    // A small buffer, so that lines and frames arrive in pieces.
    line::read(&mut BufReader::with_capacity(7, bytes))
}

fn again(message: &Message) -> Message {
    let bytes = line::bytes(message).unwrap();
    let found = read(&bytes).unwrap().unwrap();
    assert_eq!(*line::bytes(&found).unwrap(), *bytes);
    found
}

fn call(params: Body) -> Message {
    let call = "action.act".to_owned();
    Message::Call(Call { id: 7, parent: Some(3), plugin: Some("a/b".to_owned()), call, params })
}

fn params(message: Message) -> Body {
    match message {
        Message::Call(call) => call.params,
        Message::Reply(reply) => reply.result.unwrap(),
        Message::Cancel(_) => Body::default(),
    }
}

#[test]
fn a_call_arrives_as_it_was_sent() {
    let long = Secret::new("é\n".repeat(40_000));
    let sent = Invocation {
        decorator: "acme.thing".to_owned(),
        subject: None,
        args: Secret::new("{\"a\":{\"$frame\":3},\"quote\":\"\\\"\\u0000\"}"),
        secrets: 2,
        text: Some(long.clone()),
        seed: "00".repeat(32),
        token: None,
        outcome: Some(Outcome::Failed(-3)),
        event: Some(Event { target: None, attempt: 2, outcome: Some(Outcome::Stopped) }),
    };
    let found: Invocation = params(again(&call(Body::of(&sent)))).read().unwrap();
    assert_eq!(found.args.expose(), sent.args.expose());
    assert_eq!(found.text.unwrap().expose(), long.expose());
    assert_eq!(found.outcome, Some(Outcome::Failed(-3)));
    assert_eq!(found.event.unwrap().outcome, Some(Outcome::Stopped));
}

#[test]
fn bytes_and_parts_arrive_as_they_were_sent() {
    for size in [0, 1, 1_024, 1_025, 300_000] {
        let bytes: Vec<u8> = (0..size).map(|it: u32| it.to_le_bytes()[0]).collect();
        let sent = Completed {
            code: 137,
            stdout: Wiped::new(bytes.clone()),
            stderr: Wiped::new(bytes.clone()),
        };
        let result = Ok(Body::of(&sent));
        let found: Completed =
            params(again(&Message::Reply(Reply { id: 1, result, log: None }))).read().unwrap();
        assert_eq!((found.code, &*found.stdout, &*found.stderr), (137, &bytes, &bytes));
    }
    let sent = HttpRequest {
        method: "POST".to_owned(),
        url: Secret::new("https://a.example/x"),
        headers: vec![(
            "Authorization".to_owned(),
            vec![Part::Text(Secret::new("Bearer ")), Part::Secret(1)],
        )],
        body: vec![Part::Text(Secret::new("x".repeat(100_000)))],
    };
    let found: HttpRequest = params(again(&call(Body::of(&sent)))).read().unwrap();
    assert!(matches!(found.headers[0].1[..], [Part::Text(_), Part::Secret(1)]));
    assert!(matches!(&found.body[0], Part::Text(text) if text.expose().len() == 100_000));
}

#[test]
fn replies_and_cancellations_arrive_as_they_were_sent() {
    let refusal = Refusal::engine(Ending::Time, "took longer than 10 s").with_help("shorten it");
    let log = Some(Secret::new("printed"));
    let Message::Reply(found) = again(&Message::Reply(Reply { id: 5, result: Err(refusal), log }))
    else {
        panic!("not a reply");
    };
    let refusal = found.result.unwrap_err();
    assert_eq!((refusal.kind, refusal.engine), (Kind::TimedOut, Some(Ending::Time)));
    assert_eq!(refusal.help[0].expose(), "shorten it");
    assert_eq!(found.log.unwrap().expose(), "printed");
    assert!(matches!(again(&Message::Cancel(9)), Message::Cancel(9)));
    for verdict in [Verdict::Proceed, Verdict::Retry(50), Verdict::Stop(Secret::new("no"))] {
        let sent = format!("{verdict:?}");
        let found: Judged = params(again(&call(Body::of(&Judged { verdict })))).read().unwrap();
        assert_eq!(format!("{:?}", found.verdict), sent);
    }
}

#[test]
fn frames_follow_in_the_order_of_the_line() {
    let line = b"{\"id\":1,\"ok\":{\"z\":{\"$frame\":2},\"a\":{\"$frame\":3}}}\nzzaaa";
    let found = params(read(line).unwrap().unwrap());
    assert_eq!(found.get::<String>("z").unwrap(), "zz");
    assert_eq!(found.get::<String>("a").unwrap(), "aaa");
}

type Expected<'a> = dyn Fn(&Malformed) -> bool + 'a;

#[test]
fn hostile_lines_end_the_connection() {
    let deep = format!("{{\"id\":1,\"ok\":{}1{}}}\n", "{\"a\":".repeat(64), "}".repeat(64));
    let long = format!("{{\"id\":1,\"ok\":{{\"a\":\"{}\"}}}}\n", "x".repeat(MAX_LINE));
    let endless = "x".repeat(MAX_LINE + 1);
    let much = format!("{{\"id\":1,\"ok\":{{\"a\":{{\"$frame\":{}}}}}}}\n", MAX_FRAMES + 1);
    let twice = format!(
        "{{\"id\":1,\"ok\":{{\"a\":{{\"$frame\":{MAX_FRAMES}}},\"b\":{{\"$frame\":1}}}}}}\n{}",
        "x".repeat(MAX_FRAMES)
    );
    let not_json = |error: &Malformed| matches!(error, Malformed::NotJson(_));
    let not_message = |error: &Malformed| matches!(error, Malformed::NotMessage(_));
    let table: [(&[u8], &Expected<'_>); 22] = [
        (deep.as_bytes(), &not_json),
        (long.as_bytes(), &|error| *error == Malformed::LongLine),
        (endless.as_bytes(), &|error| *error == Malformed::LongLine),
        (much.as_bytes(), &|error| *error == Malformed::LongFrames),
        (twice.as_bytes(), &|error| *error == Malformed::LongFrames),
        (b"{\"id\":1,\"ok\":{\"a\":{\"$frame\":-1}}}\n", &not_message),
        (b"{\"id\":1,\"ok\":{\"a\":{\"$frame\":9}}}\nshort", &|error| *error == Malformed::Cut),
        (b"{\"id\":1", &|error| *error == Malformed::Cut),
        (b"{\"id\":1,\"id\":2,\"ok\":{}}\n", &not_json),
        (b"{\"id\":1,\"ok\":{\"a\":1,\"a\":1}}\n", &not_json),
        (b"\xff\xfe\n", &|error| *error == Malformed::NotUtf8),
        (b"\n", &not_json),
        (b"[]\n", &not_message),
        (b"{}\n", &not_message),
        (b"{\"id\":-1,\"ok\":{}}\n", &not_message),
        (b"{\"id\":\"1\",\"ok\":{}}\n", &not_message),
        (b"{\"id\":1,\"ok\":1}\n", &not_message),
        (b"{\"id\":1,\"ok\":{},\"error\":{}}\n", &not_message),
        (b"{\"id\":1,\"error\":{\"kind\":\"strange\",\"message\":\"\"}}\n", &not_message),
        (b"{\"id\":1,\"call\":\"x\",\"params\":[]}\n", &not_message),
        (b"{\"id\":1,\"call\":\"x\",\"more\":1}\n", &not_message),
        (b"{\"cancel\":1,\"id\":2}\n", &not_message),
    ];
    for (bytes, is_expected) in table {
        let found = read(bytes).map(|message| message.is_some());
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
        assert!(found.as_ref().is_err_and(is_expected), "{start}: {found:?}");
    }
    assert!(read(b"").unwrap().is_none());
}

#[test]
fn what_is_too_long_is_not_sent() {
    let command = |text: String| Command {
        program: "a".to_owned(),
        args: vec![Secret::new("y".repeat(16_000)); text.len()],
        env: Vec::new(),
        stdin: Vec::new(),
    };
    let long = call(Body::of(&command("x".repeat(80))));
    assert_eq!(line::bytes(&long).unwrap_err(), Malformed::LongLine);
    let text = Part::Text(Secret::new("z".repeat(MAX_FRAMES + 1)));
    let much = call(Body::default().with("body", &text));
    assert_eq!(line::bytes(&much).unwrap_err(), Malformed::LongFrames);
}

#[test]
fn a_shape_reads_nothing_else() {
    let read = |text: &str| {
        let line = format!("{{\"id\":1,\"ok\":{text}}}\n");
        params(read(line.as_bytes()).unwrap().unwrap()).read::<Finding>()
    };
    let found = read("{\"status\":\"drifted\",\"message\":\"m\"}").unwrap();
    assert_eq!((found.status, found.details.is_none()), (Found::Drifted, true));
    for text in [
        "{\"status\":\"blocked\",\"message\":\"m\"}",
        "{\"status\":\"drifted\"}",
        "{\"status\":\"drifted\",\"message\":1}",
        "{\"status\":\"drifted\",\"message\":\"m\",\"more\":1}",
    ] {
        assert!(read(text).is_none(), "{text}");
    }
}

#[test]
fn arguments_are_json_whatever_they_contain() {
    let data = Data::Map(
        [
            ("$frame".to_owned(), Data::Int(3)),
            ("t".to_owned(), Data::text("\"\\\u{1}é")),
            ("f".to_owned(), Data::Float(1e300)),
            ("d".to_owned(), Data::Duration(Duration::from_secs(90))),
        ]
        .into(),
    );
    let text = line::json(&data);
    let read: serde_json::Value = serde_json::from_str(text.expose()).unwrap();
    assert_eq!(read["$frame"], 3);
    assert_eq!(read["t"], "\"\\\u{1}é");
    assert_eq!(read["d"], "1m30s");
    let one = line::json(&Data::Map([("$frame".to_owned(), Data::Int(3))].into()));
    assert_eq!(one.expose(), "{\"$frame\":3}");
}

#[test]
fn nothing_of_a_message_is_in_its_debug_form() {
    let canary = "canary-5150";
    let message = call(Body::default().with("a", &Secret::new(canary.repeat(5_000))));
    assert!(!format!("{message:?}").contains("5150"));
    let refusal = Refusal::new(Kind::Failed, canary).with_help(canary);
    assert!(!format!("{refusal:?}").contains("5150"));
}
