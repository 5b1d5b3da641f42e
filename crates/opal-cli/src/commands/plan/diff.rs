//! `opal plan diff A B`, and `opal plan diff A` against today.

use std::path::Path;

use clap::ArgMatches;
use opal_core::contract;
use opal_runtime::plan::Keys;

use super::contract::{look, open, read_file};
use crate::commands::{run, verify};
use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::options::PlanOptions;
use crate::signals::Watched;
use crate::view;
use crate::view::plan::Comparison;

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let options = PlanOptions::from(matches)?.or(PlanOptions::before(&context.typed.before)?);
    let before = matches.get_one::<String>("file").map_or("", String::as_str);
    let before = Path::new(before);
    let Some(after) = matches.get_one::<String>("other") else {
        return against_today(context, &options, before, matches);
    };
    let read = |path: &Path| {
        let (contract, note) = look(context, &options, path)?;
        note.iter().for_each(|note| view::plan::note(note));
        Ok(contract)
    };
    let (one, other) = (read(before)?, read(Path::new(after))?);
    let verdict = contract::diff(&one, &other);
    let comparison = Comparison {
        before: one.plan(),
        after: other.plan(),
        verdict: &verdict,
        names: ["first", "second"],
        mend: None,
        look: None,
    };
    view::plan::compared(&comparison, options.is_json(), context)
}

fn against_today(
    context: &Context<'_>,
    options: &PlanOptions,
    path: &Path,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let bytes = read_file(path)?;
    let mut opened = open(context, options, path, &bytes)?;
    let file = context.file(matches);
    let Some(today) = run::Today::read(context, &opened.contract, file, options)? else {
        return Ok(Exit::Source);
    };
    let (context, source) = (today.context(context), today.loaded());
    let watched = Watched::begin()?;
    let fresh = match run::replan(context, options, source, &mut opened, &watched)? {
        Ok(fresh) => fresh,
        Err(exit) => return Ok(exit),
    };
    let key = opened.keys.placeholder_key().map_err(Failure::key)?;
    let (held, subject) = ((&opened, &key), run::subject(source, &fresh.plan));
    let compared = run::resources::compare(context, options, held, (&subject, &fresh), &watched)?;
    let verdict = match compared {
        Ok(verdict) => verdict,
        Err(exit) => return Ok(exit),
    };
    let comparison = Comparison {
        before: opened.contract.plan(),
        after: &fresh.plan,
        verdict: &verdict,
        names: ["contract", "now"],
        mend: None,
        look: Some(&verify::again(&subject)),
    };
    view::plan::compared(&comparison, options.is_json(), context)
}
