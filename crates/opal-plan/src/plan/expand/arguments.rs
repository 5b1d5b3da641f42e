//! The arguments of a call of a function: by position, by name, or one an element of a list.

use opal_core::message::counted;
use opal_core::parameter::{BindError, Binding, Parameter};
use opal_core::plan::Step;
use opal_core::{Code, Diagnostic, Span};

use super::steered;
use crate::check::repeated;
use crate::plan::datum::Plain;
use crate::plan::demand::Stop;
use crate::plan::graph::{Cell, diagnostic};
use crate::plan::operate;
use crate::plan::planner::Planner;
use crate::plan::scoped::{CallArg, Function, Param};

/// What one parameter is given, and where that is written.
pub(super) struct Given {
    pub(super) at: usize,
    pub(super) cell: Cell,
    pub(super) span: Span,
}

impl Planner<'_> {
    pub(super) fn given(
        &mut self,
        function: &Function,
        args: &[CallArg],
        step: &mut Step,
    ) -> Result<Vec<Given>, Stop> {
        let mut given = Vec::new();
        let mut binding = Binding::new(&function.params);
        for arg in args {
            let span = arg.value.span;
            let cell = self.eval(&arg.value);
            let cells = match arg.param {
                Some(index) => {
                    let at = binding.at(index, span);
                    let at = at.map_err(|error| self.unbound(function, error, span))?;
                    given.push(Given { at, cell, span });
                    continue;
                }
                None if arg.is_spread => self.spread(cell, span, step, || {
                    // Of a list that is not known, every parameter left gets a part.
                    binding.next().map_or(1, |next| function.params.len() - next)
                })?,
                None => vec![cell],
            };
            for cell in cells {
                let at = binding.by_position(span);
                let at = at.map_err(|error| self.unbound(function, error, span))?;
                given.push(Given { at, cell, span });
            }
        }
        Ok(given)
    }

    /// The elements of a list, each an argument of its own.
    fn spread(
        &mut self,
        cell: Cell,
        span: Span,
        step: &mut Step,
        unknown: impl FnOnce() -> usize,
    ) -> Result<Vec<Cell>, Stop> {
        let list = self.decide(&cell, span)?;
        if !matches!(list.plain, Plain::Array(_)) {
            let refused = operate::refuse_handles(&[&list]);
            refused.map_err(|error| self.stop(diagnostic(error, span)))?;
        }
        // How many there are is known only with the list.
        if list.taint.is_some() {
            steered("spread", std::slice::from_ref(&list), step);
        }
        if matches!(list.plain, Plain::Open(_)) {
            return Ok(vec![cell; unknown()]);
        }
        let elements = operate::elements(&list);
        let elements = elements.map_err(|error| self.stop(diagnostic(error, span)))?;
        Ok(elements.into_iter().map(Cell::Known).collect())
    }

    fn unbound(&mut self, function: &Function, error: BindError<Span>, span: Span) -> Stop {
        let error = match error {
            BindError::Repeated { index, first } => {
                repeated(&function.params[index].name, span, first)
            }
            BindError::TooMany | BindError::Unknown => {
                let expected = counted(function.params.len(), "argument");
                let message = format!("`{}` expects {expected}, got more", function.name);
                let help = "pass fewer elements, or let a last parameter `name...` take the rest";
                Diagnostic::new(Code::TooManyArguments, span, message).help(help)
            }
        };
        self.stop(error)
    }
}

impl Parameter for Param {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_required(&self) -> bool {
        self.default.is_none()
    }

    fn is_rest(&self) -> bool {
        self.rest
    }
}
