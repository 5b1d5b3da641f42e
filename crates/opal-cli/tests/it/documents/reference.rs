//! The reference of resources: a page each, made of what `opal explain` says and of the plans of the
//! examples. With `UPDATE_EXPECT=1` the pages are written.

mod yaml;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use super::block::pages;
use super::check_page;
use crate::support::{Opal, repository};

const FOLDER: &str = "docs/reference/resources";
const INDEX: &str = "docs/reference/resources.md";
const COMMAND: &str = "UPDATE_EXPECT=1 cargo test -p opal-cli --test it reference";

/// Between what a resource is and what its statuses mean.
const STATUSES: &str = "\n\n## Statuses\n\n";

/// What `opal explain` says about every resource, in the order of their paths.
fn resources() -> Vec<Value> {
    let registry = opal_decorators::registry();
    let resources = registry.iter().filter(|descriptor| descriptor.resource.is_some());
    let explained = resources.map(|descriptor| {
        let topic = format!("@{}", descriptor.path);
        Opal::new().args(["explain", &topic, "--json"]).run().code(0).json()
    });
    explained.collect()
}

fn text<'v>(of: &'v Value, name: &str) -> &'v str {
    of[name].as_str().unwrap()
}

fn list<'v>(of: &'v Value, name: &str) -> &'v [Value] {
    of[name].as_array().unwrap()
}

fn file_name(resource: &Value) -> String {
    format!("{}.md", text(resource, "path").replace('.', "_"))
}

fn begun(title: &str) -> String {
    format!("<!-- Not written by hand: {COMMAND} -->\n# {title}\n\n")
}

fn index(resources: &[Value]) -> String {
    let mut out = begun("Resources");
    out.push_str(
        "A resource describes a state of the world: a file with this content, a service that runs. \
         opal verifies it, and applies it if it is not in the desired state; [Verify and \
         apply](../guide/verify.md) describes how. Each resource is a decorator of the language and a \
         step type of [configurations](../guide/configs.md). `opal explain @file.copy` prints its \
         page.\n\n\
         | decorator | step type | what it is | idempotency key |\n|---|---|---|---|\n",
    );
    for resource in resources {
        let (path, file) = (text(resource, "path"), file_name(resource));
        let kind = resource["resource"]["type"].as_str();
        let kind = kind.map_or_else(|| "–".to_owned(), |kind| format!("`{kind}`"));
        let (summary, key) = (text(resource, "summary"), key(resource));
        let _ = writeln!(out, "| [`@{path}`](resources/{file}) | {kind} | {summary} | {key} |");
    }
    out.push_str(
        "\nThe idempotency key identifies the target of a step. Two steps of a plan with the same key and other \
         arguments are refused before anything runs \
         ([E0815](../errors/E0815.md)). [Writing a resource](../guide/resource-authors.md) describes \
         how to add one.\n",
    );
    out
}

/// The parameters that say which thing it is.
fn key(resource: &Value) -> String {
    let names = list(&resource["resource"], "key").iter();
    names.map(|name| format!("`{}`", name.as_str().unwrap())).collect::<Vec<_>>().join(", ")
}

fn page(resource: &Value) -> String {
    let (path, summary) = (text(resource, "path"), text(resource, "summary"));
    let (docs, statuses) = text(resource, "docs").trim().split_once(STATUSES).unwrap();
    let mut out = begun(&format!("`@{path}`"));
    let _ = writeln!(out, "{}.\n\n```text\n{}\n```\n", sentence(summary), text(resource, "usage"));
    let _ = writeln!(out, "{docs}\n\n## Arguments\n");
    out.push_str("| name | type | default | meaning |\n|---|---|---|---|\n");
    list(resource, "params").iter().for_each(|param| row(param, &mut out));
    let in_yaml = resource["resource"]["type"].as_str();
    let kind = in_yaml.unwrap_or(path);
    let _ = writeln!(
        out,
        "\nThe idempotency key, which identifies the target, consists of {}; reports show it as \
         `{kind}:…`.\n\n## Statuses\n\n{statuses}\n",
        key(resource)
    );
    out.push_str(
        "[Every resource](../../guide/verify.md#the-five-statuses) is also `blocked` if it is not \
         readable, if its verification times out, and if it cannot be verified because a dependency \
         is missing or blocked.\n\n## Examples\n",
    );
    let examples = list(resource, "examples");
    for example in examples {
        let (title, source) = (text(example, "title"), text(example, "source"));
        let _ = write!(out, "\n### {}\n\n```opl\n{source}```\n", sentence(title));
    }
    if in_yaml.is_none() {
        out.push_str("\nA configuration has no blocks, so it has no step type for this.\n");
        return out;
    }
    let steps = steps(text(&examples[0], "source"));
    let _ = write!(
        out,
        "\n## In a configuration\n\nThe step type is `{kind}`. This is the first example:\n\n\
         ```yaml\n{}```\n",
        yaml::configuration(resource, &steps)
    );
    out
}

