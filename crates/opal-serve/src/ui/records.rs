//! Records: the list of runs, and the report of one, as `opal runs report` writes it.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::Uri;
use opal_core::message::Reason;
use opal_html::body_of;
use opal_html::ui::{self, Live, Recorded};
use opal_vault::event::Status;
use opal_vault::record::reader::{self, Found, Run};
use serde_json::{Value, json};

use super::desk::Desk;
use super::parts::part;
use super::reply::{Format, Reply};

/// Bytes of a report that are read.
const MOST_BYTES: u64 = 64 << 20;

/// All runs, the newest first.
pub(super) async fn list(State(desk): State<Arc<Desk>>, uri: Uri, format: Format) -> Reply {
    let all = match reader::list(desk.root()) {
        Ok(all) => all,
        Err(error) => return Reply::unreadable(&desk, format, &error.to_string()),
    };
    let Some((part, range)) = part(&uri, all.len()) else {
        return Reply::missing(&desk, format, "The list has no such page.");
    };
    let runs: Vec<(&Found, Option<Run>)> =
        all[range].iter().map(|found| (found, Run::load(found).ok())).collect();
    match format {
        Format::Json => {
            let document = |(found, run): &(&Found, Option<Run>)| match run {
                Some(run) => {
                    let mut document = run.document();
                    document["id"] = found.id.as_str().into();
                    document
                }
                None => json!({"id": found.id.as_str(), "status": "unreadable"}),
            };
            let runs: Vec<Value> = runs.iter().map(document).collect();
            Reply::json(json!({
                "version": 1, "runs": runs, "page": part.page, "pages": part.pages, "total": part.total,
            }))
        }
        Format::Page => {
            let rows: Vec<Recorded> =
                runs.iter().map(|(found, run)| row(found, run.as_ref())).collect();
            Reply::page(&desk, |site| ui::records(site, &rows, part))
        }
    }
}

/// One run: its report, or what happens while it goes on.
pub(super) async fn one(State(desk): State<Arc<Desk>>, Path(name): Path<String>) -> Reply {
    let (id, format) = Format::of(&name);
    let found = match found(&desk, id) {
        Ok(Some(found)) => found,
        Ok(None) => return Reply::missing(&desk, format, "There is no record of such a run."),
        Err(why) => return Reply::unreadable(&desk, format, &why),
    };
    let run = Run::load(&found);
    if format == Format::Json {
        return match desk.ask(&["runs", "show", id, "--json"]).await {
            Ok(shown) => match shown.json().filter(|_| shown.code == 0) {
                Some(document) => Reply::json(document),
                None => Reply::unreadable(&desk, format, &shown.stderr),
            },
            Err(why) => Reply::unanswered(&desk, format, why),
        };
    }
    if let Ok(run) = &run
        && run.state == reader::State::Running
    {
        let live = Live { name: run.target().to_owned(), facts: facts(run) };
        return Reply::page(&desk, |site| ui::live(site, &live));
    }
    match report(&desk, id).await {
        Ok(document) => {
            let Some(body) = body_of(&document) else {
                return Reply::unreadable(&desk, format, "the report is not whole");
            };
            let title = run.as_ref().map_or_else(|_| id.to_owned(), title);
            Reply::page(&desk, |site| ui::record(site, &title, body))
        }
        Err(why) => Reply::unreadable(&desk, format, &why),
    }
}

/// The record of exactly this id.
pub(super) fn found(desk: &Desk, id: &str) -> Result<Option<Found>, String> {
    let all = reader::list(desk.root()).map_err(|error| error.to_string())?;
    Ok(all.into_iter().find(|found| found.id.as_str() == id))
}

/// The page that `opal` writes. Its directory is removed at once.
async fn report(desk: &Desk, id: &str) -> Result<String, String> {
    let unwritable =
        |error: std::io::Error| format!("the report cannot be written: {}", Reason(error.kind()));
    let folder = tempfile::tempdir_in(&desk.folder).map_err(unwritable)?;
    let file = folder.path().join("report.html");
    let words = ["runs", "report", id, "-o", &file.display().to_string()];
    let ended = desk.ask(&words).await.map_err(|why| why.to_string())?;
    if ended.code != 0 {
        return Err(ended.stderr);
    }
    let bytes = opal_vault::root::read_guarded(&file, MOST_BYTES).map_err(|it| it.to_string())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn title(run: &Run) -> String {
    format!("{}: {}", run.target(), run.state.name())
}

fn row(found: &Found, run: Option<&Run>) -> Recorded {
    let id = found.id.to_string();
    let Some(run) = run else {
        return Recorded {
            id,
            state: "unreadable".to_owned(),
            is_good: Some(false),
            target: String::new(),
            started: None,
            summary: "its record is damaged".to_owned(),
        };
    };
    let is_good = match run.state {
        reader::State::Running => None,
        reader::State::Ended(status) => Some(matches!(status, Status::Executed | Status::Drifted)),
    };
    Recorded {
        id,
        state: run.state.name().to_owned(),
        is_good,
        target: run.target().to_owned(),
        started: run.started_at().map(str::to_owned),
        summary: summary(run),
    }
}

/// How many steps ended how.
fn summary(run: &Run) -> String {
    let counts = run.get("counts").and_then(Value::as_object);
    let names = ["done", "satisfied", "failed", "caught", "stopped", "skipped"];
    let count = |name: &str| {
        let count = counts?.get(name)?.as_u64().filter(|count| *count > 0)?;
        Some(format!("{count} {name}"))
    };
    names.into_iter().filter_map(count).collect::<Vec<_>>().join(", ")
}

/// What is known of a run at its start.
fn facts(run: &Run) -> Vec<(&'static str, String)> {
    let mut facts = vec![("run", run.id.to_string())];
    facts.extend(run.started_at().map(|at| ("started", at.to_owned())));
    let who: Vec<&str> = [run.text("user"), run.text("host")].into_iter().flatten().collect();
    if !who.is_empty() {
        facts.push(("by", who.join("@")));
    }
    facts.extend(run.text("commit").map(|commit| ("commit", commit.to_owned())));
    facts
}
