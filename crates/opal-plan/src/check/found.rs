//! What a check has found: the first of each code in full, of the rest only the place.
//!
//! A file of 16 MiB can hold a million mistakes, of which a hundred are shown. Whether one of the
//! others is in a function that a run reaches still decides whether that run starts.

use std::collections::BTreeMap;

use opal_core::diagnostic::MAX_OF_CODE;
use opal_core::gather::Gather as _;
use opal_core::{Code, Diagnostic, Span};

#[derive(Debug, Default)]
pub(super) struct Found {
    kept: Vec<Diagnostic>,
    /// Those that are not kept.
    places: Vec<(Code, Span)>,
    counts: BTreeMap<Code, usize>,
}

impl Found {
    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        let count = self.counts.entry(diagnostic.code).or_default();
        *count += 1;
        if *count > MAX_OF_CODE && diagnostic.more == 0 {
            self.places.push((diagnostic.code, diagnostic.primary.span));
        } else {
            self.kept.push(diagnostic);
        }
    }

    pub(super) fn extend(&mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        diagnostics.into_iter().for_each(|diagnostic| self.push(diagnostic));
    }

    pub(super) fn retain(&mut self, keeps: impl Fn(Code, Span) -> bool) {
        self.kept.retain(|found| keeps(found.code, found.primary.span));
        self.places.retain(|(code, span)| keeps(*code, *span));
    }

    pub(super) fn into_parts(self) -> (Vec<Diagnostic>, Vec<(Code, Span)>) {
        (self.kept, self.places)
    }
}

/// Adds diagnostics of which only the place is known: they are counted with one of their code, and
/// only the first of a code has words, where there is none to count it with.
pub(super) fn count_in(
    diagnostics: &mut Vec<Diagnostic>,
    places: impl IntoIterator<Item = (Code, Span)>,
) {
    let indices = diagnostics.iter().enumerate().map(|(index, found)| (found.code, index));
    let mut last: BTreeMap<Code, usize> = indices.gathered();
    for (code, span) in places {
        match last.get(&code) {
            Some(index) => diagnostics[*index].more += 1,
            None => {
                last.insert(code, diagnostics.len());
                diagnostics.push(Diagnostic::new(code, span, code.title()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_are_kept_and_all_are_counted() {
        let text = "echo @var.nothing\n".repeat(5_000);
        let checked = crate::check::check(&text, &opal_decorators::registry());
        let kept = |code| checked.diagnostics.iter().filter(|it| it.code == code).count();
        assert_eq!(kept(Code::UndeclaredVariable), MAX_OF_CODE);
        let all: usize = checked.all().iter().map(|it| 1 + it.more).sum();
        assert_eq!(all, 5_000);
        assert_eq!(
            checked.findings(None).errors.iter().map(|it| 1 + it.more).sum::<usize>(),
            5_000
        );
    }
}
