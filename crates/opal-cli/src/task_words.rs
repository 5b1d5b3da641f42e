//! The words after a task's name, sorted: values of its parameters, options of opal, or a
//! question for help.
//!
//! Every parameter is given by position or as a flag. A word without a flag goes to the first
//! parameter that has no value yet, so `opal deploy --env=prod 5` gives `5` to the next one.
//! A rest parameter takes every word from its first one on, flags included: a flag that nobody
//! else knows begins it where it is next. `--` ends the flags. A function's flags win over opal's.

use std::collections::BTreeMap;
use std::ffi::OsString;

use opal_core::parameter::{BindError, Binding, Parameter, read_word};
use opal_core::{Type, Value, suggest};

use crate::builtins;
use crate::failure::Failure;
use crate::options::{self, Behind, Taken};
use crate::tasks::{self, Task, TaskParam, quoted};

/// What the words ask for.
#[derive(Debug)]
pub(crate) enum Typed {
    Work(Words),
    Missing(Missing),
    /// `-h`: the task's own parameters.
    ShortHelp,
    /// `--help`: everything.
    LongHelp,
}

/// What was given, and what to say about what was not.
#[derive(Debug)]
pub(crate) struct Missing {
    pub(crate) words: Words,
    pub(crate) failure: Failure,
}

#[derive(Debug, Default)]
pub(crate) struct Words {
    /// By the parameters' names: only what was given, and always the rest.
    pub(crate) arguments: BTreeMap<String, Value>,
    /// Opal's own options, as they were typed.
    pub(crate) options: Vec<OsString>,
}

/// What messages need beyond the task itself.
#[derive(Clone, Copy)]
pub(crate) struct Others<'a> {
    /// The tasks of the file, for a second one on the line.
    pub(crate) names: &'a dyn Fn() -> Vec<String>,
    /// The first words of a command for a task of the file.
    pub(crate) opal: &'a dyn Fn() -> String,
}

/// Sorts the words.
pub(crate) fn sort(
    task: &Task,
    words: &[OsString],
    side: Behind,
    others: &Others<'_>,
) -> Result<Typed, Failure> {
    let (found, binding) = (Words::default(), Binding::new(&task.params));
    let mut sorter = Sorter { task, side, others, found, binding, rest: None, is_literal: false };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word
            .to_str()
            .ok_or_else(|| Failure::usage("an argument is not UTF-8", "give arguments in UTF-8"))?;
        if sorter.rest.is_some() {
            sorter.more(text)?;
            continue;
        }
        if text == "--" {
            sorter.is_literal = true;
            for word in words.by_ref() {
                let text = word.to_str().unwrap_or_default();
                sorter.positional(text)?;
            }
            break;
        }
        let mut next = || words.next();
        if let Some(help) = sorter.word(text, word, &mut next)? {
            return Ok(help);
        }
    }
    Ok(sorter.end())
}

struct Sorter<'a> {
    task: &'a Task,
    side: Behind,
    others: &'a Others<'a>,
    found: Words,
    binding: Binding<'a, TaskParam, ()>,
    /// The words of the rest, once it has begun.
    rest: Option<Vec<Value>>,
    /// After `--`: words are values, whatever they look like.
    is_literal: bool,
}

impl<'a> Sorter<'a> {
    fn word(
        &mut self,
        text: &str,
        word: &OsString,
        next: &mut dyn FnMut() -> Option<&'a OsString>,
    ) -> Result<Option<Typed>, Failure> {
        if !text.starts_with('-') || text == "-" {
            return self.positional(text).map(|()| None);
        }
        if self.flag(text, next)? {
            return Ok(None);
        }
        match text {
            "-h" => return Ok(Some(Typed::ShortHelp)),
            "--help" => return Ok(Some(Typed::LongHelp)),
            _ => {}
        }
        if let Some(taken) = options::taken(text, self.side) {
            self.found.options.push(word.clone());
            if taken == Taken::WithNext {
                self.found.options.extend(next().cloned());
            }
            return Ok(None);
        }
        let is_number = self.next_param().is_some_and(|param| {
            matches!(param.ty, Type::Int | Type::Float | Type::Duration)
                && text[1..].starts_with(|c: char| c.is_ascii_digit() || c == '.')
        });
        let begins_rest = self.next_param().is_some_and(|param| param.rest);
        if is_number || begins_rest && !self.is_typo(text) {
            return self.positional(text).map(|()| None);
        }
        Err(self.unknown(text, begins_rest))
    }

