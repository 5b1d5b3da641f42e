//! Recipes: the first row whose pattern matches a type says how its objects are identified. Rows of
//! `opal.mod` come before opal's own. A row of ours ships after a round trip with the real provider.

pub mod template;

use std::collections::BTreeMap;

use crate::data::Data;
use crate::protocol::line;
use template::{Invalid, Template};

#[derive(Clone, Debug, Default)]
pub struct Recipes {
    rows: Vec<(String, Way)>,
    /// Types whose objects look as if they were missing to whoever may not read them.
    hidden: Vec<String>,
    /// Who says whose objects these are.
    owners: Vec<(String, Owner)>,
}

/// Whose objects of a type are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// This machine's: there are no accounts.
    Local,
    /// A data source reports the account.
    Data(String),
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

impl Way {
    /// Whether a mark has a place in it.
    #[must_use]
    pub fn takes_mark(&self) -> bool {
        match self {
            Self::Import(template) => template.has_mark(),
            Self::Identity(all) | Self::Replay(all) => all.values().any(Template::has_mark),
            Self::Mark(_) => true,
            Self::State => false,
        }
    }
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
    /// By the provider, with this configuration, a JSON object. opal selects by the tag.
    List(String),
    /// By a data source, whose configuration has `{mark}` where the tag goes.
    Data {
        of: String,
        /// A JSON object.
        config: String,
        /// What it says where nothing matches, if it reports that as an error.
        missing: Option<String>,
    },
}

/// What every resource has besides its own attributes.
pub const ADDED: [&str; 9] = [
    "id",
    "depends_on",
    "verify_timeout",
    "adopt",
    "mark",
    "ignore",
    "replace",
    "rewrite",
    "settle",
];

/// The tag that opal writes.
pub const TAG: &str = "opal";

/// Types that have nothing in the world: what identifies them is random, a time or a key of the state.
const STATE_ONLY: [&str; 5] = ["random_*", "time_*", "tls_*", "null_resource", "terraform_data"];

/// Types whose objects are on this machine.
const LOCAL: [&str; 1] = ["local_*"];

/// Types that are read with what a create would plan.
const REPLAYED: [(&str, &str, &str); 2] =
    [("local_file", "id", "{sha1(content)}"), ("local_sensitive_file", "id", "{sha1(content)}")];

/// Data sources that are known to act: they are refused where opal only reads. They run programs, or make
/// credentials.
const ACTING: [&str; 9] = [
    "aws_lambda_invocation",
    "azapi_resource_action",
    "external",
    "github_actions_registration_token",
    "google_service_account_access_token",
    "google_service_account_id_token",
    "shell_script",
    "vault_*_access_credentials",
    "vault_kubernetes_service_account_token",
];

/// Whether a data source is known to act.
#[must_use]
pub fn acts(of: &str) -> bool {
    ACTING.iter().any(|pattern| matches(pattern, of))
}

impl Recipes {
    /// opal's own rows, after those of a project.
    pub fn new(of_project: &BTreeMap<String, Data>) -> Result<Self, Invalid> {
        let (mut rows, mut hidden, mut owners) = (Vec::new(), Vec::new(), Vec::new());
        for (name, recipe) in of_project {
            let Row { pattern, way, hides_denied, owner } = row(name, recipe)?;
            rows.extend(way.map(|way| (pattern.clone(), way)));
            owners.extend(owner.map(|owner| (pattern.clone(), owner)));
            if hides_denied {
                hidden.push(pattern);
            }
        }
        owners.extend(LOCAL.map(|pattern| (pattern.to_owned(), Owner::Local)));
        rows.extend(STATE_ONLY.map(|pattern| (pattern.to_owned(), Way::State)));
        for (pattern, name, template) in REPLAYED {
            let templates = BTreeMap::from([(name.to_owned(), Template::read(template)?)]);
            rows.push((pattern.to_owned(), Way::Replay(templates)));
        }
        Ok(Self { rows, hidden, owners })
    }

    #[must_use]
    pub fn way(&self, of: &str) -> Option<&Way> {
        self.rows.iter().find(|(pattern, _)| matches(pattern, of)).map(|(_, way)| way)
    }

