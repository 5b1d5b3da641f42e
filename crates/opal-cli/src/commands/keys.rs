//! `opal keys`: making and showing keys.

use clap::ArgMatches;
use opal_trust::keys::{Credentials, KeyKind, KeyName, Runner};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::{planning, view};

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    match matches.subcommand() {
        Some(("generate", matches)) => generate(context, matches),
        Some(("list", matches)) => list(context, matches),
        Some((_, matches)) => show(context, matches),
        None => Err(Failure::usage("`opal keys` needs a command", "see `opal keys --help`")),
    }
}

fn generate(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let root = context.needed_root(matches.get_one("root"))?;
    let kind = if matches.get_flag("seal") { KeyKind::Seal } else { KeyKind::Sign };
    let name = match (matches.get_one::<String>("name"), kind) {
        (Some(name), _) => name.parse().map_err(Failure::key)?,
        (None, KeyKind::Seal) => KeyName::runner(),
        (None, KeyKind::Sign) => KeyName::signing(),
    };
    if name == KeyName::runner() && kind == KeyKind::Sign {
        return Err(Failure::usage(
            "`runner` is the name of the key that contracts are sealed to",
            "choose another name, or `opal keys generate --seal`",
        ));
    }
    let entry = Credentials::new(&root).generate(&name, kind).map_err(Failure::key)?;
    view::keys::generated(&entry, matches.get_flag("json"))
}

fn list(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let root = context.needed_root(matches.get_one("root"))?;
    let listed = Credentials::new(&root).list().map_err(Failure::key)?;
    if matches.get_flag("json") {
        return view::keys::list_json(&listed);
    }
    view::keys::list(&listed, context.out())
}

fn show(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let json = matches.get_flag("json");
    let name = matches.get_one::<String>("name");
    let identity = matches.get_one::<String>("identity").map(String::as_str);
    if name.is_none()
        && let Some(runner) = planning::brought(context, identity).map_err(Failure::key)?
    {
        return view::keys::brought(&runner.recipient(), json);
    }
    let name = name.map_or(Ok(KeyName::runner()), |name| name.parse()).map_err(Failure::key)?;
    let root = context.needed_root(matches.get_one("root"))?;
    if name == KeyName::runner() {
        // Whoever asks for the runner's public half is about to need it.
        let runner = Runner::of_machine(&root).map_err(Failure::key)?;
        if let Some(why) = runner.why_ephemeral() {
            let help = "name a directory for it with `--root DIR`";
            let message = format!("this machine has no runner key, and none can be created: {why}");
            return Err(Failure::new(Exit::Write, message, help));
        }
    }
    let entry = Credentials::new(&root).show(&name).map_err(Failure::key)?;
    view::keys::shown(&entry, json)
}
