//! Programs that run another command.

use super::super::cases::{At, Case};
use super::super::programs::{Called, Shape, evaluates, find};
use super::Reader;
use super::options::Taken;

/// Words after which a command begins.
const STARTS: [&[u8]; 8] =
    [b"--", b"exec", b"-exec", b"-execdir", b"-ok", b"-okdir", b"-x", b"--exec"];

impl Reader<'_, '_> {
    pub(super) fn wraps(&mut self, called: Called, rest: &[usize], operands: u8) {
        let (mut at, mut left) = (0, operands);
        let mut is_for_shell = false;
        while at < rest.len() {
            let start = at;
            let word = &self.words[rest[at]];
            let sets = matches!(called.name, "env" | "sudo" | "doas");
            if sets && word.text.contains(&b'=') && !word.is_option() {
                self.assignment(rest[at]);
                at += 1;
                continue;
            }
            if matches!(word.text.as_ref(), b"-" | b"--") && word.whole {
                at += 1;
                continue;
            }
            is_for_shell |= called.name == "sudo" && starts_shell(called, &word.text);
            match self.take(called, rest, &mut at) {
                Taken::Valued(name, index) => self.valued(called, name, index),
                Taken::Flags(_) => {}
                Taken::Chosen(index) => self.chosen(called, index),
                Taken::Operand(_) if left > 0 => left -= 1,
                Taken::Operand(_) if is_for_shell => {
                    if let Some(case) = called.case(At::From(0)) {
                        rest[start..].iter().for_each(|index| self.mark(*index, case));
                    }
                    return self.command(&rest[start..]);
                }
                Taken::Operand(_) => {
                    let input = self.reading.input;
                    self.command(&rest[start..]);
                    // What xargs reads becomes words of the command.
                    if called.name == "xargs" && self.runs_words(&rest[start..]) {
                        self.reading.input = Some(Case::PRINTED);
                    }
                    self.reading.input = self.reading.input.or(input);
                    return;
                }
            }
        }
    }

    /// Whether a command evaluates words that are added to it.
    fn runs_words(&self, rest: &[usize]) -> bool {
        let name = rest.first().and_then(|index| self.words[*index].name());
        name.is_some_and(evaluates)
    }

    /// A program that the table does not name may start one that it names: `docker exec app sh -c
    /// "…"`.
    pub(super) fn unlisted(&mut self, rest: &[usize]) {
        let (mut has_started, mut has_options) = (false, false);
        for (at, index) in rest.iter().enumerate() {
            let word = &self.words[*index];
            let after = &rest[at + 1..];
            let starts = has_started || at > 0 && self.is_start(rest[at - 1]);
            has_started |= word.whole && word.text.as_ref() == b"exec";
            let Some(called) = word.name().and_then(find) else { continue };
            match (called.program.shape, called.name) {
                (Shape::Shell, _) => return self.shell(called, after),
                (_, "su" | "runuser" | "script" | "flock") if !has_options => {
                    // It can be a word like any other: what it reads counts only where it is run.
                    has_options = true;
                    let input = self.reading.input;
                    self.options(called, after, true);
                    self.reading.input = self.reading.input.filter(|_| starts).or(input);
                }
                (Shape::Remote | Shape::Wraps(_), _) | (_, "watch" | "parallel") if starts => {
                    return self.called(called, after);
                }
                (_, "env") => return self.called(called, after),
                _ => {}
            }
        }
    }

    fn is_start(&self, index: usize) -> bool {
        let word = &self.words[index];
        word.whole && STARTS.contains(&word.text.as_ref())
    }
}

/// `sudo -i` and `sudo -s` put the words of the command together for a shell.
fn starts_shell(called: Called, text: &[u8]) -> bool {
    if text.starts_with(b"--") {
        return text.len() > 3 && (b"--login".starts_with(text) || b"--shell".starts_with(text));
    }
    let is_flag = |letter: &&u8| !called.program.valued.as_bytes().contains(letter);
    text.starts_with(b"-")
        && text[1..].iter().take_while(is_flag).any(|it| matches!(it, b'i' | b's'))
}
