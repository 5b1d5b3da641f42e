//! The reports of a run: `--report`.

use std::time::SystemTime;

use opal_core::action::{Halt, Why};
use opal_core::contract::plan_hash;
use opal_core::view::{PlanFormatter as _, PlanView, Tree, step_text, time_text};
use opal_html::{Collector, Leaf};
use opal_ops::planning::record_name;
use opal_vault::Vault;
use opal_vault::event::Status;
use opal_vault::record::Header;
use serde_json::Value;

use super::end::End;
use super::steps::{place, places};
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::options::Asked;
use crate::planning;
use crate::reports::{Reports, approved_text};
use crate::view::run::{Report, came_to, headline};

/// Gathers what the reports of a run are made of.
#[derive(Debug)]
pub(super) struct Reporting {
    reports: Reports,
    collector: Collector,
    began: SystemTime,
    host: Option<String>,
    facts: Vec<(&'static str, String)>,
}

impl Reporting {
    /// Makes sure that they can be written; none where there are none.
    pub(super) fn begin(
        context: &Context<'_>,
        asked: &Asked,
        header: &Header<'_>,
    ) -> Result<Option<Self>, Failure> {
        let Some(reports) = Reports::ready(context, &asked.run.reports)? else { return Ok(None) };
        let since = header.at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let at = i64::try_from(since.as_secs()).ok().and_then(time_text);
        let mut facts = vec![("run", header.id.to_string())];
        facts.extend(at.map(|at| ("started", at)));
        let who = header.user.iter().chain(&header.host).cloned().collect::<Vec<_>>().join("@");
        facts.push(("by", who));
        for (name, value) in header.arguments {
            facts.push(("argument", format!("{name}={value}")));
        }
        facts.extend(header.commit.as_ref().map(|commit| ("commit", commit.clone())));
        if let Some(contract) = &header.contract {
            facts.push(("contract", contract.path.clone()));
            facts.push(("contract digest", format!("sha256:{}", contract.file_digest.hex())));
            let approved = contract.approvals.iter();
            facts.extend(approved.map(|it| {
                ("approved", approved_text(&it.name, &it.key, &it.at, it.note.as_deref()))
            }));
        }
        facts.extend(header.drift.iter().map(|it| ("drift", it.code.to_string())));
        let hash =
            |hash: opal_core::hash::Digest| format!("{}:{}", header.algorithm.name(), hash.hex());
        facts.extend(header.plan_hash.map(|it| ("plan hash", hash(it))));
        facts.push(("opal", header.version.to_owned()));
        let (began, host) = (header.at, header.host.clone());
        let collector = Collector::default();
        Ok(Some(Self { reports, collector, began, host, facts }))
    }

    pub(super) fn collector(&self) -> &Collector {
        &self.collector
    }

    /// Writes them; gives the exit code of a run that did not fail where that was not possible.
    pub(super) fn write(
        &self,
        end: &End<'_>,
        context: &Context<'_>,
        report: &Report<'_>,
        json: &dyn Fn() -> Value,
        vault: &Vault,
    ) -> Option<Exit> {
        let shown = |text: &str| vault.scrub(text).text().into_owned();
        let plan = &end.errand.resolved.plan;
        let is_cut =
            matches!(end.outcome.halt, Some(Halt::Stopped(Why::Signal(_) | Why::TimedOut)));
        let failed: Vec<&str> =
            end.outcome.failed.iter().chain(&end.outcome.beside).map(|it| &*it.path).collect();
        let failed = if report.status == Status::Executed { Vec::new() } else { failed };
        let leaves = leaves(end, context, vault);
        let cases = self.collector.cases(leaves, self.began, &failed, is_cut, vault);
        let is_good = matches!(report.status, Status::Executed | Status::Drifted);
        let trouble = (!is_good && !cases.iter().any(opal_html::Case::is_bad)).then(|| {
            let usual = || format!("the run ended with exit code {}", report.code);
            report.failed.as_ref().map_or_else(usual, headline)
        });
        let mut view = PlanView::new(plan, plan_hash(plan)).with_registry(&context.registry);
        view.places = places(plan, end.errand.subject.loaded);
        let tree = Tree { colour: false }.format(&view);
        let mut facts = self.facts.clone();
        if let Some((_, commit)) = facts.iter_mut().find(|(name, _)| *name == "commit")
            && planning::is_modified(&end.errand.subject.loaded.files()) == Some(true)
        {
            commit.push_str(", modified");
        }
        facts.iter_mut().for_each(|(_, text)| *text = shown(text));
        let whole = opal_html::Report {
            name: shown(record_name(&end.errand.subject.loaded.path, plan)),
            status: if is_good { "done".to_owned() } else { report.status.name().to_owned() },
            is_good,
            summary: came_to(report),
            trouble,
            at: self.began,
            took: report.took,
            host: self.host.clone(),
            facts,
            fleets: end.outcome.fleets.clone(),
            cases,
            plan: Some(vault.scrub_bytes(&tree).text().into_owned()),
        };
        self.reports.write(&whole, json)
    }
}

/// The leaf steps of the plan, and the blocks that may fail by themselves.
fn leaves(end: &End<'_>, context: &Context<'_>, vault: &Vault) -> Vec<Leaf> {
    let (plan, loaded) = (&end.errand.resolved.plan, end.errand.subject.loaded);
    let leaf = |step: &opal_core::plan::Step| Leaf {
        path: step.path.clone(),
        text: vault.scrub(&step_text(plan, step, Some(&context.registry))).text().into_owned(),
        place: Some(place(step, loaded, context.ambient)),
        is_block: !step.is_leaf(),
    };
    plan.all_steps().map(leaf).collect()
}
