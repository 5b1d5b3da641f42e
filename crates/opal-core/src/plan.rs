//! A plan: what would run, in order, and why.
//!
//! By its type a plan holds no value from the world: such a value is a key here and a
//! [`Placeholder`] in [`Plan::values`]; the value itself stays with whoever resolved it. So a plan
//! may be printed, stored, compared and sent.
//!
//! Nothing here is serialized as it is. The bytes of a contract come from the `contract` module's
//! own types, and views from [`crate::view`].

mod chain;
mod node;
mod redirect;
mod step;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::context::Context;
use crate::hash::{Algorithm, Digest};
use crate::placeholder::Placeholder;
use crate::registry::Registry;
use crate::text::Span;
use crate::value::Value;

pub use chain::ChainOperator;
pub use node::Node;
pub use redirect::{Redirect, RedirectKind, RedirectOperator, RedirectStream, RedirectTarget};
pub use step::all;

/// Steps a plan may have.
pub const MAX_STEPS: usize = 100_000;

/// Characters a [`Step::reason`] may have.
pub(crate) const MAX_REASON: usize = 200;

/// How contracts write that an `if` went to its `else`.
const ELSE: &str = " else";

#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub target: Target,
    pub mode: Mode,
    pub algorithm: Algorithm,
    pub source_hash: Digest,
    pub steps: Vec<Step>,
    /// The values that steps use, by their keys.
    pub values: BTreeMap<Key, PlanValue>,
    /// What a quick plan left open, in the order of first use.
    pub deferred: Vec<Deferred>,
    /// Everything that was read to make the plan, in the order of the keys.
    pub reads: Vec<Read>,
}

/// The name of a value that came from the world: `env.HOME`, `file.read(path="VERSION")`, or an
/// expression over such names, `"v" + env.TAG`.
pub type Key = Arc<str>;

#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The function, or [`Target::SCRIPT`].
    pub name: String,
    /// Every parameter that was given, in clear. A script has `args`.
    pub arguments: BTreeMap<String, Value>,
}

impl Target {
    /// What the top-level steps of a file are called.
    pub const SCRIPT: &'static str = "script";
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Expensive values are left open.
    Quick,
    Resolved,
}

impl Mode {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Resolved => "resolved",
        }
    }
}

/// One node of a plan, with what is inside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub node: Node,
    /// Sorted by name, with every default filled in: an opal with other defaults makes another plan.
    pub args: Vec<(Cow<'static, str>, Arg)>,
    pub block: Vec<Step>,
    /// `deploy.retry[0].shell[1]`: unique in its plan.
    pub path: Box<str>,
    /// `let.NAME = …` around the step.
    pub binding: Option<Box<Binding>>,
    pub redirects: Vec<Redirect>,
    /// The schema of a plugin's decorator; none for built-ins.
    pub schema: Option<Digest>,
    /// The construct's head or the call as it was written. For people: in no hash; a contract keeps
    /// [`Step::reason`].
    pub note: Option<Note>,
    /// For messages: in no hash and no file.
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    Const(Value),
    Value(Key),
    /// An index into [`Plan::deferred`].
    Deferred(u32),
    Handle(Handle),
    /// A string that holds run-time values.
    Text(Vec<Piece>),
    /// Text of the shell.
    Shell(Vec<Piece>),
    /// Where an item is not a constant.
    Array(Vec<Arg>),
    Map(BTreeMap<String, Arg>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    Text(Box<str>),
    /// Data at its place in the text around it.
    Data {
        arg: Arg,
        place: Context,
    },
    /// Text that was pasted with `@raw`.
    Raw(Arg),
}

/// A value that exists only when its step has run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handle {
    /// From the path of the binding step.
    pub id: Arc<str>,
    /// The name after `let.`.
    pub name: Arc<str>,
    /// Fields and indices, from left to right.
    pub access: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Field(Box<str>),
    Index(i64),
    /// `.*`.
    All,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    pub id: Arc<str>,
    pub name: Arc<str>,
    pub access: Vec<Part>,
}

/// A value that a step uses.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanValue {
    pub placeholder: Placeholder,
    /// The value, where it is declared public.
    pub public: Option<Value>,
    /// The keys of what was read for it; its own key where it was read itself.
    pub roots: BTreeSet<Key>,
    /// Variables that hold it, for views.
    pub holders: BTreeSet<String>,
    /// The schema of the plugin that gave it; none for built-ins.
    pub schema: Option<Digest>,
}

/// Something that a quick plan does not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deferred {
    pub key: Key,
    /// `runs a command`, `asks the network`.
    pub why: String,
    pub holders: BTreeSet<String>,
}

