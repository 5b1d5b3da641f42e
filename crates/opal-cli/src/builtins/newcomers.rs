//! `opal init`, `opal pick`, `opal doc`, `opal man` and `opal completions`: what makes the start easy.

use clap::{Arg, Command, ValueHint};

use super::shared::{file, flag, global, json};

/// The shells that `opal pick` can quote for.
const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

pub(super) fn init() -> Command {
    Command::new("init")
        .about("Write a first commands.opl, with tasks for what is in this directory")
        .arg(json())
        .after_help(
            "It recognizes Cargo.toml, package.json, pyproject.toml, go.mod, k8s/ and *.tf. An \
             existing commands.opl is never overwritten.\n\n\
             Examples:\n  opal init\n  opal -C apps/web init",
        )
}

pub(super) fn pick() -> Command {
    Command::new("pick")
        .about("Choose a task by typing, give its arguments, and run it")
        .args([
            Arg::new("word").value_name("WORD").help("What to search for at first"),
            flag("print", "Print the command line instead of running it, for key bindings"),
            Arg::new("shell")
                .long("shell")
                .value_name("SHELL")
                .value_parser(SHELLS)
                .requires("print")
                .help("Quote the words for this shell; bash by default"),
            file(),
            global(),
        ])
        .after_help(
            "Keys: type to filter, move with the arrows or Tab, choose with Enter, end with Ctrl+C.\n\n\
             Examples:\n  opal pick\n  opal pick deploy\n  \
             source <(opal completions bash --keys)    Alt+O inserts a command line",
        )
}

pub(super) fn doc() -> Command {
    Command::new("doc")
        .about("Print the tasks and their parameters as Markdown")
        .args([file(), global(), json()])
        .after_help("Example:\n  opal doc > TASKS.md")
}

pub(super) fn man() -> Command {
    Command::new("man")
        .about("Print the manual page of opal or of a command")
        .args([
            Arg::new("name").value_name("COMMAND").help("The command, as in `plan` or `plan-show`"),
            Arg::new("out")
                .long("out")
                .short('o')
                .value_name("DIR")
                .value_parser(clap::value_parser!(std::path::PathBuf))
                .value_hint(ValueHint::DirPath)
                .conflicts_with("name")
                .help("Write all pages to DIR"),
        ])
        .after_help(
            "Examples:\n  opal man | man -l -\n  opal man plan | man -l -\n  \
             opal man -o ~/.local/share/man/man1",
        )
}

pub(super) fn completions() -> Command {
    Command::new("completions")
        .about("Print the completion script of a shell for tasks, commands and options")
        .args([
            Arg::new("shell")
                .required(true)
                .value_name("SHELL")
                .value_parser(["bash", "elvish", "fish", "powershell", "zsh"])
                .help("The shell"),
            flag("keys", "Print key bindings instead: Alt+O inserts a command line of `opal pick`"),
        ])
        .after_help(
            "Examples:\n  source <(opal completions bash)\n  source <(opal completions bash --keys)",
        )
}
