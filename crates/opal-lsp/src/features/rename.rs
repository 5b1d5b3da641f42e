//! Renaming: every use of a name with its definition, or nothing at all.
//!
//! Whether a new name would mean something else somewhere, nothing here guesses: the texts are changed
//! in memory and checked again. Every name must still mean what it meant. Only a file that cannot know
//! the new name, because the word is nowhere in it and in what it imports, is not checked again.

use std::collections::BTreeMap;
use std::path::PathBuf;

use gen_lsp_types::{PrepareRenamePlaceholder, WorkspaceEdit};
use opal_core::{Code, Diagnostic, Span};
use opal_plan::check::observer::DefinitionKind;
use opal_plan::unit::Builtin;

use super::navigation::{self, Symbol};
use super::{Changes, Client, changed, workspace_edit};
use crate::analysis::Analysis;
use crate::facts::{Facts, Target};
use crate::files::{Files, View};

/// Why a name cannot be changed.
pub(crate) type Refused = String;

pub(crate) fn prepare(view: &View, at: u32) -> Result<Option<PrepareRenamePlaceholder>, Refused> {
    let facts = &view.analysis.facts;
    let Some(target) = facts.target_at(at) else { return Ok(None) };
    let span = match facts.use_at(at) {
        Some(used) => used.span,
        None => facts.definitions[facts.definition_at(at).unwrap_or_default()].span,
    };
    may(facts, target)?;
    let placeholder = facts.name_of(target).to_owned();
    Ok(Some(PrepareRenamePlaceholder { range: view.text.range(span), placeholder }))
}

/// Whether it has a name of its own.
fn may(facts: &Facts, target: Target) -> Result<(), Refused> {
    let Target::Own(index) = target else { return Ok(()) };
    let definition = &facts.definitions[index];
    let is_import = definition.kind == DefinitionKind::Namespace;
    let imports = facts.imports.iter();
    let is_given = |name: &str| {
        imports.clone().any(|it| it.has_alias && it.namespace.as_deref() == Some(name))
    };
    if is_import && !is_given(&definition.name) {
        let name = &definition.name;
        return Err(format!(
            "`{name}` is the name of its file: give the import another one with `as NAME`"
        ));
    }
    Ok(())
}

pub(crate) fn of(
    files: &Files,
    client: Client,
    view: &View,
    at: u32,
    new: &str,
) -> Result<Option<WorkspaceEdit>, Refused> {
    let facts = &view.analysis.facts;
    let Some(target) = facts.target_at(at) else { return Ok(None) };
    may(facts, target)?;
    let old = facts.name_of(target).to_owned();
    let symbol = navigation::symbol(&view.path, facts, target);
    let Some(defined) = files.view(symbol.path()) else { return Ok(None) };
    let Some(definition) = symbol.definition(&defined.analysis.facts) else { return Ok(None) };
    is_name(kind(&defined.analysis.facts, definition), new)?;
    if new == old {
        return Ok(None);
    }
    // Not every client tells of files that are new.
    files.walk_again();
    let mut changes: Changes =
        vec![(symbol.path().to_owned(), vec![definition_edit(definition, new)])];
    for (used, spans) in navigation::uses(files, &symbol) {
        for (span, _) in spans {
            if used.text.slice(span) != old {
                let line = used.text.line_of(span.start) + 1;
                return Err(format!(
                    "line {line} writes `{old}` in another way: change it there first"
                ));
            }
            let edit = (span, new.to_owned());
            match changes.iter_mut().find(|(path, _)| *path == used.path) {
                Some((_, edits)) => edits.push(edit),
                None => changes.push((used.path.clone(), vec![edit])),
            }
        }
    }
    for (_, edits) in &mut changes {
        edits.sort();
        edits.dedup();
    }
    elsewhere(files, &symbol)?;
    verify(files, &changes, &symbol, (&old, new))?;
    Ok(Some(workspace_edit(files, client, changes)))
}

