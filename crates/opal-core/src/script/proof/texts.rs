//! Texts in quotes that a step may run, by whatever way they come to a shell.
//!
//! Which text reaches `eval`, `bash -c`, `trap` or the input of a shell is not followed: variables,
//! functions, pipes and files can all carry one. Each such text is read with any value in all of its
//! variables. If one of them would be evaluated there, every value of the step must be harmless.

use std::collections::BTreeSet;

use super::Proof;
use super::construct::{Construct, VALUE};
use super::flow::Flow;
use super::outline::{changes_case, names_runner};
use super::scan::{is_name_byte, is_name_start};
use super::tree::{Redirect, RedirectKind, Values, Word};
use super::unquoted::{UNKNOWN, dequoted, formatted, replaced, unescaped};
use super::variables::{Content, NUMBERED, POSITIONAL};
use crate::script::names::interpreted;
use crate::script::programs::{Shape, find};

/// A step with more, or longer ones, is not followed.
const MOST: usize = 48;
const LONGEST: usize = 16 << 10;

/// What that can be: a word, the end of a command, the name of a command, an option, an operator.
const GUESSES: [&[u8]; 6] = [b"x", b";", b"eval", b"bash", b"-c", b"-eq"];

/// Programs with a language of their own for their words.
const OTHERS: [&[u8]; 22] = [
    b"[", b"awk", b"curl", b"gawk", b"git", b"grep", b"gsed", b"jq", b"lua", b"make", b"mawk",
    b"nawk", b"node", b"perl", b"php", b"psql", b"python", b"python3", b"ruby", b"sed", b"test",
    b"yq",
];

/// Words without which a text that expands nothing changes nothing for the rest of a step.
const ACTIVE: [&[u8]; 15] = [
    b"alias",
    b"declare",
    b"enable",
    b"exec",
    b"export",
    b"let",
    b"local",
    b"mapfile",
    b"read",
    b"readarray",
    b"readonly",
    b"set",
    b"shopt",
    b"trap",
    b"typeset",
];

/// The texts of a step, by where they begin.
#[derive(Debug, Default)]
pub(super) struct Texts {
    all: BTreeSet<(usize, Vec<u8>)>,
    /// A program makes text for a shell.
    is_made: bool,
}

/// What becomes of the words of a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// A shell may run them.
    Run,
    /// They may be printed, and what is printed be run.
    Printed,
    /// They are in another language, and what the program prints may be run.
    Foreign,
    Data,
}

impl Texts {
    /// Whether one of them names a function.
    fn call(&self, name: &[u8]) -> Option<Call> {
        let mut found = None;
        for (_, text) in &self.all {
            let is_fed = text.iter().any(|byte| matches!(byte, b'|' | b'<'));
            for (at, _) in text.windows(name.len()).enumerate().filter(|(_, it)| *it == name) {
                let rest = &text[at + name.len()..];
                let is_whole = (at == 0 || !is_name_byte(text[at - 1]))
                    && rest.first().is_none_or(|byte| !is_name_byte(*byte));
                let word = rest.trim_ascii_start().first();
                let has_words = word.is_some_and(|it| !b";&|)}".contains(it));
                if is_whole {
                    let call: &mut Call = found.get_or_insert_default();
                    call.has_words |= has_words;
                    call.is_fed |= is_fed;
                }
            }
        }
        found
    }
}

/// How texts call a function.
#[derive(Clone, Copy, Default)]
struct Call {
    has_words: bool,
    /// It may read what another command prints.
    is_fed: bool,
}

