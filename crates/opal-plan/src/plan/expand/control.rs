//! `if`, `when`, `try`.

use opal_core::plan::{Arg, Node, Note, Step};
use opal_core::{Code, Diagnostic, Span, Value};

use super::steered;
use crate::plan::datum::{Datum, Open, Plain, inherit};
use crate::plan::demand::Stop;
use crate::plan::graph::{Cell, diagnostic};
use crate::plan::operate;
use crate::plan::place::Place;
use crate::plan::planner::Planner;
use crate::plan::scoped::{Arm, Block, Branch, Expr, Pattern, PatternKind, Slot};
use crate::plan::warn::Unmatched;

impl<'a> Planner<'a> {
    pub(super) fn r#if(
        &mut self,
        branches: &'a [Branch],
        span: Span,
        place: &mut Place,
        out: &mut Vec<Step>,
    ) -> Result<(), Stop> {
        let mut step = self.node(Node::If, place.next("if"), span)?;
        let mut by = Vec::new();
        let mut taken = None;
        for (index, branch) in branches.iter().enumerate() {
            let Some(condition) = &branch.condition else {
                taken = Some(index);
                break;
            };
            let value = self.condition(condition)?;
            by.push(value.clone());
            match value.plain {
                Plain::Bool(true) => {
                    taken = Some(index);
                    break;
                }
                Plain::Bool(false) => {}
                _ => {
                    let ways = branches[index..].iter().map(|branch| {
                        let shown = branch.condition.as_ref().and_then(|c| self.slice(c.span));
                        (shown.unwrap_or("else").to_owned(), &branch.body)
                    });
                    let ways = ways.collect();
                    step.note = self.head_of_if(&branches[..=index]);
                    steered("condition", &by, &mut step);
                    return self.undecided(step, "condition", ways, &value, out);
                }
            }
        }
        step.note = self.head_of_if(&branches[..taken.map_or(branches.len(), |index| index + 1)]);
        let shown = taken.map_or(Value::Null, |index| Value::Int(index as i64));
        step.args.push(("taken".into(), Arg::Const(shown)));
        steered("condition", &by, &mut step);
        if let Some(index) = taken {
            let mut inner = Place::new(&*step.path);
            self.block(&branches[index].body, &mut inner, &mut step.block)?;
        }
        out.push(step);
        Ok(())
    }

    /// `if A else if B`: up to the branch that was checked last; `if A else` where it is the last.
    fn head_of_if(&self, branches: &[Branch]) -> Option<Note> {
        let conditions = branches.iter().filter_map(|branch| branch.condition.as_ref());
        let heads = conditions.map(|it| Some(format!("if {}", self.note(it.span)?)));
        let head = heads.collect::<Option<Vec<String>>>()?.join(" else ").trim_end().into();
        let went_to_else = branches.last().is_some_and(|branch| branch.condition.is_none());
        Some(Note { head, went_to_else })
    }

    /// True, false, or open.
    pub(super) fn condition(&mut self, condition: &Expr) -> Result<Datum, Stop> {
        let cell = self.eval(condition);
        let value = self.decide(&cell, condition.span)?;
        if matches!(value.plain, Plain::Bool(_) | Plain::Open(_)) {
            return Ok(value);
        }
        let message = format!(
            "{} is not true or false: `{}`",
            value.type_of().with_article(),
            value.symbol()
        );
        Err(self.stop(
            Diagnostic::new(Code::ConditionNotBool, condition.span, message)
                .help("compare it with `==` or `!=`"),
        ))
    }

    /// All ways that a quick plan cannot choose between; what they assign is open afterwards.
    fn undecided(
        &mut self,
        mut step: Step,
        name: &'static str,
        ways: Vec<(String, &'a Block)>,
        by: &Datum,
        out: &mut Vec<Step>,
    ) -> Result<(), Stop> {
        self.leave_undecided(&mut step, by);
        let mut place = Place::new(&*step.path);
        let mut changed: Vec<Slot> = Vec::new();
        for (shown, body) in ways {
            let mut way = self.node(Node::Branch, place.next("branch"), step.span)?;
            way.args.push((name.into(), Arg::Const(Value::String(shown.into()))));
            let (slots, problem) = self.perhaps(|this| {
                this.with_dependencies(&way.path, &mut way.block, |this, place, out| {
                    this.block(body, place, out)
                })
            })?;
            changed.extend(slots);
            unplanned(&mut way, problem);
            step.block.push(way);
        }
        self.open_slots(changed, by);
        out.push(step);
        Ok(())
    }

    /// Marks a construct that waits for `by`.
    pub(super) fn leave_undecided(&mut self, step: &mut Step, by: &Datum) {
        step.args.push(("undecided".into(), Arg::Const(Value::Bool(true))));
        self.undecided.extend(by.taint.clone());
    }

    /// Variables that depend on what could not be decided.
    pub(super) fn open_slots(&mut self, slots: Vec<Slot>, by: &Datum) {
        let taint = inherit(&[by], || format!("undecided({})", by.symbol()));
        for slot in slots {
            let open = Plain::Open(Open::Deferred);
            self.set(slot, Cell::Known(Datum::new(open, taint.clone())));
        }
    }

    pub(super) fn when(
        &mut self,
        subject: &Expr,
        arms: &'a [Arm],
        span: Span,
        place: &mut Place,
        out: &mut Vec<Step>,
    ) -> Result<(), Stop> {
        let mut step = self.node(Node::When, place.next("when"), span)?;
        step.note = self.note(subject.span).map(|text| format!("when {text}").into());
        let cell = self.eval(subject);
        let value = self.decide(&cell, subject.span)?;
        if let Plain::Open(_) = value.plain {
            steered("subject", std::slice::from_ref(&value), &mut step);
            let ways = arms.iter().map(|arm| (shown(arm), &arm.body)).collect();
            return self.undecided(step, "pattern", ways, &value, out);
        }
        let mut taken = None;
        for arm in arms {
            if arm.patterns.is_empty() {
                taken = Some((arm, "else".to_owned()));
                break;
            }
            for pattern in &arm.patterns {
                if self.matches(pattern, &value)? {
                    taken = Some((arm, shown(arm)));
                    break;
                }
            }
            if taken.is_some() {
                break;
            }
        }
        let arm =
            taken.as_ref().map_or(Value::Null, |(_, shown)| Value::String(shown.clone().into()));
        step.args.push(("arm".into(), Arg::Const(arm)));
        if taken.is_none() && self.perhaps == 0 {
            let arms = arms.iter().map(shown).collect();
            self.unmatched.push(Unmatched { span: subject.span, value: value.clone(), arms });
        }
        steered("subject", &[value], &mut step);
        if let Some((arm, _)) = taken {
            let mut inner = Place::new(&*step.path);
            self.block(&arm.body, &mut inner, &mut step.block)?;
        }
        out.push(step);
        Ok(())
    }

    fn matches(&mut self, pattern: &Pattern, value: &Datum) -> Result<bool, Stop> {
        let fits = match (&pattern.kind, &value.plain) {
            (PatternKind::Regex(regex), Plain::Text(text)) => Ok(regex.is_match(text.expose())),
            (PatternKind::Range(low, high), Plain::Int(value)) => Ok((low..=high).contains(&value)),
            (PatternKind::Range(low, high), Plain::Float(value)) => {
                Ok((*low as f64..=*high as f64).contains(value))
            }
            (_, Plain::Null) => {
                Ok(matches!(&pattern.kind, PatternKind::Value(Datum { plain: Plain::Null, .. })))
            }
            (PatternKind::Value(wanted), _) => operate::same(value, wanted),
            _ => Err(operate::OpError::new(
                Code::OperandTypes,
                format!("{} never matches `{}`", value.type_of().with_article(), pattern.shown),
                "convert the subject, as in `when int(x) { … }`",
            )),
        };
        fits.map_err(|error| self.stop(diagnostic(error, pattern.span)))
    }

    pub(super) fn r#try(
        &mut self,
        body: &'a Block,
        catch: Option<&'a Block>,
        finally: Option<&'a Block>,
        span: Span,
        place: &mut Place,
        out: &mut Vec<Step>,
    ) -> Result<(), Stop> {
        let mut step = self.node(Node::Try, place.next("try"), span)?;
        let mut inner = Place::new(&*step.path);
        self.inside(|this| this.block(body, &mut inner, &mut step.block))?;
        for (node, block) in [(Node::Catch, catch), (Node::Finally, finally)] {
            let Some(block) = block else { continue };
            let path = format!("{}.{node}", step.path).into_boxed_str();
            let mut clause = self.node(node, path, span)?;
            let mut inner = Place::new(&*clause.path);
            self.inside(|this| this.block(block, &mut inner, &mut clause.block))?;
            step.block.push(clause);
        }
        out.push(step);
        Ok(())
    }
}

/// Says why a way could not be planned to its end.
pub(super) fn unplanned(way: &mut Step, problem: Option<String>) {
    if let Some(problem) = problem {
        way.args.push(("unplanned".into(), Arg::Const(Value::String(problem.into()))));
        way.sort_args();
    }
}

fn shown(arm: &Arm) -> String {
    if arm.patterns.is_empty() {
        return "else".into();
    }
    let patterns: Vec<&str> = arm.patterns.iter().map(|pattern| pattern.shown.as_str()).collect();
    patterns.join(" | ")
}
