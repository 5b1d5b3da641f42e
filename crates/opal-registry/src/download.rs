//! One document or archive of a registry of Terraform providers. What is in it is for another helper to
//! check: `opal-terraform`, which has no network.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use opal_helper::Parcel;
use opal_http::TransferRequest;
use serde_json::{Value, json};

use crate::refusal::Refusal;
use crate::sources::Reach;
use crate::sources::credentials::{Scheme, headers};

const TIMEOUT: Duration = Duration::from_secs(1800);

/// The answer to a request: the bytes, or nothing where they go into a file. None where it cannot be
/// understood.
#[must_use]
pub fn answer(parcel: &Parcel) -> Option<Parcel> {
    let head = parcel.head.get("download")?;
    let reach = Reach::read(head, (0..).map_while(|index| parcel.text(index)))?;
    let (url, most) = (head.get("url")?.as_str()?, head.get("most")?.as_u64()?);
    let into = head.get("into").and_then(Value::as_str).map(Path::new);
    let done = fetch(&reach, url, most).and_then(|bytes| match into {
        Some(path) => write(path, &bytes).map(|()| Parcel::new(json!({}))),
        None => Ok(Parcel::new(json!({})).with(&bytes)),
    });
    Some(done.unwrap_or_else(|Refusal { exit, message, help }| {
        Parcel::new(json!({"refused": {"exit": exit, "message": message, "help": help}}))
    }))
}

fn fetch(reach: &Reach, url: &str, most: u64) -> Result<Vec<u8>, Refusal> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split('/').next().unwrap_or(rest);
    let headers = headers(reach, host, Scheme::Basic)?;
    let (method, body, timeout) = ("GET", &[][..], TIMEOUT);
    let request = TransferRequest { method, url, headers: &headers, body, most, timeout };
    let found = reach.transfer.send(&request, &|name: &str| reach.variable(name));
    let found = found.map_err(|trouble| Refusal::unreached(&trouble))?;
    match found.status {
        200 => Ok(found.body),
        404 | 410 => Err(Refusal::unavailable(
            format!("{host} does not have it"),
            "check the name and the version of the provider, and its registry",
        )),
        401 | 403 => Err(Refusal::untrusted(
            format!("{host} asks for credentials, or refuses yours"),
            "only your own configuration can name them: `config/registries.toml` of the runtime root",
        )),
        status => Err(Refusal::unavailable(
            format!("{host} answered with status {status}"),
            "try again later, or ask the owner of the registry",
        )),
    }
}

/// A new file, for its owner only.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Refusal> {
    let file = File::options().write(true).create_new(true).mode(0o600).open(path);
    let written = file.and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| Refusal::unwritten(&format!("`{}`", path.display()), &error))
}
