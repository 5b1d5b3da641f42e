//! What a vault knows is in no file of a record.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use opal_core::stream::Stream;
use opal_core::view::PlanView;
use opal_core::{Data, Value};
use opal_testing::shown;
use opal_vault::Vault;
use opal_vault::event::Status;
use opal_vault::record::{Contract, Failed, Lines, Source, Writer, failed_path};
use opal_vault::witness::Recorder;

use crate::record::support::*;

const TOKEN: &str = "t0k'en-of-the-api";

fn vault() -> Vault {
    let vault = Vault::new();
    vault.register(&Data::text(TOKEN), "‹token›");
    vault.register(&Data::text("2026"), "‹pin›");
    vault.register(&Data::Int(7_000_000_007), "‹number›");
    vault
}

/// All files of a record, one after another.
fn everything(folder: &Path) -> String {
    names(folder).iter().map(|name| fs::read_to_string(folder.join(name)).unwrap()).collect()
}

/// A run whose argument is a secret, with it in its directory too.
fn begin<'a>(
    place: &Place,
    vault: &'a Vault,
    arguments: &'a BTreeMap<String, Value>,
) -> Writer<'a> {
    let mut plan = plan("deploy");
    plan.target.arguments = arguments.clone();
    let view = PlanView::new(&plan, plan.source_hash);
    let mut header = header("deploy", 1);
    header.arguments = arguments;
    header.directory = Some(format!("/srv/{TOKEN}/shop"));
    header.source = Some(Source {
        path: format!("/srv/{TOKEN}/shop/commands.opl"),
        digest: header.plan_hash.unwrap(),
    });
    header.contract = Some(Contract::new(header.plan_hash.unwrap(), format!("{TOKEN}.plan")));
    let mut out = Vec::new();
    Lines::new(&mut out).start(&header, vault).unwrap();
    let writer = Writer::create(&place.root, header, &view, vault, false).unwrap();
    let events = fs::read(writer.folder().join("events.jsonl")).unwrap();
    assert_eq!(String::from_utf8(out), String::from_utf8(events), "others get the same event");
    writer
}

fn arguments() -> BTreeMap<String, Value> {
    [
        ("token".to_owned(), Value::String(TOKEN.into())),
        ("count".to_owned(), Value::Int(7_000_000_007)),
        ("deploy".to_owned(), Value::String("to 2026 machines".into())),
    ]
    .into()
}

#[test]
fn an_argument_that_is_a_secret_is_hidden_from_the_first_line_on() {
    let (place, vault, arguments) = (Place::new(), vault(), arguments());
    let writer = begin(&place, &vault, &arguments);
    let folder = writer.folder().to_owned();
    let before = everything(&folder);
    let mut ending = ending(Status::Failed, 3);
    ending.failed = Some(Failed { path: "deploy.shell[0]", code: 3, message: None });
    writer.finish(&ending).unwrap();
    let after = everything(&folder);
    for text in [before, after] {
        for part in [TOKEN, "7000000007", "to 2026"] {
            assert!(!text.contains(part), "{part} in {text}");
        }
    }
    let run = place.last();
    assert_eq!(run.text("directory"), Some("/srv/‹token›/shop"));
    assert_eq!(run.get("source").unwrap()["path"], "/srv/‹token›/shop/commands.opl");
    assert_eq!(run.text("place"), Some(&*header("deploy", 1).place.unwrap().hex()));
    assert_eq!(run.get("arguments").unwrap()["token"], "‹token›");
    assert_eq!(run.get("arguments").unwrap()["deploy"], "to ‹pin› machines");
    assert_eq!(run.plan().unwrap().unwrap()["arguments"]["token"], "‹token›");
    // What a record is read by is not a value, though it may look like one.
    assert_eq!(run.started_at(), Some("2026-11-15T12:00:01.000000Z"));
    assert_eq!(run.target(), "deploy");
    assert_eq!(failed_path(&run).unwrap().unwrap().path, "deploy.shell[0]");
}

#[test]
fn what_is_captured_later_is_hidden_in_outputs_that_could_not_be_finished() {
    let (place, vault, arguments) = (Place::new(), Vault::new(), arguments());
    let writer = begin(&place, &vault, &arguments);
    let folder = writer.folder().to_owned();
    writer.event(&started(1, "deploy.shell[0]")).unwrap();
    // More than the first half of an output: the rest waits in a file of its own.
    print(&writer, 1, format!("is {TOKEN}\n").repeat(400_000).as_bytes());
    assert!(folder.join("output-1.tail").exists());
    // The name of the file that the next step needs is in use: nothing more is recorded.
    fs::create_dir(folder.join("output-2.txt")).unwrap();
    writer.event(&started(2, "deploy.shell[1]")).unwrap();
    writer.output(2, Stream::Stdout, &shown(vec![b'x'; 70_000])).unwrap_err();
    fs::remove_dir(folder.join("output-2.txt")).unwrap();
    vault.register(&Data::text(TOKEN), "‹token›");
    writer.finish(&ending(Status::Failed, 74)).unwrap_err();
    for name in names(&folder) {
        let text = String::from_utf8_lossy(&fs::read(folder.join(&name)).unwrap()).into_owned();
        assert!(!text.contains(TOKEN), "{name}");
    }
}

#[test]
fn what_is_captured_later_is_hidden_in_every_file() {
    let (place, vault, arguments) = (Place::new(), Vault::new(), arguments());
    let writer = begin(&place, &vault, &arguments);
    let folder = writer.folder().to_owned();
    step(&writer, 1, "deploy.shell[0]", format!("is {TOKEN}\n").as_bytes());
    assert!(everything(&folder).contains(TOKEN), "nobody knows of it yet");
    vault.register(&Data::text(TOKEN), "‹token›");
    writer.finish(&done()).unwrap();
    let text = everything(&folder);
    assert!(!text.contains(TOKEN), "{text}");
    assert_eq!(place.last().plan().unwrap().unwrap()["arguments"]["token"], "‹token›");
    assert_eq!(printed(&folder, 1), "is ‹token›\n".as_bytes());
}
