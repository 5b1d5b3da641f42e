//! `for` and `while`, unrolled.

use std::rc::Rc;

use opal_core::plan::{Arg, Node, Step};
use opal_core::{Code, Diagnostic, Span, Value};

use super::control::unplanned;
use super::steered;
use crate::plan::datum::{Datum, Open, Plain, inherit};
use crate::plan::demand::Stop;
use crate::plan::graph::{Cell, Op};
use crate::plan::place::Place;
use crate::plan::planner::Planner;
use crate::plan::scoped::{Block, Expr, Slot};

/// Times that a `while` may go round.
const MAX_ROUNDS: i64 = 10_000;

impl<'a> Planner<'a> {
    #[expect(clippy::too_many_arguments, reason = "the parts of a `for`, and where it is")]
    pub(super) fn r#for(
        &mut self,
        slots: &[Slot],
        name: &Rc<str>,
        over: &Expr,
        body: &'a Block,
        span: Span,
        place: &mut Place,
        out: &mut Vec<Step>,
    ) -> Result<(), Stop> {
        let mut step = self.node(Node::For, place.next("for"), span)?;
        // Brackets around the list belong to it, and its place leaves them out.
        let following = self.slice(Span::new(over.span.end, span.end.max(over.span.end)));
        let brackets = following.and_then(|text| text.find('{')).unwrap_or(0) as u32;
        let head = self.note(Span::new(span.start, over.span.end + brackets));
        step.note = head.map(|head| head.trim_end().into());
        let cell = self.eval(over);
        let value = self.decide(&cell, over.span)?;
        let items = match &value.plain {
            Plain::Open(_) => {
                steered("over", std::slice::from_ref(&value), &mut step);
                return self.open_loop(step, name, slots, body, &value, out);
            }
            _ => self.items(&cell, &value, slots.len(), over.span)?,
        };
        // What the items are counts where they are used; that there are so many counts here.
        if value.taint.is_some() {
            steered("over", std::slice::from_ref(&value), &mut step);
        }
        step.args.push(("count".into(), Arg::Const(Value::Int(items.len() as i64))));
        step.sort_args();
        for item in items {
            let path = place.next(name.to_string());
            let mut round = self.node(Node::Iteration, path, span)?;
            for (slot, (arg, cell)) in slots.iter().zip(item) {
                if let Cell::Known(datum) = &cell
                    && let Some(value) = datum.to_value()
                {
                    self.hold(datum.size(), span)?;
                    round.args.push((arg.into(), Arg::Const(value)));
                }
                self.set(*slot, cell);
            }
            round.sort_args();
            let mut inner = Place::new(&*round.path);
            self.block(body, &mut inner, &mut round.block)?;
            step.block.push(round);
        }
        out.push(step);
        Ok(())
    }

    /// What each round gives to the loop's variables.
    fn items(
        &mut self,
        cell: &Cell,
        value: &Datum,
        names: usize,
        span: Span,
    ) -> Result<Vec<Vec<(&'static str, Cell)>>, Stop> {
        let part = |this: &mut Self, key: Datum, item: &Datum| {
            // An item that is known and stands for itself needs no node.
            if value.taint.is_none() && item.open().is_none() {
                return Cell::Known(item.clone().within(value));
            }
            this.graph.add(Op::Index, vec![cell.clone(), Cell::Known(key)], span)
        };
        match &value.plain {
            Plain::Array(list) if names == 1 => {
                let items = list.items.iter().enumerate().map(|(index, item)| {
                    let at = Datum::constant(Plain::Int(index as i64));
                    vec![("value", part(self, at, item))]
                });
                Ok(items.collect())
            }
            Plain::Map(fields) if names == 2 => {
                let items = fields.items.iter().enumerate().map(|(index, (key, item))| {
                    // The keys of a map from the world are from there too.
                    let symbol = || format!("{}.keys[{index}]", value.symbol());
                    let taint = value.taint.as_ref().and_then(|_| inherit(&[value], symbol));
                    let name = Datum::new(Datum::text(&**key).plain, taint).within(value);
                    vec![("key", Cell::Known(name.clone())), ("value", part(self, name, item))]
                });
                Ok(items.collect())
            }
            plain => {
                let (message, help) = match plain {
                    Plain::Array(_) => {
                        ("an Array has no keys".into(), "write `for ITEM in LIST { … }`")
                    }
                    Plain::Map(_) => {
                        ("a Map has keys and values".into(), "write `for KEY, VALUE in MAP { … }`")
                    }
                    _ => (
                        format!("{} has no elements", value.type_of().with_article()),
                        "loop over an Array, a Map or a range; split text first: `lines(text)`",
                    ),
                };
                Err(self.stop(Diagnostic::new(Code::NotIterable, span, message).help(help)))
            }
        }
    }

    /// A loop that a quick plan cannot count: its body once.
    fn open_loop(
        &mut self,
        mut step: Step,
        name: &str,
        slots: &[Slot],
        body: &'a Block,
        over: &Datum,
        out: &mut Vec<Step>,
    ) -> Result<(), Stop> {
        self.leave_undecided(&mut step, over);
        let mut place = Place::new(&*step.path);
        let mut round = self.node(Node::Iteration, place.next(name.to_owned()), step.span)?;
        let symbol = || format!("{}[…]", over.symbol());
        let taint = inherit(&[over], symbol);
        let (changed, problem) = self.perhaps(|this| {
            for slot in slots {
                let open = Plain::Open(Open::Deferred);
                this.set(*slot, Cell::Known(Datum::new(open, taint.clone())));
            }
            this.with_dependencies(&round.path, &mut round.block, |this, place, out| {
                this.block(body, place, out)
            })
        })?;
        unplanned(&mut round, problem);
        self.open_slots(changed, over);
        step.block.push(round);
        out.push(step);
        Ok(())
    }

    pub(super) fn r#while(
        &mut self,
        condition: &Expr,
        body: &'a Block,
        span: Span,
        place: &mut Place,
        out: &mut Vec<Step>,
    ) -> Result<(), Stop> {
        let mut step = self.node(Node::While, place.next("while"), span)?;
        step.note = self.note(condition.span).map(|text| format!("while {text}").into());
        let mut inner = Place::new(&*step.path);
        let mut rounds = 0;
        let mut by = Vec::new();
        loop {
            let value = self.condition(condition)?;
            match value.plain {
                Plain::Bool(true) => {}
                Plain::Bool(false) => {
                    note_way(&mut by, value);
                    break;
                }
                _ => {
                    steered("condition", std::slice::from_ref(&value), &mut step);
                    return self.open_loop(step, "iteration", &[], body, &value, out);
                }
            }
            note_way(&mut by, value);
            if rounds == MAX_ROUNDS {
                let message = "this `while` did not terminate after 10,000 iterations";
                return Err(self.stop(
                    Diagnostic::new(Code::EndlessLoop, condition.span, message)
                        .help("inside the loop, change a variable that its condition reads"),
                ));
            }
            rounds += 1;
            let mut round = self.node(Node::Iteration, inner.next("iteration"), span)?;
            let mut within = Place::new(&*round.path);
            self.block(body, &mut within, &mut round.block)?;
            step.block.push(round);
        }
        step.args.push(("count".into(), Arg::Const(Value::Int(rounds))));
        steered("condition", &by, &mut step);
        out.push(step);
        Ok(())
    }
}

/// Each way of steering once, however often the loop goes round.
fn note_way(by: &mut Vec<Datum>, value: Datum) {
    const MOST: usize = 8;
    let known = |one: &Datum| one.symbol() == value.symbol();
    if value.is_tainted() && by.len() < MOST && !by.iter().any(known) {
        by.push(value);
    }
}
