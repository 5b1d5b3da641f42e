//! Which commit is checked out, read from git's own files: a run that takes milliseconds does not
//! start a program to know.

use std::path::{Path, PathBuf};

use opal_files::regular;

/// Bytes of a file that lists references.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The commit of the repository that holds `folder`; none where there is none, or where its files
/// have a form that is not known here.
pub(crate) fn commit(folder: &Path) -> Option<String> {
    let git = folder.ancestors().map(|above| above.join(".git")).find(|git| git.exists())?;
    let git = if git.is_file() { pointed(&git)? } else { git };
    let head = read(&git.join("HEAD"))?;
    let head = head.trim();
    let Some(name) = head.strip_prefix("ref: ") else { return object(head) };
    // A worktree shares all but its HEAD with the repository that it belongs to.
    let common = read(&git.join("commondir")).map(|path| git.join(path.trim()));
    let common = common.unwrap_or_else(|| git.clone());
    let loose = [&git, &common].into_iter().find_map(|place| read(&place.join(name)));
    match loose {
        Some(text) => object(text.trim()),
        None => packed(&read(&common.join("packed-refs"))?, name),
    }
}

/// `gitdir: PATH`, as worktrees and submodules have it.
fn pointed(file: &Path) -> Option<PathBuf> {
    let text = read(file)?;
    let path = text.strip_prefix("gitdir:")?.trim();
    Some(file.parent()?.join(path))
}

fn packed(text: &str, name: &str) -> Option<String> {
    let mut lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.find(|(_, reference)| *reference == name).and_then(|(id, _)| object(id))
}

fn object(text: &str) -> Option<String> {
    let digits = matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
    digits.then(|| text.to_owned())
}

fn read(path: &Path) -> Option<String> {
    regular::read_to_string(path, MAX_BYTES).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";

    #[test]
    fn the_commit_is_found_wherever_git_keeps_it() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        let put = |name: &str, text: &str| {
            let path = git.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert_eq!(commit(folder.path()), None);
        put("HEAD", "ref: refs/heads/main\n");
        assert_eq!(commit(folder.path()), None);
        put(
            "packed-refs",
            &format!("# pack-refs\n{TWO} refs/heads/main2\n{ONE} refs/heads/main\n"),
        );
        assert_eq!(commit(&folder.path().join("a/b")), Some(ONE.into()));
        put("refs/heads/main", &format!("{TWO}\n"));
        assert_eq!(commit(folder.path()), Some(TWO.into()));
        put("HEAD", &format!("{ONE}\n"));
        assert_eq!(commit(folder.path()), Some(ONE.into()));
        put("worktrees/w/HEAD", "ref: refs/heads/main\n");
        put("worktrees/w/commondir", "../..\n");
        let worktree = folder.path().join("w");
        fs::create_dir(&worktree).unwrap();
        fs::write(worktree.join(".git"), "gitdir: ../.git/worktrees/w\n").unwrap();
        assert_eq!(commit(&worktree), Some(TWO.into()));
    }
}
