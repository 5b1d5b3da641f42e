//! The helper `opal-extra`: what few runs need, and what is large.
//!
//! | what | where |
//! |---|---|
//! | pages of the web | `pages`, by `opal-http` |
//! | requests of plugins | `exchange`, by `opal-http` |
//! | JSON Schemas | [`schemas`] |
//! | templates | `templates`, by `opal-template` |
//! | packages of registries and git, archives of providers | `opal-registry` |
//! | Sigstore bundles | `sigstore` |
//! | task files of other tools | `convert`, by `opal-convert` |
//!
//! Deliberately not here: how it is found, started and asked, which is `opal-helper`.

mod convert;
mod exchange;
mod pages;
pub mod schemas;
mod sigstore;
mod templates;

use std::process::ExitCode;

use opal_helper::{Asking, Parcel};
use serde_json::json;

/// Answers until nobody asks any more.
#[must_use]
pub fn serve() -> ExitCode {
    opal_helper::serve(answer)
}

fn answer(request: &Parcel, asking: &mut Asking<'_>) -> Parcel {
    let head = &request.head;
    let answer = if head.get("page").is_some() {
        pages::answer(request)
    } else if head.get("exchange").is_some() {
        exchange::answer(request)
    } else if head.get("schema").is_some() {
        schemas::answer(request)
    } else if head.get("registry").is_some() {
        opal_registry::consume::answer(request)
    } else if head.get("download").is_some() {
        opal_registry::download::answer(request)
    } else if head.get("publish").is_some() {
        opal_registry::publish::answer(request, asking, &opal_decorators::registry())
    } else if head.get("sigstore").is_some() {
        sigstore::answer(request)
    } else if head.get("template").is_some() {
        templates::answer(request)
    } else {
        convert::answer(request, asking)
    };
    // Both programs are of one build, so a request that cannot be read is a mistake of ours.
    answer.unwrap_or_else(|| Parcel::new(json!({})))
}
