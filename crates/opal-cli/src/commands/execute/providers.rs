//! Before the first step of a plan with Terraform providers: one run of a project at a time, and nothing
//! is deleted that nobody has fixed or confirmed.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::IsTerminal;
use std::time::Duration;

use opal_core::Registry;
use opal_core::data::Secret;
use opal_core::hash::Algorithm;
use opal_core::plan::{Arg, Plan, Step};
use opal_core::resource;
use opal_core::value::Value;
use opal_exec::verify::{Direction, Report};
use opal_plugins::provider::bridge::BRIDGE;
use opal_plugins::provider::deletion::{Deletion, Doubt};
use opal_session::stop::Order;
use opal_vault::Vault;
use rustix::fs::{FlockOperation, flock};

use super::errand::Errand;
use super::questions;
use crate::commands::verify::survey::Survey;
use crate::context::Context;
use crate::decorators::Packages;
use crate::failure::{Exit, Failure, Stopped};
use crate::options::Asked;
use crate::view;

/// How often it is tried to get the lock.
const PAUSE: Duration = Duration::from_millis(100);

/// The lock of a project, as long as this is held.
#[derive(Debug)]
pub(super) struct Turn {
    _file: File,
}

/// Whether a step describes an object of a provider.
fn is_object(step: &Step, registry: &Registry) -> bool {
    let described = resource::described(step, registry);
    described.is_some_and(|it| resource::is_object(it.descriptor))
}

/// Whether a step may delete an object.
fn may_delete(step: &Step, registry: &Registry) -> bool {
    let is_false = matches!(step.arg("replace"), None | Some(Arg::Const(Value::Bool(false))));
    let is_absent = step.node.path().is_some_and(|path| path.ends_with(".absent"));
    is_object(step, registry) && (is_absent || !is_false)
}

/// The types of objects in a plan whose account nobody reports.
pub(crate) fn unchecked(
    context: &Context<'_>,
    plan: &Plan,
) -> Result<BTreeSet<&'static str>, Failure> {
    let packages = context.registry.packages();
    let Some(content) = packages.map(Packages::known_content).transpose()?.flatten() else {
        return Ok(BTreeSet::new());
    };
    let Some(project) = content.providers.first().map(|it| &it.project) else {
        return Ok(BTreeSet::new());
    };
    let objects = plan.all_steps().filter(|step| is_object(step, &context.registry));
    let types = objects.filter_map(|step| resource::described(step, &context.registry));
    let types = types.map(|it| it.resource.yaml);
    Ok(types.filter(|of| project.recipes.rows.owner(of).is_none()).collect())
}

/// Waits until no other run of the project acts on providers, and says so. None where the plan has none.
pub(super) fn turn(
    context: &Context<'_>,
    asked: &Asked,
    errand: &Errand<'_>,
) -> Result<Option<Turn>, Stopped> {
    let plan = &errand.resolved.plan;
    let packages = context.registry.packages();
    let content =
        packages.map(Packages::known_content).transpose().map_err(Stopped::Failed)?.flatten();
    let project = content.and_then(|it| it.providers.first()).map(|it| &it.project);
    let Some(project) = project.filter(|_| has_objects(plan, &context.registry)) else {
        return Ok(None);
    };
    let root = context.needed_root(asked.plan.root.as_ref()).map_err(Stopped::Failed)?;
    let directory = project.directory.as_os_str().as_encoded_bytes();
    let name = format!("{}.lock", Algorithm::Sha256.digest(&[directory]).hex());
    let path = root.path().join("plugins/terraform").join(name);
    let unusable = |error: std::io::Error| {
        Stopped::Failed(Failure::unwritable(&format!("`{}`", path.display()), &error))
    };
    let file = File::options().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(unusable)?;
    let mut is_said = false;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Some(Turn { _file: file })),
            Err(rustix::io::Errno::WOULDBLOCK) => {}
            Err(error) => return Err(unusable(error.into())),
        }
        if !std::mem::replace(&mut is_said, true) {
            view::say("waiting for another run of this project, which uses Terraform providers\n");
        }
        let _ = errand.watched.stop().wait(&[], Some(PAUSE), Order::GoOn);
        if let Some(stopped) = errand.watched.cut_off("another run of this project went on") {
            return Err(stopped);
        }
    }
}

fn has_objects(plan: &Plan, registry: &Registry) -> bool {
    plan.all_steps().any(|step| is_object(step, registry))
}

/// Has a person confirm what steps would delete, where neither a contract nor their arguments fix it. Any
/// answer but yes ends the run: with what. `known` is what was verified before.
pub(super) fn confirm(
    context: &Context<'_>,
    asked: &Asked,
    errand: &Errand<'_>,
    vault: &Vault,
    known: Option<&Report>,
) -> Result<Option<Exit>, Failure> {
    let &Errand { subject, resolved, watched, .. } = errand;
    let Some(bridge) = BRIDGE.get() else { return Ok(None) };
    if let Some(held) = &errand.contract {
        bridge.under_contract(held.missing.clone());
    }
    if !resolved.plan.all_steps().any(|step| may_delete(step, &context.registry)) {
        return Ok(None);
    }
    match &errand.contract {
        // It is about these objects and no others, unless somebody forced it.
        Some(held) if held.drift.is_empty() => bridge.hold(),
        Some(_) => {}
        None if known.is_some() => {}
        None => {
            let (timeout, direction) = (None, Direction::Change);
            let stop = watched.stop();
            let survey =
                Survey { context, asked, subject, resolved, vault, stop, timeout, direction };
            let report = survey.take()?;
            if let Some(exit) = report.stopped.and(watched.exit()) {
                return Ok(Some(exit));
            }
        }
    }
    for deletion in bridge.doubtful() {
        if !std::io::stdin().is_terminal() {
            return Err(unconfirmed(&deletion));
        }
        if let Some(exit) = questions::confirm(question(&deletion), vault, watched)? {
            return Ok(Some(exit));
        }
        bridge.confirm(deletion);
    }
    Ok(None)
}

/// What a person sees before an object is deleted.
fn question(deletion: &Deletion) -> String {
    let shown = |text: &Secret| view::diagnostics::visible(text.expose());
    let account = deletion.account.as_ref();
    let account =
        account.map_or("account not checked".to_owned(), |it| format!("account {}", shown(it)));
    let created = deletion.created.as_ref();
    let created = created.map_or_else(String::new, |it| format!(", created {}", shown(it)));
    format!("Delete {} {} ({account}{created})?", deletion.of, shown(&deletion.identity))
}

fn unconfirmed(deletion: &Deletion) -> Failure {
    let identity = view::diagnostics::visible(deletion.identity.expose());
    let message = format!(
        "`{}` {identity} would be deleted, and there is no terminal to confirm that; nothing was run",
        deletion.of
    );
    let help = match deletion.doubt {
        Some(Doubt::Tag) => "name the object with `adopt=`, or run a contract",
        _ => {
            "name the account in the block of the provider, `expect={account: \"ID\"}`, or run a \
              contract"
        }
    };
    Failure::new(Exit::Usage, message, help)
}