    /// Who says whose an object is; none where nobody does.
    #[must_use]
    pub fn owner(&self, of: &str) -> Option<&Owner> {
        self.owners.iter().find(|(pattern, _)| matches(pattern, of)).map(|(_, owner)| owner)
    }

    /// Whether an object that may not be read looks as if it were missing.
    #[must_use]
    pub fn hides_denied(&self, of: &str) -> bool {
        self.hidden.iter().any(|pattern| matches(pattern, of))
    }
}

/// Whether a pattern, in which `*` is any text, is a whole name.
#[must_use]
pub fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            (0..=name.len()).any(|at| name.is_char_boundary(at) && matches(rest, &name[at..]))
        }),
    }
}

/// What a recipe says.
struct Row {
    /// Of the types that it is for.
    pattern: String,
    way: Option<Way>,
    /// Whether its objects hide from those who may not read them.
    hides_denied: bool,
    owner: Option<Owner>,
}

/// A recipe is for the type of its name, or for all types that its `match` says.
fn row(name: &str, recipe: &Data) -> Result<Row, Invalid> {
    let Data::Map(fields) = recipe else {
        return Err(Invalid(format!("the recipe of `{name}` is not a table")));
    };
    let mut fields = fields.clone();
    let pattern = match fields.remove("match") {
        None => name.to_owned(),
        Some(data) => match data.as_text() {
            Some(text) => text.to_owned(),
            None => return Err(Invalid(format!("the recipe of `{name}`: `match` is not text"))),
        },
    };
    let invalid = |why: &str| Invalid(format!("the recipe of `{pattern}` {why}"));
    let hides_denied = match fields.remove("denied") {
        None => false,
        Some(data) if data.as_text() == Some("missing") => true,
        Some(_) => return Err(invalid("has a `denied` that is not \"missing\"")),
    };
    let owner = match fields.remove("where") {
        None => None,
        Some(data) => {
            let of = data.as_text().filter(|it| !acts(it) && *it != "local");
            let of = of.ok_or_else(|| invalid("has a `where` that is not a data source"))?;
            Some(Owner::Data(of.to_owned()))
        }
    };
    let mut fields = fields.iter();
    let first = fields.next();
    if first.is_none() && (owner.is_some() || hides_denied) {
        return Ok(Row { pattern, way: None, hides_denied, owner });
    }
    let (Some((name, data)), None) = (first, fields.next()) else {
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
    let way = Some(way?);
    Ok(Row { pattern, way, hides_denied, owner })
}

fn mark(all: &BTreeMap<String, Data>) -> Result<Mark, Invalid> {
    let invalid = |why: &str| Invalid(why.to_owned());
    if let Some(other) =
        all.keys().find(|it| !["in", "list", "data", "missing"].contains(&it.as_str()))
    {
        return Err(invalid(&format!("has an unknown `{other}` in its `mark`")));
    }
    let tags = all.get("in").and_then(Data::as_text);
    let tags = tags.ok_or_else(|| invalid("does not say where tags are (`in`)"))?.to_owned();
    let from = match (all.get("list"), all.get("data")) {
        (Some(list @ Data::Map(_)), None) => Listing::List(document(list)),
        (None, Some(Data::Map(data))) => {
            let mut data = data.clone();
            let of = data.remove("type").as_ref().and_then(Data::as_text).map(str::to_owned);
            let of = of.ok_or_else(|| invalid("does not say which data source lists (`type`)"))?;
            if acts(&of) {
                return Err(invalid(&format!("lists with `{of}`, a data source that acts")));
            }
            let missing = all.get("missing").and_then(Data::as_text).map(str::to_owned);
            Listing::Data { of, config: document(&Data::Map(data)), missing }
        }
        _ => return Err(invalid("does not say how to list: expected one of: `list`, `data`")),
    };
    Ok(Mark { tags, from })
}

/// What a recipe says is in the source: it is not a secret.
fn document(data: &Data) -> String {
    line::json(data).expose().to_owned()
}

fn templates(all: &BTreeMap<String, Data>) -> Result<BTreeMap<String, Template>, Invalid> {
    let each = all.iter().map(|(name, data)| {
        let text = data.as_text().ok_or_else(|| Invalid(format!("`{name}` is not text")))?;
        Ok((name.clone(), Template::read(text)?))
    });
    each.collect()
}
