//! What is at the destination, and what the server has.

use std::path::Path;

use opal_core::files::EntryKind;
use opal_core::git::Remote;
use opal_core::resolver::{Answer, Probe, Trouble, TroubleKind};

use super::git::{git_in, git_with};
use super::url;
use crate::resource::paths;
use crate::resource::programs::reason;

/// What is at the destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Nothing,
    EmptyDirectory,
    /// Someone's files, as words: `a file`.
    Other(&'static str),
    Repository(Repository),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repository {
    pub(super) origin: Option<String>,
    /// None where a commit is checked out by itself.
    pub(super) branch: Option<String>,
    /// None before the first commit.
    pub(super) commit: Option<String>,
    pub(super) changes: Changes,
}

/// Files of a working copy that are not as committed. Files that git does not know are nobody's
/// deviation: builds and editors leave them, and nothing here removes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    pub(super) count: usize,
    /// The first of them.
    pub(super) first: Vec<String>,
}

/// Files with changes that are named.
const MAX_NAMED: usize = 5;

impl Changes {
    /// From the lines of `git status --porcelain`, each with two letters before the name.
    fn read(listing: &str) -> Self {
        let names = || listing.lines().filter_map(|line| line.get(3..));
        let first = names().take(MAX_NAMED).map(str::to_owned).collect();
        Self { count: names().count(), first }
    }

    /// `none`, or `2 files (one, two)`.
    pub(super) fn words(&self) -> String {
        let names = self.first.join(", ");
        let more = if self.count > self.first.len() { ", …" } else { "" };
        match self.count {
            0 => "none".to_owned(),
            1 => format!("1 file ({names})"),
            count => format!("{count} files ({names}{more})"),
        }
    }
}

/// The branch that is followed, and where it is on the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tip {
    pub(super) branch: String,
    pub(super) commit: String,
}

pub(super) fn inspect(path: &Path, probe: &dyn Probe) -> Result<Place, Trouble> {
    let Some(entry) = paths::stat_creatable(path, probe)? else { return Ok(Place::Nothing) };
    // Nor a link to a repository: whoever made it would decide what is changed.
    if entry.kind != EntryKind::Directory {
        return Ok(Place::Other(entry.kind.name()));
    }
    if probe.list(path)?.is_empty() {
        return Ok(Place::EmptyDirectory);
    }
    if !is_repository(path, probe)? {
        return Ok(Place::Other("a directory with other files"));
    }
    let inside = git_in(path, "rev-parse --is-inside-work-tree")?.ask(probe)?;
    match (inside.code, inside.stdout.expose().trim()) {
        (0, "true") => repository(path, probe).map(Place::Repository),
        (0, _) => Ok(Place::Other("a repository without a working copy")),
        _ => Err(unreadable(path, &inside)),
    }
}

/// Whether a directory holds what git looks for: `.git`, or the parts of a repository without a
/// working copy.
fn is_repository(path: &Path, probe: &dyn Probe) -> Result<bool, Trouble> {
    let has = |name: &str| probe.stat(&path.join(name)).map(|entry| entry.is_some());
    Ok(has(".git")? || (has("HEAD")? && has("objects")? && has("refs")?))
}

fn repository(path: &Path, probe: &dyn Probe) -> Result<Repository, Trouble> {
    let line = |words| {
        let answer = git_in(path, words)?.ask(probe)?;
        match answer.code {
            0 => Ok(Some(answer.stdout.expose().trim_end_matches('\n').to_owned())),
            1 => Ok(None),
            _ => Err(unreadable(path, &answer)),
        }
    };
    let status = git_in(path, "status --porcelain --untracked-files=no --ignore-submodules=dirty")?;
    let status = status.ask(probe)?;
    if status.code != 0 {
        return Err(unreadable(path, &status));
    }
    Ok(Repository {
        changes: Changes::read(status.stdout.expose()),
        origin: line("config --get remote.origin.url")?,
        branch: line("symbolic-ref --quiet --short HEAD")?,
        commit: line("rev-parse --quiet --verify 'HEAD^{commit}'")?,
    })
}

/// A branch that another working copy of the same repository has checked out cannot be moved to: its
/// files would no longer be those of its branch.
pub(super) fn demand_free(
    path: &Path,
    repository: &Repository,
    tip: &Tip,
    probe: &dyn Probe,
) -> Result<(), Trouble> {
    if repository.branch.as_ref() == Some(&tip.branch) {
        return Ok(());
    }
    let listed = git_in(path, "worktree list --porcelain")?.ask(probe)?;
    if listed.code != 0 {
        return Err(unreadable(path, &listed));
    }
    let Some(other) = holder(listed.stdout.expose(), &tip.branch) else { return Ok(()) };
    let message = format!("`{}` is checked out in `{other}`, of the same repository", tip.branch);
    let help = "follow another branch, or clone into a directory that is not a worktree of it";
    Err(Trouble::new(TroubleKind::Failed, message, help))
}

/// The working copy that has a branch checked out, in what `git worktree list --porcelain` says.
fn holder<'l>(listing: &'l str, branch: &str) -> Option<&'l str> {
    let reference = format!("branch refs/heads/{branch}");
    let mut copies = listing.split("\n\n");
    let copy = copies.find(|copy| copy.lines().any(|line| line == reference))?;
    copy.lines().find_map(|line| line.strip_prefix("worktree "))
}

