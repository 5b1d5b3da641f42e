//! The reports of a blueprint: the cases of all its runs, in one.

use std::time::SystemTime;

use opal_core::message::counted;
use opal_html::{Case, Outcome, Printed, Report};
use opal_modules::{Blueprint, Step};
use opal_ops::blueprint::Done;

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::options::Asked;
use crate::reports::{Gathered, Reports, moved};
use crate::view::blueprint as view;

/// Gathers what the reports of a blueprint are made of.
pub(super) struct Reporting<'r> {
    context: &'r Context<'r>,
    /// None where nobody has asked for a report.
    reports: Option<Reports>,
    began: SystemTime,
    cases: Vec<Case>,
    facts: Vec<(&'static str, String)>,
    plans: Vec<String>,
    runs: Vec<serde_json::Value>,
}

impl<'r> Reporting<'r> {
    pub(super) fn begin(context: &'r Context<'r>, asked: &Asked) -> Result<Self, Failure> {
        let reports = Reports::ready(context, &asked.run.reports)?;
        context.reported.gather();
        let (cases, facts, plans, runs) = Default::default();
        Ok(Self { context, reports, began: crate::clock::now(), cases, facts, plans, runs })
    }

    /// Takes what the runs of a step have reported. `why` says why it did not run, or not to its end.
    pub(super) fn step(&mut self, step: &Step, done: Done, why: Option<&str>) {
        if self.reports.is_none() {
            return;
        }
        let before = self.cases.len();
        for Gathered { report, json } in self.context.reported.gather() {
            self.add(step, report);
            self.runs.extend(json);
        }
        let is_bad = matches!(done, Done::Failed | Done::Cancelled | Done::Differs);
        let is_told = self.cases[before..].iter().any(Case::is_bad);
        if self.cases.len() == before || is_bad && !is_told {
            self.cases.push(whole(step, done, why));
        }
        if step.optional {
            // Its failure does not count, like one that was caught.
            for case in self.cases[before..].iter_mut().filter(|case| case.is_bad()) {
                (case.outcome, case.status) = (Outcome::Passed, "failed, optional");
            }
        }
    }

    fn add(&mut self, step: &Step, report: Report) {
        let runs = report.facts.into_iter().filter(|(name, _)| *name == "run");
        self.facts.extend(runs.map(|(name, text)| (name, format!("{}: {text}", step.id))));
        self.plans.extend(report.plan);
        let later = report.at.duration_since(self.began).unwrap_or_default();
        self.cases.extend(moved(report.cases, &step.id, later));
    }

    /// Writes them; gives the exit code of a blueprint that did not fail where that was not possible.
    pub(super) fn write(self, blueprint: &Blueprint, ended: &view::Ended<'_>) -> Option<Exit> {
        self.context.reported.write_again();
        let reports = self.reports?;
        let (_, words) = ended.status();
        let is_good = ended.error.is_none() && !ended.differs;
        let took = crate::clock::now().duration_since(self.began).unwrap_or_default();
        let is_told = is_good || self.cases.iter().any(Case::is_bad);
        let trouble = (!is_told).then(|| {
            ended.error.as_ref().map_or_else(|| words.to_owned(), |error| error.message.clone())
        });
        let mut facts = self.facts;
        facts.push(("opal", env!("CARGO_PKG_VERSION").to_owned()));
        let report = Report {
            name: blueprint.blueprint_ref.to_string(),
            status: if is_good { "done".to_owned() } else { words.to_owned() },
            is_good,
            summary: summary(ended.steps, took),
            trouble,
            at: self.began,
            took,
            host: Some(crate::planning::host()),
            facts,
            fleets: Vec::new(),
            cases: self.cases,
            plan: (!self.plans.is_empty()).then(|| self.plans.join("\n")),
        };
        reports.write(&report, &|| view::document(blueprint, ended, self.runs.clone()))
    }
}

/// A step that has no cases of its own.
fn whole(step: &Step, done: Done, why: Option<&str>) -> Case {
    let (outcome, status) = match done {
        Done::Ok => (Outcome::Passed, "done"),
        Done::Skipped => (Outcome::Skipped, "skipped"),
        Done::NotRun => (Outcome::Skipped, "not run"),
        Done::Differs => (Outcome::Failed, "drifted"),
        Done::Failed => (Outcome::Error, "failed"),
        Done::Cancelled => (Outcome::Error, "stopped"),
    };
    let usual = (done == Done::Skipped).then_some("already applied");
    Case {
        path: step.id.as_str().into(),
        target: None,
        text: format!("{} {}", step.action, step.module_ref),
        place: None,
        outcome,
        status,
        message: why.or(usual).map(str::to_owned),
        spans: Vec::new(),
        printed: Printed::default(),
        checks: Vec::new(),
        lane: None,
    }
}

fn summary(steps: &[(&Step, Done)], took: std::time::Duration) -> String {
    let names = [
        (Done::Ok, "ok"),
        (Done::Skipped, "skipped"),
        (Done::Differs, "drifted"),
        (Done::Failed, "failed"),
        (Done::Cancelled, "cancelled"),
        (Done::NotRun, "not run"),
    ];
    let count = |done: Done| steps.iter().filter(|(_, found)| *found == done).count();
    let counts = names.iter().map(|(done, name)| (count(*done), name)).filter(|(it, _)| *it > 0);
    let counts: Vec<String> = counts.map(|(count, name)| format!("{count} {name}")).collect();
    let took = opal_core::duration::rounded(took);
    format!("{}: {} in {took}", counted(steps.len(), "step"), counts.join(", "))
}
