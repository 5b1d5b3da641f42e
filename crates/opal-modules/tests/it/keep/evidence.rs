use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use opal_core::stream::Stream;
use opal_modules::keep::{Evidence, ToolStep};
use opal_testing::{records, shown};
use opal_vault::Vault;
use opal_vault::event::{End, Event, Finished, Kind, Started};
use opal_vault::witness::Recorder;
use serde_json::json;

use crate::keep::support::{CANARY, at, document, mode, names, vault};

const INIT: &str = "script.module.run[0].module.tool[0]";
const APPLY: &str = "script.module.run[0].module.tool[1]";
const TENTH: &str = "script.module.run[0].module.tool[10]";

fn tool(path: &str, label: &str) -> ToolStep {
    let argv = ["run.sh", label].map(str::to_owned).to_vec();
    ToolStep { path: path.to_owned(), label: label.to_owned(), argv, cwd: "/work".into() }
}

fn begin<'v>(folder: &Path, vault: &'v Vault) -> Evidence<'v> {
    let tools = vec![tool(INIT, "shell_init"), tool(APPLY, "shell_apply")];
    Evidence::begin(folder.join("a/run"), tools, vault).unwrap()
}

fn started(number: u64, path: &str) -> Event<'_> {
    let is_block = path.ends_with(']') && path.contains("tool");
    let step = Started { text: shown(b"run"), is_block, ..records::started(number, path) };
    Event { at: at(number), target: None, alike: None, kind: Kind::Started(step) }
}

fn finished<'a>(
    number: u64,
    path: &'a str,
    end: End,
    code: i32,
    message: Option<&'static str>,
) -> Event<'a> {
    let step = Finished {
        took: Duration::from_millis(1500),
        is_block: true,
        message: message.map(shown),
        ..records::finished(number, path, end, code)
    };
    Event { at: at(number + 2), target: None, alike: None, kind: Kind::Finished(step) }
}

fn print(evidence: &Evidence<'_>, number: u64, stream: Stream, text: &'static str) {
    evidence.output(number, stream, &shown(text)).unwrap();
}

fn text(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn a_tool_leaves_both_streams_and_how_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    let vault = vault();
    let evidence = begin(folder.path(), &vault);
    let inner = format!("{APPLY}.shell[0]");
    for event in [started(1, "script.module.run[0]"), started(2, APPLY), started(3, &inner)] {
        evidence.event(&event).unwrap();
    }
    print(&evidence, 3, Stream::Stdout, "one\n");
    print(&evidence, 3, Stream::Stderr, "two\n");
    print(&evidence, 3, Stream::Stdout, "three\n");
    print(&evidence, 1, Stream::Stdout, "of somebody else\n");
    let folder = evidence.folder().to_path_buf();
    assert!(names(&folder).iter().all(|name| name.starts_with(".new-")), "{:?}", names(&folder));
    evidence.event(&finished(3, &inner, End::Failed, 3, None)).unwrap();
    evidence.event(&finished(2, APPLY, End::Failed, 3, None)).unwrap();
    let expected = ["shell_apply.result.json", "shell_apply.stderr.txt", "shell_apply.stdout.txt"];
    assert_eq!(names(&folder), expected);
    assert_eq!(text(&folder, "shell_apply.stdout.txt"), "one\nthree\n");
    assert_eq!(text(&folder, "shell_apply.stderr.txt"), "two\n");
    let result = json!({
        "argv": ["run.sh", "shell_apply"],
        "attempts": 1,
        "cwd": "/work",
        "duration_ms": 1500,
        "finished_at": "2026-11-15T08:00:04Z",
        "label": "shell_apply",
        "message": null,
        "rc": 3,
        "started_at": "2026-11-15T08:00:02Z",
        "status": "failed",
    });
    assert_eq!(document(&folder.join("shell_apply.result.json")), result);
    for name in expected {
        assert_eq!(mode(&folder.join(name)), 0o600, "{name}");
    }
    assert_eq!(mode(&folder), 0o700);
    let ends = evidence.finish(at(9));
    assert_eq!(ends.len(), 1, "a tool that never began has no end");
    assert_eq!((ends[0].label.as_str(), ends[0].rc, ends[0].end), ("shell_apply", 3, End::Failed));
}

#[test]
fn a_path_that_only_begins_alike_is_of_another_step() {
    let folder = tempfile::tempdir().unwrap();
    let vault = vault();
    let evidence = begin(folder.path(), &vault);
    evidence.event(&started(1, APPLY)).unwrap();
    evidence.event(&started(2, TENTH)).unwrap();
    print(&evidence, 2, Stream::Stdout, "of the tenth\n");
    evidence.event(&finished(2, TENTH, End::Done, 0, None)).unwrap();
    evidence.event(&finished(1, APPLY, End::Done, 0, None)).unwrap();
    assert_eq!(text(evidence.folder(), "shell_apply.stdout.txt"), "");
    assert_eq!(text(evidence.folder(), "shell_apply.stderr.txt"), "");
}

#[test]
fn attempts_follow_one_another_and_the_last_one_counts() {
    let folder = tempfile::tempdir().unwrap();
    let vault = vault();
    let evidence = begin(folder.path(), &vault);
    for (number, said, end, code, message) in [
        (1, "first\n", End::Failed, 127, Some("unknown program `run.sh`")),
        (2, "second\n", End::Done, 0, None),
    ] {
        evidence.event(&started(number, APPLY)).unwrap();
        print(&evidence, number, Stream::Stdout, said);
        evidence.event(&finished(number, APPLY, end, code, message)).unwrap();
        let result = document(&evidence.folder().join("shell_apply.result.json"));
        assert_eq!((&result["rc"], &result["message"]), (&json!(code), &json!(message)));
    }
    assert_eq!(text(evidence.folder(), "shell_apply.stdout.txt"), "first\nsecond\n");
    let result = document(&evidence.folder().join("shell_apply.result.json"));
    assert_eq!(result["attempts"], 2);
    assert_eq!(result["duration_ms"], 3000);
    assert_eq!(result["started_at"], "2026-11-15T08:00:01Z");
    assert_eq!(names(evidence.folder()).len(), 3);
}

