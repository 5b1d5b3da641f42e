//! Functions of the templates of a Taskfile.

use super::dates;
use super::globals::{FILE, FOLDER};
use super::outside::{CLI_ARGS, outside};
use crate::form::{Cond, Expr, INVOCATION, MAIN};
use crate::limits::MAX_NESTING;

type Fault = String;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Text(String),
    Open,
    Close,
    Pipe,
}

/// The value of `{{…}}`.
pub(super) fn pipeline(text: &str) -> Expr {
    let shown: String = text.chars().take(40).collect();
    let read = tokens(text).and_then(|tokens| {
        let mut reader = Reader { tokens: &tokens, at: 0, depth: 0 };
        let value = reader.pipeline()?;
        match reader.at == tokens.len() {
            true => Ok(value),
            false => Err(String::new()),
        }
    });
    read.unwrap_or_else(|_| Expr::Unsupported(format!("the template `{shown}`")))
}

/// What follows `if`.
pub(super) fn condition(text: &str) -> Result<Cond, Fault> {
    let tokens = tokens(text)?;
    let mut reader = Reader { tokens: &tokens, at: 0, depth: 0 };
    let condition = reader.condition()?;
    match reader.at == tokens.len() {
        true => Ok(condition),
        false => Err(format!("the condition `{}`", text.trim())),
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, Fault> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(c) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || "._$-".contains(c);
        let used = match c {
            '(' => {
                tokens.push(Token::Open);
                1
            }
            ')' => {
                tokens.push(Token::Close);
                1
            }
            '|' => {
                tokens.push(Token::Pipe);
                1
            }
            '`' => {
                let end = rest[1..].find('`').ok_or("a string without end")?;
                tokens.push(Token::Text(rest[1..=end].to_owned()));
                end + 2
            }
            '"' => {
                let (text, used) = quoted(&rest[1..])?;
                tokens.push(Token::Text(text));
                used + 1
            }
            c if is_word(c) => {
                let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                tokens.push(Token::Word(rest[..end].to_owned()));
                end
            }
            _ => return Err(format!("`{c}` in a template")),
        };
        rest = rest[used..].trim_start();
    }
    Ok(tokens)
}

fn quoted(text: &str) -> Result<(String, usize), Fault> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((index, c)) = chars.next() {
        match c {
            '"' => return Ok((out, index + 1)),
            '\\' => match chars.next() {
                Some((_, 'n')) => out.push('\n'),
                Some((_, 't')) => out.push('\t'),
                Some((_, c @ ('"' | '\\'))) => out.push(c),
                _ => return Err("an escape in a string".to_owned()),
            },
            c => out.push(c),
        }
    }
    Err("a string without end".to_owned())
}

struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn pipeline(&mut self) -> Result<Expr, Fault> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err("nested too deep".to_owned());
        }
        let mut value = self.command(None)?;
        while self.tokens.get(self.at) == Some(&Token::Pipe) {
            self.at += 1;
            value = self.command(Some(value))?;
        }
        self.depth -= 1;
        Ok(value)
    }

    /// A function with its arguments, the last of which may come through the pipe; or a value.
    fn command(&mut self, piped: Option<Expr>) -> Result<Expr, Fault> {
        if let Some(Token::Word(word)) = self.tokens.get(self.at)
            && !is_value(word)
        {
            self.at += 1;
            let mut args = Vec::new();
            while let Some(arg) = self.operand()? {
                args.push(arg);
            }
            args.extend(piped);
            return apply(word, args);
        }
        match (self.operand()?, piped) {
            (Some(value), None) => Ok(value),
            _ => Err("a value in a pipe".to_owned()),
        }
    }

    fn operand(&mut self) -> Result<Option<Expr>, Fault> {
        let value = match self.tokens.get(self.at) {
            Some(Token::Text(text)) => Expr::Text(text.clone()),
            Some(Token::Word(word)) => match word.strip_prefix('.') {
                Some(name) => variable(name)?,
                None if is_value(word) => Expr::Text(word.clone()),
                None => apply(word, Vec::new())?,
            },
            Some(Token::Open) => {
                self.at += 1;
                let value = self.pipeline()?;
                if self.tokens.get(self.at) != Some(&Token::Close) {
                    return Err("a bracket without end".to_owned());
                }
                value
            }
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(value))
    }

    fn condition(&mut self) -> Result<Cond, Fault> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err("nested too deep".to_owned());
        }
        let condition = match self.tokens.get(self.at) {
            Some(Token::Word(word)) if matches!(word.as_str(), "eq" | "ne") => {
                self.at += 1;
                let (left, right) = (self.operand()?, self.operand()?);
                match (word.as_str(), left, right) {
                    ("eq", Some(left), Some(right)) => Cond::Equal(left, right),
                    ("ne", Some(left), Some(right)) => Cond::NotEqual(left, right),
                    _ => return Err("a comparison that is not understood".to_owned()),
                }
            }
            Some(Token::Word(word)) if matches!(word.as_str(), "and" | "or" | "not") => {
                self.at += 1;
                let mut all = Vec::new();
                while matches!(
                    self.tokens.get(self.at),
                    Some(Token::Open | Token::Word(_) | Token::Text(_))
                ) {
                    all.push(self.inner_condition()?);
                }
                match (word.as_str(), all.len()) {
                    ("not", 1) => Cond::Not(Box::new(all.remove(0))),
                    ("and", 2..) => Cond::All(all),
                    ("or", 2..) => Cond::Any(all),
                    _ => return Err("a condition that is not understood".to_owned()),
                }
            }
            _ => is_given(self.pipeline()?),
        };
        self.depth -= 1;
        Ok(condition)
    }

    fn inner_condition(&mut self) -> Result<Cond, Fault> {
        if self.tokens.get(self.at) != Some(&Token::Open) {
            let value = self.operand()?.ok_or("a condition that is not understood")?;
            return Ok(is_given(value));
        }
        self.at += 1;
        let inner = self.condition()?;
        if self.tokens.get(self.at) != Some(&Token::Close) {
            return Err("a bracket without end".to_owned());
        }
        self.at += 1;
        Ok(inner)
    }
}

