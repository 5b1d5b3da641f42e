//! `opal module preflight`: whether a run could begin.

use clap::ArgMatches;
use opal_modules::module::run::Command;
use opal_modules::module::run::preflight::preflight;

use super::around::{self, Around};
use super::run::{Job, load};
use super::{given, reference};
use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::options::wants_json;
use crate::view::module as view;

pub(super) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let json = wants_json(matches);
    let around = Around::read(context, matches)?;
    let Some(given) = given(context, matches)? else { return Ok(Exit::Source) };
    let instance = around::instance(matches)?;
    let module = reference(matches)?;
    let job = Job { instance, is_named: true, ..Job::along(module, Command::Apply, given) };
    let Some(source) = load(context, &around, job, json)? else { return Ok(Exit::Source) };
    let checks = preflight(&source.run.prepared);
    view::preflight(&source.run.prepared.spec.module_ref, &checks, json)?;
    let is_ready = checks.iter().all(|check| check.fault.is_none());
    Ok(if is_ready { Exit::Done } else { Exit::Unavailable })
}
