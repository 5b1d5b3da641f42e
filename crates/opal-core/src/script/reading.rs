//! The words of one simple command, matched with the table.

mod declarations;
mod shells;

use super::cases::{At, Case, Role};
use super::names::interpreted;
use super::programs::{Called, Shape, find, may_begin};
use super::words::{Kind, Word};

/// What a command makes of the references in one of its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Case(&'static Case),
    /// Only where the word holds `<( … )`: what that prints is run.
    Process(&'static Case),
    /// The value names the program, so it is checked by its name.
    Program,
    /// The value is what `declare` assigns.
    Declared,
}

/// What a command makes of all its words.
#[derive(Debug, Default)]
pub struct Reading {
    /// Words by their index.
    pub marks: Vec<(usize, Mark)>,
    /// What is on its input is evaluated.
    pub input: Option<&'static Case>,
    /// It prints its words or its input as they are.
    pub prints: bool,
    /// It gives its words or its input to variables that it is told.
    pub stores: bool,
    /// Variables that get the attribute of an integer, a name reference or an array: words by their
    /// index.
    pub attributed: Vec<usize>,
    /// The words of the command, without assignments before it and redirections.
    rest: Vec<usize>,
}

/// Reads a command, in which at least one word holds a reference. What was read before is forgotten;
/// its memory is used again.
pub fn read(words: &[Word<'_>], reading: &mut Reading) {
    reading.marks.clear();
    reading.attributed.clear();
    (reading.input, reading.prints, reading.stores) = (None, false, false);
    let mut rest = std::mem::take(&mut reading.rest);
    rest.clear();
    let plain = |index: &usize| matches!(words[*index].kind, Kind::Plain | Kind::Assignment);
    rest.extend(
        (0..words.len()).filter(plain).skip_while(|at| words[*at].kind == Kind::Assignment),
    );
    let mut reader = Reader { words, reading };
    for (index, word) in words.iter().enumerate() {
        if word.kind == Kind::Assignment {
            reader.assignment(index);
        }
    }
    reader.command(&rest);
    reader.reading.rest = rest;
}

struct Reader<'w, 't> {
    words: &'w [Word<'t>],
    reading: &'w mut Reading,
}

/// An option, and what it is given.
enum Taken<'w> {
    /// Not an option.
    Operand(usize),
    /// The letter or the long name, and the word that holds its value.
    Valued(&'w [u8], usize),
    /// Letters without a value.
    Flags(usize),
    /// A value may choose the option.
    Chosen(usize),
}

