//! Texts in quotes that commands of a step run: `bash -c 'eval "$1"' _ VALUE`.
//!
//! Such a text is read like a step of its own that begins with what it is given. What this reading
//! does not follow there takes values that are harmless everywhere.

use super::Proof;
use super::calls::Words;
use super::construct::{Construct, VALUE};
use super::flow::Flow;
use super::held::Held;
use super::scan::{is_name_byte, is_name_start};
use super::tree::{Given, Quoted, Values};
use crate::script::cases::Case;
use crate::script::reading::{Reading, Text};
use crate::script::words::Word;

/// More than these are not given to a text.
const MAX_GIVEN: usize = 24;

impl Flow<'_> {
    pub(super) fn keep_texts(&mut self, reading: &Reading, seen: &Words<'_>, input: Values) {
        let given = |index: &usize| {
            let held = seen.held[*index].content.held;
            match seen.words[*index].whole && held.is_empty() {
                true => Given::Text(seen.words[*index].text.to_vec()),
                false => Given::Held(held),
            }
        };
        let kept = |text: &Text| {
            let words = text.words.iter().map(|index| seen.words[*index].text.as_ref());
            Quoted {
                text: words.collect::<Vec<_>>().join(&b' '),
                given: text.given.iter().take(MAX_GIVEN).map(given).collect(),
                input,
                is_here: text.is_here,
                set: settings(seen, text.words.first().copied().unwrap_or(0)),
            }
        };
        let is_seen = |text: &&Text| {
            let mut words = text.words.iter().chain(&text.given);
            words.all(|index| *index < seen.held.len())
        };
        self.texts.extend(reading.texts.iter().filter(is_seen).map(kept));
    }

    /// Judges the texts, once it is known what variables hold.
    pub(super) fn inner(&mut self, depth: u32) {
        for inner in std::mem::take(&mut self.texts) {
            for (values, found) in self.run_by(&inner, depth) {
                match found {
                    Run::As(case) => self.mark(values, case),
                    Run::Unless(construct) => self.found.soften(values, construct),
                }
            }
        }
    }

    /// The values that a text runs, or runs unless they are harmless.
    fn run_by(&self, inner: &Quoted, depth: u32) -> Vec<(Values, Run)> {
        let (mut src, mut values) = (Vec::new(), Vec::new());
        let begins = |name: &[u8]| name.first().is_some_and(|byte| is_name_start(*byte));
        let is_known = |name: &[u8]| inner.is_here && begins(name);
        let variables = self.variables.each().filter(|(name, _)| is_known(name));
        let variables = variables.map(|(name, content)| (name, content.held));
        let set = inner.set.iter().map(|(name, held)| (name.as_slice(), *held));
        let all = set.chain(variables).filter(|(_, held)| !held.is_empty());
        for (name, held) in all.take(MAX_GIVEN) {
            src.extend_from_slice(name);
            src.extend_from_slice(&[b'=', VALUE, b'\n']);
            values.push(held);
        }
        if !inner.input.is_empty() {
            src.extend_from_slice(b"exec <<< ");
            src.extend_from_slice(&[VALUE, b'\n']);
            values.push(inner.input);
        }
        if inner.given.iter().any(|it| matches!(it, Given::Held(held) if !held.is_empty())) {
            src.extend_from_slice(b"set --");
            for given in &inner.given {
                src.push(b' ');
                match given {
                    Given::Text(text) => quote(text, &mut src),
                    Given::Held(held) => {
                        src.push(VALUE);
                        values.push(*held);
                    }
                }
            }
            src.push(b'\n');
        }
        if values.is_empty() || inner.text.iter().any(|byte| *byte <= 1) {
            return Vec::new();
        }
        src.extend_from_slice(&inner.text);
        let proof = depth.checked_sub(1).map(|depth| Proof::of(&src, depth));
        let run = |(index, held): (usize, Values)| {
            let Some(proof) = &proof else { return Some((held, Run::Unless(Construct::Quotes))) };
            let case = proof.found.case(index).map(Run::As);
            let soft = || proof.found.soft(index).map(Run::Unless);
            let gap = || proof.gap.as_ref().map(|gap| Run::Unless(gap.construct));
            Some((held, case.or_else(soft).or_else(gap)?))
        };
        values.into_iter().enumerate().filter_map(run).collect()
    }
}

/// What a text does with a value.
enum Run {
    As(&'static Case),
    /// The value must be harmless, because of this.
    Unless(Construct),
}

/// The words before this one that set variables: `env NAME=VALUE`, `docker run --env=NAME=VALUE`.
pub(super) fn settings(seen: &Words<'_>, end: usize) -> Vec<(Vec<u8>, Values)> {
    let words = seen.words.iter().zip(&seen.held).take(end);
    let may_set = |(word, held): &(&Word<'_>, &Held)| {
        !held.content.held.is_empty() && word.text.contains(&b'=')
    };
    let setting = words.filter(may_set).flat_map(|(word, held)| {
        let mut names: Vec<&[u8]> = word.text.split(|byte| *byte == b'=').collect();
        names.pop();
        let name = |text: &[u8]| {
            let length = text.iter().rev().take_while(|byte| is_name_byte(**byte)).count();
            text[text.len() - length..].to_vec()
        };
        let is_name = |name: &Vec<u8>| name.first().is_some_and(|byte| is_name_start(*byte));
        let names: Vec<Vec<u8>> = names.into_iter().map(name).filter(is_name).collect();
        names.into_iter().map(|name| (name, held.content.held))
    });
    setting.collect()
}

/// Writes a word in single quotes.
fn quote(text: &[u8], src: &mut Vec<u8>) {
    src.push(b'\'');
    for byte in text {
        match byte {
            b'\'' => src.extend_from_slice(b"'\"'\"'"),
            byte => src.push(*byte),
        }
    }
    src.push(b'\'');
}
