//! `dim.yaml`: the decorators that code provides.

mod examples;
pub(crate) mod own;
mod plugin;

use std::collections::BTreeSet;

use opal_core::decorator::{
    self, Block, Cost, Descriptor, Effect, Exposure, Param, Presence, Resource, Returns,
};
use opal_core::shape::Shape;
use opal_core::{Code, Diagnostic, Registry, Span};
use opal_yaml::fields::Fields;
use opal_yaml::problems::Problems;
use opal_yaml::{Node, NodeKind};
use semver::Version;

use super::paths::path_problem;
use super::schema::{Described, Schemas, leak};
use super::{Body, Declared};
use crate::capability::Capability;
use crate::codes::CODES;
use crate::engine::UNWIRED;

/// What a `dim.yaml` says.
#[derive(Debug, Default)]
pub(super) struct Interface {
    pub(super) name: Option<String>,
    pub(super) version: Option<Version>,
    pub(super) min_core: Option<Version>,
    /// What a call of its code may take; none where it asks for no more than the usual.
    pub(super) memory_mib: Option<u32>,
    pub(super) decorators: Vec<Declared>,
    pub(super) capabilities: BTreeSet<Capability>,
    /// Where it asks for what is as much as a shell.
    pub(super) shell: Vec<Span>,
}

/// Decorators of one package.
const MOST_DECORATORS: usize = 1_000;

const TOP: [&str; 5] = ["$schema", "$id", "$defs", "x-opal-plugin", "x-opal-decorators"];
const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";
const DECORATOR: [&str; 16] = [
    "name",
    "$id",
    "summary",
    "description",
    "params",
    "returns",
    "examples",
    "x-opal-effect",
    "x-opal-block",
    "x-opal-transport",
    "x-opal-io",
    "x-opal-resource",
    "x-opal-cost",
    "x-opal-attempts",
    "x-opal-capabilities",
    "version",
];

pub(super) fn read(text: &str, built_in: &Registry) -> Result<Interface, Vec<Diagnostic>> {
    let root = match opal_yaml::read(text, |_| false) {
        Ok(Some(root)) => root,
        Ok(None) => return Err(vec![CODES.empty(text, "begin with `x-opal-plugin:`")]),
        Err(fault) => return Err(vec![CODES.unreadable(fault)]),
    };
    let mut problems = Problems::new(CODES);
    let found = interface(&root, built_in, &mut problems);
    let errors = problems.into_errors();
    match found {
        Some(found) if errors.is_empty() => Ok(found),
        _ => Err(errors),
    }
}

fn interface(root: &Node, built_in: &Registry, problems: &mut Problems) -> Option<Interface> {
    let mut fields = Fields::of(root, "a manifest", problems)?;
    let definitions = fields.take("$defs").map(|field| field.value);
    if let Some(field) = fields.take("$schema").filter(|field| field.value.word() != Some(DRAFT)) {
        let message = "`$schema` is not JSON Schema 2020-12";
        problems.error(Code::PackageValue, field.value.head(), message, format!("write `{DRAFT}`"));
    }
    fields.take("$id");
    let mut found = Interface::default();
    match fields.take("x-opal-plugin") {
        Some(field) => plugin::read(field, &mut found, problems),
        None => fields.missing(&["x-opal-plugin"], problems),
    }
    let decorators = fields.take("x-opal-decorators");
    if decorators.is_none() {
        fields.missing(&["x-opal-decorators"], problems);
    }
    fields.finish(TOP.into_iter(), problems);
    let decorators = decorators?;
    let NodeKind::List(items) = &decorators.value.kind else {
        let message = "`x-opal-decorators` expects a list";
        problems.error(Code::PackageValue, decorators.value.head(), message, "write `- name: …`");
        return None;
    };
    if items.len() > MOST_DECORATORS {
        let message = format!("a package has at most {MOST_DECORATORS} decorators");
        problems.error(Code::PackageValue, decorators.key, message, "split the package");
        return None;
    }
    for item in items {
        let schemas =
            Schemas { definitions, problems: &mut *problems, levels: 0, is_generated: false };
        let (capabilities, shell) = (&mut found.capabilities, &mut found.shell);
        let mut reader = Reader { schemas, built_in, capabilities, shell };
        found.decorators.extend(reader.decorator(item));
    }
    Some(found)
}

