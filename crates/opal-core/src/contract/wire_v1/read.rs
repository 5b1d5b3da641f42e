//! Steps, read back.

pub(in crate::contract) mod parts;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use self::parts::{duration, filled, fit, float, items, known_name, push, text};
use crate::context::{Context, Place};
use crate::contract::json::read::{MAX_NESTING, Read, Reader};
use crate::contract::weight;
use crate::crossing::member_key;
use crate::gather::Gather as _;
use crate::hash::Digest;
use crate::plan::{
    Arg, Binding, Handle, Key, MAX_STEPS, Node, Part, Piece, Redirect, RedirectOperator,
    RedirectTarget, Step,
};
use crate::text::Span;
use crate::value::Value;

/// Reads steps that refer to the values of a file.
#[derive(Debug)]
pub(in crate::contract) struct StepReader {
    /// The values of VALUES in the order of their keys.
    pub(in crate::contract) known: Vec<KnownValue>,
    /// The targets of the block around: in a fleet there are values of each of them.
    members: Vec<String>,
    count: usize,
    level: usize,
}

/// A value of VALUES, and what the steps say about it.
#[derive(Debug)]
pub(in crate::contract) struct KnownValue {
    key: Key,
    is_used: bool,
    pub(in crate::contract) schema: Option<Digest>,
}

impl StepReader {
    pub(in crate::contract) fn new(keys: impl Iterator<Item = Key>) -> Self {
        let known = keys.map(|key| KnownValue { key, is_used: false, schema: None });
        Self { known: known.collect(), members: Vec::new(), count: 0, level: 0 }
    }

    pub(in crate::contract) fn step(&mut self, r: &mut Reader<'_>) -> Read<Step> {
        let depth = std::mem::take(&mut r.depth);
        self.level += 1;
        if self.level > MAX_NESTING {
            return r.fault(format!("more than {MAX_NESTING} levels of steps"));
        }
        self.count += 1;
        if self.count > MAX_STEPS {
            return r.fault(format!("more than {MAX_STEPS} steps"));
        }
        r.charge(weight::STEP)?;
        let mut step = Step::new(Node::Block, "", Span::at(0));
        let (mut decorated, mut placed) = (false, false);
        r.object(|r, key| {
            match key {
                "args" => step.args = self.args(r)?,
                "block" => {
                    let around = self.members.clone();
                    // A fleet is inside of no other target; its variants are for some of its own.
                    if around.is_empty() || step.is_for_some_targets() {
                        self.members = step.targets().map(str::to_owned).collect();
                    }
                    step.block = filled(r, |r| self.step(r))?;
                    self.members = around;
                }
                "decorator" => {
                    step.node = Self::node(r)?;
                    decorated = true;
                }
                "let" => step.binding = Some(Box::new(self.binding(r)?)),
                "path" => {
                    step.path = text(r)?.into();
                    placed = true;
                }
                "redirects" => step.redirects = filled(r, |r| self.redirect(r))?,
                "schema" => step.schema = Some(r.digest()?),
                _ => r.unknown(key)?,
            }
            Ok(())
        })?;
        if !decorated || !placed {
            return r.fault("a step needs a `decorator` and a `path`");
        }
        if step.has_unknown_operators() {
            return r.fault("a chain with unknown operators");
        }
        self.level -= 1;
        r.depth = depth;
        Ok(step)
    }

    fn node(r: &mut Reader<'_>) -> Read<Node> {
        let name = r.string()?;
        r.charge(name.len())?;
        match Node::named(&name) {
            Some(node) => Ok(node),
            None => r.fault("a step with an unknown construct"),
        }
    }

    fn args(&mut self, r: &mut Reader<'_>) -> Read<Vec<(Cow<'static, str>, Arg)>> {
        let mut args = Vec::new();
        r.object(|r, key| {
            r.charge(weight::ARG + key.len())?;
            let arg = self.arg(r)?;
            push(&mut args, (known_name(key), arg));
            Ok(())
        })?;
        if args.is_empty() {
            return r.fault("an empty `args` must be omitted");
        }
        fit(&mut args);
        Ok(args)
    }

