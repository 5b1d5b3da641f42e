//! Whether the resources of a plan go together: what they are called, what they depend on, and that no
//! two describe one thing in two ways.
//!
//! Values from the world are compared by what they are, and never printed. What a quick plan has left
//! open is not judged.

mod order;

use std::collections::BTreeMap;

use opal_core::placeholder::bytes;
use opal_core::plan::{Arg, Key, Piece, Step};
use opal_core::resource::{self, Described};
use opal_core::{Code, Data, Diagnostic, Registry, Secret, Value, suggest};
use zeroize::Zeroizing;

use super::Resolved;
use order::Place;

/// Everything that is wrong, in the order of the places.
pub(super) fn check(resolved: &Resolved, registry: &Registry) -> Vec<Diagnostic> {
    let nodes = order::nodes(&resolved.plan.steps, registry);
    if nodes.is_empty() {
        return Vec::new();
    }
    let mut checker = Checker { resolved, nodes, errors: Vec::new() };
    checker.names();
    checker.dependencies();
    checker.things();
    let mut errors = checker.errors;
    opal_core::diagnostic::sort(&mut errors);
    errors.dedup();
    errors
}

/// A resource, and where it stands.
struct Node<'p> {
    step: &'p Step,
    described: Described,
    place: Place,
}

/// Which thing a resource is about, by value.
type Thing = Vec<(&'static str, String)>;

struct Checker<'p> {
    resolved: &'p Resolved,
    nodes: Vec<Node<'p>>,
    errors: Vec<Diagnostic>,
}

impl<'p> Checker<'p> {
    fn values(&self) -> &'p BTreeMap<Key, Data> {
        &self.resolved.secrets
    }

    fn name(&self, index: usize) -> &'p str {
        resource::name(&self.resolved.plan, self.nodes[index].step)
    }

    /// An id is known before the run, and one step's only.
    fn names(&mut self) {
        for node in &self.nodes {
            for name in ["id", "depends_on"] {
                if node.step.arg(name).is_some_and(is_of_the_run) {
                    let message = format!("`{name}` is a value that only the run will give");
                    let error = Diagnostic::new(Code::LetAtPlanTime, node.step.span, message)
                        .help("what a step is called and waits for is part of the plan");
                    self.errors.push(error);
                }
            }
        }
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let Some(id) = resource::id(node.step, self.values()) else { continue };
            let Some(&first) = known.get(id) else {
                known.insert(id, index);
                continue;
            };
            let other = &self.nodes[first];
            if node.place.is_open || other.place.is_open {
                continue;
            }
            let name = self.shown(node.step.arg("id"));
            let message = format!(
                "{name} is the id of two resources: `{}` and `{}`",
                other.step.path, node.step.path
            );
            let error = Diagnostic::new(Code::DuplicateId, node.step.span, message)
                .also(other.step.span, "the other")
                .help("give each an id of its own; in a loop, make the element a part of it");
            self.errors.push(error);
        }
    }

    fn dependencies(&mut self) {
        let values = self.values();
        let ids: BTreeMap<&str, usize> = (self.nodes.iter().enumerate().rev())
            .filter_map(|(index, node)| Some((resource::id(node.step, values)?, index)))
            .collect();
        let mut edges = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            for (at, wanted) in resource::depends_on(node.step, values).into_iter().enumerate() {
                match ids.get(wanted) {
                    Some(&other) => edges.push((index, other)),
                    None => {
                        let error = self.unknown(node.step, at, wanted, &ids);
                        self.errors.push(error);
                    }
                }
            }
        }
        for &(index, other) in &edges {
            let (node, before) = (&self.nodes[index], &self.nodes[other]);
            if index == other {
                self.errors.push(self.circle(&[index]));
            } else if node.place.waits_in_vain(&before.place) {
                let (name, wanted) = (self.name(index), self.name(other));
                let message = format!("`{name}` depends on `{wanted}`, which comes after it");
                let error = Diagnostic::new(Code::DependencyOrder, node.step.span, message)
                    .also(before.step.span, "this comes later")
                    .help(format!("move `{wanted}` before it"))
                    .help("in a `@parallel { … }` the order does not matter");
                self.errors.push(error);
            }
        }
        let places: Vec<&Place> = self.nodes.iter().map(|node| &node.place).collect();
        for circle in order::circles(&places, &edges) {
            self.errors.push(self.circle(&circle));
        }
    }

    /// `a -> b -> a`.
    fn circle(&self, around: &[usize]) -> Diagnostic {
        let first = around.first().copied().unwrap_or_default();
        let names = around.iter().chain([&first]).map(|&index| self.name(index));
        let names = names.collect::<Vec<_>>().join(" -> ");
        let message = format!("resources depend on each other in a circle: {names}");
        let span = self.nodes[first].step.span;
        let error = Diagnostic::new(Code::DependencyCycle, span, message);
        let others = around.iter().skip(1).map(|&index| self.nodes[index].step.span);
        others
            .fold(error, |error, span| error.also(span, "part of the circle"))
            .help("take one of them out of a `depends_on`")
    }

    fn unknown(
        &self,
        step: &Step,
        at: usize,
        wanted: &str,
        ids: &BTreeMap<&str, usize>,
    ) -> Diagnostic {
        let item = match step.arg("depends_on") {
            Some(Arg::Array(items)) => self.shown(items.get(at)),
            Some(Arg::Const(_)) => format!("`{wanted}`"),
            given => self.shown(given),
        };
        let is_hidden = item != format!("`{wanted}`");
        let message = format!("there is no resource with the id {item} to depend on");
        let nearest = suggest::nearest(wanted, ids.keys().copied()).filter(|_| !is_hidden);
        // What is hidden is named by its path.
        let nearest = nearest.and_then(|id| ids.get(id)).map(|&index| self.name(index));
        Diagnostic::new(Code::UnknownDependency, step.span, message).help(match nearest {
            Some(name) => format!("did you mean `{name}`?"),
            None => "give the resource that is meant this `id`".to_owned(),
        })
    }

    /// An argument for a message: in clear only where it stands in the source.
    fn shown(&self, arg: Option<&Arg>) -> String {
        match arg {
            Some(Arg::Const(Value::String(text))) => format!("`{text}`"),
            Some(Arg::Value(key)) => format!("`{key}`"),
            _ => "it names".to_owned(),
        }
    }

    /// One thing has one description.
    fn things(&mut self) {
        let mut known: BTreeMap<(&str, Thing), usize> = BTreeMap::new();
        for index in 0..self.nodes.len() {
            let node = &self.nodes[index];
            let Some(thing) = self.thing(node) else { continue };
            let first = *known.entry((node.described.resource.yaml, thing)).or_insert(index);
            let other = &self.nodes[first];
            if first == index || node.place.is_open || other.place.is_open {
                continue;
            }
            let Some(argument) = self.differ(other, node) else { continue };
            let key = resource::key(&self.resolved.plan, node.step, node.described);
            let message = format!(
                "`{}` and `{}` describe `{key}` in two ways: they differ in `{argument}`",
                other.step.path, node.step.path
            );
            let error = Diagnostic::new(Code::ResourceConflict, node.step.span, message)
                .also(other.step.span, "the other description")
                .help("say it once; what both must have belongs into one of them");
            self.errors.push(error);
        }
    }

    /// Which thing it is, by value; none where that is not known, or nothing is described. A command
    /// is another one in another place.
    fn thing(&self, node: &Node<'_>) -> Option<Thing> {
        let mut thing = resource::thing(node.step, node.described, self.values())?;
        if node.step.command().is_some() {
            node.step.arg("check")?;
            thing.push(("", node.place.around.to_string()));
        }
        Some(thing)
    }

    /// The first argument in which two descriptions differ, as far as they are known.
    fn differ(&self, a: &Node<'_>, b: &Node<'_>) -> Option<&'static str> {
        const OF_ITS_OWN: [&str; 3] = ["id", "depends_on", "verify_timeout"];
        let params = a.described.descriptor.params.iter();
        let mut params = params.filter(|param| !OF_ITS_OWN.contains(&param.name));
        let given = |node: &Node<'_>, param: &opal_core::decorator::Param| {
            let arg = node.step.arg(param.name);
            let arg = arg.or_else(|| param.alias.and_then(|alias| node.step.arg(alias)));
            match (arg, &param.presence) {
                (Some(arg), _) => known(arg, self.values()),
                (None, opal_core::decorator::Presence::Default(value)) => Some(value.into()),
                (None, _) => Some(Data::Null),
            }
        };
        let differs = |param: &&opal_core::decorator::Param| {
            // Which thing it is has been compared, in its tidy form.
            !a.described.resource.key.contains(&param.name)
                && given(a, param)
                    .zip(given(b, param))
                    .is_some_and(|(a, b)| canonical(a) != canonical(b))
        };
        params.find(differs).map(|param| param.name)
    }
}

