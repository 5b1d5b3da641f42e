//! Values while a plan is made, each with where it came from.
//!
//! What is computed from values inherits from all of them: the keys it depends on, the strongest
//! class, whether it is random. A constant has no taint.

mod convert;
mod parts;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use opal_core::hash::{Algorithm, Digest};
use opal_core::plan::{Handle, Key};
use opal_core::types::TypeRef;
use opal_core::{Class, Duration, Secret, Type, Value};

pub(crate) use parts::Parts;

#[derive(Clone)]
pub(crate) struct Datum {
    pub(crate) plain: Plain,
    pub(crate) taint: Option<Rc<Taint>>,
    /// The command line gave it, or something that it was computed from.
    given: bool,
}

#[derive(Clone)]
pub(crate) enum Plain {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Secret),
    Duration(Duration),
    Array(Rc<List>),
    Map(Rc<Fields>),
    /// What a step will give.
    Handle(Rc<Handle>),
    /// Text that holds handles, as a row of scalars.
    Joined(Rc<List>),
    Open(Open),
}

/// Why there is no value yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Open {
    /// Random: known when the plan's structure is.
    Late,
    /// Left out of a quick plan.
    Deferred,
}

pub(crate) struct List {
    pub(crate) items: Vec<Datum>,
    shape: Shape,
}

pub(crate) struct Fields {
    pub(crate) items: BTreeMap<Rc<str>, Datum>,
    shape: Shape,
}

/// What a collection is made of, known without walking it.
#[derive(Clone, Copy, Default)]
struct Shape {
    /// Values in it, at all depths.
    weight: usize,
    /// Of their texts.
    bytes: usize,
    depth: u32,
    open: Option<Open>,
    tainted: bool,
    given: bool,
    /// Something in it is known only when a step has run.
    runtime: bool,
}

/// Where a value came from.
#[derive(Clone, Debug)]
pub(crate) struct Taint {
    pub(crate) key: Key,
    pub(crate) roots: Rc<BTreeSet<Key>>,
    pub(crate) class: Class,
    /// The generators it depends on: indices of nodes.
    pub(crate) randoms: Rc<BTreeSet<u32>>,
    /// It may begin a word with `-`.
    pub(crate) dash: bool,
    /// How it begins is drawn.
    pub(crate) drawn: bool,
    /// What is drawn can begin with `-`.
    pub(crate) draws_dash: bool,
    /// What a text was put together of, where that is known.
    pub(crate) join: Option<Rc<[Joint]>>,
    /// Why a quick plan does not read it.
    pub(crate) why: &'static str,
    pub(crate) schema: Option<Digest>,
    /// The member of a fleet that it is of: its key in the plan is the same for all of them.
    pub(crate) member: Option<Rc<str>>,
    /// The machine that it was read on; none where that is opal's, or one of several.
    pub(crate) target: Option<Rc<str>>,
    /// Of a result, or a part of one, whose schema says which of its parts are secret.
    pub(crate) parts: Option<Parts>,
}

/// A part of a text that was put together.
#[derive(Clone, Debug)]
pub(crate) enum Joint {
    /// People who watch a run may see it.
    Clear(Secret),
    /// A secret.
    Hidden(Datum),
}

/// So many parts of a text are known; one of more is hidden as a whole.
const MAX_JOINTS: usize = 64;

/// The parts of a text that is put together of `parts`; nothing where one is not known yet.
pub(crate) fn joints(parts: &[&Datum]) -> Option<Rc<[Joint]>> {
    let mut joints = Vec::with_capacity(parts.len());
    for part in parts {
        match &part.taint {
            Some(taint) if taint.class.is_secret() => match &taint.join {
                Some(inner) => joints.extend(inner.iter().cloned()),
                None => joints.push(Joint::Hidden((*part).clone())),
            },
            _ => {
                let text = opal_core::placeholder::scalar_text(&part.to_data()?);
                joints.push(Joint::Clear(Secret::new(text.as_str())));
            }
        }
        if joints.len() > MAX_JOINTS {
            return None;
        }
    }
    Some(joints.into())
}

/// Values that one collection may hold, and levels.
pub(crate) const MAX_ITEMS: usize = 1_000_000;
const MAX_DEPTH: u32 = 64;
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// A collection that is too large or too deep.
#[derive(Debug)]
pub(crate) struct TooLarge;

