//! What `opal watch` says between rounds, on standard error.

use std::collections::BTreeSet;

use opal_session::watching::Change;

use super::diagnostics::visible;
use super::ink::Ink;
use super::say;
use crate::failure::Failure;

/// Files that are named.
const SHOWN: usize = 3;

/// Nothing is to be done until a file changes.
pub(crate) fn waiting(count: usize, polls: bool, ink: Ink) {
    let files = if count == 1 { "file" } else { "files" };
    let how = if polls { ", by polling: the system has no file watches left" } else { "" };
    say(&format!("{}: {count} {files}{how}\n", ink.mark("watching")));
}

pub(crate) fn changed(changes: &[Change], ink: Ink) {
    let names: Vec<&str> = changes.iter().map(|change| &*change.name).collect();
    say(&format!("{}: {}\n", ink.mark("changed"), listed(&names)));
}

/// The task writes files that it is run again for.
pub(crate) fn paused(files: &BTreeSet<Box<str>>, ink: Ink) {
    let names: Vec<&str> = files.iter().map(|name| &**name).collect();
    say(&format!(
        "{}: the task changes the files that it is watched for: {}\n  help: have git ignore them, or \
         declare them with `@cached(inputs=[…], outputs=[…])`; another change continues\n",
        ink.warning("paused"),
        listed(&names)
    ));
}

/// Why there is no round.
pub(crate) fn failure(failure: &Failure, ink: Ink) {
    let mut text = format!("{}: {}\n", ink.error("error"), visible(&failure.message));
    for help in &failure.help {
        text.push_str(&format!("  help: {}\n", visible(help)));
    }
    say(&text);
}

fn listed(names: &[&str]) -> String {
    let shown: Vec<String> =
        names.iter().take(SHOWN).map(|name| format!("`{}`", visible(name))).collect();
    let shown = shown.join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown}, and {more} more"),
    }
}
