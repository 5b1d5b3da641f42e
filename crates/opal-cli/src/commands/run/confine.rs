//! What a contract runs in where the policy fixes it: a fresh checkout of its commit, and only some variables.
//!
//! The checkout is made of objects that git has checked, in a repository of its own, so neither the working
//! tree nor hooks, filters and settings of the original repository have a say. Ignored files, submodules and
//! files of LFS are not in it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use opal_core::contract::Contract;
use opal_core::plan::Plan;
use opal_core::resolver::{Probe as _, Run};
use opal_ops::contract::Accepted;
use opal_session::world::{OsWorld, Surroundings};
use opal_vault::root::Root;
use rustix::process::{Pid, test_kill_process};

use crate::ambient::Ambient;
use crate::context::{Context, Only};
use crate::failure::{Exit, Failure};
use crate::git;
use crate::options::Asked;

/// Under the runtime root.
const CHECKOUTS: &str = "checkouts";

/// Where a contract runs.
pub(super) struct Confined<'c> {
    pub(super) context: Context<'c>,
    pub(super) asked: Asked,
    /// The source, where it is in a checkout.
    pub(super) source: Option<PathBuf>,
    _checkout: Option<Checkout>,
}

/// Makes what the rules demand; none where they demand nothing.
pub(super) fn confine<'c>(
    context: &Context<'c>,
    asked: &Asked,
    accepted: &Accepted,
    contract: &Contract,
    file: Option<&PathBuf>,
) -> Result<Option<Confined<'c>>, Failure> {
    if !accepted.tree && accepted.environment.is_none() {
        return Ok(None);
    }
    let mut asked = asked.clone();
    let root = context.needed_root(asked.plan.root.as_ref())?;
    let root = Root::new(absolute(root.path())?);
    asked.plan.root = Some(root.path().to_owned());
    let only = accepted
        .environment
        .clone()
        .map(|environment| Only { environment, reads: reads(contract.plan()) });
    let context = context.confined(only, &root);
    if !accepted.tree {
        return Ok(Some(Confined { context, asked, source: file.cloned(), _checkout: None }));
    }
    if let Some(file) = file {
        let message = format!(
            "the policy runs the commit of the contract; `-f {}` cannot be used",
            file.display()
        );
        return Err(Failure::new(Exit::NotTrusted, message, "omit `-f`"));
    }
    for path in &mut asked.plan.env_files {
        *path = absolute(path)?;
    }
    if let Some(events) = asked.run.events.as_mut().filter(|path| **path != Path::new("-")) {
        *events = absolute(events)?;
    }
    let (checkout, source) = Checkout::make(&root, contract)?;
    Ok(Some(Confined { context, asked, source: Some(source), _checkout: Some(checkout) }))
}

/// The variables that a plan reads.
fn reads(plan: &Plan) -> BTreeSet<String> {
    let keys = plan.reads.iter().map(|read| &read.key).chain(plan.values.keys());
    let names = keys.filter_map(|key| key.strip_prefix("env."));
    let name = |rest: &str| -> String {
        rest.chars().take_while(|it| it.is_ascii_alphanumeric() || *it == '_').collect()
    };
    names.map(name).collect()
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| Failure::unreadable(path, &error))
}

/// A directory with exactly the files of a commit. Dropping it removes it, and goes back.
struct Checkout {
    folder: tempfile::TempDir,
    before: PathBuf,
}