/// Whether a use may be where nobody searches.
fn elsewhere(files: &Files, symbol: &Symbol) -> Result<(), Refused> {
    // A document without a file cannot be imported.
    if matches!(symbol, Symbol::Local { .. }) || !symbol.path().is_absolute() {
        return Ok(());
    }
    if let Some(why) = files.unsearched() {
        return Err(why.to_owned());
    }
    let passed = files.passed_sources();
    match passed.iter().find(|path| navigation::uses_in(files, symbol, path).is_some()) {
        Some(path) => Err(format!(
            "`{}` uses this name too, and its directory is not searched: open that file, and rename again",
            files.disk.shown(path).display()
        )),
        None => Ok(()),
    }
}

fn definition_edit(span: Span, new: &str) -> (Span, String) {
    (span, new.to_owned())
}

fn kind(facts: &Facts, span: Span) -> DefinitionKind {
    let found = facts.definitions.iter().find(|it| it.span == span);
    found.map_or(DefinitionKind::Variable, |it| it.kind)
}

fn is_name(kind: DefinitionKind, name: &str) -> Result<(), Refused> {
    let may_have_dash = matches!(kind, DefinitionKind::Function | DefinitionKind::Namespace);
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-' && may_have_dash;
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_word = matches!(name, "true" | "false" | "null");
    if name.starts_with(is_first) && name.chars().all(is_part) && !name.ends_with('-') && !is_word {
        return Ok(());
    }
    Err(format!("`{name}` is not a name: letters, digits and `_`, and no digit first"))
}

/// Checks every file that has changed or that imports one which has: each name must mean what it meant,
/// and nothing may be wrong that was not wrong before.
fn verify(
    files: &Files,
    changes: &Changes,
    symbol: &Symbol,
    (old, new): (&str, &str),
) -> Result<(), Refused> {
    let mut texts: BTreeMap<PathBuf, String> = BTreeMap::new();
    for (path, edits) in changes {
        let Some(view) = files.view(path) else { continue };
        texts.insert(path.clone(), changed(&view.text.text, edits));
    }
    let mut concerned: Vec<PathBuf> = texts.keys().cloned().collect();
    for path in files.sources() {
        // Another file changes its meaning only if it has the old name or the new one.
        let Some(view) = files.contains(&path, &[old, new]).then(|| files.view(&path)).flatten()
        else {
            continue;
        };
        let is_importer = view.analysis.depends_on.keys().any(|it| texts.contains_key(it));
        if is_importer && !concerned.contains(&path) {
            concerned.push(path);
        }
    }
    for path in concerned {
        let Some(before) = files.view(&path) else { continue };
        if is_free(files, &before, symbol, new) {
            continue;
        }
        let Some(after) = files.supposed(&path, &texts) else { continue };
        let edits = changes.iter().find(|(it, _)| *it == path).map_or(&[][..], |(_, edits)| edits);
        same(&before, &after, edits, (symbol, new))?;
        if let Some(error) = newly(&before.analysis, &after) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            return Err(format!("after it, `{name}` would have an error: {}", error.message));
        }
    }
    Ok(())
}

/// Whether a file cannot take the new name of a function of another file for anything else, nor anything else
/// for it: a plain word that is nowhere in the file and in what it imports.
fn is_free(files: &Files, view: &View, symbol: &Symbol, new: &str) -> bool {
    let is_foreign_function = matches!(symbol, Symbol::Function { path, .. } if *path != view.path);
    let is_plain = new.starts_with(|c: char| c.is_ascii_alphabetic())
        && new.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && Builtin::named(new).is_none();
    let mut read = std::iter::once(&view.path).chain(view.analysis.depends_on.keys());
    is_foreign_function && is_plain && !read.any(|path| files.contains(path, &[new]))
}

