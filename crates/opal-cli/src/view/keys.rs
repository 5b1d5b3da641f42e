//! What `opal keys` shows. Of a private half only where it is.

use std::fmt::Write as _;

use opal_trust::keys::{KeyEntry, KeyKind, Listed, Recipient};
use serde_json::json;

use super::diagnostics::visible;
use super::ink::Ink;
use super::{print, print_json, say};
use crate::failure::{Exit, Failure};

/// Standard output is the public half alone, to be used in another command.
pub(crate) fn generated(entry: &KeyEntry, json: bool) -> Result<Exit, Failure> {
    if json {
        return print_json(&document(entry));
    }
    let path = entry.path.display().to_string();
    say(&format!("the private key is in {}: opal never overwrites it\n", visible(&path)));
    print(&format!("{}\n", entry.public))
}

pub(crate) fn shown(entry: &KeyEntry, json: bool) -> Result<Exit, Failure> {
    if json { print_json(&document(entry)) } else { print(&format!("{}\n", entry.public)) }
}

/// A key that was brought along has no name and no file here.
pub(crate) fn brought(recipient: &Recipient, json: bool) -> Result<Exit, Failure> {
    let public = recipient.to_string();
    if json {
        let kind = KeyKind::Seal.name();
        return print_json(
            &json!({"version": 1, "name": null, "kind": kind, "public": public, "path": null}),
        );
    }
    print(&format!("{public}\n"))
}

pub(crate) fn list(listed: &[Listed], ink: Ink) -> Result<Exit, Failure> {
    if listed.is_empty() {
        return print(
            "No keys yet. The runner key is created when it is first needed;\n`opal keys generate \
             NAME` makes a signing key.\n",
        );
    }
    let (bold, dim, reset) =
        if ink.colour { ("\x1b[1m", "\x1b[2m", "\x1b[0m") } else { ("", "", "") };
    let width = listed.iter().map(|one| one.name.as_str().len()).max().unwrap_or(0);
    let kind = |one: &Listed| one.found.as_ref().map_or("-", |entry| entry.kind.name());
    let kinds = listed.iter().map(|one| kind(one).len()).max().unwrap_or(0);
    let mut out = String::new();
    for Listed { name, found } in listed {
        let name = name.as_str();
        let _ = match found {
            Ok(entry) => {
                let kind = entry.kind.name();
                writeln!(
                    out,
                    "{bold}{name:width$}{reset}  {kind:kinds$}  {dim}{}{reset}",
                    entry.public
                )
            }
            Err(error) => {
                let message = visible(&error.message);
                writeln!(out, "{bold}{name:width$}{reset}  {:kinds$}  {message}", "-")
            }
        };
    }
    print(&out)
}

pub(crate) fn list_json(listed: &[Listed]) -> Result<Exit, Failure> {
    let keys = listed.iter().map(|Listed { name, found }| match found {
        Ok(entry) => document(entry),
        Err(error) => json!({
            "name": name.as_str(),
            "error": {"message": error.message, "help": [error.help]},
        }),
    });
    print_json(&json!({"version": 1, "keys": keys.collect::<Vec<_>>()}))
}

fn document(entry: &KeyEntry) -> serde_json::Value {
    json!({
        "version": 1,
        "name": entry.name.as_str(),
        "kind": entry.kind.name(),
        "public": entry.public,
        "path": entry.path.display().to_string(),
    })
}
