//! Quick fixes: those that a diagnostic brings, all of one kind at once, and those that need to know what
//! is around: an import, a declaration, an escape, what to write instead of a run-time value.

mod instead;

use std::collections::BTreeMap;

use gen_lsp_types::{CodeAction, CodeActionKind, CodeActionResponse, Range, WorkspaceEdit};
use opal_core::diagnostic::{Edit, MAX_OF_CODE};
use opal_core::{Code, Diagnostic, Span};
use opal_plan::program::paths::seen_from;

use super::{Changes, Client, diagnostics, extract, workspace_edit};
use crate::analysis::Finding;
use crate::files::{Files, View};

/// Edits of the file that an action is for.
pub(super) type Edits = Vec<(Span, String)>;

pub(crate) fn of(
    files: &Files,
    client: Client,
    view: &View,
    range: &Range,
    only: Option<&[CodeActionKind]>,
) -> Vec<CodeActionResponse> {
    let span = view.text.span(range);
    let wants =
        |kind: &CodeActionKind| only.is_none_or(|only| only.iter().any(|it| includes(it, kind)));
    let mut all: Vec<CodeAction> = Vec::new();
    if wants(&CodeActionKind::QuickFix) {
        let own = diagnostics::kept(view.analysis.own());
        let here = own.filter(|it| touches(it.diagnostic.primary.span, span));
        for finding in here {
            fixes(files, client, view, finding, &mut all);
        }
    }
    if wants(&CodeActionKind::RefactorExtract) && !span.is_empty() {
        all.extend(extract::of(files, client, view, span));
    }
    all.into_iter().map(CodeActionResponse::CodeAction).collect()
}

/// Whether a kind that the client asks for is this one, or one above it.
fn includes(wanted: &CodeActionKind, kind: &CodeActionKind) -> bool {
    let name = |kind: &CodeActionKind| serde_json::to_value(kind).ok();
    let (Some(wanted), Some(kind)) = (name(wanted), name(kind)) else { return false };
    let (wanted, kind) = (wanted.as_str().unwrap_or_default(), kind.as_str().unwrap_or_default());
    wanted.is_empty()
        || kind == wanted
        || kind.strip_prefix(wanted).is_some_and(|it| it.starts_with('.'))
}

fn touches(found: Span, span: Span) -> bool {
    found.start <= span.end && span.start <= found.end
}

fn fixes(
    files: &Files,
    client: Client,
    view: &View,
    finding: &Finding,
    into: &mut Vec<CodeAction>,
) {
    let found = &finding.diagnostic;
    let mut add = |title: String, edits: Edits, preferred: bool, of: Vec<&Finding>| {
        let edit = here(files, client, view, edits);
        let diagnostics = of.iter().map(|it| diagnostics::one(files, view, it)).collect();
        into.push(CodeAction {
            title,
            kind: Some(CodeActionKind::QuickFix),
            diagnostics: Some(diagnostics),
            is_preferred: preferred.then_some(true),
            edit: Some(edit),
            ..CodeAction::default()
        });
    };
    if let Some(fix) = &found.fix {
        add(fix.title.clone(), fix.edits.iter().map(edit).collect(), true, vec![finding]);
        let (edits, of) = of_code(view, found.code);
        if of.len() > 1 {
            let title = format!("fix all: {} ({})", found.code.title(), found.code.as_str());
            add(title, edits, false, of.into_iter().take(MAX_OF_CODE).collect());
        }
    }
    for (title, edits) in around(files, view, found) {
        add(title, edits, false, vec![finding]);
    }
}

fn edit(edit: &Edit) -> (Span, String) {
    (edit.span, edit.text.clone())
}

fn here(files: &Files, client: Client, view: &View, edits: Edits) -> WorkspaceEdit {
    let changes: Changes = vec![(view.path.clone(), edits)];
    workspace_edit(files, client, changes)
}

