//! Answers, and the headers that each of them has.

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use opal_html::ui::{self, Site};
use serde_json::{Value, json};

use super::desk::Desk;
use super::ticket::word;
use crate::child::Unanswered;

const RESOURCES: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const OPENERS: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// What a page may do: nothing but its own style, its own script, requests to this place and its form.
fn policy(nonce: &str) -> String {
    format!(
        "default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
}

#[derive(Debug)]
pub(super) struct Reply {
    status: StatusCode,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Page {
        html: String,
        nonce: String,
        has_form: bool,
    },
    Json(Value),
    Text(String),
    /// Another address.
    At(String),
}

/// Which of the two forms of a page is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Page,
    Json,
}

impl Format {
    /// A name, and the form that its end asks for.
    pub(super) fn of(name: &str) -> (&str, Self) {
        match name.strip_suffix(".json") {
            Some(name) => (name, Self::Json),
            None => (name, Self::Page),
        }
    }
}

impl Reply {
    /// A page, written with the nonce of this answer.
    pub(super) fn page(desk: &Desk, write: impl FnOnce(Site<'_>) -> String) -> Self {
        Self::written(desk, StatusCode::OK, false, write)
    }

    /// A page with a form. Browsers send the origin of a form only if a page lets them tell its own place where
    /// the form is from; other places learn nothing.
    pub(super) fn form(desk: &Desk, write: impl FnOnce(Site<'_>) -> String) -> Self {
        Self::written(desk, StatusCode::OK, true, write)
    }

    fn written(
        desk: &Desk,
        status: StatusCode,
        has_form: bool,
        write: impl FnOnce(Site<'_>) -> String,
    ) -> Self {
        let nonce = word();
        let html = write(desk.site(&nonce));
        Self { status, content: Content::Page { html, nonce, has_form } }
    }

    pub(super) fn json(document: Value) -> Self {
        Self { status: StatusCode::OK, content: Content::Json(document) }
    }

    /// The address of a page, from the path on.
    pub(super) fn at(address: String) -> Self {
        Self { status: StatusCode::SEE_OTHER, content: Content::At(address) }
    }

    /// A request that is not answered.
    pub(super) fn refused(why: &str) -> Self {
        Self { status: StatusCode::FORBIDDEN, content: Content::Text(format!("refused: {why}\n")) }
    }

    /// There is no such thing.
    pub(super) fn missing(desk: &Desk, format: Format, what: &str) -> Self {
        Self::trouble(desk, format, StatusCode::NOT_FOUND, "Not found", what)
    }

    /// It is there, and cannot be shown; why, as `opal` says it.
    pub(super) fn unreadable(desk: &Desk, format: Format, why: &str) -> Self {
        let why = if why.trim().is_empty() { "opal gives no reason" } else { why.trim() };
        Self::trouble(desk, format, StatusCode::INTERNAL_SERVER_ERROR, "This cannot be shown", why)
    }

    /// Something else has to happen first.
    pub(super) fn conflict(desk: &Desk, why: &str) -> Self {
        Self::trouble(desk, Format::Page, StatusCode::CONFLICT, "Not now", why)
    }

    pub(super) fn unanswered(desk: &Desk, format: Format, why: Unanswered) -> Self {
        Self::unreadable(desk, format, &why.to_string())
    }

    fn trouble(desk: &Desk, format: Format, status: StatusCode, title: &str, why: &str) -> Self {
        match format {
            Format::Page => {
                Self::written(desk, status, false, |site| ui::message(site, title, why, ""))
            }
            Format::Json => {
                let document = json!({"version": 1, "error": {"message": why}});
                Self { status, content: Content::Json(document) }
            }
        }
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response<Body> {
        let (kind, body) = match &self.content {
            Content::Page { html, .. } => ("text/html; charset=utf-8", html.clone()),
            Content::Json(document) => ("application/json", format!("{document:#}\n")),
            Content::Text(text) => ("text/plain; charset=utf-8", text.clone()),
            Content::At(_) => ("text/plain; charset=utf-8", String::new()),
        };
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        match self.content {
            Content::Page { nonce, has_form, .. } => {
                // Of hexadecimal digits and words of our own.
                if let Ok(policy) = HeaderValue::try_from(policy(&nonce)) {
                    headers.insert(CONTENT_SECURITY_POLICY, policy);
                }
                if has_form {
                    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
                }
            }
            Content::At(address) => {
                if let Ok(address) = HeaderValue::try_from(address) {
                    headers.insert(LOCATION, address);
                }
            }
            Content::Json(_) | Content::Text(_) => {}
        }
        response
    }
}

/// Adds what every answer has: nobody keeps it, hears of it, guesses what it is, or puts it into a page.
pub(super) fn private(mut response: Response<Body>) -> Response<Body> {
    let headers = response.headers_mut();
    let all = [
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (RESOURCES, "same-origin"),
        (OPENERS, "same-origin"),
    ];
    for (name, value) in all {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    let nothing = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(nothing));
    response
}
