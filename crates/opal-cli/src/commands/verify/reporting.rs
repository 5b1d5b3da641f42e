//! The reports of a verification: `--report`.

use opal_core::resource::Status;
use opal_html::{Case, Check, Outcome, Printed, Report, Span};
use opal_plan::plan::Resolved;
use opal_vault::verification::Verification;

use crate::context::Context;
use crate::failure::Exit;
use crate::reports::Reports;
use crate::view::verify::{Findings, document, summary_line};
use crate::{clock, planning};

/// Writes them; gives the exit code of a verification in which all is satisfied where that was not
/// possible.
pub(super) fn write(
    reports: &Reports,
    context: &Context<'_>,
    findings: &Findings<'_>,
    resolved: &Resolved,
) -> Option<Exit> {
    let found = &findings.report.verifications;
    let began = found.iter().map(|it| it.at).min().unwrap_or_else(clock::now);
    let is_good = found.iter().all(|it| it.status == Status::Satisfied);
    let user = context.ambient.user.iter().cloned();
    let by = user.chain([planning::host()]).collect::<Vec<_>>().join("@");
    let report = Report {
        name: match resolved.plan.target.name.as_str() {
            opal_core::plan::Target::SCRIPT => findings.file.to_owned(),
            target => target.to_owned(),
        },
        status: if is_good { "satisfied" } else { "not satisfied" }.to_owned(),
        is_good,
        summary: summary_line(findings.report),
        trouble: None,
        at: began,
        took: findings.report.took,
        host: Some(planning::host()),
        facts: vec![
            ("source", findings.file.to_owned()),
            ("by", by),
            ("opal", env!("CARGO_PKG_VERSION").into()),
        ],
        fleets: Vec::new(),
        cases: found.iter().map(|it| case(it, began)).collect(),
        plan: None,
    };
    let json = || document(findings.file, findings.report, None);
    reports.write(&report, &json)
}

fn case(found: &Verification, began: std::time::SystemTime) -> Case {
    let outcome = match found.status {
        Status::Satisfied => Outcome::Passed,
        Status::Missing | Status::Drifted => Outcome::Failed,
        Status::Blocked => Outcome::Error,
        Status::Unknown => Outcome::Skipped,
    };
    let name = found.name.as_ref().map(|name| format!(" ({})", name.text())).unwrap_or_default();
    let start = found.at.duration_since(began).unwrap_or_default();
    let blocked = found.blocked.as_ref().map(|blocked| blocked.error.text().into_owned());
    Case {
        path: found.path.clone(),
        target: found.target.as_deref().map(str::to_owned),
        text: format!("{}{name}: {}", found.id, found.key.text()),
        place: None,
        outcome,
        status: found.status.name(),
        message: Some(blocked.unwrap_or_else(|| found.message.text().into_owned())),
        spans: vec![Span { start, took: found.took, is_good: outcome == Outcome::Passed }],
        printed: Printed::default(),
        checks: vec![Check {
            status: found.status,
            message: found.message.text().into_owned(),
            details: found.details.as_ref().map(|details| details.text().into_owned()),
        }],
        lane: None,
    }
}
