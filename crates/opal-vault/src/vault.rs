//! Every value that must not be seen, and the one way for bytes to become visible.
//!
//! | what | where |
//! |---|---|
//! | all the ways to print a value | `forms` |
//! | what is kept of them | `keep` |
//! | escapes: JSON, URL, HTML, shells, C, Python, YAML, SQL, CSV | `spell` |
//! | what `echo` and `printf` make of backslashes | `read` |
//! | base64, base32, hexadecimal | `encode` |
//! | escape sequences and control characters | `sequence` |
//! | output without them, and without blanks | `view` |
//! | sequences that are too long to wait for | `long_sequences` |
//! | where nothing can begin | `filter` |
//! | many values at once | `net` |
//! | what to hide in a stretch of output | `search`, `look` |
//! | a stream of stretches | `scrubber` |
//! | which parts of a whole text are hidden | `hidden` |
//! | what is shown of its lines | `lines` |
//! | what looks like a secret, though nobody registered it | `patterns` |
//!
//! Not promised: a value that is printed reversed, encrypted, compressed, cut, escaped twice, or
//! spelled in a way that is not listed; one whose first letters an escape sequence swallows; a
//! dump whose lines have offsets, beyond one line of it; single lines of a large value in another
//! form than their own.

mod encode;
mod filter;
mod forms;
mod hidden;
mod keep;
mod lines;
mod long_sequences;
mod look;
mod net;
mod patterns;
mod read;
mod scrubber;
mod search;
pub(crate) mod sequence;
mod spell;
mod view;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Shown;
use opal_core::{Data, Value};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

pub use hidden::Hidden;
pub use patterns::HIDDEN;
pub use scrubber::Scrubber;

use forms::Forms;
use search::Layer;

/// A whole text is scrubbed in pieces of this size, which bounds what is copied at once.
const PIECE: usize = 64 << 10;

/// Whether `text` has a part that a vault with patterns hides though nobody has registered it.
#[must_use]
pub fn looks_secret(text: &str) -> bool {
    !Vault::with_patterns().hidden_in(text).is_empty()
}

/// The values of a run. Values may be added while streams are scrubbed.
///
/// They are put in order when a stream first needs them. That costs time for each value, so a new
/// one does not touch what is there: it begins a layer of its own, and takes up those before it
/// that are not much larger. There are never more layers than the number of
/// values has binary digits, and each value is taken up no more often than that.
#[derive(Default)]
pub struct Vault {
    values: Mutex<Values>,
    /// Counts registrations, so that a stream need not lock to know that there are none.
    generation: AtomicU64,
    has_patterns: bool,
    /// The labels that have replaced something.
    used: Mutex<BTreeSet<Arc<str>>>,
}

#[derive(Default)]
struct Values {
    seen: BTreeSet<[u8; 32]>,
    pending: Vec<Forms>,
    layers: Arc<[Arc<Layer>]>,
}

impl Vault {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Hides, besides its values, what looks like a secret: for the output of programs that may
    /// print some that opal has never seen. `<redacted>` takes its place.
    #[must_use]
    pub fn with_patterns() -> Self {
        Self { has_patterns: true, ..Self::default() }
    }

    /// Hides `value` from now on: `label` replaces it. From eight characters on it is hidden
    /// anywhere, from four on where no letter, digit or `_` touches it. Of an array or map, each
    /// value inside.
    pub fn register(&self, value: &Data, label: &str) {
        match value {
            Data::Null | Data::Bool(_) => {}
            Data::Text(text) => self.hide(text.expose(), label),
            Data::Int(number) => self.hide_shown(&number, label),
            // As opal prints it, and as most programs do.
            Data::Float(number) => {
                self.hide_shown(&Value::Float(*number), label);
                self.hide_shown(number, label);
            }
            Data::Duration(duration) => self.hide_shown(duration, label),
            Data::Array(items) => items.iter().for_each(|item| self.register(item, label)),
            Data::Map(fields) => fields.values().for_each(|field| self.register(field, label)),
        }
    }

    fn hide_shown(&self, value: &dyn fmt::Display, label: &str) {
        self.hide(&Zeroizing::new(value.to_string()), label);
    }

    fn hide(&self, text: &str, label: &str) {
        let digest = Sha256::digest(text).into();
        if self.lock().seen.contains(&digest) {
            return;
        }
        let forms = Forms::of(text, label);
        let mut values = self.lock();
        if values.seen.insert(digest) && !forms.is_empty() {
            values.pending.push(forms);
            self.generation.fetch_add(1, Ordering::Release);
        }
    }

    /// A whole text.
    #[must_use]
    pub fn scrub(&self, text: &str) -> Shown<'static> {
        self.scrub_bytes(text.as_bytes())
    }

    /// Bytes that are whole in themselves.
    #[must_use]
    pub fn scrub_bytes(&self, bytes: &[u8]) -> Shown<'static> {
        let mut scrubber = self.scrubber();
        let mut out = Vec::with_capacity(bytes.len());
        for piece in bytes.chunks(PIECE) {
            out.extend_from_slice(scrubber.push(piece).bytes());
        }
        out.extend_from_slice(scrubber.finish().bytes());
        Shown::vouch(out)
    }

    /// Whether this label has replaced something in what was shown.
    #[must_use]
    pub fn has_used(&self, label: &str) -> bool {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).contains(label)
    }

    fn note(&self, label: &Arc<str>) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if !used.contains(label) {
            used.insert(Arc::clone(label));
        }
    }

    #[must_use]
    pub fn scrubber(&self) -> Scrubber<'_> {
        Scrubber::new(self)
    }

    /// Whether all bytes would pass as they are.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.has_patterns && self.generation() == 0
    }

    /// How many bytes are kept of all values.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.layers().1.iter().map(|layer| layer.memory()).sum()
    }

    /// Another one when something was registered meanwhile.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// All that is registered, and the generation that this is.
    fn layers(&self) -> (u64, Arc<[Arc<Layer>]>) {
        let mut values = self.lock();
        let generation = self.generation();
        if !values.pending.is_empty() {
            let newest = std::mem::take(&mut values.pending);
            let mut layers = values.layers.to_vec();
            let mut count = newest.len();
            let mut older = Vec::new();
            while let Some(layer) = layers.pop_if(|layer| layer.len() <= 2 * count) {
                count += layer.len();
                older.push(layer);
            }
            older.reverse();
            layers.push(Arc::new(Layer::new(&older, &newest)));
            values.layers = layers.into();
        }
        (generation, Arc::clone(&values.layers))
    }

    fn lock(&self) -> MutexGuard<'_, Values> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a whole stream says to the scrubber.
#[cfg(test)]
pub(crate) fn text_of(bytes: &[u8]) -> Vec<u8> {
    view::Views::of(bytes, true).text.into_bytes().into_owned()
}

/// Counts only.
impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault").field("values", &self.lock().seen.len()).finish_non_exhaustive()
    }
}
