//! All the ways in which one value may be printed.
//!
//! None of them is ever there as a whole, but of values with escape sequences or returns in
//! them: a file of 1 MiB has some 60 MiB of forms.

use std::sync::Arc;

use opal_core::class::{HIDDEN_ALONE_FROM as ALONE, HIDDEN_ANYWHERE_FROM as ANYWHERE};
use opal_core::wiped::Wiped;

use super::encode::{GROUPS, encodings};
use super::keep::{Kept, LEAD, Spool};
use super::read::readings;
use super::sequence;
use super::spell::{Spelling, spellings};
use super::view::{Views, loosened};

/// Lines of a larger value are hidden as text only: their encodings would be too many.
const LINES_ENCODED: usize = 4 << 10;
/// Of a larger value, lines are hidden only as they are, and blanks at its ends, too, and what
/// stands for its backslashes is not.
const ALL_FORMS: usize = 256 << 10;
/// A text of so many characters of ASCII is hidden however it is wrapped.
const WRAPPED_FROM: usize = 16;
/// So much of a text is spelled or encoded at once.
const PIECE: usize = 256 * GROUPS;

/// What one value is hidden by.
#[derive(Clone, Default)]
pub(super) struct Forms {
    pub(super) label: Arc<str>,
    pub(super) text: Kept,
    pub(super) loose: Kept,
}

impl Forms {
    pub(super) fn of(value: &str, label: &str) -> Self {
        let mut forms = Self { label: label.into(), ..Self::default() };
        forms.add_value(value);
        if value.len() <= ALL_FORMS {
            for reading in readings(value) {
                match std::str::from_utf8(&reading) {
                    Ok(text) => forms.add_value(text),
                    Err(_) => forms.add_bytes(&reading),
                }
            }
        }
        forms
    }

    /// A text and its lines.
    fn add_value(&mut self, value: &str) {
        let trimmed = value.trim();
        self.add_whole(trimmed);
        // A line end after it is not hidden, so that lines stay lines; encodings have it inside.
        let line = value.trim_end_matches(['\n', '\r']);
        // Blanks around it do not make a short value a long one.
        let is_long = trimmed.chars().count() >= ALONE;
        if trimmed.len() < line.len() && is_long {
            match value.len() {
                ..=ALL_FORMS => self.add_whole(line),
                _ => self.keep(line.as_bytes()),
            }
        }
        if line.len() < value.len() && is_long && value.len() <= ALL_FORMS && has_eight(value) {
            self.encode(value);
        }
        if trimmed.contains(['\n', '\r']) {
            for line in trimmed.split(['\n', '\r']).map(str::trim).filter(|line| has_eight(line)) {
                match value.len() {
                    ..=ALL_FORMS => self.add(line, value.len() <= LINES_ENCODED),
                    _ => self.keep(line.as_bytes()),
                }
            }
        }
    }

    /// What is not text is hidden as it is, and by lines.
    fn add_bytes(&mut self, bytes: &[u8]) {
        self.keep(bytes);
        let lines = bytes.split(|byte| matches!(byte, b'\n' | b'\r')).map(<[u8]>::trim_ascii);
        for line in lines.filter(|line| characters(line) == ANYWHERE) {
            self.keep(line);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.patterns.is_empty() && self.loose.patterns.is_empty()
    }

    fn add_whole(&mut self, text: &str) {
        if has_eight(text) {
            self.add(text, true);
        } else if text.chars().count() >= ALONE {
            self.keep(text.as_bytes());
        }
    }

    fn add(&mut self, text: &str, encoded: bool) {
        self.keep(text.as_bytes());
        let once = if is_dressed(text.as_bytes()) { text.len() } else { text.len().min(PIECE) };
        let mut room = Wiped::new(Vec::new());
        for spelling in spellings(text) {
            room.resize(Spelling::room_for(once), 0);
            self.spell(text, spelling, &mut room);
        }
        if encoded {
            self.encode(text);
            self.wrap(text);
        }
    }

    /// The text however it is wrapped: programs such as `fold` put line ends anywhere. A short one would be
    /// found where words only happen to follow each other.
    fn wrap(&mut self, text: &str) {
        let unix = Views::of(text.as_bytes(), true).text.into_bytes();
        let loose = Wiped::new(loosened(&unix));
        if loose.iter().filter(|byte| byte.is_ascii_graphic()).count() >= WRAPPED_FROM {
            self.loose.keep(&loose, false);
        }
    }

    fn encode(&mut self, text: &str) {
        encodings(text.as_bytes(), PIECE, &mut self.loose);
        if is_dressed(text.as_bytes()) {
            let unix = Views::of(text.as_bytes(), true).text.into_bytes();
            if has_eight(&String::from_utf8_lossy(&unix)) {
                encodings(&Wiped::new(unix.into_owned()), PIECE, &mut self.loose);
            }
        }
    }

    fn spell(&mut self, text: &str, spelling: &Spelling, room: &mut [u8]) {
        if is_dressed(text.as_bytes()) {
            let length = spelling.write(text, None, room);
            self.keep(&room[..length]);
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

    /// Keeps a form as the stream shows it. A short one, or one of which little is printed, is
    /// hidden only where it is alone.
    fn keep(&mut self, form: &[u8]) {
        let form = Views::of(form, true).text.into_bytes();
        match characters(&form) {
            ANYWHERE => self.text.keep(&form, false),
            // Longer ones are of other scripts, whose letters nothing is known to touch.
            ALONE.. => self.text.keep(&form, form.len() <= LEAD),
            _ => {}
        }
    }
}

/// Whether a view of it may be something else.
fn is_dressed(text: &[u8]) -> bool {
    sequence::next(text).is_some()
}

fn has_eight(text: &str) -> bool {
    characters(text.as_bytes()) == ANYWHERE
}

/// Up to eight. Characters, not bytes: a form is short or long to who reads it.
fn characters(form: &[u8]) -> usize {
    form.iter().filter(|byte| **byte & 0xc0 != 0x80).take(ANYWHERE).count()
}