fn is_value(word: &str) -> bool {
    word.starts_with(['.', '-'])
        || word.starts_with(|c: char| c.is_ascii_digit())
        || word == "true"
        || word == "false"
}

fn variable(name: &str) -> Result<Expr, Fault> {
    Ok(match name {
        "CLI_ARGS" => Expr::Name(CLI_ARGS.to_owned()),
        "ROOT_DIR" => Expr::here(),
        "TASKFILE_DIR" => Expr::Name(FOLDER.to_owned()),
        "USER_WORKING_DIR" => Expr::Fact(INVOCATION),
        "TASKFILE" => Expr::Name(FILE.to_owned()),
        "ROOT_TASKFILE" => Expr::Name(MAIN.to_owned()),
        "CLI_FORCE" | "CLI_SILENT" | "CLI_VERBOSE" | "CLI_OFFLINE" | "CLI_ASSUME_YES" => {
            Expr::text("false")
        }
        "CHECKSUM" | "TIMESTAMP" | "EXIT_CODE" | "MATCH" | "TASK_VERSION" | "CLI_ARGS_LIST"
        | "TASK_DIR" => {
            return Err(format!("the variable `{name}`"));
        }
        name if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
            Expr::Name(name.to_owned())
        }
        name => return Err(format!("the variable `{name}`")),
    })
}

fn apply(function: &str, args: Vec<Expr>) -> Result<Expr, Fault> {
    let mut args = args.into_iter();
    let (first, second, third) = (args.next(), args.next(), args.next());
    Ok(match (function, first, second, third) {
        ("OS" | "os", None, ..) => {
            let is_mac = Cond::Equal(Expr::Fact("os.name"), Expr::text("macos"));
            Expr::choice(is_mac, Expr::text("darwin"), Expr::Fact("os.name"))
        }
        ("ARCH" | "arch", None, ..) => {
            let is = |name: &str| Cond::Equal(Expr::Fact("os.arch"), Expr::text(name));
            let other = Expr::choice(is("aarch64"), Expr::text("arm64"), Expr::Fact("os.arch"));
            Expr::choice(is("x86_64"), Expr::text("amd64"), other)
        }
        ("exeExt", None, ..) => Expr::text(""),
        ("now", None, ..) => dates::now(),
        ("date", Some(Expr::Text(layout)), Some(time), None) if time == dates::now() => {
            dates::formatted(&layout, None)?
        }
        ("dateInZone", Some(Expr::Text(layout)), Some(time), Some(Expr::Text(zone)))
            if time == dates::now() =>
        {
            dates::formatted(&layout, Some(&zone))?
        }
        ("numCPU", None, ..) => Expr::output("nproc"),
        ("default", Some(default), Some(value), None) => {
            Expr::choice(is_given(value.clone()), value, default)
        }
        ("env", Some(Expr::Text(name)), None, _) => outside(&name),
        ("trim", Some(text), None, _) => Expr::Apply("trim", vec![text]),
        ("upper", Some(text), None, _) => Expr::Apply("upper", vec![text]),
        ("lower", Some(text), None, _) => Expr::Apply("lower", vec![text]),
        ("base" | "osBase", Some(path), None, _) => Expr::Apply("basename", vec![path]),
        ("dir" | "osDir", Some(path), None, _) => Expr::Apply("dirname", vec![path]),
        ("toSlash" | "fromSlash" | "osClean" | "clean" | "toString", Some(path), None, _) => path,
        ("quote" | "q" | "squote" | "shellQuote", Some(text), None, _) => {
            Expr::Quoted(Box::new(text))
        }
        ("replace", Some(from), Some(to), Some(text)) => {
            Expr::Apply("replace", vec![text, from, to])
        }
        ("joinPath", Some(first), second, third) => {
            let parts = std::iter::once(first).chain(second).chain(third).chain(args);
            Expr::Apply("path", parts.collect())
        }
        ("ternary", Some(then), Some(otherwise), Some(Expr::Choice(condition, yes, _)))
            if *yes == Expr::text("true") =>
        {
            Expr::Choice(condition, Box::new(then), Box::new(otherwise))
        }
        ("empty", Some(value), None, _) => {
            let is_empty = Cond::Equal(value, Expr::text(""));
            Expr::choice(is_empty, Expr::text("true"), Expr::text("false"))
        }
        ("eq" | "ne", Some(left), Some(right), None) => {
            let is_equal = Cond::Equal(left, right);
            let (yes, no) = (Expr::text("true"), Expr::text("false"));
            match function {
                "eq" => Expr::choice(is_equal, yes, no),
                _ => Expr::choice(Cond::Not(Box::new(is_equal)), yes, no),
            }
        }
        ("catLines", Some(text), None, _) => {
            Expr::Apply("replace", vec![text, Expr::text("\n"), Expr::text(" ")])
        }
        ("print", Some(text), None, _) => text,
        _ => return Err(format!("the function `{function}`")),
    })
}

/// `a` is given, and is not empty.
pub(super) fn is_given(value: Expr) -> Cond {
    match value {
        // What a function decided.
        Expr::Choice(condition, yes, no)
            if *yes == Expr::text("true") && *no == Expr::text("false") =>
        {
            *condition
        }
        Expr::Text(text) if text == "false" => Cond::NotEqual(Expr::text(""), Expr::text("")),
        value => Cond::NotEqual(value, Expr::text("")),
    }
}
