//! `tests/*.yaml` of a package: calls, what the host answers, and what each call must give.

use std::rc::Rc;

use opal_core::data::{Data, Secret};
use opal_core::decorator::{Block, Descriptor, Presence};
use opal_core::protocol::call::{Event, Found, Function, Outcome};
use opal_core::protocol::{Kind, line};
use opal_core::resolver::{Input, Inputs};
use opal_core::{Code, Diagnostic, LineIndex, parameter};
use opal_yaml::fields::{Field, Fields};
use opal_yaml::problems::Problems;
use opal_yaml::scalar::{Meaning, meaning};
use opal_yaml::{Node, NodeKind};

use super::world::World;
use super::worlds;
use crate::codes::CODES;
use crate::manifest::{Body, Declared, Faulty, Manifest, constant};
use crate::package::Package;

/// One call of a test.
#[derive(Debug)]
pub(super) struct Case<'m> {
    pub(super) file: String,
    /// From 1.
    pub(super) line: u32,
    pub(super) name: String,
    pub(super) declared: &'m Declared,
    pub(super) function: Function,
    pub(super) inputs: Inputs,
    pub(super) event: Option<Event>,
    pub(super) world: World,
    pub(super) wants: Wants,
    /// Files that must be there afterwards, or not be there.
    pub(super) after: Vec<(String, Option<String>)>,
}

/// What a call must give.
#[derive(Debug)]
pub(super) enum Wants {
    /// A value, or the output of an action: canonical JSON.
    Result(Secret),
    Finding(Found),
    Error {
        kind: Kind,
        says: Option<String>,
    },
    /// The variables of a block.
    Environment(Vec<(String, String)>),
    /// `proceed`, `retry` or `stop`.
    Verdict(String),
}

impl Wants {
    pub(super) fn words(&self) -> String {
        match self {
            Self::Result(json) => format!("result {}", json.expose()),
            Self::Finding(found) => found.word().to_owned(),
            Self::Error { kind, .. } => format!("error {}", kind.word()),
            Self::Environment(env) => format!("env {env:?}"),
            Self::Verdict(word) => word.clone(),
        }
    }
}

const KEYS: [&str; 14] = [
    "name", "call", "subject", "args", "text", "world", "event", "result", "finding", "error",
    "says", "verdict", "env", "after",
];
const FINDINGS: [&str; 4] = ["satisfied", "missing", "drifted", "unknown"];

/// The tests of a package.
///
/// # Errors
/// Everything that is wrong with their files.
pub(super) fn read<'m>(
    package: &Package,
    manifest: &'m Manifest,
) -> Result<Vec<Case<'m>>, Vec<Faulty>> {
    let (mut cases, mut faulty) = (Vec::new(), Vec::new());
    let is_test = |path: &&str| path.starts_with("tests/") && path.ends_with(".yaml");
    for path in package.paths().map(|path| path.as_str()).filter(is_test) {
        let bytes = package.file(path).unwrap_or_default().to_vec();
        let text = match opal_syntax::source::decode(bytes) {
            Ok(text) => text,
            Err(found) => {
                let (file, text) = (path.to_owned(), String::new());
                faulty.push(Faulty { file, text, diagnostics: vec![found.diagnostic] });
                continue;
            }
        };
        match file(path, &text, manifest) {
            Ok(found) => cases.extend(found),
            Err(diagnostics) => faulty.push(Faulty { file: path.to_owned(), text, diagnostics }),
        }
    }
    if faulty.is_empty() { Ok(cases) } else { Err(faulty) }
}

fn file<'m>(
    path: &str,
    text: &str,
    manifest: &'m Manifest,
) -> Result<Vec<Case<'m>>, Vec<Diagnostic>> {
    let root = match opal_yaml::read(text, |_| false) {
        Ok(Some(root)) => root,
        Ok(None) => return Err(vec![CODES.empty(text, "begin with `- name: …`")]),
        Err(fault) => return Err(vec![CODES.unreadable(fault)]),
    };
    let mut problems = Problems::new(CODES);
    let mut found = Vec::new();
    match &root.kind {
        NodeKind::List(items) => {
            for item in items {
                let line = LineIndex::new(text).position(text, item.head().start).line;
                let mut reader = Reader { path, line, manifest, problems: &mut problems };
                found.extend(reader.case(item));
            }
        }
        _ => problems.error(
            Code::PackageValue,
            root.head(),
            "a file of tests expects a list",
            "write `- name: …`",
        ),
    }
    let errors = problems.into_errors();
    if errors.is_empty() { Ok(found) } else { Err(errors) }
}

struct Reader<'m, 'p> {
    path: &'p str,
    line: u32,
    manifest: &'m Manifest,
    problems: &'p mut Problems,
}

