//! No two resources of a plan describe one thing in two ways: one key with other arguments, a
//! package in two versions, and in parallel a path where something and nothing should be. One after
//! the other the last is not a contradiction: it starts afresh, or cleans up.
//!
//! Paths are compared whole, as their text says it; that a link makes two of them one is for the run to
//! find.

use std::collections::BTreeMap;

use opal_core::decorator::{Param, Presence};
use opal_core::placeholder::{bytes, scalar_text};
use opal_core::plan::{Arg, Key, Piece};
use opal_core::resolver::Probe;
use opal_core::resource;
use opal_core::wiped::Wiped;
use opal_core::{Code, Data, Diagnostic, Secret};

use super::{Checker, Node};
use opal_core::gather::Gather as _;

/// Which thing a resource is about, by value.
type Thing = Vec<(&'static str, String)>;

/// The resources after which nothing is at a path, and those after which something is.
const NOTHING_THERE: &str = "absent";
const SOMETHING_THERE: [&str; 6] =
    ["copy", "directory", "line_in_file", "repo", "symlink", "template"];

impl Checker<'_> {
    pub(super) fn things(&mut self) {
        let mut errors = Vec::new();
        let mut known: BTreeMap<(&str, Thing), usize> = BTreeMap::new();
        let mut paths: BTreeMap<String, usize> = BTreeMap::new();
        let mut fetched: BTreeMap<String, usize> = BTreeMap::new();
        let mut packages: BTreeMap<(String, String), (usize, String)> = BTreeMap::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let thing = if node.place.is_open { None } else { self.thing(node) };
            let Some(thing) = thing else { continue };
            errors.extend(self.fetched_twice(index, &mut fetched));
            errors.extend(self.opposite(index, &thing, &mut paths));
            errors.extend(self.versions(index, &mut packages));
            let first = *known.entry((node.described.resource.yaml, thing)).or_insert(index);
            let other = &self.nodes[first];
            // Nearly always it is the first of its kind, and would be compared with itself.
            if first != index
                && let Some(argument) = self.differ(other, node)
            {
                let key = resource::key(&self.resolved.plan, node.step, node.described);
                let how = format!("`{key}` differently: they differ in `{argument}`");
                errors.push(self.conflict(other, node, &how));
            }
        }
        self.errors.append(&mut errors);
    }

    /// Which thing it is, by value; none where that is not known, or nothing is described. A command
    /// is another one in another place.
    fn thing(&self, node: &Node<'_>) -> Option<Thing> {
        let mut thing =
            resource::thing(node.step, node.described, self.values(), &*self.seen(node))?;
        if node.step.command().is_some() {
            node.step.arg("check")?;
            thing.push(("", node.place.around.to_string()));
        }
        // Elsewhere it is another one.
        if let Some(targets) = &node.place.targets {
            thing.push(("", targets.to_string()));
        }
        Some(thing)
    }

    /// The world as a resource sees it: paths begin beside the file that names them.
    fn seen(&self, node: &Node<'_>) -> Box<dyn Probe + '_> {
        match &node.place.directory {
            Some(directory) => self.probe.within(directory),
            None => Box::new(self.probe),
        }
    }

    /// One file here that is copied from two targets. In a fleet each has a directory of its own.
    fn fetched_twice(
        &self,
        index: usize,
        fetched: &mut BTreeMap<String, usize>,
    ) -> Option<Diagnostic> {
        let node = &self.nodes[index];
        if node.described.resource.yaml != "fetch" || node.place.is_member {
            return None;
        }
        let text = |name| known(node.step.arg(name)?, self.values());
        let (to, path) = (text("to")?, text("path")?);
        let name = path.as_text()?.trim_end_matches('/').rsplit('/').next()?.to_owned();
        let copy = resource::placed(&format!("{}/{name}", to.as_text()?), &*self.seen(node));
        let other = &self.nodes[*fetched.entry(copy).or_insert(index)];
        if other.place.targets == node.place.targets {
            return None;
        }
        let key = resource::key(&self.resolved.plan, node.step, node.described);
        Some(self.conflict(other, node, &format!("one copy from two targets: `{key}`")))
    }

    /// One path at which something and nothing should be.
    fn opposite(
        &self,
        index: usize,
        thing: &Thing,
        paths: &mut BTreeMap<String, usize>,
    ) -> Option<Diagnostic> {
        let node = &self.nodes[index];
        let state = node.step.arg("state").and_then(|arg| known(arg, self.values()));
        let is_there = match (node.described.resource.yaml, state.as_ref().and_then(Data::as_text))
        {
            (NOTHING_THERE, _) => false,
            // A line that should not be there is content without its file.
            ("line_in_file", Some("absent")) => return None,
            (yaml, _) if SOMETHING_THERE.contains(&yaml) => true,
            _ => return None,
        };
        let (_, path) = thing.first()?;
        let place = format!("{} {path}", node.place.targets.as_deref().unwrap_or_default());
        let other = &self.nodes[*paths.entry(place).or_insert(index)];
        let other_is_there = other.described.resource.yaml != NOTHING_THERE;
        if is_there == other_is_there || other.place.beside(&node.place).is_none() {
            return None;
        }
        let key = |node: &Node<'_>| resource::key(&self.resolved.plan, node.step, node.described);
        let how = format!("one path differently: `{}` and `{}`", key(other), key(node));
        Some(self.conflict(other, node, &how))
    }

    /// One package in two versions, asked of one manager.
    fn versions(
        &self,
        index: usize,
        packages: &mut BTreeMap<(String, String), (usize, String)>,
    ) -> Vec<Diagnostic> {
        let node = &self.nodes[index];
        let items = match (node.described.resource.yaml, node.step.arg("packages")) {
            ("package", Some(Arg::Array(items))) => items.iter().collect(),
            ("package", Some(whole)) => vec![whole],
            _ => return Vec::new(),
        };
        let manager = node.step.arg("manager").map(|arg| known(arg, self.values()));
        let manager = match manager {
            Some(Some(manager)) => manager.as_text().unwrap_or_default().to_owned(),
            Some(None) => return Vec::new(),
            None => "auto".to_owned(),
        };
        let mut errors = Vec::new();
        for arg in items {
            for text in texts(known(arg, self.values())) {
                let Some((name, version)) = text.split_once('=') else { continue };
                let targets = node.place.targets.as_deref().unwrap_or_default();
                let entry = (format!("{manager} {targets}"), name.to_owned());
                let (first, wanted) =
                    packages.entry(entry).or_insert_with(|| (index, version.to_owned()));
                // Within one list it is the resource itself that says so.
                if *first == index || wanted == version {
                    continue;
                }
                let package = match arg {
                    Arg::Const(_) => format!("`{name}`"),
                    hidden => self.shown(Some(hidden)),
                };
                let how = format!("the package {package} differently: they differ in its version");
                errors.push(self.conflict(&self.nodes[*first], node, &how));
            }
        }
        errors
    }

    fn conflict(&self, first: &Node<'_>, second: &Node<'_>, how: &str) -> Diagnostic {
        let name = |node: &Node<'_>| resource::name(&self.resolved.plan, node.step).to_owned();
        let message = format!(
            "conflicting resources: `{}` and `{}` describe {how}",
            name(first),
            name(second)
        );
        Diagnostic::new(Code::ResourceConflict, second.step.span, message)
            .also(first.step.span, "the other description")
            .help("keep one of them, with everything that both need")
    }

    /// The first argument in which two descriptions differ, as far as they are known.
    fn differ(&self, a: &Node<'_>, b: &Node<'_>) -> Option<&'static str> {
        const OF_ITS_OWN: [&str; 4] = ["id", "name", "depends_on", "verify_timeout"];
        let params = a.described.descriptor.params.iter();
        let mut params = params.filter(|param| !OF_ITS_OWN.contains(&param.name));
        let differs = |param: &&Param| {
            // Which thing it is has been compared.
            !a.described.resource.key.contains(&param.name)
                && self
                    .given(a, param)
                    .zip(self.given(b, param))
                    .is_some_and(|(a, b)| canonical(a) != canonical(b))
        };
        params.find(differs).map(|param| param.name)
    }

    /// What a parameter is, in the form in which it is compared; none where that is open.
    fn given(&self, node: &Node<'_>, param: &Param) -> Option<Data> {
        let step = node.step;
        let arg = step.arg(param.name);
        let arg = arg.or_else(|| param.alias.and_then(|alias| step.arg(alias)));
        match (arg, &param.presence) {
            (Some(arg), _) => {
                let data = known(arg, self.values())?;
                Some(match data.as_text() {
                    Some(path) if resource::is_placed(param.name) => {
                        Data::text(resource::placed(path, &*self.seen(node)))
                    }
                    _ => data,
                })
            }
            (None, Presence::Default(value)) => Some(value.into()),
            (None, _) => Some(Data::Null),
        }
    }
}

