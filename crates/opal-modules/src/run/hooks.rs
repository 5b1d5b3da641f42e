//! The hooks of a run: which of those that the profile describes run after the tools, and with
//! which words. That they run, and what is kept of it, is as with every other tool.

mod code;
mod step;

use opal_core::gather;
use opal_core::{Code, Diagnostic};
use serde_json::{Map, Value};

use super::Command;
use crate::profile::{Piece, pieces, placeholders};
use crate::reference::shorten;
use crate::{Hook, Profile, ProfileHook, Spec};

pub use step::HookStep;
pub(super) use step::{Filled, LABEL};

/// More than any command needs, and less than any system takes.
const MOST_BYTES: usize = 64 << 10;

/// Why the command of a hook cannot be run.
enum Unfilled {
    /// Nothing gives what a placeholder wants.
    Placeholder(String),
    Doubled,
    Empty,
    TooLong,
    /// A program would read the value of a variable as code.
    Code,
}

impl Unfilled {
    fn why(&self) -> String {
        match self {
            Self::Placeholder(name) => format!("`{{{name}}}` has no value"),
            Self::Doubled => "its command contains `{{`".to_owned(),
            Self::Empty => "its command has no program".to_owned(),
            Self::TooLong => format!("its command is longer than {} KiB", MOST_BYTES >> 10),
            Self::Code => "its command would read `{hook_root}` as code".to_owned(),
        }
    }

    fn help(&self, hook: &str) -> String {
        match self {
            Self::Placeholder(name) => {
                format!("set `{name}` below `execution.hooks.{hook}` of the spec")
            }
            Self::Doubled => "write `{name}`: doubled braces are not supported".to_owned(),
            Self::Empty | Self::TooLong => {
                format!("fix `hooks.{hook}.command` of the profile")
            }
            Self::Code => "pass it as a separate argument to a script of the pack, or omit \
                `hook_root_env`"
                .to_owned(),
        }
    }
}

impl Spec {
    /// What a run would say about its hooks, with this profile; what is an error there keeps it from
    /// beginning.
    #[must_use]
    pub fn reported_hooks(&self, profile: &Profile) -> Vec<Diagnostic> {
        find(Command::Apply, self, profile).1
    }
}

/// The hooks that run. The others are warned about, unless a run must not be without them.
pub(super) fn steps(
    command: Command,
    spec: &Spec,
    profile: &Profile,
    warnings: &mut Vec<String>,
) -> Result<Vec<HookStep>, Vec<Diagnostic>> {
    let mut diagnostics = spec.unknown_hooks(Some(profile));
    let mut steps = Vec::new();
    if diagnostics.is_empty() {
        (steps, diagnostics) = find(command, spec, profile);
    }
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(diagnostics);
    }
    let sentence = |one: Diagnostic| [vec![one.message], one.help].concat().join("; ");
    warnings.extend(diagnostics.into_iter().map(sentence));
    Ok(steps)
}

/// The hooks that run after the tools, in the order of their names, and what there is to say about
/// them and the others.
fn find(command: Command, spec: &Spec, profile: &Profile) -> (Vec<HookStep>, Vec<Diagnostic>) {
    let (mut steps, mut reported) = (Vec::new(), Vec::new());
    if command.of_tools() != Command::Apply {
        return (steps, reported);
    }
    let is_on = |hook: &&Hook| hook.settings.get("enabled") != Some(&Value::Bool(false));
    let mut hooks: Vec<&Hook> = spec.execution.hooks.iter().filter(is_on).collect();
    gather::sort_by(&mut hooks, |a, b| a.name.cmp(&b.name));
    for hook in hooks {
        let name = &hook.name;
        let described = profile.hooks.get(name);
        let Some((own, words)) = described.and_then(|own| Some((own, own.command.as_ref()?)))
        else {
            let profile = &profile.profile_ref;
            let why = format!("the profile `{profile}` has no command for it");
            let help =
                format!("write one below its `hooks.{name}`, or disable the hook in the spec");
            reported.push(not_run(hook, &why).help(help));
            continue;
        };
        let strict = hook.settings.get("strict").and_then(Value::as_bool).unwrap_or(own.strict);
        match fill(words, &Source { command, spec, hook, own }) {
            Ok(words) => {
                let timeout_s = own.timeout_s.or(profile.policy.command_timeout_s);
                steps.push(HookStep { name: name.clone(), strict, timeout_s, words });
            }
            Err(unfilled) => {
                let why = unfilled.why();
                let diagnostic = match strict {
                    true => {
                        let message = format!("the hook `{name}` is strict, but cannot run: {why}");
                        Diagnostic::new(Code::SpecHook, hook.span, message)
                    }
                    false => not_run(hook, &why),
                };
                reported.push(diagnostic.help(unfilled.help(name)));
            }
        }
        reported.extend(unused(hook, words));
    }
    (steps, reported)
}

