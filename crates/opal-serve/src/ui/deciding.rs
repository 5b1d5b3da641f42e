//! Decisions about contracts. A page asks; the terminal of `opal ui` shows the contract and asks a person, by
//! `opal plan approve` or `reject`, which signs. Without a terminal the touch of a hardware key is the answer.

use std::ffi::OsString;
use std::sync::Arc;

use axum::Extension;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

use super::contracts::Stored;
use super::decisions::{Answer, Question, Verb, Way};
use super::desk::Desk;
use super::guard::MAX_BODY_BYTES;
use super::life::Life;
use super::reply::Reply;
use super::stream;
use crate::child::Guarded;
use crate::notice::say;

/// What is said where a key does not sign in time.
const TOO_LATE: &str = "nobody has touched the key in time, or it asks for a PIN or a passphrase, which needs a terminal";

/// A form that was sent: its parts, each there once. Nothing in them needs an escape.
struct Form<'f> {
    digest: &'f str,
    token: &'f str,
    verb: Verb,
}

impl<'f> Form<'f> {
    fn read(text: &'f str) -> Option<Self> {
        let (mut digest, mut token, mut verb) = (None, None, None);
        for part in text.split('&') {
            let (name, value) = part.split_once('=')?;
            let place = match name {
                "digest" => &mut digest,
                "token" => &mut token,
                "decision" => &mut verb,
                _ => return None,
            };
            if place.replace(value).is_some() {
                return None;
            }
        }
        let verb = match verb? {
            "approve" => Verb::Approve,
            "reject" => Verb::Reject,
            _ => return None,
        };
        Some(Self { digest: digest?, token: token?, verb })
    }
}

/// Has the terminal ask about a contract.
pub(super) async fn decide(
    State(desk): State<Arc<Desk>>,
    Path(id): Path<String>,
    body: Body,
) -> Reply {
    let Ok(bytes) = to_bytes(body, MAX_BODY_BYTES).await else {
        return Reply::refused("the request is too large");
    };
    let text = String::from_utf8_lossy(&bytes);
    let Some(form) = Form::read(&text) else {
        return Reply::refused("it is not the form of a contract");
    };
    let Some(about) = desk.decisions.take(form.token, form.digest) else {
        return Reply::refused(
            "the form has been sent already, or is too old: load the page again",
        );
    };
    let Some(stored) = Stored::read(&desk, &id).filter(|it| it.digest.hex() == form.digest) else {
        return Reply::refused("the contract is not the one that the page has shown");
    };
    let Some(way) = desk.decisions.way() else {
        return Reply::conflict(&desk, "This `opal ui` has no terminal that could ask.");
    };
    let question = Question { id: id.clone(), verb: form.verb, compared: about.compared };
    if !desk.decisions.begin(question.clone()) {
        let why = match way {
            Way::Terminal => {
                "The terminal of `opal ui` is asking about another contract. Answer there first."
            }
            Way::Touch => "Your hardware key is waiting to be touched for another contract.",
        };
        return Reply::conflict(&desk, why);
    }
    let (verb, target) = (form.verb.name(), &stored.target);
    say(&format!("\nopal ui: a page asks to {verb} `{target}`, contract {}", stored.digest.hex()));
    let address = format!("{}/contracts/{id}", desk.base);
    tokio::spawn(async move { ask(&desk, question, way).await });
    Reply::at(address)
}

/// Asks, and keeps how it ended. `opal` reads the contract again, by its id, which is the beginning of the
/// digest; it shows what it has read, and signs nothing else. It starts where no file of a project can have the
/// name of the id.
async fn ask(desk: &Desk, Question { id, verb, compared }: Question, way: Way) {
    let mut words: Vec<OsString> = ["plan", verb.name(), &id].map(Into::into).into();
    if let Some(key) = &desk.key {
        words.extend(["--key".into(), key.clone()]);
    }
    let (code, why) = match way {
        Way::Terminal => match Guarded::spawn(desk.opal.in_terminal(&desk.folder, &words)) {
            Ok(mut child) => {
                (child.wait().await.ok().map(|ended| ended.code().unwrap_or(-1)), None)
            }
            Err(_) => (None, None),
        },
        Way::Touch => {
            words.push("--touch".into());
            if let Some(compared) = compared {
                words.extend(["--compared".into(), compared.into()]);
            }
            match desk.opal.ask_within(&desk.folder, &words, desk.touch_limit).await {
                Ok(Some(ended)) => (Some(ended.code), Some(reason(&ended.stderr))),
                Ok(None) => (Some(-1), Some(TOO_LATE.to_owned())),
                Err(_) => (None, None),
            }
        }
    };
    if let Some(why) = why.as_deref().filter(|_| code != Some(0)) {
        say(&format!("opal ui: nothing was signed: {why}"));
    }
    desk.decisions.end(id, Answer { verb, code, why });
}

/// The error in what `opal` said.
pub(super) fn reason(said: &str) -> String {
    let error = said.lines().find_map(|line| line.strip_prefix("error: "));
    error.unwrap_or("opal gives no reason").to_owned()
}

/// Tells a page when the question about its contract has been answered.
pub(super) async fn events(
    State(desk): State<Arc<Desk>>,
    Extension(life): Extension<Life>,
    Path(id): Path<String>,
) -> Response {
    let Some((mut events, response)) = stream::open(&desk, &life) else {
        return stream::full().into_response();
    };
    let mut changes = desk.decisions.changes();
    tokio::spawn(async move {
        while desk.decisions.asking(&id).is_some() {
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return },
                () = events.wait() => if !events.ping().await { return },
            }
        }
        events.send("over", &json!({})).await;
    });
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_each_part_once() {
        assert!(Form::read("digest=a&token=b&decision=approve").is_some());
        for text in [
            "",
            "digest=a&token=b",
            "digest=a&token=b&decision=run",
            "digest=a&digest=a&token=b&decision=approve",
            "digest=a&token=b&decision=approve&note=x",
            "digest&token=b&decision=approve",
        ] {
            assert!(Form::read(text).is_none(), "{text}");
        }
    }
}
