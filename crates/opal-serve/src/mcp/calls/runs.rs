//! Records of runs.

use opal_vault::record::reader::{self, Run};
use opal_vault::record::whole;
use serde_json::{Value, json};

use super::super::arguments::Arguments;
use super::super::desk::Desk;
use super::super::marked::untrusted;
use super::super::pages::PAGE_BYTES;
use super::super::refusal::Refusal;
use super::Answer;

/// So many runs are listed where nothing is said, and at most.
const USUAL: u64 = 20;
const MOST: u64 = 200;

/// So many of the newest records are read.
const NEWEST: usize = 5_000;

pub(super) async fn runs(desk: &Desk, arguments: &Arguments) -> Result<Answer, Refusal> {
    let Some(id) = arguments.run()? else { return list(desk, arguments) };
    let found = reader::list(desk.root())?.into_iter().find(|found| found.id.as_str() == id);
    let run = found.and_then(|found| Run::load(&found).ok());
    if !run.is_some_and(|run| desk.projects.has(desk.root(), &run)) {
        return Err(Refusal::NoRun);
    }
    let project = desk.projects.any();
    if !arguments.flag("output")? {
        let shown = desk.opal.ask(project, &["runs", "show", id, "--json"]).await?;
        return Ok(Answer::of(shown).with("run", id));
    }
    let from = arguments.number("offset")?.unwrap_or_default();
    let words = ["runs", "show", id, "--logs"];
    // One byte more says that there are more.
    let mut bytes = desk.opal.part(project, &words, from, PAGE_BYTES + 1).await?;
    let has_more = bytes.len() > PAGE_BYTES;
    if has_more {
        bytes.truncate(PAGE_BYTES);
        bytes.truncate(whole(&bytes));
    }
    let next = has_more.then(|| from + bytes.len() as u64);
    Ok(Answer::default()
        .with("run", id)
        .with("offset", from)
        .with("next_offset", next)
        .with("output", untrusted(&String::from_utf8_lossy(&bytes))))
}

fn list(desk: &Desk, arguments: &Arguments) -> Result<Answer, Refusal> {
    let limit = arguments.number("limit")?.unwrap_or(USUAL);
    if !(1..=MOST).contains(&limit) {
        return Err(Refusal::Wrong("limit", "a number from 1 to 200"));
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let all = reader::list(desk.root())?.into_iter().take(NEWEST);
    let runs = all.filter_map(|found| Run::load(&found).ok());
    let own = runs.filter(|run| desk.projects.has(desk.root(), run));
    let listed: Vec<Value> = own.take(limit).map(|run| run.document()).collect();
    Ok(Answer { result: Some(json!({"runs": listed})), ..Answer::default() })
}