impl<'m> Reader<'m, '_> {
    fn wrong(&mut self, node: &Node, message: impl Into<String>, help: impl Into<String>) {
        self.problems.error(Code::PackageValue, node.head(), message.into(), help.into());
    }

    fn case(&mut self, item: &Node) -> Option<Case<'m>> {
        let mut fields = Fields::of(item, "a test", self.problems)?;
        let name = fields.take("name").and_then(|it| it.value.word().map(str::to_owned));
        let call = fields.take("call");
        let missing: Vec<&str> = [("name", name.is_none()), ("call", call.is_none())]
            .into_iter()
            .filter_map(|(key, is_missing)| is_missing.then_some(key))
            .collect();
        fields.missing(&missing, self.problems);
        let (name, call) = (name?, call?);
        let declared = self.declared(call.value)?;
        let mut inputs = self.args(fields.take("args"), &declared.descriptor)?;
        inputs.subject = fields.take("subject").and_then(|it| it.value.word().map(str::to_owned));
        if let Some(field) = fields.take("text") {
            let text = field.value.word().unwrap_or_default();
            let key = opal_core::decorator::BLOCK_TEXT.to_owned();
            inputs.open.insert(key, Data::text(text));
        }
        let world = match fields.take("world") {
            Some(field) => worlds::read(field.value, self.problems)?,
            None => World::default(),
        };
        let after = match fields.take("after") {
            Some(field) => self.after(field.value)?,
            None => Vec::new(),
        };
        let event = match fields.take("event") {
            Some(field) => Some(self.event(field.value)?),
            None => None,
        };
        let wants = self.wants(&mut fields);
        fields.finish(KEYS.into_iter(), self.problems);
        let wants = wants?;
        let function = self.function(declared, &wants, call.value)?;
        let (file, line) = (self.path.to_owned(), self.line);
        Some(Case { file, line, name, declared, function, inputs, event, world, wants, after })
    }

    fn declared(&mut self, node: &Node) -> Option<&'m Declared> {
        let name = node.word().unwrap_or_default().trim_start_matches('@');
        let all = &self.manifest.decorators;
        let found = all.iter().find(|it| it.path == name && matches!(it.body, Body::Code));
        if found.is_none() {
            let message = format!("`@{name}` is not a decorator in code of this package");
            let error = Diagnostic::new(Code::PackageValue, node.head(), message);
            self.problems.unknown(error, name, all.iter().map(|it| it.path.as_str()));
        }
        found
    }

    /// The arguments, checked as a step would be, with the defaults.
    fn args(&mut self, given: Option<Field<'_>>, descriptor: &Descriptor) -> Option<Inputs> {
        let mut inputs = Inputs::default();
        let mut fields = match given {
            Some(field) => Some(Fields::of(field.value, "`args`", self.problems)?),
            None => None,
        };
        for param in descriptor.params {
            let field = fields.as_mut().and_then(|fields| fields.take(param.name));
            let data = match (field, &param.presence) {
                (Some(field), _) => {
                    let kind = param.shape.map(|shape| &shape.kind);
                    let value = kind.and_then(|kind| constant(field.value, kind));
                    let Some(value) = value else {
                        let message =
                            format!("`{}` expects {}", param.name, param.ty.with_article());
                        self.wrong(field.value, message, "correct the argument");
                        return None;
                    };
                    if let Err(mismatch) = parameter::check(param, &value) {
                        let origin = parameter::Origin::Hidden;
                        let message = mismatch.message(param.name, origin);
                        self.wrong(field.value, message, "give what the manifest allows");
                        return None;
                    }
                    Some(Data::from(&value))
                }
                (None, Presence::Default(value)) => Some(Data::from(value)),
                (None, Presence::Optional) => None,
                (None, Presence::Required) => {
                    let message = format!("the argument `{}` is missing", param.name);
                    let span = given.map_or(opal_core::Span::at(0), |it| it.key);
                    let help = format!("add it: `args: {{{}: …}}`", param.name);
                    self.problems.error(Code::PackageMissingKey, span, message, help);
                    return None;
                }
            };
            if let Some(data) = data {
                inputs.args.insert(param.name, Input::Data(data));
            }
        }
        if let Some(fields) = fields {
            let known = descriptor.params.iter().map(|param| param.name);
            fields.finish(known.collect::<Vec<_>>().into_iter(), self.problems);
        }
        Some(inputs)
    }

    fn after(&mut self, node: &Node) -> Option<Vec<(String, Option<String>)>> {
        let mut fields = Fields::of(node, "`after`", self.problems)?;
        let files = fields.take("files");
        fields.finish(["files"].into_iter(), self.problems);
        let NodeKind::Map(entries) = &files?.value.kind else { return None };
        let entry = |(key, value): &(Rc<Node>, Rc<Node>)| {
            let content = match data(value) {
                Data::Null => None,
                _ => value.word().map(str::to_owned),
            };
            Some((key.word()?.to_owned(), content))
        };
        entries.iter().map(entry).collect()
    }

    fn event(&mut self, node: &Node) -> Option<Event> {
        let mut fields = Fields::of(node, "`event`", self.problems)?;
        let word =
            |field: Option<Field<'_>>| field.and_then(|it| it.value.word().map(str::to_owned));
        let attempt = word(fields.take("attempt")).and_then(|it| it.parse().ok()).unwrap_or(1);
        let outcome = match word(fields.take("outcome")).as_deref() {
            None => None,
            Some("done") => Some(Outcome::Done),
            Some("stopped") => Some(Outcome::Stopped),
            Some(other) => match other.strip_prefix("failed ").and_then(|code| code.parse().ok()) {
                Some(code) => Some(Outcome::Failed(code)),
                None => {
                    let help = "write `done`, `stopped` or `failed CODE`";
                    self.wrong(node, format!("{other:?} is not an outcome"), help);
                    return None;
                }
            },
        };
        fields.finish(["attempt", "outcome"].into_iter(), self.problems);
        Some(Event { target: None, attempt, outcome })
    }

    fn wants(&mut self, fields: &mut Fields<'_>) -> Option<Wants> {
        let says = fields.take("says").and_then(|it| it.value.word().map(str::to_owned));
        let names = ["result", "finding", "error", "env", "verdict"];
        let mut given: Vec<(&str, Field<'_>)> =
            names.into_iter().filter_map(|name| Some((name, fields.take(name)?))).collect();
        let (Some((name, field)), true) = (given.pop(), given.is_empty()) else {
            fields
                .missing_one_of("`result`, `finding`, `error`, `env` and `verdict`", self.problems);
            return None;
        };
        let word = field.value.word().unwrap_or_default();
        match name {
            "result" => Some(Wants::Result(line::json(&data(field.value)))),
            "finding" => {
                let found = Found::named(word).map(Wants::Finding);
                self.known(found, field.value, word, &FINDINGS)
            }
            "error" => {
                let kind = Kind::named(word).map(|kind| Wants::Error { kind, says });
                let words: Vec<&str> = Kind::ALL.iter().map(|it| it.word()).collect();
                self.known(kind, field.value, word, &words)
            }
            "verdict" => {
                let words = ["proceed", "retry", "stop"];
                let found = words.contains(&word).then(|| Wants::Verdict(word.to_owned()));
                self.known(found, field.value, word, &words)
            }
            _ => {
                let NodeKind::Map(entries) = &field.value.kind else {
                    self.wrong(
                        field.value,
                        "`env` expects variables",
                        "write `env: {NAME: value}`",
                    );
                    return None;
                };
                let pair = |(key, value): &(Rc<Node>, Rc<Node>)| {
                    Some((key.word()?.to_owned(), value.word()?.to_owned()))
                };
                entries.iter().map(pair).collect::<Option<_>>().map(Wants::Environment)
            }
        }
    }

    fn known(
        &mut self,
        found: Option<Wants>,
        node: &Node,
        given: &str,
        known: &[&str],
    ) -> Option<Wants> {
        if found.is_none() {
            let message = format!("{given:?} is not known here");
            let error = Diagnostic::new(Code::PackageValue, node.head(), message);
            self.problems.unknown(error, given, known.iter().copied());
        }
        found
    }

    /// Which function a test calls: what its decorator has, and what the test expects.
    fn function(&mut self, declared: &Declared, wants: &Wants, node: &Node) -> Option<Function> {
        let it = &declared.descriptor;
        let has_block = matches!(it.block, Block::Optional | Block::Required);
        let found = match wants {
            Wants::Finding(_) if it.resource.is_some() => Some(Function::Verify),
            Wants::Error { .. } if it.resource.is_some() => Some(Function::Verify),
            Wants::Verdict(_) | Wants::Error { .. } if declared.attempts.is_some() => {
                Some(Function::Judge)
            }
            Wants::Environment(_) | Wants::Error { .. } if has_block && it.boundary.is_none() => {
                Some(Function::Begin)
            }
            Wants::Result(_) | Wants::Error { .. } if it.is_value() => Some(Function::Resolve),
            Wants::Result(_) | Wants::Error { .. } if it.is_action() && !has_block => {
                Some(Function::Act)
            }
            _ => None,
        };
        if found.is_none() {
            let message = format!("`@{}` does not give this", declared.path);
            let help = "values and actions: `result`; resources: `finding`; wrappers: `env`; policies: \
                        `verdict`";
            self.wrong(node, message, help);
        }
        found
    }
}

/// What a node means, as in JSON.
pub(super) fn data(node: &Node) -> Data {
    match &node.kind {
        NodeKind::Scalar { text, plain } => match plain.then(|| meaning(text)) {
            Some(Meaning::Null) => Data::Null,
            Some(Meaning::Bool(flag)) => Data::Bool(flag),
            Some(Meaning::Int(number)) => Data::Int(number),
            Some(Meaning::Float(number)) => Data::Float(number),
            _ => Data::text(text.as_str()),
        },
        NodeKind::List(items) => Data::Array(items.iter().map(|item| data(item)).collect()),
        NodeKind::Map(entries) => {
            let entry = |(key, value): &(Rc<Node>, Rc<Node>)| {
                (key.word().unwrap_or_default().to_owned(), data(value))
            };
            Data::Map(entries.iter().map(entry).collect())
        }
    }
}
