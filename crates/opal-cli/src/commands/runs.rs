//! `opal runs`: what has run.

mod cleanup;
mod diff;
mod export;
mod filter;
mod query;
mod report;
pub(super) mod stored;
mod tail;

use std::io::Read;
use std::path::Path;

use clap::ArgMatches;
use opal_core::Duration;
use opal_vault::record::reader::{self, Events, Outputs, Run, State, Step, Unread, Unreadable};
use opal_vault::record::retention::{self, KEPT_RUNS, Policy};
use opal_vault::record::{RunId, whole};
use opal_vault::root::{Root, Why};
use opal_vault::targets::FleetTable;

use super::queue;
use crate::context::Context;
use crate::failure::record::{root_failure, unreadable};
use crate::failure::{Exit, Failure};
use crate::view;
use crate::view::runs::{Listed, Page, Screen};
use filter::Filter;
pub(super) use filter::moment;
use stored::{found, load};

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let Some((name, matches)) = matches.subcommand() else {
        return Err(Failure::usage("`opal runs` needs a command", "see `opal runs --help`"));
    };
    if name == "tail" && queue::is_asked(matches) {
        return queue::tail(context, matches);
    }
    let root = context.needed_root(matches.get_one("root"))?;
    match name {
        "list" => list(context, &root, matches),
        "show" => show(context, &root, matches),
        "diff" => diff::run(context, &root, matches),
        "report" => report::run(context, &root, matches),
        "stats" => query::stats(context, &root, matches),
        "sql" => query::sql(context, &root, matches),
        "export" => export::run(context, &root, matches),
        "tail" => tail::run(context, &root, matches),
        "cleanup" => cleanup::run(context, &root, matches),
        _ => prune(&root, matches),
    }
}

fn list(context: &Context<'_>, root: &Root, matches: &ArgMatches) -> Result<Exit, Failure> {
    let filter = Filter::from(matches)?;
    let limit = matches.get_one::<usize>("limit").copied().unwrap_or(usize::MAX);
    let all = found(root)?;
    let mut listed: Vec<Listed> = Vec::new();
    let mut unread = 0;
    for found in &all {
        let run = Run::load(found);
        let is_meant = match run.as_ref().map(|run| filter.holds(run)) {
            Ok(Ok(is_meant)) => is_meant,
            // What cannot be read is nobody's, and is listed only where everything is.
            Ok(Err(_)) | Err(_) => {
                unread += usize::from(!filter.is_open());
                filter.is_open()
            }
        };
        if is_meant {
            listed.push(Listed { id: found.id.clone(), run });
        }
        // One more says that there are more.
        if listed.len() > limit {
            break;
        }
    }
    if unread > 0 {
        let runs = context.opal_runs(matches.get_one("root"));
        view::record::unread(unread, &runs);
    }
    let shown = &listed[..listed.len().min(limit)];
    if matches.get_flag("json") {
        return view::runs::list_json(shown);
    }
    if all.is_empty() {
        return view::print("No runs yet. `opal TASK` runs a task and records it.\n");
    }
    if listed.is_empty() {
        let runs = context.opal_runs(matches.get_one("root"));
        return view::print(&format!("No matching runs. `{runs} list` lists all runs.\n"));
    }
    view::runs::list(shown, listed.len() > shown.len(), context.out())
}

fn show(context: &Context<'_>, root: &Root, matches: &ArgMatches) -> Result<Exit, Failure> {
    let name = matches.get_one::<String>("run").map_or("last", String::as_str);
    let runs = context.opal_runs(matches.get_one("root"));
    let mut run = load(root, name, &runs)?;
    let unclosed = cleanup::unclosed(root, &run)?;
    if !unclosed.is_empty() {
        run.mark("unclosed", unclosed.iter().map(view::runs::unclosed_json).collect());
    }
    let objects = reader::objects(&run.folder).map_err(unreadable)?;
    if !objects.is_empty() {
        run.mark("objects", objects.into());
    }
    let json = matches.get_flag("json");
    if matches.get_flag("events") {
        let mut page = Page::default();
        for event in Events::open(&run.folder).map_err(unreadable)? {
            page.json(&event.map_err(unreadable)?)?;
        }
        return page.end();
    }
    let steps = reader::steps(&run.folder).map_err(unreadable)?;
    match matches.get_one::<String>("logs") {
        Some(asked) => output(context, &run, &numbers(&run, &steps, asked, &runs)?, json),
        None if json => view::runs::show_json(&run, &steps, &fleets(&run)?),
        None => view::runs::show(&run, &steps, &fleets(&run)?, context.out()),
    }
}

/// How the targets of its fleets ended; of a run that goes on nobody can say it yet.
fn fleets(run: &Run) -> Result<Vec<FleetTable>, Failure> {
    match run.state {
        State::Running => Ok(Vec::new()),
        State::Ended(_) => reader::tables(&run.folder).map_err(unreadable),
    }
}

