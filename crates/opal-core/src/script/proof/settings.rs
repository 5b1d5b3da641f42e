//! Commands that give variables something, or change how the shell reads the rest of a step.

use super::construct::Construct;
use super::flow::{Flow, Held, POSITIONAL};
use super::scan::is_name_start;
use super::tree::{Values, Word};
use crate::script::programs::find;

impl<'t> Flow<'t> {
    /// `read`, `mapfile`, `getopts`, `printf -v`: names of variables that are given something.
    pub(super) fn stored(&mut self, name: &[u8], all: &'t [Word], held: &[Held], input: Values) {
        let own = held.iter().fold(Values::NONE, |all, held| all.and(held.all));
        let values = input.and(own);
        if values.is_empty() {
            return;
        }
        let mut has_name = false;
        for word in all.iter().skip(1) {
            let text = self.text(&word.at);
            let is_name = word.is_literal && text.first().is_some_and(|byte| is_name_start(*byte));
            if is_name {
                has_name = true;
                self.give(text, values);
            } else if !word.is_literal && !word.variables.is_empty() && name != b"printf" {
                self.found.setting = Some(Construct::Name);
            }
        }
        if !has_name {
            self.give(b"REPLY", values);
            self.give(b"MAPFILE", values);
        }
    }

    /// Commands that change how the shell reads the rest of the step.
    pub(super) fn settings(&mut self, name: &[u8], all: &'t [Word], values: Values) {
        let literal = |word: &Word| word.is_literal;
        let texts = || all.iter().skip(1).map(|word| self.text(&word.at));
        match name {
            b"set" => {
                let rest: Vec<&[u8]> = texts().take_while(|text| *text != b"--").collect();
                let is_usual = |text: &&[u8]| {
                    matches!(text.first(), Some(b'-' | b'+'))
                        && text[1..].iter().all(|letter| b"euxovfEaTmbhCB".contains(letter))
                        || matches!(
                            *text,
                            b"pipefail"
                                | b"errexit"
                                | b"nounset"
                                | b"xtrace"
                                | b"noglob"
                                | b"errtrace"
                                | b"posix"
                                | b"noclobber"
                        )
                };
                // Words after the first that is not an option are positional parameters.
                let is_option =
                    |text: &&[u8]| matches!(text.first(), Some(b'-' | b'+' | b'$' | b'"' | b'`'));
                if rest.iter().take_while(|text| is_option(text)).any(|text| !is_usual(text)) {
                    self.found.setting = Some(Construct::Setting);
                }
                self.give(POSITIONAL, values);
            }
            b"shopt" => {
                let usual: [&[u8]; 12] = [
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
                if !texts().all(|text| usual.contains(&text)) || !all.iter().all(literal) {
                    self.found.setting = Some(Construct::Setting);
                }
            }
            b"alias" | b"enable" | b"bind" | b"complete" | b"hash" | b"history" | b"fc" => {
                self.found.setting = Some(Construct::Setting);
            }
            _ => {
                // `{-c,…}` is more than one word.
                if all.iter().any(|word| word.has_braces)
                    && !values.is_empty()
                    && find(name).is_some()
                    && !matches!(name, b"echo" | b"printf")
                {
                    self.found.setting = Some(Construct::Braces);
                }
            }
        }
    }
}
