//! `opal runs cleanup`: closes what plugins opened in a run and did not close.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ArgMatches;
use opal_core::action::{Action, Halt};
use opal_core::decorator::Descriptor;
use opal_core::hash::{Algorithm, Digest};
use opal_core::plan::{Mode, Node, Plan, Step, Target};
use opal_core::stream::{Closed, Stream};
use opal_core::text::Span;
use opal_core::unreached::Unreached;
use opal_core::{Registry, Showing};
use opal_exec::execute::{self, Job, ShownBranches};
use opal_plugins::adapt::RUNTIME;
use opal_plugins::adapt::ending::Kept;
use opal_session::stop::Stop;
use opal_session::{LocalSession, Setup};
use opal_trust::policy::Policy;
use opal_vault::event::{Event, Opened};
use opal_vault::record::Silent;
use opal_vault::record::reader::{self, Run, State};
use opal_vault::root::Root;
use opal_vault::witness::{Audience, Progress};
use opal_vault::{Shown, Vault};

use super::stored::load;
use crate::context::Context;
use crate::decorators::Packages;
use crate::failure::record::unreadable;
use crate::failure::{Exit, Failure};
use crate::signals::Watched;
use crate::{helpers, rules, view};

/// What is still open.
pub(super) fn unclosed(root: &Root, run: &Run) -> Result<Vec<Opened>, Failure> {
    if run.state == State::Running {
        return Ok(Vec::new());
    }
    let mut open = reader::unclosed(&run.folder).map_err(unreadable)?;
    open.retain(|it| !Kept::is_closed(root, &it.id));
    Ok(open)
}

pub(super) fn run(
    context: &Context<'_>,
    root: &Root,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let name = matches.get_one::<String>("run").map_or("last", String::as_str);
    let runs = context.opal_runs(matches.get_one("root"));
    let run = load(root, name, &runs)?;
    if run.state == State::Running {
        let message = format!("the run `{}` is still running", run.id);
        return Err(Failure::new(Exit::Usage, message, "wait until it has ended, or stop it"));
    }
    let watched = Watched::begin()?;
    let (mut closed, mut failed) = (Vec::new(), Vec::new());
    for open in unclosed(root, &run)? {
        match close(context, root, &run, &open, watched.stop()) {
            Ok(()) => closed.push(open),
            // The others may be closed all the same.
            Err(failure) => failed.push((open, failure)),
        }
    }
    view::runs::cleaned(&run.id, &closed, &failed, matches.get_flag("json"))?;
    // The others have been said.
    failed.into_iter().next().map_or(Ok(Exit::Done), |(_, failure)| Err(failure))
}

fn close(
    context: &Context<'_>,
    root: &Root,
    run: &Run,
    open: &Opened,
    stop: &Stop,
) -> Result<(), Failure> {
    let what = open.named();
    let refuse = |exit, why: &str, help: &str| {
        Failure::new(exit, format!("{what} is not closed: {why}"), help.to_owned())
    };
    if let Some(target) = &open.target {
        let why = format!("it was opened on `{target}`");
        return Err(refuse(Exit::Unavailable, &why, "close it there by hand"));
    }
    let directory = run.text("directory").map(PathBuf::from).ok_or_else(|| {
        let why = "the record does not say in which directory the run was";
        refuse(Exit::Unavailable, why, "close it by hand")
    })?;
    let packages = project(context, &directory)?;
    let content = packages.map(|packages| packages.content()).transpose()?;
    let mut all = content.iter().flat_map(|content| &content.all);
    let one = all.find(|one| one.name() == &*open.plugin).ok_or_else(|| {
        let why = format!("the project in `{}` does not have the package", directory.display());
        refuse(Exit::Unavailable, &why, "add it again with `opal plugin add`, or close it by hand")
    })?;
    let policy = rules::of(Some(root), Policy::default(), &[source(&directory)])?;
    let accepted = context.registry.accepted(Some(root))?;
    let judged = one.judge(&policy.plugins, accepted);
    judged.map_err(|why| crate::decorators::not_allowed(one, &why))?;
    let rules = packages.map(|it| it.native(policy.plugins.native()));
    helpers::run_packages(Some(root), rules.unwrap_or_default());
    let kept = RUNTIME.get().and_then(|runtime| Kept::load(&runtime.cache, &open.id));
    let kept = kept.filter(|kept| *kept.plugin == *open.plugin).ok_or_else(|| {
        let why = "this machine does not have what closing needs";
        refuse(Exit::Unavailable, why, "run the command where the run was, or close it by hand")
    })?;
    let checksum = format!("sha256:{}", one.checksum.hex());
    if kept.checksum != checksum {
        let why = format!("the package has changed: it was {}, and is {checksum}", kept.checksum);
        let help = "install the package as it was in the run, and run the command again; or close it \
                    by hand";
        return Err(refuse(Exit::NotTrusted, &why, help));
    }
    let ending = one.ending(&open.id, kept).ok_or_else(|| {
        refuse(Exit::Unavailable, "the package does not have the decorator", "close it by hand")
    })?;
    end(context, &directory, &open.decorator, ending, stop).map_err(|halt| match halt {
        Halt::Failed(failure) => {
            let why = failure.trouble.as_ref().map(|it| it.message.to_string());
            let help =
                failure.trouble.as_ref().and_then(|it| it.help.first().map(ToString::to_string));
            let exit = Exit::Step(u8::try_from(failure.code).unwrap_or(1));
            let help = help.unwrap_or_else(|| "run the command again".to_owned());
            refuse(exit, &why.unwrap_or_else(|| "it failed".to_owned()), &help)
        }
        Halt::Stopped(_) | Halt::Unrecorded => {
            refuse(Exit::Step(130), "it was stopped", "run the command again")
        }
    })
}

