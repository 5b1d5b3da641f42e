//! Brings a working copy to where the server is, and never loses what is only here.
//!
//! ```text
//! nothing there   clone
//! a repository    no changes, or force ─▶ fetch the branch ─▶ nothing to lose? ─▶ discard changes ─▶
//!                 move forward ─▶ name the origin
//! ```
//!
//! What could be lost is looked for before anything moves; git itself refuses to write over files
//! that it does not know or was asked to ignore.

use opal_core::action::{Halt, Stage};
use opal_core::files::Attributes;
use opal_core::resolver::{Answer, Trouble, TroubleKind};

use super::git::{git_in, git_in_with, git_with, text};
use super::place::{Repository, Tip};
use super::{Wanted, url};
use crate::resource::programs::{Program, reason};

pub(super) fn clone(wanted: &Wanted, tip: &Tip, stage: &mut dyn Stage) -> Result<(), Halt> {
    // Made here, since git would follow any link on the way.
    let made = stage.files().make_directory(&wanted.path, &Attributes::default());
    made.map_err(|trouble| stage.fail(1, trouble))?;
    let path = text(&wanted.path).map_err(|trouble| stage.fail(1, trouble))?;
    // Without `--no-local` a path ignores the depth, and its objects are taken without a check.
    let words = "clone --quiet --origin origin --no-local --no-recurse-submodules";
    let mut program =
        git_with(&wanted.remote, words).text("--template= --branch").word(&*tip.branch);
    if let Some(depth) = wanted.depth {
        program = program.text("--depth").word(depth.to_string());
    }
    let program = program.text("--").word(&*wanted.remote.url).word(path);
    succeed(program, "cloned", wanted, stage).inspect_err(|_| {
        // Only where it is empty, and git leaves nothing of what it began.
        let _ = stage.files().remove(&wanted.path, false);
    })
}

pub(super) fn forward(
    wanted: &Wanted,
    repository: &Repository,
    tip: &Tip,
    stage: &mut dyn Stage,
) -> Result<(), Halt> {
    let Tip { branch, commit } = tip;
    if let Some(trouble) = super::unforced(wanted, repository) {
        return Err(stage.fail(1, trouble));
    }
    let is_there =
        repository.branch.as_ref() == Some(branch) && repository.commit.as_ref() == Some(commit);
    if !is_there {
        let fetched = format!("refs/remotes/origin/{branch}");
        let words = "fetch --quiet --no-tags --no-recurse-submodules --";
        let fetch = git_in_with(&wanted.remote, &wanted.path, words)
            .map_err(|trouble| stage.fail(1, trouble))?
            .word(&*wanted.remote.url)
            .word(format!("+refs/heads/{branch}:{fetched}"));
        succeed(fetch, "fetched", wanted, stage)?;
        nothing_to_lose(wanted, repository, branch, &fetched, stage)?;
        let discarded = discard(wanted, repository, stage)?;
        let checkout = if repository.branch.as_ref() == Some(branch) && repository.commit.is_some()
        {
            within(wanted, "merge --quiet --ff-only --no-overwrite-ignore", stage)?
        } else {
            within(wanted, "checkout --quiet --no-overwrite-ignore --no-track -B", stage)?
                .word(&**branch)
        };
        let moved = succeed(checkout.word(&*fetched), "fast-forwarded", wanted, stage);
        if let (Err(_), Some(discarded)) = (&moved, discarded) {
            restore(wanted, &discarded, stage)?;
        }
        moved?;
    } else {
        discard(wanted, repository, stage)?;
    }
    match &repository.origin {
        Some(origin) if wanted.is_origin(origin) => Ok(()),
        origin => {
            let words = if origin.is_some() { "set-url" } else { "add" };
            let program = within(wanted, "remote", stage)?.text(words).text("-- origin");
            succeed(program.word(&*wanted.remote.url), "given its origin", wanted, stage)
        }
    }
}

/// Discards changes, which was allowed: what they were, where there were any. Files that git does not
/// know stay.
fn discard(
    wanted: &Wanted,
    repository: &Repository,
    stage: &mut dyn Stage,
) -> Result<Option<String>, Halt> {
    if repository.changes.count == 0 {
        return Ok(None);
    }
    // A commit that no reference names. Before the first commit there is none.
    let kept = answer(within(wanted, "stash create", stage)?, stage)?;
    succeed(within(wanted, "reset --quiet --hard", stage)?, "reset", wanted, stage)?;
    let commit = kept.stdout.expose().trim();
    Ok(Some(commit.to_owned()).filter(|commit| kept.code == 0 && !commit.is_empty()))
}

/// Changes are discarded only for a move that was made.
fn restore(wanted: &Wanted, discarded: &str, stage: &mut dyn Stage) -> Result<(), Halt> {
    let apply = within(wanted, "stash apply --quiet --index", stage)?.word(discarded);
    succeed(apply, "restored", wanted, stage)
}

/// Fails where something would be gone after a move to what was fetched.
fn nothing_to_lose(
    wanted: &Wanted,
    repository: &Repository,
    branch: &str,
    fetched: &str,
    stage: &dyn Stage,
) -> Result<(), Halt> {
    let path = wanted.path.display();
    let own = format!("refs/heads/{branch}");
    let exists = within(wanted, "rev-parse --quiet --verify", stage)?.word(&*own);
    if answer(exists, stage)?.code == 0 {
        let inside = within(wanted, "merge-base --is-ancestor", stage)?.word(&*own).word(fetched);
        if answer(inside, stage)?.code != 0 {
            let message =
                format!("`{branch}` in `{path}` has commits that the server does not have");
            return Err(kept(message, "push them, or rename the branch", stage));
        }
    }
    if repository.branch.is_none() && repository.commit.is_some() {
        let words = "for-each-ref --count=1 --format='%(refname)' --contains=HEAD";
        if answer(within(wanted, words, stage)?, stage)?.stdout.expose().is_empty() {
            let message = format!("the commit that is checked out in `{path}` is on no branch");
            return Err(kept(message, "keep it: `git branch NAME`", stage));
        }
    }
    Ok(())
}

fn kept(message: String, help: &'static str, stage: &dyn Stage) -> Halt {
    stage.fail(1, Trouble::new(TroubleKind::Failed, message, help))
}

fn within(wanted: &Wanted, words: &'static str, stage: &dyn Stage) -> Result<Program, Halt> {
    git_in(&wanted.path, words).map_err(|trouble| stage.fail(1, trouble))
}

fn answer(program: Program, stage: &dyn Stage) -> Result<Answer, Halt> {
    program.ask(&*stage.probe()).map_err(|trouble| stage.fail(1, trouble))
}

/// Runs it. What it says may hold the credentials of the address, so it is said only in case of a
/// failure, and without them.
fn succeed(
    program: Program,
    what: &str,
    wanted: &Wanted,
    stage: &mut dyn Stage,
) -> Result<(), Halt> {
    let completed = program.run_quietly(stage)?;
    if completed.code == 0 {
        return Ok(());
    }
    let said = completed.stdout.expose();
    let fatal = |line: &&str| line.starts_with("fatal: ") || line.starts_with("error: ");
    let said = url::without_credentials(said.lines().find(fatal).unwrap_or_else(|| reason(said)));
    let message = format!("`{}` could not be {what}: {said}", wanted.path.display());
    let help = "fix it with `git` in that directory";
    Err(stage.fail(completed.code, Trouble::new(TroubleKind::Failed, message, help)))
}
