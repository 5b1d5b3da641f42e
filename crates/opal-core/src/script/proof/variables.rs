//! What the variables of a step hold.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::{Bound, Range};

use super::scan::is_name_start;
use super::tree::Values;

/// The name of all positional parameters.
pub(super) const POSITIONAL: &[u8] = b"@";

/// The names of the first ones, as long as nothing shifts them.
pub(super) const NUMBERED: [&[u8]; 9] =
    [b"@1", b"@2", b"@3", b"@4", b"@5", b"@6", b"@7", b"@8", b"@9"];

/// The name of the keys of an array.
pub(super) fn keys_of(name: &[u8]) -> Vec<u8> {
    [b"[", name].concat()
}

/// Values that are in a variable or in a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Content {
    /// All of them.
    pub(super) held: Values,
    /// Those that can be at its beginning.
    pub(super) begins: Values,
    /// Those of which it may hold only a part.
    pub(super) cut: Values,
    /// Those in variables whose names it holds: arithmetic reads a name in a variable as well.
    pub(super) spelled: Values,
}

impl Content {
    /// Values of which any part can be anywhere in it.
    pub(super) fn parts(values: Values) -> Self {
        Self { held: values, begins: values, cut: values, spelled: Values::NONE }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.held.add(other.held);
        self.begins.add(other.begins);
        self.cut.add(other.cut);
        self.spelled.add(other.spelled);
    }
}

#[derive(Debug, Default)]
pub(super) struct Variables {
    /// All but `$_`, which every command sets.
    all: BTreeMap<Vec<u8>, Content>,
    last: Content,
    /// What is given to a variable whose name only the shell knows.
    any: Content,
    /// Something that was used in this pass has changed since, so that another pass is needed.
    pub(super) has_changed: bool,
    /// `$_`, which every command sets, was used in this pass.
    is_last_used: Cell<bool>,
    /// Another variable was, or was looked for.
    is_used: Cell<bool>,
}

/// The name of the last word of the command before.
const LAST: &[u8] = b"_";

impl Variables {
    /// Begins a pass over all commands.
    pub(super) fn begin(&mut self) {
        self.has_changed = false;
        self.is_last_used.set(false);
        self.is_used.set(false);
    }

    /// Whether no variable but `$_` holds something.
    pub(super) fn is_empty(&self) -> bool {
        self.is_used.set(true);
        self.any == Content::default() && self.all.is_empty()
    }

    pub(super) fn give(&mut self, name: &[u8], content: Content) {
        if content == Content::default() {
            return;
        }
        // What nothing has used before it changed is the same in the next pass.
        if name == LAST {
            let before = self.last;
            self.last.add(content);
            self.has_changed |= self.last != before && self.is_last_used.get();
            return;
        }
        let mut after = self.all.get(name).copied().unwrap_or_default();
        let before = after;
        after.add(content);
        if after != before {
            self.has_changed |= self.is_used.get();
            self.all.insert(name.to_vec(), after);
        }
    }

    /// Gives it to a variable that is not known.
    pub(super) fn give_any(&mut self, content: Content) {
        let before = self.any;
        self.any.add(content);
        let is_used = self.is_used.get() || self.is_last_used.get();
        self.has_changed |= self.any != before && is_used;
    }

    /// A variable by the name that an expansion writes: `1` and `*` are positional parameters, `#` and
    /// `?` are numbers.
    pub(super) fn of(&self, name: &[u8]) -> Content {
        let mut found = self.any;
        if name == LAST {
            self.is_last_used.set(true);
            found.add(self.last);
        } else {
            self.is_used.set(true);
            found.add(self.all.get(canonical(name)).copied().unwrap_or_default());
        }
        found
    }

    /// All that any variable holds.
    pub(super) fn every(&self) -> Content {
        self.is_used.set(true);
        self.is_last_used.set(true);
        let mut found = self.any;
        found.add(self.last);
        self.all.values().for_each(|content| found.add(*content));
        found
    }

    /// What arithmetic finds in this text: the variables that it names, and those that they name.
    pub(super) fn named(&self, text: &[u8]) -> Values {
        if self.is_empty() {
            return Values::NONE;
        }
        // `a"b"` is `ab`.
        let text: Vec<u8> =
            text.iter().copied().filter(|byte| !matches!(byte, b'"' | b'\'' | b'\\')).collect();
        let mut found = Values::NONE;
        for Range { start, end } in names(&text) {
            let name = &text[start..end];
            let is_expanded = start > 0 && matches!(text[start - 1], b'$' | b'{');
            // A number is one, unless it is `$1`; `${#NAME}` is one too.
            let is_number = !is_name_start(name[0]) && !is_expanded;
            let is_length = start > 1 && &text[start - 2..start] == b"{#";
            if !is_number && !is_length {
                let variable = self.of(name);
                found.add(variable.held.and(variable.spelled));
            }
        }
        found
    }

    pub(super) fn each<'v>(&'v self) -> impl Iterator<Item = (&'v [u8], Content)> {
        self.is_used.set(true);
        self.is_last_used.set(true);
        let bound = (Bound::Unbounded, Bound::Excluded(LAST));
        let before = self.all.range::<[u8], _>(bound);
        let after = self.all.range::<[u8], _>((Bound::Excluded(LAST), Bound::Unbounded));
        let last = (self.last != Content::default()).then_some((LAST, self.last));
        let named = |(name, it): (&'v Vec<u8>, &Content)| (name.as_slice(), *it);
        before.map(named).chain(last).chain(after.map(named))
    }
}

/// The one name of all positional parameters.
pub(super) fn canonical(name: &[u8]) -> &[u8] {
    match name {
        b"*" | b"BASH_ARGV" | [b'0'..=b'9', ..] => POSITIONAL,
        name => name,
    }
}

/// The names in a text, `@` and `*` after a `$` among them.
fn names(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let start = at;
            let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
            at += text[at..].iter().take_while(|byte| is_name(byte)).count();
            if at > start {
                return Some(start..at);
            }
            at += 1;
            let is_all = matches!(text[start], b'@' | b'*') && start > 0 && text[start - 1] == b'$';
            if is_all {
                return Some(start..at);
            }
        }
        None
    })
}
