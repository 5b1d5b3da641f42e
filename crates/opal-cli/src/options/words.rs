//! Whether a word is an option of opal, and how much of the line it takes.

use super::Behind;
use super::table::{ROWS, Row};

/// Whether `name` is an option of plans or runs, and whether a value follows it. `-vy` is two.
pub(crate) fn known(name: &str) -> Option<bool> {
    if let Some(long) = name.strip_prefix("--") {
        return ROWS.iter().find(|row| row.name == long).map(Row::takes_value);
    }
    let letters = name.strip_prefix('-').filter(|letters| !letters.is_empty())?;
    let takes = |letter| ROWS.iter().find(|row| row.short == Some(letter)).map(Row::takes_value);
    // Only the last of several may have a value.
    let (last, before) = letters.char_indices().next_back().map(|(at, c)| (c, &letters[..at]))?;
    before.chars().all(|letter| takes(letter) == Some(false)).then(|| takes(last))?
}

/// How much of the line an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    Alone,
    WithNext,
}

/// Whether a word after a task's name is an option of opal: `--jobs`, `--jobs=4`, `-j4`, `-vy`.
pub(crate) fn taken(word: &str, side: Behind) -> Option<Taken> {
    let until = |takes: bool| if takes { Taken::WithNext } else { Taken::Alone };
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = long.split_once('=').map_or((long, None), |(n, v)| (n, Some(v)));
        let row = side.rows().find(|row| row.name == name)?;
        return Some(until(row.takes_value() && value.is_none()));
    }
    let letters = word.strip_prefix('-').filter(|letters| !letters.is_empty())?;
    for (at, letter) in letters.char_indices() {
        let row = side.rows().find(|row| row.short == Some(letter))?;
        if row.takes_value() {
            return Some(until(letters.len() == at + letter.len_utf8()));
        }
    }
    Some(Taken::Alone)
}

/// The options after a task's name.
pub(crate) fn names_behind(side: Behind) -> impl Iterator<Item = String> {
    side.rows().map(|row| format!("--{}", row.name)).chain(["--help".to_owned()])
}

pub(crate) fn names() -> impl Iterator<Item = String> {
    ROWS.iter().map(|row| format!("--{}", row.name))
}