impl Flow<'_> {
    /// Keeps the texts in the words of a command.
    pub(super) fn keep_written(&mut self, all: &[Word], redirects: &[Redirect]) {
        let used = self.used(all);
        let is_trap = all.first().is_some_and(|word| self.text(&word.at) == b"trap");
        for (at, word) in all.iter().enumerate() {
            let raw = self.text(&word.at);
            match used {
                _ if word.assigned.is_some() => self.keep_word(word),
                Use::Run | Use::Printed if !word.is_literal => self.keep_word(word),
                // `bash -c FUNCTION`, `trap bash EXIT`
                Use::Run if is_trap && at == 1 || self.functions.contains_key(raw) => {
                    self.keep_word(word);
                }
                // It prints what is plainly text of a shell.
                Use::Foreign if raw.contains(&b'$') && names_runner(raw) => {
                    self.written.is_made = true;
                }
                _ => {}
            }
        }
        // `eval declare -i n`
        let is_eval = |word: &Word| word.is_literal && self.text(&word.at) == b"eval";
        if let Some(at) = all.iter().position(is_eval) {
            let words = all[at + 1..].iter().map(|word| self.text(&word.at));
            let mut inner = Vec::new();
            let words: Vec<Vec<u8>> = words.map(|raw| dequoted(raw, &mut inner)).collect();
            self.keep(all[at].at.start, words.join(&b' '));
        }
        if used != Use::Data {
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
                    self.keep(body.at.start, text);
                }
                _ => {}
            }
        }
    }

    pub(super) fn keep_word(&mut self, word: &Word) {
        if !word.elements.is_empty() {
            return word.elements.iter().for_each(|it| self.keep_word(it));
        }
        let mut inner = Vec::new();
        let text = dequoted(&self.src[self.beginning_of_text(word)..word.at.end], &mut inner);
        self.keep(word.at.start, text);
        inner.into_iter().for_each(|text| self.keep(word.at.start, text));
    }

    fn keep(&mut self, at: usize, text: Vec<u8>) {
        // What printf puts in place of `%s` is not known.
        let text = formatted(text);
        if is_inert(&text) && !self.functions.contains_key(&text) {
            return;
        }
        self.pass_on(&text);
        let is_new = self.written.all.insert((at, text));
        self.changed(is_new);
    }

    /// A text that knows a value may give it to any variable that it names.
    fn pass_on(&mut self, text: &[u8]) {
        let names = || identifiers(text);
        let mut known = Values::NONE;
        names().for_each(|name| known.add(self.variables.of(name).held));
        let has = |part: &[u8]| text.windows(2).any(|it| it == part);
        let is_numbered = text.windows(2).any(|it| it[0] == b'$' && it[1].is_ascii_digit());
        if is_numbered || has(b"$@") || has(b"$*") {
            known.add(self.variables.of(POSITIONAL).held);
        }
        if self.feeds && names().any(|it| matches!(it, b"read" | b"mapfile" | b"readarray")) {
            known.add(Values::ALL);
        }
        if known.is_empty() {
            return;
        }
        let content = Content::parts(known.doubted());
        let is_new = |it: &&[u8]| known.without(self.variables.of(it).held) != Values::NONE;
        let fresh: Vec<&[u8]> = names().filter(|name| is_new(name)).collect();
        fresh.into_iter().for_each(|name| self.variables.give(name, content));
        if names().any(|name| name == b"set") {
            let names = NUMBERED.iter().copied().chain([POSITIONAL]);
            names.for_each(|name| self.variables.give(name, content));
        }
    }

    /// What becomes of the words of a command, and of its input.
    fn used(&self, all: &[Word]) -> Use {
        let mut words = all.iter().filter(|it| it.assigned.is_none());
        let Some(first) = words.next() else { return Use::Data };
        let name = self.text(&first.at);
        if !first.is_literal || self.functions.contains_key(name) {
            return Use::Run;
        }
        let name = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let is_shell = |word: &[u8]| {
            find(word).is_some_and(|it| matches!(it.program.shape, Shape::Shell | Shape::Remote))
        };
        let is_foreign = OTHERS.contains(&name);
        if words.any(|word| is_shell(self.text(&word.at))) {
            return Use::Run;
        }
        match find(name).map(|it| it.program.shape) {
            _ if is_foreign && self.is_captured => Use::Foreign,
            _ if is_foreign => Use::Data,
            // `printf -v NAME`
            Some(Shape::Prints) if self.is_captured || name == b"printf" => Use::Printed,
            Some(Shape::Prints) => Use::Data,
            Some(_) => Use::Run,
            // `read`, `set` and others of the shell itself.
            None if is_builtin(name) => Use::Run,
            None if self.is_captured => Use::Printed,
            None => Use::Data,
        }
    }

    /// A text calls the function: any value can be in its positional parameters, and on its input.
    pub(super) fn called_by_text(&mut self, name: &[u8]) {
        let Some(call) = self.written.call(name) else { return };
        let any = Values::ALL.doubted();
        if call.has_words {
            let names = NUMBERED.iter().copied().chain([POSITIONAL]);
            names.for_each(|name| self.variables.give(name, Content::parts(any)));
        }
        if self.feeds || call.is_fed {
            let function = self.functions.entry(name.to_vec()).or_default();
            let is_new = function.input.and(any) != function.input;
            function.input.add(any);
            self.changed(is_new);
        }
    }

    /// Judges the texts, once it is known what variables hold.
    pub(super) fn written(&mut self, depth: u32) {
        let Texts { all, is_made } = std::mem::take(&mut self.written);
        let texts: BTreeSet<Vec<u8>> = all.into_iter().map(|(_, text)| text).collect();
        let texts: Vec<Vec<u8>> = texts.into_iter().collect();
        if texts.is_empty() && !is_made || !names_runner(self.src) {
            return;
        }
        let is_long = texts.iter().map(Vec::len).sum::<usize>() > LONGEST;
        // `declare -l t='EVAL …'`, `${t,,}`
        let is_lowered = |text: &Vec<u8>| names_runner(&text.to_ascii_lowercase());
        let is_made = is_made || changes_case(self.src) && texts.iter().any(is_lowered);
        let mut is_bad = is_made || texts.len() > MOST || is_long;
        for (at, text) in texts.iter().enumerate().filter(|_| !is_long) {
            if is_bad {
                break;
            }
            let guesses = if self.is_open(text) { &GUESSES[..] } else { &GUESSES[..1] };
            is_bad = guesses.iter().any(|guess| self.evaluates(at, &texts, guess, depth));
        }
        if is_bad {
            self.found.soften(Values::ALL, Construct::Text);
        }
    }

    /// Whether what is not known in a text decides what becomes of a value in it.
    fn is_open(&self, text: &[u8]) -> bool {
        let reads = |byte: &u8| matches!(byte, b'$' | b'`') || self.feeds && *byte == b'|';
        let replaces = || self.feeds && identifiers(text).any(|it| it == b"exec");
        text.contains(&UNKNOWN) && (text.iter().any(reads) || replaces())
    }

    /// Whether a text would evaluate a value in one of its variables.
    fn evaluates(&mut self, at: usize, texts: &[Vec<u8>], guess: &[u8], depth: u32) -> bool {
        let text = replaced(&texts[at], guess);
        if text.iter().any(|byte| *byte <= UNKNOWN) {
            return false;
        }
        let Some(depth) = depth.checked_sub(1) else { return names_runner(&text) };
        let mut src = Vec::with_capacity(text.len() + 64);
        let names: BTreeSet<&[u8]> = identifiers(&text).collect();
        let names = names.into_iter().filter(|name| self.may_hold(name, at, texts));
        let names: Vec<&[u8]> = names.collect();
        for name in &names {
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
        src.extend_from_slice(&text);
        let proof = Proof::of(&src, depth);
        let is_open = proof.gap.is_some() && (names_runner(&text) || computes(&text));
        let found = &proof.found;
        // What runs a variable runs the values that are known to be in it.
        let is_certain = guess == GUESSES[0] && proof.gap.is_none();
        for (index, name) in names.iter().enumerate().filter(|_| is_certain) {
            if let Some(case) = found.case(index) {
                let held = self.variables.of(name).held;
                self.mark(held.known(), case);
            }
        }
        let is_hit = |it: usize| {
            found.case(it).is_some() || found.soft(it).is_some() || found.programs.has(it)
        };
        is_open || found.setting.is_some() || found.renames || (0..count).any(is_hit)
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

/// Commands of the shell that give their words or their input to variables.
fn is_builtin(name: &[u8]) -> bool {
    matches!(name, b"read" | b"set" | b"mapfile" | b"readarray")
}

/// Whether a text expands nothing and changes nothing.
fn is_inert(text: &[u8]) -> bool {
    let expands = text.iter().any(|byte| matches!(*byte, b'$' | b'`'));
    let is_active = |word: &[u8]| ACTIVE.contains(&word);
    let computes = text.contains(&b'[') || text.windows(2).any(|it| it == b"((");
    let is_piped = text.contains(&UNKNOWN) && text.contains(&b'|');
    !expands && !computes && !is_piped && !identifiers(text).any(is_active) && !names_runner(text)
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
