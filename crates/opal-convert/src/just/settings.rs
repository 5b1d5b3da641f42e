//! Settings of a justfile and attributes of a recipe.

use super::expr::{Cursor, Fault};
use crate::dialect::{Runner, Shell};
use crate::form::{Expr, VariablesFile};

#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) shell: Vec<String>,
    pub(super) interpreter: Vec<String>,
    pub(super) export: bool,
    pub(super) positional: bool,
    pub(super) dotenv: Dotenv,
    pub(super) scripts: bool,
    pub(super) directory: Option<Expr>,
}

impl Settings {
    /// The program of the shell and its options, without `env`.
    fn shell_words(&self) -> &[String] {
        match self.shell.as_slice() {
            [env, rest @ ..] if env.ends_with("/env") || env == "env" => rest,
            words => words,
        }
    }

    /// What runs the lines of recipes.
    pub(super) fn runner(&self) -> Runner {
        let Some((program, options)) = self.shell_words().split_first() else {
            return Runner { checks: true, ..Shell::Sh.into() };
        };
        let shell = match program.rsplit('/').next() {
            Some("sh" | "dash" | "ash") => Shell::Sh,
            Some("bash") => Shell::Bash,
            // It gets each line as a script.
            _ => return Shell::Bash.into(),
        };
        let bundles = options.iter().filter(|it| it.starts_with('-') && !it.starts_with("--"));
        let has = |letter| bundles.clone().any(|it| it.contains(letter));
        let named = |name: &str| options.iter().any(|it| it == name);
        let stops = has('e') || named("errexit");
        let checks = has('u') || named("nounset");
        Runner { stops, checks, ..shell.into() }
    }

    /// The program of a shell that opal does not use for its steps.
    pub(super) fn other_shell(&self) -> Option<String> {
        let (first, rest) = self.shell_words().split_first()?;
        if matches!(first.rsplit('/').next(), Some("bash" | "sh" | "dash" | "ash")) {
            return None;
        }
        let rest = rest.iter().map(String::as_str).filter(|it| {
            let is_flags = it.starts_with('-') && !it.starts_with("--");
            !(is_flags && it.ends_with('c') || it.eq_ignore_ascii_case("-command"))
        });
        Some(std::iter::once(first.as_str()).chain(rest).collect::<Vec<_>>().join(" "))
    }
}

/// The file of variables.
#[derive(Debug, Default)]
pub(super) struct Dotenv {
    pub(super) is_loaded: bool,
    pub(super) is_required: bool,
    /// Its variables win over those of the environment.
    pub(super) wins: bool,
    pub(super) path: Option<Expr>,
}

impl Dotenv {
    /// What an imported file says besides.
    pub(super) fn add(&mut self, other: Self) {
        self.is_loaded |= other.is_loaded;
        self.is_required |= other.is_required;
        self.wins |= other.wins;
        self.path = self.path.take().or(other.path);
    }

    /// Where it is loaded: what is imported, or the path that cannot be.
    pub(super) fn file(&self) -> Option<Result<VariablesFile, String>> {
        if !self.is_loaded {
            return None;
        }
        let path = match &self.path {
            None => ".env",
            Some(Expr::Text(path)) => path,
            Some(_) => return Some(Err("a computed path".to_owned())),
        };
        let shown = || format!("`{path}`");
        Some(VariablesFile::new(path, !self.is_required).ok_or_else(shown))
    }
}

/// `[name]`, `[name('a', b="c")]`, `[name: 'a']`.
#[derive(Debug)]
pub(super) struct Attribute {
    pub(super) name: String,
    pub(super) args: Vec<(Option<String>, Expr)>,
}

