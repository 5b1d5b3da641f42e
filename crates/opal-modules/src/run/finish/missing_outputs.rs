//! Outputs that were asked for and not reported. Secrets in them cannot be hidden, so this is
//! reported.

use crate::keep::ToolEnd;
use crate::run::active::Reported;
use crate::run::driver::{Tool, Work};

/// What there is to say where a tool was to tell what is in this file, and has not.
pub(super) fn warning(
    work: &Work,
    file: Option<&String>,
    reported: &Reported,
    tools: &[ToolEnd],
) -> Option<String> {
    let at = work.tools.iter().position(|tool| file.is_some() && tool.stdout.as_ref() == file)?;
    let asked = &work.tools[at];
    let end_of = |tool: &Tool| tools.iter().find(|end| end.label == tool.label);
    // Those beside it have printed what it was to tell about, or nobody has.
    let beside = if asked.runs_anyway { at.checked_sub(1) } else { Some(at + 1) };
    beside.and_then(|beside| end_of(work.tools.get(beside)?))?;
    let why = match (reported, end_of(asked)) {
        (Ok(reported), _) if !reported.outputs.values.is_empty() => return None,
        (Ok(_), Some(end)) if end.rc == 0 => return None,
        (Err(_), Some(end)) if end.rc == 0 => "printed unreadable outputs".to_owned(),
        (_, Some(end)) => format!("ended with {}", end.rc),
        (_, None) => "was not run".to_owned(),
    };
    Some(format!(
        "`{}` {why}: secrets among its outputs may be in clear in the evidence and the record of \
         this run",
        asked.label
    ))
}
