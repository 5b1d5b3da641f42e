//! What the decorators whose blocks run elsewhere have in common.

use std::fmt::Display;
use std::ops::Range;

use opal_core::action::{Action, BranchOutput, Conditions, Fleet, Halt, OnFailure, Stage};
use opal_core::boundary::{Member, crossing, helper, planned};
use opal_core::crossing::{Facts, HelperUse, PLACES, Role, Target, places};
use opal_core::decorator::{Param, Presence};
use opal_core::fleet::{Batches, FleetError, Tolerance};
use opal_core::message;
use opal_core::resolver::{Inputs, Trouble, TroubleKind};
use opal_core::target::{Hop, TargetName, Via};
use opal_core::types::Choices;
use opal_core::{Data, Type, Value};

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

pub(super) const FILES: Param = Param {
    name: "files",
    ty: STRING_MAP,
    presence: Presence::Optional,
    docs: "files of opal's machine that the block needs, by their names there: `{\"app.deb\": \
           \"build/app.deb\"}`. They are sent before the first step into a new directory that only the \
           user can enter, `$OPAL_FILES`, and removed after the block",
    ..Param::BASE
};

pub(super) const LOGIN: Param = Param::flag(
    "login",
    "give the steps the environment of a login shell, as after a login at a terminal",
);

pub(super) const PASSWORD: Param = Param::optional(
    "password",
    "the password of the user: a secret. It is given once, and only to the prompt of the target itself, or \
     to that for the passphrase of the key that the inventory names",
);

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
    docs: "how long connecting may take; the login has 30 seconds more",
    ..Param::BASE
};

pub(super) const HELPER: Param = Param {
    name: "helper",
    ty: Type::OneOf(Choices::Static(&["auto", "none"])),
    presence: Presence::Default(Value::text("auto")),
    docs: "`auto` runs the target helper on the host; a host where it cannot run gets commands only. \
           `none` never sends it: only commands run there, each over a connection of its own, and \
           resources are blocked",
    ..Param::BASE
};

/// What only a helper can do cannot be asked of a host without one.
pub(super) fn check_helper(inputs: &Inputs) -> Result<(), Trouble> {
    if helper(inputs) == HelperUse::Auto {
        return Ok(());
    }
    let is_given = |name: &&str| match inputs.data(name) {
        Some(Data::Null | Data::Bool(false)) | None => false,
        Some(_) => true,
    };
    match ["as", "password", "login", "files"].into_iter().find(is_given) {
        None => Ok(()),
        Some(name) => Err(Trouble::new(
            TroubleKind::Invalid,
            message!("`", name, "` needs the target helper, and `helper=\"none\"` does without"),
            message!("remove `", name, "` or `helper=\"none\"`"),
        )),
    }
}

/// The user of `as`.
pub(super) fn role(inputs: &Inputs) -> Result<Option<Role>, Trouble> {
    let user = inputs.text("as").map(|user| user.parse().map_err(invalid)).transpose()?;
    Ok(user.map(|user| Role { user, via: Via::Sudo }))
}

pub(super) fn member(name: TargetName, host: &str, hop: Hop, role: Option<Role>) -> Member {
    let facts = Facts { name: name.to_string(), host: host.to_owned(), ..Facts::default() };
    Member { target: Target { role, ..Target::new(name, hop) }, facts }
}

pub(super) fn invalid(error: impl Display) -> Trouble {
    let help = "names consist of letters, digits, `.`, `_` and `-`";
    Trouble::new(TroubleKind::Invalid, error.to_string(), help)
}

/// Runs the block on the only target.
#[derive(Debug)]
pub(super) struct OnOne;

impl Action for OnOne {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let targets = planned(inputs).map_err(|trouble| stage.fail(1, trouble))?;
        for target in targets {
            let crossing = Some(crossing(inputs, target));
            stage.block(&Conditions { crossing, ..Conditions::default() })?;
        }
        Ok(Data::Null)
    }
}

/// Runs the block on every target of a fleet.
#[derive(Debug)]
pub(super) struct OnMany;

impl Action for OnMany {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let fleet = of_fleet(inputs).map_err(|trouble| stage.fail(1, trouble))?;
        stage.fleet(&fleet).map(|()| Data::Null)
    }
}

fn of_fleet(inputs: &Inputs) -> Result<Fleet, Trouble> {
    let targets = planned(inputs)?;
    let (batches, tolerate) = policy(inputs, targets.len())?;
    let most = match inputs.data("max_concurrency") {
        Some(Data::Int(most)) => usize::try_from(*most).unwrap_or(1),
        _ => 20,
    };
    let on_failure = match inputs.text("on_failure") {
        Some("cancel") => OnFailure::Cancel,
        _ => OnFailure::Wait,
    };
    Ok(Fleet {
        crossings: targets.into_iter().map(|target| crossing(inputs, target)).collect(),
        most,
        batches,
        tolerate,
        on_failure,
        is_reached_first: inputs.is_true("preflight"),
        output: inputs.text("output").and_then(BranchOutput::named),
    })
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

/// The sizes of the batches, and how many targets may fail. Targets that `--limit` leaves out keep their
/// places: those that are left stay in their batches.
pub(super) fn policy(inputs: &Inputs, count: usize) -> Result<(Vec<usize>, usize), Trouble> {
    let value = |name| inputs.data(name).and_then(constant);
    let batches = value("batch").map_or(Ok(Batches::whole()), |batch| Batches::read(&batch));
    let batches = batches.map_err(|error| no_share("batch", &error))?;
    let tolerance = value("tolerate").map_or(Ok(Tolerance::default()), |it| Tolerance::read(&it));
    let tolerance = tolerance.map_err(|error| no_share("tolerate", &error))?;
    let (places, total) =
        inputs.open.get(PLACES).and_then(places).unwrap_or_else(|| ((0..count).collect(), count));
    let size = |batch: Range<usize>| places.iter().filter(|place| batch.contains(place)).count();
    Ok((batches.of(total).map(size).collect(), tolerance.of(total)))
}

/// None for what is not given.
fn constant(data: &Data) -> Option<Value> {
    match data {
        Data::Null => None,
        Data::Int(number) => Some(Value::Int(*number)),
        Data::Float(number) => Some(Value::Float(*number)),
        Data::Array(items) => Some(Value::Array(items.iter().filter_map(constant).collect())),
        Data::Text(text) => Some(Value::String(text.expose().to_owned().into())),
        Data::Bool(_) | Data::Duration(_) | Data::Map(_) => Some(Value::Null),
    }
}

fn no_share(name: &str, error: &FleetError) -> Trouble {
    let message = message!("`", name, "`: ", error.to_string());
    Trouble::new(TroubleKind::Invalid, message, "write a number, or a part such as `\"25%\"`")
}
