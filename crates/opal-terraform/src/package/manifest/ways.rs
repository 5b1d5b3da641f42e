//! How objects of a type are identified, as far as its schema and opal's recipes say.

use opal_core::recipe::template::Template;
use opal_core::recipe::{Recipes, Way};
use serde_json::{Value as Json, json};

use super::parameter;
use crate::schema::{Block, Identity};

pub(super) struct Known {
    /// The parameters that say which thing a step is about.
    pub(super) key: Vec<String>,
    /// The parameters that identify: all that `.absent` has.
    pub(super) arguments: Vec<String>,
    /// The same for `check`, which starts no provider.
    pub(super) document: Json,
    /// Whether it is found by all that a create would plan.
    pub(super) is_replayed: bool,
}

pub(super) fn way(
    of: &str,
    block: &Block,
    recipes: &Recipes,
    identity: Option<&Identity>,
) -> Known {
    let way = recipes.way(of);
    let name = match way {
        Some(Way::Import(_)) => "import",
        Some(Way::Identity(_)) => "identity",
        Some(Way::Replay(_)) => "replay",
        Some(Way::Mark(_)) => "mark",
        Some(Way::State) => "state",
        None => "none",
    };
    let filled: Vec<String> = match way {
        Some(Way::Import(template)) => template.arguments(),
        Some(Way::Identity(all)) => all.values().flat_map(Template::arguments).collect(),
        _ => Vec::new(),
    };
    let top = |path: &String| path.split('.').next().unwrap_or(path).to_owned();
    let mut own: Vec<String> = filled.iter().map(top).collect();
    let part = |is_required: bool| -> Vec<&str> {
        let all = identity.into_iter().flat_map(|it| &it.attributes);
        all.filter(|(_, it)| it.required == is_required).map(|(name, _)| name.as_str()).collect()
    };
    let (required, optional) = (part(true), part(false));
    if own.is_empty() {
        own.extend(required.iter().chain(&optional).map(|it| (*it).to_owned()));
    }
    // What is replayed is found by all that a create would plan.
    if let Some(Way::Replay(_)) = way {
        let required = block.attributes.iter().filter(|(_, it)| it.required || it.optional);
        own.extend(required.map(|(name, _)| name.clone()));
    }
    own.sort();
    own.dedup();
    own.retain(|name| {
        let is_block = block.blocks.contains_key(name);
        is_block || block.attributes.get(name).is_some_and(|it| it.is_configurable())
    });
    let arguments: Vec<String> = own.iter().map(|name| parameter(name)).collect();
    let is_needed =
        |name: &&String| block.attributes.get(attribute(name)).is_some_and(|it| it.required);
    let mut key: Vec<String> = arguments.iter().filter(is_needed).cloned().collect();
    // Of these, what a step gives counts.
    key.extend(["mark", "adopt"].map(str::to_owned));
    let tags = match way {
        Some(Way::Mark(mark)) => Some(mark.tags.as_str()),
        _ => None,
    };
    let document = json!({
        "way": name,
        "arguments": filled,
        "required": required,
        "optional": optional,
        "tags": tags,
    });
    let is_replayed = matches!(way, Some(Way::Replay(_)));
    Known { key, arguments, document, is_replayed }
}

fn attribute(name: &str) -> &str {
    super::attribute(name)
}