    /// A flag of the task itself: `--x`, `--no-x`, `--x=v` or `--x v`.
    fn flag(
        &mut self,
        text: &str,
        next: &mut dyn FnMut() -> Option<&'a OsString>,
    ) -> Result<bool, Failure> {
        let Some(long) = text.strip_prefix("--") else { return Ok(false) };
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (long, None),
        };
        let task = self.task;
        if let Some(index) = task.flag(name) {
            let param = &task.params[index];
            let value = match value {
                Some(value) => self.value(param, &value)?,
                None if param.is_bool => Value::Bool(true),
                None => {
                    let word = next().and_then(|word| word.to_str()).ok_or_else(|| {
                        let message = format!("`--{name}` of `{}` needs a value", task.name);
                        Failure::usage(message, format!("write `--{name}=VALUE`"))
                    })?;
                    self.value(param, word)?
                }
            };
            return self.set(index, value).map(|()| true);
        }
        match task.switched_off(name).filter(|_| value.is_none()) {
            Some(index) => self.set(index, Value::Bool(false)).map(|()| true),
            None => Ok(false),
        }
    }

    fn set(&mut self, index: usize, value: Value) -> Result<(), Failure> {
        let param = &self.task.params[index];
        let bound = self.binding.at(index, ());
        // Of a switch the last one counts, as everywhere.
        if bound.is_err() && !param.is_bool {
            let message = format!("`{}` of `{}` is given twice", param.name, self.task.name);
            return Err(Failure::usage(message, self.usage()));
        }
        self.found.arguments.insert(param.name.clone(), value);
        Ok(())
    }

    /// The parameter that the next word without a flag goes to.
    fn next_param(&self) -> Option<&'a TaskParam> {
        self.binding.next().map(|index| &self.task.params[index])
    }

    fn positional(&mut self, text: &str) -> Result<(), Failure> {
        let index = match self.binding.by_position(()) {
            Ok(index) => index,
            Err(BindError::TooMany | BindError::Unknown | BindError::Repeated { .. }) => {
                self.not_by_name(text)?;
                return Err(self.too_many(text));
            }
        };
        let param = &self.task.params[index];
        if param.rest {
            self.rest.get_or_insert_default();
            return self.more(text);
        }
        self.not_by_name(text)?;
        let value = self.value(param, text)?;
        self.found.arguments.insert(param.name.clone(), value);
        Ok(())
    }

    /// Refuses `version=1.2`, which is how Make and Task give the parameter `version`: as a word it
    /// would be the text `version=1.2`.
    fn not_by_name(&self, text: &str) -> Result<(), Failure> {
        let named = text
            .split_once('=')
            .and_then(|(name, value)| Some((&self.task.params[self.task.flag(name)?], value)));
        let Some((param, value)) = named.filter(|_| !self.is_literal) else { return Ok(()) };
        let (task, name) = (&self.task.name, &param.name);
        let message = format!("invalid form `{text}` for `{name}` of `{task}`");
        let word = tasks::flag_word(param, value);
        let failure =
            Failure::usage(message, format!("write `{word}`, or the value in its position"));
        Err(failure.help(format!("for a value that begins with `{name}=`, put `--` before it")))
    }

    /// One more word of the rest.
    fn more(&mut self, text: &str) -> Result<(), Failure> {
        let Some(param) = self.task.params.iter().find(|param| param.rest) else { return Ok(()) };
        let value = self.value(param, text)?;
        self.rest.get_or_insert_default().push(value);
        Ok(())
    }

    fn end(mut self) -> Typed {
        let missing: Vec<String> = self.binding.missing().map(named).collect();
        if let Some(param) = self.task.params.iter().find(|param| param.rest) {
            // No words at all are an Array too: nothing else could be its default.
            let words = self.rest.take().unwrap_or_default();
            self.found.arguments.insert(param.name.clone(), Value::Array(words));
        }
        if missing.is_empty() {
            return Typed::Work(self.found);
        }
        let message = format!("`{}` needs {}", self.task.name, missing.join(" and "));
        let failure = Failure::usage(message, self.usage());
        Typed::Missing(Missing { words: self.found, failure })
    }

    fn value(&self, param: &TaskParam, word: &str) -> Result<Value, Failure> {
        read_word(&param.ty, word).map_err(|error| {
            let name = &self.task.name;
            let message = format!("`{}` of `{name}` {error}, got `{word}`", param.name);
            let near = suggest::nearest(word, param.choices.iter().map(String::as_str));
            let help = match near {
                Some(near) => format!("did you mean `{}`?", quoted(near)),
                None => format!("see `{} -h`", self.task.command(&(self.others.opal)())),
            };
            Failure::usage(message, help)
        })
    }

    fn usage(&self) -> String {
        let opal = (self.others.opal)();
        format!("usage: {}; see `{} -h`", self.task.usage(&opal), self.task.command(&opal))
    }

    /// A flag that may have been meant.
    fn near(&self, text: &str) -> Option<String> {
        let name = text.split('=').next().unwrap_or(text);
        let own = self.task.flags();
        let all: Vec<String> = own.chain(options::names_behind(self.side)).collect();
        suggest::nearest(name, all.iter().map(String::as_str)).map(str::to_owned)
    }

    /// Whether a word is one edit from a flag: `--dry-rum` must not run everything.
    fn is_typo(&self, text: &str) -> bool {
        let name = text.split('=').next().unwrap_or(text);
        let is_one_edit = |near: &String| name.len() > 5 && suggest::distance(name, near) <= 1;
        self.near(text).as_ref().is_some_and(is_one_edit)
    }

    fn unknown(&self, text: &str, begins_rest: bool) -> Failure {
        let name = text.split('=').next().unwrap_or(text);
        let message = format!("unknown option `{name}` of `{}`", self.task.name);
        let failure = match self.near(text) {
            Some(near) => Failure::usage(message, format!("did you mean `{near}`?")),
            None => Failure::usage(message, self.usage()),
        };
        match (begins_rest, self.next_param()) {
            (true, _) => failure.help(format!("to pass it on, put `--` before it: `-- {text}`")),
            (false, Some(_)) => failure
                .help(format!("for a value that begins with `-`, put `--` before it: `-- {text}`")),
            (false, None) => failure,
        }
    }

    fn too_many(&self, text: &str) -> Failure {
        let name = &self.task.name;
        let takes = match self.task.params.len() {
            0 => "takes no arguments".to_owned(),
            1 => "takes one argument".to_owned(),
            count => format!("takes {count} arguments"),
        };
        let names = (self.others.names)();
        let second = names.iter().find(|known| *known == text).map(String::as_str);
        let second = second.or_else(|| suggest::nearest(text, names.iter().map(String::as_str)));
        let message = format!("`{name}` {takes}, but got `{text}` too");
        let opal = (self.others.opal)();
        let command = self.task.command(&opal);
        let run = if second.is_some_and(builtins::is_reserved) { "run " } else { "" };
        match second {
            Some(second) => Failure::usage(
                message,
                format!("to run two tasks, write `{command} && {opal} {run}{second}`"),
            ),
            None => match variable_before(text, &command) {
                Some(help) => Failure::usage(message, help),
                None => Failure::usage(message, self.usage()),
            },
        }
    }
}

/// What to type for `FOO=bar` among the words, which sets a variable for Make, just and Task.
pub(crate) fn variable_before(word: &str, command: &str) -> Option<String> {
    let (name, value) = word.split_once('=')?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = name.chars().all(is_part) && !name.starts_with(|c: char| c.is_ascii_digit());
    let value = if value.is_empty() { String::new() } else { quoted(value) };
    (is_name && !name.is_empty())
        .then(|| format!("to set an environment variable, write `{name}={value} {command}`"))
}

/// A parameter as a message names it.
fn named(param: &TaskParam) -> String {
    format!("`{}`", param.name)
}

impl Parameter for TaskParam {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_required(&self) -> bool {
        self.default.is_none()
    }

    fn is_rest(&self) -> bool {
        self.rest
    }
}

#[cfg(test)]
mod tests;
