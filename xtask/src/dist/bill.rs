//! What the programs are made of, as a CycloneDX document: every package that is compiled into them or
//! runs while they are built.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// The document for what `cargo metadata` found.
pub(super) fn of(metadata: &Value) -> String {
    let packages: BTreeMap<&str, &Value> = list(&metadata["packages"])
        .iter()
        .filter_map(|package| Some((package["id"].as_str()?, package)))
        .collect();
    let used = used(metadata);
    let mut components: Vec<Value> =
        used.iter().filter_map(|id| packages.get(id.as_str())).map(|it| component(it)).collect();
    components.sort_by_key(|it| it["purl"].as_str().unwrap_or_default().to_owned());
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {
            "type": "application",
            "name": "opal",
            "version": env!("CARGO_PKG_VERSION"),
        }},
        "components": components,
    });
    format!("{document:#}\n")
}

/// The packages that the programs reach, tests left out.
fn used(metadata: &Value) -> BTreeSet<String> {
    let nodes: BTreeMap<&str, &Value> = list(&metadata["resolve"]["nodes"])
        .iter()
        .filter_map(|node| Some((node["id"].as_str()?, node)))
        .collect();
    let members = list(&metadata["workspace_members"]);
    let is_chore = |id: &&str| id.contains("/xtask#");
    let mut left: Vec<&str> =
        members.iter().filter_map(Value::as_str).filter(|id| !is_chore(id)).collect();
    let mut used = BTreeSet::new();
    while let Some(id) = left.pop() {
        if !used.insert(id.to_owned()) {
            continue;
        }
        for dependency in nodes.get(id).map(|node| list(&node["deps"])).unwrap_or_default() {
            let kinds = list(&dependency["dep_kinds"]);
            if kinds.iter().any(|kind| kind["kind"] != "dev") {
                left.extend(dependency["pkg"].as_str());
            }
        }
    }
    used
}

fn component(package: &Value) -> Value {
    let (name, version) = (&package["name"], &package["version"]);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut component = json!({
        "type": "library",
        "name": name,
        "version": version,
        "purl": format!("pkg:cargo/{}@{}", text(name), text(version)),
    });
    if let Some(license) = package["license"].as_str() {
        // Some packages still write `/` for `OR`.
        component["licenses"] = json!([{"expression": license.replace('/', " OR ")}]);
    }
    component
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
