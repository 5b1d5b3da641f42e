//! Diagnostics for a terminal, in the shape rustc made familiar.
//!
//! The renderer reads the whole text it is given, so it gets an [`Excerpt`]: the lines near the
//! labels, long ones cut, with everything that could act on a terminal made visible. Columns
//! in a cut line are not columns in the file; the renderer therefore prints [`HERE`] for the file,
//! and the true place is put in afterwards.

mod excerpt;

use std::fmt::Write as _;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Patch, Renderer, Snippet};
use opal_core::gather;
use opal_core::view::visible;
use opal_core::{Diagnostic, Fix, Label, Severity, diagnostic};

use super::places::Places;
use super::{Report, unlisted};
use crate::view::ink::Ink;
use excerpt::{Excerpt, is_long};

/// Stands for the file in what the renderer prints. No other text can hold it, because controls
/// are made visible everywhere.
const HERE: char = '\u{1}';
/// A span over more lines is marked on its first line only.
const LONGEST_SPAN_LINES: u32 = 4;
/// Labels farther apart get an excerpt each; nearer ones share one, with `...` between.
const LONGEST_GAP_LINES: u32 = 40;
/// More secondary labels than this would bury the first.
const MOST_SECONDARY: usize = 8;
/// The most characters of a replacement that is told in words.
const LONGEST_TOLD_CHARS: usize = 80;

pub(crate) fn human(report: &Report<'_>, ink: Ink, out: &mut String) {
    if report.diagnostics.is_empty() {
        return;
    }
    let places = Places::new(report.source.text);
    let renderer = if ink.colour { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(ink.width);
    let name = visible::words(report.source.name);
    let (shown, more) = diagnostic::limit(report.diagnostics);
    for diagnostic in shown {
        show(&name, &places, diagnostic, &renderer, out);
        out.push_str("\n\n");
    }
    for (code, count) in more {
        let _ = writeln!(out, "{name}: {}\n", unlisted(code, count));
    }
}

fn show(
    name: &str,
    places: &Places<'_>,
    diagnostic: &Diagnostic,
    renderer: &Renderer,
    out: &mut String,
) {
    let level = match diagnostic.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let clusters = clusters(places, diagnostic);
    let patched = diagnostic.fix.as_ref().and_then(|fix| patched(places, fix));
    let title = level.primary_title(visible::words(&diagnostic.message));
    let main = title
        .id(diagnostic.code.as_str())
        .elements(clusters.iter().map(|cluster| snippet(places, cluster)))
        .elements(words(diagnostic, patched.is_some()));
    let groups: Vec<Group<'_>> = std::iter::once(main).chain(patched).collect();
    put_places(&renderer.render(&groups), name, places, &clusters, out);
}

/// A label with the part of its span that is marked.
struct Mark<'a> {
    label: &'a Label,
    kind: AnnotationKind,
    start: usize,
    end: usize,
    first_line: u32,
    last_line: u32,
}

impl<'a> Mark<'a> {
    fn new(places: &Places<'_>, label: &'a Label, kind: AnnotationKind) -> Self {
        let start = places.clamp(label.span.start);
        let first_line = places.line(start);
        let start = start.min(places.content(first_line).end);
        let mut end = places.clamp(label.span.end).max(start);
        let mut last_line = places.line(end);
        if last_line - first_line >= LONGEST_SPAN_LINES {
            last_line = first_line;
            end = places.content(first_line).end;
        }
        // A span that takes a line ending with it does not reach into the next line.
        while last_line > first_line && end == places.content(last_line).start {
            last_line -= 1;
            end = places.content(last_line).end;
        }
        let end = end.min(places.content(last_line).end).max(start);
        Self { label, kind, start, end, first_line, last_line }
    }
}

/// The labels that are shown, those close together in one cluster; the first holds the primary one.
fn clusters<'a>(places: &Places<'_>, diagnostic: &'a Diagnostic) -> Vec<Vec<Mark<'a>>> {
    let secondary = diagnostic.secondary.iter().take(MOST_SECONDARY);
    let mut marks = vec![Mark::new(places, &diagnostic.primary, AnnotationKind::Primary)];
    marks.extend(secondary.map(|label| Mark::new(places, label, AnnotationKind::Context)));
    gather::sort_by_key(&mut marks, |mark| mark.start);
    let mut clusters: Vec<Vec<Mark<'a>>> = Vec::new();
    let mut reached_line = 0;
    for mark in marks {
        let near = mark.first_line <= reached_line + LONGEST_GAP_LINES;
        reached_line = reached_line.max(mark.last_line);
        match clusters.last_mut() {
            Some(cluster) if near => cluster.push(mark),
            _ => clusters.push(vec![mark]),
        }
    }
    gather::sort_by_key(&mut clusters, |cluster| primary(cluster).is_none());
    clusters
}

