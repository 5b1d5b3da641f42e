//! Recipes: the first row whose pattern matches a type says how its objects are identified. Rows of
//! `opal.mod` come before opal's own. A row of ours ships after a round trip with the real provider.

use std::collections::BTreeMap;

use opal_core::data::Data;

use super::template::{Invalid, Template};
use crate::value::{Type, Value, convert};

#[derive(Clone, Debug, Default)]
pub struct Recipes {
    rows: Vec<(String, Way)>,
    /// Types whose objects look as if they were missing to whoever may not read them.
    hidden: Vec<String>,
}

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
    pub from: Listing,
}

/// How objects are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listing {
    /// By the provider, with this configuration. opal selects by the tag.
    List(Value),
    /// By a data source, whose configuration has `{mark}` where the tag goes.
    Data {
        of: String,
        config: Value,
        /// What it says where nothing matches, if it reports that as an error.
        missing: Option<String>,
    },
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
        let (mut rows, mut hidden) = (Vec::new(), Vec::new());
        for (pattern, recipe) in of_project {
            let (way, hides_denied) = way(pattern, recipe)?;
            rows.push((pattern.clone(), way));
            if hides_denied {
                hidden.push(pattern.clone());
            }
        }
        rows.extend(STATE_ONLY.map(|pattern| (pattern.to_owned(), Way::State)));
        for (pattern, name, template) in REPLAYED {
            let templates = BTreeMap::from([(name.to_owned(), Template::read(template)?)]);
            rows.push((pattern.to_owned(), Way::Replay(templates)));
        }
        Ok(Self { rows, hidden })
    }

    #[must_use]
    pub fn way(&self, of: &str) -> Option<&Way> {
        self.rows.iter().find(|(pattern, _)| matches(pattern, of)).map(|(_, way)| way)
    }

    /// Whether an object that may not be read looks as if it were missing.
    #[must_use]
    pub fn hides_denied(&self, of: &str) -> bool {
        self.hidden.iter().any(|pattern| matches(pattern, of))
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

/// The way of a recipe, and whether its objects hide from those who may not read them.
fn way(pattern: &str, recipe: &Data) -> Result<(Way, bool), Invalid> {
    let invalid = |why: &str| Invalid(format!("the recipe of `{pattern}` {why}"));
    let Data::Map(fields) = recipe else { return Err(invalid("is not a table")) };
    let mut fields = fields.clone();
    let hides_denied = match fields.remove("denied") {
        None => false,
        Some(data) if data.as_text() == Some("missing") => true,
        Some(_) => return Err(invalid("has a `denied` that is not \"missing\"")),
    };
    let mut fields = fields.iter();
    let (Some((name, data)), None) = (fields.next(), fields.next()) else {
        return Err(invalid("needs one of `import`, `identity`, `replay`, `mark` and `lives`"));
    };
    let way = match (name.as_str(), data) {
        ("import", data) => {
            let text = data.as_text().ok_or_else(|| invalid("has an `import` that is not text"))?;
            Template::read(text).map(Way::Import)
        }
        ("identity", Data::Map(all)) => templates(all).map(Way::Identity),
        ("replay", Data::Map(all)) => templates(all).map(Way::Replay),
        ("lives", data) if data.as_text() == Some("state") => Ok(Way::State),
        ("mark", Data::Map(all)) => mark(all).map(Way::Mark).map_err(|Invalid(why)| invalid(&why)),
        (other, _) => Err(invalid(&format!("has an unknown or invalid `{other}`"))),
    };
    Ok((way?, hides_denied))
}

fn mark(all: &BTreeMap<String, Data>) -> Result<Mark, Invalid> {
    let invalid = |why: &str| Invalid(why.to_owned());
    let value = |data: &Data| {
        let value = convert::from_data(data, &Type::Dynamic, "list");
        value.map_err(|_| invalid("has a list that is not a table"))
    };
    if let Some(other) =
        all.keys().find(|it| !["in", "list", "data", "missing"].contains(&it.as_str()))
    {
        return Err(invalid(&format!("has an unknown `{other}` in its `mark`")));
    }
    let tags = all.get("in").and_then(Data::as_text);
    let tags = tags.ok_or_else(|| invalid("does not say where tags are (`in`)"))?.to_owned();
    let from = match (all.get("list"), all.get("data")) {
        (Some(list), None) => Listing::List(value(list)?),
        (None, Some(Data::Map(data))) => {
            let mut data = data.clone();
            let of = data.remove("type").as_ref().and_then(Data::as_text).map(str::to_owned);
            let of = of.ok_or_else(|| invalid("does not say which data source lists (`type`)"))?;
            if crate::acting::acts(&of) {
                return Err(invalid(&format!("lists with `{of}`, a data source that acts")));
            }
            let missing = all.get("missing").and_then(Data::as_text).map(str::to_owned);
            Listing::Data { of, config: value(&Data::Map(data))?, missing }
        }
        _ => return Err(invalid("does not say how to list: expected one of: `list`, `data`")),
    };
    Ok(Mark { tags, from })
}

/// A configuration with the tag in its places.
#[must_use]
pub fn marked(config: &Value, tag: &str) -> Value {
    match config {
        Value::Text(text) => Value::text(text.expose().replace("{mark}", tag)),
        Value::List(items) => Value::List(items.iter().map(|item| marked(item, tag)).collect()),
        Value::Map(fields) => {
            let each = fields.iter().map(|(name, value)| (name.clone(), marked(value, tag)));
            Value::Map(each.collect())
        }
        other => other.clone(),
    }
}

/// The ids that a data source found: `ids`, or its own `id`.
#[must_use]
pub fn ids(state: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_text().filter(|it| !it.is_empty()).map(str::to_owned);
    match state.field("ids") {
        Value::List(items) => items.iter().filter_map(text).collect(),
        _ => text(state.field("id")).into_iter().collect(),
    }
}

fn templates(all: &BTreeMap<String, Data>) -> Result<BTreeMap<String, Template>, Invalid> {
    let each = all.iter().map(|(name, data)| {
        let text = data.as_text().ok_or_else(|| Invalid(format!("`{name}` is not text")))?;
        Ok((name.clone(), Template::read(text)?))
    });
    each.collect()
}
