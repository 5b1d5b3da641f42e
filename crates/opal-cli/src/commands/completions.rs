//! Completion: the shell asks opal itself, so tasks and their flags are always the current ones.
//!
//! | what | where |
//! |---|---|
//! | words as bash cuts them | `bash` |
//! | key bindings of `opal pick` | `keys` |
//! | files as values | `path_completion` |
//! | tasks of other projects | `targets` |
//! | decorators and codes | `topics` |

mod bash;
mod keys;
mod targets;
mod topics;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command};
use clap_complete::env::{CompleteEnv, Elvish, Fish, Powershell, Shells, Zsh};

use crate::ambient::{Ambient, COMPLETE};
use crate::arguments::Typed;
use crate::context::runtime_root;
use crate::decorators::Decorators;
use crate::failure::{Exit, Failure};
use crate::options::Behind;
use crate::project::Chosen;
use crate::tasks::{self, Task};
use crate::{arguments, builtins, options, project, source, view};

const SHELLS: Shells<'_> = Shells(&[&bash::Bash, &Elvish, &Fish, &Powershell, &Zsh]);

/// `opal completions SHELL`: what the shell sources once.
pub(crate) fn script(matches: &ArgMatches) -> Result<Exit, Failure> {
    let shell = matches.get_one::<String>("shell").map_or("", String::as_str);
    if matches.get_flag("keys") {
        let bindings = keys::bindings(shell).ok_or_else(|| {
            Failure::usage(
                format!("no key bindings for `{shell}`"),
                "expected one of: bash, zsh, fish",
            )
        })?;
        return view::print(bindings);
    }
    let mut script = Vec::new();
    let Some(completer) = SHELLS.completer(shell) else {
        return Err(Failure::usage(
            format!("unknown shell `{shell}`"),
            "see `opal completions --help`",
        ));
    };
    completer
        .write_registration(COMPLETE, "opal", "opal", "opal", &mut script)
        .map_err(|error| Failure::unwritable("the script", &error))?;
    view::print(&String::from_utf8_lossy(&script))
}

/// A command that takes a task, with the tasks as if they were commands of its own.
fn with_targets(command: Command, tasks: &[Task], side: Behind, hides: bool) -> Command {
    let free = |task: &&Task| command.find_subcommand(&task.name).is_none();
    let tasks: Vec<Command> =
        tasks.iter().filter(free).map(|task| task_command(task, side, hides)).collect();
    // An argument that is changed comes last, unless it has an index.
    let command = command.mut_arg("target", |arg| arg.index(1).add(targets::sources()));
    let command = command.mut_arg("arguments", |arg| arg.index(2));
    command.subcommands(tasks)
}

/// A task with its flags and the options of opal.
fn task_command(task: &Task, side: Behind, hides: bool) -> Command {
    let command = options::behind(tasks::command(task, "opal"), side);
    if hides { command.mut_args(hidden) } else { command }
}

/// What is hidden is offered only where there is nothing else: values come before forty options.
fn hidden(arg: Arg) -> Arg {
    if arg.is_positional() { arg } else { arg.hide(true) }
}

/// The source that the words name with `-f` or `-g`, before the command or after one that takes a task;
/// or the project's, where `-C` leads.
fn chosen(words: &[OsString]) -> Option<Chosen> {
    // What is still being typed is not parsed.
    let before_last = words.split_last().map_or(words, |(_, before)| before);
    let typed = arguments::parse(before_last).ok()?;
    project::enter(&typed.directories).ok()?;
    let takes_a_task = typed.word.as_deref().is_some_and(|word| TAKE_A_TASK.contains(&word));
    let after: Vec<&OsString> = typed.rest.iter().filter(|_| takes_a_task).collect();
    let at = after.iter().position(|word| *word == "-f" || *word == "--file");
    let behind = at.and_then(|at| after.get(at + 1)).map(PathBuf::from);
    let is_global = typed.global || after.iter().any(|word| *word == "-g" || *word == "--global");
    match typed.file.or(behind) {
        Some(file) => Some(Chosen::named(file)),
        None if is_global => project::global(Ambient::read(true).home.as_deref()).ok(),
        None => project::find().ok().flatten(),
    }
}

const TAKE_A_TASK: [&str; 3] = ["plan", "run", "verify"];

/// The tasks that can be completed. The registry has the decorators of the project afterwards.
fn tasks(words: &[OsString], registry: &Decorators) -> Vec<Task> {
    // What is wrong with packages keeps nobody from completing.
    let read = |chosen: Chosen| {
        source::read(&chosen, registry).or_else(|_| source::read_with(&chosen, registry)).ok()
    };
    let loaded = chosen(words).and_then(read);
    let all = loaded.and_then(|mut loaded| source::all_tasks(&mut loaded, registry).ok());
    let mut tasks = all.unwrap_or_default();
    tasks.retain(|task| !task.is_private());
    tasks
}

/// The whole command line, with the tasks of the project as commands.
fn command_line(words: &[OsString]) -> Command {
    let root = runtime_root(None, &Typed::default(), &Ambient::read(true));
    let registry = Decorators::new(opal_decorators::registry(), root);
    let tasks = tasks(words, &registry);
    let hides = words.last().is_none_or(|word| !word.as_encoded_bytes().starts_with(b"-"));
    let mut opal = builtins::opal();
    if hides {
        opal = opal.mut_args(hidden);
    }
    for verb in TAKE_A_TASK {
        let side = if verb == "verify" { Behind::Verify } else { Behind::Work };
        opal = opal.mut_subcommand(verb, |command| with_targets(command, &tasks, side, hides));
    }
    opal = opal.mut_subcommand("explain", |command| {
        command.mut_arg("topic", |arg| arg.index(1).add(topics::topics(&registry)))
    });
    let named = tasks.iter().filter(|task| !task.is_reserved());
    // The tasks come first, before opal's own commands.
    let command = |task| task_command(task, Behind::Work, hides).display_order(0);
    let script = Arg::new("script").index(1).add(targets::sources());
    // A command that yields to a task is not offered beside it.
    let (own, new): (Vec<&Task>, Vec<&Task>) =
        named.partition(|task| opal.find_subcommand(&task.name).is_some());
    for task in own {
        opal = opal.mut_subcommand(&task.name, |_| command(task));
    }
    opal.subcommands(new.into_iter().map(command)).arg(script)
}

/// What the shell asks each time.
pub(crate) fn complete(ambient: &Ambient) -> Result<Exit, Failure> {
    let arguments = &ambient.arguments;
    // After `--` and the name of the program.
    let words = arguments.iter().skip_while(|word| *word != "--").skip(2);
    let words: Vec<OsString> = words.cloned().collect();
    let complete = CompleteEnv::with_factory(|| command_line(&words)).var(COMPLETE).shells(SHELLS);
    let here = std::env::current_dir().ok();
    let name = std::iter::once(ambient.name.clone());
    let mut typed: Vec<OsString> = name.chain(arguments.iter().cloned()).collect();
    // Short options would be offered before the options of the task, which have none.
    if let Some(dash) = typed.last_mut().filter(|it| *it == "-" && words.len() > 1) {
        dash.push("-");
    }
    match complete.try_complete(typed, here.as_deref()) {
        Ok(_) => Ok(Exit::Done),
        Err(error) => {
            let message = error.to_string();
            let message = message.strip_prefix("error: ").unwrap_or(&message).trim_end();
            Err(Failure::usage(message, "see `opal completions --help`"))
        }
    }
}
