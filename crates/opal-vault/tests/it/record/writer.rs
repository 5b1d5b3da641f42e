//! What a record looks like.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::thread;

use opal_core::Value;
use opal_core::action::Level;
use opal_core::contract::Drift;
use opal_core::hash::Algorithm;
use opal_testing::shown;
use opal_vault::event::{Counts, End, Event, Kind, Status};
use opal_vault::record::reader::{self, Run, State, Unclear};
use opal_vault::record::{Contract, Drifted, Failed, Writer, failed_path, refused};
use opal_vault::witness::Recorder;

use crate::record::support::*;

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn a_record_is_the_owners_alone_and_has_its_files() {
    let place = Place::new();
    let writer = place.writer("deploy", 1);
    step(&writer, 1, "deploy.shell[0]", b"hello\n");
    step(&writer, 2, "deploy.shell[1]", &vec![b'x'; 100_000]);
    let folder = writer.folder().to_owned();
    writer.finish(&done()).unwrap();
    assert_eq!(names(&folder), ["events.jsonl", "output-2.txt", "plan.json", "summary.json"]);
    for name in names(&folder) {
        assert_eq!(mode(&folder.join(&name)), 0o600, "{name}");
    }
    let mut outer = folder.as_path();
    while outer != place.folder.path() {
        assert_eq!(mode(outer), 0o700, "{}", outer.display());
        outer = outer.parent().unwrap();
    }
    assert_eq!(folder, place.target("deploy").join("run-20261115T120001Z-00000001"));
}

#[test]
fn the_events_tell_everything_in_order() {
    let place = Place::new();
    let writer = place.writer("deploy", 1);
    step(&writer, 1, "deploy.shell[0]", b"hello\n");
    let reported = [
        Kind::Skipped { path: "a", decorator: "@shell", why: None },
        Kind::Retrying {
            path: "b",
            attempt: 1,
            of: 3,
            code: 4,
            pause: std::time::Duration::from_millis(1500),
        },
        Kind::Log { path: "c", level: Level::Warn, message: shown(b"\x1b\"\\\n") },
        Kind::CleaningUp { why: "Ctrl+C" },
        Kind::Branches { path: "d", count: 9, most: 4 },
    ];
    for kind in reported {
        writer.event(&Event { at: at(2), target: None, alike: None, kind }).unwrap();
    }
    let folder = writer.folder().to_owned();
    writer.finish(&done()).unwrap();
    let text = fs::read_to_string(folder.join("events.jsonl")).unwrap();
    let expected = r#"{"arguments":{},"at":"2026-11-15T12:00:01.000000Z","commit":"0123abc","directory":"/srv/shop","host":"host","id":"run-20261115T120001Z-00000001","kind":"run_started","opal":"0.1.0","pid":7,"plan_hash":"HASH","target":"deploy","user":"user","version":1}
{"at":"2026-11-15T12:00:01.000000Z","attempt":1,"decorator":"@shell","kind":"step_started","number":1,"path":"deploy.shell[0]","text":"make all"}
{"kind":"output","number":1,"stream":"stdout","text":"hello\n"}
{"at":"2026-11-15T12:00:01.000000Z","attempt":1,"code":0,"decorator":"@shell","end":"done","kind":"step_finished","number":1,"path":"deploy.shell[0]","took_ms":1.234}
{"at":"2026-11-15T12:00:02.000000Z","decorator":"@shell","kind":"step_skipped","path":"a"}
{"at":"2026-11-15T12:00:02.000000Z","attempt":1,"code":4,"kind":"step_retrying","of":3,"path":"b","pause_ms":1500.000}
{"at":"2026-11-15T12:00:02.000000Z","kind":"log","level":"warn","message":"\u001b\"\\\n","path":"c"}
{"at":"2026-11-15T12:00:02.000000Z","kind":"cleaning_up","why":"Ctrl+C"}
{"at":"2026-11-15T12:00:02.000000Z","count":9,"kind":"branches","most":4,"path":"d"}
{"at":"2026-11-15T12:01:00.000000Z","code":0,"kind":"run_finished","status":"executed","took_ms":1500.000}
"#;
    let hash = Algorithm::Sha256.digest(&[b"plan"]).hex();
    assert_eq!(text, expected.replace("HASH", &format!("sha256:{hash}")));
}

