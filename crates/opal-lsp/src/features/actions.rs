//! Quick fixes: those that a diagnostic brings, all of one kind at once, and those that need to know what
//! is around: an import, a declaration, an escape, what to write instead of a run-time value. Whether these
//! help is checked, not guessed: each is made in memory first.

mod instead;

use std::collections::BTreeMap;

use gen_lsp_types::{CodeAction, CodeActionKind, CodeActionResponse, Range, WorkspaceEdit};
use opal_core::diagnostic::{Edit, MAX_OF_CODE};
use opal_core::{Code, Diagnostic, Span};
use opal_plan::program::paths::seen_from;
use opal_plan::unit::{Block, Statement};
use opal_plan::{Words, lower};

use super::{Changes, Client, changed, diagnostics, extract, workspace_edit};
use crate::analysis::{Analysis, Finding};
use crate::files::{Files, View};

/// Findings of a range that get more than the fix that they bring: an editor asks about one place, and each
/// takes a check of the file.
const MOST_AROUND: usize = 2;

/// Bytes of a text of which only one does.
const LARGE: usize = 128 * 1024;

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
        let around = if view.text.text.len() > LARGE { 1 } else { MOST_AROUND };
        for (number, finding) in here.enumerate() {
            fixes(files, client, view, finding, &mut all);
            if number < around {
                helps(files, client, view, finding, &mut all);
            }
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
    let Some(fix) = &found.fix else { return };
    let own = fix.edits.iter().map(edit).collect();
    into.push(action(files, client, view, fix.title.clone(), own, true, &[finding]));
    let (edits, of) = of_code(view, found.code);
    if of.len() > 1 {
        let title = format!("fix all: {} ({})", found.code.title(), found.code.as_str());
        let of = &of[..of.len().min(MAX_OF_CODE)];
        into.push(action(files, client, view, title, edits, false, of));
    }
}

/// What needs to know what is around: only what helps.
fn helps(
    files: &Files,
    client: Client,
    view: &View,
    finding: &Finding,
    into: &mut Vec<CodeAction>,
) {
    for (title, edits) in around(files, view, &finding.diagnostic) {
        if is_help(files, view, finding.diagnostic.code, &edits) {
            into.push(action(files, client, view, title, edits, false, &[finding]));
        }
    }
}

fn action(
    files: &Files,
    client: Client,
    view: &View,
    title: String,
    edits: Edits,
    preferred: bool,
    of: &[&Finding],
) -> CodeAction {
    let diagnostics = of.iter().map(|it| diagnostics::one(files, view, it)).collect();
    CodeAction {
        title,
        kind: Some(CodeActionKind::QuickFix),
        diagnostics: Some(diagnostics),
        is_preferred: preferred.then_some(true),
        edit: Some(here(files, client, view, edits)),
        ..CodeAction::default()
    }
}

/// Whether after these edits less of a code is wrong in the file, and nothing else is.
fn is_help(files: &Files, view: &View, code: Code, edits: &Edits) -> bool {
    let texts = BTreeMap::from([(view.path.clone(), changed(&view.text.text, edits))]);
    let Some(after) = files.supposed(&view.path, &texts) else { return false };
    let counts = |analysis: &Analysis| {
        let mut counts: BTreeMap<Code, usize> = BTreeMap::new();
        for found in analysis.own().iter().map(|it| &it.diagnostic) {
            if found.is_error() || found.code == code {
                *counts.entry(found.code).or_default() += 1;
            }
        }
        counts
    };
    let (before, after) = (counts(&view.analysis), counts(&after));
    let count = |code: &Code| before.get(code).copied().unwrap_or_default();
    after.get(&code).copied().unwrap_or_default() < count(&code)
        && after.iter().all(|(code, number)| *number <= count(code))
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
        let is_it = path.file_stem().is_some_and(|stem| stem == namespace) && path != view.path;
        let Some(there) = is_it.then(|| files.view(&path)).flatten() else { continue };
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

/// Where imports are: below the line that names an interpreter, and after a byte order mark.
fn first_line(view: &View) -> u32 {
    let text = &view.text.text;
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let has_interpreter = text[mark..].starts_with("#!") && text.contains('\n');
    if has_interpreter { view.text.line_start(1) } else { mark as u32 }
}

/// Declares a variable above the statement that uses it.
fn declare(view: &View, found: &Diagnostic) -> Vec<(String, Edits)> {
    let span = found.primary.span;
    let written = view.text.slice(span);
    let name = written.rsplit('.').next().unwrap_or(written);
    if name.is_empty() || !name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_') {
        return Vec::new();
    }
    let Some(at) = above(view, span) else { return Vec::new() };
    let start = view.text.line_start(view.text.line_of(at));
    let indent = view.text.slice(Span::new(start, at));
    let new = format!("{indent}var {name} = \"\"\n");
    vec![(format!("declare `{name}` above"), vec![(Span::at(start), new)])]
}

/// Where a statement begins that has a line of its own and a place in it; for the body of a function that has
/// none, where the comments above that function begin.
fn above(view: &View, place: Span) -> Option<u32> {
    let text = &view.text.text;
    let parse = opal_syntax::parse(text, &Words(view.registry));
    let unit = lower::unit(&parse, text);
    let mut bodies = unit.functions.iter().map(|it| &it.body).chain([&unit.script]);
    if let Some(found) = bodies.find_map(|body| statement(view, body, place)) {
        return Some(found);
    }
    let around = view.analysis.facts.function_around(place.start)?;
    let mut line = view.text.line_of(around.whole.start);
    while line > 0 && view.text.line(line - 1).starts_with("//") {
        line -= 1;
    }
    Some(view.text.line_start(line))
}

fn statement(view: &View, block: &Block, place: Span) -> Option<u32> {
    let is_around = |it: &&Statement| it.span.start <= place.start && place.end <= it.span.end;
    let around = block.statements.iter().find(is_around)?;
    let mut inner = None;
    around.kind.blocks(&mut |block| inner = inner.or_else(|| statement(view, block, place)));
    let at = around.span.start;
    let start = view.text.line_start(view.text.line_of(at));
    let is_alone = view.text.slice(Span::new(start, at)).trim().is_empty();
    inner.or(is_alone.then_some(at))
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
