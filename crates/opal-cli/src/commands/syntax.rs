//! `opal self syntax`: what each character of a source is.

use std::path::PathBuf;

use clap::ArgMatches;
use opal_syntax::classes::classes;

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::project::Chosen;
use crate::source;
use crate::view::syntax as view;

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let json = matches.get_flag("json");
    let Some(path) = matches.get_one::<PathBuf>("file") else {
        return view::words(&opal_decorators::registry(), json);
    };
    let loaded = match source::read(&Chosen::named(path), &context.registry) {
        Ok(loaded) => loaded,
        Err(not_loaded) => return not_loaded.show(context.err(), json),
    };
    let Some(parse) = loaded.parse() else {
        let message = format!("`{}` is a configuration; its syntax is that of YAML", loaded.name);
        return Err(Failure::usage(message, "name a source: a file that ends in `.opl`"));
    };
    view::show(&loaded.name, &loaded.text, parse, &classes(&loaded.text, parse), json)?;
    Ok(if parse.is_broken() { Exit::Source } else { Exit::Done })
}
