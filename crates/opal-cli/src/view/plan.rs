//! What `opal plan` and contract runs show: plans, what differs between two, and refusals.
//!
//! Deliberately not here: how a plan reads ([`opal_core::view`]) and what counts as a difference
//! ([`opal_core::contract`]).

mod beside;
mod difference;
mod notes;
mod page;
mod program;

use std::collections::BTreeSet;
use std::path::Path;

use opal_core::Registry;
use opal_core::contract::{Change, Contract, Difference, Drift, Verdict};
use opal_core::message::counted;
use opal_core::plan::{Plan, Step};
use opal_core::view::visible;
use opal_core::view::{Facts, Json, PlanFormatter, PlanView, Tree, target_record};
use opal_html::PlanPage;
use opal_ops::source::{Loaded, Selection};
use opal_trust::keys::PublicKey;
use serde_json::json;

use super::ink::Ink;
use super::{check, error_json, failure_text, print, print_bytes, print_json, say};
use crate::checked_file::CheckedFile;
use crate::clock;
use crate::failure::{Exit, Failure};
use crate::options::PlanOptions;
pub(crate) use beside::Beside;
use difference::Steps;
use notes::{missable, notes};

/// A plan in the format of `--format`: `tree`, `json`, `json-compact`, `html` or `cmd:PROGRAM`.
pub(crate) fn show(view: &PlanView<'_>, options: &PlanOptions, ink: Ink) -> Result<Exit, Failure> {
    let mut view = view.clone();
    view.with_defaults = options.defaults;
    view.with_paths = options.paths;
    view.now = Some(clock::unix_time());
    let view = &view;
    match options.format.as_deref().map(|format| (format, format.strip_prefix("cmd:"))) {
        Some((_, Some(program))) => program::pipe(program, &Json.format(view)),
        Some(("json", _)) => print_bytes(&Json.format(view)),
        Some(("json-compact", _)) => print_bytes(&Json.line(view)),
        Some(("html", _)) => print_bytes(&PlanPage.format(view)),
        _ => print_bytes(&Tree { colour: ink.colour }.format(view)),
    }
}

/// How to keep what was shown.
pub(crate) fn output_hint(target: &str) {
    say(&format!(
        "note: nothing was written; add `-o FILE` before `{target}` to write a contract\n"
    ));
}

pub(crate) fn written(path: &Path, steps: usize, values: usize, hash: &str) {
    let (steps, values) = (counted(steps, "step"), counted(values, "value"));
    say(&format!("wrote {}: {steps}, {values}\nPlan Hash: {hash}\n", path.display()));
}

/// Steps that do something, at all depths, as a run counts them: blocks are not steps.
pub(crate) fn count(steps: &[Step]) -> usize {
    opal_core::plan::all(steps).filter(|step| step.is_leaf()).count()
}

/// Where a contract comes from. The key that signed it is written as policies and `opal keys` do.
pub(crate) fn facts(contract: &Contract) -> Facts {
    let signer = contract.provenance().signer.map(|key| PublicKey::from_bytes(key).to_string());
    Facts { signed_by: signer.into_iter().collect(), ..Facts::of(contract) }
}

/// A contract that is whole, openable and accepted.
pub(crate) fn verified(
    path: &Path,
    contract: &Contract,
    state: &str,
    json: bool,
) -> Result<Exit, Failure> {
    let facts = facts(contract);
    let hash = format!("{}:{}", contract.plan().algorithm.name(), contract.plan_hash().hex());
    if json {
        let mut document = json!({
            "version": 1,
            "verified": true,
            "plan_hash": hash,
            "signed_by": facts.signed_by,
            "expires": facts.expires.map(time),
        });
        if !facts.targets.is_empty() {
            document["targets"] = facts.targets.iter().map(target_record).collect();
        }
        return print_json(&document);
    }
    let signed = match facts.signed_by.first() {
        Some(key) => format!("signed by {key}"),
        None => "not signed".to_owned(),
    };
    let path = path.display();
    let mut text =
        format!("{path} is {state} and accepted by the policy; {signed}\nPlan Hash: {hash}\n");
    for target in &facts.targets {
        text.push_str(&visible::line(&format!("Target {}: {}", target.name, target.words())));
        text.push('\n');
    }
    print(&text)
}

/// Two plans side by side: exit 1 where they differ.
pub(crate) fn compared(
    comparison: &Comparison<'_>,
    options: &PlanOptions,
    ink: Ink,
) -> Result<Exit, Failure> {
    if options.is_json() {
        print_json(&differences_json(comparison))?;
    } else if options.is_html() {
        print(&page::document(comparison))?;
    } else {
        print(&differences(comparison, ink.colour))?;
    }
    let verdict = comparison.verdict;
    // Values that could not be compared are not known to be the same; a quick plan is about steps.
    let is_known = verdict.values_compared || comparison.is_quick;
    let same = verdict.is_same() && is_known && comparison.beside.is_empty();
    Ok(if same { Exit::Done } else { Exit::Differs })
}

