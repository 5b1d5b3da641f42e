//! The subset of JSON Schema 2020-12 that describes parameters and results.
//!
//! A keyword that is not understood is an error: what it forbids would be allowed.

mod constants;
mod objects;
mod texts;

use opal_core::shape::{Shape, ShapeKind};
use opal_core::{Code, Diagnostic, Value};
use opal_yaml::fields::{Field, Fields};
use opal_yaml::problems::Problems;
use opal_yaml::scalar::Meaning;
use opal_yaml::{Node, NodeKind};

pub(crate) use constants::{constant, plain};

/// Every keyword of a schema.
const KEYWORDS: [&str; 25] = [
    "$ref",
    "additionalProperties",
    "const",
    "default",
    "description",
    "enum",
    "examples",
    "format",
    "items",
    "maxLength",
    "maximum",
    "minLength",
    "minimum",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
    "x-opal-deprecated-values",
    "x-opal-duration",
    "x-opal-format",
    "x-opal-secret",
    "x-opal-union",
    "$id",
    "version",
];

/// Schemas inside each other, references followed.
const MOST_LEVELS: usize = 32;

/// Keywords of manifests that opal itself has made from the schemas of a provider.
const GENERATED: [&str; 4] =
    ["x-opal-any", "x-opal-deprecated", "x-opal-numeric", "x-opal-one-or-more"];

/// What schemas are read with.
pub(super) struct Schemas<'n, 'p> {
    /// `$defs` of the document.
    pub(super) definitions: Option<&'n Node>,
    pub(super) problems: &'p mut Problems,
    pub(super) levels: usize,
    /// Whether opal has made the manifest.
    pub(super) is_generated: bool,
}

/// A schema and what it says about leaving the value out.
pub(super) struct Described {
    pub(super) shape: Shape,
    pub(super) default: Option<Value>,
    /// Why it should not be given any more.
    pub(super) deprecated: Option<&'static str>,
}

