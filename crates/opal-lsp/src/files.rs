//! The documents that are open, the files that they need, and what is known about each.
//!
//! What is open comes before what is on the disk. What is known about a file is made when somebody asks,
//! and made again when the file or one that it imports has changed.

mod packages;
mod sources;
mod supposed;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gen_lsp_types::Uri;
use opal_core::Registry;
use opal_core::text::MAX_SOURCE_BYTES;
use opal_plan::lower::Proofs;

use crate::analysis::{Analysis, Spent};
use crate::disk::{Disk, Stamp, Walked};
use crate::positions::{Encoding, Text};
use crate::program::Sources;
use crate::uri;

pub(crate) use packages::Packages;
use supposed::Supposed;

/// Larger texts are checked when they are opened or saved, and not while somebody types.
const LARGE: usize = 2 * 1024 * 1024;

/// Bytes of the files that are not open and about which something is known.
const MOST_CLOSED: usize = 8 * 1024 * 1024;

/// Bytes of a file of variables.
const MOST_VARIABLES: u64 = 1024 * 1024;

/// A document that the editor has open.
#[derive(Debug)]
pub(crate) struct Document {
    /// As the client calls it.
    pub(crate) uri: Uri,
    pub(crate) text: Arc<Text>,
    pub(crate) version: i32,
    /// Which text it has: the one of the disk until it is changed, so that to open a file makes nothing
    /// that imports it stale.
    stamp: Stamp,
    /// Too large to be checked at each change, and changed since it was checked.
    pub(crate) is_stale: bool,
}

#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) disk: Disk,
    encoding: Encoding,
    has_workspace: bool,
    open: BTreeMap<PathBuf, Document>,
    changes: u64,
    packages: RefCell<Packages>,
    known: RefCell<BTreeMap<PathBuf, Known>>,
    /// Bytes of those that are not open.
    closed_bytes: Cell<usize>,
    /// Sources of the workspace; none where it has to be walked again.
    walked: RefCell<Option<Arc<Walked>>>,
    /// Texts of steps that were read before: an edit changes one of them.
    proofs: RefCell<Proofs>,
    /// What is no longer needed: freed when nobody waits for an answer, or when there is more of it.
    spent: RefCell<(Option<Spent>, Option<Known>)>,
}

#[derive(Debug)]
struct Known {
    stamp: Stamp,
    registry: &'static Registry,
    text: Arc<Text>,
    analysis: Arc<Analysis>,
}

/// A file with what is known about it.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) path: PathBuf,
    pub(crate) uri: Uri,
    pub(crate) text: Arc<Text>,
    pub(crate) analysis: Arc<Analysis>,
    pub(crate) registry: &'static Registry,
}

impl Files {
    pub(crate) fn new(roots: Vec<PathBuf>, encoding: Encoding, packages: Packages) -> Self {
        Self {
            has_workspace: !roots.is_empty(),
            disk: Disk::new(roots),
            encoding,
            open: BTreeMap::new(),
            changes: 0,
            packages: RefCell::new(packages),
            known: RefCell::default(),
            closed_bytes: Cell::default(),
            walked: RefCell::default(),
            proofs: RefCell::default(),
            spent: RefCell::default(),
        }
    }

    pub(crate) fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Where a document is kept. One without a file is kept by its name.
    pub(crate) fn key(&self, of: &Uri) -> PathBuf {
        match uri::path(of) {
            Some(path) => self.disk.real(&path),
            None => PathBuf::from(of.as_ref()),
        }
    }

    pub(crate) fn open(&mut self, uri: Uri, text: String, version: i32) -> PathBuf {
        let path = self.key(&uri);
        if let (false, Some(folder)) = (self.has_workspace, path.parent())
            && path.is_absolute()
        {
            self.disk.add(folder);
        }
        self.changes += 1;
        let on_disk = self.disk.stamp(&path);
        let stamp = match self.disk.text(&path) {
            Some(there) if there == text => on_disk,
            _ => Stamp::Open(self.changes),
        };
        let text = Arc::new(Text::new(text, self.encoding));
        let document = Document { uri, text, version, stamp, is_stale: false };
        self.open.insert(path.clone(), document);
        path
    }

    /// The document of this name, to be changed. None where it is not open.
    pub(crate) fn change(
        &mut self,
        uri: &Uri,
        version: i32,
        edit: impl FnOnce(&mut Text),
    ) -> Option<PathBuf> {
        let path = self.key(uri);
        let document = self.open.get_mut(&path)?;
        self.changes += 1;
        edit(Arc::make_mut(&mut document.text));
        document.version = version;
        document.is_stale = document.text.text.len() > LARGE;
        document.stamp = Stamp::Open(self.changes);
        Some(path)
    }

