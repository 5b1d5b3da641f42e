//! `opal run`: a function, a file, or a contract.

mod approvals;
pub(crate) mod compare;
mod confine;
pub(crate) mod current;
pub(crate) mod new_contract;
mod refusal;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_core::contract::Contract;
use opal_core::resource::Status;
use opal_ops::contract::{self, Accepted, Case, How, Request, Rules, Stopped, Tolerance};
use opal_ops::planning::{Subject, record_name};
use opal_ops::resume::NotResumed;
use opal_ops::source::Loaded;
use opal_trust::contracts::Opened;
use opal_trust::policy::Policy;
use opal_vault::Vault;
use opal_vault::ledger::Ledger;
use opal_vault::record::reader::Run;
use opal_vault::record::{self, Drifted, Reason};

use super::execute::keeper::Keeper;
use super::execute::{self, Claim, Errand, Held, resume};
use super::plan::file::open;
use super::plan::named::Named;
use super::plan::trust;
use super::plan::verify::required;
use super::share::{self, Given, Share};
use super::{command_line, task};
use crate::clock::unix_time;
use crate::context::Context;
use crate::failure::contract::Refused;
use crate::failure::{Exit, Failure};
use crate::options::Asked;
use crate::signals::Watched;
use crate::verb::Verb;
use crate::{limit, planning, program, reports, rules, view};
use approvals::{approved, reach, remember};
use compare::{Here, undecided};
use confine::{Confined, confine};
use current::{Current, is_of_module, policed};
use new_contract::{new_contract, of_module};
use refusal::{Attempt, Kept};

/// The option with which only approved contracts run.
const REQUIRE_APPROVAL: &str = "require-approval";

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let Some(path) = matches.get_one::<PathBuf>("plan") else {
        return task::typed(context, matches, Verb::Run);
    };
    if matches.contains_id("target") {
        return Err(Failure::usage(
            "a contract already contains its target and arguments",
            "omit the target and its arguments: `opal run --plan FILE`",
        ));
    }
    let mut asked = Asked::from(matches)?.or(Asked::before(&context.typed.before)?);
    // Who approved the plan has read its questions.
    asked.run.yes |= !asked.plan.dry_run && matches.get_flag(REQUIRE_APPROVAL);
    if asked.plan.on.is_some() {
        return Err(Failure::usage(
            "a contract already contains its hosts",
            "omit `--on`, or make a new contract with it",
        ));
    }
    let given = Given::from(matches, &asked)?;
    let Some(io) = given.as_ref().and_then(Given::io).cloned() else {
        return contract_run(context, &asked, path, matches, given.as_ref());
    };
    // What steps print there goes to the queue runner.
    asked.run.events = Some(PathBuf::from("-"));
    let ran = contract_run(context, &asked, path, matches, given.as_ref());
    let code = io.result(ran.as_ref().map_or_else(|failure| failure.exit, |exit| *exit).code());
    ran.map(|_| Exit::Step(code))
}

/// Plans again, compares, and runs the current plan where it is the contract's.
fn contract_run(
    context: &Context<'_>,
    asked: &Asked,
    path: &Path,
    matches: &ArgMatches,
    given: Option<&Given>,
) -> Result<Exit, Failure> {
    let options = &asked.plan;
    if asked.run.no_record {
        return Err(Failure::usage(
            "`--no-record` cannot be used with `--plan`: every run and every refusal of a contract leaves a record",
            "omit `--no-record`",
        ));
    }
    if options.dry_run {
        asked.for_plan()?;
        return attempt(context, asked, path, matches, given);
    }
    asked.for_run()?;
    let name = path.display().to_string();
    reports::around(context, &asked.run.reports, &name, || {
        attempt(context, asked, path, matches, given)
    })
}

fn attempt(
    context: &Context<'_>,
    asked: &Asked,
    path: &Path,
    matches: &ArgMatches,
    given: Option<&Given>,
) -> Result<Exit, Failure> {
    let named = Named::find(context, asked.plan.root.as_ref(), &path.to_string_lossy())?;
    let approvals = named.approvals()?;
    let (bytes, share) = (&*named.bytes, None);
    let attempt = Attempt { context, asked, path, bytes, approvals: &approvals, share };
    let share = given.map(|given| share::taken(context, asked, given, &named)).transpose();
    let share = share.map_err(|failure| attempt.refused(failure, None))?;
    let attempt = Attempt { share: share.as_ref(), ..attempt };
    let mut opened = open(context, &asked.plan, path, &named.bytes)
        .map_err(|failure| attempt.refused(failure, None))?;
    let narrowed = narrowed(&attempt, &opened.contract)?;
    if is_of_module(&opened.contract) {
        program::complete_after(context.ambient, &named.path, &named.bytes)?;
    }
    let asked = narrowed.as_ref().unwrap_or(asked);
    let attempt = Attempt { asked, ..attempt };
    let file = context.file(matches);
    let contract = Some(&opened.contract);
    let confined = confined(&attempt, matches, &opened, file)
        .map_err(|failure| attempt.refused(failure, contract))?;
    let (context, asked, file) = match &confined {
        Some(it) => (&it.context, &it.asked, it.source.as_ref()),
        None => (context, asked, file),
    };
    let (attempt, options) = (Attempt { context, asked, ..attempt }, &asked.plan);
    let read = Current::read(context, &opened.contract, file, options)
        .map_err(|failure| attempt.refused(failure.refusing(Reason::NotPlannable), contract))?;
    let Some(current) = read else {
        let message = "no plan to compare with the contract: its source has errors";
        attempt.keep(
            contract,
            Kept { reason: Reason::NotPlannable, message: message.to_owned() },
            Exit::Source,
            Vec::new(),
        );
        return Ok(Exit::Source);
    };
    let (context, watched) =
        (current.context(context), Watched::begin()?.within(asked.run.timeout));
    let Current::Module(found) = &current else {
        let attempt = Attempt { context, ..attempt };
        return hold(&attempt, matches, &mut opened, current.loaded(), &watched, None);
    };
    let again = of_module(context, options, &opened.contract, path);
    let attempt = Attempt { context, ..attempt };
    found.kept(asked, &watched, again, &mut |keeper| {
        hold(&attempt, matches, &mut opened, found.loaded(), &watched, Some(keeper))
    })
}

