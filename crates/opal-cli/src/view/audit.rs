//! What `opal audit verify` shows.

use std::fmt::Write as _;

use opal_core::message::counted;
use opal_vault::record::audit::Finding;
use serde_json::json;

use super::diagnostics::visible;
use super::{print, print_json};
use crate::failure::{Exit, Failure};

/// What was found among so many records. `signed` is about an export: whose signature it has, if any.
pub(crate) fn checked(
    records: usize,
    findings: &[Finding],
    signed: Option<Option<String>>,
    json: bool,
) -> Result<Exit, Failure> {
    let exit = if findings.is_empty() { Exit::Done } else { Exit::Differs };
    if json {
        let found = |one: &Finding| json!({"fault": one.fault.name(), "line": one.line, "record": one.record});
        let mut document = json!({
            "version": 1,
            "records": records,
            "findings": findings.iter().map(found).collect::<Vec<_>>(),
        });
        if let Some(signed) = signed {
            document["signed_by"] = signed.into();
        }
        print_json(&document)?;
        return Ok(exit);
    }
    let mut out = String::new();
    for one in findings {
        let record = one.record.as_deref().unwrap_or("-");
        let _ = writeln!(out, "line {}: {}: {}", one.line, visible(record), one.fault.words());
    }
    let found = match findings.len() {
        0 => "nothing is missing or edited".to_owned(),
        count => counted(count, "finding"),
    };
    let _ = write!(out, "{}: {found}", counted(records, "record"));
    match signed {
        Some(Some(key)) => out.push_str(&format!("; signed by {key}")),
        Some(None) => out.push_str("; not signed: anybody can have made it"),
        None => {}
    }
    out.push('\n');
    print(&out)?;
    Ok(exit)
}
