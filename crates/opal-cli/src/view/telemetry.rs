//! What is said of telemetry.

use super::diagnostics::visible;
use super::{print, say};
use crate::failure::{Exit, Failure};
use crate::telemetry::Sent;
use opal_core::message::counted;

/// A run went as it went; what it would have told others is missing there.
pub(crate) fn unsent(failure: &Failure, again: Option<&str>) {
    let mut text = format!("warning: telemetry was not sent: {}\n", visible(&failure.message));
    for help in failure.help.iter().filter(|help| !help.is_empty()) {
        text.push_str(&format!("  help: {}\n", visible(help)));
    }
    if let Some(again) = again {
        text.push_str(&format!("  help: send it again with `{}`\n", visible(again)));
    }
    say(&text);
}

pub(crate) fn sent(id: &str, sent: &Sent) -> Result<Exit, Failure> {
    let spans = counted(sent.spans, "span");
    let points = counted(sent.points, "data point");
    print(&format!("Sent {spans} and {points} of {id} to {}.\n", visible(&sent.to)))
}