#[test]
fn every_file_is_json_with_sorted_keys() {
    let place = Place::new();
    let arguments = [
        ("b".to_owned(), Value::Int(3)),
        ("a \u{202e}".to_owned(), Value::String("x\u{9b}y".into())),
    ];
    let arguments = arguments.into_iter().collect();
    let mut header = header("deploy", 1);
    header.arguments = &arguments;
    header.contract = Some(Contract::new(header.plan_hash.unwrap(), "prod.plan"));
    header.drift = vec![Drifted {
        code: Drift::EnvChanged,
        path: Some("p".into()),
        key: Some("env.HOME".into()),
        words: "`env.HOME` is another".into(),
    }];
    let plan = plan("deploy");
    let view = opal_core::view::PlanView::new(&plan, plan.source_hash);
    let writer = Writer::create(&place.root, header, &view, &VAULT, true).unwrap();
    step(&writer, 1, "deploy.shell[0]", b"\xff\xfe");
    let folder = writer.folder().to_owned();
    let mut ending = ending(Status::Failed, 3);
    let message = Some(shown(b"no"));
    ending.failed = Some(Failed { path: "deploy.shell[0]", code: 3, message });
    writer.finish(&ending).unwrap();
    // The mark of a contract's record has no content.
    for name in names(&folder).into_iter().filter(|name| name != "contract") {
        let text = fs::read_to_string(folder.join(&name)).unwrap();
        assert!(text.ends_with('\n') && !text.contains(['\u{202e}', '\u{9b}']), "{name}");
        for line in text.lines() {
            // Its maps are sorted by key; it drops zeros after a point, and escapes less.
            let parsed: serde_json::Value = serde_json::from_str(line).unwrap();
            let escapes = [(r"\u009b", "\u{9b}"), (r"\u202e", "\u{202e}"), (".000,", ".0,")];
            let line =
                escapes.iter().fold(line.to_owned(), |line, (from, to)| line.replace(from, to));
            assert_eq!(line.replace(".000}", ".0}"), parsed.to_string(), "{name}");
        }
    }
}

#[test]
fn the_summary_says_how_it_went() {
    let place = Place::new();
    let writer = place.writer("deploy", 1);
    step(&writer, 1, "deploy.shell[0]", b"");
    writer.event(&started(2, "deploy.shell[1]")).unwrap();
    writer.event(&finished(2, "deploy.shell[1]", End::Failed, 3)).unwrap();
    let mut ending = ending(Status::Failed, 3);
    ending.counts = Counts { done: 1, failed: 1, retries: 2, ..Counts::default() };
    ending.failed = Some(Failed { path: "deploy.shell[1]", code: 3, message: None });
    writer.finish(&ending).unwrap();
    let run = place.last();
    assert_eq!((run.state, run.target()), (State::Ended(Status::Failed), "deploy"));
    let document = run.document();
    let counts = serde_json::json!({
        "caught": 0, "done": 1, "failed": 1, "retries": 2, "satisfied": 0, "skipped": 0, "stopped": 0
    });
    assert_eq!(document["counts"], counts);
    assert_eq!(document["took_ms"], 1500.0);
    assert_eq!(document["host"], "host");
    assert_eq!(document["commit"], "0123abc");
    let resume = failed_path(&run).unwrap().unwrap();
    assert_eq!(resume.path, "deploy.shell[1]");
    assert_eq!(resume.plan_hash, document["plan_hash"]);
    assert_eq!(run.plan().unwrap().unwrap()["target"], "deploy");
}

#[test]
fn a_refused_contract_has_a_record_without_a_plan() {
    let place = Place::new();
    let mut header = header("deploy", 1);
    header.drift = vec![Drifted {
        code: Drift::ValueChanged,
        path: None,
        key: Some("env.TAG".into()),
        words: "`env.TAG` has another value".into(),
    }];
    refused(&place.root, header, &ending(Status::Refused, 76)).unwrap();
    let run = place.last();
    assert_eq!(run.state, State::Ended(Status::Refused));
    assert_eq!(run.document()["drift"][0]["code"], "value_changed");
    assert_eq!(run.plan().unwrap(), None);
    assert_eq!(names(&run.folder), ["events.jsonl", "summary.json"]);
}

