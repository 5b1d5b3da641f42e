//! What a project is called, and where it says so.

mod head;
mod origin;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use opal_files::regular;
use opal_trust::policy::ProjectFile;

use crate::git::{answer as git, ask};
use opal_core::gather::Gather as _;

const FILE: &str = "opal.mod";

/// Bytes of an `opal.mod`.
const MOST_BYTES: u64 = 256 * 1024;

/// The `opal.mod` beside a source or above it.
pub(crate) fn project_file(source: &Path) -> Option<PathBuf> {
    let folder = folder(source)?;
    folder.ancestors().map(|folder| folder.join(FILE)).find(|file| is_there(file))
}

/// One that cannot be read is one all the same: its rules are missed.
fn is_there(file: &Path) -> bool {
    file.symlink_metadata().is_ok_and(|found| !found.is_dir())
}

/// The name in `opal.mod`, else the git origin, else the directory of the source.
///
/// It decides which placeholders can be compared with which, so that two checkouts of one project
/// on one machine agree. A file that cannot be read has its error where the policy is loaded.
pub(crate) fn project_name(source: &Path) -> String {
    let named = project_file(source).and_then(|file| {
        let text = regular::read_to_string(&file, MOST_BYTES).ok()?;
        ProjectFile::parse(&file, &text).ok()?.name
    });
    if let Some(name) = named {
        return name;
    }
    let Some(folder) = folder(source) else { return String::new() };
    origin(&folder).unwrap_or_else(|| folder.display().to_string())
}

fn folder(source: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(source).ok()?;
    Some(absolute.parent()?.to_owned())
}

fn origin(folder: &Path) -> Option<String> {
    // Without a repository there is no need to start git.
    folder.ancestors().find(|above| above.join(".git").exists())?;
    origin::name(&git(folder, &["config", "--get", "remote.origin.url"])?)
}

/// The commit that is checked out around a source.
pub(crate) fn checked_out(source: &Path) -> Option<String> {
    head::commit(&folder(source)?)
}

/// The same, as git itself says it.
pub(crate) fn commit(source: &Path) -> Option<String> {
    let folder = folder(source)?;
    folder.ancestors().find(|above| above.join(".git").exists())?;
    git(&folder, &["rev-parse", "HEAD"])
}

/// Whether any of these files is not as the commit around the first one has it: changed, or not in it at
/// all. None where git cannot say.
pub(crate) fn is_modified(files: &[PathBuf]) -> Option<bool> {
    /// How many names one call of git gets.
    const NAMES: usize = 500;
    let first = folder(files.first()?)?;
    let top = first.ancestors().find(|above| above.join(".git").exists())?;
    let below = |file: &PathBuf| {
        let whole = std::path::absolute(file).ok()?;
        Some(whole.strip_prefix(top).ok()?.to_str()?.to_owned())
    };
    let Some(names) = files.iter().map(below).collect::<Option<Vec<String>>>() else {
        return Some(true);
    };
    for names in names.chunks(NAMES) {
        if is_one_modified(top, names)? {
            return Some(true);
        }
    }
    Some(false)
}

fn is_one_modified(top: &Path, names: &[String]) -> Option<bool> {
    let with = |words: &[&'static str]| {
        words.iter().copied().chain(names.iter().map(String::as_str)).collect::<Vec<&str>>()
    };
    // Without filters, which are programs that the repository names.
    let now = git(top, &with(&["hash-object", "--no-filters", "--"]))?;
    let listed = git(top, &with(&["ls-tree", "-r", "-z", "HEAD", "--"]))?;
    // `<mode> <type> <hash>\t<name>`, each with a NUL after it.
    let entry = |line: &'_ str| {
        let (facts, name) = line.split_once('\t')?;
        Some((name.to_owned(), facts.rsplit(' ').next()?.to_owned()))
    };
    let committed: BTreeMap<String, String> = listed.split('\0').filter_map(entry).gathered();
    let now: Vec<&str> = now.lines().collect();
    let is_same = |(name, hash): (&String, &&str)| committed.get(name).is_some_and(|it| it == hash);
    Some(now.len() != names.len() || !names.iter().zip(&now).all(is_same))
}

/// Whether a source had this text when its commit was checked out. None where git cannot say, or has
/// never seen the commit.
pub(crate) fn is_as_committed(
    source: &Path,
    commit: &str,
    has: impl Fn(&str) -> bool,
) -> Option<bool> {
    let folder = folder(source)?;
    let name = source.file_name()?.to_str()?;
    // A commit is a word of digits: no record can give git an option.
    let is_commit = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit.then_some(())?;
    git(&folder, &["rev-parse", "--verify", "--quiet", &format!("{commit}^{{commit}}")])?;
    let committed = ask(&folder, &["cat-file", "blob", &format!("{commit}:./{name}")]);
    Some(committed.is_some_and(|text| has(&text)))
}