/// What decides, repeats or calls, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// `if A`, or `if A else if B`: up to the last condition that was asked for.
    pub head: Box<str>,
    /// Of an `if`: every condition was false, and it has an `else`.
    pub went_to_else: bool,
}

/// Something that was read while planning.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    pub key: Key,
    pub decorator: Cow<'static, str>,
    /// Of what was found, under the value's key; none for what a run draws itself.
    pub placeholder: Option<Placeholder>,
    /// What was found, where it is public.
    pub public: Option<Value>,
}

impl Plan {
    /// A plan without steps, resolved.
    #[must_use]
    pub fn empty(target: impl Into<String>, algorithm: Algorithm, source_hash: Digest) -> Self {
        Self {
            target: Target { name: target.into(), arguments: BTreeMap::new() },
            mode: Mode::Resolved,
            algorithm,
            source_hash,
            steps: Vec::new(),
            values: BTreeMap::new(),
            deferred: Vec::new(),
            reads: Vec::new(),
        }
    }

    /// Its steps at all depths, each before what is in it.
    pub fn all_steps(&self) -> impl Iterator<Item = &Step> {
        step::all(&self.steps)
    }

    /// The step at a path.
    #[must_use]
    pub fn step(&self, path: &str) -> Option<&Step> {
        self.all_steps().find(|step| &*step.path == path)
    }

    /// The same plan without the arguments that have their default, as format 1.0 has it.
    #[must_use]
    pub(crate) fn without_defaults(&self, registry: &Registry) -> Self {
        fn strip(step: &mut Step, registry: &Registry) {
            let node = &step.node;
            step.args.retain(|(name, arg)| !registry.is_default(node, name, arg));
            step.block.iter_mut().for_each(|inner| strip(inner, registry));
            for redirect in &mut step.redirects {
                if let RedirectTarget::Step(target) = &mut redirect.target {
                    strip(target, registry);
                }
            }
        }
        let mut plan = self.clone();
        plan.steps.iter_mut().for_each(|step| strip(step, registry));
        plan
    }
}

impl Handle {
    /// The id of a binding at `path`: the first 16 digits of the SHA-256 of `opal handle v1`, a
    /// line feed and the path.
    #[must_use]
    pub fn id(path: &str) -> Arc<str> {
        let digest = Algorithm::Sha256.digest(&[b"opal handle v1\n", path.as_bytes()]);
        digest.hex()[..16].into()
    }
}

impl Note {
    /// With the `else`, as contracts have it.
    #[must_use]
    pub fn written(&self) -> Cow<'_, str> {
        if self.went_to_else {
            Cow::Owned(format!("{}{ELSE}", self.head))
        } else {
            Cow::Borrowed(&self.head)
        }
    }

    /// The note of a step, as its contract has it.
    #[must_use]
    pub fn read(step: &Step, written: Box<str>) -> Self {
        let is_beyond_first =
            matches!(step.arg("taken"), Some(Arg::Const(Value::Int(branch))) if *branch > 0);
        let can_be_else = step.node == Node::If && is_beyond_first;
        match written.strip_suffix(ELSE).filter(|_| can_be_else) {
            Some(head) => Self { head: head.into(), went_to_else: true },
            None => Self { head: written, went_to_else: false },
        }
    }
}

impl<T: Into<Box<str>>> From<T> for Note {
    fn from(head: T) -> Self {
        Self { head: head.into(), went_to_else: false }
    }
}

impl Arg {
    fn is_left_open(&self) -> bool {
        match self {
            Self::Deferred(_) => true,
            Self::Text(pieces) | Self::Shell(pieces) => pieces.iter().any(|piece| match piece {
                Piece::Text(_) => false,
                Piece::Data { arg, .. } | Piece::Raw(arg) => arg.is_left_open(),
            }),
            Self::Array(items) => items.iter().any(Self::is_left_open),
            Self::Map(fields) => fields.values().any(Self::is_left_open),
            Self::Const(_) | Self::Value(_) | Self::Handle(_) => false,
        }
    }
}

/// A text in the form of a [`Step::reason`]; none where it cannot have it.
fn one_line(text: &str) -> Option<String> {
    let mut line = joined(text);
    if is_cut(&line) {
        line = line.chars().take(MAX_REASON - 1).chain(['…']).collect();
    }
    is_reason(&line).then_some(line)
}

fn joined(text: &str) -> String {
    let lines = text.split(ends_line).map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

fn is_cut(line: &str) -> bool {
    line.chars().nth(MAX_REASON).is_some()
}

pub(crate) fn is_reason(text: &str) -> bool {
    !text.is_empty() && !text.contains(ends_line) && text.chars().nth(MAX_REASON).is_none()
}

fn ends_line(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}
