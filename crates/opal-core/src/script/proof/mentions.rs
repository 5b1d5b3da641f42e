//! Names of variables that a step computes with, or has in a text.

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
        let held: Vec<Values> = self
            .variables
            .each()
            .filter(|(name, _)| is_mentioned(self.src, name))
            .map(|(_, content)| content.held)
            .collect();
        held.into_iter().for_each(|held| self.found.soften(held, Construct::Output));
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
        if self.attributed.iter().any(is_open) {
            self.soften_mentioned();
        }
        for (values, case) in found {
            self.mark(values, case);
        }
    }
}

/// Whether a name, or the beginning or the end of it beside something that the shell expands, is in
/// the text other than to use the variable or to assign to it.
fn is_mentioned(src: &[u8], name: &[u8]) -> bool {
    let is_part = |byte: u8| is_name_byte(byte);
    let mut at = 0;
    while at < src.len() {
        let length = src[at..].iter().take_while(|byte| is_part(**byte)).count();
        if length == 0 {
            at += 1;
            continue;
        }
        let token = &src[at..at + length];
        let before = at.checked_sub(1).map(|at| src[at]);
        let after = src.get(at + length).copied();
        let is_used = matches!(before, Some(b'$' | b'{' | b'!' | b'#')) || is_declared(&src[..at]);
        let is_assigned = matches!(after, Some(b'=' | b'+' | b'['));
        let joins = |byte: Option<u8>| byte.is_some_and(|byte| b"\"'\\${},}".contains(&byte));
        let is_piece =
            joins(after) && name.starts_with(token) || joins(before) && name.ends_with(token);
        if !is_used && (token == name && !is_assigned || is_piece && token != name) {
            return true;
        }
        at += length;
    }
    false
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
