//! Why a plan cannot run, found before the first step.

use crate::message::Message;
use crate::plan::Step;
use crate::resolver::{Trouble, TroubleKind};
use crate::{Code, Span};

/// Why a plan cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unready {
    /// The step; empty where it is the plan as a whole.
    pub path: String,
    pub span: Span,
    /// The line of the step that is meant, from 1.
    pub line: u32,
    pub code: Code,
    /// Holds no value.
    pub trouble: Trouble,
}

impl Unready {
    /// What is wrong with the plan as a whole.
    #[must_use]
    pub fn of_plan(trouble: Trouble) -> Self {
        Self { path: String::new(), span: Span::at(0), line: 1, code: Code::NotReady, trouble }
    }

    /// What is wrong with one step.
    #[must_use]
    pub fn of_step(step: &Step, trouble: Trouble) -> Self {
        let (path, span) = (step.path.to_string(), step.span);
        Self { path, span, line: 1, code: Code::NotReady, trouble }
    }

    /// A step that cannot run as it is written.
    pub fn invalid(step: &Step, message: impl Into<Message>, help: impl Into<Message>) -> Self {
        Self::of_step(step, Trouble::new(TroubleKind::Invalid, message, help))
    }
}