pub(super) struct Reader<'n, 'p, 'c> {
    pub(super) schemas: Schemas<'n, 'p>,
    pub(super) built_in: &'p Registry,
    pub(super) capabilities: &'c mut BTreeSet<Capability>,
    pub(super) shell: &'c mut Vec<Span>,
}

impl<'n> Reader<'n, '_, '_> {
    pub(super) fn decorator(&mut self, item: &'n Node) -> Option<Declared> {
        let mut fields = Fields::of(item, "a decorator", self.schemas.problems)?;
        let name = match fields.take("name") {
            Some(field) => (self.schemas.text(field, "name")?, field.value.span),
            None => {
                fields.missing(&["name"], self.schemas.problems);
                return None;
            }
        };
        let (path, span) = name;
        if let Some(problem) = path_problem(&path, span, self.built_in) {
            self.schemas.problems.push(problem);
        }
        fields.rename(format!("`{path}`"));
        let mut descriptor = Descriptor::BASE;
        descriptor.summary = self.words(&mut fields, "summary").map_or("", |text| leak(&text));
        descriptor.docs = self.words(&mut fields, "description").map_or("", |text| leak(&text));
        fields.take("$id");
        self.capabilities(&mut fields, &mut descriptor);
        self.params(&mut fields, &mut descriptor);
        let returns = self.returns(&mut fields, &mut descriptor);
        self.block(&mut fields, &mut descriptor);
        self.io(&mut fields, &mut descriptor);
        self.resource(&mut fields, &mut descriptor);
        self.transport(&mut fields, &mut descriptor);
        let only_reads = self.effect(&mut fields, &mut descriptor);
        self.cost(&mut fields, &mut descriptor);
        descriptor.examples = self.examples(&mut fields);
        let attempts = self.schemas.integer(&mut fields, "x-opal-attempts").flatten();
        fields.finish(DECORATOR.into_iter(), self.schemas.problems);
        let is_command = descriptor.is_action() && !is_endpoint_only(&descriptor);
        descriptor.action = is_command.then_some(&UNWIRED as _);
        descriptor.resolver = descriptor.is_value().then_some(&UNWIRED as _);
        let (body, is_exported) = (Body::Code, false);
        let has_block = matches!(descriptor.block, Block::Optional | Block::Required);
        let opens = has_block && attempts.is_none() && !only_reads;
        Some(Declared { path, descriptor, body, is_exported, attempts, opens, returns })
    }

    fn words(&mut self, fields: &mut Fields<'n>, key: &str) -> Option<String> {
        let field = fields.take(key)?;
        self.schemas.text(field, key)
    }

    fn params(&mut self, fields: &mut Fields<'n>, descriptor: &mut Descriptor) {
        let Some(field) = fields.take("params") else { return };
        let problems = &mut *self.schemas.problems;
        let Some(mut inner) = Fields::of(field.value, "`params`", problems) else { return };
        let ty = inner.take("type").is_none_or(|field| field.value.word() == Some("object"));
        let closed = inner.take("additionalProperties");
        if !ty || closed.is_some_and(|field| field.value.word() != Some("false")) {
            let help = "write `type: object` and `additionalProperties: false`";
            problems.error(
                Code::PackageKeyword,
                field.key,
                "`params` must be a closed object",
                help,
            );
        }
        let Some(found) = self.schemas.properties(&mut inner, None) else { return };
        inner.typos(&["description"], self.schemas.problems);
        if let Some((name, ..)) = found.iter().find(|(name, ..)| !own::is_param_name(name)) {
            let help = "use lower case letters, digits and `_`; opal has `to_target` itself";
            self.schemas.value(field.key, &format!("{name:?} is not a name for a parameter"), help);
        }
        // A provider gets what it is given, secrets included.
        let takes_secrets = self.schemas.is_generated;
        let param = |(name, required, described): (String, bool, Described)| {
            let Described { shape, default, deprecated } = described;
            let presence = match default {
                Some(value) => Presence::Default(value),
                None if required => Presence::Required,
                None => Presence::Optional,
            };
            let shape: &'static Shape = Box::leak(Box::new(shape));
            Param {
                name: leak(&name),
                ty: shape.type_of(),
                presence,
                docs: shape.docs,
                shape: Some(shape),
                deprecated,
                takes_secrets,
                ..Param::BASE
            }
        };
        let mut params: Vec<Param> = found.into_iter().map(param).collect();
        // What must be given comes first, so that it may be given by position.
        params.sort_by_key(|param| !matches!(param.presence, Presence::Required));
        params.extend(own::to_target(&params, descriptor.capabilities));
        descriptor.params = Box::leak(params.into_boxed_slice());
    }

