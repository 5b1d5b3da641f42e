//! Packages in git repositories, by the user's own `git`.
//!
//! Nothing is checked out: the files of a commit are read from the object database. So there are no hooks, no
//! filters, no submodules and no symlinks that could act, and what is not a regular file is refused.

use std::path::Path;

use opal_plugins::address::{GitSource, Reference, Repository, is_commit, tags};
use opal_plugins::package::{MAX_BYTES, MAX_FILES, Mode, Package, belongs};
use semver::Version;

use super::Reach;
use crate::programs::{self, Output};
use crate::refusal::Refusal;

/// Bytes of the list of branches and tags, and of the list of files.
const MAX_LIST: u64 = 32 << 20;

const LFS: &[u8] = b"version https://git-lfs.github.com/spec/";

/// A commit of a repository, with the package in it.
#[derive(Debug)]
pub(crate) struct Commit {
    pub(crate) source: GitSource,
    pub(crate) package: Package,
}

/// What is asked of a repository.
#[derive(Debug)]
pub(crate) struct Checkout<'a> {
    pub(crate) repository: &'a Repository,
    /// As `opal.mod` says it.
    pub(crate) wanted: &'a str,
    pub(crate) locked: Option<&'a GitSource>,
    /// A locked branch or a locked short tag may move on.
    pub(crate) updates: bool,
    pub(crate) reach: &'a Reach,
}

