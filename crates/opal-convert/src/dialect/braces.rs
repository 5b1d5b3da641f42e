//! `{a,b}` and `{1..3}`, which only bash expands.

use super::command::{Kind, Unit, Word, text};
use super::lexer::Reader;

/// Longer words are not searched for brackets.
const MAX_UNITS: usize = 4_096;

impl Reader<'_> {
    /// Quotes the brackets of a word that bash would expand.
    pub(super) fn quote_braces(&mut self, word: &Word) {
        let units = &word.units;
        if units.len() > MAX_UNITS {
            return self.other("`{a,b}`", "reads it as text");
        }
        let mut index = 0;
        while index < units.len() {
            match closing(units, index).filter(|end| expands(&units[index + 1..*end])) {
                Some(end) => {
                    self.quote(&units[index..=end]);
                    index = end + 1;
                }
                None => index += 1,
            }
        }
    }

    /// Bash reads `$x{a,b}` as `$xa $xb`, and Task as `${x}a ${x}b`.
    pub(super) fn separate_names(&mut self, word: &Word) {
        for (index, pair) in word.units.windows(2).enumerate().take(MAX_UNITS) {
            let text = &self.text[pair[0].at..pair[1].at];
            let is_name = |it: &u8| it.is_ascii_alphanumeric() || *it == b'_';
            let is_plain = text.len() > 1 && text[0] == b'$' && text[1..].iter().all(is_name);
            let is_name = pair[0].kind == Kind::Computed && is_plain && is(&pair[1], b'{');
            if !is_name {
                continue;
            }
            let end = closing(&word.units, index + 1);
            if end.is_some_and(|it| expands(&word.units[index + 2..it])) {
                self.found.insert(pair[0].at + 1, "{");
                self.found.insert(pair[1].at, "}");
            }
        }
    }

    /// Quotes around plain text; otherwise a `\` before each bracket.
    fn quote(&mut self, units: &[Unit]) {
        let (first, last) = (units[0].at, units[units.len() - 1].at);
        let is_plain = |it: &Unit| {
            it.kind == Kind::Bare
                && (it.c.is_ascii_alphanumeric() || b"{},._-/:+%=".contains(&it.c))
        };
        if units.iter().all(is_plain) && last - first + 1 == units.len() {
            self.found.insert(first, "'");
            self.found.insert(last + 1, "'");
            return;
        }
        for unit in units.iter().filter(|it| it.kind == Kind::Bare && b"{}".contains(&it.c)) {
            self.found.insert(unit.at, "\\");
        }
    }
}

fn is(unit: &Unit, c: u8) -> bool {
    unit.kind == Kind::Bare && unit.c == c
}

/// The bracket that closes the one at the start.
fn closing(units: &[Unit], start: usize) -> Option<usize> {
    if !is(units.get(start)?, b'{') {
        return None;
    }
    let mut depth = 0_usize;
    for (index, unit) in units.iter().enumerate().skip(start) {
        depth += usize::from(is(unit, b'{'));
        if is(unit, b'}') {
            depth -= 1;
            if depth == 0 {
                return Some(index);
            }
        }
    }
    None
}

/// Whether bash makes several words of it.
fn expands(inner: &[Unit]) -> bool {
    let mut depth = 0_usize;
    for unit in inner {
        match unit.kind == Kind::Bare {
            true if unit.c == b'{' => depth += 1,
            true if unit.c == b'}' => depth = depth.saturating_sub(1),
            true if unit.c == b',' && depth == 0 => return true,
            _ => {}
        }
    }
    let is_bare = inner.iter().all(|it| it.kind == Kind::Bare);
    is_bare && is_sequence(&text(inner))
}

/// `1..3`, `a..e`, `1..9..2`.
fn is_sequence(text: &str) -> bool {
    let parts: Vec<&str> = text.split("..").collect();
    let is_number = |it: &str| it.parse::<i64>().is_ok();
    let is_letter = |it: &str| it.len() == 1 && it.bytes().all(|c| c.is_ascii_alphabetic());
    match parts.as_slice() {
        [from, to] | [from, to, _] => {
            let step = parts.get(2).is_none_or(|it| is_number(it));
            step && (is_number(from) && is_number(to) || is_letter(from) && is_letter(to))
        }
        _ => false,
    }
}