/// Bytes that are the same for the same value.
fn canonical(data: Data) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(bytes(&Data::Array(vec![data])))
}

/// The value of an argument; none where it is open.
fn known(arg: &Arg, values: &BTreeMap<Key, Data>) -> Option<Data> {
    match arg {
        Arg::Const(value) => Some(value.into()),
        Arg::Value(key) => values.get(key).cloned(),
        Arg::Array(items) => {
            items.iter().map(|item| known(item, values)).collect::<Option<_>>().map(Data::Array)
        }
        Arg::Map(fields) => {
            let fields = fields.iter().map(|(name, arg)| Some((name.clone(), known(arg, values)?)));
            fields.collect::<Option<_>>().map(Data::Map)
        }
        Arg::Text(pieces) | Arg::Shell(pieces) => {
            let pieces = pieces.iter().map(|piece| match piece {
                Piece::Text(text) => Some(Data::Text(Secret::new(&**text))),
                Piece::Data { arg, .. } | Piece::Raw(arg) => known(arg, values),
            });
            pieces.collect::<Option<_>>().map(Data::Array)
        }
        Arg::Deferred(_) | Arg::Handle(_) => None,
    }
}

/// Whether a part of it is there only when a step has run.
fn is_of_the_run(arg: &Arg) -> bool {
    match arg {
        Arg::Handle(_) => true,
        Arg::Text(pieces) | Arg::Shell(pieces) => pieces.iter().any(|piece| match piece {
            Piece::Text(_) => false,
            Piece::Data { arg, .. } | Piece::Raw(arg) => is_of_the_run(arg),
        }),
        Arg::Array(items) => items.iter().any(is_of_the_run),
        Arg::Map(fields) => fields.values().any(is_of_the_run),
        Arg::Const(_) | Arg::Value(_) | Arg::Deferred(_) => false,
    }
}