#[test]
fn a_tool_that_was_interrupted_is_kept_as_far_as_it_came() {
    let folder = tempfile::tempdir().unwrap();
    let vault = vault();
    let evidence = begin(folder.path(), &vault);
    evidence.event(&started(1, INIT)).unwrap();
    evidence.event(&finished(1, INIT, End::Done, 0, None)).unwrap();
    evidence.event(&started(2, APPLY)).unwrap();
    print(&evidence, 2, Stream::Stderr, "half");
    let ends = evidence.finish(at(12));
    let seen: Vec<(&str, i32, End)> =
        ends.iter().map(|end| (end.label.as_str(), end.rc, end.end)).collect();
    assert_eq!(seen, [("shell_init", 0, End::Done), ("shell_apply", 130, End::Stopped)]);
    assert_eq!(text(evidence.folder(), "shell_apply.stderr.txt"), "half");
    let result = document(&evidence.folder().join("shell_apply.result.json"));
    assert_eq!((&result["rc"], &result["status"]), (&json!(130), &json!("stopped")));
    assert_eq!(result["duration_ms"], 10_000);
    assert_eq!(evidence.finish(at(99)), ends, "it ends once");
    assert!(evidence.trouble().is_none());
}

#[test]
fn a_killed_run_leaves_nothing_half_under_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let vault = vault();
    let evidence = begin(folder.path(), &vault);
    evidence.event(&started(1, APPLY)).unwrap();
    print(&evidence, 1, Stream::Stdout, "half");
    let left = evidence.folder().to_path_buf();
    drop(evidence);
    assert_eq!(names(&left).len(), 2);
    assert!(names(&left).iter().all(|name| name.starts_with(".new-")));
    assert!(names(&left).iter().any(|name| text(&left, name) == "half"));
}

#[test]
fn documents_and_commands_hold_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let vault = vault();
    let argv =
        ["tool", CANARY, "--api-token", "hunter2", "--password=hunter3", "--token-file", "f"];
    let argv = argv.map(str::to_owned).to_vec();
    let step = ToolStep { argv, ..tool(APPLY, "shell_apply") };
    assert!(!format!("{step:?}").contains("hunter"));
    let evidence = Evidence::begin(folder.path().join("run"), vec![step], &vault).unwrap();
    evidence.document("meta.json", &json!({"a": CANARY}), &["/a"]).unwrap();
    evidence.event(&started(1, APPLY)).unwrap();
    evidence.event(&finished(1, APPLY, End::Done, 0, None)).unwrap();
    assert_eq!(document(&evidence.folder().join("meta.json")), json!({"a": "<redacted>"}));
    let result = document(&evidence.folder().join("shell_apply.result.json"));
    let hidden = "<redacted>";
    let expected = json!([
        "tool",
        hidden,
        "--api-token",
        hidden,
        "--password=<redacted>",
        "--token-file",
        "f"
    ]);
    assert_eq!(result["argv"], expected);
}

#[test]
fn what_cannot_be_kept_stops_the_run_and_is_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let vault = vault();
    let evidence = begin(folder.path(), &vault);
    evidence.event(&started(1, APPLY)).unwrap();
    fs::remove_dir_all(evidence.folder()).unwrap();
    fs::write(evidence.folder(), "in the way").unwrap();
    assert!(evidence.event(&finished(1, APPLY, End::Done, 0, None)).is_err());
    let trouble = evidence.trouble().unwrap().to_string();
    assert!(trouble.contains("shell_apply"), "{trouble}");
    assert!(evidence.event(&started(2, INIT)).is_err(), "nothing more is kept");
    assert_eq!(evidence.finish(at(3)).len(), 1);
}

#[test]
fn nobody_shares_a_directory_or_a_label() {
    let folder = tempfile::tempdir().unwrap();
    let vault = vault();
    drop(begin(folder.path(), &vault));
    let taken: PathBuf = folder.path().join("a/run");
    assert_eq!(Evidence::begin(taken.clone(), Vec::new(), &vault).unwrap_err().path, taken);
    let fresh = folder.path().join("b");
    for label in ["../x", "", "a/b", ".x"] {
        assert!(
            Evidence::begin(fresh.clone(), vec![tool(APPLY, label)], &vault).is_err(),
            "{label}"
        );
    }
    let twice = vec![tool(INIT, "x"), tool(APPLY, "x")];
    assert!(Evidence::begin(fresh.clone(), twice, &vault).is_err());
    assert!(!fresh.exists());
}

#[test]
fn a_stream_without_end_is_cut_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let vault = vault();
    let evidence = begin(folder.path(), &vault);
    evidence.event(&started(1, APPLY)).unwrap();
    let much = shown(vec![b'x'; 1 << 20]);
    for _ in 0..66 {
        evidence.output(1, Stream::Stdout, &much).unwrap();
    }
    evidence.event(&finished(1, APPLY, End::Done, 0, None)).unwrap();
    let kept = text(evidence.folder(), "shell_apply.stdout.txt");
    assert!(kept.ends_with(&format!("x\n[opal: {} bytes omitted]\n", 2 << 20)));
    assert!(kept.len() < (64 << 20) + 100);
    let ended = evidence.finish(at(9));
    assert_eq!(ended[0].cut, ["shell_apply.stdout.txt"]);
}
