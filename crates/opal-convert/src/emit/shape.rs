//! How many words a value gives where another tool pastes it into shell text.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::form::{Expr, Param};

/// Where names are defined.
pub(super) trait Lookup {
    fn param(&self, name: &str) -> Option<&Param>;
    fn variable(&self, name: &str) -> Option<&Expr>;
    /// The shapes of variables that are known already.
    fn shapes(&self) -> &RefCell<BTreeMap<String, Shape>>;
}

/// Longer constants are values like any other: a few variables can make up a mountain.
const MAX_CONSTANT: usize = 64 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A constant: one word that the shell reads as it is.
    Word(String),
    /// A constant: no word, or several.
    Words(Vec<String>),
    /// A constant that the shell interprets.
    Code(String),
    /// Not known before the task is called; usually one word.
    Data,
    /// The same, but perhaps empty.
    Optional,
    /// The same, and perhaps several words.
    Text,
    /// A list of words.
    Rest,
}

impl Shape {
    fn constant(text: String) -> Self {
        if text.len() > MAX_CONSTANT {
            return Self::Text;
        }
        let is_safe = |c: char| c.is_alphanumeric() || "_-./:=,@%+^".contains(c);
        let words: Vec<String> = text.split_ascii_whitespace().map(str::to_owned).collect();
        if !words.iter().all(|word| word.chars().all(is_safe)) {
            return Self::Code(text);
        }
        match words.as_slice() {
            [word] if *word == text => Self::Word(text),
            _ if text.trim() == text => Self::Words(words),
            _ => Self::Code(text),
        }
    }

    /// The text of a constant.
    pub(crate) fn text(&self) -> Option<String> {
        match self {
            Self::Word(text) | Self::Code(text) => Some(text.clone()),
            Self::Words(words) => Some(words.join(" ")),
            _ => None,
        }
    }

    /// Whether the shell reads its first word in another way than a program does: `X=1 go`, `time go`.
    pub(super) fn begins_a_command(&self) -> bool {
        let first = match self {
            Self::Word(word) => Some(word),
            Self::Words(words) => words.first(),
            _ => None,
        };
        let is_name = |name: &str| {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            !name.is_empty() && name.chars().all(is_part) && !name.as_bytes()[0].is_ascii_digit()
        };
        first.is_some_and(|it| {
            it == "time" || it.split_once('=').is_some_and(|(name, _)| is_name(name))
        })
    }

    /// Of something that can be given from outside and has this where it is not.
    fn as_default(&self) -> Self {
        match self {
            Self::Word(_) | Self::Data => Self::Data,
            Self::Words(words) if words.is_empty() => Self::Optional,
            Self::Optional => Self::Optional,
            _ => Self::Text,
        }
    }
}

pub(super) fn shape(value: &Expr, scope: &dyn Lookup) -> Shape {
    match value {
        Expr::Text(text) => Shape::constant(text.clone()),
        Expr::Name(name) => match (scope.param(name), scope.variable(name)) {
            (Some(param), _) if param.rest => Shape::Rest,
            (Some(param), _) => match &param.default {
                Some(default) => shape(default, scope).as_default(),
                None => Shape::Data,
            },
            (None, Some(value)) => of_variable(name, value, scope),
            (None, None) => Shape::Data,
        },
        Expr::Env(_, Some(default)) => shape(default, scope).as_default(),
        Expr::Env(_, None)
        | Expr::Output(_)
        | Expr::Apply(..)
        | Expr::FirstWord(_)
        | Expr::Fact(_)
        | Expr::Quoted(_) => Shape::Data,
        Expr::Concat(parts) => concat(parts.iter().map(|part| shape(part, scope)).collect()),
        Expr::Choice(_, then, otherwise) => {
            match (shape(then, scope).as_default(), shape(otherwise, scope).as_default()) {
                (Shape::Data, Shape::Data) => Shape::Data,
                (Shape::Text, _) | (_, Shape::Text) => Shape::Text,
                _ => Shape::Optional,
            }
        }
        Expr::Fail(_) | Expr::Unsupported(_) => Shape::Word("x".to_owned()),
    }
}

/// Computed once. In a cycle nothing is known.
fn of_variable(name: &str, value: &Expr, scope: &dyn Lookup) -> Shape {
    if let Some(known) = scope.shapes().borrow().get(name) {
        return known.clone();
    }
    scope.shapes().borrow_mut().insert(name.to_owned(), Shape::Text);
    let found = shape(value, scope);
    scope.shapes().borrow_mut().insert(name.to_owned(), found.clone());
    found
}

fn concat(parts: Vec<Shape>) -> Shape {
    let texts: Option<Vec<String>> = parts.iter().map(Shape::text).collect();
    if let Some(texts) = texts {
        return Shape::constant(texts.concat());
    }
    let is_text = |it: &Shape| {
        matches!(it, Shape::Text | Shape::Rest | Shape::Code(_))
            || matches!(it, Shape::Words(words) if words.len() > 1)
    };
    if parts.iter().any(is_text) {
        return Shape::Text;
    }
    let is_certain = |it: &Shape| matches!(it, Shape::Word(_) | Shape::Data);
    if parts.iter().any(is_certain) { Shape::Data } else { Shape::Optional }
}
