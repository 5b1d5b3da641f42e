//! `opal module`, and what it shares with `opal blueprint` and `hyops`.

use std::path::PathBuf;

use clap::{Arg, ArgAction, Command, ValueHint};
use clap_complete::{ArgValueCandidates, CompletionCandidate};
use opal_modules::keep::Target;
use opal_modules::run::drivers;
use opal_modules::skeleton::USUAL_DRIVER;

use super::shared::json;
use crate::options;

pub(super) fn module() -> Command {
    Command::new("module")
        .about("Show and run modules: separate intent, engine, policy and files")
        .subcommand_required(true)
        .allow_external_subcommands(true)
        .subcommands(commands("opal module"))
        .after_help(
            "Modules are found below `--module-root`, $HYOPS_MODULES_ROOT, or `modules/` next to \
             the installed opal; packs below $HYOPS_PACKS_ROOT, or in `packs/` next to the \
             modules. Data of runs is stored below `--root`, $HYOPS_RUNTIME_ROOT, or \
             ~/.hybridops.\n\nExit: 0 success, 1 verify found a difference, 3 verify failed, 65 \
             invalid data, 66 not found, 69 the run cannot begin, 74 a write failed, 76 a \
             contract is refused, 78 a root does not exist, 130 interrupted; otherwise the exit \
             code of the tool.\n\nExamples:\n  opal module new demo/note\n  opal module list\n  \
             opal module apply core/network --dry-run\n  opal module apply core/network --inputs \
             prod.yml\n  opal module destroy core.network",
        )
}

/// All commands for modules, as `program` is called.
pub(crate) fn commands(program: &str) -> Vec<Command> {
    let run = |name, about: &'static str, examples: &str| {
        let examples = examples.replace("{}", program);
        work(name).about(about).after_help(format!("Examples:\n{examples}"))
    };
    vec![
        run(
            "apply",
            "Apply a module",
            "  {} apply core/network\n  {} apply core/network --inputs prod.yml --with-deps\n  \
             {} apply core/network --dry-run -o network.plan    a contract for `opal run --plan`",
        )
        .arg(with_deps()),
        run(
            "deploy",
            "The same as apply, with the name that pipelines use",
            "  {} deploy core/network --with-deps",
        )
        .arg(with_deps()),
        run(
            "plan",
            "Show what the tools of a module would change",
            "  {} plan core/network\n  {} plan core/network --dry-run    opal's own plan: what would run",
        ),
        validate(program),
        run(
            "verify",
            "Let the tools of a module check for drift; exit 1 if there is any",
            "  {} verify core/network",
        ),
        run("destroy", "Destroy what a module has applied", "  {} destroy core/network"),
        preflight(program),
        init(program),
        new(program),
        list(program),
        show(program),
        lint(program),
    ]
}

/// A command that runs the tools of a module.
fn work(name: &'static str) -> Command {
    Command::new(name)
        .args(reference())
        .args([inputs(), module_root(), runtime_root(), out_dir(), instance(), skip_preflight()])
        .args(options::module_args())
}

fn preflight(program: &str) -> Command {
    Command::new("preflight")
        .about("Check whether a run could begin: tools, credentials, disk, pack")
        .args(reference())
        .args([inputs(), module_root(), runtime_root(), instance(), json()])
        .args(options::variables_args())
        .after_help(format!(
            "Exit: 0 it could, 69 it could not.\n\nExample:\n  {program} preflight core/network"
        ))
}

fn init(program: &str) -> Command {
    Command::new("init")
        .about("Prepare a target: settings, tools, credentials; `status` shows all targets")
        .args([
            Arg::new("target")
                .required(true)
                .add(ArgValueCandidates::new(targets))
                .value_name("TARGET|status")
                .help("The target to prepare"),
            runtime_root(),
            out_dir(),
            json(),
        ])
        .after_help(format!(
            "The first time, a settings file is written for you to fill in.\n\nExit: 0 ready, 78 \
             something is missing.\n\nExamples:\n  {program} init local\n  {program} init \
             hetzner\n  {program} init status"
        ))
}

fn new(program: &str) -> Command {
    let drivers = drivers::all().map(|driver| driver.reference());
    let drivers = drivers.collect::<Vec<_>>().join(", ");
    Command::new("new")
        .about("Create a module that works at once: a spec, a pack, and a profile if there is none")
        .args(reference())
        .args([
            Arg::new("driver")
                .long("driver")
                .value_name("DRIVER")
                .default_value(USUAL_DRIVER)
                .add(ArgValueCandidates::new(driver_names))
                .help(format!("The driver that runs its tools: {drivers}")),
            module_root(),
            json(),
        ])
        .after_help(format!(
            "The files go below `--module-root`, $HYOPS_MODULES_ROOT or `modules/` in this \
             directory, with `packs/` and `drivers/` next to it. Nothing is overwritten.\n\nExit: \
             0 created, 74 something exists already or cannot be written.\n\nExamples:\n  \
             {program} new demo/note\n  {program} new core/network --driver iac/terragrunt \
             --module-root infra/modules"
        ))
}

