//! Formatting: the bytes that `opal fmt` writes.

use gen_lsp_types::{Range, TextEdit};
use opal_core::Span;
use opal_plan::Words;
use opal_syntax::Style;

use crate::files::View;

/// What to change so that the text is in its one form. None where it has errors.
pub(crate) fn of(view: &View) -> Option<Vec<TextEdit>> {
    let after = opal_syntax::format(&view.text.text, &Words(view.registry), Style::default())?;
    Some(edits(view, &after))
}

/// The same, of it what concerns some lines.
pub(crate) fn range(view: &View, range: &Range) -> Option<Vec<TextEdit>> {
    let after = opal_syntax::format(&view.text.text, &Words(view.registry), Style::default())?;
    let span = view.text.span(range);
    let touched = |it: &TextEdit| {
        let edit = view.text.span(&it.range);
        edit.start <= span.end && span.start <= edit.end
    };
    Some(edits(view, &after).into_iter().filter(touched).collect())
}

/// One edit for each run of lines that differ, so that an editor keeps its cursor and its marks.
fn edits(view: &View, after: &str) -> Vec<TextEdit> {
    let before = &view.text.text;
    let (old, new) = (lines(before), lines(after));
    let mut edits = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i].1 == new[j].1 {
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let (next_i, next_j) = together(&old, &new, (i, j));
        let at = |lines: &[(usize, &str)], index: usize, end: usize| {
            lines.get(index).map_or(end, |(start, _)| *start) as u32
        };
        let (end, new_end) = (before.len(), after.len());
        let span = Span::new(at(&old, i, end), at(&old, next_i, end));
        let with = Span::new(at(&new, j, new_end), at(&new, next_j, new_end));
        let new_text = after[with.range()].to_owned();
        edits.push(TextEdit { range: view.text.range(span), new_text });
        (i, j) = (next_i, next_j);
    }
    edits
}

fn lines(text: &str) -> Vec<(usize, &str)> {
    let mut at = 0;
    let line = |line| {
        let start = at;
        at += str::len(line);
        (start, line)
    };
    text.split_inclusive('\n').map(line).collect()
}

/// The next lines that are equal again. The formatter moves and joins few lines, so they are near; where
/// they are not, the rest is one edit.
fn together(
    old: &[(usize, &str)],
    new: &[(usize, &str)],
    (i, j): (usize, usize),
) -> (usize, usize) {
    const FAR: usize = 200;
    for distance in 1..FAR {
        for ahead in 0..=distance {
            let (a, b) = (i + ahead, j + distance - ahead);
            let is_same = match (old.get(a), new.get(b)) {
                (Some((_, old)), Some((_, new))) => old == new && !old.trim().is_empty(),
                (None, None) => true,
                _ => false,
            };
            if is_same {
                return (a, b);
            }
        }
    }
    (old.len(), new.len())
}
