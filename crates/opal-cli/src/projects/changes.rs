//! What has changed since a commit: `--changed-since`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use opal_ops::source::Loaded;
use opal_ops::source::imports::Wanted;

use crate::decorators::Decorators;
use crate::failure::{Exit, Failure};
use crate::{git, source};

/// The files that are not as a commit has them.
#[derive(Debug)]
pub(super) struct Changes {
    /// The whole hash.
    pub(super) commit: String,
    top: PathBuf,
    /// From the top of the repository.
    files: BTreeSet<PathBuf>,
}

impl Changes {
    /// Changed, added or removed since `reference`, committed or not; files that git ignores do not
    /// count.
    pub(super) fn since(reference: &str, top: &Path) -> Result<Self, Failure> {
        let unknown = || {
            Failure::usage(
                format!("`--changed-since {reference}`: unknown commit"),
                "name a commit, a branch or a tag; in CI, fetch it first",
            )
        };
        let wanted = format!("{reference}^{{commit}}");
        let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted];
        let commit = git::answer(top, &words).ok_or_else(unknown)?;
        if commit.len() < 40 || !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(unknown());
        }
        let unlisted = || {
            Failure::new(
                Exit::Unavailable,
                format!("git cannot list what has changed since `{reference}`"),
                "check it with `git diff --name-only`",
            )
        };
        let mut words = without_filters(top);
        let diff = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", &commit, "--"];
        words.extend(diff.map(str::to_owned));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let changed = git::ask(top, &words).ok_or_else(unlisted)?;
        let others = ["ls-files", "-z", "--others", "--exclude-standard"];
        let others = git::ask(top, &others).ok_or_else(unlisted)?;
        let names = changed.split('\0').chain(others.split('\0')).filter(|name| !name.is_empty());
        let files = names.map(PathBuf::from).collect();
        Ok(Self { commit, top: top.to_owned(), files })
    }

    /// Whether something below the directory of a project, or of a project that it imports, has
    /// changed, or a file that it imports.
    pub(super) fn concern(
        &self,
        project: &mut Loaded,
        registry: &Decorators,
    ) -> Result<bool, Failure> {
        source::import(project, Wanted::Everything, registry)?;
        let here = std::env::current_dir().unwrap_or_default();
        let from_top = |path: &Path| {
            let whole = here.join(path);
            let whole = whole.canonicalize().unwrap_or(whole);
            whole.strip_prefix(&self.top).map(Path::to_owned).ok()
        };
        let folder = |file: &Path| from_top(file.parent().unwrap_or(Path::new("")));
        let own = folder(&project.path);
        let links = project.imports.program.links.files.iter().skip(1).zip(&project.imports.files);
        let projects = links.filter(|(links, _)| links.is_project);
        let folders: Vec<PathBuf> =
            own.into_iter().chain(projects.filter_map(|(_, file)| folder(&file.path))).collect();
        let parts = project.imports.files.iter().map(|file| file.path.as_path());
        let variables = project.imports.program.variables.iter().map(|file| Path::new(&file.name));
        let files: BTreeSet<PathBuf> = parts.chain(variables).filter_map(from_top).collect();
        let is_concerned = |changed: &PathBuf| {
            files.contains(changed) || folders.iter().any(|folder| changed.starts_with(folder))
        };
        Ok(self.files.iter().any(is_concerned))
    }
}

/// Settings in which no filter is a program: the configuration of a repository may name some, and
/// comparing files would start them.
fn without_filters(top: &Path) -> Vec<String> {
    let pattern = r"^filter\..*\.(clean|process|required)$";
    let listed = git::ask(top, &["config", "-z", "--name-only", "--get-regexp", pattern]);
    let names: BTreeSet<String> = listed
        .unwrap_or_default()
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    let setting = |name: String| {
        let value = if name.ends_with(".required") { "false" } else { "" };
        ["-c".to_owned(), format!("{name}={value}")]
    };
    names.into_iter().flat_map(setting).collect()
}
