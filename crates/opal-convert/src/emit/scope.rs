//! The names that an expression can use, and expressions as source text.

mod rest;

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::globals::Globals;
use super::lessons::{AT, Escape, Why};
use super::part::{as_literal, literal};
use super::shape::{Lookup, Shape, shape};
use crate::form::{Cond, Expr, Param, Piece, Task};
use crate::limits::MAX_NESTING;
use crate::names::Names;

/// A function, or the top of the file.
#[derive(Debug)]
pub(super) struct Scope<'s> {
    pub(super) globals: &'s Globals<'s>,
    params: Vec<(&'s Param, String)>,
    pub(super) names: Names,
    locals: BTreeMap<String, String>,
    /// Variables of the task.
    own: &'s [(String, Expr)],
    /// Variables of loops, by their names in the file.
    items: Vec<(String, String)>,
    hoisted: BTreeMap<String, String>,
    /// Rest parameters with a default, as the function names them.
    given: BTreeMap<String, String>,
    /// Statements that come before the dependencies, and after them.
    pub(super) prelude: Vec<String>,
    pub(super) guards: Vec<String>,
    is_top: bool,
    depth: usize,
    /// The shapes of variables.
    shapes: RefCell<BTreeMap<String, Shape>>,
    /// What is different.
    pub(super) why: Vec<String>,
}

impl<'s> Scope<'s> {
    pub(super) fn top(globals: &'s Globals<'s>) -> Self {
        Self {
            globals,
            params: Vec::new(),
            names: globals.names.clone(),
            locals: BTreeMap::new(),
            own: &[],
            items: Vec::new(),
            hoisted: BTreeMap::new(),
            given: BTreeMap::new(),
            prelude: Vec::new(),
            guards: Vec::new(),
            is_top: true,
            depth: 0,
            shapes: RefCell::default(),
            why: Vec::new(),
        }
    }

    pub(super) fn function(globals: &'s Globals<'s>, task: &'s Task) -> Self {
        let mut scope = Self { is_top: false, own: &task.locals, ..Self::top(globals) };
        let params = &task.params;
        // A parameter may have the name of a variable of the file: it hides that.
        let mut own = Names::default();
        for param in params {
            let name = own.variable(&param.name);
            scope.params.push((param, name));
        }
        scope
    }

