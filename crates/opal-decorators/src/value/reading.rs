//! What several resolvers do in the same way.

use std::path::Path;

use opal_core::Secret;
use opal_core::files::EntryKind;
use opal_core::message;
use opal_core::resolver::{Inputs, MAX_VALUE_BYTES, Probe, Trouble, TroubleKind};

use opal_core::wiped;

/// Links that lead to each other, as many as an operating system follows.
const MAX_LINKS: usize = 40;

/// A String that the schema promises.
pub(super) fn required<'a>(inputs: &'a Inputs, name: &str) -> Result<&'a str, Trouble> {
    inputs.text(name).ok_or_else(|| absent(name))
}

pub(super) fn absent(name: &str) -> Trouble {
    Trouble::new(
        TroubleKind::Invalid,
        message!("the argument `", name, "` was not given"),
        message!("give it: `", name, "=…`"),
    )
}

/// The text of the file that `path` names, trimmed where `trim` says so.
pub(super) fn file(inputs: &Inputs, probe: &dyn Probe) -> Result<Secret, Trouble> {
    let path = required(inputs, "path")?;
    let bytes = wiped::read(&mut *probe.open(path)?, MAX_VALUE_BYTES + 1)
        .map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 > MAX_VALUE_BYTES {
        return Err(Trouble::new(
            TroubleKind::TooLarge,
            message!("the file `", path, "` has more than ", MAX_VALUE_BYTES >> 20, " MiB"),
            "let a step read it, or pin it with `@file.hash(…)`",
        ));
    }
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(Secret::new(if inputs.is_true("trim") { text.trim() } else { text })),
        Err(_) => Err(Trouble::new(
            TroubleKind::NotText,
            message!("the file `", path, "` is not UTF-8 text"),
            "convert it with `iconv`, let a step read it, or pin it with `@file.hash(…)`",
        )),
    }
}

/// What is at a whole path, links followed; none where nothing is or links lead to each other.
pub(super) fn kind_at(probe: &dyn Probe, path: &Path) -> Result<Option<EntryKind>, Trouble> {
    let mut at = path.to_owned();
    for _ in 0..=MAX_LINKS {
        match probe.stat(&at)?.map(|entry| entry.kind) {
            Some(EntryKind::Link) => {
                let target = probe.read_link(&at)?;
                at.pop();
                at.push(target);
            }
            other => return Ok(other),
        }
    }
    Ok(None)
}

pub(super) fn unreadable(path: &str, error: &std::io::Error) -> Trouble {
    Trouble::new(
        TroubleKind::Failed,
        message!("the file `", path, "` cannot be read: ", error.kind()),
        "try to read it with `cat`",
    )
}

/// What a command printed, without the line ends at its end.
pub(super) fn without_line_ends(output: &Secret) -> Secret {
    let text = output.expose().trim_end_matches(['\n', '\r']);
    if text.len() == output.expose().len() { output.clone() } else { Secret::new(text) }
}
