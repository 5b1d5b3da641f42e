//! Texts in quotes that a step may run, by whatever way they come to a shell.
//!
//! Which text reaches `eval`, `bash -c`, `trap` or the input of a shell is not followed: variables,
//! functions, pipes and files can all carry one. Each such text is read with any value in all of its
//! variables. If one of them would be evaluated there, every value of the step must be harmless.

use std::collections::BTreeMap;

use super::Proof;
use super::construct::{Construct, VALUE};
use super::flow::Flow;
use super::scan::{is_name_byte, is_name_start};
use super::tree::{Redirect, RedirectKind, Word};
use super::variables::{Content, NUMBERED, POSITIONAL};
use super::{Values, names_runner};
use crate::script::names::interpreted;
use crate::script::programs::{Shape, find};

/// A step with more, or longer ones, is not followed.
const MOST: usize = 48;
const LONGEST: usize = 16 << 10;

/// Programs whose texts are in another language, and that print none of them.
const OTHERS: [&[u8]; 30] = [
    b"[", b"awk", b"curl", b"docker", b"gawk", b"git", b"grep", b"gsed", b"helm", b"jq", b"lua",
    b"make", b"mawk", b"mysql", b"nawk", b"node", b"perl", b"php", b"podman", b"psql", b"python",
    b"python3", b"rg", b"rsync", b"ruby", b"sed", b"sqlite3", b"tar", b"test", b"yq",
];

/// Programs that print their input or their words, beside those that the table says it of.
const PRINTERS: [&[u8]; 4] = [b"cat", b"read", b"set", b"tee"];

/// The texts of a step, by where they begin.
#[derive(Debug, Default)]
pub(super) struct Texts {
    all: BTreeMap<usize, Vec<u8>>,
}

impl Texts {
    /// Whether that is new.
    fn add(&mut self, at: usize, text: Option<Vec<u8>>) -> bool {
        let Some(text) = text.filter(|_| !self.all.contains_key(&at)) else { return false };
        self.all.insert(at, text).is_none()
    }

    /// Whether one of them calls a function with words after its name.
    fn call(&self, name: &[u8]) -> bool {
        let calls = |text: &Vec<u8>| {
            let starts = text.windows(name.len()).enumerate().filter(|(_, it)| *it == name);
            starts.into_iter().any(|(at, _)| {
                let rest = &text[at + name.len()..];
                let is_whole = at == 0 || !is_name_byte(text[at - 1]);
                let word = rest.trim_ascii_start().first();
                is_whole && rest.len() > 1 && word.is_some_and(|it| !b";&|)}".contains(it))
            })
        };
        self.all.values().any(calls)
    }
}

