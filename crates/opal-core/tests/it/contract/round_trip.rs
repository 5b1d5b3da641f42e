//! Plans of any form: what is written is read back, and written again as it was.

use std::borrow::Cow;
use std::collections::BTreeMap;

use opal_core::contract::{Contract, Frame, Provenance, Seen, plan_hash};
use opal_core::hash::{Algorithm, Digest};
use opal_core::placeholder::Placeholder;
use opal_core::plan::{
    Arg, Binding, ChainOperator, Handle, Node, Part, Piece, Plan, Redirect, RedirectKind,
    RedirectOperator, RedirectTarget, Step,
};
use opal_core::resource::Status;
use opal_core::{Duration, Value};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use crate::contract::support::{
    AUTH_KEY, VARIANTS, accept, data, decode, empty_plan, provenance, step, target, value, write,
};

#[test]
fn the_fixture_comes_back() {
    for variant in VARIANTS {
        let contract = variant.contract();
        let again = accept(&variant.bytes()).unwrap();
        assert_eq!(again.plan(), contract.plan());
        assert_eq!(again.provenance(), contract.provenance());
        assert_eq!(again.created(), contract.created());
        assert_eq!(again.plan_hash(), plan_hash(contract.plan()));
    }
}

#[test]
fn what_a_package_is_and_may_do_comes_back() {
    let mut made = provenance();
    made.plugins[0].checksum = Some("sha256:00".into());
    made.plugins[0].engine = Some("opal".into());
    made.plugins[0].capabilities = vec!["clock".into(), "shell".into()];
    let contract = Contract::new(empty_plan(Algorithm::Sha256), 0, made).unwrap();
    let again = accept(&write(&contract, false, false)).unwrap();
    assert_eq!(again.provenance().plugins, contract.provenance().plugins);
}

#[test]
fn a_plan_of_nothing_comes_back() {
    let contract = Contract::new(empty_plan(Algorithm::Sha256), 0, Provenance::default()).unwrap();
    for compress in [false, true] {
        let bytes = write(&contract, compress, false);
        assert_eq!(accept(&bytes).unwrap().plan(), contract.plan());
    }
}

#[test]
fn the_same_contract_gives_the_same_bytes() {
    for variant in VARIANTS {
        assert!(variant.bytes() == variant.bytes());
    }
}

#[test]
fn packing_pays_by_the_size_of_all_steps_and_not_by_those_on_top() {
    let contract = |rounds: usize| {
        let round = |index| step("iteration", &format!("deploy.for[0].x[{index}]"));
        let mut plan = empty_plan(Algorithm::Sha256);
        plan.steps = vec![crate::contract::support::around(
            step("for", "deploy.for[0]"),
            (0..rounds).map(round).collect(),
        )];
        Contract::new(plan, 0, Provenance::default()).unwrap()
    };
    assert!(!contract(2).is_worth_packing());
    let large = contract(100);
    assert!(large.is_worth_packing());
    assert!(write(&large, true, false).len() < write(&large, false, false).len());
}

#[test]
fn what_was_seen_of_resources_comes_back() {
    let placeholder =
        Placeholder { length: 7, algorithm: Algorithm::Sha256, digest: Digest([5; 32]) };
    let seen = |path: &str, status| Seen {
        path: path.into(),
        status,
        details: None,
        identity: None,
        account: None,
        by_prerequisite: false,
    };
    let resources = vec![
        seen("setup.file.copy[1]", Status::Satisfied),
        Seen { details: Some(placeholder), ..seen("setup.file.copy[0]", Status::Drifted) },
        Seen { by_prerequisite: true, ..seen("setup.file.line[0]", Status::Blocked) },
        Seen {
            identity: Some(Digest([7; 32])),
            account: Some(Digest([8; 32])),
            ..seen("setup.aws.vpc[0]", Status::Satisfied)
        },
    ];
    let made = Provenance { resources: resources.clone(), ..provenance() };
    let contract = Contract::new(empty_plan(Algorithm::Sha256), 0, made).unwrap();
    let bytes = write(&contract, false, false);
    let again = accept(&bytes).unwrap();
    assert_eq!(again.provenance().resources, resources);
    assert!(write(&again, false, false) == bytes);
}