fn unreadable(path: &Path, answer: &Answer) -> Trouble {
    let (path, said) = (path.display(), answer.stderr.expose());
    if said.contains("dubious ownership") {
        let message = format!("git does not trust the owner of `{path}`");
        let help = format!(
            "run opal as the owner, or trust the directory: `git config --global --add \
             safe.directory {path}`"
        );
        return Trouble::new(TroubleKind::Denied, message, help);
    }
    let message = format!("git cannot read `{path}`: {}", url::without_credentials(reason(said)));
    let help = format!("try `git -C {path} status`");
    Trouble::new(TroubleKind::Failed, message, help)
}

/// Asks the server. The destination has no say in it: a repository can name programs to run.
pub(super) fn tip(
    remote: &Remote,
    branch: Option<&str>,
    probe: &dyn Probe,
) -> Result<Tip, Trouble> {
    let reference = branch.map_or("HEAD".to_owned(), |branch| format!("refs/heads/{branch}"));
    let program = git_with(remote, "--git-dir=/dev/null ls-remote --symref --");
    let answer = program.word(&*remote.url).word(&*reference).ask(probe)?;
    let shown = url::without_credentials(&remote.url);
    if answer.code != 0 {
        let said = without_time(&url::without_credentials(why(answer.stderr.expose())));
        let message = format!("the server of `{shown}` does not answer: {said}");
        let help = format!("try `git ls-remote {shown}`; opal never asks for a password");
        return Err(Trouble::new(TroubleKind::Failed, message, help));
    }
    read_tip(answer.stdout.expose(), branch).ok_or_else(|| match branch {
        Some(branch) => {
            let message = format!("`{shown}` has no branch `{branch}`");
            let help = format!("list its branches with `git ls-remote --heads {shown}`");
            Trouble::new(TroubleKind::Missing, message, help)
        }
        None => {
            let message = format!("`{shown}` is empty, or has no default branch");
            Trouble::new(TroubleKind::Missing, message, "name a branch: `branch=\"main\"`")
        }
    })
}

/// Without the time that curl names: the same answer is the same message.
fn without_time(said: &str) -> String {
    let found = said.split_once(" after ").and_then(|(before, rest)| {
        let rest = rest.trim_start_matches(|it: char| it.is_ascii_digit()).strip_prefix(" ms")?;
        Some(format!("{before}{rest}"))
    });
    found.unwrap_or_else(|| said.to_owned())
}

/// The last lines of git advise; the first that begins with `fatal: ` says what is wrong.
fn why(said: &str) -> &str {
    said.lines().find_map(|line| line.strip_prefix("fatal: ")).unwrap_or_else(|| reason(said))
}

/// `COMMIT⇥refs/heads/main`, and before it `ref: refs/heads/main⇥HEAD` where no branch was asked
/// for.
fn read_tip(listing: &str, branch: Option<&str>) -> Option<Tip> {
    let rows = || listing.lines().filter_map(|line| line.split_once('\t'));
    let commit = |reference: &str| {
        let row = rows().find(|(what, name)| *name == reference && !what.starts_with("ref: "));
        row.map(|(commit, _)| commit.to_owned())
    };
    let (branch, commit) = match branch {
        Some(branch) => (branch, commit(&format!("refs/heads/{branch}"))?),
        None => {
            let mut heads = rows().filter(|(_, name)| *name == "HEAD");
            let branch = heads.find_map(|(what, _)| what.strip_prefix("ref: refs/heads/"))?;
            (branch, commit("HEAD")?)
        }
    };
    Some(Tip { branch: branch.to_owned(), commit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_says_which_branch_it_is_about() {
        let listing = "ref: refs/heads/trunk\tHEAD\nabc\tHEAD\n";
        let tip = Tip { branch: "trunk".into(), commit: "abc".into() };
        assert_eq!(read_tip(listing, None), Some(tip));
        assert_eq!(read_tip("abc\tHEAD\n", None), None);
        assert_eq!(read_tip("", None), None);
    }

    #[test]
    fn a_branch_is_held_by_the_working_copy_that_names_it() {
        let listing = "worktree /src/dev\nHEAD abc\nbranch refs/heads/main\n\n\
                       worktree /src/two words\nHEAD abc\nbranch refs/heads/wip\n\n\
                       worktree /src/alone\nHEAD abc\ndetached\n\n";
        assert_eq!(holder(listing, "main"), Some("/src/dev"));
        assert_eq!(holder(listing, "wip"), Some("/src/two words"));
        assert_eq!(holder(listing, "mai"), None);
    }

    #[test]
    fn only_the_whole_name_is_the_branch() {
        let listing = "abc\trefs/heads/x/refs/heads/v1\ndef\trefs/heads/v1\n";
        assert_eq!(read_tip(listing, Some("v1")).map(|tip| tip.commit), Some("def".to_owned()));
        assert_eq!(read_tip(listing, Some("v*")), None);
    }

    #[test]
    fn the_reason_is_what_git_calls_fatal() {
        let said = "warning: x\nfatal: could not read Username\nPlease make sure you may\n";
        assert_eq!(why(said), "could not read Username");
        assert_eq!(why("ssh: no route\n"), "ssh: no route");
    }
}