impl<'w> Reader<'w, '_> {
    fn mark(&mut self, word: usize, case: &'static Case) {
        if self.words[word].has_references {
            self.reading.marks.push((word, Mark::Case(case)));
        }
    }

    fn assignment(&mut self, index: usize) {
        let text = self.words[index].text.as_ref();
        let end = text.iter().position(|byte| matches!(byte, b'=' | b'+' | b'['));
        let name = std::str::from_utf8(&text[..end.unwrap_or(text.len())]);
        if name.is_ok_and(|name| interpreted(name).is_some()) {
            self.mark(index, Case::INTERPRETED);
        }
    }

    fn has_references_in(&self, words: &[usize]) -> bool {
        words.iter().any(|index| self.words[*index].has_references)
            || self.words.iter().any(|word| word.kind == Kind::Input)
    }

    /// `rest` begins with the name of a command.
    fn command(&mut self, rest: &[usize]) {
        let Some((&first, rest)) = rest.split_first() else { return };
        let word = &self.words[first];
        if let Some(name) = word.name() {
            match find(name) {
                Some(called) => return self.called(called, rest),
                None => return self.unlisted(rest),
            }
        }
        let prefix = word.text.as_ref();
        let slash = prefix.iter().rposition(|byte| *byte == b'/');
        let prefix = &prefix[slash.map_or(0, |at| at + 1)..];
        if !may_begin(prefix) {
            return self.unlisted(rest);
        }
        if !self.has_references_in(rest) && word.is_reference {
            return;
        }
        if word.is_reference && prefix.is_empty() {
            self.reading.marks.push((first, Mark::Program));
            return self.unlisted(rest);
        }
        let case = if word.has_references { Case::ASSEMBLED } else { Case::UNKNOWN };
        if self.has_references_in(rest) || !word.is_simple {
            self.mark(first, case);
        }
        for index in rest {
            self.mark(*index, case);
        }
        self.reading.input = Some(case);
    }

    /// A program that the table does not name may start a shell: `docker exec app sh -c "…"`.
    fn unlisted(&mut self, rest: &[usize]) {
        for (at, index) in rest.iter().enumerate() {
            let called = self.words[*index].name().and_then(find);
            if let Some(called) = called.filter(|it| it.program.shape == Shape::Shell) {
                return self.shell(called, &rest[at + 1..]);
            }
        }
    }

    fn called(&mut self, called: Called, rest: &[usize]) {
        let is_reader = matches!(called.name, "read" | "mapfile" | "readarray" | "getopts");
        let option = |index: &usize| self.words[*index].text.starts_with(b"-v");
        self.reading.stores = is_reader || called.name == "printf" && rest.iter().any(option);
        match called.program.shape {
            Shape::Strict => {
                self.options(called, rest, false);
                if called.cases().any(|case| case.role == Role::Warn) {
                    self.unlisted(rest);
                }
            }
            Shape::Prints => {
                self.options(called, rest, false);
                self.reading.prints = true;
            }
            Shape::Loose => {
                self.options(called, rest, true);
                // `find . -exec sh -c "…" \;`
                self.unlisted(rest);
            }
            Shape::Declares => self.declares(called, rest),
            Shape::Shell => self.shell(called, rest),
            Shape::Remote => self.remote(called, rest),
            Shape::Wraps(operands) => self.wraps(called, rest, operands),
        }
    }

    /// Takes the word at `at` of `rest`, and perhaps the one after it.
    fn take(&self, called: Called, rest: &[usize], at: &mut usize) -> Taken<'w> {
        let index = rest[*at];
        *at += 1;
        let words: &'w [Word<'_>] = self.words;
        let word = &words[index];
        if !word.is_option() {
            // `-@var.x`: nothing is known of it but the dash.
            let is_chosen = word.text.as_ref() == b"-" && !word.whole && word.has_references;
            return if is_chosen { Taken::Chosen(index) } else { Taken::Operand(index) };
        }
        let text = word.text.as_ref();
        let next = |at: &mut usize| {
            let next = rest.get(*at).copied();
            *at += 1;
            next.unwrap_or(index)
        };
        if text.starts_with(b"--") || called.option(text).is_some() {
            let equals = text.iter().position(|byte| *byte == b'=');
            let name = &text[..equals.unwrap_or(text.len())];
            let is_long = |known: &&str| known.as_bytes() == name;
            let valued = called.program.long.iter().any(is_long) || called.option(name).is_some();
            return match equals {
                Some(_) => Taken::Valued(name, index),
                None if valued && word.whole => Taken::Valued(name, next(at)),
                None => Taken::Flags(index),
            };
        }
        for (place, letter) in text.iter().enumerate().skip(1) {
            let name = &text[place..=place];
            let is_valued = called.program.valued.as_bytes().contains(letter);
            if is_valued || (called.option(name).is_some() && called.program.shape != Shape::Shell)
            {
                let attached = place + 1 < text.len() || !word.whole;
                return Taken::Valued(name, if attached { index } else { next(at) });
            }
        }
        if word.has_references { Taken::Chosen(index) } else { Taken::Flags(index) }
    }

    fn valued(&mut self, called: Called, name: &[u8], index: usize) {
        if let Some(case) = called.option(name) {
            self.mark(index, case);
        }
    }

    fn options(&mut self, called: Called, rest: &[usize], is_loose: bool) {
        let (mut at, mut operands, mut is_over) = (0, 0u8, false);
        while at < rest.len() {
            let index = rest[at];
            if at > 0 {
                self.after(called, rest[at - 1], index);
            }
            let is_end = self.words[index].whole && self.words[index].text.as_ref() == b"--";
            if is_end && !is_over {
                is_over = !is_loose;
                at += 1;
                continue;
            }
            let is_operand = is_over && !self.is_long_case(called, index);
            let taken = if is_operand {
                at += 1;
                Taken::Operand(index)
            } else {
                self.take(called, rest, &mut at)
            };
            match taken {
                Taken::Valued(name, value) => self.valued(called, name, value),
                Taken::Flags(_) | Taken::Chosen(_) => {}
                Taken::Operand(index) => {
                    // GNU parallel quotes what follows `:::`.
                    if called.name == "parallel" && self.words[index].text.starts_with(b":::") {
                        return;
                    }
                    self.operand(called, operands, index);
                    operands = operands.saturating_add(1);
                    is_over |= !is_loose;
                }
            }
        }
        self.reading.input = called.case(At::Input);
    }

    /// `git clone --upload-pack=…`: a long option means the same wherever it is.
    fn is_long_case(&self, called: Called, index: usize) -> bool {
        let text = self.words[index].text.as_ref();
        let name = text.split(|byte| *byte == b'=').next().unwrap_or_default();
        text.starts_with(b"--") && called.option(name).is_some()
    }

    fn after(&mut self, called: Called, before: usize, index: usize) {
        let before = &self.words[before];
        let is_after = |case: &&'static Case| match case.at {
            At::After(word) => {
                !before.whole && case.role == Role::Name && before.text.is_empty()
                    || before.whole && before.text.as_ref() == word.as_bytes()
            }
            _ => false,
        };
        if let Some(case) = called.cases().find(is_after) {
            self.mark(index, case);
        }
    }

    fn operand(&mut self, called: Called, number: u8, index: usize) {
        for case in called.cases() {
            let here = match case.at {
                At::From(first) => number >= first,
                At::Operand(only) => number == only,
                _ => false,
            };
            if here && is_run_as_file(case) {
                self.reading.marks.push((index, Mark::Process(case)));
            } else if here {
                self.mark(index, case);
            }
        }
    }

    fn wraps(&mut self, called: Called, rest: &[usize], operands: u8) {
        let (mut at, mut left) = (0, operands);
        while at < rest.len() {
            let start = at;
            let word = &self.words[rest[at]];
            let sets = matches!(called.name, "env" | "sudo" | "doas");
            if sets && word.text.contains(&b'=') && !word.is_option() {
                self.assignment(rest[at]);
                at += 1;
                continue;
            }
            if word.text.as_ref() == b"--" && word.whole {
                at += 1;
                continue;
            }
            match self.take(called, rest, &mut at) {
                Taken::Valued(name, index) => self.valued(called, name, index),
                Taken::Flags(_) => {}
                Taken::Chosen(index) => {
                    if let Some(case) = called.cases().find(|case| case.role == Role::Code) {
                        self.mark(index, case);
                    }
                }
                Taken::Operand(_) if left > 0 => left -= 1,
                Taken::Operand(_) => {
                    let input = self.reading.input;
                    self.command(&rest[start..]);
                    // What xargs reads becomes words of the command.
                    if called.name == "xargs" && self.runs_text(&rest[start..]) {
                        self.reading.input = Some(Case::PRINTED);
                    }
                    self.reading.input = self.reading.input.or(input);
                    return;
                }
            }
        }
    }

    fn runs_text(&self, rest: &[usize]) -> bool {
        let name = rest.first().and_then(|index| self.words[*index].name());
        name.is_some_and(|name| find(name).is_some_and(|it| it.program.shape == Shape::Shell))
    }
}

/// A file that is run: only what `<( … )` gives is text of this step.
fn is_run_as_file(case: &Case) -> bool {
    case.at == At::Operand(0) && case.role == Role::Code && case.example.contains("<(")
}
