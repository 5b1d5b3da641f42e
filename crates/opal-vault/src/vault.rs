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
//! | whose values are whose, and how many | `store` |
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
mod store;
mod view;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Shown;
use opal_core::wiped::Wiped;
use opal_core::{Data, Value};
use sha2::{Digest as _, Sha256};

pub use hidden::Hidden;
pub use patterns::HIDDEN;
pub use scrubber::Scrubber;
pub use store::TooMany;

use forms::Forms;
use search::Layer;
use store::{Store, Taken};

/// A whole text is scrubbed in pieces of this size, which bounds what is copied at once.
const PIECE: usize = 64 << 10;

/// Whether `text` has a part that a vault with patterns hides though nobody has registered it.
#[must_use]
pub fn looks_secret(text: &str) -> bool {
    !Vault::with_patterns().hidden_in(text).is_empty()
}

/// The values of a run. Values may be added while streams are scrubbed.
///
/// A value that was read on a target, and is not declared a secret, is hidden only in what that target
/// says: [`Vault::on`] gives the vault for that. The vault itself hides the values of all targets.
#[derive(Clone, Default)]
pub struct Vault {
    shared: Arc<Shared>,
    sight: Sight,
}

/// What all views of a vault share.
#[derive(Default)]
struct Shared {
    store: Mutex<Store>,
    /// Counts registrations, so that a stream need not lock to know that there are none.
    generation: AtomicU64,
    has_patterns: bool,
    /// The labels that have replaced something.
    used: Mutex<BTreeSet<Arc<str>>>,
}

/// Whose values are hidden.
#[derive(Clone, Debug, Default)]
enum Sight {
    /// Those of opal's machine and of every target.
    #[default]
    All,
    /// Those of opal's machine, and of one target.
    On(Option<Arc<str>>),
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
        let shared = Shared { has_patterns: true, ..Shared::default() };
        Self { shared: Arc::new(shared), sight: Sight::All }
    }

    /// The same vault for what is said on a target, or by opal's machine: values of other targets are not
    /// hidden there.
    #[must_use]
    pub fn on(&self, target: Option<&str>) -> Self {
        let name = target.map(machine_of).map(Arc::from);
        Self { shared: Arc::clone(&self.shared), sight: Sight::On(name) }
    }

    /// Hides `value` from now on, whoever says it: `label` replaces it. From eight characters on it is
    /// hidden anywhere, from four on where no letter, digit or `_` touches it. Of an array or map, each
    /// value inside.
    pub fn register(&self, value: &Data, label: &str) {
        each_text(value, &mut |text| {
            self.hide(None, text, label);
        });
    }

    /// The same for a value that belongs to `target`: there it has this label, also if another target has the
    /// same value.
    pub fn register_of(&self, target: &str, value: &Data, label: &str) {
        each_text(value, &mut |text| {
            self.hide(None, text, label);
            self.lock().call(machine_of(target), &Sha256::digest(text).into(), label);
        });
    }

    /// Hides `value` from now on where `target` says it. Where there are too many such values, it is hidden
    /// whoever says it, and this is an error.
    pub fn register_on(&self, target: &str, value: &Data, label: &str) -> Result<(), TooMany> {
        let target = machine_of(target);
        let mut result = Ok(());
        each_text(value, &mut |text| {
            if !self.hide(Some(target), text, label) {
                self.hide(None, text, label);
                result = Err(TooMany);
            }
        });
        result
    }

    /// False where there are too many values of targets.
    fn hide(&self, target: Option<&str>, text: &str, label: &str) -> bool {
        let digest = Sha256::digest(text).into();
        if self.lock().knows(target, &digest) {
            return true;
        }
        let forms = Forms::of(text, label);
        let taken = self.lock().take(target, digest, forms);
        if taken == Taken::New {
            self.shared.generation.fetch_add(1, Ordering::Release);
        }
        taken != Taken::TooMany
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
        self.shared.used.lock().unwrap_or_else(PoisonError::into_inner).contains(label)
    }

    /// What replaces a value here, which has this label elsewhere.
    fn own_label(&self, label: &Arc<str>) -> Arc<str> {
        match &self.sight {
            Sight::On(Some(target)) => self.lock().own_label(target, label),
            _ => Arc::clone(label),
        }
    }

    fn note(&self, label: &Arc<str>) {
        let mut used = self.shared.used.lock().unwrap_or_else(PoisonError::into_inner);
        if !used.contains(label) {
            used.insert(Arc::clone(label));
        }
    }

    #[must_use]
    pub fn scrubber(&self) -> Scrubber {
        Scrubber::new(self)
    }

    /// Whether all bytes would pass as they are.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.shared.has_patterns && self.generation() == 0
    }

    /// How many bytes are kept of all values.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.layers().1.iter().map(|layer| layer.memory()).sum()
    }

    /// Another one when something was registered meanwhile.
    pub(crate) fn generation(&self) -> u64 {
        self.shared.generation.load(Ordering::Acquire)
    }

    /// All that is to be hidden, and the generation that this is.
    fn layers(&self) -> (u64, Arc<[Arc<Layer>]>) {
        let mut store = self.lock();
        (self.generation(), store.layers(&self.sight))
    }

    fn lock(&self) -> MutexGuard<'_, Store> {
        self.shared.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The machine of a target: of `web1/app`, a container there, `web1`.
fn machine_of(target: &str) -> &str {
    target.split('/').next().unwrap_or(target)
}

/// Calls `hide` with each text of a value.
fn each_text(value: &Data, hide: &mut dyn FnMut(&str)) {
    let mut shown = |value: &dyn fmt::Display| hide(&Wiped::new(value.to_string()));
    match value {
        Data::Null | Data::Bool(_) => {}
        Data::Text(text) => hide(text.expose()),
        Data::Int(number) => shown(number),
        // As opal prints it, and as most programs do.
        Data::Float(number) => {
            shown(&Value::Float(*number));
            shown(number);
        }
        Data::Duration(duration) => shown(duration),
        Data::Array(items) => items.iter().for_each(|item| each_text(item, hide)),
        Data::Map(fields) => fields.values().for_each(|field| each_text(field, hide)),
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
        f.debug_struct("Vault").field("values", &self.lock().len()).finish_non_exhaustive()
    }
}