fn driver_names() -> Vec<CompletionCandidate> {
    drivers::all().map(|driver| CompletionCandidate::new(driver.reference())).collect()
}

fn list(program: &str) -> Command {
    Command::new("list").about("List the modules").args([module_root(), json()]).after_help(
        format!(
            "Examples:\n  {program} list\n  {program} list --json | jq -r '.modules[].module_ref'"
        ),
    )
}

fn show(program: &str) -> Command {
    Command::new("show")
        .about("Show the spec of a module, its states and its published outputs")
        .args(reference())
        .args([module_root(), runtime_root(), json()])
        .after_help(format!(
            "Examples:\n  {program} show core/network\n  {program} show core.network --json"
        ))
}

fn validate(program: &str) -> Command {
    work("validate")
        .about("Check a module, its profile, its pack and its inputs, without running anything")
        .arg(
            Arg::new("tools")
                .long("tools")
                .action(ArgAction::SetTrue)
                .help("Also let its tools check their files, which starts a run"),
        )
        .after_help(format!(
            "Examples:\n  {program} validate core/network\n  \
             {program} validate core/network --inputs prod.yml\n  \
             HYOPS_INPUT_network__mtu=9000 {program} validate core/network\n  \
             {program} validate core/network --tools"
        ))
}

fn lint(program: &str) -> Command {
    Command::new("lint")
        .about("Check directories of modules, profiles, blueprints and packs")
        .args([
            Arg::new("folders")
                .required(true)
                .num_args(1..)
                .value_name("DIR")
                .value_parser(clap::value_parser!(PathBuf))
                .value_hint(ValueHint::DirPath)
                .help("The directories to check"),
            json(),
        ])
        .after_help(format!(
            "Examples:\n  {program} lint modules\n  {program} lint modules packs --json"
        ))
}

/// What a shell can offer for a module: those below the roots that the environment names.
fn modules() -> Vec<CompletionCandidate> {
    let names = crate::module_roots::names().into_iter();
    names.map(|(name, title)| CompletionCandidate::new(name).help(title.map(Into::into))).collect()
}

fn targets() -> Vec<CompletionCandidate> {
    let known = Target::all()
        .iter()
        .map(|target| CompletionCandidate::new(target.name).help(Some(target.summary.into())));
    known.chain([CompletionCandidate::new("status")]).collect()
}

fn reference() -> [Arg; 2] {
    [
        Arg::new("module")
            .required_unless_present("module-option")
            .value_name("REF")
            .add(ArgValueCandidates::new(modules))
            .help("A module: core/network, or core.network"),
        Arg::new("module-option")
            .long("module")
            .value_name("REF")
            .add(ArgValueCandidates::new(modules))
            .conflicts_with("module")
            .help("The same, as an option"),
    ]
}

fn path(id: &'static str, long: &'static str, value: &'static str) -> Arg {
    Arg::new(id).long(long).value_name(value).value_parser(clap::value_parser!(PathBuf))
}

fn inputs() -> Arg {
    path("inputs", "inputs", "FILE")
        .value_hint(ValueHint::FilePath)
        .help("Inputs in YAML; $HYOPS_INPUT_<key> and $HYOPS_INPUTS_JSON override them")
}

pub(super) fn module_root() -> Arg {
    path("module-root", "module-root", "DIR")
        .value_hint(ValueHint::DirPath)
        .help("The directory of the modules")
}

pub(super) fn runtime_root() -> Arg {
    path("runtime-root", "root", "DIR")
        .value_hint(ValueHint::DirPath)
        .help("The directory for evidence, state and credentials; by default $HYOPS_RUNTIME_ROOT or ~/.hybridops")
}

pub(super) fn out_dir() -> Arg {
    path("out-dir", "out-dir", "DIR")
        .value_hint(ValueHint::DirPath)
        .help("The directory for evidence, instead of `logs/` below the root")
}

fn instance() -> Arg {
    Arg::new("state-instance")
        .long("state-instance")
        .value_name("NAME")
        .help("The instance of the module, with its own state")
}

pub(super) fn skip_preflight() -> Arg {
    Arg::new("skip-preflight")
        .long("skip-preflight")
        .value_name("REASON")
        .help("Skip the preflight checks; the reason is recorded")
}

fn with_deps() -> Arg {
    Arg::new("with-deps")
        .long("with-deps")
        .action(ArgAction::SetTrue)
        .help("Apply missing dependencies first")
}