fn sentence(phrase: &str) -> String {
    let mut characters = phrase.chars();
    characters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

fn row(param: &Value, out: &mut String) {
    let alias = param["alias"].as_str().map_or(String::new(), |name| format!(", also `{name}`"));
    let mut kind = code(text(param, "type"));
    if let Some([low, high]) = param["range"].as_array().map(Vec::as_slice) {
        let _ = write!(kind, ", {low} to {high}");
    }
    if let Some(pattern) = param["pattern"].as_str() {
        let _ = write!(kind, " that matches {}", code(pattern));
    }
    let without = match (param["required"] == true, param["default"].as_str()) {
        (true, _) => "required".to_owned(),
        (false, Some(default)) => code(default),
        (false, None) => "–".to_owned(),
    };
    let (name, docs) = (text(param, "name"), text(param, "docs").replace('|', "\\|"));
    let _ = writeln!(out, "| `{name}`{alias} | {kind} | {without} | {docs} |");
}

/// Code in a cell of a table.
fn code(text: &str) -> String {
    format!("`{}`", text.replace('|', "\\|"))
}

/// What the only function of a file does, as its plan says.
fn steps(source: &str) -> Vec<Value> {
    let name = super::target(source);
    let plan = Opal::machine(source).args(["plan", name, "--format", "json"]).run().code(0).json();
    list(&plan, "steps").to_vec()
}

/// Every file of the reference and what it should hold.
fn reference() -> BTreeMap<String, String> {
    let resources = resources();
    let pages = resources.iter().map(|it| (format!("{FOLDER}/{}", file_name(it)), page(it)));
    pages.chain([(INDEX.to_owned(), index(&resources))]).collect()
}

#[test]
fn the_reference_of_resources_is_up_to_date() {
    let expected = reference();
    #[expect(clippy::disallowed_methods, reason = "a switch of the tests")]
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::create_dir_all(repository().join(FOLDER)).unwrap();
        for (path, text) in &expected {
            fs::write(repository().join(path), text).unwrap();
        }
    }
    for (path, text) in &expected {
        let found = fs::read_to_string(repository().join(path)).unwrap_or_default();
        assert!(found == *text, "{path} is not what the descriptors say; write it anew: {COMMAND}");
    }
    assert_eq!(pages(FOLDER).len(), expected.len() - 1, "{FOLDER} has pages of no resource");
}

#[test]
fn every_example_of_a_resource_can_be_planned() {
    for resource in resources() {
        for example in list(&resource, "examples") {
            let found = steps(text(example, "source"));
            // Where it is in a block on a target, the step is in there.
            fn uses(step: &Value, path: &str) -> bool {
                text(step, "decorator")[1..] == *path
                    || step["block"].as_array().into_iter().flatten().any(|it| uses(it, path))
            }
            let path = text(&resource, "path");
            assert!(found.iter().any(|step| uses(step, path)), "{example}: {found:?}");
        }
    }
}

#[test]
fn blocks_of_the_reference_behave_as_they_say() {
    let pages = [pages(FOLDER), pages("docs/reference")].concat();
    let wrong: Vec<String> = pages.iter().flat_map(|page| check_page(page)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
