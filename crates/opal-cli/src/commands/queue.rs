//! `opal dispatch`, `opal runner` and `opal runs tail --pool`: become the helper that speaks with the queue.

use std::path::PathBuf;

use clap::ArgMatches;
use clap::parser::ValueSource;
use opal_helper::{QUEUE, become_part};
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::helpers;

pub(crate) fn dispatch(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let mut options = shared(context, matches)?;
    path(matches, "file", &mut options)?;
    text(matches, "end", &mut options);
    if let Some(key) = matches.get_one::<String>("sign") {
        // A file, or the name of a key in the runtime root.
        let file = PathBuf::from(key);
        let key = if file.exists() { absolute(&file)? } else { key.clone() };
        options.insert("sign".to_owned(), key.into());
    }
    for name in ["detach", "json"] {
        options.insert(name.to_owned(), matches.get_flag(name).into());
    }
    start("dispatch", options)
}

pub(crate) fn runner(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let mut options = shared(context, matches)?;
    for name in ["check", "keys", "permissions"] {
        options.insert(name.to_owned(), matches.get_flag(name).into());
    }
    if let Some(capacity) = matches.get_one::<u64>("capacity") {
        options.insert("capacity".to_owned(), (*capacity).into());
    }
    start("runner", options)
}

/// Whether a run is followed in the queue and not in the records of this machine.
pub(crate) fn is_asked(matches: &ArgMatches) -> bool {
    matches.value_source("pool") == Some(ValueSource::CommandLine)
}

pub(crate) fn tail(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let mut options = shared(context, matches)?;
    text(matches, "run", &mut options);
    options.insert("json".to_owned(), matches.get_flag("json").into());
    start("tail", options)
}

fn shared(context: &Context<'_>, matches: &ArgMatches) -> Result<Map<String, Value>, Failure> {
    let mut options = Map::new();
    let root = context.needed_root(matches.get_one("root"))?;
    options.insert("root".to_owned(), absolute(root.path())?.into());
    text(matches, "pool", &mut options);
    text(matches, "server", &mut options);
    path(matches, "creds", &mut options)?;
    options.insert("insecure".to_owned(), matches.get_flag("insecure-queue").into());
    Ok(options)
}

fn text(matches: &ArgMatches, name: &str, options: &mut Map<String, Value>) {
    if let Some(text) = matches.get_one::<String>(name) {
        options.insert(name.to_owned(), text.as_str().into());
    }
}

fn path(matches: &ArgMatches, name: &str, options: &mut Map<String, Value>) -> Result<(), Failure> {
    if let Some(path) = matches.get_one::<PathBuf>(name) {
        options.insert(name.to_owned(), absolute(path)?.into());
    }
    Ok(())
}

/// A whole path, as text.
fn absolute(path: &std::path::Path) -> Result<String, Failure> {
    let whole = std::path::absolute(path).map_err(|error| Failure::unreadable(path, &error))?;
    whole.into_os_string().into_string().map_err(|whole| {
        Failure::usage(
            format!("`{}` is not UTF-8", PathBuf::from(whole).display()),
            "rename it, or name another path",
        )
    })
}

fn start(part: &str, options: Map<String, Value>) -> Result<Exit, Failure> {
    let options = json!(options).to_string();
    Err(helpers::failure(&become_part(QUEUE, part, &[options.into()])))
}