/// Any name will do: a project is found by the directory.
fn source(directory: &Path) -> PathBuf {
    directory.join("commands.opl")
}

/// The packages of the project of a directory.
fn project(context: &Context<'_>, directory: &Path) -> Result<Option<&'static Packages>, Failure> {
    context.registry.of_source(&source(directory), true)?;
    Ok(context.registry.packages())
}

/// Runs a plan of one step: it has everything that steps have.
fn end(
    context: &Context<'_>,
    directory: &Path,
    decorator: &str,
    ending: &'static dyn Action,
    stop: &Stop,
) -> Result<(), Halt> {
    let path: &'static str = Box::leak(decorator.to_owned().into_boxed_str());
    let descriptor = Descriptor { path, action: Some(ending), ..Descriptor::BASE };
    let descriptor: &'static Descriptor = Box::leak(Box::new(descriptor));
    let registry = Registry::named(vec![(path, descriptor)]).unwrap_or_else(|_| unreachable!());
    let step = Step::new(Node::decorator(path), "end", Span::new(0, 0));
    let plan = Plan {
        target: Target { name: "end".to_owned(), arguments: BTreeMap::new() },
        mode: Mode::Resolved,
        algorithm: Algorithm::Blake3,
        source_hash: Digest([0; 32]),
        steps: vec![step],
        values: BTreeMap::new(),
        deferred: Vec::new(),
        reads: Vec::new(),
    };
    let environment = context.environment(&[]).map_err(|_| Halt::Unrecorded)?;
    let session = LocalSession::new(Setup {
        environment: Arc::clone(environment),
        start: directory.to_owned(),
        home: context.ambient.home.clone(),
        marker: u32::from_le_bytes(opal_trust::keys::name()).to_string(),
        terminal: None,
        entries: None,
        pages: Some(helpers::pages()),
    });
    let vault = Vault::new();
    let outcome = execute::execute(&Job {
        plan: &plan,
        values: &BTreeMap::new(),
        showing: &Showing::default(),
        registry: &registry,
        session: &session,
        reach: None,
        start: directory,
        base: directory,
        vault: &vault,
        recorder: &Silent,
        audience: &Quiet,
        stop,
        jobs: None,
        output: ShownBranches::GROUPED,
        from: None,
        earlier: &[],
        unreached: Unreached::none(),
        selected: None,
        known: None,
        is_declared: false,
        is_under_contract: false,
        trace: None,
        fence: None,
        stdin: false,
        clock: crate::clock::now,
    });
    outcome.halt.map_or(Ok(()), Err)
}

/// The command itself says what it has done.
struct Quiet;

impl Audience for Quiet {
    fn event(&self, _: &Event<'_>) {}

    fn output(&self, _: u64, _: Stream, _: &Shown<'_>) -> Result<(), Closed> {
        Ok(())
    }

    fn has_terminal(&self, _: u64) {}

    fn progress(&self, _: &Progress<'_>) {}
}
