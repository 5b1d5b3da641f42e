//! `snakecase()` and its like: a command splits a text into words and joins them in another way.

use crate::form::{Expr, Piece};

/// A word begins where letters and digits do, and where a capital follows something else.
const WORDS: &str = "sed -E 's/([a-z][0-9]*)([A-Z])/\\1_\\2/g; s/([A-Z][0-9]*)([A-Z][a-z])/\\1_\\2/g; \
                     s/[^A-Za-z0-9]+/_/g; s/^_|_$//g'";

pub(super) fn call(name: &str, text: &Expr) -> Option<Expr> {
    let join = match name {
        "snakecase" => "tr '[:upper:]' '[:lower:]'".to_owned(),
        "kebabcase" => "tr '[:upper:]_' '[:lower:]-'".to_owned(),
        "shoutysnakecase" => "tr '[:lower:]' '[:upper:]'".to_owned(),
        "shoutykebabcase" => "tr '[:lower:]_' '[:upper:]-'".to_owned(),
        "titlecase" => capitals("i > 0", " "),
        "uppercamelcase" => capitals("i > 0", ""),
        "lowercamelcase" => capitals("i > 1", ""),
        "capitalize" => {
            let line = "awk '{ print toupper(substr($0, 1, 1)) tolower(substr($0, 2)) }'";
            return Some(piped(text, line));
        }
        _ => return None,
    };
    Some(piped(text, &format!("{WORDS} | {join}")))
}

/// Joins words; those for which the condition holds begin with a capital.
fn capitals(condition: &str, between: &str) -> String {
    format!(
        "awk -F_ '{{ for (i = 1; i <= NF; i++) {{ c = substr($i, 1, 1); \
         o = o (i > 1 ? \"{between}\" : \"\") ({condition} ? toupper(c) : tolower(c)) tolower(substr($i, 2)) }}; \
         print o }}'"
    )
}

fn piped(text: &Expr, command: &str) -> Expr {
    let value = Piece::Value(Expr::Quoted(Box::new(text.clone())));
    let (first, last) = ("printf '%s\\n' ".to_owned(), format!(" | {command}"));
    Expr::Output(vec![Piece::Text(first), value, Piece::Text(last)])
}
