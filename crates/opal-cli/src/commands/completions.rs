//! Completion: the shell asks opal itself, so that tasks and their flags are always today's.

use clap::{ArgMatches, Command};
use clap_complete::env::{CompleteEnv, Shells};

use crate::failure::{Exit, Failure};
use crate::options::Behind;
use crate::source::Loaded;
use crate::tasks::{self, Task};
use crate::{builtins, options, project, view};

/// Where the shell's script says that it asks.
pub(crate) const VARIABLE: &str = "OPAL_COMPLETE";

/// `opal completions SHELL`: what the shell must be told once.
pub(crate) fn script(matches: &ArgMatches) -> Result<Exit, Failure> {
    let shell = matches.get_one::<String>("shell").map_or("", String::as_str);
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let Some(completer) = shells.completer(shell) else {
        return Err(Failure::usage(
            format!("`{shell}` is not known"),
            "see `opal completions --help`",
        ));
    };
    completer
        .write_registration(VARIABLE, "opal", "opal", "opal", &mut script)
        .map_err(|error| Failure::unwritable("the script", &error))?;
    view::print(&String::from_utf8_lossy(&script))
}

/// A command that takes a task, with the tasks as if they were commands of its own.
fn with_targets(command: Command, tasks: &[Task], side: Behind) -> Command {
    let free = |task: &&Task| command.find_subcommand(&task.name).is_none();
    let targets: Vec<Command> =
        tasks.iter().filter(free).map(|task| options::behind(tasks::command(task), side)).collect();
    command.subcommands(targets)
}

/// What the shell asks each time, with the tasks of the project as commands.
pub(crate) fn complete() -> Result<Exit, Failure> {
    let factory = || {
        let mut opal = builtins::opal();
        let registry = opal_runtime::decorators::registry();
        let found = project::find().ok().flatten();
        let project = found.and_then(|path| Loaded::read(&path, &registry).ok());
        let mut tasks = project.map(|loaded| loaded.tasks()).unwrap_or_default();
        tasks.retain(|task| !task.is_private());
        for (verb, side) in
            [("plan", Behind::Work), ("run", Behind::Work), ("verify", Behind::Look)]
        {
            opal = opal.mut_subcommand(verb, |command| with_targets(command, &tasks, side));
        }
        let named = tasks.iter().filter(|task| !task.is_reserved());
        // The tasks come first, before opal's own commands.
        let command = |task| options::behind(tasks::command(task), Behind::Work).display_order(0);
        opal.subcommands(named.map(command))
    };
    let complete = CompleteEnv::with_factory(factory).var(VARIABLE);
    let here = std::env::current_dir().ok();
    match complete.try_complete(std::env::args_os(), here.as_deref()) {
        Ok(_) => Ok(Exit::Done),
        Err(error) => Err(Failure::usage(error.to_string(), "see `opal completions --help`")),
    }
}