impl Checkout {
    /// Makes it, goes to the same place in it, and says where the source is.
    fn make(root: &Root, contract: &Contract) -> Result<(Self, PathBuf), Failure> {
        let made = contract.provenance();
        let commit = made.commit.as_deref().filter(|_| !made.modified);
        let commit = commit.filter(|it| is_commit(it)).ok_or_else(|| {
            Failure::new(
                Exit::NotTrusted,
                "the policy runs contracts from their commit, and this one was not made from an unmodified commit",
                "commit the changes, and make a new contract",
            )
        })?;
        let before = crate::planning::here()?;
        let source = made.source.as_ref().map(|it| PathBuf::from(&it.absolute)).unwrap_or_default();
        let near = source.parent().filter(|folder| folder.is_dir()).unwrap_or(&before);
        let top = git::answer(near, &["rev-parse", "--show-toplevel"]).map(PathBuf::from);
        let top = top.ok_or_else(|| unfetched(commit, near))?;
        let folder = new_folder(root)?;
        let tree = folder.path().join("tree");
        fetch(&top, &tree, commit)?;
        let below = |path: &Path| path.strip_prefix(&top).map(|it| tree.join(it)).ok();
        let place = below(&before).unwrap_or_else(|| tree.clone());
        let source = below(&source).filter(|path| path.is_file()).ok_or_else(|| {
            let message = format!("`{}` is not a file of the commit {commit}", source.display());
            Failure::new(Exit::NoFile, message, "make a new contract where its source is committed")
        })?;
        std::env::set_current_dir(&place).map_err(|error| Failure::unreadable(&place, &error))?;
        Ok((Self { folder, before }, source))
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        // Whatever is written next is meant to be where opal was started.
        let _ = std::env::set_current_dir(&self.before);
        let _ = fs::remove_dir_all(self.folder.path());
    }
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A directory that only this account can read. Those of runs that were killed are removed.
fn new_folder(root: &Root) -> Result<tempfile::TempDir, Failure> {
    let unkept = |error: opal_vault::root::RootError| {
        let exit = if error.is_unsafe() { Exit::NotTrusted } else { Exit::Write };
        Failure::new(exit, error.to_string(), error.help())
    };
    let all = root.directory(CHECKOUTS).map_err(unkept)?;
    for entry in fs::read_dir(&all).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|it| it.split('-').next()?.parse().ok());
        let is_gone =
            pid.and_then(Pid::from_raw).is_some_and(|pid| test_kill_process(pid).is_err());
        if is_gone {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    let prefix = format!("{}-", std::process::id());
    let made = tempfile::Builder::new().prefix(&prefix).tempdir_in(&all);
    made.map_err(|error| Failure::unwritable(&format!("`{}`", all.display()), &error))
}

/// Fetches a commit into an empty repository, and checks it out. Git computes the name of every object that
/// it receives, so what is there is what the commit names.
fn fetch(top: &Path, tree: &Path, commit: &str) -> Result<(), Failure> {
    let failed = || unfetched(commit, top);
    fs::create_dir(tree)
        .map_err(|error| Failure::unwritable(&format!("`{}`", tree.display()), &error))?;
    let top_text = top.to_str().ok_or_else(failed)?;
    // Files of another account are no reason to refuse: nothing of its settings is used.
    let upload = "git -c safe.directory=* upload-pack";
    let branch = git::answer(top, &["symbolic-ref", "-q", "--short", "HEAD"]);
    run(tree, &["init", "-q", "--template="]).ok_or_else(failed)?;
    let fetch = [
        "-c",
        "fetch.fsckObjects=true",
        "fetch",
        "-q",
        "--no-tags",
        "--depth=1",
        "--upload-pack",
        upload,
    ];
    run(tree, &[&fetch[..], &["--", top_text, commit]].concat()).ok_or_else(failed)?;
    // What reads the branch finds the one that the contract was made on.
    let checkout = match branch.as_deref() {
        Some(branch) => run(tree, &["checkout", "-q", "-f", "-B", branch, commit]),
        None => run(tree, &["checkout", "-q", "-f", "--detach", commit]),
    };
    checkout.ok_or_else(failed)?;
    let found = run(tree, &["rev-parse", "HEAD"]);
    found.filter(|it| it.trim() == commit).map(drop).ok_or_else(failed)
}

fn unfetched(commit: &str, top: &Path) -> Failure {
    let message = format!("the commit {commit} cannot be checked out from `{}`", top.display());
    Failure::new(Exit::NotTrusted, message, "fetch it there: `git fetch`, or make a new contract")
}

/// What git answers that has no settings but its own.
fn run(folder: &Path, words: &[&str]) -> Option<String> {
    let world = OsWorld::new(Surroundings {
        environment: Ambient::environment().into(),
        start: folder.to_owned(),
        home: None,
        ..Surroundings::default()
    });
    let alone =
        ["env", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0"];
    let command = [&alone[..], &opal_core::git::command(words)].concat();
    let foreign =
        [&opal_core::git::FOREIGN[..], &["GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS"]].concat();
    let output = world.run(&Run::ProgramWithout { words: &command, variables: &foreign }).ok()?;
    Some(output.expose().to_owned())
}