/// A contract that is not run.
pub(crate) fn refuse(
    comparison: &Comparison<'_>,
    failure: &Failure,
    json: bool,
    ink: Ink,
) -> Result<Exit, Failure> {
    if json {
        let mut document = differences_json(comparison);
        document["error"] = error_json(&failure.message, &failure.help);
        print_json(&document)?;
    }
    say(&refusal(comparison, failure, ink));
    Ok(failure.exit)
}

/// What `--force` passes over.
pub(crate) fn forced(comparison: &Comparison<'_>, ink: Ink) {
    say(&differences(comparison, ink.colour));
    say("warning: --force: the steps of the contract run with the current values\n");
}

/// Which projects a task runs in, and why not in others.
pub(crate) fn selected(selection: &Selection) {
    let mut text = String::new();
    for (project, why) in &selection.omitted {
        text.push_str(&format!("omitted: {}: {}\n", visible::line(project), visible::line(why)));
    }
    if selection.projects.is_empty() {
        text.push_str("no project is selected\n");
    }
    say(&text);
}

/// What is to be known about a contract beside its plan.
pub(crate) fn note(text: &str) {
    say(&format!("note: {}\n", visible::line(text)));
}

/// Nobody has said whose the objects of these types are, so a run of the contract does not compare it.
pub(crate) fn account_not_checked(types: &BTreeSet<&str>) {
    let names: Vec<String> = types.iter().map(|of| format!("`{}`", visible::line(of))).collect();
    note(&format!(
        "account not checked: no recipe says which data source reports the account of {} (`where`)",
        names.join(", ")
    ));
}

/// The source has changed, in these files where it has several, and it does not matter.
pub(crate) fn moved(files: &[String]) {
    let names: Vec<String> =
        files.iter().map(|name| format!("`{}`", visible::line(name))).collect();
    let which = if names.is_empty() { String::new() } else { format!(" in {}", names.join(", ")) };
    note(&format!("the source has changed{which}, but gives the same plan"));
}

/// There is no plan now: why, in the words of the source, then in those of a contract.
pub(crate) fn no_plan(
    files: &[CheckedFile],
    code: Drift,
    failure: &Failure,
    json: bool,
    ink: Ink,
) -> Result<Exit, Failure> {
    if json {
        let mut document = check::document(files);
        document["same"] = false.into();
        document["code"] = code.name().into();
        document["may_be_forced"] = false.into();
        document["error"] = error_json(&failure.message, &failure.help);
        print_json(&document)?;
    } else {
        check::to_stderr(files, ink)?;
    }
    say(&failure_text(failure, ink));
    Ok(failure.exit)
}

/// There is no plan now, because targets are missing or other ones.
pub(crate) fn targets(
    found: &[Difference],
    failure: &Failure,
    json: bool,
    ink: Ink,
) -> Result<Exit, Failure> {
    if json {
        let mut document = json!({
            "version": 1,
            "same": false,
            "differences": found.iter().map(difference::machine_json).collect::<Vec<_>>(),
            "may_be_forced": false,
        });
        if let Some(first) = found.first() {
            document["code"] = first.code.name().into();
        }
        document["error"] = error_json(&failure.message, &failure.help);
        print_json(&document)?;
    }
    let mut out = String::new();
    found.iter().for_each(|one| difference::headline(one, "", ink.colour, &mut out));
    say(&format!("{out}{}", failure_text(failure, ink)));
    Ok(failure.exit)
}

/// A time in UTC.
pub(crate) fn time(unix: i64) -> String {
    opal_core::view::time_text(unix).unwrap_or_else(|| unix.to_string())
}

/// Two plans and what is between them.
#[derive(Clone, Debug)]
pub(crate) struct Comparison<'a> {
    pub(crate) before: &'a Plan,
    pub(crate) after: &'a Plan,
    pub(crate) verdict: &'a Verdict,
    /// What the two are called: `contract` and `now`, `first` and `second`.
    pub(crate) names: [&'a str; 2],
    /// The command that makes a new contract: `opal plan deploy -o prod.plan`.
    pub(crate) new_contract: Option<&'a str>,
    /// The command that shows how resources differ: `opal verify -v deploy`.
    pub(crate) look: Option<&'a str>,
    pub(crate) registry: &'a Registry,
    /// The source of now.
    pub(crate) source: Option<&'a Loaded>,
    /// The files of the source that have changed, where there are several.
    pub(crate) changed_files: Vec<String>,
    /// Whether an older opal made one of them.
    pub(crate) is_older: bool,
    /// Whether the second is a quick plan, of which only the steps count.
    pub(crate) is_quick: bool,
    /// What differs besides the plan.
    pub(crate) beside: &'a [Beside],
}