    /// A large document is checked now. Not every client tells of other changes on the disk, such as a
    /// package that was installed.
    pub(crate) fn saved(&mut self, uri: &Uri) {
        let path = self.key(uri);
        self.packages.borrow_mut().look_again();
        self.changes += 1;
        if let Some(document) = self.open.get_mut(&path).filter(|it| it.is_stale) {
            document.is_stale = false;
            document.stamp = Stamp::Open(self.changes);
        }
        *self.walked.borrow_mut() = None;
    }

    pub(crate) fn close(&mut self, uri: &Uri) -> Option<PathBuf> {
        let path = self.key(uri);
        self.open.remove(&path)?;
        self.known.borrow_mut().remove(&path);
        Some(path)
    }

    /// One more directory of the workspace.
    pub(crate) fn add_root(&mut self, folder: &Path) {
        self.has_workspace = true;
        self.disk.add(folder);
    }

    /// Something on the disk has changed, perhaps the packages.
    pub(crate) fn disk_changed(&mut self) {
        self.packages.borrow_mut().look_again();
        *self.walked.borrow_mut() = None;
        // What is not open is read again when somebody asks for it.
        let open = &self.open;
        self.known.borrow_mut().retain(|path, _| open.contains_key(path));
        self.closed_bytes.set(0);
    }

    pub(crate) fn opened(&self) -> impl Iterator<Item = (&PathBuf, &Document)> {
        self.open.iter()
    }

    pub(crate) fn document(&self, path: &Path) -> Option<&Document> {
        self.open.get(path)
    }

    /// Whether a source found something in a file that it imports when it was checked last.
    pub(crate) fn has_found(&self, source: &Path, path: &Path) -> bool {
        let known = self.known.borrow();
        let mut others =
            known.get(source).into_iter().flat_map(|it| it.analysis.found.iter().skip(1));
        others.any(|it| it.path == path && !it.findings.is_empty())
    }

    /// How the client calls a file.
    pub(crate) fn uri(&self, path: &Path) -> Uri {
        self.open.get(path).map_or_else(|| uri::of(path), |document| document.uri.clone())
    }

    /// Whether what is known about a file is still so.
    pub(crate) fn is_fresh(&self, path: &Path) -> bool {
        let known = self.known.borrow();
        let Some(known) = known.get(path) else { return false };
        let is_same = |(path, stamp): (&PathBuf, &Stamp)| self.stamp(path) == *stamp;
        known.stamp == self.stamp(path)
            && std::ptr::eq(known.registry, self.registry(path))
            && known.analysis.depends_on.iter().all(is_same)
    }

    /// A file, checked. None where it cannot be read as text.
    pub(crate) fn view(&self, path: &Path) -> Option<View> {
        if !self.is_fresh(path) {
            let (text, stamp) = self.current(path)?;
            self.make_room(path, &stamp);
            let registry = self.registry(path);
            let is_stale = self.open.get(path).is_some_and(|it| it.is_stale);
            let (mut analysis, spent) = match is_stale {
                true => (Analysis::default(), None),
                false => {
                    let proofs = &mut self.proofs.borrow_mut();
                    let (analysis, spent) = Analysis::of(path, &text.text, self, registry, proofs);
                    (analysis, Some(spent))
                }
            };
            self.packages.borrow().explain(path, &self.disk, &mut analysis);
            let known = Known { stamp, registry, text, analysis: Arc::new(analysis) };
            let before = self.know(path, known);
            *self.spent.borrow_mut() = (spent, before);
        }
        let known = self.known.borrow();
        let Known { text, analysis, registry, .. } = known.get(path)?;
        let (text, analysis) = (Arc::clone(text), Arc::clone(analysis));
        let uri = self.uri(path);
        Some(View { path: path.to_owned(), uri, text, analysis, registry })
    }

    /// Keeps what is known about a file. Of files that are not open only some is kept: a workspace may
    /// have thousands, and each can be checked again.
    fn know(&self, path: &Path, new: Known) -> Option<Known> {
        let mut known = self.known.borrow_mut();
        if !self.open.contains_key(path) {
            let bytes = self.closed_bytes.get() + new.text.text.len();
            if bytes > MOST_CLOSED {
                known.retain(|it, _| self.open.contains_key(it));
            }
            self.closed_bytes.set(if bytes > MOST_CLOSED { new.text.text.len() } else { bytes });
        }
        known.insert(path.to_owned(), new)
    }

