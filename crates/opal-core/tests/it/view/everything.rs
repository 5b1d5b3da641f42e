//! One plan with every kind of argument, piece, construct and redirection.

use std::collections::BTreeMap;

use opal_core::context::{Context, Place};
use opal_core::contract::Seed;
use opal_core::hash::{Algorithm, Digest};
use opal_core::plan::{Arg, Handle, Part, Piece, Plan, RedirectTarget, Step};
use opal_core::resource::Status;
use opal_core::view::{Facts, PluginFact};
use opal_core::{Duration, Value};

use crate::contract::support::target;
use crate::view::build::*;

pub(crate) fn handle() -> Handle {
    Handle {
        id: Handle::id("deploy.shell[0]"),
        name: "probe".into(),
        access: vec![Part::Field("items".into()), Part::Index(-1), Part::All],
    }
}

fn constants() -> Step {
    let map = BTreeMap::from([("a".to_owned(), Value::Int(i64::MIN))]);
    let odd = BTreeMap::from([("$value".to_owned(), Value::text("env.HOME"))]);
    let args = vec![
        ("bool", Arg::Const(Value::Bool(false))),
        ("duration", Arg::Const(Value::Duration(Duration::from_secs(90)))),
        ("float", Arg::Const(Value::Float(1.5))),
        ("infinite", Arg::Const(Value::Float(f64::INFINITY))),
        ("int", int(i64::MAX)),
        ("list", strings(&["a", "b"])),
        ("map", Arg::Const(Value::Map(map))),
        ("null", Arg::Const(Value::Null)),
        ("odd", Arg::Const(Value::Map(odd))),
        ("string", string("<1:sha256:abc123>")),
    ];
    step("@config", "deploy.config[0]", args)
}

fn references() -> Step {
    let value = || Arg::Value("env.N".into());
    let pieces = || vec![text("v"), data(value()), data(int(3)), Piece::Raw(string("x"))];
    let nested = BTreeMap::from([("k".to_owned(), value()), ("$k".to_owned(), Arg::Deferred(0))]);
    let args = vec![
        ("array", Arg::Array(vec![value(), int(1), Arg::Handle(handle())])),
        ("check", Arg::Shell(pieces())),
        ("deferred", Arg::Deferred(0)),
        ("handle", Arg::Handle(handle())),
        ("map", Arg::Map(nested)),
        ("text", Arg::Text(pieces())),
        ("value", value()),
    ];
    let mut step = step("@plugin.thing", "deploy.plugin.thing[0]", args);
    step.schema = Some(Digest([1; 32]));
    step
}

fn constructs() -> Vec<Step> {
    let iteration = || construct("iteration", vec![("value", string("api"))]);
    vec![
        construct("if", vec![("roots", strings(&["env.N"])), ("taken", int(0))])
            .note("if n == 1")
            .block(vec![run("true")]),
        construct("if", vec![("condition", string("env.N == 1")), undecided()]).block(vec![
            construct("branch", vec![("condition", string("env.N == 1"))]),
            construct("branch", vec![]),
        ]),
        construct("when", vec![("arm", string("\"a\"")), ("subject", string("env.N"))]),
        construct("when", vec![undecided()])
            .block(vec![construct("branch", vec![("pattern", string("\"a\""))])]),
        construct("for", vec![("count", int(1)), ("over", string("xs"))]).block(vec![iteration()]),
        construct("while", vec![("condition", string("n < 3")), ("count", int(0))]),
        construct("try", vec![]).block(vec![
            run("make"),
            construct("catch", vec![]).block(vec![run("make clean")]),
            construct("finally", vec![]).block(vec![run("date")]),
        ]),
        construct("block", vec![]).block(vec![run("cd dist")]),
        construct("chain", vec![("operators", strings(&["&&"]))])
            .block(vec![run("true"), run("false")]),
        construct("require", vec![("value", Arg::Value("env.N".into()))]),
    ]
}

/// Everything at once. A plan that is both quick and has values is what a quick plan is.
pub(crate) fn plan_of_everything() -> Plan {
    let quoted = Context::new(Place::Quoted);
    let log = step("@file.write", "deploy.shell[0].redirect[0]", vec![("path", string("log"))]);
    let mut steps = vec![
        run("uname -a > log").named("probe"),
        shell(vec![
            text("echo "),
            data(Arg::Handle(handle())),
            text(" \""),
            Piece::Data { arg: Arg::Value("env.N".into()), place: quoted },
            text("\" "),
            data(Arg::Deferred(0)),
            text(" "),
            Piece::Raw(Arg::Value("env.N".into())),
        ])
        .redirect(">>", RedirectTarget::Shell(vec![text("out/"), data(string("a b"))]))
        .redirect("2>", RedirectTarget::Step(Box::new(log))),
        constants(),
        references(),
    ];
    steps.extend(constructs());
    let mut plan = plan(steps)
        .read("env.N", "3", &["n", "count"])
        .read("env.PUBLIC", "shown", &[])
        .deferred("shell.output(command=\"date\")", "runs a command");
    plan.values.get_mut("env.PUBLIC").unwrap().public = Some(Value::text("shown"));
    plan.reads[1].placeholder = None;
    plan.target.arguments = BTreeMap::from([("stage".to_owned(), Value::text("test"))]);
    plan
}

/// The same plan with the other algorithm.
pub(crate) fn blake3(mut plan: Plan) -> Plan {
    plan.algorithm = Algorithm::Blake3;
    plan.values.values_mut().for_each(|value| value.placeholder.algorithm = Algorithm::Blake3);
    plan
}

pub(crate) fn all_facts() -> Facts {
    Facts {
        created: Some(1_760_299_200),
        compiler_version: Some("0.1.0".into()),
        source_commit: Some("a1b2c3".into()),
        source_modified: true,
        source_path: Some("commands.opl".into()),
        sources: vec![("commands.opl".into(), Digest([0x22; 32]))],
        options: vec!["--root /srv/opal".into()],
        seed: Some(Seed {
            alg: "chacha20-drbg".into(),
            kdf: "hkdf-sha256".into(),
            scope: "plan".into(),
            seed_hash: Digest([0x33; 32]),
        }),
        generated_by: Some("ci@builder".into()),
        plugins: vec![PluginFact {
            name: "aws".into(),
            version: "1.2.0".into(),
            source: Some("git:example".into()),
            verification: Some("passed".into()),
            signed_by: Some("ops".into()),
            engine: None,
        }],
        project: Some("shop".into()),
        key_of_process: true,
        expires: Some(1_760_385_600),
        once: true,
        signed_by: vec!["ed25519:ab".into()],
        resources: vec![
            ("deploy.file.copy[0]".into(), Status::Satisfied),
            ("deploy.file.copy[1]".into(), Status::Missing),
        ],
        targets: vec![target("web1", "ssh-ed25519 SHA256:abc", "m1"), target("web2", "", "m2")],
    }
}