/// What was asked, with the targets that are left; none where nothing narrows the fleets.
fn narrowed(attempt: &Attempt<'_>, contract: &Contract) -> Result<Option<Asked>, Failure> {
    let &Attempt { context, asked, share, .. } = attempt;
    let Some(share) = share else {
        return limit::with_failed(context, asked, &contract.plan().target.name);
    };
    share.check(contract).map_err(|failure| attempt.refused(failure, Some(contract)))?;
    let mut asked = asked.clone();
    asked.plan.limit = Some(share.limit());
    Ok(Some(asked))
}

/// Goes where the policy has contracts run, once everything that needs no plan has been checked.
fn confined<'c>(
    attempt: &Attempt<'c>,
    matches: &ArgMatches,
    opened: &Opened,
    file: Option<&PathBuf>,
) -> Result<Option<Confined<'c>>, Failure> {
    let &Attempt { context, asked, path, bytes, .. } = attempt;
    let sources = policed(&opened.contract, file);
    let policy = trust::policy(context, &asked.plan, &required(matches), &sources)?;
    let case = Case { contract: &opened.contract, id: opened.id };
    if case.fixed(&policy) == (false, None) {
        return Ok(None);
    }
    let root = context.root(asked.plan.root.as_ref());
    let own = rules::own_files(root.as_ref());
    // Whether a run is continued is decided with its plan.
    let rules = Rules {
        ledger: root.as_ref().map(Ledger::new).filter(|_| asked.run.resume.is_none()),
        ..demanded(attempt, matches, opened, &policy, &own)
    };
    let accepted = contract::accept(bytes, opened, &rules)
        .map_err(|refusal| Refused { path, own: None, again: &|| None }.failure(&refusal))?;
    confine(context, asked, &accepted, &opened.contract, file)
}

/// Runs the plan of now where it is the contract's.
fn hold(
    attempt: &Attempt<'_>,
    matches: &ArgMatches,
    opened: &mut Opened,
    source: &Loaded,
    watched: &Watched,
    keeper: Option<&dyn Keeper>,
) -> Result<Exit, Failure> {
    let &Attempt { context, asked, path, bytes, .. } = attempt;
    let options = &asked.plan;
    let policy = trust::policy(context, options, &required(matches), &source.policed())?;
    let root = context.root(options.root.as_ref());
    context.registry.demand(source, root.as_ref())?;
    let here = Here::new(context, options, source, opened.contract.plan(), watched)?;
    let (resumed, is_other) = resumed(asked, &here, opened)?;
    let case = Case { contract: &opened.contract, id: opened.id };
    if let Some(refusal) = reach(&case, &policy, root.as_ref()) {
        return attempt.refuse(&here, &opened.contract, refusal);
    }
    let own = rules::own_files(root.as_ref());
    let demanded = demanded(attempt, matches, opened, &policy, &own);
    let rules = Rules {
        resumed: resumed.as_ref(),
        ledger: here.root.as_ref().map(Ledger::new),
        forbidden_option: demanded.forbidden_option.or(is_other.then_some("--resume")),
        ..demanded
    };
    let request = Request { bytes, rules, now: here.now(), tolerance: tolerance(attempt, matches) };
    let decided = contract::decide(opened, &request, &|news| here.tell(news));
    let allowed = match decided {
        Ok(allowed) => allowed,
        Err(Stopped::Undecided(why)) => return undecided(why, watched),
        Err(Stopped::Refused(why)) => return attempt.refuse(&here, &opened.contract, why),
    };
    let (how, compared) = (allowed.how, &allowed.compared);
    limit::leaves_some(options.limit.as_deref(), &compared.fresh.limited)?;
    let share = attempt.share;
    let leaves = share.map_or(Ok(()), |share| share.leaves(&compared.fresh.limited.left));
    leaves.map_err(|failure| attempt.refused(failure, Some(&opened.contract)))?;
    let new_contract = new_contract(context, options, &opened.contract, source, path);
    match how {
        How::Same => {}
        How::SourceMoved => view::plan::moved(&source.changed(&opened.contract)),
        How::Forced => view::plan::forced(
            &here.comparison(&opened.contract, compared, Some(&new_contract)),
            context.err(),
        ),
    }
    if options.dry_run {
        let state = if how == How::Forced { "to be forced" } else { "the current plan" };
        return view::plan::verified(path, &opened.contract, state, options.is_json());
    }
    let named = named(opened, path, &allowed.accepted);
    let drift = compared.verdict.differences.iter().map(Drifted::from).collect();
    let (contract, file, missing) = (opened.id, named.path.clone(), missing(&opened.contract));
    remember(&allowed.accepted.approvals, attempt, &opened.contract, here.root.as_ref());
    let (asked, fence) =
        (answered(attempt, &allowed.accepted), share.map(|share| share.fence(&opened.keys)));
    let errand = Errand {
        share: share.zip(fence.as_ref()),
        subject: &Subject::of_plan(source, &compared.fresh.plan),
        resolved: &compared.fresh,
        watched,
        claim: allowed.accepted.once.then_some(Claim { contract, resumed, file, new_contract }),
        contract: Some(Held { named, drift, key: compared.key.clone(), missing }),
        // A module always runs whole.
        again: (keeper.is_none() && share.is_none())
            .then(|| command_line::resume_contract(context, &asked, path)),
        keeper,
    };
    execute::execute(context, &asked, &errand)
}