#[test]
fn a_target_of_any_name_has_a_folder_inside_of_the_root() {
    for target in ["script", "a/../../b", "..", "", "größe", &"long".repeat(5000)] {
        let place = Place::new();
        place.writer(target, 1).finish(&done()).unwrap();
        let run = place.last();
        assert_eq!(run.target(), target);
        assert_eq!(run.folder.parent().unwrap().parent().unwrap(), place.target(""), "{target}");
    }
}

#[test]
fn two_runs_of_one_target_at_a_time_keep_apart() {
    let place = Place::new();
    thread::scope(|scope| {
        for second in 0..8 {
            let place = &place;
            scope.spawn(move || {
                let writer = place.writer("deploy", second);
                for number in 1..200 {
                    step(&writer, number, "deploy.shell[0]", second.to_string().as_bytes());
                }
                writer.finish(&done()).unwrap();
            });
        }
    });
    let runs = reader::list(&place.root).unwrap();
    assert_eq!(runs.len(), 8);
    for (found, second) in runs.iter().zip((0..8).rev()) {
        let steps = reader::steps(&found.folder).unwrap();
        assert_eq!(steps.len(), 199);
        assert!(steps.iter().all(|step| step.end() == "done"));
        assert_eq!(printed(&found.folder, 42), second.to_string().as_bytes());
    }
}

#[test]
fn many_threads_write_whole_lines() {
    let place = Place::new();
    let writer = place.writer("deploy", 1);
    thread::scope(|scope| {
        for branch in 0..8 {
            let writer = &writer;
            scope.spawn(move || {
                for number in 0..100 {
                    step(writer, branch * 100 + number, "p", branch.to_string().as_bytes());
                }
            });
        }
    });
    let folder = writer.folder().to_owned();
    writer.finish(&done()).unwrap();
    assert_eq!(reader::steps(&folder).unwrap().len(), 800);
    assert_eq!(printed(&folder, 742), b"7");
}

#[test]
fn a_run_is_running_as_long_as_it_is_not_finished() {
    let place = Place::new();
    let writer = place.writer("deploy", 1);
    writer.event(&started(1, "deploy.shell[0]")).unwrap();
    let run = place.last();
    assert_eq!((run.state, run.target()), (State::Running, "deploy"));
    writer.event(&finished(1, "deploy.shell[0]", End::Done, 0)).unwrap();
    writer.finish(&done()).unwrap();
    assert_eq!(place.last().state, State::Ended(Status::Executed));
}

#[test]
fn a_run_is_found_by_every_name_that_is_clear() {
    let place = Place::new();
    assert_eq!(reader::find(&[], "last"), Err(Unclear::NoRuns));
    assert_eq!(reader::list(&place.root).unwrap(), []);
    place.writer("deploy", 1).finish(&done()).unwrap();
    place.writer("build", 2).finish(&done()).unwrap();
    let runs = reader::list(&place.root).unwrap();
    let [newer, older] = &runs[..] else { panic!("{runs:?}") };
    assert_eq!(reader::find(&runs, "last"), Ok(newer));
    assert_eq!(reader::find(&runs, older.id.as_str()), Ok(older));
    assert_eq!(reader::find(&runs, "run-20261115T120002"), Ok(newer));
    assert_eq!(reader::find(&runs, "20261115T120001"), Ok(older));
    assert_eq!(reader::find(&runs, "nope"), Err(Unclear::Unknown));
    assert_eq!(reader::find(&runs, ""), Err(Unclear::Unknown));
    let both = vec![newer.id.clone(), older.id.clone()];
    assert_eq!(reader::find(&runs, "00000"), Err(Unclear::Ambiguous(both, 2)));
    assert_eq!(Run::load(older).unwrap().target(), "deploy");
}

#[test]
fn a_hundred_thousand_events_are_written_and_read() {
    let place = Place::new();
    let writer = place.writer("deploy", 1);
    for number in 1..=50_000 {
        step(&writer, number, "deploy.shell[0]", b"");
    }
    let folder = writer.folder().to_owned();
    writer.finish(&done()).unwrap();
    assert_eq!(reader::steps(&folder).unwrap().len(), 50_000);
}