impl Comparison<'_> {
    /// Whether another package was used, or another version of one.
    fn has_other_packages(&self) -> bool {
        self.beside.iter().any(|one| one.is_package)
    }
}

/// Every difference with its causes, and some of the steps that use a value, for people.
pub(crate) fn differences(comparison: &Comparison<'_>, colour: bool) -> String {
    described(comparison, &Steps::new(comparison), colour)
}

/// The same with all of these steps: nothing is cut where somebody approves it.
pub(crate) fn all_differences(comparison: &Comparison<'_>, colour: bool) -> String {
    described(comparison, &Steps::all(comparison), colour)
}

fn described(comparison: &Comparison<'_>, steps: &Steps<'_>, colour: bool) -> String {
    let verdict = comparison.verdict;
    let mut out = String::new();
    for one in &verdict.differences {
        difference::human(comparison, steps, one, colour, &mut out);
        if one.machine.is_none() {
            out.push('\n');
        }
    }
    if verdict.is_same() {
        let what = if verdict.values_compared { "plans" } else { "steps" };
        let but = if comparison.has_other_packages() { ", but their packages are not" } else { "" };
        out.push_str(&format!("the {what} are the same{but}\n"));
    }
    for one in comparison.beside {
        out.push_str(&format!("{}\n", visible::line(&one.line(comparison.names))));
    }
    if !comparison.changed_files.is_empty() {
        let names = comparison.changed_files.iter().map(|name| visible::line(name));
        let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        out.push_str(&format!("note: changed since the contract: {}\n", names.join(", ")));
    }
    for note in notes(comparison) {
        out.push_str(&format!("note: {}\n", visible::lines(&note)));
    }
    out
}

/// The same for programs.
pub(crate) fn differences_json(comparison: &Comparison<'_>) -> serde_json::Value {
    let verdict = comparison.verdict;
    let steps = Steps::new(comparison);
    let all = verdict.differences.iter().map(|one| difference::json(comparison, &steps, one));
    let mut document = json!({
        "version": 1,
        "same": verdict.is_same() && !comparison.has_other_packages(),
        "differences": all.collect::<Vec<_>>(),
        "may_be_forced": verdict.may_be_forced(),
        "source_moved": verdict.source_moved,
        "values_compared": verdict.values_compared,
    });
    if let Some(code) = verdict.code() {
        document["code"] = code.name().into();
    }
    if let Some(new_contract) = comparison.new_contract {
        document["new_contract"] = new_contract.into();
    }
    let missable = missable(comparison);
    if !missable.is_empty() {
        document["notes"] = missable.into();
    }
    if comparison.is_older {
        document["made_by_older"] = true.into();
    }
    if !comparison.changed_files.is_empty() {
        document["changed_files"] = json!(comparison.changed_files);
    }
    for (member, of_packages) in [("options", false), ("packages", true)] {
        let meant = comparison.beside.iter().filter(|one| one.is_package == of_packages);
        let found: Vec<serde_json::Value> = meant.map(Beside::json).collect();
        if !found.is_empty() {
            document[member] = found.into();
        }
    }
    document
}

/// Why a contract is not run: the differences, then the last words.
pub(crate) fn refusal(comparison: &Comparison<'_>, failure: &Failure, ink: Ink) -> String {
    format!("{}{}", differences(comparison, ink.colour), failure_text(failure, ink))
}

/// The same failure, with what a reader of the differences may do next.
pub(crate) fn hinted(mut failure: Failure, comparison: &Comparison<'_>) -> Failure {
    let verdict = comparison.verdict;
    if comparison.is_older {
        failure = failure.help(
            "an older opal made this contract, without the defaults of arguments: the new \
             contract has them",
        );
    }
    let is_resource = |one: &Difference| one.change == Change::Resource;
    if let Some(look) = comparison.look.filter(|_| verdict.differences.iter().any(is_resource)) {
        failure = failure.help(format!("to see how resources differ now, run `{look}`"));
    }
    if verdict.differences.iter().any(|one| one.machine.is_some()) && verdict.may_be_forced() {
        return failure.help(
            "`--force` accepts changed targets, and omits those that are missing or not in the contract",
        );
    }
    if verdict.may_be_forced() {
        return failure.help("`--force` runs the steps of the contract with the current values");
    }
    failure
}

#[cfg(test)]
mod tests;
