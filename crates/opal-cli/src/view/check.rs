//! What `opal check` shows.

use opal_core::message::counted;
use opal_core::{Diagnostic, Severity};
use opal_ops::source::Loaded;
use opal_ops::source::files::FileFindings;

use super::diagnostics::{self, Report, Source, visible};
use super::ink::{Ink, Inks};
use super::{error_json, failure_text, print, print_json, say};
use crate::checked_file::CheckedFile;
use crate::failure::{Exit, Failure};

pub(super) fn report(file: &CheckedFile) -> Report<'_> {
    Report { source: Source { name: &file.name, text: &file.text }, diagnostics: &file.diagnostics }
}

pub(crate) fn show(files: &[CheckedFile], format: &str, inks: Inks) -> Result<Exit, Failure> {
    if format == "json" {
        return show_json(files);
    }
    for file in files {
        if let Some(failure) = &file.failure {
            say(&failure_text(failure, inks.err));
        }
    }
    let mut out = String::new();
    for file in files {
        if format == "github" {
            diagnostics::github(&report(file), &mut out);
        } else {
            diagnostics::human(&report(file), inks.out, &mut out);
        }
    }
    print(&out)?;
    if format == "human" {
        print(&summary(files))?;
    }
    Ok(Exit::Done)
}

/// Errors that do not concern what is planned.
pub(crate) fn elsewhere(count: usize, target: &str, check: &str) {
    let (errors, check) = (counted(count, "error"), visible(check));
    say(&format!("warning: {errors} in parts that `{target}` does not reach; see `{check}`\n"));
}

/// A setting of a configuration that its source in the language has no words for.
pub(crate) fn dry_run_unconverted(config: &str) {
    say(&format!(
        "warning: `{config}` has `dry_run: true`, but a source has no such setting: the converted \
         source makes changes when it runs\n  help: to see what would change, type `opal run \
         --dry-run FILE.opl`\n",
    ));
}

/// What was noticed about a plan that could be made.
pub(crate) fn advice(loaded: &Loaded, diagnostics: Vec<Diagnostic>, ink: Ink) {
    let mut out = String::new();
    for FileFindings { file, diagnostics } in loaded.sorted(diagnostics) {
        let source = Source { name: file.name, text: file.text };
        diagnostics::human(&Report { source, diagnostics: &diagnostics }, ink, &mut out);
    }
    say(&out);
}

/// A file that is no text.
pub(crate) fn not_text(
    name: String,
    found: opal_syntax::source::NoText,
    ink: Ink,
) -> Result<Exit, Failure> {
    let diagnostics = vec![found.diagnostic];
    to_stderr(&[CheckedFile { name, text: found.shown, diagnostics, failure: None }], ink)
}

/// A configuration that is none.
pub(crate) fn unconverted(
    loaded: &Loaded,
    diagnostics: Vec<Diagnostic>,
    ink: Ink,
) -> Result<Exit, Failure> {
    let (name, text) = (loaded.name.clone(), loaded.text.clone());
    let file = CheckedFile { name, text, diagnostics, failure: None };
    told(&[file], "nothing was converted", ink)
}

/// Diagnostics of files that cannot run.
pub(crate) fn to_stderr(files: &[CheckedFile], ink: Ink) -> Result<Exit, Failure> {
    told(files, "nothing was run", ink)
}

fn told(files: &[CheckedFile], end: &str, ink: Ink) -> Result<Exit, Failure> {
    let mut out = String::new();
    files.iter().for_each(|file| diagnostics::human(&report(file), ink, &mut out));
    let errors = files.iter().map(|file| file.count(Severity::Error)).sum();
    let errors = counted(errors, "error");
    out.push_str(&format!("{end}: {errors}\n"));
    out.push_str(&more(files));
    say(&out);
    Ok(Exit::Done)
}

/// Where more is said about the first of what was found.
fn more(files: &[CheckedFile]) -> String {
    let codes = files.iter().flat_map(|file| &file.diagnostics);
    codes.min_by_key(|found| found.severity()).map_or_else(String::new, |first| {
        format!("more on a code: `opal explain {}`\n", first.code.as_str())
    })
}

fn summary(files: &[CheckedFile]) -> String {
    let read = files.iter().filter(|file| file.failure.is_none());
    let count = |severity| read.clone().map(|file| file.count(severity)).sum::<usize>();
    let found: Vec<String> =
        [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")]
            .into_iter()
            .map(|(severity, what)| (count(severity), what))
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| counted(count, what))
            .collect();
    let count = read.count();
    if count == 0 {
        return String::new();
    }
    let checked = counted(count, "file");
    if found.is_empty() {
        return format!("{checked} checked, no problems found\n");
    }
    let mut text = format!("{checked} checked: {}\n", found.join(", "));
    text.push_str(&more(files));
    text
}

fn show_json(files: &[CheckedFile]) -> Result<Exit, Failure> {
    print_json(&document(files))
}

/// What was found, for programs.
pub(super) fn document(files: &[CheckedFile]) -> serde_json::Value {
    let reports: Vec<Report<'_>> = files.iter().map(report).collect();
    let mut document = diagnostics::json(&reports);
    for (index, file) in files.iter().enumerate() {
        if let Some(failure) = &file.failure {
            document["files"][index]["failure"] = error_json(&failure.message, &failure.help);
        }
    }
    document
}