#[test]
fn who_answered_on_targets_comes_back() {
    let certificate = "ssh-ed25519-cert-v01@openssh.com SHA256:ca for a,b";
    let targets = vec![
        target("web1", "ssh-ed25519 SHA256:abc", "0123"),
        target("web1/db", "", ""),
        target("web2", certificate, "0123"),
    ];
    // The same machine under two names.
    assert_eq!(targets[0].machine, targets[2].machine);
    let made = Provenance { targets: targets.clone(), ..provenance() };
    let contract = Contract::new(empty_plan(Algorithm::Sha256), 0, made).unwrap();
    let bytes = write(&contract, false, false);
    let again = accept(&bytes).unwrap();
    assert_eq!(again.provenance().targets, targets);
    assert!(write(&again, false, false) == bytes);
}

#[test]
fn the_reasons_of_steps_come_back_in_one_line() {
    let mut plan = empty_plan(Algorithm::Sha256);
    let noted = |decorator, path: &str, note: &str| Step {
        note: Some(note.into()),
        ..step(decorator, path)
    };
    let inner = noted("when", "deploy.if[0].when[0]", "when stage");
    plan.steps = vec![
        crate::contract::support::around(
            noted("if", "deploy.if[0]", "if a ==\r\n\t  b"),
            vec![inner],
        ),
        noted("@cmd", "deploy.build[0]", "@cmd.build(tag=@var.commit)"),
        noted("for", "deploy.for[0]", &"ä".repeat(201)),
        noted("while", "deploy.while[0]", &"ä".repeat(200)),
        noted("while", "deploy.while[1]", " \n "),
        noted("@retry", "deploy.retry[0]", "@retry(attempts=3)"),
    ];
    let contract = Contract::new(plan.clone(), 0, provenance()).unwrap();
    let bytes = write(&contract, false, false);
    let again = accept(&bytes).unwrap();
    let notes: Vec<Option<&str>> =
        again.plan().steps.iter().map(|step| step.note.as_ref().map(|note| &*note.head)).collect();
    let (cut, whole) = ("ä".repeat(199) + "…", "ä".repeat(200));
    let call = Some("@cmd.build(tag=@var.commit)");
    assert_eq!(notes, [Some("if a == b"), call, Some(&cut), Some(&whole), None, None]);
    assert_eq!(again.plan().steps[0].block[0].note, Some("when stage".into()));
    assert!(write(&again, false, false) == bytes);
}

#[test]
fn what_cannot_be_read_back_is_not_written() {
    let refused = |plan: Plan, reason: &str| {
        let error = Contract::new(plan, 0, provenance()).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    };
    let with = |arg: Arg| {
        let mut plan = empty_plan(Algorithm::Sha256);
        plan.steps = vec![crate::contract::support::with(step("@log", "p"), "a", arg)];
        plan
    };
    refused(with(Arg::Const(Value::Float(f64::NAN))), "STEPS: a Float is not a number");
    refused(with(Arg::Value("env.A".into())), "`env.A` is used but missing from the values");
    let deep = (0..130).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
    refused(with(Arg::Const(deep)), "more than 128 levels of nesting");
    let mut twice = with(Arg::Const(Value::Null));
    twice.steps[0].args.push(("a".into(), Arg::Const(Value::Null)));
    refused(twice, "`a` is given twice");
    let mut deep = with(Arg::Const(Value::Null));
    for _ in 0..128 {
        let inner = std::mem::take(&mut deep.steps);
        deep.steps = vec![crate::contract::support::around(step("@retry", "p"), inner)];
    }
    refused(deep, "nested more than 128 levels deep");
    let mut other = with(Arg::Const(Value::Null));
    other.values.extend([value(Algorithm::Blake3, "env.A", "1")]);
    refused(other, "VALUES: `env.A` was hashed with another algorithm");
    let mut long = with(Arg::Const(Value::Null));
    long.values.extend([value(Algorithm::Sha256, &"k".repeat(70_000), "1")]);
    refused(long, "longer than 65,535 bytes");
    let huge = "x".repeat(33 << 20);
    refused(with(crate::contract::support::text(&huge)), "too large for a contract");
    let many = Value::Array(vec![Value::Null; 5_500_000]);
    refused(with(Arg::Const(many)), "too large for a contract");
}

