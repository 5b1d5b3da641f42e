//! Blocks that run elsewhere: the targets of a block, and what crosses to them.
//!
//! A decorator whose block runs elsewhere is a [`Boundary`](crate::boundary::Boundary): the planner
//! asks it for its targets once, and the plan has them as the argument [`TARGETS`]. Everybody else
//! reads them from there, so a run and a verification can have no other targets than the plan.

mod hops;
mod settings;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::data::Data;
use crate::resolver::Trouble;
use crate::target::{Hop, Program, Readiness, TargetName, User, Via};
use crate::value::Value;

pub use settings::{HelperUse, Settings};

/// What plans call the targets of a block; no parameter has this name.
pub const TARGETS: &str = "targets";

/// What plans call the places of the targets that `--limit` has left, of all that the block has:
/// batches and shares are those of the whole fleet.
pub const PLACES: &str = "places";

/// The places of the targets that are left, of so many.
#[must_use]
pub fn places_of(places: impl Iterator<Item = usize>, total: usize) -> Value {
    let int = |number: usize| Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
    let at = Value::Array(places.map(int).collect());
    Value::Map(BTreeMap::from([("at".to_owned(), at), ("of".to_owned(), int(total))]))
}

/// Reads what [`places_of`] wrote.
#[must_use]
pub fn places(data: &Data) -> Option<(Vec<usize>, usize)> {
    let Data::Map(fields) = data else { return None };
    let int = |data: &Data| match data {
        Data::Int(number) => usize::try_from(*number).ok(),
        _ => None,
    };
    let Some(Data::Array(at)) = fields.get("at") else { return None };
    Some((at.iter().map(int).collect::<Option<_>>()?, int(fields.get("of")?)?))
}

/// The key of a value of one member of a fleet. In the steps, which are the same for all members, its
/// key has `*` where this has the name of the member.
#[must_use]
pub fn member_key(member: &str, key: &str) -> Arc<str> {
    match key.strip_prefix("*/") {
        Some(rest) => format!("{member}/{rest}").into(),
        // What is computed with an operator has brackets of its own.
        None if is_bracketed(key) => format!("{member}/{key}").into(),
        None => format!("{member}/({key})").into(),
    }
}

/// Whether one pair of brackets is around all of a key. What is not in brackets has no operator, so two keys
/// never become one.
fn is_bracketed(key: &str) -> bool {
    let inner = key.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let Some(inner) = inner else { return false };
    let (mut depth, mut is_quoted, mut is_escaped) = (0_usize, false, false);
    for byte in inner.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b'(' if !is_quoted => depth += 1,
            b')' if !is_quoted && depth == 0 => return false,
            b')' if !is_quoted => depth -= 1,
            _ => {}
        }
    }
    !is_quoted && depth == 0
}

/// A target, as a plan has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    pub name: TargetName,
    pub hop: Hop,
    /// The user that the block runs as there, where it is another than the one that opal logs in as.
    pub role: Option<Role>,
    /// The key to log in with, as the inventory names it: a file of opal's machine.
    pub key_file: Option<String>,
    /// What runs the shell steps of the block there instead of a shell.
    pub interpreter: Option<Program>,
    /// What must succeed there before the block runs.
    pub ready: Option<Readiness>,
}

/// Another user on a target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Role {
    pub user: User,
    pub via: Via,
}

/// What `@target` gives.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub name: String,
    /// The address that opal connects to.
    pub host: String,
    /// Among the targets of the block, from 0.
    pub index: usize,
    pub groups: Vec<String>,
    /// Variables of the inventory, or why one cannot be read.
    pub vars: BTreeMap<String, Result<Data, Trouble>>,
    /// Why a variable that is not among them may be there after all.
    pub unread: Option<Trouble>,
}

/// One crossing: from a machine to a target.
#[derive(Clone, Debug)]
pub struct Crossing {
    pub target: Target,
    pub settings: Arc<Settings>,
    /// Tells the targets apart that are made for one run of a block; 0 for all others.
    pub visit: u64,
}

impl Crossing {
    /// The hops of this crossing: to the target, and to another user there.
    pub fn hops(&self) -> impl Iterator<Item = Hop> + use<> {
        let Target { hop, role, .. } = self.target.clone();
        let role = role.map(|Role { user, via }| Hop::User { user, via });
        std::iter::once(hop).chain(role)
    }
}

impl Target {
    #[must_use]
    pub fn new(name: TargetName, hop: Hop) -> Self {
        Self { name, hop, role: None, key_file: None, interpreter: None, ready: None }
    }

    /// As plans write it.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let text = |text: &str| Value::String(text.to_owned().into());
        let mut fields = BTreeMap::from([("name".to_owned(), text(self.name.as_str()))]);
        let mut add = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
        hops::write(&self.hop, &mut add);
        if let Some(key_file) = &self.key_file {
            add("key_file", text(key_file));
        }
        if let Some(Role { user, via }) = &self.role {
            add("as", text(user.as_str()));
            add("via", text(via.as_str()));
        }
        if let Some(interpreter) = &self.interpreter {
            add("interpreter", interpreter.to_value());
        }
        if let Some(Readiness { program, within }) = &self.ready {
            add("ready", program.to_value());
            add("ready_within", Value::Duration(*within));
        }
        Value::Map(fields)
    }

    /// How it is reached, in one text that no other way of reaching it has: `ssh web1 port=2222`.
    #[must_use]
    pub fn transport(&self) -> String {
        let Value::Map(mut fields) = self.to_value() else { return String::new() };
        let plain = |value: Value| match value {
            Value::String(text) => text.to_string(),
            other => other.to_string(),
        };
        // Names have no `=`.
        let main = ["connection", "address"].into_iter().filter_map(|it| fields.remove(it));
        let mut words: Vec<String> = main.map(plain).collect();
        let is_more = |name: &str| !matches!(name, "name" | "key_file");
        let more = fields.into_iter().filter(|(name, _)| is_more(name));
        words.extend(more.map(|(name, value)| format!("{name}={}", plain(value))));
        words.join(" ")
    }

    /// Reads what [`Self::to_value`] wrote; none where it is something else.
    #[must_use]
    pub fn from_data(data: &Data) -> Option<Self> {
        let Data::Map(fields) = data else { return None };
        let text = |name: &str| fields.get(name).and_then(Data::as_text);
        let via = |name: &str| Via::ALL.into_iter().find(|via| via.as_str() == name);
        let hop = hops::read(fields)?;
        let role = match text("as") {
            Some(user) => Some(Role { user: user.parse().ok()?, via: via(text("via")?)? }),
            None => None,
        };
        let key_file = text("key_file").map(str::to_owned);
        let program = |name: &str| match fields.get(name) {
            Some(data) => Program::from_data(data).map(Some),
            None => Some(None),
        };
        let ready = match (program("ready")?, fields.get("ready_within")) {
            (Some(program), Some(Data::Duration(within))) => {
                Some(Readiness { program, within: *within })
            }
            (None, None) => None,
            _ => return None,
        };
        let (name, interpreter) = (text("name")?.parse().ok()?, program("interpreter")?);
        Some(Self { name, hop, role, key_file, interpreter, ready })
    }
}
