//! The built-in commands: one table for parsing, help and completion.

mod agents;
mod approvals;
mod audit;
mod blueprints;
mod editors;
mod keys;
pub(crate) mod modules;
mod names;
mod newcomers;
mod plugins;
mod publishing;
mod queue;
mod resources;
mod runs;
mod shared;
mod words;

use clap::{Arg, Command, ValueHint};

use crate::options;

pub(crate) use editors::syntax;
pub(crate) use names::{NAMES, RESERVED, is_builtin, is_of_rest, is_reserved, is_reserved_by_plan};
use shared::{arguments, file, flag, global, json, root, source};
pub(crate) use words::{marked, target};

/// What makes a command.
type Maker = fn() -> Command;

/// Every command with its name, so that a run makes only its own.
const COMMANDS: [(&str, Maker); 30] = [
    ("check", check),
    ("fmt", fmt),
    ("list", list),
    ("explain", explain),
    ("keys", keys::keys),
    ("plan", plan),
    ("verify", resources::verify),
    ("run", run),
    ("apply", resources::apply),
    ("dispatch", queue::dispatch),
    ("runner", queue::runner),
    ("runs", runs::runs),
    ("audit", audit::audit),
    ("convert", resources::convert),
    ("adopt", resources::adopt),
    ("module", modules::module),
    ("blueprint", blueprints::blueprint),
    ("plugin", plugins::plugin),
    ("add", plugins::add),
    ("watch", watch),
    ("lsp", editors::lsp),
    ("mcp", agents::mcp),
    ("ui", agents::ui),
    ("init", newcomers::init),
    ("pick", newcomers::pick),
    ("doc", newcomers::doc),
    ("man", newcomers::man),
    ("completions", newcomers::completions),
    ("help", help),
    ("self", self_),
];

/// One command, by its name.
pub(crate) fn command(name: &str) -> Option<Command> {
    COMMANDS.iter().find(|(own, _)| *own == name).map(|(_, make)| make())
}

/// The whole command line, without the tasks of a project.
pub(crate) fn opal() -> Command {
    Command::new("opal")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Plan, verify and execute operations, written like shell with structure")
        .override_usage(
            "opal [OPTIONS] TASK [ARGUMENTS]\n       opal [OPTIONS] COMMAND [ARGUMENTS]",
        )
        .disable_help_subcommand(true)
        .subcommand_help_heading("Built-in commands")
        .subcommand_required(false)
        .args([
            file(),
            global(),
            Arg::new("directory")
                .short('C')
                .value_name("DIR")
                .value_parser(clap::value_parser!(std::path::PathBuf))
                .value_hint(ValueHint::DirPath)
                .help("Start in DIR instead of the working directory"),
            root(),
            Arg::new("color")
                .long("color")
                .value_name("WHEN")
                .value_parser(["auto", "always", "never"])
                .help("When to use colours (auto follows the terminal and NO_COLOR)"),
            flag("list", "List the tasks, like `opal list`").short('l'),
        ])
        .subcommands(COMMANDS.iter().map(|(_, make)| make()))
        .after_help(
            "Examples:\n  opal init                write a first commands.opl\n  opal                     \
             list the tasks of this project\n  opal deploy \
             -h           show the parameters of a task\n  opal -n deploy prod      show what it \
             would do\n  opal check               check for errors\n  opal verify server.yaml  \
             check for drift\n  opal fmt --check         check the formatting\n\nA built-in \
             command takes precedence over a task of its name; `opal run NAME` runs the task. Only `add`, `doc`, \
             `init`, `man`, `pick` and `watch` yield to a task; `opal self NAME` runs the command.",
        )
}

