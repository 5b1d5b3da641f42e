//! Renders templates, within bounds and without a way out: a template sees the values it is given,
//! cannot bring in another one, and has so many steps and so much output.
//!
//! Nothing here prints a value: what the engine says about one is left out of a fault.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value};
use opal_core::suggest::nearest;
use opal_core::template::{self, Fault, Reason, Rendered, Templates, Values};
use opal_core::wiped::Wiped;
use opal_core::{Data, wiped};

use crate::{bounds, chains, go, methods, names, slices};

/// Steps of the engine, about a second of them.
const FUEL: u64 = 10_000_000;

/// Bytes that a template may render to.
const MAX_OUTPUT: usize = 64 << 20;

/// Many files often come from one template, in parallel.
const KEPT: usize = 8;

/// Longer sources are not kept.
const MAX_KEPT_BYTES: usize = 256 * 1024;

/// The one template in its environment.
const NAME: &str = "template";

/// Renders in this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Engine;

impl Templates for Engine {
    fn names(&self, template: &template::Template<'_>) -> Result<BTreeSet<String>, Fault> {
        let compiled = Template::new(template.source, template.allow_missing)?;
        Ok(compiled.names().clone())
    }

    fn render(
        &self,
        template: &template::Template<'_>,
        values: &Values<'_>,
    ) -> Result<Rendered, Fault> {
        let compiled = Template::new(template.source, template.allow_missing)?;
        compiled.render(values.iter().map(|(name, data)| (*name, *data)))
    }
}

impl Engine {
    /// Whether a template may be rendered in a process that does other work too.
    pub fn is_tame(self, template: &template::Template<'_>) -> Result<bool, Fault> {
        let compiled = Template::new(template.source, template.allow_missing)?;
        Ok(*compiled.is_tame.get_or_init(|| bounds::is_tame(&compiled.source)))
    }
}

/// A template that is ready to be rendered.
struct Template {
    source: String,
    allow_missing: bool,
    environment: Environment<'static>,
    names: OnceLock<BTreeSet<String>>,
    is_tame: OnceLock<bool>,
}

impl Template {
    fn new(source: &str, allow_missing: bool) -> Result<Arc<Self>, Fault> {
        static LAST: Mutex<Vec<Arc<Template>>> = Mutex::new(Vec::new());
        let last = || LAST.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |it: &&Arc<Self>| it.allow_missing == allow_missing && it.source == source;
        if let Some(found) = last().iter().find(is_same) {
            return Ok(Arc::clone(found));
        }
        let template = Arc::new(Self::compile(source, allow_missing)?);
        if source.len() <= MAX_KEPT_BYTES {
            let mut last = last();
            last.truncate(KEPT - 1);
            last.insert(0, Arc::clone(&template));
        }
        Ok(template)
    }

    fn compile(source: &str, allow_missing: bool) -> Result<Self, Fault> {
        go::demand_jinja(source)?;
        chains::demand_short(source)?;
        let mut environment = surroundings(allow_missing);
        let added = environment.add_template_owned(NAME, source.to_owned());
        added.map_err(|error| fault(&error))?;
        let (source, names, is_tame) = (source.to_owned(), OnceLock::new(), OnceLock::new());
        Ok(Self { source, allow_missing, environment, names, is_tame })
    }

    /// The names that the template uses and does not set itself.
    fn names(&self) -> &BTreeSet<String> {
        self.names.get_or_init(|| {
            let Ok(template) = self.environment.get_template(NAME) else { return BTreeSet::new() };
            let own: BTreeSet<&str> = self.environment.globals().map(|(name, _)| name).collect();
            let names = template.undeclared_variables(false).into_iter();
            // Of what is sliced the engine does not tell the names.
            let joined = slices::joined(&self.source);
            let joined = joined.and_then(|source| {
                let template = self.environment.template_from_named_str(NAME, &source).ok()?;
                Some(template.undeclared_variables(false))
            });
            let names = names.chain(joined.into_iter().flatten());
            names.filter(|name| !own.contains(name.as_str())).collect()
        })
    }

    /// With each of these values under its name.
    fn render<'d>(
        &self,
        values: impl Iterator<Item = (&'d str, &'d Data)>,
    ) -> Result<Rendered, Fault> {
        let values = Value::from_pairs(values.map(|(name, data)| (name, value(data))));
        let mut output = Bounded(Wiped::new(Vec::with_capacity(self.source.len())));
        self.environment
            .get_template(NAME)
            .and_then(|template| template.render_captured_to(values, &mut output).map(drop))
            .map_err(|error| fault(&error))?;
        Ok(output.0)
    }
}

