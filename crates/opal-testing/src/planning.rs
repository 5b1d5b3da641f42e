//! A project to plan: a source, its target and a world of plain data.

use std::collections::BTreeMap;

use crate::MemoryWorld;
use opal_core::contract::plan_hash;
use opal_core::decorator::Descriptor;
use opal_core::hash::Algorithm;
use opal_core::keys::{Draw, Keys};
use opal_core::placeholder::PlaceholderKey;
use opal_core::resolver::Stream;
use opal_core::selection::Selection;
use opal_core::view::{PlanFormatter, PlanView, Tree};
use opal_core::{Diagnostic, LineIndex, Registry, Value};
use opal_plan::Words;
use opal_plan::check;
use opal_plan::lower;
use opal_plan::plan::{Purpose, Request, Resolved, Unplanned, plan};
use opal_trust::keys::KeyError;
use opal_trust::randomness::{Drbg, Site};

#[derive(Debug)]
pub struct Project {
    pub source: String,
    pub target: Option<String>,
    pub arguments: BTreeMap<String, Value>,
    pub purpose: Purpose,
    pub world: MemoryWorld,
    pub algorithm: Algorithm,
    pub registry: Registry,
}

/// Keys that every test machine has.
#[derive(Debug)]
pub struct FixedKeys;

impl Keys for FixedKeys {
    fn placeholder_key(&mut self) -> Result<PlaceholderKey, KeyError> {
        Ok(PlaceholderKey::new([7; 32]))
    }

    fn draw(&mut self, draw: &Draw<'_>) -> Result<Box<dyn Stream>, KeyError> {
        let site = Site {
            plan: draw.plan_hash,
            path: draw.path,
            decorator: draw.decorator.path,
            counter: u64::from(draw.counter),
        };
        Ok(Box::new(Drbg::of_site(&[9; 32], &site)))
    }
}

impl Project {
    pub fn new(source: &str) -> Self {
        Self {
            source: source.to_owned(),
            target: None,
            arguments: BTreeMap::new(),
            purpose: Purpose::Run,
            world: MemoryWorld::default(),
            algorithm: Algorithm::Sha256,
            registry: opal_decorators::registry(),
        }
    }

    /// A source with directives at its beginning.
    pub fn read(source: &str) -> Self {
        let mut project = Self::new(source);
        for line in source.lines().map_while(|line| line.strip_prefix("//@ ")) {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let (first, second) = rest.split_once(' ').unwrap_or((rest, ""));
            project = match word {
                "target" => project.target(rest),
                "mode" => project.purpose(match rest {
                    "quick" => Purpose::Quick,
                    "contract" => Purpose::Contract,
                    _ => Purpose::Run,
                }),
                "arg" => project.arg(first, value(second)),
                "env" => project.world(|world| world.env(first, second)),
                "file" => project.world(|world| world.file(first, second)),
                "run" => {
                    let (command, output) = rest.split_once(" => ").unwrap();
                    project.world(|world| world.command(command, output))
                }
                _ => panic!("{line}"),
            };
        }
        project
    }

    pub fn target(mut self, name: &str) -> Self {
        self.target = Some(name.to_owned());
        self
    }

    pub fn purpose(mut self, purpose: Purpose) -> Self {
        self.purpose = purpose;
        self
    }

    pub fn arg(mut self, name: &str, value: Value) -> Self {
        self.arguments.insert(name.to_owned(), value);
        self
    }

    pub fn world(mut self, change: impl FnOnce(MemoryWorld) -> MemoryWorld) -> Self {
        self.world = change(std::mem::take(&mut self.world));
        self
    }

    /// With decorators besides the built-in ones.
    pub fn plugins(mut self, plugins: &[&'static Descriptor]) -> Self {
        let all: Vec<&'static Descriptor> =
            opal_decorators::BUILT_IN.iter().chain(plugins).copied().collect();
        self.registry = Registry::new(&all).unwrap();
        self
    }

    pub fn plan(&self) -> Result<Resolved, Vec<Diagnostic>> {
        let registry = &self.registry;
        let checked = check::check(&self.source, registry);
        let errors: Vec<Diagnostic> =
            checked.diagnostics.into_iter().filter(Diagnostic::is_error).collect();
        if !errors.is_empty() {
            return Err(errors);
        }
        let parse = opal_syntax::parse(&self.source, &Words(registry));
        let unit = lower::unit(&parse, &self.source);
        let request = Request {
            unit: &unit,
            registry,
            text: Some((&parse, &self.source)),
            function: self.target.as_deref(),
            arguments: &self.arguments,
            algorithm: self.algorithm,
            purpose: self.purpose,
            selection: Selection::default(),
        };
        match plan(&request, &self.world, &mut FixedKeys) {
            Ok(resolved) => Ok(resolved),
            Err(Unplanned::Errors(errors)) => Err(errors),
            Err(Unplanned::Key(error)) => panic!("{error:?}"),
        }
    }

    /// The tree, or the errors, one a line with code and place.
    pub fn shown(&self) -> String {
        match self.plan() {
            Ok(resolved) => {
                let view = PlanView::new(&resolved.plan, plan_hash(&resolved.plan));
                let tree = Tree::default().format(&view.with_registry(&self.registry));
                String::from_utf8(tree).unwrap()
            }
            Err(errors) => errors.iter().map(|error| self.line(error)).collect(),
        }
    }

    pub fn line(&self, error: &Diagnostic) -> String {
        let lines = LineIndex::new(&self.source);
        let at = lines.position(&self.source, error.primary.span.start);
        let help = error.help.join("; ");
        let code = error.code.as_str();
        format!("{}:{}: {code}: {} ({help})\n", at.line, at.column, error.message)
    }
}

fn value(text: &str) -> Value {
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => match text.parse() {
            Ok(number) => Value::Int(number),
            Err(_) => Value::String(text.to_owned().into()),
        },
    }
}
