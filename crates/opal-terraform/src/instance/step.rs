//! What a step says: its own arguments, and those that every resource has.

use std::collections::BTreeMap;
use std::time::Duration;

use opal_core::data::{Data, Secret};
use opal_core::protocol::Refusal;

use super::{Args, Instance};
use crate::client::{Id, Observe};
use crate::identity;
use crate::package::manifest::attribute;
use crate::schema::{Block, Nested, Nesting};
use crate::secrets;
use crate::value::{Type, Value, convert};
use crate::verify::Ask;

/// How long a verification may take, where the step says nothing.
const VERIFY: Duration = Duration::from_secs(30);

/// How long a change may take to become visible, where the step says nothing.
const SETTLE: Duration = Duration::from_secs(30);

/// The argument of opal itself that names what may be deleted.
const ONLY: &str = "$only";

/// Longest times that a step can give.
const MOST: Duration = Duration::from_secs(24 * 3600);

/// A call, with its secrets revealed.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) decorator: String,
    pub(crate) args: BTreeMap<String, Data>,
    /// Arguments that came as secrets, by path.
    pub(crate) hidden: Vec<String>,
}

pub(super) struct Step {
    pub(super) ask: Ask,
    pub(super) replace: bool,
    pub(super) settle: Duration,
    /// Of a verification, and of each of its calls.
    pub(super) limit: Duration,
    /// Arguments that came as secrets.
    pub(super) hidden: Vec<String>,
    /// What identifies the only object that may be deleted.
    pub(super) only: Option<Secret>,
}

impl Asked {
    /// The texts of all arguments that came as secrets.
    pub(super) fn texts(&self) -> Vec<Secret> {
        let mut found = Vec::new();
        for (name, data) in &self.args {
            collect(data, name, &self.hidden, &mut found);
        }
        found
    }
}

fn collect(data: &Data, path: &str, hidden: &[String], found: &mut Vec<Secret>) {
    match data {
        Data::Text(text) if secrets::covers(hidden, path) => found.push(text.clone()),
        Data::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                collect(item, &format!("{path}[{at}]"), hidden, found);
            }
        }
        Data::Map(fields) => {
            for (name, item) in fields {
                collect(item, &format!("{path}.{name}"), hidden, found);
            }
        }
        _ => {}
    }
}

impl Instance {
    /// What a step asks for. `.absent` may leave out what does not identify.
    pub(super) fn step(
        &self,
        observe: &Observe,
        of: &str,
        is_absent: bool,
        asked: &Asked,
    ) -> Result<Step, Refusal> {
        let schemas = observe.schemas();
        let block = schemas.resources.get(of);
        let block = block.ok_or_else(|| self.invalid(&format!("it has no resource `{of}`")))?;
        let mut args = asked.args.clone();
        let adopt = match args.remove("adopt") {
            None | Some(Data::Null) => None,
            Some(Data::Text(id)) => Some(Id::Text(id.expose().to_owned())),
            Some(data) => {
                let identity = schemas.identities.get(of);
                let identity = identity.ok_or_else(|| self.invalid("it has no identities"))?;
                let value = convert::from_data(&data, &identity.implied(), "adopt");
                Some(Id::Identity(value.map_err(|why| self.invalid(&why.to_string()))?))
            }
        };
        let mark = args.remove("mark");
        let replace = self.flag(&mut args, "replace")?;
        let rewrite = self.flag(&mut args, "rewrite")?;
        let settle = self.time(&mut args, "settle")?.unwrap_or(SETTLE);
        let limit = self.time(&mut args, "verify_timeout")?.unwrap_or(VERIFY);
        let ignore = self.texts(&mut args, "ignore")?;
        let only = match args.remove(ONLY) {
            Some(Data::Text(only)) => Some(only),
            _ => None,
        };
        for own in ["id", "depends_on"] {
            args.remove(own);
        }
        let args: Args =
            args.into_iter().map(|(name, data)| (attribute(&name).to_owned(), data)).collect();
        let config = self.value(&Data::Map(args), block)?;
        let own = self.value(&self.config, &schemas.provider)?;
        let step = identity::Step {
            of,
            config: &config,
            provider: &own,
            adopt,
            mark: mark.as_ref().and_then(Data::as_text),
            project: self.project.as_deref(),
        };
        let by = identity::choose(&step, &self.recipes, schemas.identities.get(of));
        let by = by.map_err(|refused| self.invalid(&refused.message(of)))?;
        self.keep_secret(secrets::texts(block, &config));
        let config = if is_absent { config } else { identity::tagged(config, &by) };
        let ask = Ask { of: of.to_owned(), config, by, ignore, rewrite };
        let hidden = asked.hidden.iter().map(|path| renamed(path)).collect();
        Ok(Step { ask, replace, settle, limit, hidden, only })
    }

