//! The inbox and contracts. Their states are what `opal plan inbox` derives, their plans what `opal plan show`
//! writes.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::Uri;
use opal_core::contract::MAX_BYTES;
use opal_core::hash::{Algorithm, Digest};
use opal_html::body_of;
use opal_html::ui::{self, Choice, Contract, Listed, Tab};
use opal_trust::contracts::peek;
use opal_vault::root;
use serde_json::{Value, json};

use super::deciding::reason;
use super::decisions::{About, Way};
use super::desk::Desk;
use super::parts::part;
use super::reply::{Format, Reply};
use crate::child::{Unanswered, was_approved_by_people};

/// Under the runtime root.
const INBOX: &str = "inbox";
const CONTRACT: &str = "contract.plan";

/// Digits of an id, and how many of them people type.
const ID_DIGITS: usize = 32;
const TYPED: usize = 8;

/// The inbox, which has what waits, or all contracts.
pub(super) async fn list(
    State(desk): State<Arc<Desk>>,
    uri: Uri,
    tab: Tab,
    format: Format,
) -> Reply {
    let mut all = match entries(&desk).await {
        Ok(all) => all,
        Err(why) => return Reply::unanswered(&desk, format, why),
    };
    if tab == Tab::Inbox {
        all.retain(|entry| entry["state"] == "waiting");
    }
    let Some((part, range)) = part(&uri, all.len()) else {
        return Reply::missing(&desk, format, "The list has no such page.");
    };
    let shown = &all[range];
    match format {
        Format::Json => Reply::json(json!({
            "version": 1, "contracts": shown, "page": part.page, "pages": part.pages, "total": part.total,
        })),
        Format::Page => {
            let listed: Vec<Listed> = shown.iter().map(listed).collect();
            Reply::page(&desk, |site| ui::contracts(site, tab, &listed, part))
        }
    }
}

/// One contract, with its plan.
pub(super) async fn one(State(desk): State<Arc<Desk>>, Path(name): Path<String>) -> Reply {
    let (id, format) = Format::of(&name);
    let (entry, all) = match found(&desk, id).await {
        Ok(Some(found)) => found,
        Ok(None) => return Reply::missing(&desk, format, "There is no such contract."),
        Err(why) => return Reply::unanswered(&desk, format, why),
    };
    let stored = Stored::read(&desk, id);
    let path = path(&desk, id).display().to_string();
    if format == Format::Json {
        let plan = match desk.ask(&["plan", "show", &path, "--json"]).await {
            Ok(shown) => shown.json(),
            Err(why) => return Reply::unanswered(&desk, format, why),
        };
        let digest = stored.as_ref().map(|it| Algorithm::Sha256.written(&it.digest));
        let plan_hash = stored.as_ref().map(|it| it.plan_hash.clone());
        return Reply::json(json!({
            "version": 1, "contract": entry, "digest": digest, "plan_hash": plan_hash, "plan": plan,
        }));
    }
    let shown = match desk.ask(&["plan", "show", &path, "--format", "html"]).await {
        Ok(shown) => shown,
        Err(why) => return Reply::unanswered(&desk, format, why),
    };
    let document = String::from_utf8_lossy(&shown.stdout).into_owned();
    let plan = body_of(&document).filter(|_| shown.code == 0).map(str::to_owned);
    let trouble = plan.is_none().then(|| shown.stderr.trim().to_owned());
    let choice = choice(&desk, id, &entry, stored.as_ref()).await;
    let has_form = matches!(choice, Choice::Decide { .. });
    let own = Contract {
        listed: listed(&entry),
        digest: stored.as_ref().map(|it| it.digest.hex()).unwrap_or_default(),
        facts: facts(&entry, stored.as_ref()),
        plan,
        trouble,
        differs_from: stored.and_then(|it| it.approved_before(&desk, &all)),
        choice,
        decided: desk.decisions.ended(id),
    };
    let write = |site: ui::Site<'_>| ui::contract(site, &own);
    if has_form { Reply::form(&desk, write) } else { Reply::page(&desk, write) }
}