/// Whether each name means what it meant.
fn same(
    before: &View,
    after: &Analysis,
    edits: &[(Span, String)],
    (symbol, new): (&Symbol, &str),
) -> Result<(), Refused> {
    let old = &before.analysis.facts;
    let moves = Moves::of(edits);
    for used in &old.uses {
        let expected = match navigation::symbol(&before.path, old, used.target) {
            Symbol::Local { path, span } => Symbol::Local { path, span: moves.place(span) },
            it => renamed(it, symbol, new),
        };
        let line = before.text.line_of(used.span.start) + 1;
        let place = moves.place(used.span);
        let Some(found) = after.facts.use_of(place) else {
            return Err(format!("the name on line {line} would mean nothing any more"));
        };
        if navigation::symbol(&before.path, &after.facts, found.target) != expected {
            let name = after.facts.name_of(found.target);
            let kind = match found.target {
                Target::Own(index) => after.facts.definitions[index].kind,
                Target::Foreign(_, None) => DefinitionKind::Function,
                Target::Foreign(..) => DefinitionKind::Parameter,
            };
            let what = called(kind);
            return Err(format!("`{name}` on line {line} would mean another {what} of that name"));
        }
    }
    if after.facts.uses.len() > old.uses.len() {
        return Err(format!("`{new}` is used already, and would mean this"));
    }
    Ok(())
}

fn called(kind: DefinitionKind) -> &'static str {
    match kind {
        DefinitionKind::Variable => "variable",
        DefinitionKind::Parameter => "parameter",
        DefinitionKind::Loop => "variable of a loop",
        DefinitionKind::Let => "`let`",
        DefinitionKind::Function => "function",
        DefinitionKind::Namespace => "namespace",
    }
}

/// A symbol after the renaming.
fn renamed(it: Symbol, symbol: &Symbol, new: &str) -> Symbol {
    let new = new.to_owned();
    match (it, symbol) {
        (it, symbol) if it == *symbol => match it {
            Symbol::Function { path, .. } => Symbol::Function { path, name: new },
            Symbol::Param { path, function, .. } => Symbol::Param { path, function, name: new },
            it @ Symbol::Local { .. } => it,
        },
        // The parameters of a function that gets another name.
        (Symbol::Param { path, function, name }, Symbol::Function { path: of, name: renamed })
            if path == *of && function == *renamed =>
        {
            Symbol::Param { path, function: new, name }
        }
        (it, _) => it,
    }
}

/// Where places are after edits, which are sorted and do not overlap.
struct Moves<'e> {
    edits: &'e [(Span, String)],
    /// How far a place moves that has so many edits before it.
    shifts: Vec<i64>,
}

impl<'e> Moves<'e> {
    fn of(edits: &'e [(Span, String)]) -> Self {
        let mut shifts = vec![0];
        let mut shift = 0;
        for (edited, with) in edits {
            shift += with.len() as i64 - i64::from(edited.end - edited.start);
            shifts.push(shift);
        }
        Self { edits, shifts }
    }

    /// One that is edited itself is as long as the new text.
    fn place(&self, span: Span) -> Span {
        let before = self.edits.partition_point(|(edited, _)| edited.end <= span.start);
        let place = |at: u32| (i64::from(at) + self.shifts[before]).max(0) as u32;
        let start = place(span.start);
        match self.edits.get(before).filter(|(edited, _)| *edited == span) {
            Some((_, with)) => Span::new(start, start + with.len() as u32),
            None => Span::new(start, place(span.end)),
        }
    }
}

/// An error that was not there before, by its code.
pub(crate) fn newly<'a>(before: &'a Analysis, after: &'a Analysis) -> Option<&'a Diagnostic> {
    let errors = |it: &'a Analysis| {
        let mut counts: BTreeMap<Code, usize> = BTreeMap::new();
        for finding in it.found.iter().flat_map(|file| &file.findings) {
            *counts.entry(finding.diagnostic.code).or_default() += 1;
        }
        counts
    };
    let (old, new) = (errors(before), errors(after));
    let mut all = after.found.iter().flat_map(|file| &file.findings).map(|it| &it.diagnostic);
    all.find(|it| it.is_error() && new.get(&it.code) > old.get(&it.code))
}
