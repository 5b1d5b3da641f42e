//! What a project is called, and where it says so.

mod head;
mod origin;

use std::path::{Path, PathBuf};

use opal_core::resolver::{Probe, Run};
use opal_files::regular;
use opal_session::world::{OsWorld, Surroundings};
use opal_trust::policy::ProjectFile;

use crate::ambient::Ambient;

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

/// Whether the file of a source is not as that commit has it: changed, or not in it at all. None where
/// git cannot say.
pub(crate) fn is_modified(source: &Path) -> Option<bool> {
    let folder = folder(source)?;
    let Some(name) = source.file_name().and_then(std::ffi::OsStr::to_str) else {
        return Some(true);
    };
    // Without filters, which are programs that the repository names.
    let now = git(&folder, &["hash-object", "--no-filters", "--", name])?;
    let committed = git(&folder, &["rev-parse", "--verify", "--quiet", &format!("HEAD:./{name}")]);
    Some(committed.is_none_or(|committed| committed != now))
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

fn git(folder: &Path, words: &[&str]) -> Option<String> {
    Some(ask(folder, words)?.trim().to_owned())
}

fn ask(folder: &Path, words: &[&str]) -> Option<String> {
    let world = OsWorld::new(Surroundings {
        environment: Ambient::environment(),
        start: folder.to_owned(),
        home: None,
    });
    let mut command = vec!["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
    command.extend(words);
    let output = world.run(&Run::Program(&command)).ok()?;
    Some(output.expose().to_owned())
}