    fn flag(&self, args: &mut Args, name: &str) -> Result<bool, Refusal> {
        match args.remove(name) {
            None | Some(Data::Null) => Ok(false),
            Some(Data::Bool(it)) => Ok(it),
            Some(_) => Err(self.invalid(&format!("`{name}`: expected a Bool"))),
        }
    }

    fn texts(&self, args: &mut Args, name: &str) -> Result<Vec<String>, Refusal> {
        let invalid = || self.invalid(&format!("`{name}`: expected an Array of Strings"));
        match args.remove(name) {
            None | Some(Data::Null) => Ok(Vec::new()),
            Some(Data::Array(items)) => {
                let each = items.iter().map(|it| it.as_text().map(str::to_owned));
                each.collect::<Option<_>>().ok_or_else(invalid)
            }
            Some(_) => Err(invalid()),
        }
    }

    fn time(&self, args: &mut Args, name: &str) -> Result<Option<Duration>, Refusal> {
        let time = match args.remove(name) {
            None | Some(Data::Null) => return Ok(None),
            Some(Data::Duration(it)) => Some(it),
            Some(Data::Text(text)) => opal_core::Duration::parse(text.expose()).ok(),
            Some(_) => None,
        };
        let nanos = time.and_then(|it| u64::try_from(it.as_nanos()).ok());
        match nanos.map(Duration::from_nanos).filter(|it| *it <= MOST) {
            Some(time) => Ok(Some(time)),
            None => Err(self.invalid(&format!("`{name}`: expected a Duration of at most 24h"))),
        }
    }

    /// Arguments as a value of a schema.
    pub(super) fn value(&self, data: &Data, block: &Block) -> Result<Value, Refusal> {
        let Type::Object(fields) = block.implied() else { return Ok(Value::map([])) };
        let Data::Map(given) = data else {
            return Err(self.invalid("arguments that are not a table"));
        };
        let each = given.iter().map(|(name, data)| {
            let of =
                fields.get(name).ok_or_else(|| self.invalid(&format!("it has no `{name}`")))?;
            let data = blocks(data, block.blocks.get(name));
            let value = convert::from_data(&data, of, name);
            Ok((name.clone(), value.map_err(|why| self.invalid(&why.to_string()))?))
        });
        Ok(block.complete(Value::Map(each.collect::<Result<_, Refusal>>()?)))
    }
}

/// A block of which there is at most one may be written as a Map, at every level.
fn blocks(data: &Data, nested: Option<&Nested>) -> Data {
    let Some(nested) = nested else { return data.clone() };
    let inner = |data: &Data| match data {
        Data::Map(fields) => {
            let each = fields.iter();
            Data::Map(
                each.map(|(name, data)| {
                    (name.clone(), blocks(data, nested.block.blocks.get(name)))
                })
                .collect(),
            )
        }
        data => data.clone(),
    };
    let is_many = matches!(nested.nesting, Nesting::List | Nesting::Set);
    match data {
        Data::Map(_) if is_many && nested.max_items == 1 => Data::Array(vec![inner(data)]),
        Data::Array(items) if is_many => Data::Array(items.iter().map(inner).collect()),
        Data::Map(fields) if nested.nesting == Nesting::Map => {
            Data::Map(fields.iter().map(|(name, data)| (name.clone(), inner(data))).collect())
        }
        data => inner(data),
    }
}

/// The path of an attribute, from the path of its parameter.
fn renamed(path: &str) -> String {
    let end = path.find(['.', '[']).unwrap_or(path.len());
    format!("{}{}", attribute(&path[..end]), &path[end..])
}