    /// What an import made stale is freed before it is made again, which then takes no more memory than before.
    /// The text that somebody changes is answered first.
    fn make_room(&self, path: &Path, stamp: &Stamp) {
        let mut known = self.known.borrow_mut();
        if known.get(path).is_some_and(|it| it.stamp == *stamp) {
            known.remove(path);
        }
    }

    /// Frees what is no longer needed. Nobody waits now.
    pub(crate) fn free(&self) {
        self.spent.take();
    }

    pub(crate) fn view_of(&self, uri: &Uri) -> Option<View> {
        self.view(&self.key(uri))
    }

    /// What would be known about a file if some files had other texts.
    pub(crate) fn supposed(
        &self,
        path: &Path,
        texts: &BTreeMap<PathBuf, String>,
    ) -> Option<Analysis> {
        let registry = self.registry(path);
        let supposed = Supposed { files: self, texts };
        let text = match texts.get(path) {
            Some(text) => text.clone(),
            None => self.current(path)?.0.text.clone(),
        };
        let proofs = &mut self.proofs.borrow_mut();
        let (mut analysis, _) = Analysis::of(path, &text, &supposed, registry, proofs);
        self.packages.borrow().explain(path, &self.disk, &mut analysis);
        Some(analysis)
    }

    fn current(&self, path: &Path) -> Option<(Arc<Text>, Stamp)> {
        let stamp = self.stamp(path);
        if let Some(document) = self.open.get(path) {
            return Some((Arc::clone(&document.text), stamp));
        }
        let text = Text::new(self.disk.text(path)?, self.encoding);
        Some((Arc::new(text), stamp))
    }

    /// Whether a file has one of these words somewhere. Nothing is known about it by that.
    pub(crate) fn contains(&self, path: &Path, words: &[&str]) -> bool {
        let has = |text: &str| words.iter().any(|word| text.contains(word));
        if let Some(document) = self.open.get(path) {
            return has(&document.text.text);
        }
        if let Some(known) = self.known.borrow().get(path)
            && known.stamp == self.stamp(path)
        {
            return has(&known.text.text);
        }
        let bytes = self.disk.read(path, MAX_SOURCE_BYTES as u64).unwrap_or_default();
        has(&String::from_utf8_lossy(&bytes))
    }

    fn registry(&self, path: &Path) -> &'static Registry {
        self.packages.borrow_mut().registry(path, &self.disk)
    }

    /// The sources of the workspace, those that are open included, in the order of their paths.
    pub(crate) fn sources(&self) -> Vec<PathBuf> {
        let is_source = |path: &&PathBuf| path.extension().is_some_and(|it| it == "opl");
        let walked = self.walked();
        let closed = walked.paths.iter().filter(is_source);
        let mut all: Vec<PathBuf> = self.open.keys().chain(closed).cloned().collect();
        all.sort();
        all.dedup();
        all
    }

    /// The files of variables of the workspace.
    pub(crate) fn variables(&self) -> Vec<PathBuf> {
        let is_source = |path: &&PathBuf| path.extension().is_some_and(|it| it == "opl");
        self.walked().paths.iter().filter(|path| !is_source(path)).cloned().collect()
    }

    /// Why [`Self::sources`] may not have every source that uses what a file has, where that is so.
    pub(crate) fn unsearched(&self) -> Option<&'static str> {
        match (self.has_workspace, self.walked().is_whole) {
            (true, true) => None,
            (true, false) => Some(
                "not all sources of the workspace can be searched: there are too many, or a directory cannot \
                 be read. Open only the directories of the project",
            ),
            (false, _) => Some(
                "other files may use this name, and only this one is open: open the directory of the project",
            ),
        }
    }

    /// Sources in directories that are not searched, such as `target` and `.github`: as many as can be found.
    pub(crate) fn passed_sources(&self) -> Vec<PathBuf> {
        let mut all = self.disk.passed(&self.walked().passed);
        all.retain(|path| !self.open.contains_key(path));
        all
    }

    /// The next search walks the workspace: not every client tells of files that change.
    pub(crate) fn walk_again(&self) {
        *self.walked.borrow_mut() = None;
    }

    /// The text of a file of variables. It is read for its names, and not kept.
    pub(crate) fn variables_text(&self, path: &Path) -> Option<String> {
        let bytes = self.disk.read(path, MOST_VARIABLES).ok()?;
        String::from_utf8(bytes).ok()
    }

    fn walked(&self) -> Arc<Walked> {
        // Only a directory that somebody opened is walked, not the one that a single file happens to be in.
        if !self.has_workspace {
            return Arc::new(Walked { is_whole: true, ..Walked::default() });
        }
        let mut walked = self.walked.borrow_mut();
        Arc::clone(walked.get_or_insert_with(|| self.disk.walk().into()))
    }
}
