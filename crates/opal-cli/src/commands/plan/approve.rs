//! `opal plan approve` and `opal plan reject`: a person says yes or no to a contract that was shown to them.

use clap::ArgMatches;
use opal_core::contract::approval::{Decision, MAX_NOTE, Statement};
use opal_core::contract::{self, Contract};
use opal_core::hash::{Algorithm, Digest};
use opal_ops::contract::{Case, approved_last, kinship};
use opal_trust::contracts::peek;
use opal_trust::policy::Policy;
use opal_vault::ledger::Ledger;
use opal_vault::root::Root;

use super::approver::Approver;
use super::file::refused;
use super::named::Named;
use super::trust::{self, Required};
use crate::clock::unix_time;
use crate::commands::run::current::policed;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::options::PlanOptions;
use crate::prompts;
use crate::view::approval::{self, Shown};

pub(crate) fn run(
    context: &Context<'_>,
    matches: &ArgMatches,
    decision: Decision,
) -> Result<Exit, Failure> {
    let given = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let root = matches.get_one("root");
    let named = Named::find(context, root, given("file").unwrap_or_default())?;
    let contract = peek(&named.bytes).map_err(|why| refused(&named.shown, why.into(), None))?;
    if contract.has_unknown_parts() {
        let message = format!(
            "`{}` was made by a newer opal, and has parts that this one cannot show",
            named.shown.display()
        );
        return Err(Failure::new(Exit::Source, message, "approve it with that version"));
    }
    let note = given("note").map(noted).transpose()?;
    let policy = policy(context, root, &contract)?;
    let case = Case { contract: &contract, id: named.id() };
    let rules = case.rules(&policy);
    let root = context.root(root);
    let approver = Approver::find(given("key"), root.as_ref(), &rules)?;
    let ledger = root.as_ref().map(Ledger::new);
    let before = ledger.and_then(|it| approved_last(it, &contract, &approver.file.signer));
    let before = before.filter(|(_, bytes)| *bytes != named.bytes);
    let compared =
        before.as_ref().map(|(before, _)| contract::diff(before, &contract, &context.registry));
    let shown = Shown {
        case: &case,
        path: &named.shown,
        policy: &policy,
        rules: &rules,
        signer: &approver.file,
        is_reachable: approver.is_reachable(),
        before: before.as_ref().map(|(contract, _)| contract).zip(compared.as_ref()),
        decision,
    };
    let compared = before.as_ref().map(|(_, bytes)| Algorithm::Sha256.digest(&[bytes]));
    let json = matches.get_flag("json");
    if matches.get_flag("show") {
        return approval::preview(context, &shown, compared, json);
    }
    let by_touch = matches.get_flag("touch");
    can_answer(context, decision, by_touch, &approver)?;
    is_as_shown(given("compared"), compared)?;
    if !(by_touch && json) {
        approval::show(context, &shown)?;
    }
    if !by_touch {
        confirm(context, decision, &contract, &named)?;
    }
    let (signed, is_touched) = approver.sign(statement(&shown, note, compared))?;
    if by_touch && !is_touched {
        return Err(Failure::new(
            Exit::NotTrusted,
            "the key signed without a touch, so nobody has answered; nothing was written",
            "use a key that was made without `-O no-touch-required`, or answer on a terminal",
        ));
    }
    let file = named.add(&signed)?;
    if let Some(root) = &root {
        keep(root, &shown, &named, &signed.to_line());
    }
    approval::signed(&shown, &signed, &file, json)
}

fn statement(shown: &Shown<'_>, note: Option<String>, compared: Option<Digest>) -> Statement {
    let plan = shown.case.contract.plan();
    Statement {
        decision: shown.decision,
        contract: shown.case.id,
        algorithm: plan.algorithm,
        plan_hash: shown.case.contract.plan_hash(),
        target: plan.target.name.clone(),
        at: unix_time(),
        note,
        compared,
    }
}

/// Whether the differences are those that somebody has shown to the person.
fn is_as_shown(expected: Option<&str>, compared: Option<Digest>) -> Result<(), Failure> {
    let compared = compared.map_or_else(|| "none".to_owned(), |it| it.hex());
    match expected {
        Some(expected) if expected != compared => Err(Failure::new(
            Exit::Refused,
            "the key has approved another contract since this one was shown; nothing was signed",
            "look at what differs again",
        )),
        _ => Ok(()),
    }
}

/// Whether somebody can say yes or no: on a terminal, or by touching the key.
fn can_answer(
    context: &Context<'_>,
    decision: Decision,
    by_touch: bool,
    approver: &Approver,
) -> Result<(), Failure> {
    let is_hardware = approver.file.signer.is_hardware();
    match by_touch {
        true if is_hardware => Ok(()),
        true => Err(Failure::usage(
            format!(
                "`--touch` needs a hardware key; {} is none",
                approver.file.signer.fingerprint()
            ),
            "name one with `--key FILE`, or answer on a terminal",
        )),
        false if prompts::can_ask(context) => Ok(()),
        false => {
            let help = match is_hardware {
                true => "run it on a terminal, or answer by touching the key: `--touch`",
                false => "run it on a terminal",
            };
            let name = decision.name();
            let message =
                format!("nobody can be asked: `opal plan {name}` shows the contract and asks");
            Err(Failure::usage(message, help))
        }
    }
}

/// What this machine knows of it from now on. A ledger that cannot be written changes nothing of what was
/// signed.
fn keep(root: &Root, shown: &Shown<'_>, named: &Named, line: &str) {
    let ledger = Ledger::new(root);
    let is_listed = shown.rules.iter().any(|rule| rule.person(&shown.signer.signer).is_some());
    let kept = match shown.decision {
        // What was signed first: without it, nobody knows who approved the contract.
        Decision::Approve => ledger.approve(&shown.case.id, line).and_then(|()| {
            let kin = kinship(shown.case.contract, &shown.signer.signer);
            ledger.keep_approved(&kin, &named.bytes)
        }),
        Decision::Reject if is_listed => ledger.reject(&shown.case.id, line),
        Decision::Reject => Ok(()),
    };
    if let Err(error) = kept {
        crate::view::plan::note(&error.to_string());
    }
}

/// The rules that hold for a contract here, those of its project included.
pub(super) fn policy(
    context: &Context<'_>,
    root: Option<&std::path::PathBuf>,
    contract: &Contract,
) -> Result<Policy, Failure> {
    let sources = policed(contract, None);
    let options = PlanOptions { root: root.cloned(), ..PlanOptions::default() };
    trust::policy(context, &options, &Required::default(), &sources)
}

fn noted(note: &str) -> Result<String, Failure> {
    if note.chars().count() > MAX_NOTE {
        let message = format!("`--note` has more than {MAX_NOTE} characters");
        return Err(Failure::usage(message, "shorten it"));
    }
    Ok(note.to_owned())
}

/// Any answer but yes ends it.
fn confirm(
    context: &Context<'_>,
    decision: Decision,
    contract: &Contract,
    named: &Named,
) -> Result<(), Failure> {
    let (verb, target) = (decision.name(), &contract.plan().target.name);
    let verb = format!("{}{}", verb[..1].to_uppercase(), &verb[1..]);
    let digest = &named.id().hex()[..12];
    let target = crate::view::diagnostics::visible(target);
    let label = format!("{verb} `{target}`, contract {digest}? [y/N] ");
    if prompts::confirm(context, &label)? {
        return Ok(());
    }
    Err(Failure::new(Exit::Step(130), "nothing was signed", "answer `y` to sign"))
}
