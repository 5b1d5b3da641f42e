//! Commands that give variables something, or change how the shell reads the rest of a step.

use super::construct::Construct;
use super::flow::{Flow, Held};
use super::scan::{is_name_byte, is_name_start};
use super::tree::{Values, Word};
use crate::script::programs::find;
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
        let values = input.and(own);
        if values.is_empty() {
            return;
        }
        for word in rest {
            let text = word.text.as_ref();
            if !word.whole && !word.has_references && name != b"printf" {
                self.found.setting = Some(Construct::Name);
            }
            // `-vNAME`, `-ra NAME`
            let attached = text.strip_prefix(b"-").map(|text| text.get(1..).unwrap_or_default());
            for text in [Some(text), attached].into_iter().flatten() {
                let length = text.iter().take_while(|byte| is_name_byte(**byte)).count();
                if length > 0 && is_name_start(text[0]) {
                    self.variables.give(&text[..length], values, values, Values::NONE);
                }
            }
        }
        for name in [&b"REPLY"[..], b"MAPFILE", b"OPTARG"] {
            self.variables.give(name, values, values, Values::NONE);
        }
    }

    /// Variables that the shell itself sets.
    pub(super) fn set_by_shell(&mut self, name: &[u8], own: Values) {
        self.variables.give(b"_", own, own, Values::NONE);
        match name {
            b"cd" | b"pushd" => {
                for name in [&b"PWD"[..], b"OLDPWD", b"DIRSTACK"] {
                    self.variables.give(name, own, own, Values::NONE);
                }
            }
            b"getopts" => self.variables.give(b"OPTARG", own, own, Values::NONE),
            _ => {}
        }
    }

    /// Commands that change how the shell reads the rest of the step.
    pub(super) fn settings(
        &mut self,
        name: &[u8],
        rest: &'t [Word],
        held: &[Held],
        words: &[words::Word<'_>],
    ) {
        match name {
            b"set" => self.set(rest, held, words),
            b"shopt" => {
                let is_usual =
                    |word: &words::Word<'_>| word.whole && SHOPTS.contains(&word.text.as_ref());
                if !words.iter().all(is_usual) {
                    self.found.setting = Some(Construct::Setting);
                }
            }
            b"hash" if words.iter().all(|word| word.whole && !word.text.starts_with(b"-p")) => {}
            b"alias" | b"enable" | b"hash" => self.found.setting = Some(Construct::Setting),
            _ => {
                // `{-c,…}` is more than one word.
                let has_values = held.iter().any(|held| !held.all.is_empty());
                if rest.iter().any(|word| word.has_braces)
                    && has_values
                    && find(name).is_some()
                    && !matches!(name, b"echo" | b"printf")
                {
                    self.found.setting = Some(Construct::Braces);
                }
            }
        }
    }

    fn set(&mut self, rest: &'t [Word], held: &[Held], words: &[words::Word<'_>]) {
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let text = word.text.as_ref();
            let is_option =
                matches!(text.first(), Some(b'-' | b'+')) || text.is_empty() && !word.whole;
            if !is_option || text == b"--" && word.whole {
                break;
            }
            let letters = text.get(1..).unwrap_or_default();
            let names_option = letters.ends_with(b"o");
            let letters = letters.strip_suffix(b"o").unwrap_or(letters);
            let is_usual = word.whole && letters.iter().all(|letter| LETTERS.contains(letter));
            at += 1;
            let is_named = !names_option
                || words.get(at).is_none_or(|it| it.whole && OPTIONS.contains(&it.text.as_ref()));
            at += usize::from(names_option);
            // A value that begins with `-` is refused by the rule for all of them.
            if !(word.has_references || is_usual && is_named) {
                self.found.setting = Some(Construct::Setting);
            }
        }
        self.positional(rest, held);
    }
}
