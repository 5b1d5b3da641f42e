//! Files that are only data: read and changed as an operating system would do it.
//!
//! Deliberately not here: who may do what. Nobody is refused but at what was given as closed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use opal_core::files::{Attributes, Entry, EntryKind};
use opal_core::resolver::{Trouble, TroubleKind};

/// As many as an operating system follows.
const MAX_LINKS: usize = 40;

/// Whole paths, each with what is there. A directory above something is there too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree(BTreeMap<PathBuf, Node>);

#[derive(Clone, Debug)]
pub(crate) struct Node {
    content: Content,
    mode: u32,
    owner: u32,
    group: u32,
}

#[derive(Clone)]
pub(crate) enum Content {
    File(Vec<u8>),
    /// It is there, and cannot be opened.
    Closed(Trouble),
    Directory,
    Link(PathBuf),
    Other,
    /// Neither it nor what is below it can be read.
    Hidden(Trouble),
}

impl Tree {
    pub(super) fn put(&mut self, path: PathBuf, content: Content) {
        let mode = match content {
            Content::Directory => 0o755,
            Content::Link(_) => 0o777,
            _ => 0o644,
        };
        self.0.insert(path, Node { content, mode, owner: 0, group: 0 });
    }

    pub(crate) fn stat(&self, path: &Path) -> Result<Option<Entry>, Trouble> {
        let path = self.followed(path, false)?;
        let Some(node) = self.0.get(&path) else {
            return Ok(self.is_directory(&path).then_some(entry(EntryKind::Directory, 0o755)));
        };
        let (kind, bytes) = match &node.content {
            Content::File(bytes) => (EntryKind::File, bytes.len()),
            Content::Closed(_) => (EntryKind::File, 0),
            Content::Directory => (EntryKind::Directory, 0),
            Content::Link(to) => (EntryKind::Link, to.as_os_str().len()),
            Content::Other => (EntryKind::Other, 0),
            Content::Hidden(trouble) => return Err(trouble.clone()),
        };
        let Node { mode, owner, group, .. } = *node;
        Ok(Some(Entry { kind, mode, owner, group, bytes: bytes as u64 }))
    }

    /// None where nothing is.
    pub(crate) fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, Trouble> {
        let path = self.followed(path, true)?;
        match self.0.get(&path).map(|node| &node.content) {
            Some(Content::File(bytes)) => Ok(Some(bytes.clone())),
            Some(Content::Closed(trouble) | Content::Hidden(trouble)) => Err(trouble.clone()),
            Some(_) => Err(wrong(&path, "is not a file")),
            None if self.is_directory(&path) => Err(wrong(&path, "is a directory, not a file")),
            None => Ok(None),
        }
    }

    /// Fails where a symlink is below a directory, at the path or on the way to it.
    pub(crate) fn refuse_links(&self, top: &Path, path: &Path) -> Result<(), Trouble> {
        for part in path.ancestors().take_while(|part| *part != top) {
            if self.stat(part)?.is_some_and(|it| it.kind == EntryKind::Link) {
                return Err(wrong(part, "is a symlink"));
            }
        }
        Ok(())
    }

    pub(crate) fn read_link(&self, path: &Path) -> Result<PathBuf, Trouble> {
        let path = self.followed(path, false)?;
        match self.0.get(&path).map(|node| &node.content) {
            Some(Content::Link(to)) => Ok(to.clone()),
            Some(_) => Err(wrong(&path, "is not a symlink")),
            None => Err(absent(&path)),
        }
    }

    pub(crate) fn list(&self, path: &Path) -> Result<Vec<OsString>, Trouble> {
        let path = self.followed(path, true)?;
        match self.0.get(&path).map(|node| &node.content) {
            Some(Content::Hidden(trouble)) => return Err(trouble.clone()),
            Some(Content::Directory) => {}
            Some(_) => return Err(wrong(&path, "is not a directory")),
            None if self.is_directory(&path) => {}
            None => return Err(absent(&path)),
        }
        let mut names: Vec<OsString> =
            self.below(&path).filter_map(|it| first(it.strip_prefix(&path).ok()?)).collect();
        names.dedup();
        Ok(names)
    }

