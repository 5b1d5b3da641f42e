//! What was found, safe to show.
//!
//! What only its owner may read is not shown at all, but for how much of it differs.
//!
//! A value that is known is hidden wherever it is. A line of the actual side that is opposite one
//! with such a value, or begins like one, probably holds an older value, which is no longer known
//! (`compared`). The message says no more than the details.

mod compared;
mod starts;

use opal_core::Secret;
use opal_core::class::HIDDEN_ALONE_FROM;
use opal_core::gather;
use opal_core::resource::details::{Diff, Part};
use opal_core::resource::{Details, Direction, Finding};
use opal_vault::verification::ShownDetails;
use opal_vault::{Shown, Vault};

use compared::Compared;

/// In place of what could be an older value.
const OLDER: &str = "[hidden]";

/// What may be seen of a finding.
#[derive(Debug)]
pub(crate) struct ShownFinding {
    pub(crate) message: Shown<'static>,
    pub(crate) details: Option<ShownDetails>,
}

pub(crate) fn shown(finding: &Finding, vault: &Vault, direction: Direction) -> ShownFinding {
    let removed = finding.removed.as_ref().map(Secret::expose);
    let mut hiding = Hiding { vault, removed, older: Vec::new() };
    let details = finding.details.as_ref().map(|details| {
        let seen = hiding.details(details);
        ShownDetails::new(&seen.written(direction), vault)
    });
    let mut older = hiding.older;
    // The longest first: one may be a part of another.
    gather::sort_by_key(&mut older, |text| std::cmp::Reverse(text.len()));
    let message = finding.message.expose().to_owned();
    let message = older.iter().fold(message, |message, text| match text.len() {
        // So short a text may also be part of a word.
        ..HIDDEN_ALONE_FROM => message.replace(&format!("`{text}`"), &format!("`{OLDER}`")),
        _ => message.replace(text, OLDER),
    });
    ShownFinding { message: vault.scrub(&message), details }
}

/// What is hidden of the lines that are there.
struct Hiding<'f> {
    vault: &'f Vault,
    /// What lines that are there, and none are expected instead of, may be an older form of.
    removed: Option<&'f str>,
    /// What was hidden.
    older: Vec<String>,
}

impl Hiding<'_> {
    fn details(&mut self, details: &Details) -> Details {
        let is_diff = |part: &&Part| matches!(part, Part::Diff(_));
        let is_only = details.parts().iter().filter(is_diff).count() == 1;
        let parts = details.parts().iter().map(|part| match part {
            Part::Words(words) => Part::Words(words.clone()),
            Part::Diff(diff) => {
                let (hunks, older) = Compared::new(diff, self.removed, self.vault).hunks(diff);
                self.older.extend(older);
                match diff.is_private {
                    true => Part::Words(Secret::new(in_words(diff, is_only))),
                    false => Part::Diff(Diff { hunks, ..diff.clone() }),
                }
            }
        });
        parts.collect::<Vec<Part>>().into()
    }
}

/// How many lines differ. Where there are several differences, it is said in which file.
fn in_words(diff: &Diff, is_only: bool) -> String {
    let differing = diff.differing();
    let (them, are) =
        if differing == 1 { ("line differs; it", "is") } else { ("lines differ; they", "are") };
    let more = if diff.omitted > 0 { "more than " } else { "" };
    let of = if is_only { String::new() } else { format!("`{}`: ", diff.actual.expose()) };
    format!(
        "{of}{more}{differing} {them} {are} not shown, because only its owner can read the file\n"
    )
}

#[cfg(test)]
mod tests;
