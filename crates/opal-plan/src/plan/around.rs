//! Blocks whose arguments hold for what is inside them, wherever the calls inside lead.

use std::rc::Rc;

use opal_core::Span;
use opal_core::decorator::{Descriptor, Settings};

use super::graph::{Cell, Op};
use super::planner::Planner;
use super::scoped::{ArgName, ArgValue, BoundArg};

/// A block around what is being expanded.
#[derive(Debug)]
pub(crate) struct Around {
    /// Of its decorator.
    path: &'static str,
    /// Its arguments, as a Map.
    settings: Cell,
    outer: Option<Rc<Around>>,
}

impl Planner<'_> {
    /// From here on such a block is around.
    pub(super) fn surround(&mut self, path: &'static str, args: &[BoundArg], span: Span) {
        let mut names: Vec<Rc<str>> = Vec::new();
        let mut values = Vec::new();
        for arg in args {
            let (ArgName::Param(param), ArgValue::Expr(expr)) = (&arg.param, &arg.value) else {
                continue;
            };
            names.push(param.name.into());
            values.push(self.eval(expr));
        }
        let settings = self.graph.add(Op::Map(names.into()), values, span);
        self.around = Some(Rc::new(Around { path, settings, outer: self.around.take() }));
    }

    /// What the innermost block says that a decorator inherits from.
    pub(super) fn settings_of(&self, descriptor: &Descriptor) -> Option<Cell> {
        let Settings::Inherited(path) = descriptor.settings else { return None };
        let mut next = self.around.as_deref();
        while let Some(around) = next {
            if around.path == path {
                return Some(around.settings.clone());
            }
            next = around.outer.as_deref();
        }
        None
    }
}
