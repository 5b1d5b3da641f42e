//! Whether an order holds here: who signed it, when, for which contract and runners, and whether it has the
//! share. All of this is decided before anything of the contract is opened or planned.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ArgMatches;
use opal_core::contract::Contract;
use opal_core::plan::{Node, Plan, Step};
use opal_files::regular;
use opal_trust::order::{MAX_BYTES, Order, Refused};
use opal_vault::record::Reason;

use super::{Share, ShareIo};
use crate::clock::unix_time;
use crate::commands::plan::named::Named;
use crate::commands::plan::trust::{self, Required};
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::options::Asked;
use crate::planning;

/// What was typed about an order.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    order: PathBuf,
    share: u32,
    io: Option<Arc<ShareIo>>,
}

impl Given {
    /// None where it is no share of an order.
    pub(crate) fn from(matches: &ArgMatches, asked: &Asked) -> Result<Option<Self>, Failure> {
        let Some(order) = matches.get_one::<PathBuf>("order") else { return Ok(None) };
        let number = matches.get_one::<u32>("share").copied().unwrap_or_default();
        let given = [
            (matches.get_flag("force"), "--force"),
            (asked.plan.dry_run, "--dry-run"),
            (asked.plan.limit.is_some(), "--limit"),
            (asked.run.from.is_some(), "--from"),
            (asked.run.resume.is_some(), "--resume"),
        ];
        if let Some((_, option)) = given.into_iter().find(|(is_given, _)| *is_given) {
            return Err(Failure::usage(
                format!("`{option}` cannot be used with `--order`: the order says what runs"),
                format!("omit `{option}`"),
            ));
        }
        let talks = matches.get_flag("share-io");
        if talks && (asked.plan.is_json() || asked.run.events.is_some()) {
            return Err(Failure::usage(
                "`--share-io` uses standard output, so `--json` and `--events` cannot be used with it",
                "omit them",
            ));
        }
        let io = talks.then(ShareIo::begin).transpose()?;
        Ok(Some(Self { order: order.clone(), share: number, io }))
    }

    pub(crate) fn io(&self) -> Option<&Arc<ShareIo>> {
        self.io.as_ref()
    }
}

/// The share, where its order holds here. Nothing of the contract but its bytes counts for that.
pub(crate) fn taken(
    context: &Context<'_>,
    asked: &Asked,
    given: &Given,
    named: &Named,
) -> Result<Share, Failure> {
    let policy = trust::policy(context, &asked.plan, &Required::default(), &[])?;
    let dispatchers = policy.dispatchers().ok_or_else(|| {
        Failure::new(
            Exit::Configuration,
            "no key may give orders to this runner",
            "name one in `dispatchers` of the policy: `dispatchers = [\"ed25519:…\"]`",
        )
    })?;
    let opened = Order::open(&read(&given.order)?, dispatchers, unix_time());
    let order = opened.map_err(|why| refused(&why))?.order;
    let of_order = |reason, message: &str| {
        let help = "dispatch the contract again";
        Failure::new(Exit::Refused, message, help).refusing(reason)
    };
    if named.id() != order.contract {
        return Err(of_order(Reason::Tampered, "the order is for another contract"));
    }
    if named.approvals_digest()? != order.approvals {
        return Err(of_order(
            Reason::Tampered,
            "the order is for other approvals of this contract",
        ));
    }
    let own = planning::runner(context, &asked.plan).map_err(Failure::key)?.recipient();
    if !order.runners.iter().any(|runner| runner.recipient.to_string() == own.to_string()) {
        return Err(of_order(Reason::NotSealed, "the order is for other runners than this one"));
    }
    if order.share(given.share).is_none() {
        let message = format!("the order has no share {}", given.share);
        return Err(of_order(Reason::Tampered, &message));
    }
    let id = order.id.to_string();
    Ok(Share { order, id, number: given.share, io: given.io.clone() })
}

impl Share {
    /// Whether the contract is one fleet, and has the targets of the order in their order.
    pub(crate) fn check(&self, contract: &Contract) -> Result<(), Failure> {
        let refused = |message: String| {
            let failure = Failure::new(Exit::Refused, message, "dispatch the contract again");
            failure.refusing(Reason::Tampered)
        };
        let Some(fleet) = only_fleet(contract.plan()) else {
            return Err(refused("the contract of the order is not one fleet block".to_owned()));
        };
        let mut all = fleet.targets();
        match self.order.targets().find(|name| !all.any(|it| it == *name)) {
            None => Ok(()),
            Some(name) => {
                let message = format!("`{name}` of the order is not a target of its contract");
                Err(refused(message))
            }
        }
    }
}

impl Share {
    /// Whether a plan of now is left with its targets and no others.
    pub(crate) fn leaves(&self, left: &BTreeSet<String>) -> Result<(), Failure> {
        let own: BTreeSet<String> = self.targets().iter().cloned().collect();
        if *left == own {
            return Ok(());
        }
        let message = "the targets of the share are not those of the plan";
        let failure = Failure::new(Exit::Refused, message, "dispatch the contract again");
        Err(failure.refusing(Reason::Drifted))
    }
}

/// The one block on targets of a plan. Around it there may be functions, decisions and questions, which an
/// approval answers; where anything else runs outside of it there is none.
pub(super) fn only_fleet(plan: &Plan) -> Option<&Step> {
    match fleets(&plan.steps)[..] {
        [Some(fleet)] => Some(fleet),
        _ => None,
    }
}

/// Each fleet; none in place of a step that runs outside of them.
fn fleets(steps: &[Step]) -> Vec<Option<&Step>> {
    steps.iter().flat_map(fleets_of).collect()
}

fn fleets_of(step: &Step) -> Vec<Option<&Step>> {
    match &step.node {
        _ if step.targets().next().is_some() => vec![Some(step)],
        node if node.path() == Some("confirm") => Vec::new(),
        Node::Call | Node::Block | Node::If | Node::When | Node::Needs => fleets(&step.block),
        _ => vec![None],
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let limit = MAX_BYTES as u64 + 1;
    let read = regular::open_given(path).and_then(|file| file.take(limit).read_to_end(&mut bytes));
    read.map_err(|error| Failure::unreadable(path, &error))?;
    Ok(bytes)
}

fn refused(why: &Refused) -> Failure {
    let (exit, reason) = match why {
        Refused::NotAllowed(_) => (Exit::NotTrusted, Reason::NotTrusted),
        Refused::Signature(_) => (Exit::NotTrusted, Reason::Tampered),
        Refused::Ended { .. } => (Exit::Refused, Reason::Expired),
        Refused::NotAnOrder(_) | Refused::TooLong | Refused::InTheFuture { .. } => {
            (Exit::Refused, Reason::Tampered)
        }
    };
    Failure::new(exit, format!("{why}; nothing was run"), why.help()).refusing(reason)
}
