//! `opal.toml`: what a package is called, and what it is made of.

use std::collections::BTreeMap;

use opal_core::{Code, Diagnostic, Span};
use opal_yaml::problems::Problems;
use semver::Version;

use crate::codes::CODES;
use crate::names::{Requirement, is_package_name};
use crate::toml;

/// The content of an `opal.toml`.
#[derive(Debug)]
pub struct Description {
    pub name: String,
    pub version: Version,
    pub authors: Vec<String>,
    pub summary: Option<String>,
    pub license: Option<String>,
    pub repository: Option<String>,
    pub min_core: Option<Version>,
    /// The packages that it needs.
    pub dependencies: BTreeMap<String, Requirement>,
    /// The decorators that others may use; all of them where it does not say.
    pub exports: Option<Vec<String>>,
    pub wasm: Option<String>,
    pub native: Option<String>,
    /// The command that makes the code from its sources.
    pub build: Option<String>,
}

const TABLES: [&str; 5] = ["package", "dependencies", "decorators", "plugins", "build"];
const PACKAGE: [&str; 7] =
    ["name", "version", "authors", "description", "license", "repository", "min_core"];

pub(super) fn read(text: &str) -> Result<Description, Vec<Diagnostic>> {
    let mut problems = Problems::new(CODES);
    let found = description(text, &mut problems);
    let errors = problems.into_errors();
    match found {
        Some(found) if errors.is_empty() => Ok(found),
        _ => Err(errors),
    }
}

fn description(text: &str, problems: &mut Problems) -> Option<Description> {
    let document = toml::document(text, problems)?;
    let top = document.as_table();
    toml::unknown(top, "`opal.toml`", &TABLES, problems);
    let Some(package) = top.get("package") else {
        let help = "write `[package]`, and below it `name` and `version`";
        problems.error(CODES.missing_key, Span::at(0), "`opal.toml` needs `[package]`", help);
        return None;
    };
    let package = toml::table(package, "`[package]`", problems)?;
    toml::unknown(package, "`[package]`", &PACKAGE, problems);
    for key in ["name", "version"] {
        if package.get(key).is_none() {
            let message = format!("`[package]` needs `{key}`");
            problems.error(CODES.missing_key, Span::at(0), message, format!("add `{key} = \"…\"`"));
        }
    }
    let name = toml::parsed(
        package,
        "name",
        "a namespace and a name of lower case letters, digits and `-`, as in `acme/house`",
        |text| is_package_name(text).then(|| text.to_owned()),
        problems,
    );
    let semver = "a version as in `1.2.3`";
    let version = toml::parsed(package, "version", semver, |it| it.parse().ok(), problems);
    let min_core = toml::parsed(package, "min_core", semver, |it| it.parse().ok(), problems);
    let plain = |(text, _): (String, Span)| text;
    let authors = toml::texts(package, "authors", problems).unwrap_or_default();
    let summary = toml::text(package, "description", problems).map(plain);
    let license = toml::text(package, "license", problems).map(plain);
    let repository = toml::text(package, "repository", problems).map(plain);
    let dependencies = dependencies(top, problems);
    let exports = top.get("decorators").and_then(|item| {
        let table = toml::table(item, "`[decorators]`", problems)?;
        toml::unknown(table, "`[decorators]`", &["exports"], problems);
        toml::texts(table, "exports", problems)
    });
    let (wasm, native) = engines(top, problems);
    let build = top.get("build").and_then(|item| {
        let table = toml::table(item, "`[build]`", problems)?;
        toml::unknown(table, "`[build]`", &["command"], problems);
        toml::text(table, "command", problems)
    });
    Some(Description {
        name: name?,
        version: version?,
        authors: authors.into_iter().map(plain).collect(),
        summary,
        license,
        repository,
        min_core,
        dependencies,
        exports: exports.map(|all| all.into_iter().map(plain).collect()),
        wasm,
        native,
        build: build.map(plain),
    })
}

fn dependencies(top: &toml_edit::Table, problems: &mut Problems) -> BTreeMap<String, Requirement> {
    let mut found = BTreeMap::new();
    let Some(item) = top.get("dependencies") else { return found };
    let Some(table) = toml::table(item, "`[dependencies]`", problems) else { return found };
    for (name, _) in table.iter() {
        if !is_package_name(name) {
            let span = toml::place(table.get_key_value(name).and_then(|(key, _)| key.span()));
            let expects = "a namespace and a name, as in `\"acme/house\"`";
            toml::invalid(Code::PackageValue, "dependencies", name, expects, span, problems);
            continue;
        }
        let expects = "a version as in `1.2.3`, `1.2`, `^1.2` or `>=1.2, <2`";
        let requirement = toml::parsed(table, name, expects, |it| it.parse().ok(), problems);
        found.extend(requirement.map(|it| (name.to_owned(), it)));
    }
    found
}

fn engines(top: &toml_edit::Table, problems: &mut Problems) -> (Option<String>, Option<String>) {
    let Some(item) = top.get("plugins") else { return (None, None) };
    let Some(table) = toml::table(item, "`[plugins]`", problems) else { return (None, None) };
    toml::unknown(table, "`[plugins]`", &["wasm", "native"], problems);
    let expects = "a file below `plugins/`";
    let path = |text: &str| {
        let path: crate::package::PackagePath = text.parse().ok()?;
        path.as_str().starts_with("plugins/").then(|| text.to_owned())
    };
    let wasm = toml::parsed(table, "wasm", expects, path, problems);
    (wasm, toml::parsed(table, "native", expects, path, problems))
}
