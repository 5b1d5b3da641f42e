//! What the client has been sent about each file, and what it still has to be sent.
//!
//! The document that somebody edits comes first, with what is known about it already; the sources that import
//! it are checked after that, and what they find in it follows if it makes a difference.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use gen_lsp_types::{Diagnostic, PublishDiagnosticsParams, Uri};

use crate::features::diagnostics::{self, Importers};
use crate::files::Files;

#[derive(Debug, Default)]
pub(crate) struct Publisher {
    /// Documents that were edited themselves.
    pub(crate) edited: BTreeSet<PathBuf>,
    /// Documents about which something else may be said now.
    pub(crate) stale: BTreeSet<PathBuf>,
    /// Files in which a source that imports them finds something, or did.
    concerned: BTreeSet<PathBuf>,
    /// In which other files each source that is open finds something.
    found_in: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    /// What the client shows of each file; without those of which it shows nothing.
    shown: BTreeMap<PathBuf, Shown>,
    /// Whether a client that asks itself must ask again.
    pub(crate) must_refresh: bool,
}

/// What was sent about a file.
#[derive(Debug)]
struct Shown {
    /// As the client called it then.
    uri: Uri,
    diagnostics: Vec<Diagnostic>,
}

impl Publisher {
    /// What to send about the next file; it may be nothing. None where no file is left.
    pub(crate) fn next(
        &mut self,
        files: &Files,
        pulls: bool,
    ) -> Option<Vec<PublishDiagnosticsParams>> {
        let Some(path) = self.edited.pop_first().or_else(|| self.stale.pop_first()) else {
            let path = self.concerned.pop_first()?;
            return Some(self.publish(files, pulls, &path, Importers::All));
        };
        self.stale.remove(&path);
        if files.document(&path).is_some_and(|it| it.is_stale) {
            // Too large to be checked now: what was found stays until it is saved.
            return Some(Vec::new());
        }
        let others = found_in(files, &path);
        let before = match others.is_empty() {
            true => self.found_in.remove(&path),
            false => self.found_in.insert(path.clone(), others.clone()),
        };
        for other in before.into_iter().flatten().chain(others) {
            self.must_refresh |= files.document(&other).is_some();
            self.concerned.insert(other);
        }
        if files.document(&path).is_none() {
            // It was closed: a source that is open may still find something in it.
            self.concerned.insert(path);
            return Some(Vec::new());
        }
        Some(self.publish(files, pulls, &path, Importers::Known))
    }

    fn publish(
        &mut self,
        files: &Files,
        pulls: bool,
        path: &Path,
        importers: Importers,
    ) -> Vec<PublishDiagnosticsParams> {
        let (document, uri) = (files.document(path), files.uri(path));
        let mut all = Vec::new();
        let mut before = self.shown.remove(path);
        // The client knew it by another address, and would keep the list of that.
        if let Some(other) = before.take_if(|it| it.uri != uri) {
            all.push(params(other.uri, None, Vec::new()));
        }
        if pulls && document.is_some() {
            // It asks for those of its documents, and would show both.
            all.extend(before.map(|it| params(it.uri, None, Vec::new())));
            return all;
        }
        let found = match document {
            Some(_) => diagnostics::of(files, path, importers),
            None => diagnostics::of_closed(files, path),
        };
        let is_same = match before {
            Some(before) => before.diagnostics == found,
            None => found.is_empty(),
        };
        if !found.is_empty() {
            self.shown
                .insert(path.to_owned(), Shown { uri: uri.clone(), diagnostics: found.clone() });
        }
        // A new version of a document is answered even if nothing else is said about it.
        if importers == Importers::Known || !is_same {
            all.push(params(uri, document.map(|it| it.version), found));
        }
        all
    }
}

/// The other files in which a source that is open finds something.
fn found_in(files: &Files, path: &Path) -> BTreeSet<PathBuf> {
    let view = files.document(path).and_then(|_| files.view(path));
    let Some(view) = view else { return BTreeSet::new() };
    let others = view.analysis.found.iter().skip(1).filter(|it| !it.findings.is_empty());
    others.map(|it| it.path.clone()).collect()
}

fn params(
    uri: Uri,
    version: Option<i32>,
    diagnostics: Vec<Diagnostic>,
) -> PublishDiagnosticsParams {
    PublishDiagnosticsParams { uri, version, diagnostics }
}