impl Flow<'_> {
    /// Keeps the texts in the words of a command.
    pub(super) fn keep_written(&mut self, all: &[Word], redirects: &[Redirect]) {
        let is_carried = self.carries(all);
        if let Some(at) = all.iter().position(|word| self.text(&word.at) == b"eval") {
            let words = all[at + 1..].iter().map(|word| self.text(&word.at));
            let words = words.map(|raw| dequoted(raw).unwrap_or_else(|| raw.to_vec()));
            let text = words.collect::<Vec<_>>().join(&b' ');
            let is_new = self.written.add(all[at].at.start, Some(text));
            self.changed(is_new);
        }
        for word in all {
            if is_carried || word.assigned.is_some() {
                self.keep_word(word);
            }
        }
        if is_carried {
            self.keep_input(redirects);
        }
    }

    /// Keeps the texts that redirections feed.
    pub(super) fn keep_input(&mut self, redirects: &[Redirect]) {
        for redirect in redirects {
            match redirect.kind {
                RedirectKind::String => self.keep_word(&redirect.word),
                RedirectKind::Heredoc(number) => {
                    let Some(body) = self.bodies.get(number) else { continue };
                    let raw = self.text(&body.at);
                    let text = if body.is_literal { raw.to_vec() } else { unescaped(raw) };
                    let is_new = self.written.add(body.at.start, Some(text));
                    self.changed(is_new);
                }
                _ => {}
            }
        }
    }

    pub(super) fn keep_word(&mut self, word: &Word) {
        if word.is_literal {
            return;
        }
        let is_new = if word.elements.is_empty() {
            let text = dequoted(self.text(&word.at));
            self.written.add(word.at.start, text)
        } else {
            word.elements.iter().for_each(|it| self.keep_word(it));
            false
        };
        self.changed(is_new);
    }

    /// Whether a text in the words of a command, or on its input, can be run.
    fn carries(&self, all: &[Word]) -> bool {
        let mut words = all.iter().filter(|it| it.assigned.is_none());
        let Some(first) = words.next() else { return false };
        let name = self.text(&first.at);
        if !first.is_literal || self.functions.contains_key(name) || PRINTERS.contains(&name) {
            return true;
        }
        let name = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let is_shell = |word: &[u8]| {
            find(word).is_some_and(|it| matches!(it.program.shape, Shape::Shell | Shape::Remote))
        };
        find(name).is_some() && !OTHERS.contains(&name)
            || words.any(|word| is_shell(self.text(&word.at)))
    }

    /// A text calls the function: any value can be in its positional parameters.
    pub(super) fn called_by_text(&mut self, name: &[u8]) {
        if !self.written.call(name) {
            return;
        }
        let content = Content::parts(Values::ALL.doubted());
        let names = NUMBERED.iter().copied().chain([POSITIONAL]);
        names.for_each(|name| self.variables.give(name, content));
    }

    /// Judges the texts, once it is known what variables hold.
    pub(super) fn written(&mut self, depth: u32) {
        let texts: Vec<Vec<u8>> = std::mem::take(&mut self.written).all.into_values().collect();
        if texts.is_empty() || !names_runner(self.src) {
            return;
        }
        let is_long = texts.iter().map(Vec::len).sum::<usize>() > LONGEST;
        let is_bad = |at: usize| self.evaluates(at, &texts, depth);
        if texts.len() > MOST || is_long || (0..texts.len()).any(is_bad) {
            self.found.soften(Values::ALL, Construct::Text);
        }
    }

    /// Whether a text would evaluate a value in one of its variables.
    fn evaluates(&self, at: usize, texts: &[Vec<u8>], depth: u32) -> bool {
        let text = &texts[at];
        if text.iter().any(|byte| *byte <= 1) {
            return false;
        }
        let Some(depth) = depth.checked_sub(1) else { return names_runner(text) };
        let mut src = Vec::with_capacity(text.len() + 64);
        let mut names: Vec<&[u8]> = identifiers(text).collect();
        names.sort_unstable();
        names.dedup();
        for name in names.into_iter().filter(|name| self.may_hold(name, at, texts)) {
            src.extend_from_slice(name);
            src.extend_from_slice(&[b'=', VALUE, b'\n']);
        }
        if self.feeds {
            src.extend_from_slice(&[b"exec <<< ".as_slice(), &[VALUE, b'\n']].concat());
        }
        src.extend_from_slice(b"set --");
        NUMBERED.iter().for_each(|_| src.extend_from_slice(&[b' ', VALUE]));
        src.push(b'\n');
        let count = src.iter().filter(|byte| **byte == VALUE).count();
        src.extend_from_slice(text);
        let proof = Proof::of(&src, depth);
        let is_open = proof.gap.is_some() && (names_runner(text) || computes(text));
        let found = &proof.found;
        is_open
            || found.setting.is_some()
            || found.renames
            || (0..count).any(|it| found.case(it).is_some() || found.soft(it).is_some())
    }

    /// Whether a variable may hold a value when a text runs: the step gives it one, or another text may.
    fn may_hold(&self, name: &[u8], at: usize, texts: &[Vec<u8>]) -> bool {
        let is_shared = |(other, text): (usize, &Vec<u8>)| {
            other != at && identifiers(text).any(|it| it == name)
        };
        let is_interpreted = std::str::from_utf8(name).is_ok_and(|it| interpreted(it).is_some());
        !is_interpreted
            && (!self.variables.of(name).held.is_empty() || texts.iter().enumerate().any(is_shared))
    }
}

