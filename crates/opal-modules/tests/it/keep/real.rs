//! A real run that leaves evidence.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use opal_core::hash::Algorithm;
use opal_core::selection::Selection;
use opal_exec::execute::{self, Job, Outcome};
use opal_modules::keep::{Evidence, ToolStep};
use opal_plan::Words;
use opal_plan::lower;
use opal_plan::plan::{Purpose, Request, plan};
use opal_session::stop::Stop;
use opal_session::{LocalSession, Setup};
use opal_testing::MemoryWorld;
use opal_testing::bare;
use opal_testing::planning::FixedKeys;
use opal_vault::Vault;
use opal_vault::event::End;

use crate::keep::support::{CANARY, at, document, names, vault};

/// Runs a source with the evidence as its record.
fn run(source: &str, folder: &Path, evidence: &Evidence<'_>, vault: &Vault) -> Outcome {
    let (registry, arguments) = (opal_decorators::registry(), BTreeMap::new());
    let parse = opal_syntax::parse(source, &Words(&registry));
    let unit = lower::unit(&parse, source);
    let request = Request {
        unit: &unit,
        registry: &registry,
        text: Some((&parse, source)),
        function: None,
        arguments: &arguments,
        algorithm: Algorithm::Sha256,
        purpose: Purpose::Contract,
        selection: Selection::default(),
    };
    let resolved = plan(&request, &MemoryWorld::default(), &mut FixedKeys);
    let resolved = resolved.unwrap_or_else(|errors| panic!("{errors:?}"));
    let session = LocalSession::new(Setup {
        environment: BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]).into(),
        start: folder.to_owned(),
        home: None,
        terminal: None,
        entries: None,
        pages: None,
        marker: format!("run-test-{}", folder.display()),
    });
    let stop = Stop::new();
    let job = bare::job(&resolved.plan, &registry, &session, folder, vault, &stop);
    execute::execute(&Job {
        values: &resolved.secrets,
        showing: &resolved.showing,
        recorder: evidence,
        clock: || at(0),
        ..job
    })
}

#[test]
fn a_real_run_leaves_what_its_tools_printed_and_nothing_secret() {
    let folder = tempfile::tempdir().unwrap();
    let vault = vault();
    let source = format!(
        "echo before\n\
         @retry(attempts=2, delay=10ms) {{\n    @timeout(1m) {{\n        echo out {CANARY}; echo err >&2\n        \
         test -e here || {{ touch here; exit 3; }}\n    }}\n}}\n\
         @timeout(1m) {{\n    /no/such/tool --flag\n}}\n"
    );
    let step = |path: &str, label: &str| ToolStep {
        path: path.to_owned(),
        label: label.to_owned(),
        argv: vec![label.to_owned()],
        cwd: folder.path().to_owned(),
    };
    let tools = vec![
        step("script.retry[0].timeout[0]", "first"),
        step("script.timeout[0]", "second"),
        step("script.timeout[1]", "third"),
    ];
    let evidence = Evidence::begin(folder.path().join("evidence"), tools, &vault).unwrap();
    let outcome = run(&source, folder.path(), &evidence, &vault);
    assert!(outcome.halt.is_some());
    let ends = evidence.finish(at(1));
    let seen: Vec<(&str, i32, End, u32)> =
        ends.iter().map(|it| (it.label.as_str(), it.rc, it.end, it.attempts)).collect();
    assert_eq!(seen, [("first", 0, End::Done, 2), ("second", 127, End::Failed, 1)]);
    let read = |name: &str| fs::read_to_string(evidence.folder().join(name)).unwrap();
    assert_eq!(read("first.stdout.txt"), "out <redacted>\n".repeat(2));
    assert_eq!(read("first.stderr.txt"), "err\nerr\n");
    assert_eq!(read("second.stdout.txt"), "");
    assert_eq!(document(&evidence.folder().join("second.result.json"))["rc"], 127);
    assert_eq!(names(evidence.folder()).len(), 6);
}