/// What differs from the contract that was approved last.
pub(super) async fn diff(
    State(desk): State<Arc<Desk>>,
    Path(id): Path<String>,
    format: Format,
) -> Reply {
    let (entry, all) = match found(&desk, &id).await {
        Ok(Some(found)) => found,
        Ok(None) => return Reply::missing(&desk, format, "There is no such contract."),
        Err(why) => return Reply::unanswered(&desk, format, why),
    };
    let before = Stored::read(&desk, &id).and_then(|it| it.approved_before(&desk, &all));
    let Some(before) = before else {
        let why = "No other contract of this task has been approved here.";
        return Reply::missing(&desk, format, why);
    };
    let [one, other] = [&before, &id].map(|id| path(&desk, id).display().to_string());
    let form = if format == Format::Json { "json" } else { "html" };
    let compared = match desk.ask(&["plan", "diff", &one, &other, "--format", form]).await {
        Ok(compared) => compared,
        Err(why) => return Reply::unanswered(&desk, format, why),
    };
    let document = String::from_utf8_lossy(&compared.stdout);
    // 1: they differ.
    let has_one = matches!(compared.code, 0 | 1);
    match (format, compared.json().filter(|_| has_one), body_of(&document).filter(|_| has_one)) {
        (Format::Json, Some(found), _) => Reply::json(json!({
            "version": 1, "contract": id, "compared": before, "diff": found,
        })),
        (Format::Page, _, Some(body)) => {
            let target = text(&entry, "target");
            let ids = [&*before, &*id];
            Reply::page(&desk, |site| ui::difference(site, &target, ids, body))
        }
        _ => Reply::unreadable(&desk, format, &compared.stderr),
    }
}

/// A contract as it is stored now.
#[derive(Debug)]
pub(super) struct Stored {
    id: String,
    pub(super) digest: Digest,
    plan_hash: String,
    pub(super) target: String,
    arguments: BTreeMap<String, opal_core::Value>,
    source: Option<String>,
}

impl Stored {
    /// None where it is not what was submitted, or cannot be read.
    pub(super) fn read(desk: &Desk, id: &str) -> Option<Self> {
        if !is_id(id) {
            return None;
        }
        let bytes = root::read_guarded(&path(desk, id), MAX_BYTES as u64 + 1).ok()?;
        let digest = Algorithm::Sha256.digest(&[&bytes]);
        if !digest.hex().starts_with(id) {
            return None;
        }
        let contract = peek(&bytes).ok()?;
        Some(Self {
            id: id.to_owned(),
            digest,
            plan_hash: contract.plan().algorithm.written(&contract.plan_hash()),
            target: contract.plan().target.name.clone(),
            arguments: contract.plan().target.arguments.clone(),
            source: contract.provenance().source.as_ref().map(|it| it.absolute.clone()),
        })
    }

    /// The id of the newest contract of the same task and arguments that people have approved.
    fn approved_before(&self, desk: &Desk, all: &[Value]) -> Option<String> {
        let was_approved = |it: &&Value| {
            was_approved_by_people(it) && it["target"] == *self.target && it["id"] != *self.id
        };
        let ids = all.iter().filter(was_approved).filter_map(|it| it["id"].as_str());
        let mut of_source = ids.filter_map(|id| Self::read(desk, id));
        let is_kin = |it: &Self| (&it.source, &it.arguments) == (&self.source, &self.arguments);
        of_source.find(is_kin).map(|it| it.id)
    }
}

/// What can be done about it.
async fn choice(desk: &Desk, id: &str, entry: &Value, stored: Option<&Stored>) -> Choice {
    if let Some(what) = desk.decisions.asking(id) {
        return Choice::Asking(what);
    }
    let Some(stored) = stored else {
        return Choice::None("The file is not what was submitted.".to_owned());
    };
    let state = text(entry, "state");
    if !matches!(&*state, "waiting" | "approved") {
        return Choice::None(format!("Nothing can be decided: the contract is {state}."));
    }
    let Some(way) = desk.decisions.way() else {
        let command = format!("opal plan approve {}", &id[..TYPED]);
        let why =
            format!("This `opal ui` has no terminal that could ask. Decide with `{command}`.");
        return Choice::None(why);
    };
    let digest = stored.digest.hex();
    match way {
        Way::Terminal => Choice::Decide {
            token: desk.decisions.token(About { digest, compared: None }),
            how: "The terminal of `opal ui` shows this contract and asks. Nothing is signed here.".to_owned(),
            shown: None,
        },
        Way::Touch => match shown(desk, id, &digest).await {
            Ok((document, compared)) => Choice::Decide {
                token: desk.decisions.token(About { digest, compared: Some(compared) }),
                how: "Above is what you would sign. Read it, press a button and touch your hardware key: nothing is \
                      signed without the touch."
                    .to_owned(),
                shown: Some(document),
            },
            Err(why) => Choice::None(format!("Nothing can be decided here: {why}")),
        },
    }
}

