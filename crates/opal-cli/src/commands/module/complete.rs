//! `opal module validate`: one module with everything that it names.

use opal_modules::{ModuleRef, Places};
use opal_ops::module::{Complete, Completion, Incomplete};

use super::faults::unfound;
use crate::context::Context;
use crate::failure::module::{not_found, unseen};
use crate::failure::{Exit, Failure};
use crate::view::module as view;

/// A module with everything that it names. None where the faults of a file have been shown.
pub(crate) fn complete(
    context: &Context<'_>,
    places: &Places,
    module: &ModuleRef,
    json: bool,
) -> Result<Option<Complete>, Failure> {
    let Completion { mut reports, result } = opal_ops::module::complete(places, module);
    if json {
        // One document: the file with errors. Warnings are part of a result.
        reports.drain(..reports.len().saturating_sub(1));
        reports.retain(|_| matches!(result, Err(Incomplete::Faults)));
    }
    for file in reports {
        view::faults(&file.into(), context.err(), json)?;
    }
    match result {
        Ok(complete) => Ok(Some(complete)),
        Err(Incomplete::Faults) => Ok(None),
        Err(Incomplete::NoModule(missing)) => Err(not_found(missing, Exit::NoFile)),
        Err(Incomplete::Missing(missing)) => {
            let exit = unfound(places, &missing);
            Err(not_found(missing, exit))
        }
        Err(Incomplete::Unsearchable { stack, error }) => Err(unseen(&stack, &error)),
    }
}
