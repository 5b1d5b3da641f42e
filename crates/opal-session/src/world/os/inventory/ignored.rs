//! What git ignores: `.gitignore` of a directory and of those above it, up to where its repository
//! begins, then `info/exclude` of the repository, then the file of the user.
//!
//! A rule of a nearer directory wins. Outside of a repository nothing is ignored.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The names in a directory that say what is ignored in it.
pub(super) const RULES: [&str; 3] = [".gitignore", ".git", ".jj"];

/// The rules that hold in a directory: its own, and those of the directories above it.
#[derive(Debug)]
pub(super) struct Rules {
    above: Option<Arc<Self>>,
    own: Gitignore,
    exclude: Gitignore,
    is_repository: bool,
    is_in_repository: bool,
    /// Whether there is any rule that could match.
    is_empty: bool,
    user: Arc<Gitignore>,
}

impl Rules {
    /// The rules that hold for a directory itself: those of all directories above it.
    pub(super) fn above(directory: &Path) -> Arc<Self> {
        let user = Gitignore::global().0;
        let mut rules = Arc::new(Self {
            above: None,
            own: Gitignore::empty(),
            exclude: Gitignore::empty(),
            is_repository: false,
            is_in_repository: false,
            is_empty: user.is_empty(),
            user: Arc::new(user),
        });
        let above: Vec<&Path> = directory.ancestors().skip(1).collect();
        for directory in above.into_iter().rev() {
            let has = RULES.map(|name| directory.join(name).symlink_metadata().is_ok());
            rules = rules.below(directory, has);
        }
        rules
    }

    /// The rules in a directory, which has these of [`RULES`].
    pub(super) fn below(self: &Arc<Self>, directory: &Path, has: [bool; 3]) -> Arc<Self> {
        let [has_own, has_git, has_jj] = has;
        let git = if has_git { directory.join(".git").metadata().ok() } else { None };
        let is_repository = git.is_some() || has_jj && directory.join(".jj").exists();
        let own = match has_own {
            true => read(directory, &directory.join(".gitignore")),
            false => Gitignore::empty(),
        };
        if !is_repository && own.is_empty() {
            return Arc::clone(self);
        }
        let common = git.and_then(|git| match git.is_file() {
            true => common_directory(directory),
            false => Some(directory.join(".git")),
        });
        let exclude = match common {
            Some(common) => read(directory, &common.join("info/exclude")),
            None => Gitignore::empty(),
        };
        Arc::new(Self {
            is_empty: self.is_empty && own.is_empty() && exclude.is_empty(),
            above: Some(Arc::clone(self)),
            own,
            exclude,
            is_repository,
            is_in_repository: is_repository || self.is_in_repository,
            user: Arc::clone(&self.user),
        })
    }

    /// Whether a whole path in the directory of these rules is ignored.
    pub(super) fn ignore(&self, path: &Path, is_directory: bool) -> bool {
        if self.is_empty || !self.is_in_repository {
            return false;
        }
        let (mut own, mut exclude) = (Match::None, Match::None);
        let mut rules = Some(self);
        while let Some(here) = rules {
            own = own.or(here.own.matched(path, is_directory));
            exclude = exclude.or(here.exclude.matched(path, is_directory));
            rules = here.above.as_deref().filter(|_| !here.is_repository && own.is_none());
        }
        own.or(exclude).or(self.user.matched(path, is_directory)).is_ignore()
    }
}

/// The rules of a file; none of one that cannot be read.
fn read(directory: &Path, file: &Path) -> Gitignore {
    // A FIFO would never end.
    if !file.is_file() {
        return Gitignore::empty();
    }
    let mut builder = GitignoreBuilder::new(directory);
    // An invalid line leaves the others as they are.
    let _ = builder.add(file);
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// The directory of a repository that other work trees share: `.git` is a file that leads there.
fn common_directory(directory: &Path) -> Option<PathBuf> {
    let first_line = |path: &Path| -> Option<String> {
        fs::read_to_string(path).ok()?.lines().next().map(str::to_owned)
    };
    let line = first_line(&directory.join(".git"))?;
    let own = directory.join(line.strip_prefix("gitdir: ")?);
    // A submodule has one of its own.
    let common = first_line(&own.join("commondir")).unwrap_or_default();
    Some(own.join(common))
}
