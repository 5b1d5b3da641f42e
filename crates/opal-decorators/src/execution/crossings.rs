//! What the decorators whose blocks run elsewhere have in common.

use std::fmt::Display;
use std::sync::Arc;

use opal_core::action::{Conditions, Halt, Stage};
use opal_core::boundary::{Boundary, Member, planned};
use opal_core::crossing::{Facts, Role, Settings, Target};
use opal_core::decorator::{Param, Presence};
use opal_core::gather::Gather as _;
use opal_core::message;
use opal_core::resolver::{Inputs, Trouble, TroubleKind};
use opal_core::target::{Hop, TargetName, Via};
use opal_core::{Data, Secret, Type, Value};

use crate::common::STRING_MAP;

pub(super) const AS: Param = Param::optional(
    "as",
    "the user that the block runs as there, by `sudo` without a password; by default the user that \
     opal logs in as",
);

pub(super) const ENV: Param = Param {
    name: "env",
    ty: STRING_MAP,
    presence: Presence::Optional,
    environment: true,
    docs: "environment variables for the steps of the block, on top of those that the target sets",
    ..Param::BASE
};

pub(super) const LOST: Param = Param {
    name: "lost",
    ty: Type::Duration,
    presence: Presence::Default(Value::Duration(opal_core::Duration::from_secs(30))),
    docs: "how long the target may be silent before the connection counts as lost",
    ..Param::BASE
};

pub(super) const CONNECT_TIMEOUT: Param = Param {
    name: "connect_timeout",
    ty: Type::Duration,
    presence: Presence::Default(Value::Duration(opal_core::Duration::from_secs(10))),
    docs: "how long connecting may take",
    ..Param::BASE
};

/// What a block says about its crossings.
pub(super) fn settings(inputs: &Inputs) -> Arc<Settings> {
    let secret = |data: &Data| match data {
        Data::Text(text) => Some(Secret::clone(text)),
        _ => None,
    };
    let duration = |name| match inputs.data(name) {
        Some(Data::Duration(duration)) => Some(*duration),
        _ => None,
    };
    let environment = match inputs.data("env") {
        Some(Data::Map(variables)) => {
            let all = variables.iter();
            all.filter_map(|(name, value)| Some((name.clone(), secret(value)?))).gathered()
        }
        _ => std::collections::BTreeMap::new(),
    };
    Arc::new(Settings {
        password: inputs.data("password").and_then(secret),
        environment,
        forwards_agent: inputs.is_true("forward_agent"),
        lost: duration("lost"),
        connect: duration("connect_timeout"),
    })
}

/// The user of `as`.
pub(super) fn role(inputs: &Inputs) -> Result<Option<Role>, Trouble> {
    let user = inputs.text("as").map(|user| user.parse().map_err(invalid)).transpose()?;
    Ok(user.map(|user| Role { user, via: Via::Sudo }))
}

pub(super) fn member(name: TargetName, host: &str, hop: Hop, role: Option<Role>) -> Member {
    let facts = Facts { name: name.to_string(), host: host.to_owned(), ..Facts::default() };
    Member { target: Target { name, hop, role }, facts }
}

pub(super) fn invalid(error: impl Display) -> Trouble {
    let help = "names consist of letters, digits, `.`, `_` and `-`";
    Trouble::new(TroubleKind::Invalid, error.to_string(), help)
}

/// Runs the block on the only target.
pub(super) fn on_one(
    boundary: &dyn Boundary,
    inputs: &Inputs,
    stage: &mut dyn Stage,
) -> Result<Data, Halt> {
    let targets = planned(inputs).map_err(|trouble| stage.fail(1, trouble))?;
    for target in targets {
        let crossing = Some(boundary.crossing(inputs, target));
        stage.block(&Conditions { crossing, ..Conditions::default() })?;
    }
    Ok(Data::Null)
}

/// The members of a fleet: at least one, each once.
pub(super) fn fleet(members: Vec<Member>) -> Result<Vec<Member>, Trouble> {
    let mut names = std::collections::BTreeSet::new();
    if let Some(twice) = members.iter().find(|member| !names.insert(&member.target.name)) {
        let name = twice.target.name.as_str();
        let message = message!("the target `", name, "` is named twice");
        return Err(Trouble::new(TroubleKind::Invalid, message, "name every target once"));
    }
    if members.is_empty() {
        let help = "name at least one";
        return Err(Trouble::new(TroubleKind::Invalid, "the block has no targets", help));
    }
    Ok(members)
}

/// The sizes of the batches, and how many targets may fail.
pub(super) fn policy(inputs: &Inputs, count: usize) -> Result<(Vec<usize>, usize), Trouble> {
    let batches = match inputs.data("batch") {
        None | Some(Data::Null) => vec![count],
        Some(batch) => batches(batch, count)?,
    };
    let tolerate = match inputs.data("tolerate") {
        None | Some(Data::Null) => 0,
        Some(tolerate) => share(tolerate, count, "tolerate", 0)?,
    };
    Ok((batches, tolerate))
}

fn batches(batch: &Data, count: usize) -> Result<Vec<usize>, Trouble> {
    let sizes = match batch {
        Data::Array(sizes) if sizes.is_empty() => return Err(not_a_share("batch")),
        Data::Array(sizes) => sizes.as_slice(),
        size => std::slice::from_ref(size),
    };
    let mut sizes: Vec<usize> =
        sizes.iter().map(|size| share(size, count, "batch", 1)).collect::<Result<_, _>>()?;
    let last = sizes.last().copied().unwrap_or(count).max(1);
    while sizes.iter().sum::<usize>() < count {
        sizes.push(last);
    }
    Ok(sizes)
}

/// A number of targets, or a part of all of them, rounded down, but never less than `least`.
fn share(data: &Data, count: usize, name: &str, least: usize) -> Result<usize, Trouble> {
    let number = match data {
        Data::Int(number) => usize::try_from(*number).ok().filter(|number| *number >= least),
        Data::Text(text) => {
            let percent = text.expose().strip_suffix('%').and_then(|it| it.parse::<usize>().ok());
            let percent = percent.filter(|percent| (least..=100).contains(percent));
            percent.map(|percent| (count * percent / 100).max(least))
        }
        _ => None,
    };
    number.ok_or_else(|| not_a_share(name))
}

fn not_a_share(name: &str) -> Trouble {
    let message = message!("`", name, "` is neither a number of targets nor a part of them");
    Trouble::new(TroubleKind::Invalid, message, "write a number, or a part such as `\"25%\"`")
}
