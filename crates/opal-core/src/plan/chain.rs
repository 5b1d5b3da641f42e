//! What is between the operands of a chain.

use super::{Arg, Node, Step};
use crate::value::Value;

/// An operator that opal runs itself, between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainOperator {
    And,
    Or,
    Pipe,
    Then,
}

impl ChainOperator {
    pub const ALL: [Self; 4] = [Self::And, Self::Or, Self::Pipe, Self::Then];

    /// As it is written.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::And => "&&",
            Self::Or => "||",
            Self::Pipe => "|",
            Self::Then => ";",
        }
    }

    /// The operator that is written as `text`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operator| operator.text() == text)
    }

    /// The argument of a chain that has these operators.
    #[must_use]
    pub fn arg(operators: impl IntoIterator<Item = Self>) -> Arg {
        let texts = operators.into_iter().map(|operator| Value::text(operator.text()));
        Arg::Const(Value::Array(texts.collect()))
    }
}

impl Step {
    /// The operator in front of each operand of a chain but the first; empty for any other step.
    #[must_use]
    pub fn operators(&self) -> Vec<ChainOperator> {
        self.read_operators().unwrap_or_default()
    }

    /// Whether this is a chain with operators that no version of opal writes.
    pub(crate) fn has_unknown_operators(&self) -> bool {
        let fits = |operators: Vec<ChainOperator>| operators.len() + 1 == self.block.len();
        self.node == Node::Chain && !self.read_operators().is_some_and(fits)
    }

    fn read_operators(&self) -> Option<Vec<ChainOperator>> {
        if self.node != Node::Chain {
            return None;
        }
        let Some(Arg::Const(Value::Array(items))) = self.arg("operators") else { return None };
        let read = |item: &Value| match item {
            Value::String(text) => ChainOperator::parse(text),
            _ => None,
        };
        items.iter().map(read).collect()
    }
}
