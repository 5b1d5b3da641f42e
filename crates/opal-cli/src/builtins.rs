//! The built-in commands: one table for parsing, help and completion.

use clap::{Arg, ArgAction, Command, ValueHint};

/// Every name that `opal self` reaches.
pub(crate) const NAMES: [&str; 8] =
    ["check", "completions", "explain", "fmt", "help", "list", "run", "self"];

/// Commands of later versions: said to be missing, never mistaken for a typing error.
pub(crate) const LATER: [&str; 9] =
    ["apply", "blueprint", "convert", "init", "keys", "module", "plan", "runs", "verify"];

/// The whole command line, without the tasks of a project.
pub(crate) fn opal() -> Command {
    Command::new("opal")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Plan, verify and execute operations, written like shell with structure")
        .override_usage("opal [OPTIONS] TASK [ARGUMENTS]\n       opal [OPTIONS] COMMAND [ARGUMENTS]")
        .disable_help_subcommand(true)
        .subcommand_help_heading("Built-in commands")
        .subcommand_required(false)
        .args([
            file(),
            Arg::new("color")
                .long("color")
                .value_name("WHEN")
                .value_parser(["auto", "always", "never"])
                .help("Whether to use colours (auto follows the terminal and NO_COLOR)"),
        ])
        .subcommands([check(), fmt(), list(), explain(), run(), completions(), help(), self_()])
        .after_help(
            "Examples:\n  \
             opal                     the tasks of this project\n  \
             opal deploy --help       what a task takes\n  \
             opal check               look for mistakes\n  \
             opal fmt --check         is everything formatted?\n\n\
             A task wins over a built-in command of its name; `opal self NAME` reaches the built-in.",
        )
}

fn files(help: &'static str) -> Arg {
    Arg::new("files")
        .value_name("FILES")
        .num_args(0..)
        .value_parser(clap::value_parser!(std::path::PathBuf))
        .value_hint(ValueHint::FilePath)
        .help(help)
}

/// `-f` is also taken behind the names of commands that read a file.
fn file() -> Arg {
    Arg::new("file")
        .short('f')
        .long("file")
        .value_name("FILE")
        .value_parser(clap::value_parser!(std::path::PathBuf))
        .value_hint(ValueHint::FilePath)
        .help("The source file; else commands.opl, here or in a parent directory")
}

fn json() -> Arg {
    Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one JSON document")
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

fn check() -> Command {
    Command::new("check")
        .about("Look for mistakes, all of them in one go, without running anything")
        .args([
            files("Source files, - for standard input; else the project's file"),
            Arg::new("format")
                .long("format")
                .value_name("FORMAT")
                .value_parser(["human", "json", "github"])
                .default_value("human")
                .help("How to show what was found"),
            file(),
            json(),
        ])
        .after_help(
            "Exit: 0 no errors, 65 errors, 66 a file could not be read.\n\n\
             Examples:\n  opal check\n  opal check deploy.opl tasks/*.opl\n  \
             opal check --format github    annotations in a workflow\n  \
             opal check - < draft.opl",
        )
}

fn fmt() -> Command {
    Command::new("fmt")
        .about("Bring sources into their one form; shell text and comments stay as they are")
        .args([
            files("Source files, - for standard input to standard output; else the project's file"),
            flag("check", "Write nothing; exit 1 if a file would change"),
            flag("diff", "Write nothing; show what would change"),
            flag("migrate", "Also turn the label form `name: …` into `fun name() …`"),
            file(),
            json(),
        ])
        .after_help("Examples:\n  opal fmt\n  opal fmt --check --diff\n  opal fmt - < draft.opl")
}

fn list() -> Command {
    Command::new("list")
        .about("List the tasks of the project, with what they take")
        .args([file(), json(), flag("all", "Also tasks whose name begins with `_`")])
        .after_help("Examples:\n  opal list\n  opal list --json | jq -r '.tasks[].name'")
}

fn explain() -> Command {
    Command::new("explain")
        .about("Explain an error code, or a decorator")
        .args([
            Arg::new("topic")
                .value_name("CODE|@DECORATOR")
                .help("E0401, or @retry; without it, everything there is"),
            json(),
        ])
        .after_help("Examples:\n  opal explain E0401\n  opal explain @retry")
}

fn run() -> Command {
    Command::new("run")
        .about("Run a function, or a file (its name ends in .opl or holds a /)")
        .args([
            file(),
            Arg::new("target").required(true).value_name("NAME|FILE").help("What to run"),
            Arg::new("arguments")
                .num_args(0..)
                .trailing_var_arg(true)
                .allow_hyphen_values(true)
                .value_name("ARGUMENTS")
                .help("For the function or the script"),
        ])
        .after_help("Examples:\n  opal run deploy prod\n  opal run ./backup.opl")
}

fn completions() -> Command {
    Command::new("completions")
        .about("Print what a shell needs to complete tasks, commands and options")
        .arg(
            Arg::new("shell")
                .required(true)
                .value_name("SHELL")
                .value_parser(["bash", "elvish", "fish", "powershell", "zsh"])
                .help("The shell to print for"),
        )
        .after_help("Example:\n  source <(opal completions bash)")
}

fn help() -> Command {
    Command::new("help")
        .about("Help on opal, a task or a built-in command")
        .arg(Arg::new("name").value_name("NAME").help("A task or a built-in command"))
}

fn self_() -> Command {
    Command::new("self")
        .about("Reach a built-in command although a task has its name")
        .arg(Arg::new("name").required(true).value_name("COMMAND").help("A built-in command"))
        .arg(
            Arg::new("arguments")
                .num_args(0..)
                .trailing_var_arg(true)
                .allow_hyphen_values(true)
                .value_name("ARGUMENTS")
                .help("Its arguments"),
        )
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_table_is_sound_and_names_every_command() {
        let opal = super::opal();
        let mut names: Vec<&str> = opal.get_subcommands().map(clap::Command::get_name).collect();
        names.sort_unstable();
        assert_eq!(names, super::NAMES);
        opal.debug_assert();
    }
}
