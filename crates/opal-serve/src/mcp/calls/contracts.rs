//! Tools about contracts and the inbox.

use opal_trust::contracts::peek;
use opal_vault::root;
use serde_json::{Value, json};

use super::super::arguments::Arguments;
use super::super::desk::Desk;
use super::super::projects::Submitted;
use super::super::refusal::Refusal;
use super::{Answer, of_task};
use crate::child::was_approved_by_people;

/// Under the runtime root, for contracts that are not submitted yet.
const FOLDER: &str = "mcp";

/// Digits of an id that a person types.
const TYPED: usize = 8;

pub(super) async fn diff(desk: &Desk, arguments: &Arguments) -> Result<Answer, Refusal> {
    let one = named(desk, arguments, "contract")?;
    if arguments.contract("other")?.is_none() {
        let words = ["plan", "diff", &path(&one), "--quick", "--json"];
        let ended = desk.opal.ask(&one.project, &words).await?;
        // 1: they differ. Otherwise there is no quick plan, and the document says why.
        let is_error = !matches!(ended.code, 0 | 1);
        let answer = Answer::of(ended).with("contract", one.id);
        return Ok(Answer { is_error: answer.is_error || is_error, ..answer });
    }
    let other = named(desk, arguments, "other")?;
    let words = ["plan", "diff", &path(&one), &path(&other), "--json"];
    let answer = Answer::of(desk.opal.ask(&one.project, &words).await?);
    Ok(answer.with("contract", one.id).with("other", other.id))
}

/// The contracts of these projects, or one of them.
pub(super) async fn list(desk: &Desk, arguments: &Arguments) -> Result<Answer, Refusal> {
    let entries = entries(desk).await?;
    if arguments.contract("contract")?.is_some() {
        let one = named(desk, arguments, "contract")?;
        let words = ["plan", "show", &path(&one), "--json"];
        let shown = desk.opal.ask(&one.project, &words).await?;
        let entry = entries.into_iter().find(|entry| entry["id"] == *one.id).map(stated);
        let result = json!({"entry": entry, "plan": shown.json()});
        let answer = Answer { result: Some(result), ..Answer::of(shown) };
        return Ok(answer.with("contract", one.id));
    }
    let known = desk.projects.submitted(desk.root());
    let is_known = |entry: &Value| known.iter().any(|it| entry["id"] == *it.id);
    let entries: Vec<Value> = entries.into_iter().filter(is_known).map(stated).collect();
    Ok(Answer { result: Some(json!({"contracts": entries})), ..Answer::default() })
}

/// Plans a task, submits the contract, and says what a person has to do.
pub(super) async fn submit(desk: &Desk, arguments: &Arguments) -> Result<Answer, Refusal> {
    let project = desk.projects.choose(arguments.text("project")?)?;
    let folder = desk.root().directory(FOLDER)?;
    let folder = tempfile::tempdir_in(folder).map_err(|it| Refusal::NotStarted(it.kind()))?;
    let file = folder.path().join("new.plan").display().to_string();
    let words = of_task(&["plan", "--json", "-o", &file], arguments)?;
    let planned = desk.opal.ask(project, &words).await?;
    if planned.code != 0 {
        return Ok(Answer { is_error: true, ..Answer::of(planned) });
    }
    let submitted = desk.opal.ask(project, &["plan", "submit", &file, "--json"]).await?;
    let entry = submitted.json().unwrap_or_default();
    let Some(id) = entry["id"].as_str().filter(|_| submitted.code == 0) else {
        return Ok(Answer { is_error: true, ..Answer::of(submitted) });
    };
    let this = desk.projects.contract(desk.root(), id)?;
    let before = approved_before(desk, &this).await?;
    let mut answer = Answer::default();
    if let Some(before) = &before {
        let words = ["plan", "diff", &path(before), &path(&this), "--json"];
        answer = Answer::of(desk.opal.ask(project, &words).await?);
    }
    let root = quoted(&desk.root().path().display().to_string());
    let command = format!("opal --root {root} plan approve {}", &this.id[..TYPED]);
    Ok(answer
        .with("exit", planned.code)
        .with("contract", this.id.clone())
        .with("plan_hash", plan_hash(&this)?)
        .with("state", state(&entry))
        .with("compared", before.map(|before| before.id))
        .with("approve", command))
}

/// The newest contract of the same task and arguments that people have approved.
async fn approved_before(desk: &Desk, this: &Submitted) -> Result<Option<Submitted>, Refusal> {
    let entries = entries(desk).await?;
    let was_approved = |it: &Submitted| {
        let entry = entries.iter().find(|entry| entry["id"] == *it.id);
        entry.is_some_and(was_approved_by_people)
    };
    let mut all = desk.projects.submitted(desk.root()).into_iter();
    Ok(all.find(|it| {
        it.id != this.id
            && it.project == this.project
            && (&it.target, &it.arguments) == (&this.target, &this.arguments)
            && was_approved(it)
    }))
}

/// What `opal` says about the contracts of the inbox.
async fn entries(desk: &Desk) -> Result<Vec<Value>, Refusal> {
    let listed = desk.opal.ask(desk.projects.any(), &["plan", "inbox", "--json"]).await?;
    Ok(listed.contracts()?)
}

/// An entry in which the state is a status: one of opal's words.
fn stated(mut entry: Value) -> Value {
    let state = state(&entry);
    if let Some(members) = entry.as_object_mut() {
        members.remove("state");
        members.insert("status".to_owned(), state.into());
    }
    entry
}

/// The state of an entry, where it is one.
fn state(entry: &Value) -> Option<&'static str> {
    const STATES: [&str; 6] = ["waiting", "approved", "rejected", "expired", "used", "changed"];
    STATES.into_iter().find(|state| entry["state"] == *state)
}

fn plan_hash(contract: &Submitted) -> Result<String, Refusal> {
    let limit = opal_core::contract::MAX_BYTES as u64 + 1;
    let bytes = root::read_guarded(&contract.path, limit).map_err(|_| Refusal::Changed)?;
    let contract = peek(&bytes).map_err(|_| Refusal::Changed)?;
    Ok(contract.plan().algorithm.written(&contract.plan_hash()))
}

fn named(desk: &Desk, arguments: &Arguments, name: &'static str) -> Result<Submitted, Refusal> {
    let digits = arguments.contract(name)?.ok_or(Refusal::Missing(name))?;
    desk.projects.contract(desk.root(), digits)
}

fn path(contract: &Submitted) -> String {
    contract.path.display().to_string()
}

/// A word as a shell needs it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%,".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
