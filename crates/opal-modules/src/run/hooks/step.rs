//! A hook that runs, with its words.

use crate::run::driver::Tool;

/// What begins the label of every hook: no tool of a driver is called that.
pub(in crate::run) const LABEL: &str = "hook_";

/// A hook that runs when the tools have done well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookStep {
    pub name: String,
    /// Whether its failure is one of the run.
    pub strict: bool,
    pub timeout_s: Option<u32>,
    pub(in crate::run) words: Vec<Vec<Filled>>,
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::run) enum Filled {
    Text(String),
    /// Read from the environment when the plan is made, like every other value from there.
    Variable {
        name: String,
        default: String,
    },
}

impl HookStep {
    #[must_use]
    pub fn label(&self) -> String {
        format!("{LABEL}{}", self.name)
    }

    /// As a tool among others. A variable is shown by its name.
    #[must_use]
    pub fn tool(&self) -> Tool {
        let word = |parts: &Vec<Filled>| parts.iter().map(Filled::shown).collect();
        Tool {
            label: self.label(),
            words: self.words.iter().map(word).collect(),
            stdout: None,
            runs_anyway: false,
            may_fail: !self.strict,
        }
    }

    /// Its program, as far as it is known before a plan is made.
    pub(in crate::run) fn program(&self) -> Option<&str> {
        match self.words.first()?.as_slice() {
            [Filled::Text(program)] => Some(program),
            _ => None,
        }
    }
}

impl Filled {
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Variable { name, .. } => format!("@env.{name}"),
        }
    }
}
