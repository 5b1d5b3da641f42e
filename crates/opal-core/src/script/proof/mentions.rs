//! Names of variables that a step computes with, or has in a text.

use std::collections::BTreeSet;

use super::construct::Construct;
use super::flow::Flow;
use super::scan::is_name_byte;
use super::tree::Values;
use crate::script::cases::Case;
use crate::script::names::{interpreted, is_computed};

impl Flow<'_> {
    /// A text that only the shell knows is computed: it can be the name of a variable, if the step
    /// has that name, or parts of it, in a text.
    pub(super) fn soften_mentioned(&mut self) {
        self.computes_names = true;
    }

    fn mentioned(&mut self) {
        let mentions = mentions(self.src);
        let is_it = |name: &[u8]| name != b"_" && mentions.iter().any(|it| it.may_be(name));
        let variables = self.variables.each().filter(|(name, _)| is_it(name));
        let held = variables.fold(Values::NONE, |all, (_, content)| all.and(content.held));
        self.found.soften(held, Construct::Output);
    }

    /// Names that the shell interprets, and attributes.
    pub(super) fn names(&mut self) {
        let mut found = Vec::new();
        for (name, content) in self.variables.each() {
            let text = std::str::from_utf8(name).unwrap_or_default();
            if interpreted(text).is_some() {
                found.push((content.held, Case::INTERPRETED));
            }
            let is_it = |it: &Vec<u8>| it == b"*" || it.as_slice() == name;
            if self.attributed.iter().any(is_it) || is_computed(text) {
                found.push((content.held.and(content.spelled), Case::INTEGER));
            }
        }
        let is_open = |name: &Vec<u8>| self.constants.names_open(name);
        if self.computes_names || self.attributed.iter().any(is_open) {
            self.mentioned();
        }
        for (values, case) in found {
            self.mark(values, case);
        }
    }
}

/// A word of a text that can be the name of a variable, or a part of it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Mention<'t> {
    token: &'t [u8],
    is_whole: bool,
    /// Something that the shell expands is beside it.
    is_beginning: bool,
    is_end: bool,
}

impl Mention<'_> {
    fn may_be(&self, name: &[u8]) -> bool {
        match self.token == name {
            true => self.is_whole,
            false => {
                self.is_beginning && name.starts_with(self.token)
                    || self.is_end && name.ends_with(self.token)
            }
        }
    }
}

/// The words of a text, other than those that use a variable or assign to it.
fn mentions(src: &[u8]) -> BTreeSet<Mention<'_>> {
    let mut found = BTreeSet::new();
    let joins = |byte: Option<u8>| byte.is_some_and(|byte| b"\"'\\${},}".contains(&byte));
    let mut at = 0;
    while at < src.len() {
        let length = src[at..].iter().take_while(|byte| is_name_byte(**byte)).count();
        if length == 0 {
            at += 1;
            continue;
        }
        let before = at.checked_sub(1).map(|at| src[at]);
        let after = src.get(at + length).copied();
        if !matches!(before, Some(b'$' | b'{' | b'!' | b'#')) && !is_declared(&src[..at]) {
            found.insert(Mention {
                token: &src[at..at + length],
                is_whole: !matches!(after, Some(b'=' | b'+' | b'[')),
                is_beginning: joins(after),
                is_end: joins(before),
            });
        }
        at += length;
    }
    found
}

/// Whether a text ends inside a command that only names variables: `for NAME`, `read -r NAME`.
fn is_declared(before: &[u8]) -> bool {
    const NAMING: [&[u8]; 11] = [
        b"for",
        b"select",
        b"read",
        b"mapfile",
        b"readarray",
        b"local",
        b"declare",
        b"typeset",
        b"export",
        b"readonly",
        b"unset",
    ];
    let start = before.iter().rposition(|byte| b";\n|&({`".contains(byte)).map_or(0, |at| at + 1);
    let words = &before[start..];
    let is_naming = |word: &[u8]| NAMING.contains(&word);
    !words.iter().any(|byte| matches!(byte, b'<' | b'='))
        && words.split(u8::is_ascii_whitespace).any(is_naming)
        && !words.split(u8::is_ascii_whitespace).any(|word| word == b"in")
}
