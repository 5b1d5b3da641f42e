//! Shows the plan of a target, or writes its contract.

use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use opal_core::Code;
use opal_ops::planning::Subject;
use opal_ops::resources::has_resources;
use opal_plan::plan::Purpose;
use opal_session::targets::Trust;

use super::contract::{self, Writing};
use crate::commands::apply::preview;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::options::{Asked, PlanOptions};
use crate::planning;
use crate::signals::Watched;
use crate::view;

/// Where a plan goes.
#[derive(Debug, PartialEq, Eq)]
enum Output {
    /// To be looked at.
    View,
    /// A contract that is kept.
    File(PathBuf),
    /// A contract on standard output.
    Bytes,
}

impl Output {
    fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::View | Self::Bytes => None,
        }
    }
}

/// Shows the plan of `subject`, or writes its contract.
pub(crate) fn plan(
    context: &Context<'_>,
    subject: &Subject<'_>,
    asked: &Asked,
) -> Result<Exit, Failure> {
    let options = &asked.plan;
    let output = output(options, context.ambient.stdout_is_terminal)?;
    if options.limit.is_some() && options.is_for_contract() {
        return Err(Failure::usage(
            "`--limit` does not apply to making a contract, which is for all targets",
            "narrow a run of the contract: `opal run --plan FILE --limit PATTERN`",
        ));
    }
    if let Some(path) = output.file() {
        contract::check_paths(&subject.loaded.path, path)?;
    }
    let parties = match output {
        Output::View => None,
        Output::File(_) | Output::Bytes => Some(contract::Parties::load(context, options)?),
    };
    let checked = match planning::check(subject, context, options.is_json()) {
        // As with the source: the end of the process frees it all at once.
        Ok(checked) => ManuallyDrop::new(checked),
        Err(stopped) => return stopped.outcome(),
    };
    planning::advise(subject, context, &checked);
    let contract = options.is_for_contract();
    let purpose = if contract { Purpose::Contract } else { Purpose::Quick };
    if parties.is_some() {
        // Whoever answers is written to the contract.
        planning::reach(subject, context, options)?.hold(Trust::Reported);
    }
    let mut keys = planning::own_keys(subject, context, options);
    let watched = if contract { Watched::begin()? } else { Watched::nothing() };
    let planned = planning::plan(
        subject,
        context,
        &checked,
        options,
        options.aim(purpose),
        &mut keys,
        &watched,
    );
    let mut resolved = match planned {
        Ok(resolved) => resolved,
        Err(stopped) => return stopped.outcome(),
    };
    let mut warnings = std::mem::take(&mut resolved.warnings);
    // A glance is not the time for advice, except about who gets a password.
    if !contract && options.dry_run {
        warnings.retain(|warning| warning.code == Code::SharedPassword);
    }
    view::check::advice(subject.loaded, warnings, context.err());
    if let Some(parties) = &parties {
        view::trace::telemetry(&context.stages, subject.loaded, &resolved.plan, options);
        return Writing { context, subject, options, parties, watched: &watched }.write(
            resolved,
            &mut keys,
            output.file(),
        );
    }
    let plan = planning::view(&resolved, &keys, context, contract);
    let exit = view::plan::show(&plan, options, context.out())?;
    context.stages.end("show");
    view::trace::telemetry(&context.stages, subject.loaded, &resolved.plan, options);
    if contract {
        view::plan::output_hint(subject.target());
    } else if options.dry_run
        && options.format.is_none()
        && has_resources(&resolved.plan, &context.registry)
    {
        view::print("\n")?;
        let watched = Watched::begin()?;
        return preview::below(context, subject, &resolved, asked, &watched);
    }
    Ok(exit)
}

/// Where the plan goes, unless the options contradict each other.
fn output(options: &PlanOptions, terminal: bool) -> Result<Output, Failure> {
    if let Some(option) = options.contract_only().filter(|_| !options.is_for_contract()) {
        return Err(Failure::usage(
            format!("`{option}` applies to a contract"),
            "add `--resolve`, or write one with `opal plan TASK -o FILE`",
        ));
    }
    let to_stdout = options.out.as_deref() == Some(Path::new("-"));
    if to_stdout && options.format.is_some() {
        return Err(Failure::usage(
            "the contract and the view cannot both go to standard output",
            "write the contract to a file: `-o FILE`",
        ));
    }
    if let Some(path) = options.out.as_ref().filter(|_| !to_stdout) {
        return Ok(Output::File(path.clone()));
    }
    if options.is_for_contract() && options.format.is_none() && !terminal {
        return Ok(Output::Bytes);
    }
    match options.contract_only() {
        Some(option) => Err(Failure::usage(
            format!("`{option}` applies to a contract, but this is a view"),
            "write the contract to a file: `-o FILE`",
        )),
        None => Ok(Output::View),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_go_to_files_and_pipes_and_never_to_a_terminal() {
        let to = |out: Option<&str>, resolve, terminal| {
            let out = out.map(PathBuf::from);
            let options = PlanOptions { out, resolve, ..PlanOptions::default() };
            super::output(&options, terminal).unwrap()
        };
        let file = || Output::File(PathBuf::from("c.plan"));
        assert_eq!(to(Some("c.plan"), false, true), file());
        assert_eq!(to(Some("c.plan"), true, false), file());
        assert_eq!(to(Some("-"), false, false), Output::Bytes);
        assert_eq!(to(None, true, false), Output::Bytes);
        assert_eq!(to(Some("-"), false, true), Output::View);
        assert_eq!(to(None, true, true), Output::View);
        assert_eq!(to(None, false, false), Output::View);
    }
}
