//! Contracts that are refused: wording, hints and exit codes.

use std::collections::BTreeSet;
use std::path::Path;

use opal_core::Value;
use opal_core::contract::{Cause, Difference, Drift, Verdict};
use opal_ops::contract::{self, Refusal};
use opal_trust::approvals::Unmet;
use opal_trust::keys::OpenError;
use opal_trust::policy;

use super::{Exit, Failure};
use crate::tasks::quoted;

/// Which file is refused, and to whom.
pub(crate) struct Refused<'r> {
    /// The file, as it was named.
    pub(crate) path: &'r Path,
    /// The public key of this machine, where it is worth saying.
    pub(crate) own: Option<&'r str>,
    /// The command that makes a new contract, where it is known.
    pub(crate) again: &'r dyn Fn() -> Option<String>,
}

/// Makes a new contract of anything.
const USUAL: &str = "opal plan TASK -o FILE";

impl Refused<'_> {
    /// The words for a refusal.
    pub(crate) fn failure(&self, refusal: &Refusal) -> Failure {
        let of_file = |exit, help: String| {
            Failure::new(exit, format!("`{}` is refused: {refusal}", self.path.display()), help)
        };
        let new = |words: &str| format!("make a new contract: `{words}`");
        let failure = match refusal {
            Refusal::Damaged(_) | Refusal::OtherVersion(_) | Refusal::OtherSeed => {
                of_file(Exit::Refused, new(USUAL))
            }
            Refusal::SealedToOthers => self.sealed_to_others(),
            Refusal::EnvelopeDamaged(error) => of_file(Exit::Refused, error.help().to_owned()),
            Refusal::ForgedSignature(_) => {
                of_file(Exit::NotTrusted, "get the file again from its signer".to_owned())
            }
            Refusal::Policy(all) => {
                let failure = forbidden(all);
                match (self.again)().filter(|_| all.iter().any(policy::Refusal::needs_new_contract))
                {
                    Some(again) => failure.help(format!("it was made with `{again}`")),
                    None => failure,
                }
            }
            Refusal::Unapproved(unmet) => self.unapproved(unmet),
            Refusal::Rejected(_)
            | Refusal::Ungated
            | Refusal::KeyInReach(_)
            | Refusal::OptionForbidden(_) => of_file(Exit::NotTrusted, gated(refusal).to_owned()),
            Refusal::Ledger(error) => of_file(Exit::NotTrusted, error.help()),
            Refusal::Expired { .. } | Refusal::Used => {
                of_file(Exit::Refused, new((self.again)().as_deref().unwrap_or(USUAL)))
            }
            Refusal::OtherOrder => {
                of_file(Exit::Refused, new((self.again)().as_deref().unwrap_or(USUAL)))
            }
            Refusal::ShareEnded(_) => {
                of_file(Exit::Refused, "nothing is left to do: its result is in its record".into())
            }
            Refusal::NotPlannable { .. } => {
                let message = format!("{refusal}; nothing was run");
                let help = "fix the errors above, and run it again";
                Failure::new(Exit::Refused, message, help)
            }
            Refusal::Targets(found) => {
                let message = format!("{refusal}; nothing was run");
                let again = (self.again)();
                let help = machines(found, again.as_deref());
                let help = needed(found).map_or_else(|| help.clone(), |it| format!("{it}; {help}"));
                Failure::new(Exit::Refused, message, help)
            }
            Refusal::HostKey(trouble) => {
                let failure = Failure::target(trouble.clone());
                let message = format!("{}; nothing was run", failure.message);
                Failure { message, ..failure }
            }
            Refusal::Differs(compared) => differs(&compared.verdict, (self.again)().as_deref()),
            Refusal::PackagesChanged(_) => {
                let message = format!("{refusal}; nothing was run");
                let again = (self.again)();
                let again = again.as_deref().unwrap_or(USUAL);
                let help = format!("if the change is intended, make a new contract: `{again}`");
                Failure::new(Exit::Refused, message, help)
            }
            Refusal::SourceChanged(_) => {
                let help = "without `--strict-source` only the plan is compared";
                Failure::new(Exit::Refused, refusal.to_string(), help)
            }
        };
        failure.refusing(refusal.reason())
    }

    /// What approval rules demand: what is missing, whose approvals count, and the command.
    fn unapproved(&self, unmet: &[Unmet]) -> Failure {
        let path = self.path.display().to_string();
        let first =
            unmet.first().map_or_else(|| "it is not approved".to_owned(), ToString::to_string);
        let message = format!("`{path}` is refused: {first}; nothing was run");
        let approve = format!("a person approves it with `opal plan approve {}`", quoted(&path));
        let mut help = Vec::new();
        for (index, one) in unmet.iter().enumerate() {
            if index > 0 {
                help.push(one.to_string());
            }
            let Unmet::Approvals { accepted, ignored, .. } = one else {
                help.extend(one.help());
                continue;
            };
            for line in ignored {
                help.push(format!(
                    "an approval does not count: {}: {}",
                    line.who,
                    line.why.words()
                ));
            }
            help.push(format!("these keys count: {}", accepted.join(", ")));
            help.push(approve.clone());
        }
        Failure { help, ..Failure::new(Exit::NotTrusted, message, "") }
    }

    fn sealed_to_others(&self) -> Failure {
        let key = self.own.map_or_else(String::new, |key| format!("; its key is {key}"));
        let message = format!(
            "`{}` is refused: {}{key} (infra_missing:seed_keystore)",
            self.path.display(),
            Refusal::SealedToOthers
        );
        let help = match self.own {
            Some(key) => format!(
                "make it again with `--recipient {key}`, or give a key that can open it with \
                 `--identity`"
            ),
            None => OpenError::NotARecipient.help().to_owned(),
        };
        Failure::new(Exit::Refused, message, help)
    }
}