fn not_run(hook: &Hook, why: &str) -> Diagnostic {
    let message = format!("the hook `{}` does not run: {why}", hook.name);
    Diagnostic::new(Code::SpecUnused, hook.span, message)
}

/// What the module says to a hook that does not listen.
fn unused(hook: &Hook, words: &[String]) -> Vec<Diagnostic> {
    let filled_in = placeholders(words);
    let is_used = |key: &str| matches!(key, "enabled" | "strict") || filled_in.contains(key);
    let is_said = |value: &Value| !matches!(value, Value::Null | Value::Bool(false));
    let unused = hook.settings.iter().filter(|(key, value)| is_said(value) && !is_used(key));
    let reported = |(key, _): (&String, &Value)| {
        let (key, name) = (shorten(key), &hook.name);
        let why = format!("its command has no `{{{key}}}`");
        let message = format!("`{key}` of the hook `{name}` has no effect: {why}");
        Diagnostic::new(Code::SpecUnused, hook.span, message)
    };
    unused.map(reported).collect()
}

/// Where placeholders are filled from.
struct Source<'s> {
    command: Command,
    spec: &'s Spec,
    hook: &'s Hook,
    own: &'s ProfileHook,
}

impl Source<'_> {
    fn get(&self, name: &str) -> Option<Filled> {
        let said = scalar(&self.hook.settings, name).or_else(|| scalar(&self.own.settings, name));
        if let Some(text) = said {
            return Some(Filled::Text(text));
        }
        let Spec { module_ref, execution, .. } = self.spec;
        Some(Filled::Text(match name {
            "module_ref" => module_ref.to_string(),
            "module_id" => module_ref.id(),
            "command" => self.command.name().to_owned(),
            "driver" => execution.driver.to_string(),
            "profile" => execution.profile.to_string(),
            "hook_root" => return Some(self.root()),
            _ => return None,
        }))
    }

    fn root(&self) -> Filled {
        let default = scalar(&self.own.settings, "hook_root_default");
        let default = default.filter(|path| !path.is_empty()).unwrap_or_else(|| ".".to_owned());
        match &self.own.root_variable {
            Some(name) => Filled::Variable { name: name.clone(), default },
            None => Filled::Text(default),
        }
    }
}

fn scalar(settings: &Map<String, Value>, name: &str) -> Option<String> {
    match settings.get(name)? {
        // No word of a command could hold it.
        Value::String(text) if text.contains('\0') => None,
        Value::String(text) => Some(text.clone()),
        value @ (Value::Bool(_) | Value::Number(_)) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn fill(words: &[String], source: &Source<'_>) -> Result<Vec<Vec<Filled>>, Unfilled> {
    let mut filled = Vec::with_capacity(words.len());
    let mut left = MOST_BYTES;
    for word in words {
        let mut parts: Vec<Filled> = Vec::new();
        for piece in pieces(word) {
            let part = match piece {
                Piece::Text(text) => Filled::Text(text.to_owned()),
                Piece::Placeholder(name) => {
                    source.get(name).ok_or_else(|| Unfilled::Placeholder(shorten(name)))?
                }
                Piece::Doubled => return Err(Unfilled::Doubled),
            };
            left = left.checked_sub(part.shown().len()).ok_or(Unfilled::TooLong)?;
            match (parts.last_mut(), part) {
                (Some(Filled::Text(before)), Filled::Text(text)) => before.push_str(&text),
                (_, part) => parts.push(part),
            }
        }
        left = left.checked_sub(1).ok_or(Unfilled::TooLong)?;
        filled.push(parts);
    }
    let is_empty = |parts: &Vec<Filled>| parts.iter().all(|part| part.shown().is_empty());
    match filled.first().is_none_or(is_empty) {
        true => Err(Unfilled::Empty),
        false if code::reads_as_code(&filled) => Err(Unfilled::Code),
        false => Ok(filled),
    }
}