impl Shape {
    fn of<'d>(items: impl Iterator<Item = &'d Datum>) -> Result<Self, TooLarge> {
        let mut shape = Self { weight: 1, depth: 1, ..Self::default() };
        for item in items {
            let inner = item.shape();
            shape.weight = shape.weight.saturating_add(inner.weight);
            shape.bytes = shape.bytes.saturating_add(inner.bytes);
            shape.depth = shape.depth.max(inner.depth + 1);
            shape.open = shape.open.max(inner.open);
            shape.tainted |= inner.tainted;
            shape.given |= inner.given;
            shape.runtime |= inner.runtime;
        }
        // The collection itself is one more.
        let small = shape.weight <= MAX_ITEMS + 1 && shape.bytes <= MAX_BYTES;
        if small && shape.depth <= MAX_DEPTH { Ok(shape) } else { Err(TooLarge) }
    }
}

impl Datum {
    pub(crate) fn constant(plain: Plain) -> Self {
        Self::new(plain, None)
    }

    pub(crate) fn new(plain: Plain, taint: Option<Rc<Taint>>) -> Self {
        Self { plain, taint, given: false }
    }

    /// The same, given if one of `operands` is.
    pub(crate) fn given_by(self, operands: &[&Self]) -> Self {
        Self { given: self.given || operands.iter().any(|operand| operand.is_given()), ..self }
    }

    /// As a part of `whole`.
    pub(crate) fn within(self, whole: &Self) -> Self {
        Self { given: self.given || whole.given, ..self }
    }

    /// Whether something in it was given on the command line.
    pub(crate) fn is_given(&self) -> bool {
        self.shape().given
    }

    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::constant(Plain::Text(Secret::new(text)))
    }

    pub(crate) fn array(items: Vec<Self>) -> Result<Plain, TooLarge> {
        let shape = Shape::of(items.iter())?;
        Ok(Plain::Array(Rc::new(List { items, shape })))
    }

    /// Text of these parts, of which one holds a handle.
    pub(crate) fn joined(parts: Vec<Self>) -> Result<Plain, TooLarge> {
        let shape = Shape::of(parts.iter())?;
        Ok(Plain::Joined(Rc::new(List { items: parts, shape })))
    }

    pub(crate) fn map(items: BTreeMap<Rc<str>, Self>) -> Result<Plain, TooLarge> {
        let shape = Shape::of(items.values())?;
        Ok(Plain::Map(Rc::new(Fields { items, shape })))
    }

    fn shape(&self) -> Shape {
        let mut shape = match &self.plain {
            Plain::Array(list) | Plain::Joined(list) => list.shape,
            Plain::Map(fields) => fields.shape,
            Plain::Text(text) => {
                Shape { weight: 1, bytes: text.expose().len(), ..Shape::default() }
            }
            Plain::Handle(_) => Shape { weight: 1, runtime: true, ..Shape::default() },
            Plain::Open(open) => Shape { weight: 1, open: Some(*open), ..Shape::default() },
            _ => Shape { weight: 1, ..Shape::default() },
        };
        shape.tainted |= self.taint.is_some();
        shape.given |= self.given;
        shape
    }

    /// How much it takes to copy it, roughly, in 16 bytes: a value is four of them, and its text.
    pub(crate) fn size(&self) -> usize {
        let shape = self.shape();
        4 * shape.weight + shape.bytes / 16
    }

    /// Whether something in it is not known yet.
    pub(crate) fn open(&self) -> Option<Open> {
        self.shape().open
    }

    /// Whether anything in it came from the world.
    pub(crate) fn is_tainted(&self) -> bool {
        self.shape().tainted
    }

    /// Whether something in it is known only when a step has run.
    pub(crate) fn is_runtime(&self) -> bool {
        self.shape().runtime
    }

    pub(crate) fn type_of(&self) -> Type {
        match &self.plain {
            Plain::Null => Type::Null,
            Plain::Bool(_) => Type::Bool,
            Plain::Int(_) => Type::Int,
            Plain::Float(_) => Type::Float,
            Plain::Text(_) | Plain::Joined(_) => Type::String,
            Plain::Duration(_) => Type::Duration,
            Plain::Array(_) => Type::Array(TypeRef::Static(&Type::Any)),
            Plain::Map(_) => Type::Map(TypeRef::Static(&Type::Any)),
            Plain::Handle(_) | Plain::Open(_) => Type::Any,
        }
    }

    /// How messages and keys name it: a constant as the language writes it, anything else by
    /// what it was read from. Never its content.
    pub(crate) fn symbol(&self) -> String {
        if let Some(taint) = &self.taint {
            return taint.key.to_string();
        }
        match &self.plain {
            Plain::Array(list) if list.shape.tainted || list.shape.runtime => {
                let items: Vec<String> = list.items.iter().map(Self::symbol).collect();
                format!("[{}]", items.join(", "))
            }
            Plain::Map(fields) if fields.shape.tainted || fields.shape.runtime => {
                let items = fields.items.iter();
                let items: Vec<String> = items
                    .map(|(key, item)| {
                        format!("{}: {}", Value::String(key.to_string().into()), item.symbol())
                    })
                    .collect();
                format!("{{{}}}", items.join(", "))
            }
            Plain::Handle(handle) => format!("let.{}", handle.name),
            _ => self.to_value().map_or_else(|| "…".into(), |value| value.to_string()),
        }
    }
}

