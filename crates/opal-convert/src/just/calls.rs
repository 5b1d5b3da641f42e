//! Lines that call just again: `just test`, `{{just_executable()}} --list`.

use std::collections::BTreeMap;

use super::file::{Alias, Recipe, RecipeParam};
use crate::form::{Argument, Call, Expr, Piece};

/// How many arguments each recipe takes: at least, at most.
pub(super) type Signatures = BTreeMap<String, (usize, usize)>;

pub(super) fn signatures(recipes: &[Recipe], aliases: &[Alias]) -> Signatures {
    let mut signatures = Signatures::new();
    for recipe in recipes {
        let Ok(header) = &recipe.header else { continue };
        let is_optional =
            |it: &RecipeParam| it.param.default.is_some() || it.param.rest && !it.is_required_rest;
        let least = header.params.iter().filter(|it| !is_optional(it)).count();
        let has_rest = header.params.iter().any(|it| it.param.rest);
        let most = if has_rest { usize::MAX } else { header.params.len() };
        signatures.insert(recipe.name.clone(), (least, most));
    }
    for Alias { name, target, .. } in aliases {
        if let Some(signature) = signatures.get(target).copied() {
            signatures.insert(name.clone(), signature);
        }
    }
    signatures
}

/// The calls that a line consists of; none where it does anything else.
pub(super) fn calls(pieces: &[Piece], signatures: &Signatures) -> Option<Vec<Call>> {
    let words = words(pieces)?;
    let (first, mut words) = words.split_first()?;
    if *first != Expr::text("just") || words.is_empty() {
        return None;
    }
    let mut calls = Vec::new();
    while let [Expr::Text(name), rest @ ..] = words {
        let (least, most) = signatures.get(name).copied()?;
        let is_plain = |it: &&Expr| !matches!(it, Expr::Text(text) if text.contains('='));
        let most = most.min(rest.len());
        let given = rest.iter().take(most).take_while(is_plain).count();
        if given < least || given < most {
            return None;
        }
        let args = rest[..given].iter().map(|it| Argument { name: None, value: it.clone() });
        calls.push(Call { task: name.clone(), args: args.collect() });
        words = &rest[given..];
    }
    words.is_empty().then_some(calls)
}

/// `just --list` and its like.
pub(super) fn is_list(pieces: &[Piece]) -> bool {
    let Some(words) = words(pieces) else { return false };
    let texts = words.iter().map(|it| match it {
        Expr::Text(text) => text.as_str(),
        _ => "",
    });
    let texts: Vec<_> = texts.collect();
    let is_flag = |it: &str| it.starts_with('-') || it == "justfile" || it.is_empty();
    matches!(texts.as_slice(), ["just", rest @ ..]
        if rest.iter().any(|it| ["--list", "-l", "--choose", "--summary"].contains(it))
            && rest.iter().all(|it| is_flag(it)))
}

/// The words of a line that has neither quotes with values in them nor operators.
fn words(pieces: &[Piece]) -> Option<Vec<Expr>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let end = |word: &mut Option<String>, words: &mut Vec<Expr>| {
        words.extend(word.take().map(Expr::Text));
    };
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Value(value) => {
                let ends = |piece: Option<&Piece>| match piece {
                    Some(Piece::Text(text)) => text.starts_with([' ', '\t', '\n']),
                    Some(Piece::Value(_)) => false,
                    None => true,
                };
                if word.is_some() || !ends(pieces.get(index + 1)) {
                    return None;
                }
                words.push(value.clone());
            }
            Piece::Text(text) => {
                let mut chars = text.chars();
                while let Some(c) = chars.next() {
                    match c {
                        ' ' | '\t' => end(&mut word, &mut words),
                        '\'' | '"' => {
                            let rest = chars.as_str();
                            let (inner, after) = rest.split_once(c)?;
                            let is_plain = !inner.contains(['$', '`', '\\', '\n']);
                            if c == '"' && !is_plain {
                                return None;
                            }
                            word.get_or_insert_default().push_str(inner);
                            chars = after.chars();
                        }
                        c if c.is_ascii_alphanumeric() || "_-./:=,@%+".contains(c) => {
                            word.get_or_insert_default().push(c);
                        }
                        _ => return None,
                    }
                }
            }
        }
    }
    end(&mut word, &mut words);
    Some(words)
}
