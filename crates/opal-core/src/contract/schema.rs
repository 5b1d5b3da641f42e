//! What a decorator promises, as a hash: a plugin whose promise changed is another plugin.

use super::json::Writer;
use super::wire_v1;
use crate::decorator::{Block, Cost, Descriptor, Effect, Exposure, Param, Presence, Subject};
use crate::hash::{Algorithm, Digest};
use crate::types::Type;

/// The SHA-256 of the text `opal schema v1`, a line feed, and one object of canonical JSON:
///
/// | member | what |
/// |---|---|
/// | `any_with` | the parameter that makes the result any value, where there is one |
/// | `block` | `forbidden`, `optional`, `required` |
/// | `cost` | `cheap`, `expensive` |
/// | `effect` | `read`, `act` |
/// | `exposure` | `secret`, `resolved`, `plain`, `marked`, `public` |
/// | `fails` | true, where it is there to fail |
/// | `one_of` | the parameters of which exactly one is given, where there are such |
/// | `open` | the type of further parameters, where there may be any |
/// | `params` | in their order, each with `name`, `type`, and where they are there `alias`, `default`, `environment`: true, `pattern`, `range` (an array of two), `required`: true, `shape` (all further rules of a manifest), `shell`: true |
/// | `path` | without the `@` |
/// | `reads`, `repeatable`, `transport`, `writes` | true or false |
/// | `resource` | the parameters that say which resource it is, where it describes one |
/// | `returns` | `type` and `version`, where something comes back |
/// | `subject` | `{"required":NAME}` or `{"param":NAME}`, where there is one |
///
/// A type is its name (`"Int"`, `"Any"`), `{"array":TYPE}`, `{"map":TYPE}`, `{"one_of":[…]}` or
/// `{"object":[{"name":…,"type":…},…]}`, members in their order. Texts for people are not in it.
#[must_use]
pub fn schema_hash(descriptor: &Descriptor) -> Digest {
    let mut json = Writer::default();
    json.open(b'{');
    if let Some(option) = descriptor.any_with {
        text(&mut json, "any_with", option);
    }
    text(
        &mut json,
        "block",
        match descriptor.block {
            Block::Forbidden => "forbidden",
            Block::Optional => "optional",
            Block::Required => "required",
            Block::Text => "text",
        },
    );
    text(
        &mut json,
        "cost",
        match descriptor.cost {
            Cost::Cheap => "cheap",
            Cost::Expensive => "expensive",
        },
    );
    text(
        &mut json,
        "effect",
        match descriptor.effect {
            Effect::Read => "read",
            Effect::Act => "act",
        },
    );
    text(&mut json, "exposure", exposure(descriptor.exposure));
    if descriptor.fails {
        flag(&mut json, "fails", true);
    }
    if !descriptor.one_of.is_empty() {
        names(&mut json, "one_of", descriptor.one_of);
    }
    if let Some(open) = &descriptor.open_params {
        json.plain_key("open");
        write_type(&mut json, open);
    }
    json.plain_key("params");
    json.open(b'[');
    for one in descriptor.params {
        json.item();
        param(&mut json, one);
    }
    json.close(b']');
    text(&mut json, "path", descriptor.path);
    flag(&mut json, "reads", descriptor.reads);
    flag(&mut json, "repeatable", descriptor.repeatable);
    if let Some(resource) = &descriptor.resource {
        names(&mut json, "resource", resource.key);
    }
    returns(&mut json, descriptor);
    subject(&mut json, descriptor.subject);
    flag(&mut json, "transport", descriptor.boundary.is_some());
    flag(&mut json, "writes", descriptor.writes);
    json.close(b'}');
    Algorithm::Sha256.digest(&[b"opal schema v1\n", &json.out])
}

const fn exposure(of: Exposure) -> &'static str {
    match of {
        Exposure::Secret => "secret",
        Exposure::Resolved => "resolved",
        Exposure::Plain => "plain",
        Exposure::Marked => "marked",
        Exposure::Public => "public",
    }
}

fn returns(json: &mut Writer, descriptor: &Descriptor) {
    if let Some(returns) = &descriptor.returns {
        json.plain_key("returns");
        json.open(b'{');
        json.plain_key("type");
        write_type(json, &returns.ty);
        text(json, "version", returns.version);
        json.close(b'}');
    }
}

fn subject(json: &mut Writer, subject: Subject) {
    let (kind, name) = match subject {
        Subject::None => return,
        Subject::Required(name) => ("required", name),
        Subject::OrParam(name) => ("param", name),
    };
    json.plain_key("subject");
    json.open(b'{');
    text(json, kind, name);
    json.close(b'}');
}

fn text(json: &mut Writer, name: &'static str, text: &str) {
    json.plain_key(name);
    json.string(text);
}

fn names(json: &mut Writer, name: &'static str, names: &[&str]) {
    json.plain_key(name);
    json.open(b'[');
    for one in names {
        json.item();
        json.string(one);
    }
    json.close(b']');
}

fn flag(json: &mut Writer, name: &'static str, on: bool) {
    json.plain_key(name);
    json.bool(on);
}

fn param(json: &mut Writer, param: &Param) {
    json.open(b'{');
    if let Some(alias) = param.alias {
        text(json, "alias", alias);
    }
    if let Presence::Default(default) = &param.presence {
        json.plain_key("default");
        wire_v1::value(json, default);
    }
    if param.environment {
        flag(json, "environment", true);
    }
    text(json, "name", param.name);
    if let Some(pattern) = param.pattern {
        text(json, "pattern", pattern);
    }
    if let Some((low, high)) = param.range {
        json.plain_key("range");
        json.open(b'[');
        for bound in [low, high] {
            json.item();
            json.int(bound);
        }
        json.close(b']');
    }
    if matches!(param.presence, Presence::Required) {
        flag(json, "required", true);
    }
    if let Some(shape) = param.shape {
        let mut rules = String::new();
        shape.canonical(&mut rules);
        text(json, "shape", &rules);
    }
    if param.shell {
        flag(json, "shell", true);
    }
    json.plain_key("type");
    write_type(json, &param.ty);
    json.close(b'}');
}

fn write_type(json: &mut Writer, ty: &Type) {
    let name = match ty {
        Type::Any => "Any",
        Type::Null => "Null",
        Type::Bool => "Bool",
        Type::Int => "Int",
        Type::Float => "Float",
        Type::String => "String",
        Type::Duration => "Duration",
        Type::Regex => "Regex",
        Type::Array(of) => return wrapped(json, "array", |json| write_type(json, of.get())),
        Type::Map(of) => return wrapped(json, "map", |json| write_type(json, of.get())),
        Type::OneOf(choices) => {
            return wrapped(json, "one_of", |json| {
                json.open(b'[');
                for choice in choices.iter() {
                    json.item();
                    json.string(choice);
                }
                json.close(b']');
            });
        }
        Type::Object(fields) => {
            return wrapped(json, "object", |json| {
                json.open(b'[');
                for field in *fields {
                    json.item();
                    json.open(b'{');
                    text(json, "name", field.name);
                    json.plain_key("type");
                    write_type(json, &field.ty);
                    json.close(b'}');
                }
                json.close(b']');
            });
        }
    };
    json.string(name);
}

fn wrapped(json: &mut Writer, tag: &'static str, inner: impl FnOnce(&mut Writer)) {
    json.open(b'{');
    json.plain_key(tag);
    inner(json);
    json.close(b'}');
}
