//! The formats that a plan is shown in.

use crate::failure::Failure;

pub(super) fn check_format(format: &str) -> Result<(), Failure> {
    let program = format.strip_prefix("cmd:").is_some_and(|program| !program.trim().is_empty());
    if program || matches!(format, "tree" | "json" | "json-compact" | "html") {
        return Ok(());
    }
    Err(Failure::usage(
        format!("unknown plan format `{format}`"),
        "expected one of: tree, json, json-compact, html, cmd:PROGRAM, as in `--format 'cmd:jq .steps'`",
    ))
}
