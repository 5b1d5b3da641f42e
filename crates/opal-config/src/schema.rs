//! The JSON Schema of configurations, for editors. Made from the descriptors and the tables of
//! `keys`, so it knows every key that reading knows, and no other.
//!
//! Beyond a schema are: ids given twice, dependencies, cycles, which decimal numbers are invalid
//! permissions, and whether a text is a regular expression of this dialect.

use opal_core::decorator::{Descriptor, Param, Presence, Resource};
use opal_core::types::Type;
use opal_core::{Registry, Value};
use serde_json::{Map, Value as Json, json};

use super::arguments::is_required;
use super::keys;
use super::steps::types;

/// The schema for the resources of `registry`, as text.
#[must_use]
pub fn schema(registry: &Registry) -> String {
    let mut file = object(keys::FILE.iter(), None);
    let mut settings = object(keys::SETTINGS.iter(), None);
    settings["description"] = json!("how the steps run");
    let steps: Vec<Json> =
        types(registry).map(|(descriptor, resource)| step(descriptor, resource)).collect();
    let validations: Vec<Json> = keys::VALIDATIONS.iter().map(validation).collect();
    file["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    file["title"] = json!("A configuration of opal");
    file["description"] = json!("Steps that describe a state, for `opal verify` and `opal apply`.");
    file["properties"]["settings"] = settings;
    file["properties"]["steps"] = json!({
        "description": "the desired state of the machine",
        "type": "array",
        "minItems": 1,
        "items": by_type(steps),
    });
    file["properties"]["providers"] = json!({
        "description": "settings of Terraform providers, by the first segment of their decorators",
        "type": "object",
        "additionalProperties": { "type": "object" },
    });
    file["properties"]["vars"] = json!({
        "description": "values that steps use as `@var.NAME`",
        "type": "object",
        "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "not": { "const": "item" } },
    });
    file["properties"]["validations"] = json!({
        "description": "conditions that must hold when all steps are done",
        "type": "array",
        "items": by_type(validations),
    });
    file["required"] = json!(["steps", "version"]);
    let mut text = format!("{file:#}");
    text.push('\n');
    text
}

/// One of several objects, distinguished by `type`: an editor then speaks of the one that is meant.
fn by_type(forms: Vec<Json>) -> Json {
    let names: Vec<Json> =
        forms.iter().map(|form| form["properties"]["type"]["const"].clone()).collect();
    let cases = forms.into_iter().map(|form| {
        let when = json!({ "properties": { "type": form["properties"]["type"] } });
        json!({ "if": when, "then": form })
    });
    json!({
        "type": "object",
        "required": ["type"],
        "properties": { "type": { "enum": names } },
        "allOf": cases.collect::<Vec<Json>>(),
    })
}

fn step(descriptor: &'static Descriptor, resource: &'static Resource) -> Json {
    let own = keys::STEP.iter().filter(|param| descriptor.param(param.name).is_none());
    let mut form = object(descriptor.params.iter().chain(own), Some(resource));
    form["description"] = json!(descriptor.summary);
    form["properties"]["type"] = json!({ "const": resource.yaml });
    for (name, docs) in keys::PROGRAM {
        form["properties"][name] = json!({ "description": docs });
    }
    form["properties"]["when"]["type"] = json!(["string", "boolean"]);
    form["properties"]["for_each"]["type"] = json!(["array", "string"]);
    form["properties"]["for_each"]["pattern"] = json!("^@var\\.");
    // Any value but these can be a reference to a variable; shell text holds none.
    let closed = ["id", "depends_on", "enabled", "when", "for_each"];
    for param in descriptor.params.iter().filter(|it| !closed.contains(&it.name) && !it.shell) {
        for name in std::iter::once(param.name).chain(param.alias) {
            open_to_variables(&mut form["properties"][name]);
        }
    }
    if !descriptor.one_of.is_empty() {
        let one = descriptor.one_of.iter().map(|name| json!({ "required": [name] }));
        form["oneOf"] = one.collect();
    }
    form
}

/// A number, a list or a mapping may be given as `"@var.NAME"`.
fn open_to_variables(property: &mut Json) {
    let takes_text = match &property["type"] {
        Json::Array(types) => types.iter().any(|it| it == "string"),
        one => one == "string",
    };
    let is_typed = property.get("type").is_some() || property.get("enum").is_some();
    let has_pattern = property.get("pattern").is_some();
    if !is_typed || property.get("const").is_some() || (takes_text && !has_pattern) {
        return;
    }
    let Json::Object(mut own) = property.take() else { return };
    let about: Vec<(String, Json)> = ["description", "default"]
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), own.remove(name)?)))
        .collect();
    *property = json!({ "anyOf": [own, { "type": "string", "pattern": "@var\\." }] });
    about.into_iter().for_each(|(name, value)| property[name] = value);
}

