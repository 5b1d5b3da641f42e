//! Which of the options belong to modules and blueprints.

use clap::Arg;

use super::table::{Of, ROWS, Row};

/// The options of a run of a module, which has a root of its own and always runs whole.
pub(crate) fn module_args() -> Vec<Arg> {
    let others = ["changed-since", "from", "jobs", "resume", "root", "verify-first"];
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

/// The options of what only reads inputs.
pub(crate) fn variables_args() -> impl Iterator<Item = Arg> {
    ROWS.iter().filter(|row| row.name == "env-file").map(Row::arg)
}
