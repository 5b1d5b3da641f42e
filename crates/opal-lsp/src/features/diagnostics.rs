//! What is wrong: everything that `opal check` says, except what needs the shell's own parser.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gen_lsp_types::{
    Code, CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity,
    DiagnosticTag, Location, Message, Uri,
};
use opal_core::code::{Code as OpalCode, Severity};
use opal_core::diagnostic::MAX_OF_CODE;
use serde_json::{Value, json};

use crate::analysis::Finding;
use crate::files::{Files, View};

/// Which of the sources that are open and import a file are asked what they find in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Importers {
    /// All of them: those that are stale are checked first.
    All,
    /// Those that found something when they were checked last: nobody waits for the others.
    Known,
}

/// What was found in a file: checked for itself, and as a part of the sources that are open and import it.
fn findings(files: &Files, path: &Path, importers: Importers) -> Vec<Finding> {
    let Some(view) = files.view(path) else { return Vec::new() };
    let mut all: Vec<Finding> = view.analysis.own().to_vec();
    imported(files, path, importers, &mut all);
    all
}

/// What the sources that are open find in a file that they import.
fn imported(files: &Files, path: &Path, importers: Importers, all: &mut Vec<Finding>) {
    let others = files.opened().map(|(other, _)| other).filter(|other| *other != path);
    let others = others.filter(|it| importers == Importers::All || files.has_found(it, path));
    let mut seen: Option<BTreeSet<_>> = None;
    for other in others {
        let Some(other) = files.view(other) else { continue };
        let there = other.analysis.found.iter().skip(1).filter(|it| it.path == path);
        for finding in there.flat_map(|it| &it.findings) {
            let seen = seen.get_or_insert_with(|| all.iter().map(Finding::key).collect());
            if seen.insert(finding.key()) {
                all.push(finding.clone());
            }
        }
    }
}

/// As many of each code as `opal check` shows.
pub(crate) fn kept(all: &[Finding]) -> impl Iterator<Item = &Finding> {
    let mut kept: BTreeMap<&str, usize> = BTreeMap::new();
    all.iter().filter(move |finding| {
        let count = kept.entry(finding.diagnostic.code.as_str()).or_default();
        *count += 1;
        *count <= MAX_OF_CODE
    })
}

/// The same as the protocol has it.
pub(crate) fn of(files: &Files, path: &Path, importers: Importers) -> Vec<Diagnostic> {
    let Some(view) = files.view(path) else { return Vec::new() };
    kept(&findings(files, path, importers)).map(|finding| one(files, &view, finding)).collect()
}

/// The same of a file that is not open: only what those that import it say.
pub(crate) fn of_closed(files: &Files, path: &Path) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    imported(files, path, Importers::All, &mut found);
    if found.is_empty() {
        return Vec::new();
    }
    let Some(view) = files.view(path) else { return Vec::new() };
    kept(&found).map(|finding| one(files, &view, finding)).collect()
}

/// The answer to a client that asks. A text that is too large to be checked now keeps what it had.
pub(crate) fn report(
    files: &Files,
    path: &Path,
    before: Option<&str>,
    importers: Importers,
) -> Value {
    let document = files.document(path);
    if let (Some(before), true) = (before, document.is_some_and(|it| it.is_stale)) {
        return json!({ "kind": "unchanged", "resultId": before });
    }
    let version = document.map_or(0, |it| it.version);
    let items = of(files, path, importers);
    json!({ "kind": "full", "resultId": version.to_string(), "items": items })
}

pub(crate) fn one(files: &Files, view: &View, finding: &Finding) -> Diagnostic {
    let found = &finding.diagnostic;
    let here = found.secondary.iter().map(|label| {
        let range = view.text.range(label.span);
        let location = Location { uri: view.uri.clone(), range };
        DiagnosticRelatedInformation { location, message: label.text.clone() }
    });
    let elsewhere = finding.elsewhere.iter().filter_map(|(path, span, text)| {
        let other = files.view(path)?;
        let location = Location { uri: other.uri, range: other.text.range(*span) };
        Some(DiagnosticRelatedInformation { location, message: text.clone() })
    });
    let related: Vec<DiagnosticRelatedInformation> = here.chain(elsewhere).collect();
    Diagnostic {
        range: view.text.range(found.primary.span),
        severity: Some(severity(found.severity())),
        code: Some(Code::String(found.code.as_str().to_owned())),
        code_description: Some(CodeDescription { href: page(found.code) }),
        source: Some("opal".to_owned()),
        message: Message::String(said(finding)),
        tags: tag(found.code).map(|tag| vec![tag]),
        related_information: (!related.is_empty()).then_some(related),
        data: None,
    }
}

/// The message, and a line for each help: an editor shows nothing else.
fn said(finding: &Finding) -> String {
    let found = &finding.diagnostic;
    let mut said = found.message.clone();
    if !found.primary.text.is_empty() {
        said.push_str(&format!("\n{}", found.primary.text));
    }
    for help in &found.help {
        said.push_str(&format!("\nhelp: {help}"));
    }
    if found.more > 0 {
        said.push_str(&format!("\n{} more of these", found.more));
    }
    said
}

fn severity(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::Error,
        Severity::Warning => DiagnosticSeverity::Warning,
        Severity::Note => DiagnosticSeverity::Information,
    }
}

fn tag(code: OpalCode) -> Option<DiagnosticTag> {
    match code {
        OpalCode::UnusedVariable | OpalCode::UnusedParameter | OpalCode::UnusedLet => {
            Some(DiagnosticTag::Unnecessary)
        }
        OpalCode::DeprecatedParameter => Some(DiagnosticTag::Deprecated),
        _ => None,
    }
}

/// Where a client that asks for `opal/page` shows the page of a code.
fn page(code: OpalCode) -> Uri {
    Uri::from(format!("opal-page:/{}.md", code.as_str()))
}
