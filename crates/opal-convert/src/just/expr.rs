//! Expressions of a justfile.

use super::functions;
use super::strings::{cooked, end_of, expanded, unindented};
use crate::form::{Cond, Expr, Piece};
use crate::limits::MAX_NESTING;

/// What cannot be read; the reason.
pub(super) type Fault = String;

/// A place in a text. Inside brackets a line end is a blank.
#[derive(Debug)]
pub(super) struct Cursor<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    brackets: usize,
    depth: usize,
    /// The recipe around it, for `recipe_name()`.
    pub(super) recipe: Option<&'t str>,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str, at: usize) -> Self {
        Self { text, at, brackets: 0, depth: 0, recipe: None }
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Skips blanks, continued lines and, inside brackets, line ends and comments.
    pub(super) fn blanks(&mut self) {
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            self.at += blanks;
            let rest = self.rest();
            if let Some(line_end) = ["\\\n", "\\\r\n"].iter().find(|it| rest.starts_with(**it)) {
                self.at += line_end.len();
            } else if self.brackets > 0 && rest.starts_with(['\n', '\r']) {
                self.at += 1;
            } else if self.brackets > 0 && rest.starts_with('#') {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if blanks == 0 {
                return;
            }
        }
    }

    pub(super) fn eat(&mut self, word: &str) -> bool {
        self.blanks();
        let found = self.rest().starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    pub(super) fn expect(&mut self, word: &str) -> Result<(), Fault> {
        if self.eat(word) {
            return Ok(());
        }
        let found: String = self.rest().chars().take(10).collect();
        Err(format!("expected `{word}`, got `{}`", found.lines().next().unwrap_or_default()))
    }

    pub(super) fn name(&mut self) -> Option<&'t str> {
        self.blanks();
        let rest = self.rest();
        let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
        let is_next = |c: char| is_first(c) || c.is_ascii_digit() || c == '-';
        if !rest.starts_with(is_first) {
            return None;
        }
        let end = rest.find(|c| !is_next(c)).unwrap_or(rest.len());
        self.at += end;
        Some(&rest[..end])
    }

    /// A name that is not taken if something else follows.
    fn keyword(&mut self, word: &str) -> bool {
        let mark = self.at;
        let found = self.name() == Some(word);
        if !found {
            self.at = mark;
        }
        found
    }

    fn inside<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        self.brackets += 1;
        let read = read(self);
        self.brackets -= 1;
        read
    }

    pub(super) fn expression(&mut self) -> Result<Expr, Fault> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(format!("expressions are nested more than {MAX_NESTING} levels deep"));
        }
        let read = self.disjunction();
        self.depth -= 1;
        read
    }

    /// `a || b`: the first that is not empty.
    fn disjunction(&mut self) -> Result<Expr, Fault> {
        let left = self.conjunction()?;
        if !self.eat("||") {
            return Ok(left);
        }
        let right = self.expression()?;
        let given = Cond::NotEqual(left.clone(), Expr::text(""));
        Ok(Expr::Choice(Box::new(given), Box::new(left), Box::new(right)))
    }

    /// `a && b`: empty where one of them is, otherwise the last.
    fn conjunction(&mut self) -> Result<Expr, Fault> {
        let left = self.sum()?;
        self.blanks();
        // After the dependencies of a recipe it begins those that run afterwards.
        if self.brackets == 0 || !self.rest().starts_with("&&") {
            return Ok(left);
        }
        self.at += 2;
        let right = self.expression()?;
        let empty = Cond::Equal(left, Expr::text(""));
        Ok(Expr::Choice(Box::new(empty), Box::new(Expr::text("")), Box::new(right)))
    }

    fn sum(&mut self) -> Result<Expr, Fault> {
        let mut parts = Vec::new();
        if self.eat("/") {
            parts.push(Expr::text("/"));
        }
        loop {
            parts.push(self.value()?);
            self.blanks();
            if self.rest().starts_with('+') {
                self.at += 1;
            } else if self.rest().starts_with('/') {
                self.at += 1;
                parts.push(Expr::text("/"));
            } else {
                break;
            }
        }
        Ok(Expr::concat(parts))
    }

    pub(super) fn value(&mut self) -> Result<Expr, Fault> {
        self.blanks();
        let rest = self.rest();
        if self.keyword("if") {
            return self.choice();
        }
        if let Some(text) = self.string()? {
            return Ok(text);
        }
        if rest.starts_with('`') {
            return self.backtick();
        }
        if self.eat("(") {
            let inner = self.inside(Self::expression)?;
            self.expect(")")?;
            return Ok(inner);
        }
        let Some(name) = self.name() else {
            let found: String = rest.chars().take(10).collect();
            let found = found.lines().next().unwrap_or_default();
            return Err(format!("expected an expression, got `{found}`"));
        };
        if name == "assert" && self.rest().starts_with('(') {
            return self.assertion();
        }
        if self.rest().starts_with('(') {
            self.at += 1;
            let args = self.arguments()?;
            return Ok(functions::call(name, args, self.recipe));
        }
        Ok(functions::constant(name).unwrap_or_else(|| Expr::Name(name.to_owned())))
    }

    pub(super) fn arguments(&mut self) -> Result<Vec<Expr>, Fault> {
        self.inside(|it| {
            let mut args = Vec::new();
            while !it.eat(")") {
                args.push(it.expression()?);
                if !it.eat(",") {
                    it.expect(")")?;
                    break;
                }
            }
            Ok(args)
        })
    }

    fn choice(&mut self) -> Result<Expr, Fault> {
        let condition = self.condition()?;
        let then = self.braced()?;
        self.inside(|it| {
            it.blanks();
            Ok(())
        })?;
        if !self.keyword("else") {
            return Err("expected `else`".to_owned());
        }
        let otherwise = if self.keyword("if") {
            self.depth += 1;
            if self.depth > MAX_NESTING {
                return Err(format!("expressions are nested more than {MAX_NESTING} levels deep"));
            }
            let otherwise = self.choice();
            self.depth -= 1;
            otherwise?
        } else {
            self.braced()?
        };
        Ok(Expr::Choice(Box::new(condition), Box::new(then), Box::new(otherwise)))
    }

    fn braced(&mut self) -> Result<Expr, Fault> {
        self.expect("{")?;
        self.inside(|it| {
            let inner = it.expression()?;
            it.expect("}")?;
            Ok(inner)
        })
    }

    fn condition(&mut self) -> Result<Cond, Fault> {
        let left = self.expression()?;
        for operator in ["==", "!=", "=~", "!~"] {
            if self.eat(operator) {
                let right = self.expression()?;
                return Ok(match (operator, right) {
                    ("==", right) => functions::equal(left, right),
                    ("!=", right) => Cond::Not(Box::new(functions::equal(left, right))),
                    ("=~", Expr::Text(regex)) => Cond::Matches(left, regex),
                    (_, Expr::Text(regex)) => Cond::Not(Box::new(Cond::Matches(left, regex))),
                    _ => return Err("a regular expression that is computed".to_owned()),
                });
            }
        }
        Err("expected `==`, `!=` or `=~`".to_owned())
    }

    fn assertion(&mut self) -> Result<Expr, Fault> {
        self.expect("(")?;
        self.inside(|it| {
            let condition = it.condition()?;
            it.expect(",")?;
            let message = it.expression()?;
            it.eat(",");
            it.expect(")")?;
            let fail = Expr::Fail(Box::new(message));
            Ok(Expr::Choice(Box::new(condition), Box::new(Expr::text("")), Box::new(fail)))
        })
    }

    fn backtick(&mut self) -> Result<Expr, Fault> {
        let rest = self.rest();
        let quote = if rest.starts_with("```") { "```" } else { "`" };
        let inner = &rest[quote.len()..];
        let end = inner.find(quote).ok_or("a backtick has no end")?;
        self.at += end + 2 * quote.len();
        let command = match quote {
            "`" => inner[..end].to_owned(),
            _ => unindented(&inner[..end]),
        };
        Ok(Expr::Output(vec![Piece::Text(command)]))
    }

    /// A string in one of its forms; none where another value begins.
    pub(super) fn string(&mut self) -> Result<Option<Expr>, Fault> {
        let rest = self.rest();
        let (prefix, quoted) = match rest.as_bytes() {
            [b'f', b'\'' | b'"', ..] => ("f", &rest[1..]),
            [b'x', b'\'' | b'"', ..] => ("x", &rest[1..]),
            [b'\'' | b'"', ..] => ("", rest),
            _ => return Ok(None),
        };
        let forms = ["'''", "\"\"\"", "'", "\""];
        let quote = forms.into_iter().find(|it| quoted.starts_with(it)).unwrap_or("'");
        let inner = &quoted[quote.len()..];
        let end = end_of(inner, quote).ok_or("a string has no end")?;
        self.at += prefix.len() + 2 * quote.len() + end;
        let mut text = inner[..end].to_owned();
        if quote.len() == 3 {
            text = unindented(&text);
        }
        if quote.starts_with('"') {
            text = cooked(&text)?;
        }
        Ok(Some(match prefix {
            "x" => expanded(&text),
            "f" => Expr::of_pieces(pieces(&text, self.recipe)?),
            _ => Expr::Text(text),
        }))
    }
}

