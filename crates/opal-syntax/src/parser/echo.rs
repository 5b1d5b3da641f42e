//! One complaint a line.

use opal_core::{Code, Diagnostic, Group};

/// Drops what is likely to be the echo of another error. What the grammar says second about a line
/// mostly follows from what was said first, and a fault in a literal, quote or bracket says more
/// than the grammar could. `errors` are in the order of their places.
pub(super) fn silence(text: &str, errors: &mut Vec<Diagnostic>) {
    let mut kept = Vec::with_capacity(errors.len());
    let mut rest = errors.drain(..).peekable();
    let mut line = Vec::new();
    while let Some(first) = rest.next() {
        let end = line_end(text, first.primary.span.start as usize);
        line.push(first);
        while let Some(next) = rest.next_if(|next| next.primary.span.start as usize <= end) {
            line.push(next);
        }
        silence_line(&mut line, &mut kept);
    }
    drop(rest);
    *errors = kept;
}

fn silence_line(line: &mut Vec<Diagnostic>, kept: &mut Vec<Diagnostic>) {
    // A block without its end speaks last: it begins before the fault that hides its `}`.
    let speaks = |error: &Diagnostic| error.is_error() && error.code != Code::UnclosedBlock;
    let speaker = line.iter().position(speaks).unwrap_or(0);
    let audible = line.drain(..).enumerate();
    kept.extend(audible.filter(|(at, e)| *at == speaker || !is_grammar(e)).map(|(_, e)| e));
}

fn is_grammar(error: &Diagnostic) -> bool {
    let code = error.code;
    error.is_error() && (code == Code::UnexpectedCharacter || code.group() == Group::Grammar)
}

fn line_end(text: &str, from: usize) -> usize {
    memchr::memchr(b'\n', &text.as_bytes()[from..]).map_or(text.len(), |at| from + at)
}
