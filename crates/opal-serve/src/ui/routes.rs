//! Which address shows what. All but the ticket are under the path that nobody can guess.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use opal_html::ui::Tab;

use super::desk::Desk;
use super::guard::guard;
use super::reply::{Format, Reply};
use super::ticket::{FOLDER, Use};
use super::{contracts, deciding, live, records};
use crate::notice::say;

pub(super) fn all(desk: &Arc<Desk>) -> Router {
    let pages = Router::new()
        .route("/", get(top))
        .route("/inbox", get(|it, uri| contracts::list(it, uri, Tab::Inbox, Format::Page)))
        .route("/inbox.json", get(|it, uri| contracts::list(it, uri, Tab::Inbox, Format::Json)))
        .route("/contracts", get(|it, uri| contracts::list(it, uri, Tab::Contracts, Format::Page)))
        .route(
            "/contracts.json",
            get(|it, uri| contracts::list(it, uri, Tab::Contracts, Format::Json)),
        )
        .route("/contracts/{id}", get(contracts::one))
        .route("/contracts/{id}/diff", get(|it, id| contracts::diff(it, id, Format::Page)))
        .route("/contracts/{id}/diff.json", get(|it, id| contracts::diff(it, id, Format::Json)))
        .route("/contracts/{id}/events", get(deciding::events))
        .route("/contracts/{id}/decide", post(deciding::decide))
        .route("/records", get(|it, uri| records::list(it, uri, Format::Page)))
        .route("/records.json", get(|it, uri| records::list(it, uri, Format::Json)))
        .route("/records/{id}", get(records::one))
        .route("/records/{id}/events", get(live::events))
        .fallback(|State(desk): State<Arc<Desk>>| async move {
            Reply::missing(&desk, Format::Page, "There is no such page.")
        });
    Router::new()
        .nest(&desk.base, pages)
        .route(&format!("/{FOLDER}/{{word}}"), get(ticket))
        .fallback(|| async { Reply::refused("there are no pages at this path") })
        .layer(from_fn_with_state(Arc::clone(desk), guard))
        .with_state(Arc::clone(desk))
}

async fn top(State(desk): State<Arc<Desk>>) -> Reply {
    Reply::at(format!("{}/inbox", desk.base))
}

/// Exchanges the ticket for the path.
async fn ticket(State(desk): State<Arc<Desk>>, Path(word): Path<String>) -> Reply {
    match desk.ticket().present(&word) {
        Use::First => Reply::at(format!("{}/inbox", desk.base)),
        Use::Again => {
            say(
                "opal ui: the ticket was used a second time, and refused. If the pages did not open for you, \
                 somebody else may have them: end this with Ctrl+C, and start it again",
            );
            Reply::refused(
                "the ticket has been used; `opal ui` makes another when it is started again",
            )
        }
        Use::Late => Reply::refused("the ticket has expired; start `opal ui` again"),
        Use::Wrong => Reply::refused("there is no such ticket"),
    }
}