    fn returns(
        &mut self,
        fields: &mut Fields<'n>,
        descriptor: &mut Descriptor,
    ) -> Option<&'static Shape> {
        let field = fields.take("returns")?;
        let inner = Fields::of(field.value, "`returns`", self.schemas.problems)?;
        let version = inner.get("version").and_then(Node::word).map(str::to_owned);
        let version = version.filter(|text| Version::parse(text).is_ok());
        if version.is_none() {
            let help = "add `version: 1.0.0`, and raise it when the result changes";
            self.schemas.problems.error(
                Code::PackageMissingKey,
                field.key,
                "`returns` needs a `version`",
                help,
            );
        }
        let described = self.schemas.read(field.value, "`returns`")?;
        let shape: &'static Shape = Box::leak(Box::new(described.shape));
        descriptor.exposure = if shape.holds_secret() { Exposure::Secret } else { Exposure::Plain };
        let version = leak(&version.unwrap_or_default());
        descriptor.returns = Some(Returns { version, ty: shape.result_type() });
        descriptor.result = Some(shape);
        Some(shape)
    }

    fn choice<T: Copy>(
        &mut self,
        fields: &mut Fields<'n>,
        key: &str,
        of: &[(&'static str, T)],
    ) -> Option<T> {
        let field = fields.take(key)?;
        let given = field.value.word().unwrap_or_default();
        let found = of.iter().find(|(name, _)| *name == given).map(|(_, value)| *value);
        if found.is_none() {
            let message = format!("{given:?} is not a valid `{key}`");
            let error = Diagnostic::new(Code::PackageValue, field.value.head(), message);
            self.schemas.problems.unknown(error, given, of.iter().map(|(name, _)| *name));
        }
        found
    }

    fn block(&mut self, fields: &mut Fields<'n>, descriptor: &mut Descriptor) {
        let of = [
            ("forbidden", Block::Forbidden),
            ("optional", Block::Optional),
            ("required", Block::Required),
            ("text", Block::Text),
        ];
        descriptor.block = self.choice(fields, "x-opal-block", &of).unwrap_or(Block::Forbidden);
    }

    /// Whether it only says where its block runs: then nothing is opened before it. The block acts.
    fn effect(&mut self, fields: &mut Fields<'n>, descriptor: &mut Descriptor) -> bool {
        let of = [("read", Effect::Read), ("act", Effect::Act)];
        let given = self.choice(fields, "x-opal-effect", &of);
        let reads = descriptor.returns.is_some()
            && descriptor.block == Block::Forbidden
            && descriptor.resource.is_none();
        descriptor.effect = given.unwrap_or(if reads { Effect::Read } else { Effect::Act });
        let only_reads = descriptor.boundary.is_some() && descriptor.effect == Effect::Read;
        if only_reads {
            descriptor.effect = Effect::Act;
        }
        only_reads
    }

    fn cost(&mut self, fields: &mut Fields<'n>, descriptor: &mut Descriptor) {
        let of = [("cheap", Cost::Cheap), ("expensive", Cost::Expensive)];
        let given = self.choice(fields, "x-opal-cost", &of);
        use decorator::Capability::{Network, Processes};
        let slow = descriptor.capabilities.iter().any(|it| matches!(it, Network | Processes));
        descriptor.cost = if slow { Cost::Expensive } else { given.unwrap_or(Cost::Cheap) };
    }

    fn io(&mut self, fields: &mut Fields<'n>, descriptor: &mut Descriptor) {
        let Some(field) = fields.take("x-opal-io") else { return };
        let Some(mut inner) = Fields::of(field.value, "`x-opal-io`", self.schemas.problems) else {
            return;
        };
        descriptor.reads = inner.take("redirect_in").is_some_and(|field| self.schemas.flag(field));
        descriptor.writes =
            inner.take("redirect_out").is_some_and(|field| self.schemas.flag(field));
        inner.typos(&["redirect_in", "redirect_out"], self.schemas.problems);
    }

    fn resource(&mut self, fields: &mut Fields<'n>, descriptor: &mut Descriptor) {
        let Some(field) = fields.take("x-opal-resource") else { return };
        let Some(mut inner) = Fields::of(field.value, "`x-opal-resource`", self.schemas.problems)
        else {
            return;
        };
        let key = inner.take("key").and_then(|field| self.schemas.words(field, "key"));
        let yaml = inner.take("yaml").and_then(|field| self.schemas.text(field, "yaml"));
        inner.typos(&["key", "yaml"], self.schemas.problems);
        let key = key.unwrap_or_default();
        let is_known = |name: &&&str| descriptor.params.iter().any(|param| param.name == **name);
        if key.is_empty() || !key.iter().all(|name| is_known(&name)) {
            let help = "name the parameters that say which thing it is: `key: [name]`";
            self.schemas.value(field.key, "`x-opal-resource` needs a `key` of parameters", help);
            return;
        }
        descriptor.resource = Some(Resource {
            yaml: leak(&yaml.unwrap_or_default()),
            key: Box::leak(key.into_boxed_slice()),
            verify: &UNWIRED,
        });
    }

    fn transport(&mut self, fields: &mut Fields<'n>, descriptor: &mut Descriptor) {
        let Some(field) = fields.take("x-opal-transport") else { return };
        if !self.schemas.flag(field) {
            return;
        }
        if descriptor.block != Block::Required {
            let help = "write `x-opal-block: required`";
            self.schemas.value(field.key, "`x-opal-transport` needs a block", help);
        }
        descriptor.boundary = Some(&UNWIRED);
    }

    fn capabilities(&mut self, fields: &mut Fields<'n>, descriptor: &mut Descriptor) {
        let Some(field) = fields.take("x-opal-capabilities") else { return };
        let NodeKind::List(items) = &field.value.kind else {
            let help = "write `x-opal-capabilities: [\"clock\"]`";
            self.schemas.value(field.key, "`x-opal-capabilities` expects a list", help);
            return;
        };
        let mut powers = BTreeSet::new();
        for item in items {
            match item.word().unwrap_or_default().parse::<Capability>() {
                Ok(found) => {
                    powers.extend(found.power());
                    if found.is_shell() {
                        self.capabilities.insert(Capability::Shell);
                        self.shell.push(item.span);
                    }
                    self.capabilities.insert(found);
                }
                Err(error) => {
                    let message = format!("invalid capability: {error}");
                    let help = "see the table of capabilities: `opal explain E1308`";
                    self.schemas.problems.error(
                        Code::PackageCapability,
                        item.head(),
                        message,
                        help,
                    );
                }
            }
        }
        descriptor.capabilities = Box::leak(powers.into_iter().collect());
    }
}

/// What only follows `<` or `>`: as a command it would do nothing.
fn is_endpoint_only(it: &Descriptor) -> bool {
    let is_endpoint = it.reads || it.writes;
    is_endpoint && it.block == Block::Forbidden && it.resource.is_none() && it.returns.is_none()
}
