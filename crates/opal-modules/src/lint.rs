//! A tree of modules, profiles, blueprints and packs, looked through.
//!
//! Links are never followed out of the tree, files are read up to a limit, and the tree has a limit
//! too. What is found is reported by file, in the order of their paths.

pub(super) mod cycles;
mod hcl;
mod names;
pub(super) mod pack;
mod walk;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use opal_core::gather;
use opal_core::schema::{Schemas, Unjudged};
use opal_core::text::MAX_SOURCE_BYTES;
use opal_core::{Code, Diagnostic, Span};
use opal_syntax::source;

use super::document::{Checked, bytes, shown};
use super::inputs::Schema;
use super::{Blueprint, Profile, Spec};
use names::Seen;
use walk::{Entry, Walk};

/// A file, and what was noticed in it.
#[derive(Clone, Debug)]
pub struct Linted {
    pub path: PathBuf,
    /// As it may be shown; empty for what is not text.
    pub text: String,
    pub diagnostics: Vec<Diagnostic>,
}

/// What a tree holds.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Every file that was read as a spec, and every other with something to report.
    pub files: Vec<Linted>,
    pub modules: usize,
    pub profiles: usize,
    pub blueprints: usize,
    pub packs: usize,
}

/// The first file below a directory that has an error.
pub fn unfit(folder: &Path, schemas: &Arc<dyn Schemas>) -> io::Result<Option<Linted>> {
    let mut lint = Lint::new(schemas);
    lint.add(folder)?;
    let mut files = lint.finish().files.into_iter();
    Ok(files.find(|file| file.diagnostics.iter().any(Diagnostic::is_error)))
}

/// Looks through directories, which make up one tree: what one of them names may be in another.
#[derive(Debug)]
pub struct Lint {
    findings: Findings,
    seen: Seen,
    /// The specs without faults, and which file they are of.
    specs: Vec<(usize, Spec)>,
    blueprints: Vec<(usize, Blueprint)>,
    profiles: BTreeMap<(String, String), Profile>,
}

impl Lint {
    /// Without a directory.
    #[must_use]
    pub fn new(schemas: &Arc<dyn Schemas>) -> Self {
        Self {
            findings: Findings::default(),
            seen: Seen { roots: Vec::new(), schemas: Arc::clone(schemas) },
            specs: Vec::new(),
            blueprints: Vec::new(),
            profiles: BTreeMap::new(),
        }
    }

    /// Looks through everything below a directory.
    pub fn add(&mut self, root: &Path) -> io::Result<()> {
        self.seen.roots.push(root.canonicalize()?);
        for entry in Walk::of(root)? {
            self.entry(&entry?);
        }
        Ok(())
    }

    fn entry(&mut self, entry: &Entry) {
        let name = entry.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if let Some(fault) = &entry.fault {
            return self.push(entry, String::new(), vec![fault.clone()]);
        }
        match name {
            "stack" if entry.is_folder => self.findings.packs += 1,
            _ if entry.is_folder => {}
            "spec.yml" if !entry.in_pack => self.spec(entry),
            "blueprint.yml" if !entry.in_pack => self.blueprint(entry),
            "inputs.schema.json" if !entry.in_pack => self.schema(entry),
            _ if !entry.in_pack && name.ends_with(".profile.yml") => self.profile(entry),
            _ if entry.in_pack && pack::is_read(name) => self.pack_file(entry, name),
            _ if entry.in_pack && in_stack(entry) && pack::beats_inputs(name) => {
                // What is in it may be anything, and is nobody's to show.
                self.push(entry, String::new(), vec![pack::values()]);
            }
            _ => {}
        }
    }

    fn push(&mut self, entry: &Entry, text: String, diagnostics: Vec<Diagnostic>) {
        let text = shown(text, &diagnostics);
        self.findings.files.push(Linted { path: entry.path.clone(), text, diagnostics });
    }

    /// The text of a file; what cannot be read is reported.
    fn text(&mut self, entry: &Entry, most: usize) -> Option<String> {
        let refused = match bytes(&entry.path, most) {
            Ok(found) if found.len() > most => {
                let message = format!("the file is larger than {} MiB", most >> 20);
                let error = Diagnostic::new(Code::TooLarge, Span::at(0), message);
                (String::new(), error.help("move the data to its own file"))
            }
            Ok(found) => match source::decode(found) {
                Ok(text) => return Some(text),
                Err(no_text) => (no_text.shown, no_text.diagnostic),
            },
            Err(error) => {
                let message = format!("the file cannot be read: {error}");
                let error = Diagnostic::new(Code::PackContent, Span::at(0), message);
                (String::new(), error.help("check its permissions, and that it is a regular file"))
            }
        };
        self.push(entry, refused.0, vec![refused.1]);
        None
    }

