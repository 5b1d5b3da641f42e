//! The commands that few runs need: `opal-commands` has them, and `opal` does not.

use clap::ArgMatches;

use crate::ambient::Ambient;
use crate::arguments::Typed;
use crate::commands::run::current::MODULES;
use crate::context::Context;
use crate::dispatch::{REST, Rest};
use crate::failure::{Exit, Failure};
use crate::{builtins, commands, view};

/// Makes them commands of this program.
pub(crate) fn provide() {
    let completed = commands::completions::complete;
    REST.get_or_init(|| Rest { command, hyops, completed });
    MODULES.get_or_init(|| commands::module::of_contract::boxed);
}

/// The commands of `opal-commands`. Those of `plan` are among them, and planning is not.
fn command(context: &Context<'_>, word: &str, matches: &ArgMatches) -> Result<Exit, Failure> {
    match word {
        "add" => commands::plugin::add(context, matches),
        "adopt" => commands::adopt::run(context, matches),
        "audit" => commands::audit::run(context, matches),
        "blueprint" => commands::blueprint::run(context, matches),
        "completions" => commands::completions::script(matches),
        "convert" => commands::convert::run(context, matches),
        "doc" => commands::doc::run(context, matches),
        "explain" => commands::explain::run(context, matches),
        "init" => commands::init::run(context, matches),
        "keys" => commands::keys::run(context, matches),
        "man" => commands::man::run(matches),
        "module" => commands::module::run(context, matches),
        "pick" => commands::pick::run(context, matches),
        "plugin" => commands::plugin::run(context, matches),
        "runs" => commands::runs::run(context, matches),
        "watch" => commands::watch::run(context, matches),
        _ => commands::plan::of_contracts(context, matches),
    }
}

/// `hyops`: the commands for modules and blueprints at the top.
fn hyops(typed: &Typed, ambient: &Ambient) -> Result<Exit, Failure> {
    let context = Context::new(typed, ambient);
    let matches = match builtins::hyops().no_binary_name(true).try_get_matches_from(&typed.rest) {
        Ok(matches) => matches,
        Err(error) => return view::clap(&error, context.out(), typed.wants_json()),
    };
    match matches.subcommand() {
        Some(("blueprint", matches)) => commands::blueprint::run(&context, matches),
        Some((verb, matches)) => commands::module::word(&context, verb, matches),
        None => Err(Failure::usage("`hyops` needs a command", "see `hyops --help`")),
    }
}