#[test]
fn a_plan_of_the_largest_size_is_read_back_by_those_it_is_for() {
    let mut plan = empty_plan(Algorithm::Sha256);
    let piece = |text: &str| Piece::Text(text.into());
    let command = || Arg::Shell(["echo ", "one ", "of ", "many"].map(piece).into());
    let steps = (0..100_000).map(|index| {
        crate::contract::support::with(
            step("@shell", &format!("deploy.shell[{index}]")),
            "command",
            command(),
        )
    });
    plan.steps = steps.collect();
    let contract = Contract::new(plan, 0, provenance()).unwrap();
    let bytes = write(&contract, true, false);
    let frame = Frame::read(&bytes).unwrap();
    assert!(frame.open(&AUTH_KEY).unwrap().plan() == contract.plan());
    // Nobody vouches for it here, and it needs more than a stranger's file may.
    let refused = frame.decode().err().map(|error| error.to_string());
    assert!(refused.is_some_and(|reason| reason.contains("too large")));
}

const KEYS: [&str; 4] = ["env.A", "env.B \"quoted\"", "größe(x=1)", "\"v\" + env.A"];

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,6}",
        "\\PC{0,8}",
        proptest::collection::vec(any::<char>(), 0..5).prop_map(String::from_iter),
    ]
}

fn scalars() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        any::<f64>().prop_filter("constants are numbers", |f| f.is_finite()).prop_map(Value::Float),
        texts().prop_map(|text| Value::String(Cow::Owned(text))),
        any::<i64>().prop_map(|nanos| Value::Duration(Duration::from_nanos(nanos))),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    scalars().prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            btree_map(texts(), inner, 0..4).prop_map(Value::Map),
        ]
    })
}

fn handles() -> impl Strategy<Value = Handle> {
    let part = prop_oneof![
        texts().prop_map(|name| Part::Field(name.into())),
        any::<i64>().prop_map(Part::Index),
        Just(Part::All),
    ];
    (texts(), texts(), vec(part, 0..3)).prop_map(|(id, name, access)| Handle {
        id: id.into(),
        name: name.into(),
        access,
    })
}

fn is_constant(arg: &Arg) -> bool {
    matches!(arg, Arg::Const(_))
}

fn args() -> impl Strategy<Value = Arg> {
    let leaf = prop_oneof![
        values().prop_map(Arg::Const),
        prop::sample::select(&KEYS[..]).prop_map(|key| Arg::Value(key.into())),
        handles().prop_map(Arg::Handle),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let pieces = vec(
            prop_oneof![
                texts().prop_map(|text| Piece::Text(text.into())),
                inner.clone().prop_map(data),
                inner.clone().prop_map(Piece::Raw),
            ],
            0..4,
        );
        let mixed = |items: &Vec<Arg>| !items.iter().all(is_constant);
        let mixed_fields = |fields: &BTreeMap<String, Arg>| !fields.values().all(is_constant);
        prop_oneof![
            pieces.clone().prop_map(Arg::Text),
            pieces.prop_map(Arg::Shell),
            vec(inner.clone(), 1..4).prop_filter("else a constant", mixed).prop_map(Arg::Array),
            btree_map(texts(), inner, 1..4)
                .prop_filter("else a constant", mixed_fields)
                .prop_map(Arg::Map),
        ]
    })
}

fn operators() -> impl Strategy<Value = RedirectOperator> {
    let kinds = prop::sample::select(&RedirectKind::ALL[..]);
    (proptest::option::of(0..20_u32), kinds).prop_map(|(descriptor, kind)| {
        let written = RedirectOperator { descriptor, kind };
        let alone = RedirectOperator { descriptor: None, kind };
        RedirectOperator::parse(&written.to_string()).unwrap_or(alone)
    })
}

