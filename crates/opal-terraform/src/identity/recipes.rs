//! Recipes: the first row whose pattern matches a type says how its objects are identified. Rows of
//! `opal.mod` come before opal's own. A row of ours ships after a round trip with the real provider.

use std::collections::BTreeMap;

use opal_core::data::Data;

use super::template::{Invalid, Template};
use crate::value::Value;

#[derive(Clone, Debug, Default)]
pub struct Recipes(Vec<(String, Way)>);

/// How objects of a type are identified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    Import(Template),
    Identity(BTreeMap<String, Template>),
    Replay(BTreeMap<String, Template>),
    Mark(Mark),
    /// Nowhere but in a state file.
    State,
}

/// A tag that opal writes, and how objects are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The attribute with the tags: `tags`.
    pub tags: String,
    /// The configuration of the list.
    pub list: Value,
}

/// The tag that opal writes.
pub const TAG: &str = "opal";

/// Types that have nothing in the world: what identifies them is random, a time or a key of the state.
const STATE_ONLY: [&str; 5] = ["random_*", "time_*", "tls_*", "null_resource", "terraform_data"];

/// Types that are read with what a create would plan.
const REPLAYED: [(&str, &str, &str); 2] =
    [("local_file", "id", "{sha1(content)}"), ("local_sensitive_file", "id", "{sha1(content)}")];

impl Recipes {
    /// opal's own rows, after those of a project.
    pub fn new(of_project: &BTreeMap<String, Data>) -> Result<Self, Invalid> {
        let mut rows = Vec::new();
        for (pattern, recipe) in of_project {
            rows.push((pattern.clone(), way(pattern, recipe)?));
        }
        rows.extend(STATE_ONLY.map(|pattern| (pattern.to_owned(), Way::State)));
        for (pattern, name, template) in REPLAYED {
            let templates = BTreeMap::from([(name.to_owned(), Template::read(template)?)]);
            rows.push((pattern.to_owned(), Way::Replay(templates)));
        }
        Ok(Self(rows))
    }

    #[must_use]
    pub fn way(&self, of: &str) -> Option<&Way> {
        self.0.iter().find(|(pattern, _)| matches(pattern, of)).map(|(_, way)| way)
    }
}

/// Whether a pattern, in which `*` is any text, is a whole name.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            (0..=name.len()).any(|at| name.is_char_boundary(at) && matches(rest, &name[at..]))
        }),
    }
}

fn way(pattern: &str, recipe: &Data) -> Result<Way, Invalid> {
    let invalid = |why: &str| Invalid(format!("the recipe of `{pattern}` {why}"));
    let Data::Map(fields) = recipe else { return Err(invalid("is not a table")) };
    let mut fields = fields.iter();
    let (Some((name, data)), None) = (fields.next(), fields.next()) else {
        return Err(invalid("needs one of `import`, `identity`, `replay`, `mark` and `lives`"));
    };
    match (name.as_str(), data) {
        ("import", data) => {
            let text = data.as_text().ok_or_else(|| invalid("has an `import` that is not text"))?;
            Template::read(text).map(Way::Import)
        }
        ("identity", Data::Map(all)) => templates(all).map(Way::Identity),
        ("replay", Data::Map(all)) => templates(all).map(Way::Replay),
        ("lives", data) if data.as_text() == Some("state") => Ok(Way::State),
        ("mark", Data::Map(all)) => {
            let tags = all.get("in").and_then(Data::as_text);
            let tags = tags.ok_or_else(|| invalid("does not say where tags are (`in`)"))?;
            let list = all.get("list").ok_or_else(|| invalid("does not say how to list"))?;
            let list = crate::value::convert::from_data(list, &crate::value::Type::Dynamic, "list");
            let list = list.map_err(|_| invalid("has a list that is not a table"))?;
            Ok(Way::Mark(Mark { tags: tags.to_owned(), list }))
        }
        (other, _) => Err(invalid(&format!("has an unknown or invalid `{other}`"))),
    }
}

fn templates(all: &BTreeMap<String, Data>) -> Result<BTreeMap<String, Template>, Invalid> {
    let each = all.iter().map(|(name, data)| {
        let text = data.as_text().ok_or_else(|| Invalid(format!("`{name}` is not text")))?;
        Ok((name.clone(), Template::read(text)?))
    });
    each.collect()
}
