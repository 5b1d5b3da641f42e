//! Values that are apart from the name that makes them secrets: below it, in a map after it
//! (`"password": {"value": …}`), or beside it (`{"name": "DB_PASSWORD", "value": …}`).

use opal_core::class::name::{Says as Key, in_text as key};

use super::margin::Margin;
use super::scan::{Between, Scan};
use super::values::{Until, is_name, is_one_of, opening};

/// What a pair calls the name, and what it and a map call the value.
const NAMES: &str = "key name variable";
const VALUES: &str = "plaintext value";

/// So many bytes after a name its value may appear.
pub(super) const NEAR: usize = 1024;

/// A name whose value has not come.
#[derive(Clone, Debug)]
pub(super) struct Named {
    key: Key,
    margin: Margin,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Further in, with nothing else in its line, or in a map.
    Below,
    /// In a map.
    Inside,
    /// In the same map as the name.
    Beside,
}

/// A name in the map that is being read.
pub(super) struct Holder {
    pub(super) named: Named,
    /// So many bytes of lines may still follow.
    pub(super) left: usize,
    from: usize,
    /// How many braces are open around the value; nothing if the name is of a line before.
    depth: Option<usize>,
}

impl Scan<'_> {
    /// The key at `from` has its value elsewhere.
    pub(super) fn hold(&mut self, from: usize, key: Key, place: Place) {
        let named = Named { key, margin: Margin::of(self.text, from), place };
        // The brace of a map is not passed yet.
        let depth = self.depth + usize::from(place == Place::Inside);
        self.holder = Some(Holder { named, left: NEAR, from, depth: Some(depth) });
    }

    /// Notes the braces between words: a name counts up to the end of its map.
    pub(super) fn braces(&mut self, gap: std::ops::Range<usize>) {
        for byte in &self.text[gap] {
            match byte {
                b'{' => self.depth += 1,
                b'}' => {
                    self.holder.take_if(|holder| holder.depth >= Some(self.depth));
                    self.depth = self.depth.saturating_sub(1);
                }
                _ => {}
            }
        }
    }

    /// What a pair or a map says at `from`, where the word is not a key in itself.
    pub(super) fn pair(&mut self, from: usize, name: &[u8], between: &Between) -> Option<usize> {
        if is_one_of(name, NAMES) {
            let margin = Margin::of(self.text, from);
            let depth = self.depth;
            // Another pair.
            self.holder.take_if(|holder| {
                let is_level = |held| held == depth;
                let is_next = || holder.named.margin.is_beside(&margin);
                holder.named.place == Place::Beside && holder.depth.map_or_else(is_next, is_level)
            });
            let key = self.name_of(between)?;
            self.hold(from, key, Place::Beside);
            return None;
        }
        let holder = self.holder.as_ref().filter(|_| is_one_of(name, VALUES))?;
        let origin = if from - holder.from < NEAR { holder.from } else { from };
        Some(self.assign(origin, holder.named.key, between))
    }

    /// What the name says that is the value of a `name`.
    fn name_of(&self, between: &Between) -> Option<Key> {
        let text = self.text;
        let at = self.skip_blanks(between.value);
        let quote = opening(text, at);
        let start = quote.map_or(at, |(_, start)| start);
        let end = start + text[start..].iter().take_while(|byte| is_name(**byte)).count();
        let ends = match quote {
            Some((until, _)) => opening(text, end).is_some_and(|(closing, _)| closing == until),
            None => match text[self.skip_blanks(end)..].first() {
                None => !self.goes_on,
                Some(next) => b",;)}#".contains(next),
            },
        };
        key(&text[start..end], false).filter(|_| ends)
    }

    /// What follows may still be the value of a name in this text.
    pub(super) fn hold_back(&mut self) {
        let end = self.text.len();
        // A value that goes on holds its name back itself.
        let is_open = self.finds.last().is_some_and(|find| find.end == end);
        let near = self.holder.as_ref().map(|holder| holder.from).filter(|from| end - from < NEAR);
        if let Some(from) = near.filter(|_| !is_open) {
            self.perhaps(from, end);
        }
    }

    /// A line below `named`. What is open after it is left as the holder.
    pub(super) fn line_below(&mut self, named: &Named, left: usize) {
        let is_empty = self.text.trim_ascii().is_empty();
        let below = named.margin.below(self.text, named.place == Place::Beside);
        let Some(at) = below.or(is_empty.then_some(0)) else { return self.run(0) };
        let is_alone = is_empty || named.place == Place::Below && self.alone(named, at);
        let place = match named.place {
            Place::Below if !is_alone => Place::Inside,
            place => place,
        };
        let named = Named { place, ..named.clone() };
        self.holder = Some(Holder { named, left, from: 0, depth: None });
        if !is_alone {
            self.run(0);
        }
    }

    /// A value with nothing but a comma or a remark after it.
    fn alone(&mut self, named: &Named, at: usize) -> bool {
        let text = self.text;
        let quote = opening(text, at);
        let bare = if named.key == Key::Passphrase { Until::Line } else { Until::Word };
        let (until, start) = quote.unwrap_or((bare, at));
        let end = until.end(text, start, self.goes_on);
        let rest = text[until.after(text, end)..].trim_ascii();
        let is_last = matches!(rest, [] | b"," | [b'#', ..]);
        let is_key = quote.is_none()
            && matches!(text[start..end], [.., b':' | b'{' | b'['] | [b'[' | b'{', ..]);
        if !is_last || is_key {
            return false;
        }
        let is_sentence = quote.is_none() && named.margin.misses(text);
        let key = if is_sentence { Key::Perhaps } else { named.key };
        if !self.value(0, key, at, bare, false).hides {
            self.run(at);
        }
        true
    }
}