/// What was printed, whole; as JSON in pieces of a readable size.
fn output(
    context: &Context<'_>,
    run: &Run,
    numbers: &[Option<u64>],
    json: bool,
) -> Result<Exit, Failure> {
    let mut page = Page::default();
    let mut screen = Screen::new(context.ambient.stdout_is_terminal, context.out().colour);
    for &number in numbers {
        for printed in Outputs::open(&run.folder, number).map_err(unreadable)? {
            let printed = printed.map_err(unreadable)?;
            let number = printed.number();
            pieces(&run.folder, printed.read().map_err(unreadable)?, |piece| {
                if json {
                    page.json(&view::runs::piece_json(number, piece))
                } else {
                    page.bytes(&screen.shown(piece))
                }
            })?;
        }
    }
    page.end()
}

/// A character is never cut in two.
fn pieces(
    folder: &Path,
    mut from: Box<dyn Read>,
    mut each: impl FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut buffer = vec![0; 64 * 1024];
    let mut begun = 0;
    loop {
        match from.read(&mut buffer[begun..]) {
            Ok(0) => return if begun > 0 { each(&buffer[..begun]) } else { Ok(()) },
            Ok(length) => {
                let end = begun + length;
                let whole = whole(&buffer[..end]);
                each(&buffer[..whole])?;
                buffer.copy_within(whole..end, 0);
                begun = end - whole;
            }
            Err(error) => {
                return Err(unreadable(Unreadable { path: folder.into(), why: Unread::Io(error) }));
            }
        }
    }
}

/// The steps whose output is asked for; none stands for all of them.
fn numbers(
    run: &Run,
    steps: &[Step],
    asked: &str,
    runs: &str,
) -> Result<Vec<Option<u64>>, Failure> {
    let is_as_started = steps.iter().filter_map(|step| step.number).is_sorted();
    if asked.is_empty() && is_as_started {
        return Ok(vec![None]);
    }
    let number = asked.parse::<u64>().ok();
    let is_meant = |step: &&Step| {
        asked.is_empty() || step.path == asked || number.is_some() && step.position == number
    };
    let meant = steps.iter().filter(|step| step.number.is_some()).filter(is_meant);
    let numbers: Vec<Option<u64>> = meant.map(|step| step.number).collect();
    if numbers.is_empty() && !asked.is_empty() {
        let id = &run.id;
        return Err(Failure::new(
            Exit::NoFile,
            format!("the run `{id}` has not started a step `{asked}`"),
            format!("list its steps with `{runs} show {id}`"),
        ));
    }
    Ok(numbers)
}

fn prune(root: &Root, matches: &ArgMatches) -> Result<Exit, Failure> {
    let older = matches.get_one::<String>("older-than").map(|text| before(text)).transpose()?;
    let day = matches.get_one::<String>("before").map(|text| day(text)).transpose()?;
    let older = older.or(day);
    let usual = if older.is_some() { 0 } else { KEPT_RUNS };
    let keep = matches.get_one::<usize>("keep").copied().unwrap_or(usual);
    let dry_run = matches.get_flag("dry-run");
    let policy = Policy { keep, before: older };
    let gone = retention::prune(root, &policy, dry_run).map_err(|error| match error.why {
        Why::Io(_) => Failure::new(Exit::Write, error.to_string(), error.help()),
        _ => root_failure(error),
    })?;
    view::runs::pruned(&gone, dry_run, matches.get_flag("json"))
}

/// The first name that a run of that time could have.
fn before(text: &str) -> Result<RunId, Failure> {
    let wrong = |why: String| {
        Failure::usage(format!("`--older-than {text}`: {why}"), "write it as `30d` or `12h`")
    };
    let age = Duration::parse(text).map_err(|error| wrong(error.to_string()))?;
    let nanos = u64::try_from(age.as_nanos()).map_err(|_| wrong("it is negative".into()))?;
    let then = crate::clock::now().checked_sub(std::time::Duration::from_nanos(nanos));
    let then = then.ok_or_else(|| wrong("nothing is that old".into()))?;
    Ok(RunId::new(then, [0; 4]))
}

/// The first name that a run of that day could have.
fn day(text: &str) -> Result<RunId, Failure> {
    let digits: String = text.split('-').collect();
    let number = |part: std::ops::Range<usize>| digits.get(part).and_then(|it| it.parse().ok());
    let is_date = matches!((number(4..6), number(6..8)), (Some(1..=12), Some(1..=31)));
    let is_day = is_date && text.len() == 10 && digits.len() == 8;
    let name = format!("run-{digits}T000000Z-00000000");
    name.parse().ok().filter(|_| is_day).ok_or_else(|| {
        Failure::usage(format!("`--before {text}` is not a day"), "write it as `2026-01-31`")
    })
}