    fn arg(&mut self, r: &mut Reader<'_>) -> Read<Arg> {
        Ok(match r.peek() {
            Some(b'{') => return self.tagged(r),
            Some(b'[') => {
                let items = items(r, |r| self.arg(r))?;
                if items.iter().all(|item| matches!(item, Arg::Const(_))) {
                    Arg::Const(Value::Array(items.into_iter().filter_map(constant).collect()))
                } else {
                    Arg::Array(items)
                }
            }
            Some(b'"') => Arg::Const(Value::String(Cow::Owned(text(r)?))),
            Some(b'n') => {
                r.null()?;
                Arg::Const(Value::Null)
            }
            Some(b't' | b'f') => Arg::Const(Value::Bool(r.bool()?)),
            _ => Arg::Const(Value::Int(r.int()?)),
        })
    }

    /// An object with one member that says its kind; some kinds have more.
    fn tagged<'t>(&mut self, r: &mut Reader<'t>) -> Read<Arg> {
        let mut found: Option<Arg> = None;
        let mut handle = Named::default();
        let (mut value, mut schema): (Option<Cow<'t, str>>, _) = (None, None);
        r.object(|r, key| {
            let arg = match key {
                "access" | "let" | "name" => return handle.member(r, key, "let"),
                "schema" => {
                    schema = Some(r.digest()?);
                    return Ok(());
                }
                "value" => {
                    value = Some(r.string()?);
                    return Ok(());
                }
                "duration" => Arg::Const(Value::Duration(duration(r)?)),
                "float" => Arg::Const(Value::Float(float(r)?)),
                "map" => self.map(r)?,
                "shell" => Arg::Shell(self.pieces(r)?),
                "text" => Arg::Text(self.pieces(r)?),
                "deferred" => return r.fault("unresolved value in a contract"),
                _ => return r.unknown(key),
            };
            match found.replace(arg) {
                None => Ok(()),
                Some(_) => r.fault("an argument has two kinds"),
            }
        })?;
        match (found, value, handle) {
            (Some(arg), None, Named { id: None, name: None, access: None }) if schema.is_none() => {
                Ok(arg)
            }
            (None, Some(key), Named { id: None, name: None, access: None }) => {
                self.reference(r, &key, schema)
            }
            (None, None, Named { id: Some(id), name: Some(name), access }) if schema.is_none() => {
                let access = access.unwrap_or_default();
                Ok(Arg::Handle(Handle { id, name, access }))
            }
            _ => r.fault("invalid argument"),
        }
    }

    fn reference(&mut self, r: &Reader<'_>, key: &str, schema: Option<Digest>) -> Read<Arg> {
        if let Some(key) = self.used(r, key, schema)? {
            return Ok(Arg::Value(key));
        }
        // A value of each target of the block around it.
        let members = std::mem::take(&mut self.members);
        let mut is_of_all = !members.is_empty();
        for member in &members {
            is_of_all &= self.used(r, &member_key(member, key), schema)?.is_some();
        }
        self.members = members;
        match is_of_all {
            true => Ok(Arg::Value(key.into())),
            false => r.fault(format!("`{key}` is not in VALUES")),
        }
    }

    /// Notes that a value is used; none where there is no such value.
    fn used(&mut self, r: &Reader<'_>, key: &str, schema: Option<Digest>) -> Read<Option<Key>> {
        let Ok(index) = self.known.binary_search_by(|it| (*it.key).cmp(key)) else {
            return Ok(None);
        };
        let known = &mut self.known[index];
        if known.is_used && known.schema != schema {
            return r.fault(format!("`{key}` has two schemas"));
        }
        (known.is_used, known.schema) = (true, schema);
        Ok(Some(Arc::clone(&known.key)))
    }

    fn map(&mut self, r: &mut Reader<'_>) -> Read<Arg> {
        r.charge(weight::MAP)?;
        let mut fields: BTreeMap<String, Arg> = BTreeMap::new();
        r.object(|r, key| {
            r.charge(2 * weight::ITEM + key.len())?;
            let field = self.arg(r)?;
            fields.insert(key.to_owned(), field);
            Ok(())
        })?;
        if fields.values().all(|field| matches!(field, Arg::Const(_))) {
            let constants =
                fields.into_iter().filter_map(|(key, field)| Some((key, constant(field)?)));
            return Ok(Arg::Const(Value::Map(constants.gathered())));
        }
        Ok(Arg::Map(fields))
    }

    fn pieces(&mut self, r: &mut Reader<'_>) -> Read<Vec<Piece>> {
        items(r, |r| {
            if r.peek() == Some(b'"') {
                return Ok(Piece::Text(text(r)?.into()));
            }
            let mut piece = None;
            r.object(|r, key| {
                let found = match key {
                    // The place is in no file. Views tell it from the text around, and a plan that
                    // was read is never executed.
                    "data" => Piece::Data { arg: self.arg(r)?, place: Context::new(Place::Word) },
                    "raw" => Piece::Raw(self.arg(r)?),
                    _ => return r.unknown(key),
                };
                match piece.replace(found) {
                    None => Ok(()),
                    Some(_) => r.fault("a piece has two kinds"),
                }
            })?;
            piece.map_or_else(|| r.fault("a piece must be text, `data` or `raw`"), Ok)
        })
    }

    fn binding(&mut self, r: &mut Reader<'_>) -> Read<Binding> {
        r.charge(weight::ARG)?;
        let mut named = Named::default();
        r.object(|r, key| named.member(r, key, "id"))?;
        match named {
            Named { id: Some(id), name: Some(name), access } => {
                Ok(Binding { id, name, access: access.unwrap_or_default() })
            }
            _ => r.fault("a `let` needs an `id` and a `name`"),
        }
    }

    fn redirect(&mut self, r: &mut Reader<'_>) -> Read<Redirect> {
        r.charge(weight::ARG)?;
        let (mut operator, mut target) = (None, None);
        r.object(|r, key| {
            let found = match key {
                "operator" => {
                    let text = text(r)?;
                    let read = RedirectOperator::parse(&text);
                    // One spelling each: the bytes are what is hashed.
                    match read.filter(|operator| operator.to_string() == text) {
                        Some(read) => operator = Some(read),
                        None => return r.fault("a redirection with an unknown operator"),
                    }
                    return Ok(());
                }
                "shell" => RedirectTarget::Shell(self.pieces(r)?),
                "step" => RedirectTarget::Step(Box::new(self.step(r)?)),
                _ => return r.unknown(key),
            };
            match target.replace(found) {
                None => Ok(()),
                Some(_) => r.fault("a redirection has two targets"),
            }
        })?;
        match (operator, target) {
            (Some(operator), Some(target)) => Ok(Redirect { operator, target }),
            _ => r.fault("a redirection needs an `operator` and a target"),
        }
    }
}

