//! A plan with everything a plan can hold, and the keys that its files are made with.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use ed25519_dalek::{Signer as _, SigningKey};
use opal_core::context::{Context, Place};
use opal_core::contract::{
    Contract, Encoding, Frame, PluginRecord, Provenance, Seed, Sign, Source, SourceFile,
    TargetRecord, encode,
};
use opal_core::hash::{Algorithm, Digest};
use opal_core::placeholder::PlaceholderKey;
use opal_core::plan::{
    Arg, Binding, Handle, Key, Node, Part, Piece, Plan, PlanValue, Read, Redirect,
    RedirectOperator, RedirectTarget, Step,
};
use opal_core::target::{HostKey, Identity};
use opal_core::{Data, Duration, Span, Value};

/// As long as one for two recipients; nothing here opens it.
pub(crate) const ENVELOPE: &[u8] = &[0xa9; 699];
pub(crate) const AUTH_KEY: [u8; 32] = [0x5a; 32];
pub(crate) const CREATED: i64 = 1_800_000_000;

pub(crate) struct Key25519(SigningKey);

impl Key25519 {
    pub(crate) fn new() -> Self {
        Self(SigningKey::from_bytes(&[7; 32]))
    }

    pub(crate) fn public(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }

    pub(crate) fn verifies(&self, frame: &Frame<'_>) -> bool {
        frame.ed25519().is_some_and(|(signature, covered)| {
            let signature = ed25519_dalek::Signature::from_bytes(signature);
            self.0.verifying_key().verify_strict(covered, &signature).is_ok()
        })
    }
}

impl Sign for Key25519 {
    fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        self.0.sign(bytes).to_bytes()
    }
}

/// A plan with the steps that came later: dependencies, and a text.
pub(crate) fn additions() -> Contract {
    let text = |text: &str| Value::String(text.to_owned().into());
    let step = |node: Node, path: &str, args: Vec<(&'static str, Value)>| {
        let mut step = Step::new(node, path, Span::at(0));
        let args = args.into_iter().map(|(name, value)| (Cow::Borrowed(name), Arg::Const(value)));
        step.args = args.collect();
        step
    };
    let names = |names: &[&str]| Value::Array(names.iter().map(|name| text(name)).collect());
    let mut needs = step(Node::Needs, "deploy.needs", Vec::new());
    for (name, path, needed_by) in [
        ("install", "deploy.needs.install[0]", &["build"][..]),
        ("build", "deploy.needs.build[0]", &["deploy", "test"]),
    ] {
        let args = vec![("function", text(name)), ("needed_by", names(needed_by))];
        let mut one = step(Node::Dependency, path, args);
        one.note = Some(format!("@needs.{name}()").into());
        needs.block.push(one);
    }
    let script = step(
        Node::decorator("script"),
        "deploy.script[0]",
        vec![
            ("args", names(&["a b"])),
            ("block_text", text("if True:\n  print(1)\n")),
            ("env", Value::Map(BTreeMap::new())),
            ("ext", text("")),
            ("program", text("python3")),
        ],
    );
    let mut plan = Plan::empty("deploy", Algorithm::Sha256, Digest([1; 32]));
    plan.steps = vec![needs, script];
    Contract::new(plan, CREATED, provenance()).unwrap()
}

/// A variant of the fixture's file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    pub(crate) algorithm: Algorithm,
    pub(crate) compress: bool,
    pub(crate) sign: bool,
}

pub(crate) const VARIANTS: [Variant; 4] = [
    Variant { name: "plain", algorithm: Algorithm::Sha256, compress: false, sign: false },
    Variant { name: "signed", algorithm: Algorithm::Sha256, compress: false, sign: true },
    Variant { name: "blake3", algorithm: Algorithm::Blake3, compress: false, sign: false },
    Variant { name: "compressed", algorithm: Algorithm::Blake3, compress: true, sign: true },
];

impl Variant {
    pub(crate) fn contract(self) -> Contract {
        let mut provenance = provenance();
        provenance.signer = self.sign.then(|| Key25519::new().public());
        Contract::new(plan(self.algorithm), CREATED, provenance).unwrap()
    }

    pub(crate) fn bytes(self) -> Vec<u8> {
        write(&self.contract(), self.compress, self.sign)
    }
}

pub(crate) fn write(contract: &Contract, compress: bool, sign: bool) -> Vec<u8> {
    let key = Key25519::new();
    let signer = sign.then_some(&key as &dyn Sign);
    encode(contract, &Encoding { envelope: ENVELOPE, auth_key: &AUTH_KEY, compress, signer })
        .unwrap()
}

/// Everything that a reader does; the first refusal.
pub(crate) fn accept(bytes: &[u8]) -> Result<Contract, String> {
    let frame = Frame::read(bytes).map_err(|error| error.to_string())?;
    frame.authenticate(&AUTH_KEY).map_err(|error| error.to_string())?;
    if frame.header().is_signed() && !Key25519::new().verifies(&frame) {
        return Err("the signature is wrong".into());
    }
    frame.decode().map_err(|error| error.to_string())
}