/// What every template can use. Made once: its tables take longer than most templates.
fn surroundings(allow_missing: bool) -> Environment<'static> {
    static MADE: [OnceLock<Environment<'static>>; 2] = [const { OnceLock::new() }; 2];
    let make = || {
        let mut environment = Environment::new();
        let mut syntax = SyntaxConfig::builder();
        environment.set_syntax(
            syntax.keep_trailing_newline(true).build().expect("the usual marks are valid"),
        );
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_undefined_behavior(if allow_missing {
            UndefinedBehavior::Chainable
        } else {
            UndefinedBehavior::Strict
        });
        // Without it the engine does not say which name has no value.
        environment.set_debug(true);
        environment.set_fuel(Some(FUEL));
        environment.set_unknown_method_callback(methods::call);
        environment
    };
    MADE[usize::from(allow_missing)].get_or_init(make).clone()
}

/// As a template sees it.
fn value(data: &Data) -> Value {
    match data {
        Data::Null => Value::from(()),
        Data::Bool(value) => Value::from(*value),
        Data::Int(value) => Value::from(*value),
        Data::Float(value) => Value::from(*value),
        Data::Text(text) => Value::from(text.expose()),
        Data::Duration(duration) => Value::from(duration.to_string()),
        Data::Array(items) => items.iter().map(value).collect(),
        Data::Map(fields) => {
            Value::from_pairs(fields.iter().map(|(name, field)| (name.as_str(), value(field))))
        }
    }
}

/// Output that may not grow without end.
struct Bounded(Wiped<Vec<u8>>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_OUTPUT {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        wiped::reserve(&mut self.0, bytes.len());
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn fault(error: &Error) -> Fault {
    let line = error.line();
    let detail = error.detail().unwrap_or_default();
    if let Some(name) = undefined(error, detail) {
        return Fault { line, reason: missing(error, name), help: None };
    }
    let (message, help) = match names::unknown(error.kind(), detail) {
        Some((message, help)) => (message, Some(help)),
        None => (said(error, detail), None),
    };
    Fault { line, reason: Reason::Other(message), help }
}

fn missing(error: &Error, name: &str) -> Reason {
    let method = name.rsplit_once('.').map(|(_, method)| method);
    let source = error.template_source().unwrap_or_default();
    Reason::Missing {
        name: name.to_owned(),
        is_method: method.is_some_and(|method| methods::NAMES.contains(&method)),
        near: nearest(name, names::set_in(source)).map(str::to_owned),
    }
}

fn said(error: &Error, detail: &str) -> String {
    match error.kind() {
        // It speaks of the template alone.
        ErrorKind::SyntaxError if !detail.is_empty() => detail.to_owned(),
        ErrorKind::TemplateNotFound | ErrorKind::BadInclude => {
            "a template cannot include another one".to_owned()
        }
        ErrorKind::OutOfFuel => "rendering takes too many steps".to_owned(),
        ErrorKind::WriteFailure => format!("the result is larger than {} MiB", MAX_OUTPUT >> 20),
        kind => {
            let place = excerpt(error).map_or_else(String::new, |place| format!(" in `{place}`"));
            let why = constant(detail).map_or_else(String::new, |why| format!(": {why}"));
            format!("{kind}{place}{why}")
        }
    }
}

/// A detail of which it is known that it holds no value, as that of any other may.
fn constant(detail: &str) -> Option<&str> {
    const DETAILS: [&str; 7] = [
        "cannot create range with step of 0",
        "cannot slice by step size of 0",
        "range has too many elements",
        "recursion limit exceeded",
        "repeated sequence is too large",
        "repeated string is too large",
        "strings can only be multiplied with integers",
    ];
    /// Followed by the names of two types of the engine.
    const TYPES: &str = " operator on unsupported types ";
    const OPERATORS: [&str; 8] = ["+", "-", "*", "/", "//", "%", "**", "~"];
    let types = |detail: &str| {
        let (operator, types) = detail.strip_prefix("tried to use ")?.split_once(TYPES)?;
        let (left, right) = types.split_once(" and ")?;
        let are_known = KINDS.contains(&left) && KINDS.contains(&right);
        (OPERATORS.contains(&operator) && are_known).then_some(())
    };
    (DETAILS.contains(&detail) || types(detail).is_some()).then_some(detail)
}

/// The names of the types of the engine.
const KINDS: [&str; 8] =
    ["undefined", "none", "bool", "number", "string", "sequence", "map", "iterator"];

/// The name without a value that an error is about. The engine has it only in its words; those of any
/// other error than this one may hold values, and what is in them is a name only where the template
/// itself has it.
fn undefined<'e>(error: &'e Error, detail: &'e str) -> Option<&'e str> {
    const END: &str = "` is undefined";
    if error.kind() == ErrorKind::UndefinedError {
        return detail.strip_prefix('`')?.split_once(END).map(|(name, _)| name);
    }
    let (_, name) = detail.rsplit_once(END)?.0.rsplit_once("(`")?;
    error.template_source()?.contains(name).then_some(name)
}

/// The part of the template that failed, where it is short.
fn excerpt(error: &Error) -> Option<&str> {
    let text = error.template_source()?.get(error.range()?)?;
    (text.len() <= 80 && !text.contains('\n')).then_some(text)
}

#[cfg(test)]
mod tests;
