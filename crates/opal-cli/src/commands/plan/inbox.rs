//! `opal plan submit` and `opal plan inbox`: contracts that wait for people.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::ArgMatches;
use opal_core::contract::approval::{Approval, Decision};
use opal_core::contract::{Contract, MAX_BYTES};
use opal_ops::contract::Case;
use opal_trust::approvals::{self, Signer, check};
use opal_trust::contracts::peek;
use opal_trust::policy::Policy;
use opal_vault::ledger::Ledger;
use opal_vault::root::{self, Root, RootError, Why};

use super::approve::policy;
use super::file::{read_file, refused, write_file};
use super::named::{CONTRACT, ID_DIGITS, INBOX, Named, ids};
use super::trust::{self, Required};
use crate::clock::unix_time;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::options::PlanOptions;
use crate::view;
use crate::view::inbox::{self, Entry, State};
use crate::view::plan::facts;

/// Copies a contract to the inbox.
pub(crate) fn submit(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let given = matches.get_one::<String>("file").map_or("", String::as_str);
    let source = PathBuf::from(given);
    let named = Named { bytes: read_file(&source)?, path: source.clone(), shown: source };
    let contract = peek(&named.bytes).map_err(|why| refused(&named.shown, why.into(), None))?;
    let root = context.needed_root(matches.get_one("root"))?;
    let id = named.id().hex()[..ID_DIGITS].to_owned();
    let folder = root.directory(&format!("{INBOX}/{id}")).map_err(unkept)?;
    let copy = folder.join(CONTRACT);
    match root::read_guarded(&copy, MAX_BYTES as u64 + 1) {
        Ok(bytes) if *bytes == named.bytes => {}
        Ok(_) | Err(RootError { why: Why::TooLarge(_), .. }) => {
            let message = format!("the inbox has another contract with the id {id}");
            return Err(Failure::new(Exit::Refused, message, "remove its directory in the inbox"));
        }
        Err(RootError { why: Why::Missing, .. }) => write_file(&copy, &named.bytes)?,
        // It may be the one that people have approved.
        Err(error) => return Err(unkept(error)),
    }
    let submitted = Named { path: copy, shown: PathBuf::from(&id), bytes: named.bytes.clone() };
    let known = submitted.approvals()?;
    for line in named.approvals()?.iter().filter(|line| !known.contains(line)) {
        submitted.add(line)?;
    }
    let entry = Inbox::new(context, &root)?.entry(&id, &submitted, &contract);
    inbox::submitted(&entry, matches.get_flag("json"))
}

pub(crate) fn list(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let json = matches.get_flag("json");
    let Some(root) = context.root(matches.get_one("root")) else {
        return inbox::list(&[], json, context.out());
    };
    let here = Inbox::new(context, &root)?;
    let mut entries: Vec<Entry> = ids(&root).iter().map(|id| here.read(id)).collect();
    entries.sort_by(|a, b| b.created.cmp(&a.created).then_with(|| a.id.cmp(&b.id)));
    inbox::list(&entries, json, context.out())
}

/// What is asked about each contract.
struct Inbox<'i> {
    context: &'i Context<'i>,
    root: &'i Root,
    /// The rules of the machine.
    policy: Policy,
    time: i64,
}

impl<'i> Inbox<'i> {
    fn new(context: &'i Context<'i>, root: &'i Root) -> Result<Self, Failure> {
        let options = PlanOptions { root: Some(root.path().to_owned()), ..PlanOptions::default() };
        let policy = trust::policy(context, &options, &Required::default(), &[])?;
        Ok(Self { context, root, policy, time: unix_time() })
    }

    /// When approvals are judged: now, or of a contract that has run when the last was made, since later they are
    /// too old.
    fn judged(&self, is_used: bool, lines: &[Approval]) -> i64 {
        let last = lines.iter().map(|line| line.statement.at).max();
        last.filter(|_| is_used).map_or(self.time, |last| last.min(self.time))
    }

    fn read(&self, id: &str) -> Entry {
        let path = self.root.path().join(INBOX).join(id).join(CONTRACT);
        let found = read_file(&path).and_then(|bytes| {
            let named = Named { path, shown: PathBuf::from(id), bytes };
            if !named.id().hex().starts_with(id) {
                return Ok(None);
            }
            let contract =
                peek(&named.bytes).map_err(|why| refused(&named.shown, why.into(), None))?;
            Ok(Some(self.entry(id, &named, &contract)))
        });
        // What cannot be read is not what was submitted.
        found.ok().flatten().unwrap_or_else(|| Entry::changed(id))
    }

    /// What cannot be read is said, and the contract waits: nobody knows whether it is approved.
    fn entry(&self, id: &str, named: &Named, contract: &Contract) -> Entry {
        let mut is_known = true;
        let mut unknown = |why: &str| {
            view::plan::note(&format!("{id}: {why}"));
            is_known = false;
        };
        let root = self.root.path().to_owned();
        let policy = policy(self.context, Some(&root), contract).unwrap_or_else(|failure| {
            unknown(&failure.message);
            self.policy.clone()
        });
        let lines = named.approvals().unwrap_or_else(|failure| {
            unknown(&failure.message);
            Vec::new()
        });
        let case = Case { contract, id: named.id() };
        let rules = case.rules(&policy);
        let ledger = Ledger::new(self.root);
        let rejections = case.rejections(&policy, &lines, Some(ledger), self.time);
        let rejections = rejections.unwrap_or_else(|error| {
            unknown(&error.to_string());
            Vec::new()
        });
        let is_used = ledger.is_used(&case.id);
        let judged =
            approvals::judge(&rules, &lines, &case.claim(false, self.judged(is_used, &lines)));
        let known = |signer: &Signer| policy.rules.iter().find_map(|rule| rule.person(signer));
        let is_about = |line: &&Approval| {
            line.statement.contract == case.id && line.statement.decision == Decision::Approve
        };
        let (mut approved_by, mut unknown_keys) = (BTreeSet::new(), BTreeSet::new());
        for checked in lines.iter().filter(is_about).filter_map(|line| check(line).ok()) {
            match known(&checked.signer) {
                Some(person) => approved_by.insert(person.name.clone()),
                None => unknown_keys.insert(checked.signer.fingerprint()),
            };
        }
        // Where nobody has to approve it, the word of anybody whom the policy knows is one.
        if rules.iter().any(|rule| rule.needs_people()) {
            approved_by = judged.counted.into_iter().map(|it| it.name).collect();
        }
        let made = contract.provenance();
        let is_approved = is_known && judged.unmet.is_empty() && !approved_by.is_empty();
        let state = if is_used {
            State::Used
        } else if !rejections.is_empty() {
            State::Rejected
        } else if made.expires.is_some_and(|end| self.time >= end) {
            State::Expired
        } else if is_approved {
            State::Approved
        } else {
            State::Waiting
        };
        Entry {
            id: id.to_owned(),
            state,
            target: contract.plan().target.name.clone(),
            created: contract.created(),
            made_by: facts(contract).generated_by,
            expires: made.expires,
            approved_by: approved_by.into_iter().collect(),
            unknown_keys: unknown_keys.into_iter().collect(),
            rejected_by: rejections.into_iter().map(|who| who.name).collect(),
            needed: rules.iter().map(|rule| rule.needed).max().unwrap_or(0),
        }
    }
}

fn unkept(error: RootError) -> Failure {
    let exit = if error.is_unsafe() { Exit::NotTrusted } else { Exit::Write };
    Failure::new(exit, error.to_string(), error.help())
}