/// What a file says once it is whole: without the authentication record.
pub(crate) fn decode(bytes: &[u8]) -> Result<Contract, String> {
    Frame::read(bytes).and_then(|frame| frame.decode()).map_err(|error| error.to_string())
}

pub(crate) fn step(decorator: &'static str, path: &str) -> Step {
    Step::new(Node::named(decorator).unwrap(), path, Span::at(0))
}

pub(crate) fn with(mut step: Step, name: &'static str, arg: Arg) -> Step {
    step.args.push((Cow::Borrowed(name), arg));
    step
}

pub(crate) fn around(mut step: Step, block: Vec<Step>) -> Step {
    step.block = block;
    step
}

pub(crate) fn text(text: &str) -> Arg {
    Arg::Const(Value::String(Cow::Owned(text.to_owned())))
}

pub(crate) fn int(value: i64) -> Arg {
    Arg::Const(Value::Int(value))
}

pub(crate) fn texts(items: &[&'static str]) -> Arg {
    Arg::Const(Value::Array(items.iter().map(|item| Value::text(item)).collect()))
}

pub(crate) fn data(arg: Arg) -> Piece {
    Piece::Data { arg, place: Context::new(Place::Word) }
}

/// `before`, the value of `key`, nothing else.
pub(crate) fn shell(path: &str, before: &str, key: Option<&str>) -> Step {
    let mut pieces = vec![Piece::Text(before.into())];
    pieces.extend(key.map(|key| data(Arg::Value(key.into()))));
    with(step("@shell", path), "command", Arg::Shell(pieces))
}

pub(crate) fn value(algorithm: Algorithm, key: &str, content: &str) -> (Key, PlanValue) {
    let key = Key::from(key);
    let placeholder =
        PlaceholderKey::new([3; 32]).placeholder(algorithm, &key, &Data::text(content));
    let value = PlanValue {
        placeholder,
        public: None,
        roots: BTreeSet::from([Key::clone(&key)]),
        holders: BTreeSet::new(),
        schema: None,
    };
    (key, value)
}

pub(crate) fn read(algorithm: Algorithm, key: &str, content: &str) -> Read {
    let (key, value) = value(algorithm, key, content);
    let decorator = format!("@{}", key.split('.').next().unwrap_or_default());
    let placeholder = Some(value.placeholder);
    Read { key, decorator: Cow::Owned(decorator), placeholder, public: None }
}

pub(crate) fn empty_plan(algorithm: Algorithm) -> Plan {
    Plan::empty("deploy", algorithm, algorithm.digest(&[b"the source"]))
}

pub(crate) fn plan(algorithm: Algorithm) -> Plan {
    let mut plan = old_plan(algorithm);
    let version = plan.reads.iter_mut().find(|read| read.key.starts_with("file.read")).unwrap();
    version.public = Some(Value::text("1.2.3"));
    plan
}

/// The same without what format 1.1 has added.
pub(crate) fn old_plan(algorithm: Algorithm) -> Plan {
    let mut plan = empty_plan(algorithm);
    plan.target.arguments = BTreeMap::from([
        ("environment".into(), Value::text("prod")),
        ("ratio".into(), Value::Float(0.5)),
        ("wait".into(), Value::Duration(Duration::from_secs(90))),
    ]);
    plan.steps = steps();
    let keys = [
        ("env.REPLICAS", "3"),
        ("env.TOKEN", "canary-5150"),
        ("file.read(path=\"VERSION\")", "1.2.3"),
        ("store.get(name=\"größe\")", "{}"),
        ("\"v\" + file.read(path=\"VERSION\")", "v1.2.3"),
    ];
    plan.values = keys.iter().map(|(key, content)| value(algorithm, key, content)).collect();
    plan.reads = keys[..4].iter().map(|(key, content)| read(algorithm, key, content)).collect();
    plan.reads.sort_by(|a, b| a.key.cmp(&b.key));
    plan.reads[0].placeholder = None;
    let of = |plan: &mut Plan, key: &str, change: &dyn Fn(&mut PlanValue)| {
        change(plan.values.get_mut(key).unwrap());
    };
    of(&mut plan, keys[0].0, &|value| value.holders = BTreeSet::from(["n".into(), "r".into()]));
    of(&mut plan, keys[2].0, &|value| value.public = Some(Value::text("1.2.3")));
    of(&mut plan, keys[3].0, &|value| value.schema = Some(Digest([0xab; 32])));
    of(&mut plan, keys[4].0, &|value| value.roots = BTreeSet::from([keys[2].0.into()]));
    plan
}

fn steps() -> Vec<Step> {
    let handle = |access: Vec<Part>| {
        let path = "deploy.shell[0]";
        Arg::Handle(Handle { id: Handle::id(path), name: "out".into(), access })
    };
    let mut bound = shell("deploy.shell[0]", "terraform output -json", None);
    let id = Handle::id("deploy.shell[0]");
    bound.binding = Some(Box::new(Binding { id, name: "out".into(), access: vec![] }));

    let command = Arg::Shell(vec![
        Piece::Text("kubectl scale --replicas=".into()),
        data(Arg::Value("env.REPLICAS".into())),
        Piece::Text(" \"app\"\t\\\n--to=".into()),
        data(handle(vec![Part::Field("hosts".into()), Part::Index(-1), Part::All])),
        Piece::Raw(Arg::Value("\"v\" + file.read(path=\"VERSION\")".into())),
    ]);
    let scale = with(step("@shell", "deploy.if[0].retry[0].shell[0]"), "command", command);
    let mut retry = with(step("@retry", "deploy.if[0].retry[0]"), "attempts", int(3));
    retry = with(retry, "delay", Arg::Const(Value::Duration(Duration::from_millis(1500))));
    retry = with(retry, "factor", Arg::Const(Value::Float(1.5)));
    let mut decision = step("if", "deploy.if[0]");
    decision = with(decision, "condition", text("@env.REPLICAS > 2"));
    decision = with(decision, "roots", texts(&["env.REPLICAS"]));
    decision = with(decision, "taken", int(0));

    let mut log = step("@log", "deploy.log[0]");
    log = with(
        log,
        "fields",
        Arg::Map(BTreeMap::from([
            ("count".into(), int(i64::MIN)),
            ("token".into(), Arg::Value("env.TOKEN".into())),
        ])),
    );
    log = with(log, "list", Arg::Array(vec![int(i64::MAX), handle(vec![])]));
    let message = vec![Piece::Text("größe: ".into()), data(handle(vec![Part::Field("n".into())]))];
    log = with(log, "message", Arg::Text(message));

    let mut plugin = step("@store.put", "deploy.store.put[0]");
    plugin = with(plugin, "from", Arg::Value("store.get(name=\"größe\")".into()));
    let constants = BTreeMap::from([("a b".into(), Value::Null), ("c".into(), Value::Bool(true))]);
    plugin = with(plugin, "labels", Arg::Const(Value::Map(constants)));
    plugin.schema = Some(Digest([0xcd; 32]));
    let file = with(step("@file.write", "deploy.store.put[0].file.write[0]"), "path", text("out"));
    plugin.redirects = vec![
        Redirect { operator: operator(">"), target: RedirectTarget::Step(Box::new(file)) },
        Redirect {
            operator: operator("2>>"),
            target: RedirectTarget::Shell(vec![Piece::Text("log\u{1}".into())]),
        },
    ];
    vec![bound, around(decision, vec![around(retry, vec![scale])]), log, plugin]
}

pub(crate) fn provenance() -> Provenance {
    let plugin = PluginRecord {
        name: "store".into(),
        version: "2.1.0".into(),
        source: "registry:store".into(),
        verification: "passed".into(),
        signed_by: Some("acme".into()),
        schema: Some(Digest([0xcd; 32])),
        checksum: None,
        engine: None,
        capabilities: Vec::new(),
    };
    Provenance {
        compiler: "0.1.0".into(),
        source: Some(Source {
            path: "commands.opl".into(),
            absolute: "/srv/app/commands.opl".into(),
        }),
        sources: vec![
            SourceFile { path: "commands.opl".into(), digest: Digest([0x22; 32]) },
            SourceFile { path: "lib/größe.opl".into(), digest: Digest([0x33; 32]) },
        ],
        commit: Some("83d2a3d0ae4dbb51".into()),
        modified: true,
        options: BTreeMap::from([
            ("recipient".into(), vec!["age1b".into(), "age1a".into()]),
            ("root".into(), vec!["/srv/opal root".into()]),
            ("skip-preflight".into(), Vec::new()),
        ]),
        generated_by: Some("ada".into()),
        host: Some("builder".into()),
        project: Some("github.com/acme/app".into()),
        placeholder_key_id: PlaceholderKey::new([3; 32]).id(),
        plugins: vec![plugin],
        resources: Vec::new(),
        targets: Vec::new(),
        seed: Some(Seed {
            alg: "chacha20-drbg".into(),
            kdf: "hkdf-sha256".into(),
            scope: "plan".into(),
            seed_hash: Digest([0x11; 32]),
        }),
        expires: Some(CREATED + 86_400),
        once: true,
        signer: None,
    }
}

/// A host that `ssh` connects to, and who answers there.
pub(crate) fn target(name: &str, key: &str, machine: &str) -> TargetRecord {
    let found = Identity {
        user: Some(1000),
        machine: machine.to_owned(),
        os: "linux".into(),
        arch: "x86_64".into(),
        host_key: HostKey::from_text(key),
    };
    let transport = vec![format!("ssh {name}")];
    let made_with = PlaceholderKey::new([3; 32]);
    TargetRecord::new(name, transport, &found, Algorithm::Sha256, &made_with)
}

pub(crate) fn operator(text: &str) -> RedirectOperator {
    RedirectOperator::parse(text).unwrap()
}
