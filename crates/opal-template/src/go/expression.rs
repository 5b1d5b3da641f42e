//! What is in a Go tag: a value, or a function and its arguments.

use super::unsupported;
use opal_core::template::Fault;

/// Brackets within brackets.
const MAX_DEPTH: usize = 32;

/// What the names of a template mean at a place.
pub(super) trait Names {
    /// What `.` is; none outside of every `range`.
    fn dot(&self) -> Option<String>;

    /// What `$name` is.
    fn variable(&self, name: &str) -> Option<String>;
}

/// The same in Jinja.
pub(super) fn expression(text: &str, names: &dyn Names, line: usize) -> Result<String, Fault> {
    let mut reader = Reader { text, rest: text.trim_start(), names, line, depth: 0 };
    let found = reader.call()?;
    if reader.rest.is_empty() { Ok(found) } else { Err(reader.unexpected()) }
}

/// Whether Jinja takes it for a name too.
pub(super) fn is_name(text: &str) -> bool {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    text.starts_with(is_first) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Names that mean something else to Jinja where a value begins.
pub(super) const RESERVED: [&str; 14] = [
    "and", "elif", "else", "false", "False", "if", "in", "is", "loop", "none", "None", "not", "or",
    "self",
];

struct Reader<'t> {
    text: &'t str,
    rest: &'t str,
    names: &'t dyn Names,
    line: usize,
    depth: usize,
}