    pub(super) fn param_name(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(param, _)| param.name == name).map(|(_, name)| name.as_str())
    }

    pub(super) fn differs(&mut self, why: impl Into<String>) {
        let why = why.into();
        if !self.why.contains(&why) {
            self.why.push(why);
        }
    }

    /// The name of a variable that can be read here, and whether it is a list.
    pub(super) fn name(&mut self, name: &str) -> Result<(String, bool), Why> {
        if let Some((param, written)) = self.params.iter().find(|(param, _)| param.name == name) {
            return Ok((written.clone(), param.rest));
        }
        if let Some((_, item)) = self.items.iter().rev().find(|(item, _)| item == name) {
            return Ok((item.clone(), false));
        }
        if let Some((_, value)) = self.own.iter().find(|(own, _)| own == name) {
            return self.local(name, value, name);
        }
        let Some(global) = self.globals.variables.get(name) else {
            return Err(format!("the variable `{name}` is not defined in this file"));
        };
        if let Some(why) = &global.broken {
            return Err(why.clone());
        }
        if !global.is_local {
            return Ok((global.name.clone(), global.is_list));
        }
        if self.is_top {
            return Err("it needs statements".to_owned());
        }
        self.local(name, global.value, &global.name)
    }

    /// A variable that is declared in the function.
    fn local(&mut self, name: &str, value: &Expr, wanted: &str) -> Result<(String, bool), Why> {
        if let Some(local) = self.locals.get(name) {
            return Ok((local.clone(), false));
        }
        let is_taken = self.params.iter().any(|(_, it)| *it == wanted);
        let is_global = self.globals.is_local(name) && !is_taken;
        let local = if is_global { wanted.to_owned() } else { self.names.variable(wanted) };
        let value = match value {
            Expr::Choice(condition, then, otherwise) => {
                self.deeper()?;
                let value = self.choice(condition, then, otherwise, Some(&local));
                self.depth -= 1;
                value?
            }
            value => self.expr(value)?,
        };
        if value != local {
            self.prelude.push(format!("var {local} = {value}"));
        }
        self.locals.insert(name.to_owned(), local.clone());
        Ok((local, false))
    }

    /// An expression of the language whose value is a String.
    pub(super) fn expr(&mut self, value: &Expr) -> Result<String, Why> {
        self.deeper()?;
        let written = self.written(value);
        self.depth -= 1;
        written
    }

    fn deeper(&mut self) -> Result<(), Why> {
        self.depth += 1;
        match self.depth > MAX_NESTING {
            true => Err("its variables are nested too deep, or form a cycle".to_owned()),
            false => Ok(()),
        }
    }

    fn written(&mut self, value: &Expr) -> Result<String, Why> {
        Ok(match value {
            Expr::Text(text) => literal(text),
            Expr::Name(name) => match self.name(name)? {
                (name, true) => format!("join({name}, \" \")"),
                (name, false) => name,
            },
            Expr::Output(pieces) => self.output(pieces)?,
            Expr::Env(name, None) => format!("{AT}env.{name}"),
            Expr::Env(name, Some(default)) => {
                let default = self.expr(default)?;
                format!("{AT}env.{name}(default={default})")
            }
            Expr::Concat(parts) => {
                let parts: Result<Vec<_>, _> = parts.iter().map(|part| self.expr(part)).collect();
                parts?.join(" + ")
            }
            Expr::Apply(function, args) => {
                let args: Result<Vec<_>, _> = args.iter().map(|arg| self.expr(arg)).collect();
                format!("{function}({})", args?.join(", "))
            }
            Expr::FirstWord(text) => format!("split(trim({}), \" \")[0]", self.expr(text)?),
            Expr::Fact(path) => format!("{AT}{path}"),
            Expr::Quoted(inner) => self.expr(inner)?,
            Expr::Choice(condition, then, otherwise) => {
                self.choice(condition, then, otherwise, None)?
            }
            Expr::Fail(message) => {
                self.guard(None, message)?;
                literal("")
            }
            Expr::Unsupported(why) => return Err(format!("{why} has no counterpart")),
        })
    }

    fn output(&mut self, pieces: &[Piece]) -> Result<String, Why> {
        let parts = self.parts(pieces, false, Escape::None)?;
        let text = as_literal(&parts);
        // The directory of a project is not a secret.
        let public = if text == "\"pwd\"" { ", public=true" } else { "" };
        Ok(format!("{AT}shell.output({text}{public})"))
    }

    /// `if`, assigned to a variable: the named one, or a new one.
    fn choice(
        &mut self,
        condition: &Cond,
        then: &Expr,
        otherwise: &Expr,
        name: Option<&str>,
    ) -> Result<String, Why> {
        if self.is_top {
            return Err("it needs statements".to_owned());
        }
        if let Expr::Fail(message) = otherwise {
            self.guard(Some(&Cond::Not(Box::new(condition.clone()))), message)?;
            return self.expr(then);
        }
        if let Expr::Fail(message) = then {
            self.guard(Some(condition), message)?;
            return self.expr(otherwise);
        }
        let name = name.map_or_else(|| self.names.variable("value"), str::to_owned);
        let (then, otherwise) = (self.expr(then)?, self.expr(otherwise)?);
        let chosen =
            self.branch(condition, &format!("{name} = {then}"), &format!("{name} = {otherwise}"))?;
        self.prelude.push(format!("var {name} = \"\""));
        self.prelude.push(chosen);
        Ok(name)
    }

    fn guard(&mut self, condition: Option<&Cond>, message: &Expr) -> Result<(), Why> {
        let message = self.expr(message)?;
        let fail = format!("{AT}fail({message})");
        let guard = match condition {
            Some(condition) => self.branch(condition, &fail, "")?,
            None => fail,
        };
        self.guards.push(guard);
        Ok(())
    }

    /// A parameter whose value must match.
    pub(super) fn must_match(&mut self, name: &str, pattern: &str) -> Result<(), Why> {
        let regex = format!("^(?:{pattern})$");
        let matches = Cond::Matches(Expr::Name(name.to_owned()), regex);
        let message = literal(&format!("`{name}` must match `{pattern}`"));
        let fail = format!("{AT}fail({message})");
        let checked = self.branch(&Cond::Not(Box::new(matches)), &fail, "")?;
        self.prelude.push(checked);
        Ok(())
    }

    /// `if` or `when`, with a block for each side.
    pub(super) fn branch(
        &mut self,
        condition: &Cond,
        then: &str,
        otherwise: &str,
    ) -> Result<String, Why> {
        let block = |text: &str| match text {
            "" => "{}".to_owned(),
            text => format!("{{\n{text}\n}}"),
        };
        match condition {
            Cond::Not(inner) if matches!(**inner, Cond::Matches(..)) => {
                self.branch(inner, otherwise, then)
            }
            Cond::Matches(subject, regex) => {
                if regex.contains(['"', '\n']) || regex.chars().any(crate::comment::is_hidden) {
                    return Err("a regular expression that cannot be written".to_owned());
                }
                let subject = self.expr(subject)?;
                let (then, otherwise) = (block(then), block(otherwise));
                Ok(format!("when {subject} {{\nr\"{regex}\" -> {then}\nelse -> {otherwise}\n}}"))
            }
            condition => {
                let condition = self.condition(condition)?;
                let otherwise = match otherwise {
                    "" => String::new(),
                    text => format!(" else {}", block(text)),
                };
                Ok(format!("if {condition} {}{otherwise}", block(then)))
            }
        }
    }

    fn condition(&mut self, condition: &Cond) -> Result<String, Why> {
        Ok(match condition {
            Cond::Equal(left, right) => format!("{} == {}", self.expr(left)?, self.expr(right)?),
            Cond::NotEqual(left, right) => format!("{} != {}", self.expr(left)?, self.expr(right)?),
            Cond::Exists(path) => format!("{AT}file.exists({})", self.expr(path)?),
            Cond::Not(inner) => match &**inner {
                Cond::Equal(left, right) => {
                    format!("{} != {}", self.expr(left)?, self.expr(right)?)
                }
                Cond::NotEqual(left, right) => {
                    format!("{} == {}", self.expr(left)?, self.expr(right)?)
                }
                inner => format!("!({})", self.condition(inner)?),
            },
            Cond::All(all) => self.conditions(all, " && ")?,
            Cond::Any(any) => self.conditions(any, " || ")?,
            Cond::Matches(..) => return Err("a regular expression inside a condition".to_owned()),
        })
    }

    fn conditions(&mut self, all: &[Cond], operator: &str) -> Result<String, Why> {
        let all: Result<Vec<_>, _> = all.iter().map(|it| self.condition(it)).collect();
        let all: Vec<_> = all?.into_iter().map(|it| format!("({it})")).collect();
        Ok(all.join(operator))
    }

    /// A variable for a value that shell text cannot compute in place.
    pub(super) fn hoist(&mut self, value: &Expr) -> Result<String, Why> {
        if self.is_top {
            return Err("it needs statements".to_owned());
        }
        let written = self.expr(value)?;
        self.hoist_written(written)
    }

    pub(super) fn hoist_written(&mut self, written: String) -> Result<String, Why> {
        if self.is_top {
            return Err("it needs statements".to_owned());
        }
        let is_name = written.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_name && !written.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(written);
        }
        if let Some(name) = self.hoisted.get(&written) {
            return Ok(name.clone());
        }
        let name = self.names.variable("value");
        self.prelude.push(format!("var {name} = {written}"));
        self.hoisted.insert(written, name.clone());
        Ok(name)
    }
}

