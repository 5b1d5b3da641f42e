//! What the files of a run that may hold a secret have left elsewhere below its stack: the copies that
//! Terragrunt makes of them, and what a write that was cut short has not given its name. And what of its
//! evidence has not become whole.
//!
//! They are only found here. No link is followed, and the walk has an end.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use opal_files::atomic::is_temporary;

use super::file;

/// At most this many entries are read in one run.
pub(crate) const MOST_ENTRIES: usize = 200_000;
const MOST_LEVELS: usize = 48;

/// `.terragrunt-cache` and its like.
const COPIES: &str = ".terragrunt-";

/// What tools fetch, and never copy from beside them.
const FETCHED: [&str; 2] = [".git", ".terraform"];

#[derive(Debug, Default)]
pub(crate) struct Strays {
    pub(crate) found: Vec<PathBuf>,
    /// Why there may be more.
    pub(crate) trouble: Option<String>,
}

impl Strays {
    /// Looks below a stack for what has the name of a listed file; `room` is how many entries may
    /// still be read.
    pub(crate) fn below<'l>(
        stack: &Path,
        listed: impl IntoIterator<Item = &'l Path>,
        room: &mut usize,
    ) -> Self {
        let listed = listed.into_iter().filter_map(Path::file_name).collect();
        let mut strays = Self::default();
        // What is not a directory, or is gone, holds nothing.
        let is_there = stack.symlink_metadata().is_ok_and(|it| it.is_dir());
        let mut left: Vec<Folder> = Vec::new();
        left.extend(is_there.then(|| Folder { path: stack.into(), levels: 0, is_copy: false }));
        while let Some(folder) = left.pop() {
            let entered = match folder.levels < MOST_LEVELS {
                true => strays.enter(&folder, &listed, room, &mut left),
                false => Err(io::Error::other("it is nested too deeply")),
            };
            if let Err(error) = entered {
                let path = folder.path.display();
                strays.trouble = Some(format!("`{path}` cannot be searched: {error}"));
            }
        }
        strays
    }

    /// What has not become whole in the evidence of a run.
    pub(crate) fn in_evidence(folder: &Path) -> Self {
        // What is a link, or is gone, holds nothing of it.
        let is_there = folder.symlink_metadata().is_ok_and(|it| it.is_dir());
        let entries = is_there.then(|| fs::read_dir(folder).ok()).flatten().into_iter().flatten();
        let files = entries.flatten().filter(|it| it.file_type().is_ok_and(|kind| kind.is_file()));
        let files = files.filter(|entry| file::is_unfinished(&entry.file_name()));
        Self { found: files.map(|entry| entry.path()).take(MOST_ENTRIES).collect(), trouble: None }
    }

    fn enter(
        &mut self,
        folder: &Folder,
        listed: &BTreeSet<&OsStr>,
        room: &mut usize,
        left: &mut Vec<Folder>,
    ) -> io::Result<()> {
        for entry in fs::read_dir(&folder.path)? {
            let entry = entry?;
            let too_many = || io::Error::other("there are too many files");
            *room = room.checked_sub(1).ok_or_else(too_many)?;
            let (name, kind) = (entry.file_name(), entry.file_type()?);
            if kind.is_dir() && !FETCHED.iter().any(|it| name == *it) {
                let is_copy =
                    folder.is_copy || name.as_encoded_bytes().starts_with(COPIES.as_bytes());
                left.push(Folder { path: entry.path(), levels: folder.levels + 1, is_copy });
            }
            let is_copied = folder.is_copy && listed.contains(name.as_os_str());
            if kind.is_file() && (is_copied || is_temporary(&name)) {
                self.found.push(entry.path());
            }
        }
        Ok(())
    }
}

#[derive(Debug)]
struct Folder {
    path: PathBuf,
    levels: usize,
    /// Below a directory of copies.
    is_copy: bool,
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(strays: &Strays, stack: &Path) -> Vec<String> {
        let relative = |path: &PathBuf| path.strip_prefix(stack).unwrap().display().to_string();
        let mut names: Vec<String> = strays.found.iter().map(relative).collect();
        names.sort();
        names
    }

    fn write(stack: &Path, names: &[&str]) {
        for name in names {
            let path = stack.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
    }

    #[test]
    fn copies_and_unfinished_files_are_found_and_nothing_else_is() {
        let folder = tempfile::tempdir().unwrap();
        let stack = folder.path().join("stack");
        write(
            &stack,
            &[
                "a.json",
                "modules/a.json",
                ".terragrunt-cache/x/y/a.json",
                ".terragrunt-cache/x/y/b.json",
                ".terragrunt-cache/x/y/.terraform/a.json",
                "unit/.terragrunt-stack/z/a.json",
                ".opal-0123456789abcdef",
                "modules/.opal-0123456789abcdef",
                ".opal-0123456789abcdeg",
                ".opal-0123",
                ".opal-0123456789abcdef0",
            ],
        );
        let outside = folder.path().join("outside");
        write(&outside, &["a.json", ".terragrunt-cache/a.json"]);
        symlink(&outside, stack.join(".terragrunt-cache/link")).unwrap();
        symlink(outside.join("a.json"), stack.join(".terragrunt-cache/a.json")).unwrap();
        let found = Strays::below(&stack, [Path::new("sub/a.json")], &mut 100);
        let expected = [
            ".opal-0123456789abcdef",
            ".terragrunt-cache/x/y/a.json",
            "modules/.opal-0123456789abcdef",
            "unit/.terragrunt-stack/z/a.json",
        ];
        assert_eq!(names(&found, &stack), expected);
        assert_eq!(found.trouble, None);
        let link = folder.path().join("link");
        symlink(&stack, &link).unwrap();
        for path in [link, folder.path().join("gone")] {
            let found = Strays::below(&path, [Path::new("a.json")], &mut 100);
            assert!(found.found.is_empty() && found.trouble.is_none(), "{found:?}");
        }
    }

    #[test]
    fn a_walk_that_does_not_come_to_its_end_says_so() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &["a", "b", "c"]);
        let (mut enough, mut too_few) = (3, 2);
        assert!(Strays::below(folder.path(), [], &mut enough).trouble.is_none());
        let trouble = Strays::below(folder.path(), [], &mut too_few).trouble.unwrap();
        assert!(trouble.contains("too many files"), "{trouble}");
        let deep = "d/".repeat(MOST_LEVELS);
        write(folder.path(), &[&format!("{deep}x")]);
        let trouble = Strays::below(folder.path(), [], &mut 1000).trouble.unwrap();
        assert!(trouble.contains("nested too deep"), "{trouble}");
    }
}
