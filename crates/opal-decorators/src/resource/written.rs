//! A file that is kept as a whole: its content, and its mode, owner and group where they are given.
//!
//! A template and a copy of given content differ in where the content comes from, and in nothing else.

use std::path::PathBuf;

use opal_core::files::{Attributes, Entry, Existing, Files};
use opal_core::hash::{Algorithm, Digest};
use opal_core::resolver::{Links, Probe, Trouble};
use opal_core::resource::{Details, Finding};
use opal_core::tree;
use opal_core::wiped::Wiped;

use super::content::{self, MAX_BYTES};
use super::diff::{grouped, unified};
use super::paths;
use super::properties::{Property, differing};

/// What the destination should be.
pub(super) struct Wanted {
    /// Where the content comes from, for the header of a diff.
    pub(super) name: String,
    pub(super) destination: PathBuf,
    pub(super) content: Wiped<Vec<u8>>,
    pub(super) attributes: Attributes,
    /// Whether only its owner may read what the content comes from.
    pub(super) is_private: bool,
}

/// A destination that is there.
pub(super) struct Found {
    pub(super) entry: Entry,
    /// None where it is too large to be the desired content.
    pub(super) content: Option<Wiped<Vec<u8>>>,
}

impl Found {
    pub(super) fn read(wanted: &Wanted, probe: &dyn Probe) -> Result<Option<Self>, Trouble> {
        let path = &wanted.destination;
        // Of a target that has it already, only a digest crosses.
        let length = wanted.content.len() as u64;
        let found = content::replaceable(probe, path, probe.origin().map(|_| length))?;
        let Some(tree::Found { entry, digest, .. }) = found else { return Ok(None) };
        if digest.is_some_and(|digest| digest == Algorithm::Sha256.digest(&[&wanted.content])) {
            return Ok(Some(Self { entry, content: Some(wanted.content.clone()) }));
        }
        let read = || content::read(probe, path, Links::followed_above(path));
        let content = (entry.bytes <= MAX_BYTES).then(read).transpose()?;
        Ok(Some(Self { entry, content }))
    }

    pub(super) fn has_content_of(&self, wanted: &Wanted) -> bool {
        self.content.as_ref().is_some_and(|content| **content == *wanted.content)
    }
}

/// `satisfied` is what is said where nothing differs.
pub(super) fn decide(wanted: &Wanted, found: Option<&Found>, satisfied: &str) -> Finding {
    let path = wanted.destination.display();
    let Some(found) = found else {
        let is_private = wanted.is_private || wanted.attributes.mode.is_some_and(paths::is_private);
        let content = Algorithm::Sha256.digest(&[&wanted.content]);
        return Finding::missing(format!("`{path}` does not exist"))
            .with_details(created(wanted).private(is_private))
            .with_content(content);
    };
    let modes = [Some(found.entry.mode), wanted.attributes.mode];
    let is_private = wanted.is_private || modes.into_iter().flatten().any(paths::is_private);
    let properties = paths::compared(&wanted.attributes, &found.entry);
    let words = properties.iter().any(Property::differs).then(|| differing(&properties));
    match (found.has_content_of(wanted), words) {
        (true, None) => Finding::satisfied(format!("`{path}` {satisfied}")),
        (true, Some(words)) => {
            let finding = Finding::drifted(format!("`{path}` differs: {words}"));
            finding.with_details(Details::words(words + "\n"))
        }
        (false, None) => Finding::drifted(format!("`{path}` differs: content"))
            .with_details(difference(wanted, found).private(is_private))
            .with_content(contents(wanted, found)),
        (false, Some(words)) => Finding::drifted(format!("`{path}` differs: content, {words}"))
            .with_details(
                Details::words(words + "\n").and(difference(wanted, found).private(is_private)),
            )
            .with_content(contents(wanted, found)),
    }
}

/// A difference may be cut, or only described.
fn contents(wanted: &Wanted, found: &Found) -> Digest {
    let there = found.content.as_deref().map_or(&[][..], Vec::as_slice);
    let length = (wanted.content.len() as u64).to_le_bytes();
    Algorithm::Sha256.digest(&[&length, &wanted.content, there])
}

/// What a file that is not there will be.
fn created(wanted: &Wanted) -> Details {
    let destination = wanted.destination.display().to_string();
    let diff = unified((&wanted.name, &wanted.content), (&destination, b""));
    Details::words(paths::given(&wanted.attributes)).and(diff)
}

fn difference(wanted: &Wanted, found: &Found) -> Details {
    let destination = wanted.destination.display().to_string();
    match &found.content {
        Some(content) => unified((&wanted.name, &wanted.content), (&destination, content)),
        None => {
            let expected = grouped(wanted.content.len());
            let actual = grouped(usize::try_from(found.entry.bytes).unwrap_or(usize::MAX));
            Details::words(format!("content differs: {expected} bytes expected, {actual} actual\n"))
        }
    }
}

pub(super) fn apply(
    wanted: &Wanted,
    found: Option<&Found>,
    files: &dyn Files,
) -> Result<(), Trouble> {
    let (path, attributes) = (&wanted.destination, &wanted.attributes);
    match found {
        Some(found) if found.has_content_of(wanted) => {
            let properties = paths::compared(attributes, &found.entry);
            let differs = properties.iter().any(Property::differs);
            if differs { files.set(path, attributes) } else { Ok(()) }
        }
        found => {
            let existing = if found.is_some() { Existing::Replaced } else { Existing::Refused };
            content::write(files, path, attributes, existing, &wanted.content)
        }
    }
}
