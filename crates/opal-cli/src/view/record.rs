//! What is said of a run that leaves no record, or half of one, and of records that cannot be read.

use super::diagnostics::visible;
use super::say;
use opal_core::message::counted;

/// Nothing can be written, and the run goes on.
pub(crate) fn missing(why: &str, help: &[String]) {
    let mut text = format!("warning: this run has no record: {}\n", visible(why));
    for help in help {
        text.push_str(&format!("  help: {}\n", visible(help)));
    }
    say(&text);
}

/// The record ended before the run did.
pub(crate) fn incomplete(why: &str) {
    say(&format!("warning: the record of this run is incomplete: {}\n", visible(why)));
}

/// A search could not read these records.
pub(crate) fn unread(count: usize, runs: &str) {
    let records = counted(count, "record");
    say(&format!(
        "note: {records} cannot be read; `{} list --limit 1000` names them\n",
        visible(runs)
    ));
}
