//! Texts for an interpreter: `@script`.

use std::collections::BTreeMap;

use super::lessons::{AT, Why};
use super::part::literal;
use super::scope::Scope;
use super::shape::{Shape, shape};
use crate::commands::is_shell;
use crate::comment::is_hidden;
use crate::form::{Expr, Piece};
use crate::quotes::{Place, Quotes};

/// Variables that a shell or a program interprets, or that a script expects to find as they are.
const TAKEN: [&str; 22] = [
    "BASH_ENV",
    "CDPATH",
    "EDITOR",
    "ENV",
    "GLOBIGNORE",
    "HOME",
    "HOSTNAME",
    "IFS",
    "LANG",
    "LOGNAME",
    "OLDPWD",
    "OPTIND",
    "PATH",
    "PPID",
    "PS4",
    "PWD",
    "RANDOM",
    "SHELL",
    "SHELLOPTS",
    "TERM",
    "UID",
    "USER",
];

/// `@script(program, …) { text }`.
pub(super) fn script(
    program: &str,
    pieces: &[Piece],
    args: &[Expr],
    depth: usize,
    scope: &mut Scope<'_>,
) -> Result<String, Why> {
    let mut values =
        Values { is_shell: is_shell(program), all: words(pieces), given: BTreeMap::new() };
    let text = values.text(pieces, scope)?;
    if let Some(c) = text.chars().find(|c| is_hidden(*c) && !matches!(c, '\n' | '\t' | '\u{1b}')) {
        return Err(format!("a script with the character `\\u{{{:x}}}`", u32::from(c)));
    }
    if !values.given.is_empty() {
        scope.differs("values reach the script as environment variables");
    }
    let mut call = format!("{AT}script({}", literal(program));
    if !args.is_empty() {
        call.push_str(&format!(", args={}", arguments(args, scope)?));
    }
    if !values.given.is_empty() {
        let given: Vec<_> =
            values.given.values().map(|(name, it)| format!("{name}: {it}")).collect();
        call.push_str(&format!(", env={{{}}}", given.join(", ")));
    }
    let indent = "    ".repeat(depth);
    let mut out = format!("{indent}{call}) {{\n");
    for line in text.trim_end().split('\n') {
        if !line.trim().is_empty() {
            out.push_str(&format!("{indent}    {line}"));
        }
        out.push('\n');
    }
    out.push_str(&format!("{indent}}}"));
    Ok(out)
}

/// A list of arguments; those of a rest parameter are elements.
fn arguments(args: &[Expr], scope: &mut Scope<'_>) -> Result<String, Why> {
    let mut plain = Vec::new();
    let mut rest = String::new();
    for arg in args {
        if let Expr::Name(name) = arg
            && let (_, true) = scope.name(name)?
        {
            rest = format!(" + {}", scope.positional(name)?);
            continue;
        }
        plain.push(scope.expr(arg)?);
    }
    match (plain.is_empty(), rest.strip_prefix(" + ")) {
        (true, Some(rest)) => Ok(rest.to_owned()),
        _ => Ok(format!("[{}]{rest}", plain.join(", "))),
    }
}

struct Values {
    is_shell: bool,
    /// The words of the text, which no variable may be named like.
    all: Vec<String>,
    /// By expression: the variable, and the value.
    given: BTreeMap<String, (String, String)>,
}

impl Values {
    fn text(&mut self, pieces: &[Piece], scope: &mut Scope<'_>) -> Result<String, Why> {
        let mut quotes = Quotes::default();
        let mut out = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => {
                    out.push_str(text);
                    quotes.text(text);
                }
                Piece::Value(value) => {
                    let shape = shape(value, scope);
                    let is_pasted = matches!(shape, Shape::Code(_)) || !self.is_shell;
                    let text = match shape
                        .text()
                        .filter(|_| is_pasted || matches!(value, Expr::Text(_)))
                    {
                        Some(constant) => {
                            quotes.text(&constant);
                            constant
                        }
                        None => {
                            let text = self.variable(value, quotes.place(), scope)?;
                            quotes.value();
                            text
                        }
                    };
                    out.push_str(&text);
                }
            }
        }
        if out.contains(AT) {
            return Err("a NUL character".to_owned());
        }
        Ok(out)
    }

    fn variable(
        &mut self,
        value: &Expr,
        place: Place,
        scope: &mut Scope<'_>,
    ) -> Result<String, Why> {
        if !self.is_shell {
            return Err("a value inside a script that is not for a shell".to_owned());
        }
        let written = scope.expr(value)?;
        let name = match self.given.get(&written) {
            Some((name, _)) => name.clone(),
            None => {
                let name = self.free(value);
                self.given.insert(written.clone(), (name.clone(), written));
                name
            }
        };
        let is_quoted = matches!(value, Expr::Quoted(_));
        match place {
            Place::Bare if is_quoted => Ok(format!("\"${{{name}}}\"")),
            Place::Bare | Place::Double | Place::Heredoc { quoted: false } => {
                Ok(format!("${{{name}}}"))
            }
            Place::Single => Ok(format!("'\"${{{name}}}\"'")),
            Place::Comment => Ok(name),
            Place::Dollar | Place::Heredoc { quoted: true } => {
                Err("a value in a place that the shell does not read".to_owned())
            }
        }
    }

    /// The name of an environment variable that the text does not use.
    fn free(&self, value: &Expr) -> String {
        let base = match value {
            Expr::Name(name) if !name.contains(' ') => name.replace('-', "_"),
            Expr::Env(name, _) => format!("{}_value", name.to_ascii_lowercase()),
            Expr::Name(_) => "project_directory".to_owned(),
            _ => "value".to_owned(),
        };
        let base: String =
            base.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let is_free = |name: &String| {
            !TAKEN.contains(&name.as_str())
                && !name.starts_with(|c: char| c.is_ascii_digit())
                && !self.all.contains(name)
                && !self.given.values().any(|(given, _)| given == name)
        };
        let numbered = (2_usize..).map(|number| format!("{base}_value_{number}"));
        let names = [base.clone(), format!("{base}_value")].into_iter().chain(numbered);
        names.into_iter().find(is_free).unwrap_or(base)
    }
}

fn words(pieces: &[Piece]) -> Vec<String> {
    let mut words = Vec::new();
    for piece in pieces {
        if let Piece::Text(text) = piece {
            let parts = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            words.extend(parts.filter(|it| !it.is_empty()).map(str::to_owned));
        }
    }
    words
}
