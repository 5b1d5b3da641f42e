//! What a step of a plan is.

use std::borrow::Cow;
use std::fmt;

/// A construct of the language that says which way it went, or a decorator.
///
/// | construct | arguments | block |
/// |---|---|---|
/// | `if` | `taken`: which branch, from 0, or null; `condition`, `roots` where the world steered it | the branch |
/// | `when` | `arm`: the pattern that matched, or null; `subject`, `roots` likewise | the arm |
/// | `for` | `count`; `over`, `roots` likewise | one `iteration` each |
/// | `while` | `count`; `condition`, `roots` likewise | one `iteration` each |
/// | `iteration` | `value`, and `key` for maps, where they are constants | the body |
/// | `try` | – | the body, then `catch` and `finally` where they are |
/// | `catch`, `finally`, `block` | – | their steps |
/// | `needs` | – | one `@needs` for each dependency; first in its plan |
/// | `chain` | `operators`: an Array of `&&`, `\|\|`, `\|` and `;` | the operands |
/// | `require` | `value` | – |
/// | `variant` | `targets`: their names | the block of a fleet on these, where it is not the same on all |
/// | `branch` | `condition` or `pattern` | one of the ways that a quick plan left open |
///
/// In a quick plan a construct that could not be decided has `undecided`: true, and `branch`es or
/// one `iteration` as its block; one of these that cannot be planned to its end says why in
/// `unplanned`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    If,
    When,
    For,
    While,
    Iteration,
    Try,
    Catch,
    Finally,
    Block,
    Chain,
    Require,
    Branch,
    Needs,
    Variant,
    /// `@shell`.
    Shell,
    /// `@cmd`: a call of a function of the file.
    Call,
    /// `@needs`: a function of the file that runs before the target. `needed_by` names the functions
    /// that say so.
    Dependency,
    /// Any other decorator, with its `@`.
    Decorator(Cow<'static, str>),
}

impl Node {
    /// The decorator of this path.
    #[must_use]
    pub fn decorator(path: &str) -> Self {
        match path {
            "shell" => Self::Shell,
            "cmd" => Self::Call,
            "needs" => Self::Dependency,
            path => Self::Decorator(format!("@{path}").into()),
        }
    }

    /// The node that plans and records call `name`; none for a construct that does not exist.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "if" => Self::If,
            "when" => Self::When,
            "for" => Self::For,
            "while" => Self::While,
            "iteration" => Self::Iteration,
            "try" => Self::Try,
            "catch" => Self::Catch,
            "finally" => Self::Finally,
            "block" => Self::Block,
            "chain" => Self::Chain,
            "require" => Self::Require,
            "branch" => Self::Branch,
            "needs" => Self::Needs,
            "variant" => Self::Variant,
            name => Self::decorator(name.strip_prefix('@')?),
        })
    }

    /// `if`, `@retry`.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::If => "if",
            Self::When => "when",
            Self::For => "for",
            Self::While => "while",
            Self::Iteration => "iteration",
            Self::Try => "try",
            Self::Catch => "catch",
            Self::Finally => "finally",
            Self::Block => "block",
            Self::Chain => "chain",
            Self::Require => "require",
            Self::Branch => "branch",
            Self::Needs => "needs",
            Self::Variant => "variant",
            Self::Shell => "@shell",
            Self::Call => "@cmd",
            Self::Dependency => "@needs",
            Self::Decorator(name) => name,
        }
    }

    /// The path of a decorator; none for a construct.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Shell | Self::Call | Self::Dependency | Self::Decorator(_) => {
                self.name().strip_prefix('@')
            }
            _ => None,
        }
    }

    #[must_use]
    pub fn is_construct(&self) -> bool {
        self.path().is_none()
    }

    /// Whether its block is the body of a function of the file.
    #[must_use]
    pub fn is_function(&self) -> bool {
        matches!(self, Self::Call | Self::Dependency)
    }

    /// Whether it is the decorator of this path.
    #[must_use]
    pub fn is_decorator(&self, path: &str) -> bool {
        self.path() == Some(path)
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_the_node_that_has_it() {
        for name in [
            "if",
            "when",
            "for",
            "while",
            "iteration",
            "try",
            "catch",
            "finally",
            "block",
            "chain",
            "require",
            "branch",
            "@shell",
            "needs",
            "variant",
            "@cmd",
            "@needs",
            "@retry",
            "@file.write",
        ] {
            let node = Node::named(name).unwrap();
            assert_eq!(node.name(), name);
            assert_eq!(node.is_construct(), !name.starts_with('@'), "{name}");
        }
        assert_eq!(Node::named("unless"), None);
        assert_eq!(Node::named(""), None);
        assert_eq!(Node::decorator("shell"), Node::Shell);
    }
}
