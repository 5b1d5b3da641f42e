//! `opal plan submit` and `opal plan inbox`: contracts that wait for people.

use std::path::PathBuf;

use clap::ArgMatches;
use opal_core::contract::Contract;
use opal_core::contract::approval::{Approval, Decision};
use opal_ops::contract::Case;
use opal_trust::approvals::{self, check};
use opal_trust::contracts::peek;
use opal_vault::ledger::Ledger;
use opal_vault::root::Root;

use super::approve::policy;
use super::file::{read_file, refused, write_file};
use super::named::{CONTRACT, ID_DIGITS, INBOX, Named, ids};
use crate::clock::unix_time;
use crate::context::Context;
use crate::failure::{Exit, Failure};
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
    match std::fs::read(&copy) {
        Ok(bytes) if bytes != named.bytes => {
            let message = format!("the inbox has another contract with the id {id}");
            return Err(Failure::new(Exit::Refused, message, "remove its directory in the inbox"));
        }
        Ok(_) => {}
        Err(_) => write_file(&copy, &named.bytes)?,
    }
    let submitted = Named { path: copy, shown: PathBuf::from(&id), bytes: named.bytes.clone() };
    let known = submitted.approvals()?;
    for line in named.approvals()?.iter().filter(|line| !known.contains(line)) {
        submitted.add(line)?;
    }
    let entry =
        Inbox { context, root: &root, time: unix_time() }.entry(&id, &submitted, &contract)?;
    inbox::submitted(&entry, matches.get_flag("json"))
}

pub(crate) fn list(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let json = matches.get_flag("json");
    let Some(root) = context.root(matches.get_one("root")) else {
        return inbox::list(&[], json, context.out());
    };
    let here = Inbox { context, root: &root, time: unix_time() };
    let mut entries: Vec<Entry> = ids(&root).iter().map(|id| here.read(id)).collect();
    entries.sort_by(|a, b| b.created.cmp(&a.created).then_with(|| a.id.cmp(&b.id)));
    inbox::list(&entries, json, context.out())
}

/// What is asked about each contract.
struct Inbox<'i> {
    context: &'i Context<'i>,
    root: &'i Root,
    time: i64,
}

impl Inbox<'_> {
    fn read(&self, id: &str) -> Entry {
        let path = self.root.path().join(INBOX).join(id).join(CONTRACT);
        let found = read_file(&path).and_then(|bytes| {
            let named = Named { path, shown: PathBuf::from(id), bytes };
            if !named.id().hex().starts_with(id) {
                return Ok(None);
            }
            let contract =
                peek(&named.bytes).map_err(|why| refused(&named.shown, why.into(), None))?;
            self.entry(id, &named, &contract).map(Some)
        });
        // What cannot be read is not what was submitted.
        found.ok().flatten().unwrap_or_else(|| Entry::changed(id))
    }

    fn entry(&self, id: &str, named: &Named, contract: &Contract) -> Result<Entry, Failure> {
        let policy = policy(self.context, Some(&self.root.path().to_owned()), contract)?;
        let case = Case { contract, id: named.id() };
        let rules = case.rules(&policy);
        let claim = case.claim(false, self.time);
        let ledger = Ledger::new(self.root);
        let lines = named.approvals()?;
        let rejections = case.rejections(&policy, &lines, Some(ledger), self.time);
        let judged = approvals::judge(&rules, &lines, &claim);
        let needs_people = rules.iter().any(|rule| rule.needs_people());
        let is_about = |line: &&Approval| {
            line.statement.contract == case.id && line.statement.decision == Decision::Approve
        };
        let signed = lines.iter().filter(is_about).filter_map(|line| check(line).ok());
        let signers: Vec<String> = signed.map(|it| it.signer.fingerprint()).collect();
        let made = contract.provenance();
        let is_approved = match needs_people {
            true => judged.unmet.is_empty(),
            false => !signers.is_empty(),
        };
        let state = if ledger.is_used(&case.id) {
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
        let counted: Vec<String> = judged.counted.into_iter().map(|it| it.name).collect();
        Ok(Entry {
            id: id.to_owned(),
            state,
            target: contract.plan().target.name.clone(),
            created: contract.created(),
            made_by: facts(contract).generated_by,
            expires: made.expires,
            approved_by: if needs_people { counted } else { signers },
            rejected_by: rejections.into_iter().map(|who| who.name).collect(),
            needed: rules.iter().map(|rule| rule.needed).max().unwrap_or(0),
        })
    }
}

fn unkept(error: opal_vault::root::RootError) -> Failure {
    let exit = if error.is_unsafe() { Exit::NotTrusted } else { Exit::Write };
    Failure::new(exit, error.to_string(), error.help())
}
