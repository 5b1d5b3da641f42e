//! Shell text with values in it.

use super::bare::{ends_word, next};
use super::lessons::{AT, Escape, Why};
use super::part::Part;
use super::part::literal;
use super::scope::Scope;
use super::shape::{Lookup, Shape, shape};
use crate::comment::is_hidden;
use crate::form::{Expr, Piece};
use crate::quotes::{Place, Quotes};

/// A constant that is pasted is text of the command.
fn inlined(pieces: &[Piece]) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    for piece in pieces {
        let text = match piece {
            Piece::Text(text) => text,
            Piece::Value(Expr::Text(text)) if !text.chars().any(is_hidden) => text,
            value @ Piece::Value(_) => {
                out.push(value.clone());
                continue;
            }
        };
        match out.last_mut() {
            Some(Piece::Text(before)) => before.push_str(text),
            _ => out.push(Piece::Text(text.clone())),
        }
    }
    out
}

impl Scope<'_> {
    /// Shell text for a step. With `paste` every value is pasted; `escape` says which `@` of the
    /// text are written as `\@`.
    pub(super) fn parts(
        &mut self,
        pieces: &[Piece],
        paste: bool,
        escape: Escape,
    ) -> Result<Vec<Part>, Why> {
        let pieces = inlined(pieces);
        let mut quotes = Quotes::default();
        let mut parts = Vec::new();
        let mut skip = 0;
        for (index, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Text(text) => {
                    let text = &text[std::mem::take(&mut skip)..];
                    if text.contains(AT) {
                        return Err("a NUL character".to_owned());
                    }
                    parts.push(Part::Text(escaped(text, &quotes, escape)));
                    quotes.text(text);
                }
                Piece::Value(value) => {
                    let next = next(&pieces, index);
                    let is_whole = quotes.is_word_start() && ends_word(next);
                    let (found, taken) =
                        self.value(value, quotes.place(), is_whole, next, paste)?;
                    parts.extend(found);
                    skip = taken;
                    quotes.value();
                }
            }
        }
        Ok(parts)
    }

    /// A value in its place, and how many bytes of the text after it belong to it.
    fn value(
        &mut self,
        value: &Expr,
        place: Place,
        is_whole: bool,
        next: Option<char>,
        paste: bool,
    ) -> Result<(Vec<Part>, usize), Why> {
        let shape = shape(value, self);
        if place == Place::Bare && shape.begins_a_command() {
            return self.constant(&shape);
        }
        let is_code = |text: &str| text.contains(['"', '$', '`', '\\']);
        let is_pasted = match (place, &shape) {
            (Place::Comment, _) => return Ok((Vec::new(), 0)),
            (Place::Dollar, _) => return Err("a value inside `$'…'`".to_owned()),
            (Place::Heredoc { quoted: true }, _) => return self.constant(&shape),
            (Place::Single, Shape::Code(text)) if text.contains('\'') => {
                return self.constant(&shape);
            }
            (Place::Single, _) => paste,
            (Place::Double | Place::Heredoc { .. }, Shape::Code(text)) => paste || is_code(text),
            (Place::Double | Place::Heredoc { .. }, _) => paste,
            (Place::Bare, Shape::Word(_) | Shape::Data) => paste,
            (Place::Bare, Shape::Words(_)) => {
                let is_list = match value {
                    Expr::Name(name) => self.name(name)?.1,
                    _ => false,
                };
                paste || !(is_list && is_whole)
            }
            (Place::Bare, Shape::Rest) => paste || !is_whole,
            (Place::Bare, Shape::Optional) => paste || is_whole,
            (Place::Bare, Shape::Code(_) | Shape::Text) => true,
        };
        if is_pasted && place == Place::Single {
            let (mut parts, _) = self.pasted(value, None)?;
            parts.insert(0, Part::Text("'\"".to_owned()));
            parts.push(Part::Text("\"'".to_owned()));
            return Ok((parts, 0));
        }
        if is_pasted {
            return self.pasted(value, next);
        }
        let is_list = place == Place::Bare && is_whole && !paste;
        let reference = self.reference(value, is_list, next)?;
        let mut parts = vec![Part::Reference(reference)];
        if place == Place::Single {
            parts.insert(0, Part::Text("'".to_owned()));
            parts.push(Part::Text("'".to_owned()));
        }
        Ok((parts, 0))
    }

    fn constant(&self, shape: &Shape) -> Result<(Vec<Part>, usize), Why> {
        let text = shape.text().filter(|it| !it.chars().any(is_hidden));
        let text = text.ok_or("a value in a place that the shell does not read")?;
        Ok((vec![Part::Text(text)], 0))
    }

    fn pasted(&mut self, value: &Expr, next: Option<char>) -> Result<(Vec<Part>, usize), Why> {
        let mut written = self.expr(value)?;
        // What follows must not be read as a field of the value.
        let taken = next.filter(|c| matches!(c, '.' | '[' | '('));
        if let Some(c) = taken {
            written = format!("{written} + {}", literal(&c.to_string()));
        }
        let from = match value {
            Expr::Name(name) if self.is_from_outside(name) => {
                " is not defined in this file: it comes from the environment, and"
            }
            _ => "",
        };
        self.differs(format!("{}{from} is pasted into a command as text: `@raw`", shown(value)));
        Ok((vec![Part::Reference(format!("{AT}raw({written})"))], taken.map_or(0, char::len_utf8)))
    }

    fn reference(
        &mut self,
        value: &Expr,
        is_list: bool,
        next: Option<char>,
    ) -> Result<String, Why> {
        let path = match value {
            Expr::Name(name) => match self.name(name)? {
                (name, true) if is_list => format!("var.{name}"),
                (_, true) => format!("var.{}", self.hoist(value)?),
                (name, false) => format!("var.{name}"),
            },
            // Quoted, a list is one word.
            Expr::Quoted(inner) => return self.reference(inner, false, next),
            Expr::Env(name, None) => format!("env.{name}"),
            Expr::Fact(path) => (*path).to_owned(),
            value => format!("var.{}", self.hoist(value)?),
        };
        let goes_on = next.is_some_and(|c| c.is_ascii_alphanumeric() || "_.[(".contains(c));
        let end = if goes_on { "()" } else { "" };
        Ok(format!("{AT}{path}{end}"))
    }
}

