//! Values that are words of their own.

use crate::form::{Expr, Piece, Step, Task};
use crate::quotes::{Place, Quotes};

/// The variables that a task pastes as words of their own.
pub(super) fn bare_words(task: &Task) -> Vec<&str> {
    let mut found = Vec::new();
    task.body.iter().chain(&task.finally).for_each(|step| bare_in(step, &mut found));
    found
}

fn bare_in<'t>(step: &'t Step, found: &mut Vec<&'t str>) {
    match step {
        Step::Line { pieces, .. } => {
            let mut quotes = Quotes::default();
            for (index, piece) in pieces.iter().enumerate() {
                match piece {
                    Piece::Text(text) => quotes.text(text),
                    Piece::Value(value) => {
                        let is_bare = quotes.place() == Place::Bare && quotes.is_word_start();
                        if let Expr::Name(name) = value
                            && is_bare
                            && ends_word(next(pieces, index))
                        {
                            found.push(name);
                        }
                        quotes.value();
                    }
                }
            }
        }
        Step::If { then, otherwise, .. } => {
            then.iter().chain(otherwise).for_each(|step| bare_in(step, found));
        }
        Step::For { body, .. } => body.iter().for_each(|step| bare_in(step, found)),
        _ => {}
    }
}

/// What follows a piece.
pub(super) fn next(pieces: &[Piece], index: usize) -> Option<char> {
    match pieces.get(index + 1)? {
        Piece::Text(text) => text.chars().next(),
        Piece::Value(_) => Some('@'),
    }
}

/// Whether a word ends before it.
pub(super) fn ends_word(next: Option<char>) -> bool {
    next.is_none_or(|c| c.is_whitespace() || ";|&)<>".contains(c))
}
