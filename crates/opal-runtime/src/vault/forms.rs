//! All the ways in which one value may be printed, and what is kept of each.
//!
//! Of a form of up to 256 bytes all is kept. A longer one would cost an automaton too much (a
//! file of 1 MiB has some 30 MiB of forms), so only its first bytes are kept, and *rungs*: hashes
//! of its first 32, 64, 128, 256, 384, 512, … bytes, and of all of it. Where the first bytes are
//! found, the stream is hashed on from there, and hidden from rung to rung. So a value that is
//! printed whole is hidden whole, at a quarter of a byte for each byte of a form, and what only
//! begins like a long value is hidden as far as it agrees.

use std::collections::BTreeSet;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::encode::encodings;
use super::spell::spellings;
use super::view::Views;

/// From how many characters on a form is hidden wherever it stands.
const ANYWHERE: usize = 8;
/// From how many characters on a declared secret is hidden where it stands alone.
const ALONE: usize = 4;
/// Lines of a larger value are hidden as text only: their encodings would be too many.
const LINES_ENCODED: usize = 4096;
/// How much of a form is kept as it is.
pub(super) const KEPT: usize = 256;

/// What one value is hidden by.
#[derive(Default)]
pub(super) struct Forms {
    pub(super) label: Arc<str>,
    pub(super) text: Vec<Form>,
    pub(super) loose: Vec<Form>,
    pub(super) text_rungs: Rungs,
    pub(super) loose_rungs: Rungs,
    seen: BTreeSet<(bool, u64)>,
}

pub(super) struct Form {
    pub(super) start: Zeroizing<Box<[u8]>>,
    /// Of all of it, in bytes.
    pub(super) length: usize,
    /// Hidden only where no letter, digit or `_` touches it.
    pub(super) alone: bool,
}

#[derive(Default)]
pub(super) struct Rungs {
    /// The hash at each rung, and how long the longest form is that has it.
    pub(super) steps: Vec<(u64, usize)>,
    /// The hashes of whole forms.
    pub(super) ends: Vec<u64>,
    /// A few bits of each end, where many forms are together.
    pub(super) hints: Vec<u64>,
}

/// The length of the rung after `length`, which is one.
pub(super) fn next_rung(length: usize) -> usize {
    if length < KEPT { 2 * length } else { length + KEPT / 2 }
}

pub(super) const FIRST_RUNG: usize = 32;

/// FNV-1a: quick for a byte at a time. Who could make two texts collide would hide too much.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Hash(pub(super) u64);

impl Hash {
    pub(super) const EMPTY: Self = Self(0xcbf2_9ce4_8422_2325);

    pub(super) fn with(self, byte: u8) -> Self {
        Self((self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    }

    pub(super) fn of(bytes: &[u8]) -> Self {
        bytes.iter().fold(Self::EMPTY, |hash, byte| hash.with(*byte))
    }
}

impl Forms {
    pub(super) fn of(value: &str, label: &str, declared: bool) -> Self {
        let mut forms = Self { label: label.into(), ..Self::default() };
        let trimmed = value.trim();
        for text in [value, trimmed] {
            forms.add(text, true);
            let characters = text.chars().take(ANYWHERE).count();
            if declared && (ALONE..ANYWHERE).contains(&characters) {
                forms.keep(text.as_bytes(), true, false);
            }
        }
        if trimmed.contains(['\n', '\r']) {
            for line in trimmed.split(['\n', '\r']) {
                forms.add(line.trim(), value.len() <= LINES_ENCODED);
            }
        }
        forms.seen = BTreeSet::new();
        forms
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.loose.is_empty()
    }

    fn add(&mut self, text: &str, encoded: bool) {
        if !has_eight(text.as_bytes()) {
            return;
        }
        self.keep(text.as_bytes(), false, false);
        spellings(text, |spelling| self.keep(spelling.as_bytes(), false, false));
        if encoded {
            encodings(text.as_bytes(), |form| self.keep(&form, false, true));
            let unix = Views::of(text.as_bytes(), true).text.into_bytes();
            if *unix != *text.as_bytes() {
                let unix = Zeroizing::new(unix.into_owned());
                encodings(&unix, |form| self.keep(&form, false, true));
            }
        }
    }

    /// Keeps a form as the stream shows it, unless it is known.
    fn keep(&mut self, form: &[u8], alone: bool, loose: bool) {
        let form = Views::of(form, true).text.into_bytes();
        let (kept, rungs) = match loose {
            true => (&mut self.loose, &mut self.loose_rungs),
            false => (&mut self.text, &mut self.text_rungs),
        };
        let whole = Hash::of(&form);
        if !(alone || has_eight(&form)) || form.len() < ALONE || !self.seen.insert((loose, whole.0))
        {
            return;
        }
        let mut hash = Hash::EMPTY;
        let (mut rung, mut from) = (FIRST_RUNG, 0);
        while rung < form.len() {
            hash = form[from..rung].iter().fold(hash, |hash, byte| hash.with(*byte));
            rungs.steps.push((hash.0, form.len()));
            (from, rung) = (rung, next_rung(rung));
        }
        if form.len() > FIRST_RUNG {
            rungs.ends.push(whole.0);
        }
        let start = Zeroizing::new(Box::from(&form[..form.len().min(KEPT)]));
        kept.push(Form { start, length: form.len(), alone });
    }
}

/// Characters, not bytes: a form is short or long to who reads it.
fn has_eight(form: &[u8]) -> bool {
    form.iter().filter(|byte| **byte & 0xc0 != 0x80).take(ANYWHERE).count() == ANYWHERE
}
