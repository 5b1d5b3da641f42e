//! Commands that give variables something, or change how the shell reads the rest of a step.

use super::calls::Words;
use super::construct::Construct;
use super::flow::Flow;
use super::scan::{is_name_byte, is_name_start};
use super::tree::Values;
use super::variables::{Content, NUMBERED, POSITIONAL};
use crate::script::words;

/// Letters of `set` that do not change how text is read.
const LETTERS: &[u8] = b"euxvfEaTmbhCB";

const OPTIONS: &[&[u8]] = &[
    b"errexit",
    b"errtrace",
    b"nounset",
    b"xtrace",
    b"verbose",
    b"noglob",
    b"noclobber",
    b"pipefail",
    b"functrace",
    b"monitor",
    b"notify",
    b"allexport",
];

/// Names of `shopt` that do not change how text is read.
const SHOPTS: &[&[u8]] = &[
    b"-s",
    b"-u",
    b"-q",
    b"nullglob",
    b"globstar",
    b"dotglob",
    b"failglob",
    b"nocaseglob",
    b"nocasematch",
    b"inherit_errexit",
    b"extglob",
    b"lastpipe",
];

impl<'t> Flow<'t> {
    /// `read`, `mapfile`, `getopts`, `printf -v`: names of variables that are given something.
    pub(super) fn stored(
        &mut self,
        name: &[u8],
        rest: &[words::Word<'_>],
        own: Values,
        input: Values,
    ) {
        let content = Content::parts(input.and(own));
        let is_printf = name == b"printf";
        for (at, word) in rest.iter().enumerate() {
            let text = word.text.as_ref();
            let may_be_name = !is_printf
                || at
                    .checked_sub(1)
                    .is_some_and(|at| rest[at].whole && rest[at].text.as_ref() == b"-v");
            if !word.whole && may_be_name {
                self.variables.give_any(content);
            }
            // `-vNAME`, `-raNAME`
            let letters = if text.starts_with(b"-") { text.len().min(8) } else { 1 };
            for from in 0..letters {
                let text = &text[from..];
                let length = text.iter().take_while(|byte| is_name_byte(**byte)).count();
                if text.first().is_some_and(|byte| is_name_start(*byte)) {
                    self.variables.give(&text[..length], content);
                    let is_new = self.constants.open(&text[..length]);
                    self.changed(is_new);
                }
            }
        }
        for name in [&b"REPLY"[..], b"MAPFILE", b"OPTARG"] {
            self.variables.give(name, content);
            let is_new = self.constants.open(name);
            self.changed(is_new);
        }
        // `mapfile -C` calls a function with it.
        if matches!(name, b"mapfile" | b"readarray") {
            let names = NUMBERED.iter().copied().chain([POSITIONAL]);
            names.for_each(|name| self.variables.give(name, content));
        }
    }

    /// Variables that the shell itself sets.
    pub(super) fn set_by_shell(&mut self, name: &[u8], own: Values) {
        let content = Content::parts(own);
        self.variables.give(b"_", content);
        match name {
            b"cd" | b"pushd" => {
                let mut content = content;
                content.add(self.variables.of(b"HOME"));
                for name in [&b"PWD"[..], b"OLDPWD", b"DIRSTACK"] {
                    self.variables.give(name, content);
                }
            }
            b"getopts" => {
                let mut content = content;
                content.add(Content::parts(self.variables.of(POSITIONAL).held));
                self.variables.give(b"OPTARG", content);
            }
            _ => {}
        }
    }

    /// Commands that change how the shell reads the rest of the step.
    pub(super) fn settings(&mut self, name: &[u8], seen: &Words<'t>, rest: usize) {
        let words = &seen.words[rest..];
        match name {
            b"set" => self.set(seen, rest),
            b"shopt" => {
                let is_usual =
                    |word: &words::Word<'_>| word.whole && SHOPTS.contains(&word.text.as_ref());
                if !words.iter().all(is_usual) {
                    self.found.setting = Some(Construct::Setting);
                }
            }
            b"hash" if words.iter().all(names_program) => {}
            b"alias" | b"enable" | b"hash" => self.found.setting = Some(Construct::Setting),
            _ => {}
        }
    }

    fn set(&mut self, seen: &Words<'t>, rest: usize) {
        let words = &seen.words[rest..];
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let text = word.text.as_ref();
            let is_option =
                matches!(text.first(), Some(b'-' | b'+')) || text.is_empty() && !word.whole;
            if !is_option {
                break;
            }
            at += 1;
            if text == b"--" && word.whole {
                break;
            }
            let letters = text.get(1..).unwrap_or_default();
            let named = letters.iter().filter(|letter| **letter == b'o').count();
            let is_usual = |letter: &u8| *letter == b'o' || LETTERS.contains(letter);
            let names = words.get(at..at + named).unwrap_or_default();
            let is_option = |it: &words::Word<'_>| it.whole && OPTIONS.contains(&it.text.as_ref());
            let is_known =
                word.whole && letters.iter().all(is_usual) && names.iter().all(is_option);
            at += names.len();
            // A value that begins with `-` is refused by the rule for all of them.
            if !(word.has_references || is_known) {
                self.found.setting = Some(Construct::Setting);
            }
        }
        self.positional(seen, rest + at.min(words.len()));
    }
}

/// A word of `hash`, which looks up the program of that name. An option in a value is refused by the
/// rule for all of them.
fn names_program(word: &words::Word<'_>) -> bool {
    (word.whole || word.has_references) && !word.text.starts_with(b"-p")
}
