//! What `opal` asks of the helper for authors: pack, publish, yank, mirror.
//!
//! ```text
//! files ──release──▶ archive, manifest.json, an entry of versions.json
//!       ──ledger──▶ versions.json and index.json as they will be ──store──▶ directory, web server
//!       ──oci──▶ tags
//! ```
//!
//! Keys stay in `opal`: the helper asks it to sign an index, and signs nothing itself.

mod directory;
mod ledger;
mod oci;
mod release;
mod request;
mod store;
mod web;

use opal_core::Registry;
use opal_helper::{Asking, Parcel};
use serde_json::{Value, json};

use crate::cache::Cache;
use crate::format::INDEX_TYPE;
use crate::refusal::Refusal;
use crate::sources::oci::Oci;
use ledger::{Change, Ledger, Signer};
use oci::Upload;
use release::Release;
use request::Request;

/// The answer to a request; none where it cannot be understood. `built_in` are the decorators that every
/// package may use.
#[must_use]
pub fn answer(parcel: &Parcel, asking: &mut Asking<'_>, built_in: &Registry) -> Option<Parcel> {
    let request = Request::read(parcel)?;
    let mut sign = |payload: &[u8], before: &[u8]| {
        let question =
            Parcel::new(json!({"asks": {"sign": INDEX_TYPE}})).with(payload).with(before);
        let answer = asking.ask(&question)?;
        answer.blobs.first().map(|line| line.to_vec())
    };
    let signer = Signer { key: request.index_key, sign: &mut sign };
    let found = match request.what.as_str() {
        "pack" => pack(&request, built_in),
        "publish" => publish(&request, signer, built_in),
        "attest" => attest(&request, built_in),
        "yank" => yank(&request, signer),
        "refresh" => refresh(&request, signer),
        "mirror" => mirror(&request, signer, built_in),
        _ => return None,
    };
    Some(found.unwrap_or_else(|refusal| {
        let Refusal { exit, message, help } = refusal;
        Parcel::new(json!({"refused": {"exit": exit, "message": message, "help": help}}))
    }))
}

fn pack(request: &Request, built_in: &Registry) -> Result<Parcel, Refusal> {
    let release = Release::of(request.package()?, Vec::new(), request.now, built_in)?;
    Ok(Parcel::new(said(&release)).with(&release.archive))
}

fn publish(request: &Request, signer: Signer<'_>, built_in: &Registry) -> Result<Parcel, Refusal> {
    let statements = request.statements.clone();
    let release = Release::of(request.package()?, statements, request.now, built_in)?;
    if let Some(upload) = upload(request) {
        upload.publish(&release)?;
        return Ok(Parcel::new(said(&release)));
    }
    let store = store::open(&request.to, &request.reach)?;
    let mut ledger = Ledger::open(store.as_ref(), &request.to, signer)?;
    let was_finished = ledger.add(&release)?;
    ledger.write(&change(request))?;
    let mut head = said(&release);
    head["index"] = json!(ledger.number());
    head["finished"] = json!(was_finished);
    Ok(Parcel::new(head))
}

/// Adds statements to a version that is there.
fn attest(request: &Request, built_in: &Registry) -> Result<Parcel, Refusal> {
    let statements = request.statements.clone();
    let release = Release::of(request.package()?, statements, request.now, built_in)?;
    match upload(request) {
        Some(upload) => upload.attest(&release)?,
        None => {
            let store = store::open(&request.to, &request.reach)?;
            ledger::attest(store.as_ref(), &request.to, &release)?;
        }
    }
    Ok(Parcel::new(said(&release)))
}

fn yank(request: &Request, signer: Signer<'_>) -> Result<Parcel, Refusal> {
    let (name, version, yank) = request.yank()?;
    if let Some(upload) = upload(request) {
        let is_changed = upload.yank(&name, &version, yank.as_ref())?;
        return Ok(Parcel::new(json!({"changed": is_changed})));
    }
    let store = store::open(&request.to, &request.reach)?;
    let mut ledger = Ledger::open(store.as_ref(), &request.to, signer)?;
    let is_changed = ledger.yank(&name, &version, yank)?;
    if is_changed {
        ledger.write(&change(request))?;
    }
    Ok(Parcel::new(json!({"index": ledger.number(), "changed": is_changed})))
}

fn refresh(request: &Request, signer: Signer<'_>) -> Result<Parcel, Refusal> {
    if upload(request).is_some() {
        let message = format!("the OCI registry {} has no index", request.to);
        return Err(Refusal::conflict(message, "only registries at `file:` and `https:` have one"));
    }
    let store = store::open(&request.to, &request.reach)?;
    let mut ledger = Ledger::open(store.as_ref(), &request.to, signer)?;
    ledger.write(&change(request))?;
    Ok(Parcel::new(json!({"index": ledger.number()})))
}

/// Writes packages of the cache into a directory; those that are there already stay as they are.
fn mirror(request: &Request, signer: Signer<'_>, built_in: &Registry) -> Result<Parcel, Refusal> {
    let cache = Cache::new(request.root.clone());
    let store = store::open(&request.to, &request.reach)?;
    let mut ledger = Ledger::open(store.as_ref(), &request.to, signer)?;
    let mut added = Vec::new();
    for checksum in &request.checksums {
        let Some(package) = cache.get(&checksum.0) else {
            let message = format!("the package with {checksum} is not on this machine");
            return Err(Refusal::unavailable(message, "fetch it with `opal plugin install`"));
        };
        let statements = cache.statements(&checksum.0).unwrap_or_default();
        let release = Release::of(package, statements, request.now, built_in)?;
        if !ledger.has(&release)? {
            ledger.add(&release)?;
            added.push(said(&release));
        }
    }
    if !added.is_empty() {
        ledger.write(&change(request))?;
    }
    Ok(Parcel::new(json!({"added": added, "index": ledger.number()})))
}

fn upload(request: &Request) -> Option<Upload<'_>> {
    let rest = request.to.strip_prefix("oci://")?;
    let registry = Oci::new(&request.to, rest, &request.reach);
    Some(Upload { registry, address: &request.to })
}

fn change(request: &Request) -> Change {
    let verifiers = request.verifiers.clone();
    Change { now: request.now, expires: request.now.saturating_add(request.expires), verifiers }
}

fn said(release: &Release) -> Value {
    json!({
        "name": release.name.as_str(),
        "version": release.entry.version.to_string(),
        "checksum": release.entry.checksum.to_string(),
        "archive": release.entry.archive.to_string(),
        "size": release.entry.size,
    })
}