/// What may differ from the contract.
fn tolerance(attempt: &Attempt<'_>, matches: &ArgMatches) -> Tolerance {
    Tolerance {
        force: matches.get_flag("force"),
        strict_source: matches.get_flag("strict-source") || attempt.share.is_some(),
    }
}

/// The contract, as the record of its run names it.
fn named(opened: &Opened, path: &Path, accepted: &Accepted) -> record::Contract {
    record::Contract {
        approvals: accepted.approvals.iter().map(approved).collect(),
        ..record::Contract::new(opened.id, path.display().to_string())
    }
}

/// What was asked. Who approved the contract of an order has read its questions.
fn answered<'a>(attempt: &Attempt<'a>, accepted: &Accepted) -> Cow<'a, Asked> {
    let asked = attempt.asked;
    if attempt.share.is_none() || accepted.approvals.is_empty() {
        return Cow::Borrowed(asked);
    }
    let mut asked = asked.clone();
    asked.run.yes = true;
    Cow::Owned(asked)
}

/// What the rules have to be told about this attempt.
fn demanded<'r>(
    attempt: &Attempt<'r>,
    matches: &ArgMatches,
    opened: &Opened,
    policy: &'r Policy,
    own: &'r [PathBuf],
) -> Rules<'r> {
    let &Attempt { asked, approvals, share, .. } = attempt;
    let is_limited = match share {
        Some(share) => share.is_limited(&opened.contract),
        None => asked.plan.limit.is_some(),
    };
    Rules {
        approvals,
        share: share.map(Share::run),
        is_limited,
        forbidden_option: forbidden(asked, matches, opened),
        demanded_by: matches.get_flag(REQUIRE_APPROVAL).then_some(own),
        ..Rules::new(policy, None, unix_time())
    }
}

/// The steps whose resources were missing when the contract was made.
fn missing(contract: &Contract) -> BTreeSet<Box<str>> {
    let seen = contract.provenance().resources.iter();
    seen.filter(|it| it.status == Status::Missing).map(|it| it.path.clone()).collect()
}

/// An option that makes another run of a contract than the one that people approved.
fn forbidden(asked: &Asked, matches: &ArgMatches, opened: &Opened) -> Option<&'static str> {
    let skips = || opened.contract.provenance().options.contains_key("skip-preflight");
    let given = [
        (matches.get_flag("force"), "--force"),
        (asked.run.from.is_some(), "--from"),
        (skips(), "--skip-preflight"),
    ];
    given.into_iter().find_map(|(is_given, option)| is_given.then_some(option))
}

/// The run of a single-use contract that is to be continued, where one can be; and whether the run that was
/// named is of another contract.
fn resumed(
    asked: &Asked,
    here: &Here<'_>,
    opened: &Opened,
) -> Result<(Option<Run>, bool), Failure> {
    let (Some(asked), Some(root)) = (&asked.run.resume, &here.root) else {
        return Ok((None, false));
    };
    let plan = opened.contract.plan();
    let start = planning::start(&Subject::of_plan(here.source, plan))?;
    let target = record_name(&here.source.path, plan);
    let whose = resume::whose(target, &start, &Vault::new(), Some(opened.id));
    let found = opal_ops::resume::earlier(root, resume::which(asked), &whose, plan);
    let is_other = matches!(found, Err(NotResumed::OtherContract(_)));
    Ok((found.ok().filter(|run| opal_ops::resume::path(run, plan).is_ok()), is_other))
}
