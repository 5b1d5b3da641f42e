//! What a person sees before they sign, and afterwards; and the inbox.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use opal_core::contract::approval::{Approval, Decision};
use opal_core::contract::{Contract, PluginRecord, Verdict};
use opal_core::hash::Digest;
use opal_core::view::visible::line as visible;
use opal_core::view::{PlanFormatter as _, PlanView, Tree, marks};
use opal_ops::contract::Case;
use opal_trust::approvals::KeyFile;
use opal_trust::policy::{Policy, Rule};
use serde_json::json;

use super::ink::Ink;
use super::plan::{Comparison, all_differences, facts, time};
use super::{print, print_json, say};
use crate::clock;
use crate::context::Context;
use crate::failure::{Exit, Failure};

/// A contract that somebody is about to sign something about.
pub(crate) struct Shown<'s> {
    pub(crate) case: &'s Case<'s>,
    pub(crate) path: &'s Path,
    pub(crate) policy: &'s Policy,
    /// Those that match.
    pub(crate) rules: &'s [&'s Rule],
    pub(crate) signer: &'s KeyFile,
    /// Whether other processes can sign with the key.
    pub(crate) is_reachable: bool,
    /// The contract of this kind that the key approved last, and what differs.
    pub(crate) before: Option<(&'s Contract, &'s Verdict)>,
    pub(crate) decision: Decision,
}

/// Everything that is signed, on the terminal. Nothing of it is folded or cut.
pub(crate) fn show(context: &Context<'_>, shown: &Shown<'_>) -> Result<Exit, Failure> {
    // The question is below it.
    print(&(document(context, shown) + "\n"))
}

/// The same for whoever shows it elsewhere, with the digest of what it is compared with.
pub(crate) fn preview(
    context: &Context<'_>,
    shown: &Shown<'_>,
    compared: Option<Digest>,
    json: bool,
) -> Result<Exit, Failure> {
    let document = document(context, shown);
    if !json {
        return print(&document);
    }
    print_json(&json!({
        "version": 1,
        "contract": shown.case.id.hex(),
        "compared": compared.map(|it| it.hex()),
        "document": document,
    }))
}

fn document(context: &Context<'_>, shown: &Shown<'_>) -> String {
    let contract = shown.case.contract;
    let mut out = String::new();
    match shown.before {
        Some((before, verdict)) => {
            let comparison = Comparison {
                before: before.plan(),
                after: contract.plan(),
                verdict,
                names: ["approved", "new"],
                new_contract: None,
                look: None,
                registry: &context.registry,
                source: None,
                changed_files: Vec::new(),
                is_older: before.is_older() || contract.is_older(),
                is_quick: false,
                beside: &crate::commands::plan::beside(before, contract),
            };
            let made = time(before.created());
            let _ = writeln!(
                out,
                "Differences from the contract of {made}, which you approved last:\n"
            );
            out.push_str(&all_differences(&comparison, context.out().colour));
            let path = shown.path.display().to_string();
            let _ = writeln!(out, "\nThe whole plan: opal plan show {}", visible(&path));
        }
        None => {
            let mut view = PlanView::new(contract.plan(), contract.plan_hash())
                .with_registry(&context.registry)
                .with_facts(facts(contract))
                .with_notes(marks(contract.plan(), &|_| true));
            view.now = Some(clock::unix_time());
            view.is_whole = true;
            let tree = Tree { colour: context.out().colour }.format(&view);
            out.push_str(&String::from_utf8_lossy(&tree));
        }
    }
    out.push('\n');
    out.push_str(&about(shown, context.out()));
    out
}

