//! What every request must have. Pages of other places, other names for this one, and other users of this machine
//! fail here, before anything is looked up.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, ORIGIN};
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::desk::Desk;
use super::reply::{self, Reply};
use super::ticket::{FOLDER, is_same};

/// Bytes of what a request brings with it.
pub(super) const MAX_BODY_BYTES: usize = 1 << 20;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FORM: &str = "application/x-www-form-urlencoded";

/// Lets a request through, or says what it lacks.
pub(super) async fn guard(State(desk): State<Arc<Desk>>, request: Request, next: Next) -> Response {
    let response = match lacks(&desk, &request) {
        Some(why) => Reply::refused(why).into_response(),
        None => next.run(request).await,
    };
    reply::private(response)
}

fn lacks(desk: &Desk, request: &Request) -> Option<&'static str> {
    let headers = request.headers();
    // A name that somebody points at this machine is another name (DNS rebinding).
    if only(headers, &HOST) != Some(&desk.authority) || request.uri().authority().is_some() {
        return Some("the host is not the one that `opal ui` has printed");
    }
    let first = request.uri().path().split('/').nth(1).unwrap_or_default();
    if first != FOLDER && !is_same(first, &desk.word) {
        return Some("there are no pages at this path");
    }
    let length = headers.get(CONTENT_LENGTH).map(|it| it.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|length| length.is_none_or(|length| length > MAX_BODY_BYTES)) {
        return Some("the request is too large");
    }
    match *request.method() {
        Method::GET => None,
        Method::POST => lacks_as_form(desk, headers),
        _ => Some("pages are asked for by GET, and forms are sent by POST"),
    }
}

/// A form comes from a page of this place, and from nowhere else.
fn lacks_as_form(desk: &Desk, headers: &HeaderMap) -> Option<&'static str> {
    if only(headers, &ORIGIN) != Some(&desk.origin) {
        return Some("the form was not sent by a page of `opal ui`");
    }
    if only(headers, &SEC_FETCH_SITE) != Some("same-origin") {
        return Some("the browser does not say that the form is of the same origin");
    }
    if only(headers, &CONTENT_TYPE) != Some(FORM) {
        return Some("it is not a form");
    }
    None
}

/// The value of a header that is there once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    let one = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(one)
}
