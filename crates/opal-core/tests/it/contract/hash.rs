//! What is in the PlanHash, and what is not.

use opal_core::context::{Context, Place};
use opal_core::contract::{Contract, plan_hash, schema_hash};
use opal_core::decorator::{Block, Descriptor, Effect, Exposure, Param, Presence, Returns};
use opal_core::hash::{Algorithm, Digest};
use opal_core::plan::{Arg, Deferred, Handle, Mode, Node, Part, Piece, Plan, Step};
use opal_core::{Span, Type, Value};

use crate::contract::support::{CREATED, int, operator, plan, provenance, shell, step, text, with};

/// What is changed, and how.
type Edit = (&'static str, Box<dyn FnOnce(&mut Plan)>);

fn changed(change: impl FnOnce(&mut Plan)) -> Digest {
    let mut plan = plan(Algorithm::Sha256);
    change(&mut plan);
    plan_hash(&plan)
}

/// The step that scales, deep in the fixture.
fn scale(plan: &mut Plan) -> &mut Step {
    &mut plan.steps[1].block[0].block[0]
}

fn pieces(plan: &mut Plan) -> &mut Vec<Piece> {
    match &mut scale(plan).args[0].1 {
        Arg::Shell(pieces) => pieces,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_change_of_the_structure_changes_the_hash() {
    let changes: Vec<Edit> = vec![
        ("target", Box::new(|p| p.target.name.push('x'))),
        ("algorithm", Box::new(|p| p.algorithm = Algorithm::Blake3)),
        ("order", Box::new(|p| p.steps.swap(0, 2))),
        ("step removed", Box::new(|p| drop(p.steps.pop()))),
        ("step added", Box::new(|p| p.steps.push(shell("deploy.shell[9]", "true", None)))),
        ("decorator", Box::new(|p| scale(p).node = Node::Call)),
        ("path", Box::new(|p| scale(p).path = "deploy.shell[7]".into())),
        ("argument", Box::new(|p| p.steps[1].block[0].args[0].1 = int(4))),
        ("argument's type", Box::new(|p| p.steps[1].block[0].args[0].1 = text("3"))),
        ("argument removed", Box::new(|p| drop(p.steps[1].block[0].args.pop()))),
        ("branch", Box::new(|p| p.steps[1].args[2].1 = int(1))),
        ("template", Box::new(|p| pieces(p)[0] = Piece::Text("kubectl scale ".into()))),
        (
            "value's key",
            Box::new(|p| {
                pieces(p)[1] = Piece::Raw(Arg::Value("env.TOKEN".into()));
            }),
        ),
        (
            "pasted, not passed",
            Box::new(|p| {
                pieces(p)[1] = Piece::Raw(Arg::Value("env.REPLICAS".into()));
            }),
        ),
        ("constant, not value", Box::new(|p| pieces(p)[1] = Piece::Text("env.REPLICAS".into()))),
        (
            "handle's access",
            Box::new(|p| {
                let Piece::Data { arg: Arg::Handle(Handle { access, .. }), .. } = &mut pieces(p)[3]
                else {
                    panic!()
                };
                access[2] = Part::Index(0);
            }),
        ),
        ("binding removed", Box::new(|p| p.steps[0].binding = None)),
        ("operator", Box::new(|p| p.steps[3].redirects[0].operator = operator(">>"))),
        ("redirection", Box::new(|p| drop(p.steps[3].redirects.pop()))),
        ("plugin's schema", Box::new(|p| p.steps[3].schema = Some(Digest([1; 32])))),
        (
            "value's schema",
            Box::new(|p| {
                p.values.values_mut().for_each(|value| value.schema = None);
            }),
        ),
        (
            "nesting",
            Box::new(|p| {
                let inner = p.steps[1].block[0].block.remove(0);
                p.steps[1].block.push(inner);
            }),
        ),
    ];
    let mut seen = vec![("nothing", changed(|_| {}))];
    for (name, change) in changes {
        let hash = changed(change);
        if let Some((other, _)) = seen.iter().find(|(_, before)| *before == hash) {
            panic!("`{name}` has the hash of `{other}`");
        }
        seen.push((name, hash));
    }
}

#[test]
fn what_is_not_structure_is_not_in_the_hash() {
    let hash = changed(|_| {});
    let changes: Vec<Edit> = vec![
        (
            "digests",
            Box::new(|p| {
                p.values.values_mut().for_each(|value| value.placeholder.digest = Digest([9; 32]));
            }),
        ),
        (
            "lengths",
            Box::new(|p| {
                p.values.values_mut().for_each(|value| value.placeholder.length = 77);
            }),
        ),
        ("holders", Box::new(|p| p.values.values_mut().for_each(|v| v.holders.clear()))),
        ("public", Box::new(|p| p.values.values_mut().for_each(|v| v.public = None))),
        ("roots", Box::new(|p| p.values.values_mut().for_each(|v| v.roots.clear()))),
        ("reads", Box::new(|p| p.reads.clear())),
        ("arguments", Box::new(|p| p.target.arguments.clear())),
        ("source", Box::new(|p| p.source_hash = Digest([8; 32]))),
        ("note", Box::new(|p| scale(p).note = Some("as written".into()))),
        ("reason", Box::new(|p| p.steps[1].note = Some("if replicas > 2".into()))),
        ("span", Box::new(|p| scale(p).span = Span::new(3, 9))),
        (
            "place",
            Box::new(|p| {
                if let Piece::Data { place, .. } = &mut pieces(p)[1] {
                    *place = Context::new(Place::Quoted).starts_word(true);
                }
            }),
        ),
        ("order of arguments in memory", Box::new(|p| p.steps[1].args.reverse())),
    ];
    for (name, change) in changes {
        assert_eq!(changed(change), hash, "{name}");
    }
    let later = Contract::new(plan(Algorithm::Sha256), CREATED + 1, provenance()).unwrap();
    assert_eq!(later.plan_hash(), hash, "time");
}

#[test]
fn a_quick_plan_has_a_hash_and_is_not_a_contract() {
    let deferred = |key: &str| {
        let mut plan = plan(Algorithm::Sha256);
        plan.mode = Mode::Quick;
        plan.deferred =
            vec![Deferred { key: key.into(), why: "runs a command".into(), holders: [].into() }];
        plan.steps.push(with(step("@log", "deploy.log[1]"), "message", Arg::Deferred(0)));
        plan
    };
    let plan = deferred("shell.output(\"date\")");
    assert_eq!(plan_hash(&plan), plan_hash(&deferred("shell.output(\"date\")")));
    assert_ne!(plan_hash(&plan), plan_hash(&deferred("shell.output(\"id\")")));
    let mut known = plan.clone();
    let last = known.steps.last_mut().unwrap();
    last.args[0].1 = Arg::Value("shell.output(\"date\")".into());
    assert_eq!(plan_hash(&plan), plan_hash(&known), "the hash of what will come of it");
    let error = Contract::new(plan.clone(), CREATED, provenance()).unwrap_err().to_string();
    assert!(error.contains("a quick plan is not a contract"), "{error}");
    let resolved = Plan { mode: Mode::Resolved, ..plan };
    assert!(Contract::new(resolved, CREATED, provenance()).is_err());
}

const STORE: Descriptor = Descriptor {
    path: "store.get",
    summary: "a thing of the store",
    params: &[NAME],
    returns: Some(Returns { version: "1.0.0", ty: Type::String }),
    effect: Effect::Read,
    ..Descriptor::BASE
};
const NAME: Param = Param { name: "name", docs: "which", ..Param::BASE };

const WITH_DEFAULT: &[Param] = &[Param { presence: Presence::Default(Value::text("a")), ..NAME }];

#[test]
fn a_schema_hash_is_about_promises_only() {
    let hash = schema_hash(&STORE);
    let others = [
        Descriptor { path: "store.put", ..STORE },
        Descriptor { params: &[], ..STORE },
        Descriptor { params: &[Param { ty: Type::Int, ..NAME }], ..STORE },
        Descriptor { params: &[Param { presence: Presence::Optional, ..NAME }], ..STORE },
        Descriptor { params: WITH_DEFAULT, ..STORE },
        Descriptor { params: &[Param { range: Some((0, 9)), ..NAME }], ..STORE },
        Descriptor { params: &[Param { pattern: Some("a+"), ..NAME }], ..STORE },
        Descriptor { returns: Some(Returns { version: "1.0.1", ty: Type::String }), ..STORE },
        Descriptor { returns: Some(Returns { version: "1.0.0", ty: Type::Int }), ..STORE },
        Descriptor { block: Block::Optional, ..STORE },
        Descriptor { one_of: &["name"], ..STORE },
        Descriptor { any_with: Some("name"), ..STORE },
        Descriptor { fails: true, ..STORE },
        Descriptor { params: &[Param { environment: true, ..NAME }], ..STORE },
        Descriptor { effect: Effect::Act, ..STORE },
        Descriptor { exposure: Exposure::Secret, ..STORE },
        Descriptor { repeatable: false, ..STORE },
    ];
    for other in &others {
        assert_ne!(schema_hash(other), hash, "{other:?}");
    }
    let reworded = Descriptor {
        summary: "another summary",
        params: &[Param { docs: "other words", ..NAME }],
        ..STORE
    };
    assert_eq!(schema_hash(&reworded), hash);
}
