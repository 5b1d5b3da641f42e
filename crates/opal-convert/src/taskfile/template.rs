//! `{{…}}` of a Taskfile.

use super::functions;
use crate::form::{Expr, Piece};
use crate::limits::MAX_NESTING;

/// A text as pieces. What is not understood is a value that says so.
pub(super) fn pieces(text: &str) -> Vec<Piece> {
    let mut reader = Reader { rest: text, depth: 0 };
    let (pieces, end) = reader.until_end();
    match end {
        Stop::Text => pieces,
        _ => vec![Piece::Value(Expr::Unsupported("a template that is not closed".to_owned()))],
    }
}

/// What a sequence of pieces ended with.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stop {
    Text,
    End,
    Else(String),
}

struct Reader<'t> {
    rest: &'t str,
    depth: usize,
}

impl Reader<'_> {
    fn until_end(&mut self) -> (Vec<Piece>, Stop) {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut trim = false;
        loop {
            let Some(start) = self.rest.find("{{") else {
                push_text(&mut pieces, if trim { self.rest.trim_start() } else { self.rest });
                self.rest = "";
                return (pieces, Stop::Text);
            };
            let mut before = &self.rest[..start];
            let Some(inner) = action(&self.rest[start + 2..]) else {
                pieces.push(Piece::Value(Expr::Unsupported(
                    "a template that is not closed".to_owned(),
                )));
                return (pieces, Stop::Text);
            };
            self.rest = &self.rest[start + 2 + inner.len() + 2..];
            if trim {
                before = before.trim_start();
            }
            let (inner, left, right) = trims(inner);
            push_text(&mut pieces, if left { before.trim_end() } else { before });
            trim = right;
            let (word, rest) = inner.split_once([' ', '\t', '\n']).unwrap_or((inner, ""));
            match word {
                "end" => return (pieces, Stop::End),
                "else" => return (pieces, Stop::Else(rest.trim().to_owned())),
                "if" => pieces.push(Piece::Value(self.choice(rest))),
                _ if inner.starts_with("/*") => {}
                _ => pieces.push(Piece::Value(functions::pipeline(inner))),
            }
        }
    }

    fn choice(&mut self, condition: &str) -> Expr {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            self.rest = "";
            return Expr::Unsupported("a template that is nested too deep".to_owned());
        }
        let condition = functions::condition(condition);
        let (then, end) = self.until_end();
        let then = Expr::of_pieces(then);
        let otherwise = match end {
            Stop::End => Expr::text(""),
            Stop::Else(rest) => match rest.strip_prefix("if") {
                Some(condition) => self.choice(condition),
                None => {
                    let (otherwise, end) = self.until_end();
                    match end {
                        Stop::End => Expr::of_pieces(otherwise),
                        _ => Expr::Unsupported("an `if` without `end`".to_owned()),
                    }
                }
            },
            Stop::Text => Expr::Unsupported("an `if` without `end`".to_owned()),
        };
        self.depth -= 1;
        match condition {
            Ok(condition) => Expr::choice(condition, then, otherwise),
            Err(why) => Expr::Unsupported(why),
        }
    }
}

fn push_text(pieces: &mut Vec<Piece>, text: &str) {
    if text.is_empty() {
        return;
    }
    match pieces.last_mut() {
        Some(Piece::Text(before)) => before.push_str(text),
        _ => pieces.push(Piece::Text(text.to_owned())),
    }
}

/// What is between `{{` and `}}`; braces in strings do not count.
fn action(text: &str) -> Option<&str> {
    let mut quote = None;
    let mut escaped = false;
    for (index, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some('"'), '\\') => escaped = true,
            (Some(open), _) if open == c => quote = None,
            (None, '"' | '`') => quote = Some(c),
            (None, '}') if text[index..].starts_with("}}") => return Some(&text[..index]),
            _ => {}
        }
    }
    None
}

fn trims(inner: &str) -> (&str, bool, bool) {
    let left = inner.starts_with("- ") || inner.starts_with("-\n");
    let inner = if left { &inner[1..] } else { inner };
    let right = inner.ends_with(" -");
    let inner = if right { &inner[..inner.len() - 1] } else { inner };
    (inner.trim(), left, right)
}

#[cfg(test)]
mod tests {
    use super::super::functions::is_given;
    use super::*;

    #[test]
    fn templates_are_pieces() {
        let text = |it: &str| Piece::Text(it.to_owned());
        let name = |it: &str| Expr::Name(it.to_owned());
        let value = Piece::Value;
        for (source, expected) in [
            ("go build -o {{.BIN}}", vec![text("go build -o "), value(name("BIN"))]),
            (
                "{{ .A | default \"x\" }}",
                vec![value(Expr::choice(is_given(name("A")), name("A"), Expr::text("x")))],
            ),
            (
                "{{if .A}}a{{else}}b{{end}}!",
                vec![
                    value(Expr::choice(is_given(name("A")), Expr::text("a"), Expr::text("b"))),
                    text("!"),
                ],
            ),
            (
                "docker ps --format '{{\"{{\"}}.ID{{\"}}\"}}'",
                vec![
                    text("docker ps --format '"),
                    value(Expr::text("{{")),
                    text(".ID"),
                    value(Expr::text("}}")),
                    text("'"),
                ],
            ),
        ] {
            assert_eq!(pieces(source), expected, "{source}");
        }
    }

    #[test]
    fn what_is_not_understood_says_so() {
        for source in ["{{range .X}}a{{end}}", "{{.A", "{{if .A}}x", "{{index .A 0}}", "{{fail}}"] {
            let value = Expr::of_pieces(pieces(source));
            assert!(value.unsupported().is_some(), "{source}: {value:?}");
        }
        assert!(Expr::of_pieces(pieces(&"{{if .A}}".repeat(100_000))).unsupported().is_some());
    }
}