/// Who made it, of what, how it runs here, and what nobody can see in it.
fn about(shown: &Shown<'_>, ink: Ink) -> String {
    let (bold, reset) = if ink.colour { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    let contract = shown.case.contract;
    let facts = facts(contract);
    let (is_commit, environment) = shown.case.fixed(shown.policy);
    let mut out = String::new();
    let mut line = |name: &str, text: String| {
        let _ = writeln!(out, "{bold}{name:<12}{reset}{}", visible(&text));
    };
    let path = shown.path.display();
    line("Contract", format!("{path}  sha256:{}", shown.case.id.hex()));
    let by = facts.generated_by.as_deref().unwrap_or("unknown");
    let signed = match facts.signed_by.first() {
        Some(key) => format!("signed by {key}"),
        None => "not signed: anybody can have made it".to_owned(),
    };
    line("Made", format!("{} by {by}; {signed}", time(contract.created())));
    line(
        "Commit",
        match (&facts.source_commit, facts.source_modified) {
            (Some(commit), false) => commit.clone(),
            (Some(commit), true) => format!("{commit}, with changes that are not committed"),
            (None, _) => "none: the source is not in a repository".to_owned(),
        },
    );
    let packages: BTreeSet<String> = contract.provenance().plugins.iter().map(described).collect();
    let labels = std::iter::once("Packages").chain(std::iter::repeat(""));
    labels.zip(packages).for_each(|(label, package)| line(label, package));
    line("Expires", facts.expires.map_or_else(|| "never".to_owned(), time));
    line(
        "Checkout",
        match is_commit {
            true => "policy: a fresh checkout of this commit".to_owned(),
            false => {
                "not fixed by the policy here: scripts and programs of the working tree can change"
                    .to_owned()
            }
        },
    );
    line(
        "Variables",
        match environment {
            Some(fixed) => {
                let names = fixed.entries().map(|(name, value)| match value {
                    Some(value) => format!("{name}={value}"),
                    None => name.to_owned(),
                });
                let names: Vec<String> = names.collect();
                format!("policy: only {}", names.join(" "))
            }
            None => {
                "not fixed by the policy here: programs see the variables of the runner".to_owned()
            }
        },
    );
    let comment = shown.signer.comment.as_deref().unwrap_or_default();
    line("Key", format!("{} {comment}", shown.signer.signer.fingerprint()));
    out.push_str(&unseen(contract, bold, reset));
    out.push_str(&warnings(shown));
    out
}

/// Which code a package is, and what it may do.
fn described(package: &PluginRecord) -> String {
    let checksum = package.checksum.as_deref().unwrap_or("without a checksum");
    let engine = package.engine.as_deref().map(|it| format!("; engine {it}")).unwrap_or_default();
    let may = match &package.capabilities[..] {
        [] => String::new(),
        all => format!("; may use {}", all.join(", ")),
    };
    format!("{} {}  {checksum}{engine}{may}", package.name, package.version)
}

fn unseen(contract: &Contract, bold: &str, reset: &str) -> String {
    let plan = contract.plan();
    let hidden = plan.values.iter().filter(|(_, value)| value.public.is_none());
    let mut out = String::new();
    for (key, value) in hidden {
        if out.is_empty() {
            let _ = writeln!(out, "\n{bold}You approve these unseen:{reset}");
        }
        let roots: Vec<&str> = value.roots.iter().map(|root| &**root).collect();
        let from = match &roots[..] {
            [one] if **one == **key => String::new(),
            [] => String::new(),
            several => format!("  from {}", several.join(", ")),
        };
        let _ = writeln!(out, "  {}  {}{}", visible(key), value.placeholder, visible(&from));
    }
    out
}

fn warnings(shown: &Shown<'_>) -> String {
    let mut out = String::new();
    let key = &shown.signer.signer;
    let listed = shown.rules.iter().any(|rule| rule.person(key).is_some());
    if shown.rules.iter().any(|rule| rule.needs_people()) && !listed {
        out.push_str(
            "warning: this key is in no approval rule of the policy here; it counts for nothing\n",
        );
    }
    if shown.is_reachable {
        out.push_str(
            "warning: every process that reaches your SSH agent can sign with this key: other hosts with \
             agent forwarding, steps, providers; `ssh-add -c` or a hardware key prevents it\n",
        );
    }
    if out.is_empty() { out } else { format!("\n{out}") }
}

/// What was signed, and where it is.
pub(crate) fn signed(
    shown: &Shown<'_>,
    approval: &Approval,
    file: &Path,
    json: bool,
) -> Result<Exit, Failure> {
    let statement = &approval.statement;
    if json {
        return print_json(&json!({
            "version": 1,
            "decision": statement.decision.name(),
            "contract": statement.contract.hex(),
            "plan_hash": statement.algorithm.written(&statement.plan_hash),
            "target": statement.target,
            "at": time(statement.at),
            "note": statement.note,
            "compared": statement.compared.map(|it| it.hex()),
            "key": shown.signer.signer.to_string(),
            "file": file.display().to_string(),
        }));
    }
    let done = match statement.decision {
        Decision::Approve => "approved",
        Decision::Reject => "rejected",
    };
    say(&format!("{done}; the signature is in {}\n", visible(&file.display().to_string())));
    Ok(Exit::Done)
}
