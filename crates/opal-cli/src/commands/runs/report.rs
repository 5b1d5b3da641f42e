//! `opal runs report`: the report of a run, from its record.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::ArgMatches;
use opal_html::{Case, Collector, Leaf, Report};
use opal_vault::Vault;
use opal_vault::event::Status;
use opal_vault::record::reader::{self, Run, State};
use opal_vault::root::Root;
use opal_vault::targets::FleetTable;
use serde_json::Value;

use super::stored::load;
use crate::context::Context;
use crate::failure::record::unreadable;
use crate::failure::{Exit, Failure};
use crate::options::ReportTo;
use crate::reports::{Reports, approved_text};
use crate::view;

pub(super) fn run(
    context: &Context<'_>,
    root: &Root,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let name = matches.get_one::<String>("run").map_or("last", String::as_str);
    let run = load(root, name, &context.opal_runs(matches.get_one("root")))?;
    let files = matches.get_many::<PathBuf>("out").into_iter().flatten().cloned();
    let files = files.map(ReportTo::new).collect::<Result<Vec<_>, _>>()?;
    let steps = reader::steps(&run.folder).map_err(unreadable)?;
    let fleets = super::fleets(&run)?;
    let report = report(&run, &fleets)?;
    let Some(reports) = Reports::ready(context, &files)? else { return Ok(Exit::Done) };
    let unwritten = reports.write(&report, &|| view::runs::document(&run, &steps, &fleets));
    Ok(unwritten.unwrap_or(Exit::Done))
}

fn report(run: &Run, fleets: &[FleetTable]) -> Result<Report, Failure> {
    // What a record has was scrubbed when it was written.
    let vault = Vault::new();
    let collector = Collector::default();
    reader::replay(&run.folder, &collector).map_err(unreadable)?;
    let plan = run.plan().map_err(unreadable)?.unwrap_or_default();
    let (mut leaves, mut tree) = (Vec::new(), String::new());
    gather(&plan["steps"], "", &mut leaves, &mut tree);
    let began = run.began().unwrap_or(SystemTime::UNIX_EPOCH);
    let failed = reader::failed_path(run).map_err(unreadable)?.map(|failed| failed.path);
    let failed: Vec<&str> = failed.as_deref().into_iter().collect();
    let is_timed_out = run.get("code").and_then(Value::as_i64) == Some(124);
    let is_cut = run.state == State::Ended(Status::Interrupted) || is_timed_out;
    let cases = collector.cases(leaves, began, &failed, is_cut, &vault);
    let is_good = matches!(run.state, State::Ended(Status::Executed | Status::Drifted));
    let trouble = (!is_good && !cases.iter().any(Case::is_bad)).then(|| trouble(run));
    let took = run.get("took_ms").and_then(Value::as_f64).unwrap_or_default() / 1_000.0;
    Ok(Report {
        name: run.target().to_owned(),
        status: if is_good { "done".to_owned() } else { run.state.name().to_owned() },
        is_good,
        summary: view::runs::summary(run),
        trouble,
        at: began,
        took: Duration::try_from_secs_f64(took).unwrap_or_default(),
        host: run.text("host").map(str::to_owned),
        facts: facts(run),
        fleets: fleets.to_vec(),
        cases,
        plan: (!tree.is_empty()).then_some(tree),
    })
}

/// Why a run failed that no step is to blame for.
fn trouble(run: &Run) -> String {
    let of = |name: &str| run.get(name).and_then(|it| it["message"].as_str()).map(str::to_owned);
    of("failed")
        .or_else(|| of("refused"))
        .unwrap_or_else(|| format!("the run {}", run.state.name()))
}

fn facts(run: &Run) -> Vec<(&'static str, String)> {
    let mut facts = vec![("run", run.id.to_string())];
    facts.extend(run.started_at().map(|at| ("started", at.to_owned())));
    let who = [run.text("user"), run.text("host")].into_iter().flatten().collect::<Vec<_>>();
    facts.push(("by", who.join("@")));
    for (name, value) in run.get("arguments").and_then(Value::as_object).into_iter().flatten() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        facts.push(("argument", format!("{name}={value}")));
    }
    let modified = run.get("modified").and_then(Value::as_bool) == Some(true);
    let mark = if modified { ", modified" } else { "" };
    facts.extend(run.text("commit").map(|commit| ("commit", format!("{commit}{mark}"))));
    if let Some(contract) = run.get("contract") {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        facts.push(("contract", text(&contract["path"])));
        facts.push(("contract digest", format!("sha256:{}", text(&contract["file_digest"]))));
        for one in contract["approvals"].as_array().into_iter().flatten() {
            let [name, key, at] = ["name", "key", "at"].map(|name| text(&one[name]));
            facts.push(("approved", approved_text(&name, &key, &at, one["note"].as_str())));
        }
    }
    facts.extend(run.text("plan_hash").map(|hash| ("plan hash", hash.to_owned())));
    facts.extend(run.text("opal").map(|version| ("opal", version.to_owned())));
    facts
}

/// The steps of a plan as a record has it, and a line for each after the bars of what it is in.
fn gather(steps: &Value, bars: &str, leaves: &mut Vec<Leaf>, tree: &mut String) {
    let steps = steps.as_array().map_or(&[][..], Vec::as_slice);
    for (index, step) in steps.iter().enumerate() {
        let path = step["path"].as_str().unwrap_or_default();
        let decorator = step["decorator"].as_str().unwrap_or_default();
        let text = step["note"].as_str().or(step["args"]["command"].as_str()).unwrap_or(decorator);
        let (branch, below) =
            if index + 1 == steps.len() { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let inner = format!("{bars}{below}");
        tree.push_str(&format!("{bars}{branch}"));
        tree.push_str(&text.trim_end().replace('\n', &format!("\n{inner}┊ ")));
        // Records of earlier versions have none.
        let at = step["at"].as_str();
        at.into_iter().for_each(|at| tree.push_str(&format!("  ({at})")));
        tree.push('\n');
        let place = at.and_then(|at| at.rsplit_once(':'));
        let place = place.and_then(|(file, line)| Some((file.to_owned(), line.parse().ok()?)));
        let is_block = step["block"].is_array();
        leaves.push(Leaf { path: path.into(), text: text.to_owned(), place, is_block });
        gather(&step["block"], &inner, leaves, tree);
    }
}