pub(super) fn leak(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

impl<'n> Schemas<'n, '_> {
    pub(super) fn value(&mut self, span: opal_core::Span, message: &str, help: &str) {
        self.problems.error(Code::PackageValue, span, message.to_owned(), help.to_owned());
    }

    fn keyword(&mut self, field: Field<'_>, message: String, help: &str) {
        self.problems.error(Code::PackageKeyword, field.key, message, help);
    }

    /// Reads a schema; problems are reported, and then there is none.
    pub(super) fn read(&mut self, node: &'n Node, what: &str) -> Option<Described> {
        if self.levels == MOST_LEVELS {
            let help = "a schema cannot contain itself; write fewer levels";
            self.value(node.head(), &format!("{what} is nested too deeply"), help);
            return None;
        }
        self.levels += 1;
        let found = self.schema(node, what);
        self.levels -= 1;
        found
    }

    fn schema(&mut self, node: &'n Node, what: &str) -> Option<Described> {
        let mut fields = Fields::of(node, what, self.problems)?;
        let is_known =
            |key: &&str| KEYWORDS.contains(key) || (self.is_generated && GENERATED.contains(key));
        let refused: Vec<&str> = fields.keys().filter(|key| !is_known(key)).collect();
        let is_refused = !refused.is_empty();
        for key in refused {
            let Some(field) = fields.take(key) else { continue };
            let help = match key {
                "oneOf" | "anyOf" | "allOf" => "use `x-opal-union` with a `discriminator`",
                "prefixItems" | "contains" => "all elements of an array have one schema: `items`",
                _ => "remove it: opal would not check what it says",
            };
            self.keyword(field, format!("`{key}` is not supported in {what}"), help);
        }
        if is_refused {
            return None;
        }
        if let Some(field) = fields.take("$ref") {
            return self.reference(field, fields, what);
        }
        let docs = fields.take("description").and_then(|field| self.text(field, "description"));
        for ignored in ["title", "examples", "$id", "version"] {
            fields.take(ignored);
        }
        let deprecated = fields.take("x-opal-deprecated");
        let deprecated = deprecated.and_then(|field| self.text(field, "x-opal-deprecated"));
        let deprecated = deprecated.map(|why| leak(&why));
        let secret = fields.take("x-opal-secret").is_some_and(|field| self.flag(field));
        let default = fields.take("default");
        let is_any = fields.take("x-opal-any").is_some_and(|field| self.flag(field));
        let (kind, nullable) = if is_any {
            (ShapeKind::Any, true)
        } else {
            let (ty, nullable) = self.type_name(&mut fields, what)?;
            let kind = self.kind(&mut fields, &ty, what)?;
            self.unused(fields, &ty);
            (kind, nullable)
        };
        let shape = Shape { kind, nullable, secret, docs: leak(&docs.unwrap_or_default()) };
        let default = match default {
            None => None,
            Some(field) => {
                let value = self.constant(field.value, &shape)?;
                if let Err(mismatch) = shape.check(&value) {
                    use opal_core::parameter::Origin;
                    let message = mismatch.message("default", Origin::Hidden);
                    self.value(
                        field.value.span,
                        &message,
                        "write a default that its schema accepts",
                    );
                    return None;
                }
                Some(value)
            }
        };
        Some(Described { shape, default, deprecated })
    }

    /// `$ref: "#/$defs/NAME"`.
    fn reference(&mut self, field: Field<'n>, rest: Fields<'n>, what: &str) -> Option<Described> {
        if let Some(key) = rest.keys().next() {
            let field = rest.get_field(key)?;
            let help = "put the keyword into the definition";
            self.keyword(field, format!("`{key}` beside `$ref` is not supported"), help);
            return None;
        }
        let name = field.value.word().and_then(|word| word.strip_prefix("#/$defs/"));
        let Some(name) = name else {
            let help = "move the definition into `$defs` of this file: `$ref: \"#/$defs/NAME\"`";
            self.keyword(
                field,
                "a `$ref` that leads out of the file is not supported".into(),
                help,
            );
            return None;
        };
        let found = self.definitions.and_then(|definitions| {
            let NodeKind::Map(entries) = &definitions.kind else { return None };
            entries.iter().find(|(key, _)| key.word() == Some(name)).map(|(_, value)| value)
        });
        match found {
            Some(definition) => self.read(definition, what),
            None => {
                let message = format!("`$defs` has no `{name}`");
                self.value(field.value.span, &message, "define it, or correct the name");
                None
            }
        }
    }

    /// The type, and whether null may be there too.
    fn type_name(&mut self, fields: &mut Fields<'n>, what: &str) -> Option<(String, bool)> {
        const TYPES: [&str; 6] = ["string", "integer", "number", "boolean", "array", "object"];
        let Some(field) = fields.take("type") else {
            // The keyword says which type it is.
            let implied = if fields.get("enum").is_some() {
                "string"
            } else if fields.get("x-opal-union").is_some() || fields.get("properties").is_some() {
                "object"
            } else {
                fields.missing(&["type"], self.problems);
                return None;
            };
            return Some((implied.to_owned(), false));
        };
        let (node, nullable) = match &field.value.kind {
            NodeKind::List(items) => {
                let is_null = |item: &&std::rc::Rc<Node>| item.word() == Some("null");
                match items.as_slice() {
                    [one, null] if is_null(&null) => (&**one, true),
                    _ => {
                        let message = format!("the `type` of {what} has more than one type");
                        self.keyword(field, message, "write one type, or `[TYPE, \"null\"]`");
                        return None;
                    }
                }
            }
            _ => (field.value, false),
        };
        match node.word().filter(|word| TYPES.contains(word)) {
            Some(word) => Some((word.to_owned(), nullable)),
            None => {
                let given = node.word().unwrap_or_default();
                let error = Diagnostic::new(
                    Code::PackageValue,
                    node.head(),
                    format!("{given:?} is not a type of a schema"),
                );
                self.problems.unknown(error, given, TYPES.into_iter());
                None
            }
        }
    }

    fn kind(&mut self, fields: &mut Fields<'n>, ty: &str, what: &str) -> Option<ShapeKind> {
        match ty {
            "string" => self.string(fields),
            "boolean" => Some(ShapeKind::Bool),
            "integer" => {
                let low = self.integer(fields, "minimum")?.unwrap_or(i64::MIN);
                let high = self.integer(fields, "maximum")?.unwrap_or(i64::MAX);
                Some(ShapeKind::Int { low, high })
            }
            "number" if self.has(fields, "x-opal-numeric") => Some(ShapeKind::Numeric),
            "number" => {
                let low = self.number(fields, "minimum")?.unwrap_or(f64::MIN);
                let high = self.number(fields, "maximum")?.unwrap_or(f64::MAX);
                Some(ShapeKind::Number { low, high })
            }
            "array" => {
                let Some(items) = fields.take("items") else {
                    fields.missing(&["items"], self.problems);
                    return None;
                };
                let is_one = self.has(fields, "x-opal-one-or-more");
                let element = self.read(items.value, "`items`")?;
                let element = Box::leak(Box::new(element.shape));
                Some(if is_one { ShapeKind::OneOrMore(element) } else { ShapeKind::List(element) })
            }
            _ => self.object(fields, what),
        }
    }

    /// Whether a keyword is there and says so.
    fn has(&mut self, fields: &mut Fields<'n>, key: &str) -> bool {
        fields.take(key).is_some_and(|field| self.flag(field))
    }

    /// A keyword that exists, and means nothing for this type.
    fn unused(&mut self, fields: Fields<'n>, ty: &str) {
        let left: Vec<&str> = fields.keys().collect();
        for key in left {
            if let Some(field) = fields.get_field(key) {
                let message = format!("`{key}` means nothing for the type `{ty}`");
                self.keyword(field, message, "remove it, or write another `type`");
            }
        }
    }

    pub(super) fn text(&mut self, field: Field<'_>, key: &str) -> Option<String> {
        let text = field.value.word().map(str::to_owned);
        if text.is_none() {
            self.value(field.key, &format!("`{key}` expects a text"), "write it in quotes");
        }
        text
    }

    pub(super) fn flag(&mut self, field: Field<'_>) -> bool {
        match field.value.word() {
            Some("true") => true,
            Some("false") => false,
            _ => {
                self.value(field.value.head(), "expects `true` or `false`", "write one of them");
                false
            }
        }
    }

    pub(super) fn words(&mut self, field: Field<'_>, key: &str) -> Option<Vec<&'static str>> {
        let words = match &field.value.kind {
            NodeKind::List(items) => items.iter().map(|item| item.word().map(leak)).collect(),
            _ => None,
        };
        if words.is_none() {
            let message = format!("`{key}` expects a list of texts");
            self.value(field.value.head(), &message, &format!("write `{key}: [\"a\", \"b\"]`"));
        }
        words
    }

    fn pairs(&mut self, field: Field<'_>) -> Option<Vec<(&'static str, &'static str)>> {
        let pairs = match &field.value.kind {
            NodeKind::Map(entries) => entries
                .iter()
                .map(|(key, value)| Some((leak(key.word()?), leak(value.word()?))))
                .collect(),
            _ => None,
        };
        if pairs.is_none() {
            let message = "`x-opal-deprecated-values` expects a text for each value";
            self.value(field.value.head(), message, "write `VALUE: \"use OTHER instead\"`");
        }
        pairs
    }

    pub(super) fn integer(&mut self, fields: &mut Fields<'n>, key: &str) -> Option<Option<i64>> {
        let Some(field) = fields.take(key) else { return Some(None) };
        match plain(field.value) {
            Some(Meaning::Int(number)) => Some(Some(number)),
            _ => {
                let message = format!("`{key}` expects an integer");
                self.value(field.value.head(), &message, "write it without quotes");
                None
            }
        }
    }

    fn number(&mut self, fields: &mut Fields<'n>, key: &str) -> Option<Option<f64>> {
        let Some(field) = fields.take(key) else { return Some(None) };
        match plain(field.value) {
            Some(Meaning::Int(number)) => Some(Some(number as f64)),
            Some(Meaning::Float(number)) => Some(Some(number)),
            _ => {
                let message = format!("`{key}` expects a number");
                self.value(field.value.head(), &message, "write it without quotes");
                None
            }
        }
    }

    /// A value of the manifest, as its shape says to read it.
    fn constant(&mut self, node: &Node, shape: &Shape) -> Option<Value> {
        let value = constant(node, &shape.kind);
        if value.is_none() {
            self.value(
                node.head(),
                "the default is not a value of its type",
                "correct the default",
            );
        }
        value
    }
}