/// A text with `{{…}}` in it; `{{{{` is a literal `{{`.
pub(super) fn pieces(text: &str, recipe: Option<&str>) -> Result<Vec<Piece>, Fault> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        literal.push_str(&rest[..start]);
        rest = &rest[start..];
        if let Some(after) = rest.strip_prefix("{{{{") {
            literal.push_str("{{");
            rest = after;
            continue;
        }
        let mut cursor = Cursor::new(rest, 2);
        cursor.recipe = recipe;
        let value = cursor.expression()?;
        cursor.expect("}}")?;
        if !literal.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut literal)));
        }
        pieces.push(Piece::Value(value));
        rest = &rest[cursor.at..];
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        pieces.push(Piece::Text(literal));
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolations_are_values_and_four_braces_are_text() {
        let text = |it: &str| Piece::Text(it.to_owned());
        let name = |it: &str| Piece::Value(Expr::Name(it.to_owned()));
        for (source, expected) in [
            ("echo {{ a }}!", vec![text("echo "), name("a"), text("!")]),
            ("docker ps --format '{{{{.ID}}'", vec![text("docker ps --format '{{.ID}}'")]),
            ("{{a}}{{b}}", vec![name("a"), name("b")]),
            ("{{'}}'}}", vec![Piece::Value(Expr::text("}}"))]),
        ] {
            assert_eq!(pieces(source, None).unwrap(), expected, "{source}");
        }
        assert!(pieces("echo {{a", None).is_err());
        assert!(pieces(&format!("{{{{{}", "(".repeat(100_000)), None).is_err());
    }
}
