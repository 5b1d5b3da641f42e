//! `opal module init`: makes a target ready, or says what is missing for it.

use clap::ArgMatches;
use opal_modules::keep::{self, Init, RunId, Target};
use opal_modules::run::Programs;
use opal_vault::Vault;

use super::settings::{self, variable};
use crate::context::Context;
use crate::failure::module::unwritten;
use crate::failure::{Exit, Failure};
use crate::view::init as view;

pub(super) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let root = settings::root(context, matches)?;
    let json = context.typed.wants_json();
    let name = matches.get_one::<String>("target").map_or("", String::as_str);
    if name == "status" {
        return view::status(&keep::status(&root), json);
    }
    let target = Target::named(name).map_err(|no| Failure::usage(no.message, no.help))?;
    let (at, vault) = (crate::clock::now(), Vault::with_patterns());
    let run_id = RunId::new(&format!("init-{name}"), at, opal_trust::keys::name());
    let programs = Programs::new(variable("PATH").as_ref());
    let done = keep::init(&Init {
        root: &root,
        target,
        run_id: &run_id,
        out_dir: settings::out_dir(matches)?.as_deref(),
        programs: &programs,
        at,
        vault: &vault,
    });
    let done = done.map_err(|unkept| unwritten(&unkept))?;
    view::initialised(target, &root, &done, json)?;
    Ok(if done.is_ready { Exit::Done } else { Exit::Configuration })
}
