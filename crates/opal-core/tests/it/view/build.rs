//! Plans in a few words.

use std::borrow::Cow;
use std::collections::BTreeSet;

use opal_core::context::{Context, Place};
use opal_core::hash::{Algorithm, Digest};
use opal_core::placeholder::Placeholder;
use opal_core::plan::{
    Arg, Binding, Deferred, Handle, Mode, Node, Note, Piece, Plan, PlanValue, Read, Redirect,
    RedirectOperator, RedirectTarget, Step,
};
use opal_core::view::{PlanFormatter, PlanView, Tree};
use opal_core::{Span, Value};

pub(crate) fn plan(steps: Vec<Step>) -> Plan {
    Plan { steps, ..Plan::empty("deploy", Algorithm::Sha256, Digest([0xab; 32])) }
}

/// What the tests make of a plan before they compare it.
pub(crate) trait With: Sized {
    /// A value that was read under `key`.
    fn read(self, key: &str, text: &str, holders: &[&str]) -> Self;
    fn deferred(self, key: &str, why: &str) -> Self;
}

impl With for Plan {
    fn read(mut self, key: &str, text: &str, holders: &[&str]) -> Self {
        // A plain digest tells as much about a made-up value as a keyed one, and is quicker.
        let placeholder = Placeholder {
            length: u32::try_from(text.chars().count()).unwrap(),
            algorithm: self.algorithm,
            digest: Algorithm::Blake3.digest(&[key.as_bytes(), text.as_bytes()]),
        };
        let read = Read {
            key: key.into(),
            decorator: format!("@{}", key.split(['.', '(']).next().unwrap()).into(),
            placeholder: Some(placeholder.clone()),
            public: None,
        };
        self.reads.push(read);
        let value = PlanValue {
            placeholder,
            public: None,
            roots: BTreeSet::from([key.into()]),
            holders: holders.iter().map(|name| (*name).to_owned()).collect(),
            schema: None,
        };
        self.values.insert(key.into(), value);
        self
    }

    fn deferred(mut self, key: &str, why: &str) -> Self {
        self.mode = Mode::Quick;
        let holders = BTreeSet::from(["now".to_owned()]);
        self.deferred.push(Deferred { key: key.into(), why: why.into(), holders });
        self
    }
}

/// What stands for a value of [`With::read`].
pub(crate) fn placeholder(plan: &Plan, key: &str) -> String {
    plan.values[key].placeholder.to_string()
}

pub(crate) fn step(decorator: &'static str, path: &str, args: Vec<(&'static str, Arg)>) -> Step {
    let args = args.into_iter().map(|(name, arg)| (Cow::Borrowed(name), arg)).collect();
    Step { args, ..Step::new(Node::named(decorator).unwrap(), path, Span::at(0)) }
}

pub(crate) fn shell(pieces: Vec<Piece>) -> Step {
    step("@shell", "deploy.shell[0]", vec![("command", Arg::Shell(pieces))])
}

pub(crate) fn run(command: &str) -> Step {
    shell(vec![text(command)])
}

pub(crate) fn construct(name: &'static str, args: Vec<(&'static str, Arg)>) -> Step {
    step(name, &format!("deploy.{name}[0]"), args)
}

/// Parts of a step.
pub(crate) trait But: Sized {
    fn block(self, block: Vec<Step>) -> Self;
    fn note(self, note: &str) -> Self;
    fn named(self, name: &str) -> Self;
    fn redirect(self, operator: &str, target: RedirectTarget) -> Self;
}

impl But for Step {
    fn block(mut self, block: Vec<Step>) -> Self {
        self.block = block;
        self
    }

    fn note(mut self, note: &str) -> Self {
        self.note = Some(Note::read(&self, note.into()));
        self
    }

    fn named(mut self, name: &str) -> Self {
        let binding = Binding { id: Handle::id(&self.path), name: name.into(), access: Vec::new() };
        self.binding = Some(Box::new(binding));
        self
    }

    fn redirect(mut self, operator: &str, target: RedirectTarget) -> Self {
        self.redirects
            .push(Redirect { operator: RedirectOperator::parse(operator).unwrap(), target });
        self
    }
}

pub(crate) fn text(text: &str) -> Piece {
    Piece::Text(text.into())
}

pub(crate) fn data(arg: Arg) -> Piece {
    Piece::Data { arg, place: Context::new(Place::Word) }
}

pub(crate) fn string(text: &str) -> Arg {
    Arg::Const(Value::String(text.to_owned().into()))
}

pub(crate) fn int(value: i64) -> Arg {
    Arg::Const(Value::Int(value))
}

pub(crate) fn strings(all: &[&'static str]) -> Arg {
    Arg::Const(Value::Array(all.iter().map(|text| Value::text(text)).collect()))
}

pub(crate) fn undecided() -> (&'static str, Arg) {
    ("undecided", Arg::Const(Value::Bool(true)))
}

pub(crate) fn view(plan: &Plan) -> PlanView<'_> {
    PlanView::new(plan, Digest([0xcd; 32]))
}

pub(crate) fn tree(view: &PlanView<'_>) -> String {
    String::from_utf8(Tree::default().format(view)).unwrap()
}

/// The steps of the tree alone.
pub(crate) fn steps(plan: &Plan) -> String {
    let whole = tree(&view(plan));
    whole.split("\n\n").next().unwrap().to_owned()
}
