//! A step with its block.

use serde_json::{Map, Value as Node, json};

use super::argument;
use crate::gather::Gather as _;
use crate::plan::{Binding, Plan, Redirect, RedirectTarget, Step};
use crate::view::words::{access_text, is_undecided};
use crate::view::{PlanView, Uses};

/// What is empty is left out.
pub(super) fn node(view: &PlanView<'_>, step: &Step) -> Node {
    let plan = view.plan;
    let mut node = Map::new();
    let mut add = |name: &str, part: Option<Node>| {
        if let Some(part) = part {
            node.insert(name.to_owned(), part);
        }
    };
    let uses = Uses::of(step);
    let deferred: Vec<&str> = uses
        .deferred
        .into_iter()
        .filter_map(|index| plan.deferred.get(index as usize))
        .map(|deferred| &*deferred.key)
        .collect();
    add("decorator", Some(step.node.name().into()));
    add("path", Some(step.path.as_ref().into()));
    add("at", view.places.get(&*step.path).map(|place| place.as_str().into()));
    add("args", some(args(plan, step)).map(Node::Object));
    add("block", list(step.block.iter().map(|inner| self::node(view, inner))));
    add("redirects", list(step.redirects.iter().map(|one| redirect(view, one))));
    add("values", list(uses.values.into_iter().map(Node::from)));
    add("deferred", list(deferred.into_iter().map(Node::from)));
    add("let", step.binding.as_deref().map(binding));
    add("note", step.note.as_ref().map(|note| Node::from(&*note.written())));
    add("resource", view.keys.get(&*step.path).map(|key| key.as_str().into()));
    add("schema", step.schema.map(|schema| schema.hex().into()));
    add("undecided", is_undecided(step).then_some(true.into()));
    node.into()
}

fn list(items: impl Iterator<Item = Node>) -> Option<Node> {
    let items: Vec<Node> = items.collect();
    (!items.is_empty()).then_some(items.into())
}

fn some(args: Map<String, Node>) -> Option<Map<String, Node>> {
    (!args.is_empty()).then_some(args)
}

fn args(plan: &Plan, step: &Step) -> Map<String, Node> {
    let shown = step.args.iter().filter(|(name, _)| name != "undecided").map(|(name, arg)| {
        let node = match step.command() {
            Some(command) if name == "command" => argument::shell_text(plan, command).into(),
            _ => argument::node(plan, arg),
        };
        (name.to_string(), node)
    });
    shown.gathered()
}

fn binding(binding: &Binding) -> Node {
    let mut node = json!({"handle": format!("opal:h:{}", binding.id), "name": &*binding.name});
    if !binding.access.is_empty() {
        node["access"] = access_text(&binding.access).into();
    }
    node
}

fn redirect(view: &PlanView<'_>, redirect: &Redirect) -> Node {
    let (name, target) = match &redirect.target {
        RedirectTarget::Step(target) => ("step", node(view, target)),
        RedirectTarget::Shell(pieces) => ("text", argument::shell_text(view.plan, pieces).into()),
    };
    json!({"operator": redirect.operator.to_string(), name: target})
}