fn validation(form: &keys::Form) -> Json {
    let mut object = object(form.params.iter(), None);
    object["description"] = json!(form.docs);
    object["properties"]["type"] = json!({ "const": form.name });
    object
}

/// An object with these keys and no others.
fn object<'p>(params: impl Iterator<Item = &'p Param>, resource: Option<&Resource>) -> Json {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut names = Vec::new();
    for param in params {
        for name in std::iter::once(param.name).chain(param.alias) {
            properties.insert(name.to_owned(), property(param));
        }
        match (is_required(param, resource), param.alias) {
            (true, None) => required.push(param.name),
            (required, Some(alias)) => names.push(one_name(param.name, alias, required)),
            (false, None) => {}
        }
    }
    let mut object = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    });
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    if !names.is_empty() {
        object["allOf"] = json!(names);
    }
    object
}

/// A key with two names is given by at most one of them.
fn one_name(name: &str, alias: &str, required: bool) -> Json {
    let (name, alias) = (json!({ "required": [name] }), json!({ "required": [alias] }));
    if required {
        json!({ "oneOf": [name, alias] })
    } else {
        json!({ "not": { "allOf": [name, alias] } })
    }
}

fn property(param: &Param) -> Json {
    let mut schema = match (&param.ty, param.pattern) {
        (Type::Array(_), _) if param.name == "packages" => {
            let long = object(keys::PACKAGE.iter(), None);
            json!({ "type": "array", "items": { "anyOf": [of_type(&Type::String), long] } })
        }
        // A number cannot be held against a pattern.
        (Type::String, Some(pattern)) => json!({
            "type": ["string", "number"],
            "pattern": format!("^({})$", ecmascript(pattern)),
        }),
        (ty, _) => of_type(ty),
    };
    if !keys::may_be_empty(param) {
        let least = if matches!(param.ty, Type::Array(_)) { "minItems" } else { "minLength" };
        schema[least] = json!(1);
    }
    if let Some((low, high)) = param.range {
        schema["minimum"] = json!(low);
        schema["maximum"] = json!(high);
    }
    schema["description"] = json!(param.docs);
    if let Presence::Default(value) = &param.presence {
        schema["default"] = match value {
            Value::Bool(value) => json!(value),
            Value::Int(value) => json!(value),
            other => json!(other.to_string().trim_matches('"')),
        };
    }
    schema
}

fn of_type(ty: &Type) -> Json {
    match ty {
        Type::Bool => json!({ "type": "boolean" }),
        Type::Int => json!({ "type": "integer" }),
        Type::Float => json!({ "type": "number" }),
        Type::String => json!({ "type": ["string", "number"] }),
        Type::Regex => json!({ "type": ["string", "number"], "format": "regex" }),
        Type::Duration => {
            let parts: String = opal_core::duration::UNITS
                .iter()
                .map(|(unit, _)| format!("([0-9]+{unit})?"))
                .collect();
            json!({ "type": ["string", "integer"], "minimum": 1, "pattern": format!("^(?=[0-9]){parts}$") })
        }
        Type::Array(element) => json!({ "type": "array", "items": of_type(element.get()) }),
        Type::Map(element) => {
            json!({ "type": "object", "additionalProperties": of_type(element.get()) })
        }
        Type::OneOf(choices) => json!({ "enum": choices.iter().collect::<Vec<&str>>() }),
        Type::Any | Type::Null | Type::Object(_) => json!(true),
    }
}

/// A pattern of ours in the dialect of schemas. Classes of characters are not known to all who
/// read them, so that only the characters people could type are refused there.
fn ecmascript(pattern: &'static str) -> &'static str {
    if pattern == keys::ONE_LINE { r"[^\u0000-\u001f\u007f-\u009f]+" } else { pattern }
}