    pub(crate) fn write(&mut self, path: &Path, bytes: Vec<u8>) -> Result<(), Trouble> {
        let path = self.followed(path, false)?;
        if self.is_directory(&path) {
            return Err(wrong(&path, "is a directory"));
        }
        match self.0.get_mut(&path) {
            Some(Node { content: content @ Content::File(_), .. }) => {
                *content = Content::File(bytes);
            }
            Some(_) => return Err(wrong(&path, "is not a file")),
            None => self.put(path, Content::File(bytes)),
        }
        Ok(())
    }

    pub(crate) fn refuse_anything(&self, path: &Path) -> Result<(), Trouble> {
        match self.stat(path)? {
            None => Ok(()),
            Some(_) => Err(wrong(path, "was created by another process meanwhile")),
        }
    }

    pub(crate) fn make_directory(&mut self, path: &Path) -> Result<(), Trouble> {
        match self.stat(path)? {
            None => {
                let path = self.followed(path, false)?;
                self.put(path, Content::Directory);
                Ok(())
            }
            Some(Entry { kind: EntryKind::Directory, .. }) => Ok(()),
            Some(_) => Err(wrong(path, "is not a directory")),
        }
    }

    pub(crate) fn make_link(
        &mut self,
        path: &Path,
        to: &Path,
        replace: bool,
    ) -> Result<(), Trouble> {
        match self.stat(path)? {
            Some(Entry { kind: EntryKind::Link, .. }) | None => {}
            Some(_) if replace => self.remove(path, true)?,
            Some(_) => return Err(wrong(path, "is in the place of the symlink")),
        }
        let path = self.followed(path, false)?;
        self.put(path, Content::Link(to.to_owned()));
        Ok(())
    }

    pub(crate) fn set(&mut self, path: &Path, attributes: &Attributes) -> Result<(), Trouble> {
        let whole = self.followed(path, false)?;
        match self.stat(path)?.map(|entry| entry.kind) {
            None => return Err(absent(path)),
            Some(EntryKind::Directory) if !self.0.contains_key(&whole) => {
                self.put(whole.clone(), Content::Directory);
            }
            Some(EntryKind::File | EntryKind::Directory) => {}
            Some(_) => return Err(wrong(path, "is neither a file nor a directory")),
        }
        if let Some(node) = self.0.get_mut(&whole) {
            node.mode = attributes.mode.unwrap_or(node.mode);
            node.owner = attributes.owner.unwrap_or(node.owner);
            node.group = attributes.group.unwrap_or(node.group);
        }
        Ok(())
    }

    pub(crate) fn remove(&mut self, path: &Path, recursive: bool) -> Result<(), Trouble> {
        let path = self.followed(path, false)?;
        let below: Vec<PathBuf> = self.below(&path).cloned().collect();
        if !below.is_empty() && !recursive {
            return Err(wrong(&path, "is a directory that is not empty"));
        }
        for path in below.iter().chain([&path]) {
            self.0.remove(path);
        }
        Ok(())
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.keys()
    }

    fn is_directory(&self, path: &Path) -> bool {
        path == Path::new("/") || self.below(path).next().is_some()
    }

    fn below<'t>(&'t self, path: &'t Path) -> impl Iterator<Item = &'t PathBuf> {
        // Paths are ordered by their parts, so everything below is adjacent.
        let rest = self.0.range(path.to_owned()..).map(|(it, _)| it);
        rest.skip_while(move |it| *it == path).take_while(move |it| it.starts_with(path))
    }

    /// The path without links on the way to it, and, if `last`, without one at its end.
    fn followed(&self, path: &Path, last: bool) -> Result<PathBuf, Trouble> {
        let mut path = plain(path);
        for _ in 0..MAX_LINKS {
            let Some((at, to)) = self.link_on(&path, last)? else { return Ok(path) };
            let rest = path.strip_prefix(&at).unwrap_or(Path::new("")).to_owned();
            let to = at.parent().unwrap_or(Path::new("/")).join(to);
            path = plain(&if rest.as_os_str().is_empty() { to } else { to.join(rest) });
        }
        Err(wrong(&path, "leads through too many symlinks"))
    }

