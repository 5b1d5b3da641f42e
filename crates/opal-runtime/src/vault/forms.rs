//! All the ways in which one value may be printed.
//!
//! None of them is ever there as a whole, but of values with escape sequences or returns in
//! them: a file of 1 MiB has some 60 MiB of forms.

use std::sync::Arc;

use zeroize::Zeroizing;

use super::encode::{GROUPS, encodings};
use super::keep::{Kept, LEAD, Spool};
use super::read::readings;
use super::spell::{Spelling, spellings};
use super::view::Views;

/// From how many characters on a form is hidden wherever it stands.
pub const ANYWHERE: usize = 8;
/// From how many characters on a declared secret is hidden where it stands alone.
const ALONE: usize = 4;
/// Lines of a larger value are hidden as text only: their encodings would be too many.
const LINES_ENCODED: usize = 4 << 10;
/// Of a larger value, lines are hidden only as they are, and blanks at its ends, too, and what
/// stands for its backslashes is not.
const ALL_FORMS: usize = 256 << 10;
/// So much of a text is spelled or encoded at once.
const PIECE: usize = 256 * GROUPS;

/// What one value is hidden by.
#[derive(Default)]
pub(super) struct Forms {
    pub(super) label: Arc<str>,
    pub(super) text: Kept,
    pub(super) loose: Kept,
}

impl Forms {
    pub(super) fn of(value: &str, label: &str, declared: bool) -> Self {
        let mut forms = Self { label: label.into(), ..Self::default() };
        forms.add_value(value, declared);
        if value.len() <= ALL_FORMS {
            for reading in readings(value) {
                match std::str::from_utf8(&reading) {
                    Ok(text) => forms.add_value(text, declared),
                    Err(_) => forms.add_bytes(&reading),
                }
            }
        }
        forms
    }

    /// A text and its lines.
    fn add_value(&mut self, value: &str, declared: bool) {
        let trimmed = value.trim();
        self.add_whole(trimmed, declared);
        if trimmed.len() < value.len() {
            match value.len() {
                ..=ALL_FORMS => self.add_whole(value, declared),
                _ => self.keep(value.as_bytes(), false),
            }
        }
        if trimmed.contains(['\n', '\r']) {
            for line in trimmed.split(['\n', '\r']).map(str::trim).filter(|line| has_eight(line)) {
                match value.len() {
                    ..=ALL_FORMS => self.add(line, value.len() <= LINES_ENCODED),
                    _ => self.keep(line.as_bytes(), false),
                }
            }
        }
    }

    /// What is no text is hidden as it is, and by lines.
    fn add_bytes(&mut self, bytes: &[u8]) {
        self.keep(bytes, false);
        for line in bytes.split(|byte| matches!(byte, b'\n' | b'\r')) {
            self.keep(line.trim_ascii(), false);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.patterns.is_empty() && self.loose.patterns.is_empty()
    }

    fn add_whole(&mut self, text: &str, declared: bool) {
        if has_eight(text) {
            self.add(text, true);
        } else if declared && text.chars().count() >= ALONE {
            // Longer ones are of other scripts, whose letters nothing is known to touch.
            self.keep(text.as_bytes(), text.len() <= LEAD);
        }
    }

    fn add(&mut self, text: &str, encoded: bool) {
        self.keep(text.as_bytes(), false);
        let once = if is_dressed(text.as_bytes()) { text.len() } else { text.len().min(PIECE) };
        let mut room = Zeroizing::new(Vec::new());
        for spelling in spellings(text) {
            room.resize(Spelling::room_for(once), 0);
            self.spell(text, spelling, &mut room);
        }
        if !encoded {
            return;
        }
        encodings(text.as_bytes(), PIECE, &mut self.loose);
        if is_dressed(text.as_bytes()) {
            let unix = Views::of(text.as_bytes(), true).text.into_bytes();
            if has_eight(&String::from_utf8_lossy(&unix)) {
                encodings(&Zeroizing::new(unix.into_owned()), PIECE, &mut self.loose);
            }
        }
    }

    fn spell(&mut self, text: &str, spelling: &Spelling, room: &mut [u8]) {
        if is_dressed(text.as_bytes()) {
            let length = spelling.write(text, None, room);
            self.keep(&room[..length], false);
            return;
        }
        let mut spool = Spool::new(&self.text);
        let (mut rest, mut before) = (text, None);
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
            let length = spelling.write(piece, before, room);
            spool.push(&room[..length], &mut self.text);
            (rest, before) = (after, piece.bytes().last());
        }
        spool.finish(false, &mut self.text);
    }

    /// Keeps a form as the stream shows it.
    fn keep(&mut self, form: &[u8], alone: bool) {
        let form = Views::of(form, true).text.into_bytes();
        let long = alone || characters(&form) == ANYWHERE;
        if long && form.len() >= ALONE {
            self.text.keep(&form, alone);
        }
    }
}

/// Whether a view of it may be something else.
fn is_dressed(text: &[u8]) -> bool {
    memchr::memchr2(0x1b, b'\r', text).is_some()
}

fn has_eight(text: &str) -> bool {
    characters(text.as_bytes()) == ANYWHERE
}

/// Up to eight. Characters, not bytes: a form is short or long to who reads it.
fn characters(form: &[u8]) -> usize {
    form.iter().filter(|byte| **byte & 0xc0 != 0x80).take(ANYWHERE).count()
}
