use std::time::{Duration, SystemTime};

use super::*;
use crate::event::{End, Finished, Started};

fn event<'p>(target: &str, kind: Kind<'p>) -> Event<'p> {
    Event { at: SystemTime::UNIX_EPOCH, target: Some(target.into()), alike: None, kind }
}

fn started(number: u64, path: &str) -> Kind<'_> {
    Kind::Started(Started {
        number,
        path,
        decorator: "@shell",
        attempt: 1,
        text: Shown::vouch(path.as_bytes()),
        is_block: false,
        speaks: false,
        branch: None,
    })
}

fn finished(number: u64, path: &str, code: i32) -> Kind<'_> {
    Kind::Finished(Finished {
        number,
        path,
        decorator: "@shell",
        attempt: 1,
        took: Duration::from_millis(number),
        code,
        end: if code == 0 { End::Done } else { End::Failed },
        is_block: false,
        passes_on: false,
        is_own_limit: false,
        late: None,
        message: None,
    })
}

/// A step that prints in these pieces.
fn step<'p>(
    hold: &mut Hold<'p>,
    (target, number, path): (&str, u64, &'p str),
    prints: &[(Stream, &[u8])],
    code: i32,
) {
    hold.event(event(target, started(number, path)));
    for (stream, bytes) in prints {
        hold.output(number, *stream, &Shown::vouch(*bytes)).unwrap();
    }
    hold.event(event(target, finished(number, path, code)));
}

fn reported(fold: Fold<'_>) -> Vec<String> {
    let mut reported = Vec::new();
    fold.replay(|item| match item {
        Item::Event(Event { alike: Some(Alike { names, is_shown: true }), kind, .. }) => match kind
        {
            Kind::Started(step) => reported.push(format!("{}: {}", names.join(" "), step.path)),
            Kind::Finished(step) => reported.push(format!("{} {}", step.end.name(), step.code)),
            _ => {}
        },
        Item::Event(event) => assert!(event.alike.is_some_and(|alike| !alike.is_shown)),
        Item::Output(_, stream, bytes) => reported.push(match bytes.bytes().len() {
            0..100 => format!("{stream:?} {}", bytes.text().trim_end()),
            count => format!("{stream:?} {count} bytes"),
        }),
    });
    reported
}

fn fold<'p>() -> Fold<'p> {
    Fold::new(BTreeMap::from([("a", 0), ("b", 1), ("c", 2)]))
}

const OUT: Stream = Stream::Stdout;
const ERR: Stream = Stream::Stderr;

#[test]
fn equal_outputs_of_a_step_are_reported_once_in_the_order_of_the_plan() {
    let mut fold = fold();
    // They end in another order than that of the plan.
    for (index, name) in [(2, "web3"), (0, "web1"), (1, "web2")] {
        let mut hold = Hold::default();
        let number = index as u64 * 10;
        // In other pieces, and with the streams in another order: the same output.
        let pieces: &[(Stream, &[u8])] = match index {
            0 => &[(OUT, b"li"), (ERR, b"warning\n"), (OUT, b"nux\n")],
            _ => &[(OUT, b"linux\n"), (ERR, b"warning\n")],
        };
        step(&mut hold, (name, number, "a"), pieces, 0);
        let second: &[u8] = if index == 1 { b"other\n" } else { b"same\n" };
        step(&mut hold, (name, number + 1, "b"), &[(OUT, second)], 0);
        fold.add(index, hold);
    }
    assert_eq!(
        reported(fold),
        [
            "web1 web2 web3: a",
            "Stdout linux",
            "Stderr warning",
            "done 0",
            "web1 web3: b",
            "Stdout same",
            "done 0",
            "web2: b",
            "Stdout other",
            "done 0",
        ]
    );
}

#[test]
fn another_end_another_stream_or_another_split_is_another_output() {
    type Prints<'a> = &'a [(Stream, &'a [u8])];
    let cases: [(Prints<'_>, i32); 4] = [
        (&[(OUT, b"x\n")], 0),
        (&[(ERR, b"x\n")], 0),
        (&[(OUT, b"x\n")], 1),
        (&[(OUT, b"x"), (ERR, b"\n")], 0),
    ];
    let mut fold = fold();
    let names: Vec<String> = (1..=4).map(|number| format!("web{number}")).collect();
    for (index, (prints, code)) in cases.into_iter().enumerate() {
        let mut hold = Hold::default();
        step(&mut hold, (&names[index], index as u64, "a"), prints, code);
        fold.add(index, hold);
    }
    let heads = reported(fold).into_iter().filter(|line| line.ends_with(": a"));
    assert_eq!(heads.count(), 4);
}

#[test]
fn who_repeats_a_step_is_waited_for_before_the_next_one() {
    let mut fold = fold();
    for (index, name, attempts) in [(0, "web1", 1), (1, "web2", 2)] {
        let mut hold = Hold::default();
        for attempt in 1..=attempts {
            let code = i32::from(attempt < attempts);
            step(&mut hold, (name, index as u64 * 10 + attempt, "a"), &[], code);
        }
        step(&mut hold, (name, index as u64 * 10 + 5, "b"), &[], 0);
        fold.add(index, hold);
    }
    assert_eq!(
        reported(fold),
        ["web1: a", "done 0", "web2: a", "failed 1", "web2: a", "done 0", "web1 web2: b", "done 0"]
    );
}

#[test]
fn what_is_stored_grows_with_the_number_of_different_outputs() {
    let mut fold = fold();
    let names: Vec<String> = (0..200).map(|number| format!("web{number}")).collect();
    for (index, name) in names.iter().enumerate() {
        let mut hold = Hold::default();
        let bytes = vec![b'a' + u8::from(index % 2 == 1); 100_000];
        step(&mut hold, (name, index as u64, "a"), &[(OUT, &bytes)], 0);
        fold.add(index, hold);
    }
    assert!(fold.log.end() < 300_000, "{}", fold.log.end());
    let reported = reported(fold);
    let printed = reported.iter().filter(|line| *line == "Stdout 100000 bytes").count();
    assert_eq!((printed, reported.len()), (2, 6), "{reported:?}");
}

#[test]
fn what_cannot_be_stored_is_said_to_be_missing() {
    let mut fold = fold();
    fold.log = Log::without_a_file();
    let mut hold = Hold::default();
    let bytes = vec![b'a'; 40 * 1024 * 1024];
    step(&mut hold, ("web1", 1, "a"), &[(OUT, &bytes), (OUT, &bytes), (OUT, b"more")], 0);
    fold.add(0, hold);
    let reported = reported(fold);
    let cut = String::from_utf8_lossy(CUT);
    assert_eq!(
        reported,
        [
            "web1: a".to_owned(),
            format!("Stdout {} bytes", bytes.len()),
            format!("Stderr {}", cut.trim_end()),
            "done 0".to_owned(),
        ]
    );
}