/// A handle or a binding: an id, a name, and what is taken of the value.
#[derive(Default)]
struct Named {
    id: Option<Arc<str>>,
    name: Option<Arc<str>>,
    access: Option<Vec<Part>>,
}

impl Named {
    fn member(&mut self, r: &mut Reader<'_>, key: &str, id: &str) -> Read<()> {
        match key {
            _ if key == id => self.id = Some(text(r)?.into()),
            "name" => self.name = Some(text(r)?.into()),
            "access" => {
                let parts = filled(r, |r| {
                    r.charge(weight::ITEM)?;
                    Ok(match r.peek() {
                        Some(b'"') => Part::Field(text(r)?.into()),
                        Some(b'n') => {
                            r.null()?;
                            Part::All
                        }
                        _ => Part::Index(r.int()?),
                    })
                })?;
                self.access = Some(parts);
            }
            _ => return r.unknown(key),
        }
        Ok(())
    }
}

/// A constant as it is written everywhere.
pub(in crate::contract) fn value(r: &mut Reader<'_>) -> Read<Value> {
    match StepReader::new(std::iter::empty()).arg(r)? {
        Arg::Const(value) => Ok(value),
        _ => r.fault("expected a constant"),
    }
}

fn constant(arg: Arg) -> Option<Value> {
    match arg {
        Arg::Const(value) => Some(value),
        _ => None,
    }
}
