//! Objects that exist: opal's verification beside a plan of OpenTofu or Terraform that has just imported them.

use std::collections::BTreeSet;

use opal_testing::terraform;
use serde_json::{Value, json};

use super::{built, project};
use crate::support::Opal;

/// What a step says, and what is changed of its object by hand: a place and the new value.
fn cases() -> Vec<(Value, Option<(&'static str, Value)>)> {
    let as_made = [
        json!({}),
        json!({"kind": "fancy"}),
        json!({"color": "red"}),
        json!({"color": "Red"}),
        json!({"flag": true}),
        json!({"flag": false}),
        json!({"ratio": 1.5}),
        json!({"ratio": 2}),
        json!({"labels": ["b", "a"]}),
        json!({"labels": ["b", "a", "b"]}),
        json!({"labels": []}),
        json!({"ports": [2, 1, 2]}),
        json!({"options": {"a": "1", "b": "2"}}),
        json!({"options": {}}),
        json!({"zone": "north"}),
        json!({"limits": {}}),
        json!({"limits": {"cpu": 2, "memory": "1G"}}),
        json!({"rule": [{"port": 80}, {"port": 443, "protocol": "udp"}]}),
        json!({"member": [{"id": "b"}, {"id": "a", "role": "x"}]}),
        json!({"kind": "all", "color": "BLUE", "flag": true, "ratio": 0.25, "labels": ["x"],
            "ports": [1], "options": {"k": "v"}, "zone": "south", "limits": {"memory": "2G"},
            "rule": [{"port": 1}], "member": [{"id": "m"}]}),
    ];
    let changed = [
        (json!({}), "/kind", json!("other")),
        (json!({}), "/flag", json!(true)),
        (json!({}), "/options", json!({"x": "y"})),
        (json!({}), "/limits", json!({"cpu": 1, "memory": null})),
        (json!({}), "/member", json!([{"id": "a", "role": null}])),
        (json!({"color": "Red"}), "/color", json!("blue")),
        (json!({"color": "Red"}), "/color", json!("RED")),
        (json!({"flag": true}), "/flag", json!(false)),
        (json!({"ratio": 0.1}), "/ratio", json!(0.2)),
        (json!({"labels": ["a"]}), "/labels", json!(["a", "b"])),
        (json!({"labels": ["a", "b"]}), "/labels", json!(["b", "a"])),
        (json!({"ports": [1, 2]}), "/ports", json!([2, 1])),
        (json!({"options": {"a": "1"}}), "/options/b", json!("2")),
        (json!({"options": {"a": "1"}}), "/options", json!(null)),
        (json!({"zone": "north"}), "/zone", json!("south")),
        (json!({"zone": "north", "kind": "k"}), "/kind", json!("other")),
        (json!({"limits": {"cpu": 2}}), "/limits/cpu", json!(3)),
        (json!({"limits": {}}), "/limits/memory", json!("2G")),
        (json!({"limits": {"cpu": 1}}), "/limits", json!(null)),
        (json!({"rule": [{"port": 80}]}), "/rule/0/protocol", json!("udp")),
        (json!({"rule": [{"port": 80}, {"port": 81}]}), "/rule/0/port", json!(82)),
        (json!({"rule": [{"port": 80}]}), "/rule", json!([])),
        (json!({"member": [{"id": "a"}]}), "/member/0/role", json!("x")),
    ];
    let changed = changed.into_iter().map(|(args, place, value)| (args, Some((place, value))));
    as_made.into_iter().map(|args| (args, None)).chain(changed).collect()
}

fn name(number: usize) -> String {
    format!("c{number}")
}

/// The configuration, as JSON, which is YAML too.
fn config(cases: &[(Value, Option<(&str, Value)>)]) -> String {
    let step = |(number, (args, _)): (usize, &(Value, _))| {
        let mut step = args.clone();
        step["id"] = name(number).into();
        step["type"] = "box_shape".into();
        step["name"] = name(number).into();
        step
    };
    let steps: Vec<Value> = cases.iter().enumerate().map(step).collect();
    json!({"version": 1, "providers": {"box": {"directory": "cloud"}}, "steps": steps}).to_string()
}

/// The same for the peer, which imports all objects.
fn peers(cases: &[(Value, Option<(&str, Value)>)]) -> String {
    let mut resources = json!({});
    let mut imports = Vec::new();
    for (number, (args, _)) in cases.iter().enumerate() {
        let mut args = args.clone();
        args["name"] = name(number).into();
        resources[name(number)] = args;
        imports.push(json!({"to": format!("box_shape.{}", name(number)), "id": name(number)}));
    }
    let document = json!({
        "terraform": {"required_providers": {"box": {"source": "test/box"}}},
        "provider": {"box": {"directory": "cloud"}},
        "resource": {"box_shape": resources},
        "import": imports,
    });
    document.to_string()
}

/// Changes an object as somebody else would.
fn edit(opal: &Opal, number: usize, place: &str, value: &Value) {
    let file = format!("cloud/shape-{}.json", name(number));
    let mut stored: Value = serde_json::from_str(&opal.read(&file)).unwrap();
    match stored.pointer_mut(place) {
        Some(old) => *old = value.clone(),
        None => {
            let (above, last) = place.rsplit_once('/').unwrap();
            stored.pointer_mut(above).unwrap()[last] = value.clone();
        }
    }
    opal.write(&file, stored.to_string());
}

/// What should be done to an object, and which of its attributes differ.
#[derive(Debug, PartialEq, Eq)]
struct Judged {
    what: &'static str,
    attributes: BTreeSet<String>,
}

fn of_opal(result: &Value) -> Judged {
    let (message, details) = (result["message"].as_str().unwrap(), result["details"].as_str());
    let what = match result["status"].as_str().unwrap() {
        "satisfied" => "nothing",
        "drifted" if message.contains("cannot be changed in place") => "replace",
        "drifted" => "change",
        other => panic!("{other}: {result}"),
    };
    let of_diff = |line: &str| line.strip_prefix(['-', '+']).map(str::to_owned);
    let mut lines: Vec<String> = details.unwrap_or_default().lines().filter_map(of_diff).collect();
    lines.extend(message.split("; ").filter(|it| it.contains(": expected")).map(str::to_owned));
    let first = |line: String| line.split(['.', '[', ':']).next().unwrap_or_default().to_owned();
    let is_name =
        |name: &String| !name.is_empty() && name.bytes().all(|it| it.is_ascii_lowercase());
    Judged { what, attributes: lines.into_iter().map(first).filter(is_name).collect() }
}

fn of_peer(change: &Value) -> Judged {
    let actions = change["actions"].as_array().unwrap();
    let what = match actions.len() {
        2 => "replace",
        _ if actions[0] == "no-op" => "nothing",
        _ if actions[0] == "update" => "change",
        _ => panic!("{change}"),
    };
    let after = change["after"].as_object().unwrap();
    let differs = |name: &&String| change["before"][name.as_str()] != after[name.as_str()];
    // What only the provider decides does not count as a difference.
    let attributes = after.keys().filter(differs).filter(|name| *name != "uid").cloned();
    Judged { what, attributes: attributes.collect() }
}

#[test]
fn what_is_verified_is_what_a_plan_after_an_import_says() {
    let Some(program) = built("box", "cargo xtask providers") else { return };
    let Some(peer) = terraform::program() else { return };
    let cases = cases();
    assert!(cases.len() >= 30);
    let opal = project(&program, "test/box", "").file("cloud/.keep", "");
    let opal = opal.file("infra.yaml", config(&cases)).file("main.tf.json", peers(&cases));
    opal.call(&["apply", "infra.yaml"]).code(0);
    opal.call(&["verify", "infra.yaml"]).code(0);
    for (number, (_, changed)) in cases.iter().enumerate() {
        if let Some((place, value)) = changed {
            edit(&opal, number, place, value);
        }
    }
    let verified = opal.call(&["verify", "infra.yaml", "--json"]);
    let verified = verified.code(1).json();
    let own = [("test/box", program.parent().unwrap())];
    let run = |words: &[&str]| {
        let ran = terraform::run(&peer, &opal.path(), &own, words);
        assert!(ran.status.success(), "{ran:?}");
        ran.stdout
    };
    run(&["plan", "-input=false", "-no-color", "-out=p"]);
    let planned: Value = serde_json::from_slice(&run(&["show", "-json", "p"])).unwrap();
    let mut counts = [0; 3];
    for (number, (args, changed)) in cases.iter().enumerate() {
        let (name, address) = (name(number), format!("box_shape.{}", name(number)));
        let find = |all: &Value, key: &str, value: &str| {
            all.as_array().unwrap().iter().find(|it| it[key] == value).unwrap().clone()
        };
        let result = find(&verified["results"], "step_id", &name);
        let change = find(&planned["resource_changes"], "address", &address)["change"].clone();
        let (own, peers) = (of_opal(&result), of_peer(&change));
        assert_eq!(own, peers, "{args} {changed:?}\n{result}\n{change}");
        counts[["nothing", "change", "replace"].iter().position(|it| *it == own.what).unwrap()] +=
            1;
    }
    // Every verdict is among them.
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
}

#[test]
fn what_cannot_be_read_back_is_written_again_by_the_peer_and_named_by_opal() {
    let Some(program) = built("box", "cargo xtask providers") else { return };
    let Some(peer) = terraform::program() else { return };
    let cases = [(json!({"password": "canary-password"}), None)];
    let opal = project(&program, "test/box", "").file("cloud/.keep", "");
    let opal = opal.file("infra.yaml", config(&cases)).file("main.tf.json", peers(&cases));
    opal.call(&["apply", "infra.yaml"]).code(0).hides("canary");
    let verified = opal.call(&["verify", "infra.yaml", "--verbose"]);
    verified.code(0).says("not read back: password").hides("canary");
    let own = [("test/box", program.parent().unwrap())];
    let words = ["plan", "-input=false", "-no-color", "-detailed-exitcode"];
    let ran = terraform::run(&peer, &opal.path(), &own, &words);
    assert_eq!(ran.status.code(), Some(2), "{ran:?}");
}
