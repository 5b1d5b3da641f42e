//! `$(…)` of a Makefile.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::{canned, functions};
use crate::form::{Expr, MAIN, Piece};
use crate::limits::MAX_NESTING;

/// What `$@`, `$<` and `$^` are, and the texts that `$(call …)` pastes.
#[derive(Clone, Debug)]
pub(super) struct Context<'c> {
    pub(super) automatic: &'c BTreeMap<char, String>,
    pub(super) texts: &'c BTreeMap<String, String>,
    /// The names of those that `define` defines.
    pub(super) canned: &'c BTreeSet<String>,
    /// Variables whose values are known.
    pub(super) known: &'c BTreeMap<String, String>,
    /// `.ONESHELL`.
    pub(super) one_shell: bool,
    pub(super) depth: usize,
    /// How many texts may still be pasted.
    pub(super) pasted: Rc<Cell<usize>>,
}

impl Context<'_> {
    pub(super) fn deeper(&self) -> Option<Self> {
        let left = self.pasted.get().checked_sub(1)?;
        self.pasted.set(left);
        (self.depth < MAX_NESTING).then(|| Self { depth: self.depth + 1, ..self.clone() })
    }
}

/// A text as pieces. What is not understood is a value that says so.
pub(super) fn pieces(text: &str, context: &Context<'_>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('$') {
        push(&mut pieces, &rest[..start]);
        let after = &rest[start + 1..];
        let Some(c) = after.chars().next() else {
            rest = "";
            break;
        };
        match c {
            '$' => {
                push(&mut pieces, "$");
                rest = &after[1..];
            }
            '(' | '{' => match inner(after) {
                Some(inside) => {
                    for piece in reference(inside, context) {
                        match piece {
                            Piece::Text(text) => push(&mut pieces, &text),
                            value @ Piece::Value(_) => pieces.push(value),
                        }
                    }
                    rest = &after[inside.len() + 2..];
                }
                None => {
                    pieces.push(unsupported("a bracket without end"));
                    rest = "";
                }
            },
            c => {
                pieces.push(Piece::Value(automatic(c, context)));
                rest = &after[c.len_utf8()..];
            }
        }
    }
    push(&mut pieces, rest);
    pieces
}

/// The same as a value.
pub(super) fn value(text: &str, context: &Context<'_>) -> Expr {
    Expr::of_pieces(pieces(text, context))
}

fn unsupported(what: &str) -> Piece {
    Piece::Value(Expr::Unsupported(what.to_owned()))
}

fn push(pieces: &mut Vec<Piece>, text: &str) {
    if text.is_empty() {
        return;
    }
    match pieces.last_mut() {
        Some(Piece::Text(before)) => before.push_str(text),
        _ => pieces.push(Piece::Text(text.to_owned())),
    }
}

/// What is between the brackets that the text begins with.
pub(super) fn inner(text: &str) -> Option<&str> {
    let (open, close) = if text.starts_with('(') { ('(', ')') } else { ('{', '}') };
    let mut depth = 0_usize;
    for (index, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return Some(&text[1..index]);
            }
        }
    }
    None
}

fn automatic(c: char, context: &Context<'_>) -> Expr {
    match context.automatic.get(&c) {
        Some(text) => Expr::text(text),
        None if c.is_ascii_alphabetic() || c == '_' => Expr::Name(c.to_string()),
        None => Expr::Unsupported(format!("`${c}` here")),
    }
}

fn reference(inside: &str, context: &Context<'_>) -> Vec<Piece> {
    let Some(context) = context.deeper() else {
        return vec![unsupported("text that is nested too deep")];
    };
    let function = inside.split_once([' ', '\t']).filter(|(name, _)| functions::is_function(name));
    if let Some((name, args)) = function {
        match name {
            "call" => return call(args, &context),
            "foreach" => return foreach(args, &context),
            _ => {}
        }
        return vec![Piece::Value(functions::call(name, args.trim_start(), &context))];
    }
    if let Some(c) = inside.chars().next()
        && let Some(part) =
            inside[c.len_utf8()..].chars().next().filter(|_| inside.chars().count() == 2)
        && matches!(part, 'D' | 'F')
        && let Some(text) = context.automatic.get(&c)
    {
        return vec![Piece::Value(Expr::Text(functions::part_of(text, part)))];
    }
    if let Some((name, rule)) = inside.split_once(':')
        && let Some((from, to)) = rule.split_once('=')
        && is_name(name)
    {
        return vec![Piece::Value(match context.known.get(name) {
            Some(list) => functions::replaced_ends(list, from, to),
            None => Expr::Unsupported(format!("`$({name}:{from}={to})`")),
        })];
    }
    match inside {
        "MAKE" => vec![Piece::Text("make".to_owned())],
        "CURDIR" => vec![Piece::Value(Expr::here())],
        "MAKEFILE_LIST" => vec![Piece::Value(Expr::Name(MAIN.to_owned()))],
        name if is_name(name) => vec![Piece::Value(Expr::Name(name.to_owned()))],
        // `$(FLAGS_$(MODE))`: the name of a variable is a text itself.
        _ if inside.contains('$')
            && let Some(name) = functions::known(&value(inside, &context), &context)
            && is_name(&name) =>
        {
            vec![Piece::Value(Expr::Name(name))]
        }
        _ => vec![unsupported(&format!("`$({inside})`"))],
    }
}

/// `$(foreach name,list,text)` of a list that is known.
fn foreach(args: &str, context: &Context<'_>) -> Vec<Piece> {
    let args = functions::arguments(args);
    let list = args.get(1).and_then(|it| functions::known(&value(it.trim(), context), context));
    let ([name, _, rest @ ..], Some(list)) = (args.as_slice(), list) else {
        return vec![unsupported("`$(foreach …)`")];
    };
    let (name, text) = (name.trim(), rest.join(","));
    let mut all: Vec<Piece> = Vec::new();
    for word in list.split_whitespace() {
        let Some(context) = context.deeper() else {
            return vec![unsupported("text that is nested too deep")];
        };
        let forms = [format!("$({name})"), format!("${{{name}}}")];
        let text = forms.iter().fold(text.clone(), |text, form| text.replace(form, word));
        if !all.is_empty() {
            push(&mut all, " ");
        }
        for piece in pieces(&text, &context) {
            match piece {
                Piece::Text(text) => push(&mut all, &text),
                value @ Piece::Value(_) => all.push(value),
            }
        }
    }
    all
}

pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
}

/// `$(call name,a,b)`: the text of the variable, with its parameters replaced.
fn call(args: &str, context: &Context<'_>) -> Vec<Piece> {
    let args = functions::arguments(args);
    let name = args.first().map(|it| it.trim()).unwrap_or_default();
    let Some(text) = context.texts.get(name) else {
        return vec![unsupported(&format!("`$(call {name})`"))];
    };
    let text = canned::with_arguments(text, &args);
    if text.len() > 64 * 1024 {
        return vec![unsupported("a text that is too long")];
    }
    pieces(&text, context)
}