/// Whether a text may compute a variable.
fn computes(text: &[u8]) -> bool {
    let holds = |part: &[u8]| text.windows(part.len()).any(|it| it == part);
    [&b"(("[..], b"[[", b"$[", b"${!", b"let "].into_iter().any(holds)
}

/// The names in a text that can be those of variables.
fn identifiers(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| !is_name_byte(*byte))
        .filter(|name| name.first().is_some_and(|byte| is_name_start(*byte)) && *name != b"_")
}

/// What a word is without its quotes. What the shell expands in it is `x`, as nothing is known of it;
/// none where it has no quotes.
fn dequoted(raw: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(raw.len());
    let (mut at, mut is_double, mut has_quotes) = (0, false, false);
    while let Some(&byte) = raw.get(at) {
        match byte {
            b'\'' if !is_double => {
                has_quotes = true;
                let end = raw[at + 1..].iter().position(|byte| *byte == b'\'');
                let end = end.map_or(raw.len(), |end| at + 1 + end);
                text.extend_from_slice(&raw[(at + 1).min(end)..end]);
                at = end + 1;
            }
            b'"' => {
                (has_quotes, is_double) = (true, !is_double);
                at += 1;
            }
            _ => {
                has_quotes |= byte == b'\\';
                at = piece(raw, at, is_double, &mut text);
            }
        }
    }
    has_quotes.then_some(text)
}

/// A heredoc in which the shell expands.
fn unescaped(raw: &[u8]) -> Vec<u8> {
    let (mut text, mut at) = (Vec::with_capacity(raw.len()), 0);
    while at < raw.len() {
        at = piece(raw, at, true, &mut text);
    }
    text
}

/// One byte, an escape or an expansion; gives where the next one begins.
fn piece(raw: &[u8], at: usize, is_quoted: bool, text: &mut Vec<u8>) -> usize {
    match (raw[at], raw.get(at + 1)) {
        (b'\\', Some(b'\n')) => at + 2,
        (b'\\', Some(next)) if !is_quoted || b"$`\"\\".contains(next) => {
            text.push(*next);
            at + 2
        }
        (b'$' | b'<' | b'>', Some(b'(')) => {
            text.push(b'x');
            closed(raw, at + 1, b'(', b')')
        }
        (b'$', Some(b'{')) => {
            text.push(b'x');
            closed(raw, at + 1, b'{', b'}')
        }
        (b'$', Some(next)) if is_name_byte(*next) || b"@*#?$!-".contains(next) => {
            text.push(b'x');
            let length = raw[at + 1..].iter().take_while(|byte| is_name_byte(**byte)).count();
            at + 1 + length.max(1)
        }
        (b'`', _) => {
            text.push(b'x');
            let length = raw[at + 1..].iter().position(|byte| *byte == b'`');
            length.map_or(raw.len(), |length| at + 2 + length)
        }
        (VALUE, _) => {
            text.push(b'x');
            at + 1
        }
        (byte, _) => {
            text.push(byte);
            at + 1
        }
    }
}

/// Where the bracket that opens at `at` is closed. Commands inside are judged by themselves.
fn closed(raw: &[u8], at: usize, open: u8, close: u8) -> usize {
    let (mut at, mut depth, mut quote) = (at, 0usize, None);
    while let Some(&byte) = raw.get(at) {
        match (byte, quote) {
            (b'\\', None | Some(b'"')) => at += 1,
            (_, Some(it)) if it == byte => quote = None,
            (_, Some(_)) => {}
            (b'"' | b'\'', None) => quote = Some(byte),
            (byte, None) if byte == open => depth += 1,
            (byte, None) if byte == close => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    raw.len()
}