/// What a terminal would show before it asks, and the digest of what it is compared with.
async fn shown(desk: &Desk, id: &str, digest: &str) -> Result<(String, String), String> {
    let mut words: Vec<OsString> =
        ["plan", "approve", id, "--show", "--json"].map(Into::into).into();
    if let Some(key) = &desk.key {
        words.extend(["--key".into(), key.clone()]);
    }
    let ended = desk.opal.ask(&desk.folder, &words).await.map_err(|why| why.to_string())?;
    let said = ended.json().filter(|it| ended.code == 0 && it["contract"] == *digest);
    let document = said.as_ref().and_then(|it| it["document"].as_str());
    match (document, &said) {
        (Some(document), Some(said)) => {
            let compared = said["compared"].as_str().unwrap_or("none");
            Ok((document.to_owned(), compared.to_owned()))
        }
        _ => Err(reason(&ended.stderr)),
    }
}

/// What the plan does not say itself.
fn facts(entry: &Value, stored: Option<&Stored>) -> Vec<(&'static str, String)> {
    let mut facts = vec![("contract", text(entry, "id"))];
    facts.extend(stored.map(|it| ("digest", Algorithm::Sha256.written(&it.digest))));
    facts.extend(entry["expires"].as_str().map(|at| ("expires", at.to_owned())));
    facts.push(("people", people(entry)));
    facts
}

fn listed(entry: &Value) -> Listed {
    let member = |name: &str| entry[name].as_str().map(str::to_owned);
    Listed {
        id: text(entry, "id"),
        state: text(entry, "state"),
        target: text(entry, "target"),
        created: member("created"),
        made_by: member("made_by"),
        people: people(entry),
    }
}

/// Who said what about it, and how many are missing.
fn people(entry: &Value) -> String {
    let names = |name: &str| -> Vec<&str> {
        entry[name].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    };
    let (by, against) = (names("approved_by"), names("rejected_by"));
    if entry["state"] == "changed" {
        return "the file is not what was submitted".to_owned();
    }
    if !against.is_empty() {
        return format!("rejected by {}", against.join(", "));
    }
    let said = match by[..] {
        [] => "no approval".to_owned(),
        _ => format!("approved by {}", by.join(", ")),
    };
    let needed = entry["needed"].as_u64().and_then(|it| usize::try_from(it).ok()).unwrap_or(0);
    let missing = if entry["state"] == "waiting" { needed.saturating_sub(by.len()) } else { 0 };
    let said = match missing {
        0 => said,
        missing => format!("{said}; {missing} more needed"),
    };
    let unknown = names("unknown_keys");
    let unknown = unknown.iter().map(|key| format!("; unknown key {key} counts for nothing"));
    said + &unknown.collect::<String>()
}

/// The entry of an id, and all of them; the newest first.
async fn found(desk: &Desk, id: &str) -> Result<Option<(Value, Vec<Value>)>, Unanswered> {
    if !is_id(id) {
        return Ok(None);
    }
    let all = entries(desk).await?;
    let entry = all.iter().find(|entry| entry["id"] == *id).cloned();
    Ok(entry.map(|entry| (entry, all)))
}

/// What `opal` says about the contracts of the inbox.
async fn entries(desk: &Desk) -> Result<Vec<Value>, Unanswered> {
    desk.ask(&["plan", "inbox", "--json"]).await?.contracts()
}

fn path(desk: &Desk, id: &str) -> PathBuf {
    let folder: &FilePath = desk.root().path();
    folder.join(INBOX).join(id).join(CONTRACT)
}

fn is_id(id: &str) -> bool {
    id.len() == ID_DIGITS && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn text(entry: &Value, name: &str) -> String {
    entry[name].as_str().unwrap_or_default().to_owned()
}