/// What follows `set`.
pub(super) fn setting(cursor: &mut Cursor<'_>, settings: &mut Settings) -> Result<(), Fault> {
    let name = cursor.name().ok_or("`set` without a name")?;
    let value = if cursor.eat(":=") { Some(value(cursor)?) } else { None };
    let is_on = !matches!(&value, Some(Value::Word(word)) if word == "false");
    let list = |value: Option<Value>| match value {
        Some(Value::List(list)) => list,
        _ => Vec::new(),
    };
    match name {
        "shell" => settings.shell = list(value),
        "script-interpreter" => settings.interpreter = list(value),
        "export" => settings.export = is_on,
        "positional-arguments" => settings.positional = is_on,
        "dotenv-load" => settings.dotenv.is_loaded |= is_on,
        "dotenv-required" => {
            settings.dotenv.is_loaded |= is_on;
            settings.dotenv.is_required |= is_on;
        }
        "dotenv-override" => settings.dotenv.wins |= is_on,
        "dotenv-filename" | "dotenv-path" => {
            settings.dotenv.is_loaded = true;
            settings.dotenv.path = match value {
                Some(Value::Expr(path)) => Some(path),
                _ => None,
            };
        }
        "default-script" => settings.scripts = is_on,
        "working-directory" => {
            if let Some(Value::Expr(directory)) = value {
                settings.directory = Some(directory);
            }
        }
        // What just prints, accepts or looks for; the programs that run are the same.
        _ => {}
    }
    Ok(())
}

enum Value {
    Word(String),
    List(Vec<String>),
    Expr(Expr),
}

fn value(cursor: &mut Cursor<'_>) -> Result<Value, Fault> {
    if cursor.eat("[") {
        let mut list = Vec::new();
        while !cursor.eat("]") {
            skip_lines(cursor);
            if cursor.eat("]") {
                break;
            }
            match cursor.expression()? {
                Expr::Text(text) => list.push(text),
                _ => return Err("a setting that is computed".to_owned()),
            }
            skip_lines(cursor);
            if !cursor.eat(",") {
                skip_lines(cursor);
                cursor.expect("]")?;
                break;
            }
        }
        return Ok(Value::List(list));
    }
    let mark = cursor.at;
    match cursor.name() {
        Some(word @ ("true" | "false")) => Ok(Value::Word(word.to_owned())),
        _ => {
            cursor.at = mark;
            cursor.blanks();
            Ok(Value::Expr(cursor.expression()?))
        }
    }
}

fn skip_lines(cursor: &mut Cursor<'_>) {
    loop {
        cursor.blanks();
        if !cursor.rest().starts_with(['\n', '\r']) {
            return;
        }
        cursor.at += 1;
    }
}

/// What follows `[`, up to and with `]`.
pub(super) fn attributes(cursor: &mut Cursor<'_>) -> Result<Vec<Attribute>, Fault> {
    let mut attributes = Vec::new();
    loop {
        skip_lines(cursor);
        let name = cursor.name().ok_or("an attribute without a name")?.to_owned();
        let mut args = Vec::new();
        if cursor.eat("(") {
            skip_lines(cursor);
            while !cursor.eat(")") {
                args.push(argument(cursor)?);
                skip_lines(cursor);
                if !cursor.eat(",") {
                    cursor.expect(")")?;
                    break;
                }
                skip_lines(cursor);
            }
        } else if cursor.eat(":") {
            args.push(argument(cursor)?);
        }
        attributes.push(Attribute { name, args });
        skip_lines(cursor);
        if cursor.eat("]") {
            return Ok(attributes);
        }
        cursor.expect(",")?;
    }
}

fn argument(cursor: &mut Cursor<'_>) -> Result<(Option<String>, Expr), Fault> {
    cursor.blanks();
    let mark = cursor.at;
    if let Some(name) = cursor.name() {
        if cursor.eat("=") {
            cursor.blanks();
            return Ok((Some(name.to_owned()), cursor.expression()?));
        }
        // `short` without a value.
        cursor.blanks();
        if cursor.rest().starts_with([',', ')']) {
            return Ok((Some(name.to_owned()), Expr::text("")));
        }
    }
    cursor.at = mark;
    Ok((None, cursor.expression()?))
}
