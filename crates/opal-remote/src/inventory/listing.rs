//! The JSON that a program prints for `--list`.

use std::collections::BTreeMap;
use std::sync::Arc;

use opal_core::Value;
use opal_core::gather::Gather as _;
use serde_json::Value as Json;

use super::error::{Fault, InventoryError};
use super::groups::Inventory;
use super::variable::{Given, Place, Variable, Variables};

pub(super) fn read(
    text: &str,
    program: &Arc<str>,
    inventory: &mut Inventory,
) -> Result<(), InventoryError> {
    let place = Place { file: Arc::clone(program), line: 0 };
    let wrong = |why: String| InventoryError::at(&place, Fault::NotListing(why));
    let listed: Json = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    let Json::Object(groups) = listed else {
        return Err(wrong("the JSON is not an object".to_owned()));
    };
    let mut children: Vec<(usize, String)> = Vec::new();
    for name in in_order(text).iter().filter(|name| *name != "_meta") {
        let Some(data) = groups.get(name) else { continue };
        let group = inventory.group(name);
        let names = |list: &Json, what: &str| match list {
            Json::Null => Ok(Vec::new()),
            Json::Array(items) => {
                let text = |it: &Json| it.as_str().map(str::to_owned);
                let items: Option<Vec<String>> = items.iter().map(text).collect();
                items.ok_or_else(|| wrong(format!("`{what}` of `{name}` is not a list of names")))
            }
            _ => Err(wrong(format!("`{what}` of `{name}` is not a list of names"))),
        };
        let (hosts, vars) = match data {
            Json::Array(_) => (names(data, "hosts")?, Variables::new()),
            Json::Object(parts)
                if ["hosts", "vars", "children"].iter().any(|it| parts.contains_key(*it)) =>
            {
                let below = names(parts.get("children").unwrap_or(&Json::Null), "children")?;
                children.extend(below.into_iter().map(|child| (group, child)));
                let hosts = names(parts.get("hosts").unwrap_or(&Json::Null), "hosts")?;
                let vars = parts.get("vars").unwrap_or(&Json::Null);
                let vars = variables(vars, &place)
                    .ok_or_else(|| wrong(format!("`vars` of `{name}` is not an object")))?;
                (hosts, vars)
            }
            // The oldest form: a host with its variables.
            Json::Object(_) => (vec![name.clone()], variables(data, &place).unwrap_or_default()),
            _ => return Err(wrong(format!("the group `{name}` is neither a list nor an object"))),
        };
        for host in hosts {
            add_host(inventory, &host, group, &Variables::new(), &place)?;
        }
        vars.into_iter().for_each(|(name, variable)| inventory.set(group, &name, variable));
    }
    for (parent, child) in children {
        let child = inventory.group(&child);
        inventory.add_child(parent, child, &place)?;
    }
    let hosts = groups.get("_meta").and_then(|meta| meta.get("hostvars"));
    for (host, vars) in hosts.and_then(Json::as_object).into_iter().flatten() {
        let vars = variables(vars, &place)
            .ok_or_else(|| wrong(format!("the variables of `{host}` are not an object")))?;
        // Variables of a host that no group has say nothing.
        if let Some(known) = inventory.host_of(host) {
            inventory.hosts[known].vars.extend(vars);
        }
    }
    Ok(())
}

/// The names of an object in the order of its text, which is that of Ansible's hosts.
fn in_order(text: &str) -> Vec<String> {
    let (mut names, mut depth, mut start, mut is_escaped) = (Vec::new(), 0_usize, None, false);
    let mut last = "";
    for (index, c) in text.char_indices() {
        match (c, start) {
            (_, Some(_)) if is_escaped => is_escaped = false,
            ('\\', Some(_)) => is_escaped = true,
            ('"', Some(from)) => {
                last = &text[from..=index];
                start = None;
            }
            (_, Some(_)) => {}
            ('"', None) => start = Some(index),
            ('{' | '[', None) => depth += 1,
            ('}' | ']', None) => depth = depth.saturating_sub(1),
            (':', None) if depth == 1 => names.extend(serde_json::from_str::<String>(last)),
            _ => {}
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

/// A name of a program is a name, and not a pattern with ranges.
fn add_host(
    inventory: &mut Inventory,
    host: &str,
    group: usize,
    vars: &Variables,
    place: &Place,
) -> Result<(), InventoryError> {
    if host.contains('[') {
        let fault = Fault::NotListing(format!("`{host}` is not the name of a host"));
        return Err(InventoryError::at(place, fault));
    }
    inventory.add_hosts(host, group, vars, place)
}

fn variables(vars: &Json, place: &Place) -> Option<Variables> {
    match vars {
        Json::Null => Some(Variables::new()),
        Json::Object(vars) => {
            let one = |(name, value): (&String, &Json)| (name.clone(), variable(value, place));
            Some(vars.iter().map(one).gathered())
        }
        _ => None,
    }
}

fn variable(json: &Json, place: &Place) -> Variable {
    match value(json) {
        Some(value) => Variable::new(value, place.clone()),
        None => Variable { given: Given::Vault, place: place.clone() },
    }
}

/// None where a part of it is encrypted.
fn value(json: &Json) -> Option<Value> {
    Some(match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Value::Int(number),
            None => Value::Float(number.as_f64()?),
        },
        Json::String(text) => Value::String(text.clone().into()),
        Json::Array(items) => Value::Array(items.iter().map(value).collect::<Option<_>>()?),
        Json::Object(items) if items.contains_key("__ansible_vault") => return None,
        Json::Object(items) => {
            let one = |(name, json): (&String, &Json)| Some((name.clone(), value(json)?));
            Value::Map(items.iter().map(one).collect::<Option<BTreeMap<_, _>>>()?)
        }
    })
}