impl Scope<'_> {
    /// A directory; an empty path is the one where the task starts.
    pub(super) fn directory(&mut self, path: &Expr) -> Result<String, Why> {
        match shape(path, self) {
            Shape::Optional | Shape::Text => {
                let is_empty = Cond::Equal(path.clone(), Expr::text(""));
                self.expr(&Expr::choice(is_empty, Expr::text("."), path.clone()))
            }
            _ => self.expr(path),
        }
    }

    /// The variable of a loop.
    pub(super) fn enter(&mut self, item: &str) -> String {
        let name = self.names.variable(item);
        self.items.push((item.to_owned(), name.clone()));
        name
    }

    pub(super) fn leave(&mut self) {
        self.items.pop();
    }

    /// A constant of several words as a list.
    pub(super) fn list(&mut self, value: &Expr) -> Result<String, Why> {
        match shape(value, self) {
            Shape::Words(words) => {
                let words: Vec<_> = words.iter().map(|it| literal(it)).collect();
                Ok(format!("[{}]", words.join(", ")))
            }
            _ => Err("it is not a list of words".to_owned()),
        }
    }

    /// The default of a parameter, which may use the parameters before it.
    pub(super) fn default(&self, value: &Expr) -> Result<String, Why> {
        let params = self.params.clone();
        Scope { params, ..Scope::top(self.globals) }.expr(value)
    }
}

impl Lookup for Scope<'_> {
    fn param(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|(param, _)| param.name == name).map(|(param, _)| *param)
    }

    fn variable(&self, name: &str) -> Option<&Expr> {
        if self.items.iter().any(|(item, _)| item == name) {
            return None;
        }
        let own = self.own.iter().find(|(own, _)| own == name).map(|(_, value)| value);
        own.or_else(|| self.globals.variable(name))
    }

    fn shapes(&self) -> &RefCell<BTreeMap<String, Shape>> {
        &self.shapes
    }
}