/// What to do about a refusal of the gate.
const fn gated(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Ungated => {
            "a rule is in `/etc/opal/policy.toml`, or in `config/policy.toml` of the runtime root: \
             `[[approval]]`, with `by`; rules of a project do not count for this"
        }
        Refusal::Rejected(_) => "ask them, and make a new contract",
        Refusal::KeyInReach(_) => {
            "run contracts under another account than the people who approve, or protect the key: \
             `ssh-keygen -p -f FILE`"
        }
        _ => "omit it; what people approved is the whole contract as it is",
    }
}

/// Everything that the policy has against a contract.
fn forbidden(refusals: &[policy::Refusal]) -> Failure {
    let Some((first, others)) = refusals.split_first() else {
        return Failure::new(
            Exit::NotTrusted,
            "the policy forbids it",
            "ask the owner of the policy",
        );
    };
    let failure = Failure::new(Exit::NotTrusted, first.to_string(), first.help());
    let others = others.iter().map(|other| format!("{other}: {}", other.help()));
    others.fold(failure, Failure::help)
}

/// The plan of now is not the contract's. `again` is the command that makes a new contract.
pub(crate) fn differs(verdict: &Verdict, again: Option<&str>) -> Failure {
    let help = match again {
        _ if verdict.differences.iter().all(|one| one.machine.is_some()) => {
            machines(&verdict.differences, again)
        }
        Some(again) => format!("if the change is intended, make a new contract: `{again}`"),
        None => "if the change is intended, make a new contract with `opal plan`".to_owned(),
    };
    let message = format!("{}; nothing was run", contract::differs(verdict));
    let failure = Failure::new(Exit::Refused, message, help);
    match made_in(verdict) {
        Some(directory) => {
            failure.help(format!("or run it where it was made: `cd {}`", quoted(directory)))
        }
        None => failure,
    }
}

/// What to do about machines that are missing, and whose values are in the plan.
fn needed(found: &[Difference]) -> Option<String> {
    let missing = found.iter().filter(|one| one.code == Drift::InfraMissing);
    let names: BTreeSet<&str> = missing.filter_map(|one| one.machine.as_deref()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let it = match names.len() {
        0 => return None,
        1 => "it",
        _ => "them",
    };
    let listed = names.join(", ");
    Some(format!("the plan needs values of {listed}; `--force` omits {it} from a fleet"))
}

/// What to do about machines that are not the contract's.
fn machines(found: &[Difference], again: Option<&str>) -> String {
    let names: BTreeSet<&str> = found.iter().filter_map(|one| one.machine.as_deref()).collect();
    let missing = found.iter().all(|one| one.code == Drift::InfraMissing);
    let names: Vec<&str> = names.into_iter().collect();
    let new = again.unwrap_or(USUAL);
    match names[..] {
        [name] if missing => format!("if {name} is gone for good, `{new}` makes a new contract"),
        [name] => format!("if {name} was reinstalled, `{new}` makes a new contract"),
        _ if missing => format!("if they are gone for good, `{new}` makes a new contract"),
        _ => format!("if these changes are intended, `{new}` makes a new contract"),
    }
}

/// The directory in which the contract was made, where it is another one now and that is compared.
fn made_in(verdict: &Verdict) -> Option<&str> {
    let of_directory = |it: &&Cause| &*it.key == "cli.directory";
    let cause = verdict.differences.iter().flat_map(|it| &it.causes).find(of_directory)?;
    match cause.before.as_ref()?.public.as_ref()? {
        Value::String(directory) => Some(directory),
        _ => None,
    }
}