fn steps() -> impl Strategy<Value = Step> {
    let decorators = prop::sample::select(&["@shell", "@log", "if", "@my.own", "chain"][..]);
    let leaf = (
        decorators,
        btree_map("[a-z]{1,4}", args(), 0..4),
        texts(),
        proptest::option::of(handles()),
        proptest::option::of(any::<[u8; 32]>()),
    );
    let leaf = leaf.prop_map(|(decorator, args, path, binding, schema)| {
        let mut step = step(decorator, &path);
        step.args = args.into_iter().map(|(name, arg)| (Cow::Owned(name), arg)).collect();
        step.binding =
            binding.map(|Handle { id, name, access }| Box::new(Binding { id, name, access }));
        step.schema = schema.map(Digest);
        step
    });
    leaf.prop_recursive(3, 10, 3, |inner| {
        let target = prop_oneof![
            inner.clone().prop_map(|step| RedirectTarget::Step(Box::new(step))),
            texts().prop_map(|text| RedirectTarget::Shell(vec![Piece::Text(text.into())])),
        ];
        let redirects = vec(
            (operators(), target).prop_map(|(operator, target)| Redirect { operator, target }),
            0..2,
        );
        (inner.clone(), vec(inner, 0..3), redirects).prop_map(|(mut step, block, redirects)| {
            step.block = block;
            step.redirects = redirects;
            step
        })
    })
    .prop_map(chained)
}

/// With the operators that a chain of so many operands has.
fn chained(mut step: Step) -> Step {
    step.block = step.block.into_iter().map(chained).collect();
    for redirect in &mut step.redirects {
        if let RedirectTarget::Step(target) = &mut redirect.target {
            **target = chained((**target).clone());
        }
    }
    match (&step.node, step.block.len()) {
        (Node::Chain, 0) => step.node = Node::Try,
        (Node::Chain, operands) => {
            let operators = ChainOperator::ALL.into_iter().cycle().take(operands - 1);
            step.args = vec![("operators".into(), ChainOperator::arg(operators))];
        }
        _ => {}
    }
    step
}

/// A reason for every step on the first level that can have one, and a path of its own.
fn give_reasons(steps: &mut [Step]) {
    for (index, step) in steps.iter_mut().enumerate().filter(|(_, step)| step.node == Node::If) {
        step.path = format!("deploy.if[{index}].{}", step.path).into();
        step.note = Some(format!("if n == {index}").into());
    }
}

fn plans() -> impl Strategy<Value = Plan> {
    let algorithm = prop_oneof![Just(Algorithm::Sha256), Just(Algorithm::Blake3)];
    let arguments = btree_map(texts(), values(), 0..3);
    let public = proptest::option::of(values());
    let holders = proptest::collection::btree_set(texts(), 0..3);
    (algorithm, vec(steps(), 0..4), arguments, public, holders).prop_map(
        |(algorithm, steps, arguments, public, holders)| {
            let mut plan = empty_plan(algorithm);
            plan.steps = steps;
            give_reasons(&mut plan.steps);
            plan.target.arguments = arguments;
            plan.values = KEYS.iter().map(|key| value(algorithm, key, "x")).collect();
            let first = plan.values.get_mut("env.A").unwrap();
            (first.public, first.holders) = (public, holders);
            plan
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn every_plan_comes_back(plan in plans(), compress: bool, sign: bool) {
        let mut made = provenance();
        made.signer = sign.then(|| crate::contract::support::Key25519::new().public());
        let contract = Contract::new(plan, 0, made).unwrap();
        let bytes = write(&contract, compress, sign);
        let again = accept(&bytes).unwrap();
        prop_assert_eq!(again.plan(), contract.plan());
        prop_assert_eq!(again.provenance(), contract.provenance());
        prop_assert!(write(&again, compress, sign) == bytes);
        prop_assert!(opal_core::contract::compare(&again, contract.plan()).is_same());
    }

    #[test]
    fn no_bytes_make_the_reader_panic(
        variant in prop::sample::select(&VARIANTS[..]),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = variant.bytes();
        for (index, byte) in changes {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        let _ = decode(&bytes);
    }
}
