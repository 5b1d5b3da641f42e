//! Decorators from schemas: a manifest in the form of `dim.yaml`, written as JSON, which is YAML too.
//!
//! ```text
//! {"x-opal-plugin":{…},"x-opal-decorators":[
//! {"name":"aws.ami", …},
//! {"name":"aws.data.ami", …}
//! ]}
//! ```
//!
//! One line for each decorator, in the order of names, so an index says where each one is and opal
//! reads only what a project uses. The same schemas give the same bytes on every platform.
//!
//! | what | where |
//! |---|---|
//! | types, blocks and attributes | `types` |
//! | how an object of a type is identified, for `check` | `ways` |

mod types;
mod ways;

use std::collections::BTreeMap;

use opal_core::recipe::{self, ADDED, Recipes};
use serde_json::{Map, Value as Json, json};
use sha2::{Digest as _, Sha256};

use super::hex;
use super::source::{Source, Version};
use crate::schema::{Block, Schemas};
use crate::trouble::visible;

/// What `.absent` has of them.
const ADDED_ABSENT: [&str; 6] = ["id", "depends_on", "verify_timeout", "adopt", "mark", "settle"];

/// Version of the results: their fields follow the schema.
const RETURNS: &str = "1.0.0";

/// How a parameter is called for an attribute: one that opal has itself gets a `_`.
#[must_use]
pub fn parameter(attribute: &str) -> String {
    if ADDED.contains(&attribute) { format!("{attribute}_") } else { attribute.to_owned() }
}

/// The attribute of a parameter.
#[must_use]
pub fn attribute(parameter: &str) -> &str {
    match parameter.strip_suffix('_') {
        Some(name) if ADDED.contains(&name) => name,
        _ => parameter,
    }
}

/// A manifest, where its decorators are in it, and its digest.
#[derive(Clone, Debug)]
pub struct Manifest {
    pub text: String,
    /// One line for each decorator: a JSON object.
    pub index: String,
    /// SHA-256 of the manifest, in hexadecimal digits.
    pub checksum: String,
    /// Types whose names cannot be paths of decorators.
    pub unnamed: Vec<String>,
}

/// Builds the manifest of a provider. `first` is the first segment of all its paths.
#[must_use]
pub fn manifest(
    schemas: &Schemas,
    recipes: &Recipes,
    source: &Source,
    version: &Version,
    first: &str,
) -> Manifest {
    let mut all: BTreeMap<String, (Json, Json)> = BTreeMap::new();
    let mut unnamed = Vec::new();
    let names = Names::new(source, schemas, first);
    for (of, block) in &schemas.resources {
        let Some(path) = names.path(of, None).filter(|_| types::is_usable(block)) else {
            unnamed.push(of.clone());
            continue;
        };
        let way = ways::way(of, block, recipes, schemas.identities.get(of));
        let absent = format!("{path}.absent");
        let about = json!({"kind": "resource", "type": of, "identity": way.document});
        all.insert(absent.clone(), (absent_entry(&absent, of, block, &way), about.clone()));
        all.insert(path.clone(), (resource_entry(&path, of, block, &way), about));
    }
    for (of, block) in &schemas.data {
        match names.path(of, Some("data")).filter(|_| types::is_usable(block)) {
            None => unnamed.push(of.clone()),
            Some(path) => {
                let about = json!({"kind": "data", "type": of, "acts": recipe::acts(of)});
                all.insert(path.clone(), (data_entry(&path, of, block), about));
            }
        }
    }
    let path = format!("{first}.provider");
    let about = json!({"kind": "provider"});
    all.insert(path.clone(), (provider_entry(&path, &schemas.provider), about));
    write(all, unnamed, source, version)
}

fn write(
    all: BTreeMap<String, (Json, Json)>,
    unnamed: Vec<String>,
    source: &Source,
    version: &Version,
) -> Manifest {
    let plugin = json!({
        "name": format!("{}/{}", source.namespace, source.name).replace('_', "-"),
        "version": version.to_string(),
    });
    let mut text = format!("{{\"x-opal-plugin\":{plugin},\"x-opal-decorators\":[\n");
    let mut index = String::new();
    let last = all.len();
    for (number, (path, (entry, mut about))) in all.into_iter().enumerate() {
        let entry = entry.to_string();
        about["path"] = path.into();
        about["offset"] = text.len().into();
        about["length"] = entry.len().into();
        index.push_str(&about.to_string());
        index.push('\n');
        text.push_str(&entry);
        text.push_str(if number + 1 == last { "\n" } else { ",\n" });
    }
    text.push_str("]}\n");
    let checksum = hex(&Sha256::digest(text.as_bytes()));
    Manifest { text, index, checksum, unnamed }
}

/// How types become paths: `aws_s3_bucket` is `aws.s3_bucket`.
struct Names<'a> {
    first: &'a str,
    /// What all types begin with.
    start: String,
}

impl<'a> Names<'a> {
    fn new(source: &Source, schemas: &Schemas, first: &'a str) -> Self {
        let own = format!("{}_", source.name.replace('-', "_"));
        let types = || schemas.resources.keys().chain(schemas.data.keys());
        let shared = types().next().and_then(|it| it.split_once('_')).map(|(word, _)| word);
        let shared = shared.map(|word| format!("{word}_"));
        let is_shared = |start: &String| types().all(|it| it.starts_with(start.as_str()));
        let start = match shared {
            Some(shared) if is_shared(&shared) && !types().all(|it| it.starts_with(&own)) => shared,
            _ => own,
        };
        Self { first, start }
    }