fn primary<'c, 'a>(cluster: &'c [Mark<'a>]) -> Option<&'c Mark<'a>> {
    cluster.iter().find(|mark| mark.kind == AnnotationKind::Primary)
}

fn snippet<'a>(places: &Places<'_>, cluster: &[Mark<'a>]) -> Element<'a> {
    let first_line = cluster.iter().map(|mark| mark.first_line).min().unwrap_or(1);
    let last_line = cluster.iter().map(|mark| mark.last_line).max().unwrap_or(1);
    let offsets: Vec<usize> = cluster.iter().flat_map(|mark| [mark.start, mark.end]).collect();
    let excerpt = Excerpt::new(places, first_line..=last_line, &offsets);
    let annotations = cluster.iter().map(|mark| {
        let words = visible::words(&mark.label.text);
        let span = excerpt.span(mark.start, mark.end);
        mark.kind.span(span).label((!words.is_empty()).then_some(words))
    });
    let annotations: Vec<_> = annotations.collect();
    let snippet = Snippet::source(excerpt.text).line_start(first_line as usize);
    snippet.path(HERE.to_string()).annotations(annotations).into()
}

/// The lines below the excerpt.
fn words(diagnostic: &Diagnostic, fix_is_shown: bool) -> Vec<Element<'static>> {
    let hidden = diagnostic.secondary.len().saturating_sub(MOST_SECONDARY);
    let hidden = (hidden > 0).then(|| format!("{hidden} more places are not shown here"));
    let told =
        diagnostic.fix.as_ref().filter(|_| !fix_is_shown).filter(|fix| !says(diagnostic, fix));
    let told = told.map(told_fix);
    let notes = hidden.into_iter().map(|text| Level::NOTE.message(text).into());
    let help = diagnostic.help.iter().map(|help| visible::paragraphs(help)).chain(told);
    notes.chain(help.map(|text| Level::HELP.message(text).into())).collect()
}

/// Whether a help already has the text of a fix, as in "did you mean `X`?".
fn says(diagnostic: &Diagnostic, fix: &Fix) -> bool {
    let quoted = match fix.edits.as_slice() {
        [edit] if !edit.text.trim().is_empty() => format!("`{}`", edit.text.trim()),
        _ => return false,
    };
    diagnostic.help.iter().any(|help| help.contains(&quoted))
}

/// A fix in words, for when the changed text is too much to show.
fn told_fix(fix: &Fix) -> String {
    let title = visible::words(&fix.title);
    match fix.edits.as_slice() {
        [edit] if !edit.text.trim().is_empty() && !title.contains(edit.text.trim()) => {
            format!("{title}: `{}`", visible::brief(edit.text.trim(), LONGEST_TOLD_CHARS))
        }
        _ => title,
    }
}

/// A fix as the changed line, where it stays within one line of a sensible length.
fn patched(places: &Places<'_>, fix: &Fix) -> Option<Group<'static>> {
    let mut edits: Vec<(Range<usize>, &str)> = Vec::new();
    for edit in &fix.edits {
        let span = places.clamp(edit.span.start)..places.clamp(edit.span.end);
        edits.push((span, &edit.text));
    }
    gather::sort_by_key(&mut edits, |(span, _)| (span.start, span.end));
    let line = places.line(edits.first()?.0.start);
    let content = places.content(line);
    let fits = |(span, text): &(Range<usize>, &str)| {
        span.end <= content.end && !text.contains(['\n', '\r']) && !is_long(text)
    };
    let overlap = edits.windows(2).any(|pair| pair[1].0.start < pair[0].0.end);
    if overlap || is_long(&places.text[content.clone()]) || !edits.iter().all(fits) {
        return None;
    }
    let offsets: Vec<usize> = edits.iter().flat_map(|(span, _)| [span.start, span.end]).collect();
    let excerpt = Excerpt::new(places, line..=line, &offsets);
    let patches: Vec<_> = edits
        .iter()
        .map(|(span, text)| {
            Patch::new(excerpt.at(span.start)..excerpt.at(span.end), visible::words(text))
        })
        .collect();
    let snippet = Snippet::source(excerpt.text).line_start(line as usize).patches(patches);
    Some(Level::HELP.secondary_title(visible::words(&fix.title)).element(snippet))
}

/// Copies what was rendered, with the true place for each [`HERE`].
fn put_places(
    rendered: &str,
    name: &str,
    places: &Places<'_>,
    clusters: &[Vec<Mark<'_>>],
    out: &mut String,
) {
    let mut parts = rendered.split(HERE);
    out.push_str(parts.next().unwrap_or_default());
    for (part, cluster) in parts.zip(clusters) {
        if let Some(mark) = primary(cluster).or(cluster.first()) {
            let at = places.position(mark.label.span.start);
            let _ = write!(out, "{name}:{}:{}", at.line, at.column);
        }
        out.push_str(part.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit()));
    }
}