impl Checkout<'_> {
    pub(crate) fn fetch(&self) -> Result<Commit, Refusal> {
        let folder =
            tempfile::tempdir().map_err(|error| Refusal::unwritten("a directory", &error))?;
        let folder = folder.path();
        self.demand(folder, &["init", "--quiet", "--bare", "--template=", "."])?;
        let found = match self.locked.filter(|_| !self.updates) {
            Some(locked) => (locked.reference.clone(), Some(locked.commit.clone())),
            None => self.choose()?,
        };
        let (reference, expected) = found;
        let commit = self.bring(folder, &reference, expected.as_deref())?;
        if let (Reference::Tag(tag), Some(locked)) = (&reference, self.locked)
            && locked.reference == reference
            && locked.commit != commit
        {
            return Err(self.moved(tag, &locked.commit, &commit));
        }
        let package = self.package(folder, &commit)?;
        let source = GitSource { repository: self.repository.clone(), reference, commit };
        Ok(Commit { source, package })
    }

    fn moved(&self, tag: &str, from: &str, to: &str) -> Refusal {
        let message = format!(
            "the tag {tag} of {} was moved from {} to {}",
            self.repository.place,
            &from[..12],
            &to[..12]
        );
        Refusal::untrusted(
            message,
            "ask its owner why; to use it nevertheless, remove the package and add it again",
        )
    }

    /// What a tag, a branch or a commit means now: a tag, then a short tag, a branch, a commit.
    fn choose(&self) -> Result<(Reference, Option<String>), Refusal> {
        let ran =
            self.git(None, &["ls-remote", "--heads", "--tags", "--", &self.repository.url])?;
        let text = String::from_utf8_lossy(&ran.stdout).into_owned();
        let names = text.lines().filter_map(|line| line.split_once('\t')).map(|(_, name)| name);
        let names: Vec<&str> = names.filter(|name| !name.ends_with("^{}")).collect();
        let is_there = |name: String| names.contains(&name.as_str());
        let wanted = self.wanted.to_owned();
        if is_there(format!("refs/tags/{wanted}")) {
            return Ok((Reference::Tag(wanted), None));
        }
        let versions = tags(&wanted).and_then(|fits| {
            let tags = names.iter().filter_map(|name| name.strip_prefix("refs/tags/"));
            let tags =
                tags.filter_map(|tag| Some((Version::parse(tag.strip_prefix('v')?).ok()?, tag)));
            tags.filter(|(version, _)| fits.holds(version)).max()
        });
        if let Some((_, tag)) = versions {
            return Ok((Reference::Tag(tag.to_owned()), None));
        }
        if is_there(format!("refs/heads/{wanted}")) {
            return Ok((Reference::Branch(wanted), None));
        }
        if is_commit(&wanted) {
            return Ok((Reference::Commit(wanted), None));
        }
        let message = format!("{} has no tag, branch or commit `{wanted}`", self.repository.place);
        Err(Refusal::unavailable(message, "see its tags with `git ls-remote`"))
    }

    /// Fetches a commit, and says which one it is.
    fn bring(
        &self,
        folder: &Path,
        reference: &Reference,
        expected: Option<&str>,
    ) -> Result<String, Refusal> {
        let fetch = |what: &[&str]| {
            let mut words = vec![
                "fetch",
                "--quiet",
                "--no-tags",
                "--no-recurse-submodules",
                "--no-write-fetch-head",
            ];
            words.extend(["--depth=1", "--", self.repository.url.as_str()]);
            words.extend(what);
            self.git(Some(folder), &words)
        };
        let place = "refs/opal/found";
        match reference {
            Reference::Tag(name) => {
                self.must(fetch(&[&format!("+refs/tags/{name}:{place}")])?)?;
            }
            Reference::Branch(name) if expected.is_none() => {
                self.must(fetch(&[&format!("+refs/heads/{name}:{place}")])?)?;
            }
            Reference::Branch(name) | Reference::Commit(name) => {
                let commit = expected.unwrap_or(name);
                let is_whole = matches!(commit.len(), 40 | 64);
                let direct =
                    if is_whole { Some(fetch(&[&format!("+{commit}:{place}")])?) } else { None };
                if direct.is_none_or(|ran| !ran.is_success) {
                    // Not every server hands out a commit by its name.
                    let words =
                        ["fetch", "--quiet", "--no-recurse-submodules", "--", &self.repository.url];
                    let all = ["+refs/heads/*:refs/all/heads/*", "+refs/tags/*:refs/all/tags/*"];
                    self.must(self.git(Some(folder), &[&words[..], &all[..]].concat())?)?;
                    return self.parsed(folder, commit);
                }
            }
        }
        let found = self.parsed(folder, place)?;
        match (reference, expected.filter(|expected| *expected != found)) {
            (_, None) => Ok(found),
            (Reference::Tag(tag), Some(expected)) => Err(self.moved(tag, expected, &found)),
            (_, Some(_)) => Err(Refusal::untrusted(
                format!("{} answered with another commit", self.repository.place),
                "ask its owner",
            )),
        }
    }

    fn parsed(&self, folder: &Path, name: &str) -> Result<String, Refusal> {
        let name = format!("{name}^{{commit}}");
        let ran = self
            .git(Some(folder), &["rev-parse", "--verify", "--quiet", "--end-of-options", &name])?;
        let text = String::from_utf8_lossy(&ran.stdout).trim().to_owned();
        if ran.is_success && is_commit(&text) {
            return Ok(text);
        }
        let message =
            format!("{} does not have the commit `{}`", self.repository.place, self.wanted);
        Err(Refusal::unavailable(message, "use a tag, or more digits of the commit"))
    }

    /// The files of a commit that belong to the package.
    fn package(&self, folder: &Path, commit: &str) -> Result<Package, Refusal> {
        let tree = format!("{commit}:{}", self.repository.directory);
        let ran =
            self.git(Some(folder), &["ls-tree", "-r", "-z", "-l", "--end-of-options", &tree])?;
        if !ran.is_success {
            let (place, directory) = (&self.repository.place, &self.repository.directory);
            let message = format!("{place} has no directory `{directory}` in {}", self.wanted);
            return Err(Refusal::unavailable(message, "check the address of the package"));
        }
        let mut files = Vec::new();
        let mut total = 0_u64;
        for line in ran.stdout.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
            let Some(entry) = Entry::parse(line) else {
                return Err(self.strange("its list of files"));
            };
            if !belongs(&entry.path) {
                continue;
            }
            let kind = match entry.mode.as_str() {
                "100644" | "100664" | "100755" => None,
                "120000" => Some("a symlink"),
                "160000" => Some("a submodule"),
                _ => Some("not a file"),
            };
            if let Some(kind) = kind {
                return Err(self.strange(&format!("{:?} is {kind}", entry.path)));
            }
            total += entry.size;
            files.push(entry);
        }
        if total > MAX_BYTES || files.len() > MAX_FILES {
            return Err(self.strange("it has more than 64 MiB or 10,000 files"));
        }
        self.contents(folder, files)
    }

    fn contents(&self, folder: &Path, files: Vec<Entry>) -> Result<Package, Refusal> {
        let ids: String = files.iter().map(|file| format!("{}\n", file.id)).collect();
        let most = MAX_BYTES + files.len() as u64 * 128;
        let ran = self.fed(Some(folder), &["cat-file", "--batch"], ids.as_bytes(), most)?;
        let ran = self.must(ran)?;
        let mut rest = ran.stdout.as_slice();
        let mut package = Package::default();
        for file in files {
            let length = usize::try_from(file.size).unwrap_or(usize::MAX);
            let head = rest.iter().position(|byte| *byte == b'\n').map(|at| rest.split_at(at + 1));
            let Some((_, after)) = head else { return Err(self.strange(&file.path)) };
            let Some((bytes, after)) = after.split_at_checked(length) else {
                return Err(self.strange(&file.path));
            };
            rest = after.get(1..).unwrap_or_default();
            if bytes.starts_with(LFS) {
                return Err(self.strange(&format!("{:?} is in Git LFS", file.path)));
            }
            let mode = if file.mode == "100755" { Mode::Executable } else { Mode::Plain };
            let added = file.path.parse().and_then(|path| package.add(path, mode, bytes.to_vec()));
            added.map_err(|error| self.strange(&error.to_string()))?;
        }
        Ok(package)
    }

    fn strange(&self, why: &str) -> Refusal {
        Refusal::invalid(format!("{} is not a package: {why}", self.repository.place))
    }

    fn must(&self, ran: Output) -> Result<Output, Refusal> {
        if ran.is_success {
            return Ok(ran);
        }
        let place = &self.repository.place;
        let message = format!("{place} cannot be fetched: git says: {}", ran.stderr);
        Err(Refusal::unavailable(message, "try it with `git ls-remote`, and check your access"))
    }

    fn demand(&self, folder: &Path, words: &[&str]) -> Result<Output, Refusal> {
        self.must(self.git(Some(folder), words)?)
    }

    fn git(&self, folder: Option<&Path>, words: &[&str]) -> Result<Output, Refusal> {
        let ran = self.fed(folder, words, &[], MAX_LIST)?;
        // Without a repository there is nothing else to try.
        if folder.is_none() { self.must(ran) } else { Ok(ran) }
    }

    fn fed(
        &self,
        folder: Option<&Path>,
        words: &[&str],
        input: &[u8],
        most: u64,
    ) -> Result<Output, Refusal> {
        let url = &self.repository.url;
        let scheme = match url.split_once("://") {
            Some(("https", _)) => "https",
            Some(("file", _)) => "file",
            _ => "ssh",
        };
        let allowed = format!("protocol.{scheme}.allow=always");
        let mut all =
            vec!["-c", "protocol.allow=never", "-c", &allowed, "-c", "core.hooksPath=/dev/null"];
        all.extend(["-c", "core.fsmonitor=false", "-c", "submodule.recurse=false"]);
        all.extend([
            "-c",
            "fetch.writeCommitGraph=false",
            "-c",
            "gc.auto=0",
            "-c",
            "maintenance.auto=false",
        ]);
        let folder = folder.map(|folder| folder.display().to_string());
        if let Some(folder) = &folder {
            all.extend(["-C", folder]);
        }
        all.extend(words);
        let mut more = vec![
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ALLOW_PROTOCOL", scheme),
            ("GIT_LFS_SKIP_SMUDGE", "1"),
            ("LC_ALL", "C"),
        ];
        let has_ssh =
            ["GIT_SSH_COMMAND", "GIT_SSH"].iter().any(|it| self.reach.variable(it).is_some());
        if !has_ssh {
            more.push(("GIT_SSH_COMMAND", "ssh -oBatchMode=yes"));
        }
        programs::run("git", &all, &more, input, most, self.reach)
            .map_err(|unrun| Refusal::unavailable(unrun.why, unrun.help))
    }
}

/// A line of `git ls-tree -l`.
#[derive(Debug)]
struct Entry {
    mode: String,
    id: String,
    size: u64,
    path: String,
}

impl Entry {
    fn parse(line: &[u8]) -> Option<Self> {
        let at = line.iter().position(|byte| *byte == b'\t')?;
        let (head, path) = (std::str::from_utf8(&line[..at]).ok()?, &line[at + 1..]);
        let mut words = head.split_ascii_whitespace();
        let (mode, _, id, size) = (words.next()?, words.next()?, words.next()?, words.next()?);
        // What is not text cannot be a path of a package, and is refused as one.
        let path = String::from_utf8_lossy(path).into_owned();
        Some(Self {
            mode: mode.to_owned(),
            id: id.to_owned(),
            size: size.parse().unwrap_or(0),
            path,
        })
    }
}
