//! Which of the options belong to modules and blueprints.

use clap::{Arg, ArgMatches};

use super::Given;
use super::table::{Of, ROWS, Row};

/// The options of a run of a module, which has a root of its own and always runs whole.
pub(crate) fn module_args() -> Vec<Arg> {
    let others = ["from", "jobs", "resume", "root", "verify-first"];
    ROWS.iter().filter(|row| !others.contains(&row.name)).map(Row::arg).collect()
}

/// The same for several modules in order, which are no single plan.
pub(crate) fn blueprint_args() -> Vec<Arg> {
    let plan_only =
        |arg: &Arg| ROWS.iter().any(|row| row.of == Of::Plan && arg.get_long() == Some(row.name));
    module_args()
        .into_iter()
        .filter(|arg| arg.get_long() == Some("dry-run") || !plan_only(arg))
        .collect()
}

/// Whether a command that may or may not plan is asked for JSON.
pub(crate) fn wants_json(matches: &ArgMatches) -> bool {
    let is_set = |id: &str| matches.try_get_one::<bool>(id).ok().flatten() == Some(&true);
    is_set("json")
        || is_set(&Row::id("json"))
        || Given(matches).text("format").is_some_and(|format| format == "json")
}
