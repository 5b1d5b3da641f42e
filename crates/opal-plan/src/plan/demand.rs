//! Values that steps need, and whether they may be used for that.

use std::rc::Rc;

use opal_core::context::{Context, Place};
use opal_core::decorator::Param;
use opal_core::{Diagnostic, Span, Type};

use super::datum::Datum;
use super::graph::Cell;
use super::{parameters, text};

/// Planning cannot go on; the reason is among the errors.
#[derive(Debug)]
pub(crate) struct Stop;

/// A value that a step needs. Its argument is [`Arg::Deferred`] with its index until it is known.
#[derive(Debug)]
pub(crate) struct Demand {
    pub(crate) cell: Cell,
    pub(crate) purpose: Purpose,
    /// The variable that the step names.
    pub(crate) holder: Option<Rc<str>>,
    /// The step is in a branch that may not be taken.
    pub(crate) perhaps: bool,
    pub(crate) span: Span,
}

/// What a value is needed for.
#[derive(Clone, Debug)]
pub(crate) enum Purpose {
    /// In shell text.
    Text {
        context: Context,
        dash: bool,
    },
    Raw,
    Param(&'static Param),
    Typed(Rc<str>, Type),
    /// The arguments of a block around the step, which are checked there.
    Settings,
    Require,
}

impl Purpose {
    /// It may be a variable of the environment, whose steps are judged when all of them are known.
    pub(crate) fn is_environment(&self) -> bool {
        match self {
            Self::Param(param) => param.environment,
            Self::Typed(..) => true,
            Self::Text { .. } | Self::Raw | Self::Settings | Self::Require => false,
        }
    }
}

/// Whether a value may be used for what it is needed for.
pub(super) fn fits(purpose: &Purpose, datum: &Datum, span: Span) -> Result<(), Diagnostic> {
    match purpose {
        Purpose::Text { context, dash } => text::check(datum, *context, *dash, span),
        Purpose::Raw => text::check(datum, Context::new(Place::Quoted), true, span),
        Purpose::Param(param) => parameters::check(param, datum, span),
        Purpose::Typed(name, ty) => parameters::accepts(name, ty, datum, span),
        Purpose::Settings | Purpose::Require => Ok(()),
    }
}
