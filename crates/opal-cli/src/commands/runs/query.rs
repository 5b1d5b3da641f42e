//! `opal runs stats` and `opal runs sql`: questions that the helper `opal-serve` answers from its index.

use clap::ArgMatches;
use opal_helper::{Helper, Parcel, SERVE};
use opal_vault::root::Root;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::helpers;
use crate::view;
use crate::view::runs::query as shown;

/// The part of the helper.
const PART: &str = "index";

pub(super) fn stats(
    context: &Context<'_>,
    root: &Root,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let task = matches.get_one::<String>("task");
    let found = ask(root, json!({"stats": true, "task": task}))?;
    if matches.get_flag("json") {
        return view::print_json(&versioned(found));
    }
    if found["tasks"].as_array().is_none_or(Vec::is_empty) {
        return view::print(&match task {
            Some(task) => format!("No runs of `{}` have ended.\n", shown::text(task)),
            None => "No runs have ended. `opal TASK` runs a task and records it.\n".to_owned(),
        });
    }
    shown::stats(&found, context.out())
}

pub(super) fn sql(
    context: &Context<'_>,
    root: &Root,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let query = matches.get_one::<String>("query").map_or("", String::as_str);
    let found = ask(root, json!({"sql": query}))?;
    if matches.get_flag("json") {
        return view::print_json(&versioned(found));
    }
    match matches.get_flag("csv") {
        true => shown::csv(&found),
        false => shown::rows(&found, context.out()),
    }
}

fn versioned(mut document: Value) -> Value {
    document["version"] = 1.into();
    document
}

fn ask(root: &Root, mut question: Value) -> Result<Value, Failure> {
    let path = std::path::absolute(root.path()).unwrap_or_else(|_| root.path().to_path_buf());
    let path = path.into_os_string().into_string().map_err(|_| {
        Failure::usage("the path of the runtime root is not UTF-8", "use another one: `--root DIR`")
    })?;
    question["root"] = path.into();
    let unusable = |unusable| helpers::failure(&unusable);
    let mut helper = Helper::start_part(SERVE, PART).map_err(unusable)?;
    let answer =
        helper.ask(&Parcel::new(question), &mut |_| Parcel::default()).map_err(unusable)?;
    let text = |name: &str| answer.head.get(name).and_then(Value::as_str);
    if let Some(error) = text("error") {
        let exit = match text("kind") {
            Some("usage") => Exit::Usage,
            Some("root") => Exit::Configuration,
            _ => Exit::Unavailable,
        };
        return Err(Failure::new(exit, error, text("help").unwrap_or_default()));
    }
    let found = answer.text(0).and_then(|text| serde_json::from_str(text).ok());
    found.ok_or_else(|| unusable(opal_helper::Unusable::Silent { name: SERVE }))
}