impl Scope<'_> {
    /// Whether only the environment defines a variable.
    fn is_from_outside(&self, name: &str) -> bool {
        let is_param = self.param(name).is_some();
        let is_outside = |it: &Expr| matches!(it, Expr::Env(of, Some(default)) if of == name && **default == Expr::text(""));
        !is_param && self.variable(name).is_some_and(is_outside)
    }
}

/// A value as the report names it.
fn shown(value: &Expr) -> String {
    match value {
        Expr::Name(name) => format!("`{name}`"),
        Expr::Env(name, _) => format!("`{name}`"),
        _ => "a value".to_owned(),
    }
}

/// With a `\` before every `@` that could begin a reference.
fn escaped(text: &str, quotes: &Quotes, escape: Escape) -> String {
    if escape == Escape::None {
        return text.to_owned();
    }
    let mut before = ' ';
    let mut quotes = quotes.clone();
    let mut out = String::new();
    let mut buffer = [0; 4];
    for c in text.chars() {
        let is_read = matches!(
            quotes.place(),
            Place::Bare | Place::Double | Place::Heredoc { quoted: false }
        );
        let is_meant = escape == Escape::All || !before.is_ascii_alphanumeric();
        if c == '@' && is_read && is_meant {
            out.push('\\');
        }
        before = c;
        out.push(c);
        quotes.text(c.encode_utf8(&mut buffer));
    }
    out
}
