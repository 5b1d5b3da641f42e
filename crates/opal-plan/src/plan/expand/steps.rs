//! Steps: shell text, chains, redirections, arguments.

use std::rc::Rc;

use opal_core::plan::{Arg, ChainOperator, Node, Piece, Redirect, RedirectTarget, Step};
use opal_core::{Code, Diagnostic, Span};

use crate::plan::datum::Plain;
use crate::plan::demand::{Demand, Purpose, Stop, fits};
use crate::plan::graph::Cell;
use crate::plan::place::Place;
use crate::plan::planner::Planner;
use crate::plan::scoped::{self, Expr, ExprKind, Operand, Target, Work};
use crate::plan::settle::plain_arg;

impl<'a> Planner<'a> {
    pub(super) fn step(
        &mut self,
        step: &'a scoped::Step,
        span: Span,
        place: &mut Place,
        out: &mut Vec<Step>,
    ) -> Result<(), Stop> {
        if let [operand] = step.operands.as_slice() {
            out.push(self.operand(operand, place)?);
            return Ok(());
        }
        let mut chain = self.node(Node::Chain, place.next("chain"), span)?;
        let operators = ChainOperator::arg(step.operators.iter().copied());
        chain.args.push(("operators".into(), operators));
        let mut inner = Place::new(&*chain.path);
        for operand in &step.operands {
            let operand = self.operand(operand, &mut inner)?;
            chain.block.push(operand);
        }
        out.push(chain);
        Ok(())
    }

    fn operand(&mut self, operand: &'a Operand, place: &mut Place) -> Result<Step, Stop> {
        let mut step = match &operand.work {
            Work::Call(call) => self.call(call, place)?,
            Work::Shell(pieces) => {
                let mut step = self.node(Node::Shell, place.next("shell"), operand.span)?;
                let pieces = self.pieces(pieces, operand.span)?;
                step.args.push(("command".into(), Arg::Shell(pieces)));
                if let Some(shell) = self.request.registry.get("shell") {
                    self.fill(shell, &mut step);
                }
                step
            }
        };
        let mut inner = Place::new(&*step.path);
        for redirect in &operand.redirects {
            let target = match &redirect.target {
                Target::Call(call) => RedirectTarget::Step(Box::new(self.call(call, &mut inner)?)),
                Target::Shell(pieces) => RedirectTarget::Shell(self.pieces(pieces, operand.span)?),
            };
            step.redirects.push(Redirect { operator: redirect.operator, target });
        }
        Ok(step)
    }

    pub(super) fn pieces(
        &mut self,
        pieces: &[scoped::Piece],
        span: Span,
    ) -> Result<Vec<Piece>, Stop> {
        pieces.iter().map(|piece| self.piece(piece, span)).collect()
    }

    fn piece(&mut self, piece: &scoped::Piece, span: Span) -> Result<Piece, Stop> {
        match piece {
            scoped::Piece::Text(text) => {
                self.hold(1 + text.len() / 16, span)?;
                Ok(Piece::Text((**text).into()))
            }
            scoped::Piece::Data { expr, context, dash } => {
                let purpose = Purpose::Text { context: *context, dash: *dash };
                let arg = self.argument(expr, purpose)?;
                // What a run-time value may begin with is judged when it is there.
                Ok(Piece::Data { arg, place: context.dash(*dash) })
            }
            scoped::Piece::Raw(expr) => Ok(Piece::Raw(self.argument(expr, Purpose::Raw)?)),
        }
    }

    /// A value that a step needs: at once where it is known, an open end where it is not.
    pub(super) fn argument(&mut self, expr: &Expr, purpose: Purpose) -> Result<Arg, Stop> {
        let span = expr.span;
        let holder = match &expr.kind {
            ExprKind::Slot(_, name) => Some(Rc::clone(name)),
            _ => None,
        };
        let cell = self.eval(expr);
        self.needed(cell, purpose, holder, span)
    }

    /// The same of what was evaluated already.
    pub(super) fn needed(
        &mut self,
        cell: Cell,
        purpose: Purpose,
        holder: Option<Rc<str>>,
        span: Span,
    ) -> Result<Arg, Stop> {
        if let Cell::Known(datum) = &cell
            && !datum.is_tainted()
            && datum.open().is_none()
            && !(purpose.is_environment() && (datum.is_given() || datum.is_runtime()))
            && let Some(arg) = plain_arg(datum)
        {
            self.hold(datum.size(), span)?;
            return match fits(&purpose, datum, span) {
                Ok(()) => Ok(arg),
                Err(diagnostic) => Err(self.stop(diagnostic)),
            };
        }
        let perhaps = self.perhaps > 0;
        self.demands.push(Demand { cell, purpose, holder, perhaps, span });
        Ok(Arg::Deferred(self.demands.len() as u32 - 1))
    }

    /// A command that is not a literal: a constant, known now.
    pub(super) fn computed_command(&mut self, expr: &Expr) -> Result<Arg, Stop> {
        let cell = self.eval(expr);
        let datum = self.decide(&cell, expr.span)?;
        let text = match (&datum.plain, datum.is_tainted() || datum.is_given()) {
            (Plain::Text(text), false) => Piece::Text(text.expose().into()),
            _ => {
                let message =
                    format!("`{}` would become code: it is a whole command", datum.symbol());
                return Err(self.stop(
                    Diagnostic::new(Code::ReevaluatedText, expr.span, message)
                        .help("write the value into the command itself: `\"… @var.NAME …\"`")
                        .help("to paste it unprotected, write `@raw(…)`"),
                ));
            }
        };
        Ok(Arg::Shell(vec![text]))
    }
}