/// Bytes that are the same for the same value.
fn canonical(data: Data) -> Wiped<Vec<u8>> {
    Wiped::new(bytes(&Data::Array(vec![data])))
}

/// The texts of a list, or of one that is not a list.
fn texts(data: Option<Data>) -> Vec<Wiped<String>> {
    let text = |data: &Data| data.as_text().map(|text| Wiped::new(text.to_owned()));
    match &data {
        Some(Data::Array(items)) => items.iter().filter_map(text).collect(),
        Some(data) => text(data).into_iter().collect(),
        None => Vec::new(),
    }
}

/// The value of an argument; none where it is open.
fn known(arg: &Arg, values: &BTreeMap<Key, Data>) -> Option<Data> {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => Some(Data::Text(Secret::new(&**text))),
        Piece::Data { arg, .. } | Piece::Raw(arg) => known(arg, values),
    };
    match arg {
        Arg::Const(value) => Some(value.into()),
        Arg::Value(key) => values.get(key).cloned(),
        Arg::Array(items) => {
            items.iter().map(|item| known(item, values)).collect::<Option<_>>().map(Data::Array)
        }
        Arg::Map(fields) => {
            let fields = fields.iter().map(|(name, arg)| Some((name.clone(), known(arg, values)?)));
            Some(Data::Map(fields.collect::<Option<Vec<_>>>()?.into_iter().gathered()))
        }
        Arg::Text(pieces) => {
            let mut text = String::new();
            for data in pieces.iter().map(piece) {
                text.push_str(&scalar_text(&data?));
            }
            Some(Data::text(text))
        }
        Arg::Shell(pieces) => pieces.iter().map(piece).collect::<Option<_>>().map(Data::Array),
        Arg::Deferred(_) | Arg::Handle(_) => None,
    }
}