/// A key that would be longer than this ends in a digest of itself instead, so that values computed from
/// values computed from values keep short keys.
const MAX_KEY_BYTES: usize = 240;

pub(crate) fn key(symbol: String) -> Key {
    if symbol.len() <= MAX_KEY_BYTES {
        return symbol.into();
    }
    let digest = Algorithm::Sha256.digest(&[b"opal key v1\n", symbol.as_bytes()]);
    let start = symbol.floor_char_boundary(MAX_KEY_BYTES / 2);
    format!("{}…{}", &symbol[..start], &digest.hex()[..32]).into()
}

/// What depends on `operands` and is known as `symbol`; none where all of them are constants.
pub(crate) fn inherit(operands: &[&Datum], symbol: impl FnOnce() -> String) -> Option<Rc<Taint>> {
    let mut taints = Vec::new();
    operands.iter().for_each(|operand| collect(operand, &mut taints));
    let first = taints.first()?;
    let mut roots = Rc::clone(&first.roots);
    let mut randoms = Rc::clone(&first.randoms);
    for taint in &taints[1..] {
        if !taint.roots.is_subset(&roots) {
            Rc::make_mut(&mut roots).extend(taint.roots.iter().cloned());
        }
        if !taint.randoms.is_subset(&randoms) {
            Rc::make_mut(&mut randoms).extend(taint.randoms.iter().copied());
        }
    }
    Some(Rc::new(Taint {
        key: key(symbol()),
        roots,
        class: taints.iter().map(|taint| taint.class).max().unwrap_or(Class::Public),
        randoms,
        dash: false,
        // A constant among them may begin the text as well: then it is judged when it is known.
        drawn: operands.iter().all(|it| it.taint.as_ref().is_some_and(|taint| taint.drawn)),
        draws_dash: taints.iter().any(|taint| taint.draws_dash),
        join: None,
        why: taints.iter().map(|taint| taint.why).find(|why| !why.is_empty()).unwrap_or(""),
        schema: taints.iter().find_map(|taint| taint.schema),
        member: taints.iter().find_map(|taint| taint.member.clone()),
        target: common_target(&taints),
        parts: None,
    }))
}

/// The machine that all secrets among them were read on.
fn common_target(taints: &[Rc<Taint>]) -> Option<Rc<str>> {
    let mut secrets = taints.iter().filter(|taint| taint.class.is_secret());
    let first = secrets.next()?.target.clone()?;
    secrets.all(|taint| taint.target.as_ref() == Some(&first)).then_some(first)
}

/// Says how a text begins that was put together of `parts`: as the first of them that is not empty,
/// whatever is drawn after it.
pub(crate) fn begin_as(whole: &mut Datum, parts: &[&Datum]) {
    let is_empty = |part: &Datum| matches!(&part.plain, Plain::Text(it) if it.expose().is_empty());
    let first = parts.iter().find(|part| !is_empty(part)).and_then(|part| part.taint.as_ref());
    if let Some(taint) = whole.taint.as_mut().map(Rc::make_mut) {
        taint.drawn = first.is_some_and(|first| first.drawn);
        taint.draws_dash = first.is_some_and(|first| first.draws_dash);
    }
}

/// Every taint of a value and of what it holds.
pub(crate) fn collect(datum: &Datum, into: &mut Vec<Rc<Taint>>) {
    if let Some(taint) = &datum.taint {
        into.push(Rc::clone(taint));
        return;
    }
    match &datum.plain {
        Plain::Array(list) if list.shape.tainted => {
            list.items.iter().for_each(|item| collect(item, into));
        }
        Plain::Map(fields) if fields.shape.tainted => {
            fields.items.values().for_each(|item| collect(item, into));
        }
        Plain::Joined(list) => list.items.iter().for_each(|part| collect(part, into)),
        _ => {}
    }
}

/// The type and the key; never the content.
impl std::fmt::Debug for Datum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let key = self.taint.as_ref().map_or("constant", |taint| &taint.key);
        write!(f, "{}({key})", self.type_of())
    }
}