impl<'t> Reader<'t> {
    /// `eq .a .b`, or a value alone.
    fn call(&mut self) -> Result<String, Fault> {
        let word = self.peek(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_function = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && !matches!(word, "true" | "false" | "nil");
        if !is_function {
            return self.operand();
        }
        self.skip(word.len());
        let mut arguments = Vec::new();
        while !self.rest.is_empty() && !self.rest.starts_with([')', '|']) {
            arguments.push(self.operand()?);
        }
        self.apply(word, &arguments)
    }

    fn apply(&self, function: &str, arguments: &[String]) -> Result<String, Fault> {
        let operator = match function {
            "eq" => "==",
            "ne" => "!=",
            "lt" => "<",
            "le" => "<=",
            "gt" => ">",
            "ge" => ">=",
            "and" | "or" => function,
            "not" => "not",
            _ => return Err(unsupported(self.line, function)),
        };
        match (function, arguments) {
            ("not", [one]) => Ok(format!("(not {one})")),
            ("and" | "or", [_, ..]) => {
                Ok(format!("({})", arguments.join(&format!(" {operator} "))))
            }
            ("eq", [first, others @ ..]) if !others.is_empty() => {
                let any: Vec<String> =
                    others.iter().map(|other| format!("{first} == {other}")).collect();
                Ok(format!("({})", any.join(" or ")))
            }
            ("ne" | "lt" | "le" | "gt" | "ge", [a, b]) => Ok(format!("({a} {operator} {b})")),
            _ => {
                let message = format!("wrong number of arguments for `{function}`");
                Err(Fault::at(self.line, message))
            }
        }
    }

    fn operand(&mut self) -> Result<String, Fault> {
        match self.rest.chars().next() {
            Some('.') => self.field(),
            Some('$') => self.variable(),
            Some('"') => self.text(),
            Some('`') => self.raw_text(),
            Some('(') => self.bracket(),
            Some('-' | '0'..='9') => self.number(),
            _ => {
                let word = self.peek(|c| c.is_ascii_alphanumeric() || c == '_');
                let found = match word {
                    "true" | "false" => word,
                    "nil" => "none",
                    _ => return Err(self.unexpected()),
                };
                self.skip(word.len());
                Ok(found.to_owned())
            }
        }
    }

    /// `.`, `.a.b`.
    fn field(&mut self) -> Result<String, Fault> {
        let path = self.peek(|c| c == '.' || c == '_' || c.is_ascii_alphanumeric());
        self.skip(path.len());
        match (self.names.dot(), path) {
            (Some(dot), ".") => Ok(dot),
            (Some(dot), path) => self.path(&dot, path),
            (None, ".") => Err(Fault::at(self.line, "`.` alone is allowed only inside `range`")),
            (None, path) => self.root(path),
        }
    }

    /// `$item`, `$item.a`, `$.a`.
    fn variable(&mut self) -> Result<String, Fault> {
        let whole = self.peek(|c| c == '$' || c == '.' || c == '_' || c.is_ascii_alphanumeric());
        self.skip(whole.len());
        let (name, path) = whole.split_at(whole.find('.').unwrap_or(whole.len()));
        if name == "$" {
            return if path.is_empty() {
                Err(unsupported(self.line, "$"))
            } else {
                self.root(path)
            };
        }
        let Some(found) = self.names.variable(name) else {
            let message = format!("`{name}` is not set by a `range` around it");
            let help = format!("a value of `vars` has no `$`: write `{{{{ {} }}}}`", &name[1..]);
            return Err(Fault::at(self.line, message).with_help(Some(help)));
        };
        if path.is_empty() { Ok(found) } else { self.path(&found, path) }
    }

    fn root(&self, path: &str) -> Result<String, Fault> {
        let path = self.path("", path)?;
        let path = path.trim_start_matches('.');
        let first = path.split('.').next().unwrap_or_default();
        if RESERVED.contains(&first) || first == "true" {
            let message = format!("`.{first}` is a reserved word of Jinja; rename the value");
            return Err(Fault::at(self.line, message));
        }
        Ok(path.to_owned())
    }

    fn path(&self, base: &str, path: &str) -> Result<String, Fault> {
        if path.split('.').skip(1).all(is_name) {
            Ok(format!("{base}{path}"))
        } else {
            Err(Fault::at(self.line, format!("invalid name `{path}`")))
        }
    }

    fn bracket(&mut self) -> Result<String, Fault> {
        if self.depth == MAX_DEPTH {
            let message = format!("brackets are nested more than {MAX_DEPTH} levels deep");
            return Err(Fault::at(self.line, message));
        }
        self.depth += 1;
        self.skip(1);
        let inner = self.call()?;
        if !self.rest.starts_with(')') {
            return Err(self.unexpected());
        }
        self.skip(1);
        self.depth -= 1;
        Ok(format!("({inner})"))
    }

    fn number(&mut self) -> Result<String, Fault> {
        let number = self.peek(|c| matches!(c, '-' | '+' | '.' | '_') || c.is_ascii_alphanumeric());
        let is_plain = number.parse::<i64>().is_ok()
            || number.bytes().all(|b| matches!(b, b'-' | b'.' | b'0'..=b'9'))
                && number.parse::<f64>().is_ok();
        if !is_plain {
            return Err(unsupported(self.line, number));
        }
        self.skip(number.len());
        Ok(format!("({number})"))
    }

    fn text(&mut self) -> Result<String, Fault> {
        let mut is_escaped = false;
        for (index, c) in self.rest.char_indices().skip(1) {
            match c {
                // The escapes that mean the same on both sides.
                '\\' | '"' | 'n' | 'r' | 't' if is_escaped => is_escaped = false,
                c if is_escaped => return Err(unsupported(self.line, &format!("\\{c}"))),
                '\\' => is_escaped = true,
                '\n' => break,
                '"' => {
                    let text = &self.rest[..=index];
                    self.skip(index + 1);
                    return Ok(text.to_owned());
                }
                _ => {}
            }
        }
        Err(self.unexpected())
    }

    fn raw_text(&mut self) -> Result<String, Fault> {
        let Some(end) = self.rest[1..].find('`') else { return Err(self.unexpected()) };
        let text = quoted(&self.rest[1..=end]);
        self.skip(end + 2);
        Ok(text)
    }

    fn peek(&self, is_part: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        &self.rest[..end]
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest[bytes..].trim_start();
    }

    fn unexpected(&self) -> Fault {
        match self.rest.chars().next() {
            Some('|') => unsupported(self.line, "|"),
            Some(_) if self.rest.starts_with(":=") || self.rest.starts_with('=') => {
                unsupported(self.line, ":=")
            }
            Some(c) => Fault::at(self.line, format!("unexpected `{c}` in `{}`", self.text.trim())),
            None => Fault::at(self.line, format!("`{}` is incomplete", self.text.trim())),
        }
    }
}

/// A text as Jinja writes it, on one line.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
