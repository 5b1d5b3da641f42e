//! The patterns of many values in one automaton.
//!
//! The automaton is the contiguous NFA of `aho-corasick`, whose time for a byte does not depend
//! on the number of patterns. It keeps the patterns in its transitions, and that copy is not
//! wiped when it is dropped; all others are.

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, MatchKind, PatternID};

use super::filter::Filter;
use super::forms::{FIRST_RUNG, Form, Hash, KEPT, Rungs};

/// How many bytes of patterns an automaton may have before it keeps less of each long one.
const BUDGET: usize = 2 << 20;
/// Words of a bit for each end of a form: that most bytes are no end is quickly seen.
const HINTS: usize = 64;

pub(super) struct Net {
    nfa: NFA,
    filter: Filter,
    patterns: Vec<Pattern>,
    longest: usize,
    rungs: Rungs,
}

pub(super) struct Pattern {
    pub(super) length: usize,
    /// The index of the value among those of the layer.
    pub(super) owner: usize,
    pub(super) alone: bool,
    /// Longer forms begin with it: their hash so far.
    pub(super) rung: Option<Hash>,
    /// Other patterns begin with it.
    goes_on: bool,
}

/// What a net is told about each pattern that it finds.
pub(super) trait Sink {
    /// `pattern` ends before `end`.
    fn found(&mut self, pattern: &Pattern, end: usize);
}

impl Net {
    /// Of the forms of each owner; none if there are no forms.
    pub(super) fn new<'f>(
        forms: impl Iterator<Item = (usize, &'f Form)> + Clone,
        rungs: impl Iterator<Item = &'f Rungs>,
    ) -> Option<Self> {
        let most = most_kept(forms.clone().map(|(_, form)| form));
        let mut texts: Vec<(&[u8], Pattern)> =
            forms.map(|(owner, form)| Pattern::of(owner, form, most)).collect();
        // Stable: of equal patterns the one registered first gives its label.
        texts.sort_by_key(|(text, _)| *text);
        texts.dedup_by(|(text, pattern), (kept, first)| {
            let same = text == kept;
            if same {
                first.rung = first.rung.or(pattern.rung);
            }
            same
        });
        for index in 1..texts.len() {
            let (before, after) = texts.split_at_mut(index);
            before[index - 1].1.goes_on = after[0].0.starts_with(before[index - 1].0);
        }
        let longest = texts.iter().map(|(text, _)| text.len()).max()?;
        let filter = Filter::new(texts.iter().map(|(text, _)| *text));
        let nfa = NFA::builder()
            .match_kind(MatchKind::Standard)
            .prefilter(false)
            .build(texts.iter().map(|(text, _)| text))
            .expect("patterns of all memory there is are fewer than an automaton can number");
        let patterns = texts.into_iter().map(|(_, pattern)| pattern).collect();
        Some(Self { nfa, filter, patterns, longest, rungs: Rungs::merged(rungs) })
    }

    /// Tells `sink` of each pattern in `bytes`, and gives the place from which on the end of
    /// `bytes` may be the beginning of another.
    pub(super) fn scan(&self, bytes: &[u8], sink: &mut impl Sink) -> Option<usize> {
        let start = self.start(Anchored::No);
        let mut at = 0;
        loop {
            at = self.filter.next(bytes, at);
            let looked_from = at;
            let mut state = start;
            while let Some(byte) = bytes.get(at) {
                state = self.nfa.next_state(Anchored::No, state, *byte);
                at += 1;
                if self.nfa.is_special(state) && self.nfa.is_match(state) {
                    self.matches(state).for_each(|pattern| sink.found(pattern, at));
                }
                if state == start {
                    break;
                }
            }
            if at == bytes.len() {
                let from = looked_from.max(at.saturating_sub(self.longest));
                let may_begin = |from: &usize| self.may_begin(&bytes[*from..]);
                return if state == start { None } else { (from..at).find(may_begin) };
            }
        }
    }

    /// Whether a pattern begins with `bytes` and goes on after them.
    fn may_begin(&self, bytes: &[u8]) -> bool {
        let mut state = self.start(Anchored::Yes);
        for byte in bytes {
            state = self.nfa.next_state(Anchored::Yes, state, *byte);
            if self.nfa.is_dead(state) {
                return false;
            }
        }
        let whole = self.nfa.is_match(state).then(|| self.matches(state)).into_iter().flatten();
        whole.filter(|pattern| pattern.length == bytes.len()).all(|pattern| pattern.goes_on)
    }

    fn start(&self, anchored: Anchored) -> StateID {
        self.nfa.start_state(anchored).expect("an NFA starts both ways")
    }

    fn matches(&self, state: StateID) -> impl Iterator<Item = &Pattern> {
        let pattern = move |index| self.nfa.match_pattern(state, index);
        (0..self.nfa.match_len(state)).map(pattern).map(|id: PatternID| &self.patterns[id])
    }

    pub(super) fn rungs(&self) -> &Rungs {
        &self.rungs
    }

    pub(super) fn memory(&self) -> usize {
        self.nfa.memory_usage()
            + self.filter.memory()
            + size_of_val(&*self.patterns)
            + self.rungs.memory()
    }
}

impl Pattern {
    fn of(owner: usize, form: &Form, most: usize) -> (&[u8], Self) {
        let text = &form.start[..form.start.len().min(most)];
        let rung = (form.length > text.len()).then(|| Hash::of(text));
        let length = text.len();
        (text, Self { length, owner, alone: form.alone, rung, goes_on: false })
    }
}

/// The most that is kept of each form so that all of them stay within the budget.
fn most_kept<'f>(forms: impl Iterator<Item = &'f Form> + Clone) -> usize {
    let mut most = KEPT;
    let cost = |most: usize| forms.clone().map(|form| form.start.len().min(most)).sum::<usize>();
    while most > FIRST_RUNG && cost(most) > BUDGET {
        most /= 2;
    }
    most
}

impl Rungs {
    fn merged<'r>(all: impl Iterator<Item = &'r Self>) -> Self {
        let mut merged = Self::default();
        for rungs in all {
            merged.steps.extend(&rungs.steps);
            merged.ends.extend(&rungs.ends);
        }
        // Of equal hashes the longest form comes first, and stays.
        merged.steps.sort_unstable_by_key(|(hash, length)| (*hash, usize::MAX - length));
        merged.steps.dedup_by_key(|(hash, _)| *hash);
        merged.ends.sort_unstable();
        merged.ends.dedup();
        if !merged.ends.is_empty() {
            merged.hints = vec![0; HINTS];
        }
        for end in &merged.ends {
            let (word, bit) = Self::hint(*end);
            merged.hints[word] |= bit;
        }
        merged
    }

    fn hint(end: u64) -> (usize, u64) {
        ((end >> 58) as usize % HINTS, 1 << (end >> 52 & 63))
    }

    /// How long the longest form is that has this hash at a rung.
    pub(super) fn longest(&self, hash: Hash) -> Option<usize> {
        let index = self.steps.binary_search_by_key(&hash.0, |(hash, _)| *hash).ok()?;
        Some(self.steps[index].1)
    }

    /// Whether a whole form has this hash.
    pub(super) fn is_end(&self, hash: Hash) -> bool {
        let (word, bit) = Self::hint(hash.0);
        self.hints.get(word).is_some_and(|hints| hints & bit != 0)
            && self.ends.binary_search(&hash.0).is_ok()
    }

    fn memory(&self) -> usize {
        size_of_val(&*self.steps) + size_of_val(&*self.ends)
    }
}