/// The command line of `hyops`.
pub(crate) fn hyops() -> Command {
    Command::new("hyops")
        .bin_name("hyops")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Run modules: separate intent, engine, policy and files")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(modules::commands("hyops"))
        .subcommand(blueprints::blueprint())
        .after_help(
            "The same as `opal module` and `opal blueprint`.\n\n\
             Examples:\n  hyops init local\n  hyops apply --module core/network --inputs prod.yml\n  \
             hyops blueprint apply demo/site@v1",
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

fn check() -> Command {
    Command::new("check")
        .about("Check for errors, all of them at once, without running anything")
        .args([
            files("Source files, - for standard input; by default the project's file"),
            Arg::new("format")
                .long("format")
                .value_name("FORMAT")
                .value_parser(["human", "json", "github"])
                .default_value("human")
                .help("How to show the findings"),
            file(),
            global(),
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
        .about("Format sources; shell text and comments stay as they are")
        .args([
            files("Source files, - for standard input to standard output; by default the project's file"),
            flag("check", "Write nothing; exit 1 if a file would change"),
            flag("diff", "Write nothing; show what would change"),
            flag("migrate", "Also turn the label form `name: …` into `fun name() …`"),
            file(),
            global(),
            json(),
        ])
        .after_help("Examples:\n  opal fmt\n  opal fmt --check --diff\n  opal fmt - < draft.opl")
}

fn list() -> Command {
    Command::new("list")
        .about("List the tasks of the project, with their parameters")
        .args([
            Arg::new("target")
                .value_name("DIR|DIR/...")
                .value_hint(ValueHint::DirPath)
                .help("List the tasks of the project in DIR, or of all projects below it"),
            file(),
            global(),
            json(),
            flag("all", "Also list tasks whose name begins with `_`"),
        ])
        .after_help(
            "Examples:\n  opal list\n  opal list apps/...\n  \
             opal list --json | jq -r '.tasks[].name'",
        )
}

fn explain() -> Command {
    Command::new("explain")
        .about("Explain an error code, or a decorator")
        .args([
            Arg::new("topic")
                .value_name("CODE|DECORATOR")
                .help("E0401, or retry; everything by default"),
            json(),
        ])
        .after_help("Examples:\n  opal explain E0401\n  opal explain retry\n  opal explain @env")
}

fn plan() -> Command {
    let file_argument = |help: &'static str| {
        Arg::new("file")
            .required(true)
            .value_name("FILE")
            .value_hint(ValueHint::FilePath)
            .help(help)
    };
    Command::new("plan")
        .about("Show what a task would do, or write it to a contract")
        .subcommand_negates_reqs(true)
        .args_conflicts_with_subcommands(true)
        .subcommand_value_name("show|diff|verify|approve|reject|submit|inbox")
        .args(options::args())
        .args([
            source(),
            global(),
            Arg::new("target")
                .required(true)
                .value_name("TASK|FILE.opl|CONFIG.yaml")
                .help("The task or file to plan"),
            arguments("Arguments of the task or the script"),
        ])
        .subcommands([
            Command::new("show")
                .about("Show a contract")
                .arg(file_argument("A contract, - for standard input"))
                .args(options::args())
                .after_help("Example:\n  opal plan show prod.plan"),
            Command::new("diff")
                .about("Compare two contracts, or one with the current plan")
                .args([
                    file_argument("A contract"),
                    Arg::new("other")
                        .value_name("OTHER")
                        .value_hint(ValueHint::FilePath)
                        .help("Another contract; the current plan by default"),
                    flag("quick", "Compare with the steps of a quick plan, which runs no command")
                        .conflicts_with("other"),
                    source(),
                ])
                .args(options::args())
                .after_help(
                    "Exit: 0 the same, 1 different.\n\n\
                     Examples:\n  opal plan diff old.plan new.plan\n  opal plan diff prod.plan\n  \
                     opal plan diff prod.plan --quick",
                ),
            Command::new("verify")
                .about("Check that a contract is intact, sealed to this runner and accepted by the policy")
                .args([
                    file_argument("A contract, - for standard input"),
                    source(),
                    require_signature(),
                ])
                .args(options::args())
                .after_help("Example:\n  opal plan verify prod.plan --require-signature=release"),
        ])
        .subcommands(approvals::commands())
        .after_help(
            "A contract compares the plan: steps, arguments, and every value that the plan reads. A script \
             or program that a step starts is not compared.\n\n\
             Examples:\n  opal plan deploy production\n  opal plan deploy production -o prod.plan\n  \
             opal plan deploy production -o prod.plan --sign release --expires 24h\n  \
             opal run --plan prod.plan",
        )
}

fn require_signature() -> Arg {
    Arg::new("require-signature")
        .long("require-signature")
        .value_name("KEY")
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("")
        .help("Require a signature, by this key or by one that the policy trusts")
}

fn run() -> Command {
    Command::new("run")
        .about("Run a function, a file (its name ends in .opl or .yaml, or contains a /), or a contract")
        .args([
            source(),
            global(),
            Arg::new("plan")
                .long("plan")
                .value_name("FILE")
                .value_parser(clap::value_parser!(std::path::PathBuf))
                .value_hint(ValueHint::FilePath)
                .help("Run a contract: plan again, and continue only if the plan is the same"),
            flag("force", "Run the steps of the contract even if values differ").requires("plan"),
            flag("strict-source", "Refuse a source that has changed, even if the plan is the same")
                .requires("plan"),
            require_signature().requires("plan"),
            flag(
                "require-approval",
                "Refuse a contract unless a rule of this machine requires its approval, which answers @confirm",
            )
            .requires("plan"),
            Arg::new("order")
                .long("order")
                .value_name("FILE")
                .value_parser(clap::value_parser!(std::path::PathBuf))
                .value_hint(ValueHint::FilePath)
                .requires("plan")
                .requires("share")
                .help("Run a share of this order, which a dispatcher has signed; see --share"),
            Arg::new("share")
                .long("share")
                .value_name("N")
                .value_parser(clap::value_parser!(u32).range(1..))
                .requires("order")
                .help("The number of the share: its targets, and no others"),
            // The queue runner that starts this process talks to it.
            flag("share-io", "Talk to a queue runner over standard input and output")
                .requires("share")
                .hide(true),
            Arg::new("target").value_name("NAME|FILE").help("The function or file to run"),
            arguments("Arguments of the function or the script"),
        ])
        .args(options::args())
        .args(options::run_args())
        .after_help(
            "Examples:\n  opal run deploy prod\n  opal run ./backup.opl\n  opal run --plan prod.plan",
        )
}

fn watch() -> Command {
    Command::new("watch")
        .about("Run a task, and again after each change of a file")
        .args([
            source(),
            global(),
            flag("queue", "Let a round run to its end before the next one starts"),
            Arg::new("target")
                .required(true)
                .value_name("TASK|FILE")
                .help("The task or file to run"),
            arguments("Arguments of the task or the script"),
        ])
        .args(options::args())
        .args(options::run_args())
        .after_help(
            "Files that count: the source, files that the plan reads, and the inputs of @cached; without \
             @cached, every file of the project that git does not ignore. A change stops the current \
             round.\n\nExamples:\n  opal watch build\n  opal watch --queue test unit",
        )
}

fn help() -> Command {
    Command::new("help")
        .about("Show help for opal, a task or a built-in command")
        .arg(Arg::new("name").value_name("NAME").help("A task or a built-in command"))
}

fn self_() -> Command {
    Command::new("self")
        .about("Run a built-in command, even if a task has its name")
        .arg(Arg::new("name").required(true).value_name("COMMAND").help("A built-in command"))
        .arg(
            Arg::new("arguments")
                .num_args(0..)
                .trailing_var_arg(true)
                .allow_hyphen_values(true)
                .value_name("ARGUMENTS")
                .help("Its arguments"),
        )
        .after_help(
            "`opal self syntax FILE` is for the grammars of editors: it shows what each character of a source is.\n\n\
             Examples:\n  opal self init\n  opal self syntax commands.opl --json",
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
        let yields: Vec<&&str> = names.iter().filter(|name| !super::is_reserved(name)).collect();
        assert_eq!(
            yields,
            [&"add", &"doc", &"init", &"man", &"pick", &"watch"],
            "a function can take a name"
        );
        let plan = opal.find_subcommand("plan").expect("it is in the table");
        let own = plan.get_subcommands().map(clap::Command::get_name);
        assert!(own.into_iter().all(super::is_reserved_by_plan), "a function could take a name");
        opal.debug_assert();
    }
}