    fn link_on(&self, path: &Path, last: bool) -> Result<Option<(PathBuf, PathBuf)>, Trouble> {
        let mut above: Vec<&Path> = path.ancestors().collect();
        above.reverse();
        for part in above {
            match self.0.get(part).map(|node| &node.content) {
                Some(Content::Hidden(trouble)) if part != path => return Err(trouble.clone()),
                Some(Content::Link(to)) if part != path || last => {
                    return Ok(Some((part.to_owned(), to.clone())));
                }
                _ => {}
            }
        }
        Ok(None)
    }
}

fn entry(kind: EntryKind, mode: u32) -> Entry {
    Entry { kind, mode, owner: 0, group: 0, bytes: 0 }
}

fn first(path: &Path) -> Option<OsString> {
    path.components().next().map(|part| part.as_os_str().to_owned())
}

/// Without `.` and `..`.
pub(super) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

fn absent(path: &Path) -> Trouble {
    let message = format!("the file `{}` does not exist", path.display());
    Trouble::new(TroubleKind::Missing, message, "give this world the file")
}

fn wrong(path: &Path, what: &str) -> Trouble {
    let message = format!("`{}` {what}", path.display());
    Trouble::new(TroubleKind::Invalid, message, "give this world another tree")
}

/// What kind it is, and nothing of what it holds.
impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::File(_) => "File",
            Self::Closed(_) => "Closed",
            Self::Directory => "Directory",
            Self::Link(_) => "Link",
            Self::Other => "Other",
            Self::Hidden(_) => "Hidden",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Tree {
        let mut tree = Tree::default();
        tree.put("/a/b/c".into(), Content::File(b"c".to_vec()));
        tree.put("/a/b-c".into(), Content::File(b"bc".to_vec()));
        tree.put("/link".into(), Content::Link("a/b".into()));
        tree.put("/round".into(), Content::Link("round".into()));
        tree
    }

    #[test]
    fn links_are_followed_on_the_way_and_read_through_at_the_end() {
        let tree = tree();
        assert_eq!(tree.read(Path::new("/link/c")).unwrap().unwrap(), b"c");
        assert_eq!(tree.stat(Path::new("/link")).unwrap().unwrap().kind, EntryKind::Link);
        assert_eq!(tree.list(Path::new("/link")).unwrap(), ["c"]);
        assert_eq!(tree.list(Path::new("/a")).unwrap(), ["b", "b-c"]);
        assert!(tree.read(Path::new("/round")).is_err());
        for (top, path, is_free) in
            [("/", "/link/c", false), ("/link", "/link/c", true), ("/", "/a/b/c", true)]
        {
            let refused = tree.refuse_links(Path::new(top), Path::new(path));
            assert_eq!(refused.is_ok(), is_free, "{path} below {top}");
        }
        assert!(tree.stat(Path::new("/x")).unwrap().is_none());
    }

    #[test]
    fn what_is_changed_is_seen() {
        let mut tree = tree();
        tree.write(Path::new("/link/new"), b"n".to_vec()).unwrap();
        let mode = Attributes { mode: Some(0o600), ..Attributes::default() };
        tree.set(Path::new("/a/b/new"), &mode).unwrap();
        assert_eq!(tree.stat(Path::new("/a/b/new")).unwrap().unwrap().mode, 0o600);
        tree.write(Path::new("/a/b/new"), b"m".to_vec()).unwrap();
        assert_eq!(tree.stat(Path::new("/a/b/new")).unwrap().unwrap().mode, 0o600);
        assert!(tree.remove(Path::new("/a"), false).is_err());
        tree.remove(Path::new("/link"), false).unwrap();
        assert!(tree.stat(Path::new("/a/b/c")).unwrap().is_some());
        tree.remove(Path::new("/a"), true).unwrap();
        assert!(tree.stat(Path::new("/a")).unwrap().is_none());
        tree.make_link(Path::new("/d/e"), Path::new("/f"), false).unwrap();
        assert!(tree.make_link(Path::new("/d"), Path::new("/f"), false).is_err());
        assert_eq!(tree.read_link(Path::new("/d/e")).unwrap(), Path::new("/f"));
    }
}
