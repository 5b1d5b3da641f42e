//! What is given to a parameter for secrets is a declared secret, and so is what it was read from.

use std::collections::BTreeSet;
use std::rc::Rc;

use opal_core::class::{Ground, HIDDEN_ALONE_FROM};
use opal_core::decorator::Param;
use opal_core::plan::Key;
use opal_core::shape::{Shape, ShapeKind};
use opal_core::{Class, Code, Diagnostic, Span};

use super::call::ShapedValue;
use super::datum::{Datum, Plain, Taint, collect};
use super::demand::{Demand, Purpose};
use super::graph::{Graph, Node, Op};

/// The keys of what was read for secrets.
#[derive(Debug, Default)]
pub(super) struct Declared(BTreeSet<Key>);

impl Declared {
    /// By the arguments of all steps and of all values that were read.
    pub(super) fn of(demands: &[Demand], graph: &Graph) -> Self {
        let mut taints = Vec::new();
        for demand in demands {
            if let (Purpose::Param(param), Some(datum)) =
                (&demand.purpose, graph.known(&demand.cell))
            {
                secrets(param, datum, &mut |part| collect(part, &mut taints));
            }
        }
        for node in &graph.nodes {
            given(node, graph, &mut |part| collect(part, &mut taints));
        }
        // Of a result whose schema marks what is secret, the other parts stay what they are.
        let is_marked = |taint: &Taint| taint.class.is_declared() && taint.parts.is_some();
        let roots = taints.iter().filter(|it| !it.class.is_public() && !is_marked(it));
        let roots = roots.flat_map(|taint| taint.roots.iter().cloned());
        Self(roots.filter(|root| !is_public(root, graph)).collect())
    }

    /// A value as it is to be shown, given all places that it is used at.
    pub(super) fn class(&self, taint: &Rc<Taint>) -> Rc<Taint> {
        let is_secret = |taint: &Taint| taint.roots.iter().any(|root| self.0.contains(root));
        if self.0.is_empty() || taint.class.is_public() || !is_secret(taint) {
            return Rc::clone(taint);
        }
        // The parts that were in clear are not any more.
        let class = Class::Secret(Ground::Declared);
        Rc::new(Taint { class, join: None, parts: None, ..(**taint).clone() })
    }
}

/// One place that calls it public is enough: the value is in clear there.
fn is_public(root: &Key, graph: &Graph) -> bool {
    let read = graph.reads.get(root).and_then(|(_, datum)| datum.taint.as_ref());
    read.is_some_and(|taint| taint.class.is_public())
}

/// What a call that gives a value is given for secrets.
fn given<'g>(node: &'g Node, graph: &'g Graph, take: &mut dyn FnMut(&'g Datum)) {
    let Op::Call(shape) = &node.op else { return };
    for arg in &shape.args {
        if let ShapedValue::Operand(at) = arg.value
            && let Some(datum) = graph.known(&node.operands[at])
        {
            secrets(arg.param, datum, take);
        }
    }
}

/// Refuses a secret that is too short to be found in output; an empty one hides nothing.
pub(super) fn check(param: &Param, datum: &Datum, span: Span) -> Result<(), Diagnostic> {
    let mut short = None;
    let is_short = |part: &Datum| match (&part.plain, &part.taint) {
        (Plain::Text(text), Some(taint)) => {
            let is_short = (1..HIDDEN_ALONE_FROM).contains(&text.characters());
            is_short && !taint.class.is_public()
        }
        _ => false,
    };
    secrets(param, datum, &mut |part| {
        if short.is_none() && is_short(part) {
            short = Some(part.symbol());
        }
    });
    let Some(name) = short else { return Ok(()) };
    let message = format!(
        "`{}` takes a secret, and `{name}` has fewer than {HIDDEN_ALONE_FROM} characters, too few \
         to hide it in output",
        param.name
    );
    Err(Diagnostic::new(Code::ShortSecret, span, message)
        .help("use a longer secret")
        .help("if it is not a secret, read it with `public=true`"))
}

/// The parts of an argument that are secrets because the parameter says so.
fn secrets<'d>(param: &Param, datum: &'d Datum, take: &mut dyn FnMut(&'d Datum)) {
    match param.shape {
        _ if param.secret => take(datum),
        Some(shape) if shape.holds_secret() => within(shape, datum, take),
        _ => {}
    }
}

fn within<'d>(shape: &Shape, datum: &'d Datum, take: &mut dyn FnMut(&'d Datum)) {
    // Of a value that was read as a whole no part has a name of its own.
    if shape.secret || (datum.taint.is_some() && shape.holds_secret()) {
        return take(datum);
    }
    match (&shape.kind, &datum.plain) {
        (ShapeKind::List(element), Plain::Array(list)) => {
            list.items.iter().for_each(|item| within(element, item, take));
        }
        (ShapeKind::Map(element), Plain::Map(fields)) => {
            fields.items.values().for_each(|item| within(element, item, take));
        }
        (ShapeKind::Fields(all), Plain::Map(fields)) => {
            for (name, item) in &fields.items {
                all.iter().filter(|field| *field.name == **name).for_each(|field| {
                    within(&field.shape, item, take);
                });
            }
        }
        (ShapeKind::Union { cases, .. }, Plain::Map(fields)) => {
            for (name, item) in &fields.items {
                let all = cases.iter().flat_map(|(_, fields)| fields.iter());
                all.filter(|field| *field.name == **name).for_each(|field| {
                    within(&field.shape, item, take);
                });
            }
        }
        _ => {}
    }
}