/// The fixes of every finding with a code: of two that overlap the first.
fn of_code(view: &View, code: Code) -> (Edits, Vec<&Finding>) {
    let (mut edits, mut of): (Edits, Vec<&Finding>) = (Vec::new(), Vec::new());
    // Where those that are taken begin and end: none touches another.
    let mut taken: BTreeMap<u32, u32> = BTreeMap::new();
    for finding in view.analysis.own().iter().filter(|it| it.diagnostic.code == code) {
        let Some(fix) = &finding.diagnostic.fix else { continue };
        let overlaps = fix.edits.iter().any(|new| {
            let before = taken.range(..=new.span.end).next_back();
            before.is_some_and(|(_, end)| *end >= new.span.start)
        });
        if !overlaps {
            taken.extend(fix.edits.iter().map(|it| (it.span.start, it.span.end)));
            edits.extend(fix.edits.iter().map(edit));
            of.push(finding);
        }
    }
    (edits, of)
}

/// What helps with a finding, given what is around it.
fn around(files: &Files, view: &View, found: &Diagnostic) -> Vec<(String, Edits)> {
    match found.code {
        Code::UnknownFunction => import(files, view, found),
        Code::UndeclaredVariable => declare(view, found),
        Code::UnknownDecorator | Code::LiteralAt => escape(view, found),
        Code::LetAtPlanTime => instead::of(view, found),
        _ => Vec::new(),
    }
}

/// Imports the file of the workspace that a namespace may be.
fn import(files: &Files, view: &View, found: &Diagnostic) -> Vec<(String, Edits)> {
    let written = view.text.slice(found.primary.span);
    let mut parts = written.split('.').skip(1);
    let (Some(namespace), Some(function)) = (parts.next(), parts.next()) else { return Vec::new() };
    let facts = &view.analysis.facts;
    if facts.imports.iter().any(|it| it.namespace.as_deref() == Some(namespace)) {
        return Vec::new();
    }
    let Some(folder) = view.path.parent() else { return Vec::new() };
    let at = facts.imports.last().map_or_else(
        || first_line(view),
        |last| view.text.line_start(view.text.line_of(last.span.end) + 1),
    );
    let mut all = Vec::new();
    for path in files.sources() {
        let is_it = path.file_stem().is_some_and(|stem| stem == namespace);
        let Some(there) = files.view(&path).filter(|it| is_it && it.path != view.path) else {
            continue;
        };
        if there.analysis.facts.own_functions().any(|it| it.name == function) {
            let seen = seen_from(folder, &path).display().to_string();
            // What follows the imports is apart from them.
            let end = if facts.imports.is_empty() { "\n\n" } else { "\n" };
            let line = format!("import \"{seen}\"{end}");
            all.push((format!("import `{seen}`"), vec![(Span::at(at), line)]));
        }
    }
    all
}

/// Where imports are: below comments at the very top.
fn first_line(view: &View) -> u32 {
    let count = view.text.line_of(view.text.text.len() as u32) + 1;
    let is_comment = |line: &u32| {
        let line = view.text.line(*line);
        line.starts_with("#!") || line.starts_with('\u{feff}')
    };
    let line = (0..count).find(|line| !is_comment(line)).unwrap_or(0);
    view.text.line_start(line)
}

/// Declares a variable above its first use.
fn declare(view: &View, found: &Diagnostic) -> Vec<(String, Edits)> {
    let span = found.primary.span;
    let written = view.text.slice(span);
    let name = written.rsplit('.').next().unwrap_or(written);
    if name.is_empty() || !name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_') {
        return Vec::new();
    }
    let line = view.text.line_of(span.start);
    let text = view.text.line(line);
    let indent = &text[..text.len() - text.trim_start().len()];
    let new = format!("{indent}var {name} = \"\"\n");
    vec![(format!("declare `{name}` above"), vec![(Span::at(view.text.line_start(line)), new)])]
}

/// Says that an `@` is text.
fn escape(view: &View, found: &Diagnostic) -> Vec<(String, Edits)> {
    let span = found.primary.span;
    if !view.text.slice(span).starts_with('@') {
        return Vec::new();
    }
    let written = view.text.slice(span);
    vec![(
        format!("plain text: write `\\{written}`"),
        vec![(Span::at(span.start), "\\".to_owned())],
    )]
}