    fn spec(&mut self, entry: &Entry) {
        self.findings.modules += 1;
        let Some(text) = self.text(entry, MAX_SOURCE_BYTES) else { return };
        let Checked { found, mut diagnostics } = Spec::read(&text);
        if let Some(spec) = found {
            let reference = spec.module_ref.path();
            diagnostics.extend(misplaced(entry, &reference, "module_ref", spec.span));
            self.specs.push((self.findings.files.len(), spec));
        }
        self.push(entry, text, diagnostics);
    }

    fn blueprint(&mut self, entry: &Entry) {
        self.findings.blueprints += 1;
        let Some(text) = self.text(entry, MAX_SOURCE_BYTES) else { return };
        let Checked { found, mut diagnostics } = Blueprint::read(&text);
        if let Some(blueprint) = found {
            let reference = blueprint.blueprint_ref.path();
            diagnostics.extend(misplaced(entry, &reference, "blueprint_ref", blueprint.span));
            self.blueprints.push((self.findings.files.len(), blueprint));
        }
        self.push(entry, text, diagnostics);
    }

    fn profile(&mut self, entry: &Entry) {
        self.findings.profiles += 1;
        let Some(text) = self.text(entry, MAX_SOURCE_BYTES) else { return };
        let Checked { found, mut diagnostics } = Profile::read(&text);
        if let Some(profile) = found {
            let file = format!("{}.profile.yml", profile.profile_ref);
            let place = profile.driver.path().join("profiles").join(&file);
            if !entry.real.ends_with(&place) {
                let message = format!(
                    "the profile `{}` of `{}` is in the wrong place",
                    profile.profile_ref, profile.driver
                );
                let error = Diagnostic::new(Code::SpecPlace, Span::at(0), message);
                diagnostics.push(error.help(format!("move it to `…/{}`", place.display())));
            }
            diagnostics.extend(self.seen.profile(&entry.real, &profile));
            let key = (profile.driver.to_string(), profile.profile_ref.to_string());
            self.profiles.insert(key, profile);
        }
        self.push(entry, text, diagnostics);
    }

    fn schema(&mut self, entry: &Entry) {
        let Some(text) = self.text(entry, pack::MOST_BYTES) else { return };
        if let Err(unjudged) = Schema::read(&text, &self.seen.schemas) {
            let error = Diagnostic::new(Code::ConfigValue, Span::at(0), unjudged.to_string());
            let error = match unjudged {
                Unjudged::Unasked { help, .. } => error.help(help),
                Unjudged::NotJson(_) | Unjudged::Invalid(_) => {
                    error.help("the inputs are checked against it as JSON Schema, draft 2020-12")
                }
            };
            self.push(entry, text, vec![error]);
        }
    }

    fn pack_file(&mut self, entry: &Entry, name: &str) {
        let Some(text) = self.text(entry, pack::MOST_BYTES) else { return };
        let diagnostics = pack::check(name, &text);
        if !diagnostics.is_empty() {
            self.push(entry, text, diagnostics);
        }
    }

    /// What was found; some of it only the whole tree can tell: owners of hooks, cycles, and what
    /// is named and not there.
    #[must_use]
    pub fn finish(mut self) -> Findings {
        let files = &mut self.findings.files;
        for (file, spec) in &self.specs {
            let named = folder(&files[*file]).map(|folder| self.seen.spec(&folder, spec));
            files[*file].diagnostics.extend(named.unwrap_or_default());
            let key = (spec.execution.driver.to_string(), spec.execution.profile.to_string());
            let profile = self.profiles.get(&key);
            let unknown = spec.unknown_hooks(profile);
            let known = profile.filter(|_| unknown.is_empty());
            let reported = known.map(|profile| spec.reported_hooks(profile)).unwrap_or_default();
            files[*file].diagnostics.extend(unknown.into_iter().chain(reported));
        }
        for (file, blueprint) in &self.blueprints {
            let named = folder(&files[*file]).map(|it| self.seen.blueprint(&it, blueprint));
            files[*file].diagnostics.extend(named.unwrap_or_default());
        }
        for (file, cycle) in cycles::find(&self.specs) {
            files[file].diagnostics.push(cycle);
        }
        for file in files.iter_mut() {
            opal_core::diagnostic::sort(&mut file.diagnostics);
        }
        gather::sort_by(files, |a, b| a.path.cmp(&b.path));
        self.findings
    }
}

/// Whether a file is in a stack itself, and not further below.
fn in_stack(entry: &Entry) -> bool {
    entry.path.parent().is_some_and(|folder| folder.ends_with("stack"))
}

/// The directory of a file, without links.
fn folder(file: &Linted) -> Option<PathBuf> {
    file.path.parent()?.canonicalize().ok()
}

/// A spec whose directory is not called after its reference.
fn misplaced(entry: &Entry, reference: &Path, key: &str, span: Span) -> Option<Diagnostic> {
    let folder = entry.real.parent().unwrap_or(Path::new(""));
    (!folder.ends_with(reference)).then(|| {
        let message = format!("`{key}` does not match the directory of this file");
        let help = format!("move the file to `…/{}/`, or fix `{key}`", reference.display());
        Diagnostic::new(Code::SpecPlace, span, message).help(help)
    })
}
