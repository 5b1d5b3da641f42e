//! What is said of a run that leaves no record, or half of one.

use super::diagnostics::visible;
use super::say;

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