    fn path(&self, of: &str, below: Option<&str>) -> Option<String> {
        let is_segment =
            |name: &str| name.starts_with(|c: char| c.is_ascii_lowercase()) && name.len() <= 64;
        let short = of.strip_prefix(&self.start).filter(|it| is_segment(it));
        let name = short.or(Some(of).filter(|it| is_segment(it)))?;
        // `@aws.provider` is the block with the configuration.
        let name = if below.is_none() && name == "provider" { of } else { name };
        Some(match below {
            Some(below) => format!("{}.{below}.{name}", self.first),
            None => format!("{}.{name}", self.first),
        })
    }
}

/// The first sentence of what a schema says about itself.
fn summary(block: &Block, otherwise: &str) -> String {
    let text = visible(&block.description);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let sentence = line.split_once(". ").map_or(line, |(sentence, _)| sentence);
    let mut sentence = sentence.trim_end_matches('.').replace('`', "");
    if sentence.is_empty() {
        return otherwise.to_owned();
    }
    if sentence.len() > 120 {
        sentence.truncate(sentence.floor_char_boundary(120));
        sentence.push('…');
    }
    sentence
}

fn docs(block: &Block) -> String {
    let mut text = visible(&block.description);
    if let Some(why) = &block.deprecated {
        let why = if why.is_empty() { "deprecated by the provider" } else { why };
        text = format!("Deprecated: {}\n\n{text}", visible(why));
    }
    text
}

fn closed(properties: Map<String, Json>, required: Vec<String>) -> Json {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
        "required": required,
    })
}

fn base(path: &str, summary: String, docs: String, params: Json) -> Map<String, Json> {
    let mut entry = Map::new();
    entry.insert("name".to_owned(), path.into());
    entry.insert("summary".to_owned(), summary.into());
    if !docs.is_empty() {
        entry.insert("description".to_owned(), docs.into());
    }
    entry.insert("params".to_owned(), params);
    entry.insert("x-opal-cost".to_owned(), "expensive".into());
    entry
}

fn resource_entry(path: &str, of: &str, block: &Block, way: &ways::Known) -> Json {
    let (mut properties, required) = types::parameters(block, &parameter);
    types::add(&mut properties, &ADDED);
    let docs = docs(block);
    let params = closed(properties, required);
    let mut entry = base(path, summary(block, &format!("The resource {of}")), docs, params);
    entry.insert("returns".to_owned(), types::results(block, RETURNS));
    entry.insert("x-opal-effect".to_owned(), "act".into());
    entry.insert("x-opal-resource".to_owned(), json!({"key": way.key, "yaml": of}));
    Json::Object(entry)
}

/// The twin that removes has only what identifies.
fn absent_entry(path: &str, of: &str, block: &Block, way: &ways::Known) -> Json {
    let (all, required) = types::parameters(block, &parameter);
    let mut properties: Map<String, Json> =
        all.into_iter().filter(|(name, _)| way.arguments.contains(name)).collect();
    // Whether they identify, `check` says: `adopt` does so without them.
    let is_needed = |name: &String| way.is_replayed && properties.contains_key(name);
    let required = required.into_iter().filter(is_needed).collect();
    types::add(&mut properties, &ADDED_ABSENT);
    let text = format!("Remove an object of the type {of}");
    let mut entry = base(path, text, String::new(), closed(properties, required));
    entry.insert("x-opal-effect".to_owned(), "act".into());
    entry.insert("x-opal-resource".to_owned(), json!({"key": way.key, "yaml": ""}));
    Json::Object(entry)
}

fn data_entry(path: &str, of: &str, block: &Block) -> Json {
    let (properties, required) = types::parameters(block, &|name| name.to_owned());
    let params = closed(properties, required);
    let text = summary(block, &format!("The data source {of}"));
    let mut entry = base(path, text, docs(block), params);
    entry.insert("returns".to_owned(), types::results(block, RETURNS));
    entry.insert("x-opal-effect".to_owned(), "read".into());
    Json::Object(entry)
}

/// The block that configures the provider for the steps in it.
fn provider_entry(path: &str, block: &Block) -> Json {
    let own = ["env", "expect"];
    let name = |name: &str| if own.contains(&name) { format!("{name}_") } else { name.to_owned() };
    let (mut properties, _) = types::parameters(block, &name);
    let text = json!({"type": "string"});
    let texts =
        |docs: &str| json!({"type": "object", "additionalProperties": text, "description": docs});
    properties.insert("env".to_owned(), texts("Environment variables of the provider"));
    let expect = "What the account must be before anything is deleted: `account`";
    properties.insert("expect".to_owned(), texts(expect));
    let summary = summary(block, "Configure the provider for the steps in the block");
    // Its environment may configure what a schema requires.
    let mut entry = base(path, summary, docs(block), closed(properties, Vec::new()));
    entry.insert("x-opal-block".to_owned(), "required".into());
    entry.insert("x-opal-effect".to_owned(), "act".into());
    Json::Object(entry)
}

#[cfg(test)]
mod tests;
