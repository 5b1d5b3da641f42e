//! What the variables of a step hold.

use std::collections::BTreeMap;
use std::ops::Range;

use super::scan::is_name_start;
use super::tree::Values;

/// The name of all positional parameters.
pub(super) const POSITIONAL: &[u8] = b"@";

/// A variable, as far as values can be in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Variable {
    /// The values that can be in what it holds.
    held: Values,
    /// Those that can be at its beginning.
    begins: Values,
    /// Those in variables whose names it holds: arithmetic reads a name in a variable as well.
    spelled: Values,
}

#[derive(Debug, Default)]
pub(super) struct Variables {
    all: BTreeMap<Vec<u8>, Variable>,
    pub(super) has_changed: bool,
}

impl Variables {
    pub(super) fn is_empty(&self) -> bool {
        self.all.keys().all(|name| name == b"_")
    }

    pub(super) fn give(&mut self, name: &[u8], held: Values, begins: Values, spelled: Values) {
        if held.and(begins).and(spelled).is_empty() {
            return;
        }
        let before = self.all.get(name).copied().unwrap_or_default();
        let after = Variable {
            held: before.held.and(held),
            begins: before.begins.and(begins),
            spelled: before.spelled.and(spelled),
        };
        if after != before {
            self.has_changed = true;
            self.all.insert(name.to_vec(), after);
        }
    }

    /// A variable by the name that an expansion writes: `1` and `*` are positional parameters, `#` and
    /// `?` are numbers.
    fn of(&self, name: &[u8]) -> Variable {
        let name = match name {
            b"*" | b"0" => POSITIONAL,
            [b'1'..=b'9', ..] => POSITIONAL,
            name => name,
        };
        self.all.get(name).copied().unwrap_or_default()
    }

    pub(super) fn held(&self, name: &[u8]) -> Values {
        self.of(name).held
    }

    pub(super) fn begins(&self, name: &[u8]) -> Values {
        self.of(name).begins
    }

    pub(super) fn spelled(&self, name: &[u8]) -> Values {
        self.of(name).spelled
    }

    /// What arithmetic finds in this text: the variables that it names, and those that they name.
    pub(super) fn named(&self, text: &[u8]) -> Values {
        if self.all.is_empty() {
            return Values::NONE;
        }
        let mut found = Values::NONE;
        for Range { start, end } in names(text) {
            let name = &text[start..end];
            let is_expanded = start > 0 && matches!(text[start - 1], b'$' | b'{');
            // A number is one, unless it is `$1`; `${#NAME}` is one too.
            let is_number = !is_name_start(name[0]) && !is_expanded;
            let is_length = start > 1 && &text[start - 2..start] == b"{#";
            let after = &text[end..];
            let is_key = text[..start].ends_with(b"{!")
                && (after.starts_with(b"[@]") || after.starts_with(b"[*]"));
            if !is_number && !is_length && !is_key {
                let variable = self.of(name);
                found.add(variable.held.and(variable.spelled));
            }
        }
        found
    }

    pub(super) fn each(&self) -> impl Iterator<Item = (&[u8], Values, Values)> {
        self.all.iter().map(|(name, it)| (name.as_slice(), it.held, it.spelled))
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
