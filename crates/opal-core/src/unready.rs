//! Why a plan cannot run, found before the first step.

use crate::resolver::Trouble;
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
