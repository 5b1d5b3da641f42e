//! The options and operands of a program, matched with its rows of the table.

use super::super::cases::{At, Case, Kinds, Role};
use super::super::programs::{Called, Shape};
use super::super::words::Word;
use super::before::{Before, Reads};
use super::settings::{is_run, may_run};
use super::shells::is_input;
use super::source::{Source, TEXTS};
use super::{Mark, Reader};

/// An option, and what it is given.
pub(super) enum Taken<'w> {
    /// Not an option.
    Operand(usize),
    /// The letter or the long name, and the word that holds its value.
    Valued(&'w [u8], usize),
    /// Letters without a value.
    Flags(usize),
    /// A value may choose the option.
    Chosen(usize),
}

/// Options of jq that take a name and a value.
const TAKE_TWO: [&[u8]; 4] = [b"--arg", b"--argjson", b"--slurpfile", b"--rawfile"];

impl<'w> Reader<'w, '_> {
    /// Takes the word at `at` of `rest`, and perhaps the one after it.
    pub(super) fn take(&self, called: Called, rest: &[usize], at: &mut usize) -> Taken<'w> {
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
        let equals = text.iter().position(|byte| *byte == b'=');
        let name = &text[..equals.unwrap_or(text.len())];
        let takes_word = called.takes_word(name);
        let valued = takes_word || called.option(name).is_some();
        if text.starts_with(b"--") || valued {
            if takes_word && TAKE_TWO.contains(&name) {
                next(at);
            }
            return match equals {
                Some(_) => Taken::Valued(name, index),
                None if valued && word.whole => Taken::Valued(name, next(at)),
                None if word.has_references && !word.whole => Taken::Chosen(index),
                None => Taken::Flags(index),
            };
        }
        for (place, letter) in text.iter().enumerate().skip(1) {
            let name = &text[place..=place];
            if called.program.attached.as_bytes().contains(letter) {
                return Taken::Flags(index);
            }
            let is_valued = called.program.valued.as_bytes().contains(letter);
            if is_valued || (called.option(name).is_some() && called.program.shape != Shape::Shell)
            {
                let attached = place + 1 < text.len() || !word.whole;
                return Taken::Valued(name, if attached { index } else { next(at) });
            }
        }
        if word.has_references && !word.whole { Taken::Chosen(index) } else { Taken::Flags(index) }
    }

    pub(super) fn valued(&mut self, called: Called, name: &[u8], index: usize) {
        if self.words[index].is_reference {
            self.reading.marks.push((index, Mark::Single));
        }
        if let Some(case) = called.option(name)
            && may_run(called, name, &self.words[index].text)
        {
            self.mark(index, case);
        }
    }

    /// `su -@var.x "@var.y"`, `env --@var.x`: the value chooses the option, so it is as strict as
    /// the strictest that it could choose.
    pub(super) fn chosen(&mut self, called: Called, index: usize) {
        let text = self.words[index].text.as_ref();
        let is_long = text.starts_with(b"--");
        let can_be = |case: &&'static Case| match case.at {
            At::Option(names) => names.iter().any(|name| match name.starts_with('-') {
                true => name.as_bytes().starts_with(text),
                false => !is_long,
            }),
            _ => false,
        };
        let options = || called.rows(Kinds::OPTION).filter(can_be);
        if let Some(case) =
            options().find(|case| case.role != Role::Warn).or_else(|| options().next())
        {
            self.mark(index, case);
        }
    }

    pub(super) fn options(&mut self, called: Called, rest: &[usize], is_loose: bool) {
        let (mut at, mut operands, mut is_over) = (0, 0u8, false);
        // A list before it may be empty, so that this is the first operand.
        let mut is_exposed = true;
        let (mut source, mut before) = (Source::default(), Before::default());
        let is_read_everywhere = called.is_read_everywhere();
        while at < rest.len() {
            let index = rest[at];
            if is_exposed || is_read_everywhere {
                self.expose(index, called.reader);
            }
            self.after(called, &before, index);
            self.of(called, &rest[..at], index);
            self.pass(called, &mut before, index);
            let is_end = self.is_word(index, b"--");
            if is_end && !is_over {
                is_over = !is_loose;
                is_exposed &= is_loose;
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
                Taken::Valued(name, value) => {
                    if TEXTS.contains(&name) && operands == 0 {
                        operands = 1;
                    }
                    self.valued(called, name, value);
                    self.note_source(called, &mut source, name, value);
                    // The words of another machine's command are its own.
                    if let Some(case) = before.past.filter(|_| before.is_within) {
                        self.mark(value, case);
                    }
                    before.word = Some(value);
                }
                Taken::Chosen(index) => self.chosen(called, index),
                Taken::Flags(index) => self.note_elsewhere(called, &mut before, index),
                Taken::Operand(index) if called.passes_over(&self.words[index]) => {}
                Taken::Operand(index) => {
                    // GNU parallel quotes what follows `:::`.
                    if called.name == "parallel" && self.words[index].text.starts_with(b":::") {
                        // Without a command they are the commands.
                        if let Some(case) = called.case(At::From(0)).filter(|_| operands == 0) {
                            rest[at..].iter().for_each(|index| self.mark(*index, case));
                        }
                        return;
                    }
                    self.operand(called, operands, index);
                    if operands == 0 && called.case(At::From(0)).is_some_and(Case::refuses) {
                        source.of_text = self.read_by_text(index);
                    }
                    if let Some(case) = before.elsewhere.filter(|_| self.is_elsewhere(index)) {
                        self.mark(index, case);
                    }
                    source.is_input |= operands == 0 && is_input(&self.words[index]);
                    operands = operands.saturating_add(1);
                    is_over |= !is_loose;
                    is_exposed &= is_loose || self.words[index].is_reference;
                }
            }
        }
        self.reading.input = source.input(called, operands, before.is_within, before.machine());
    }

    fn note_elsewhere(&self, called: Called, before: &mut Before, option: usize) {
        if !called.has(Kinds::ELSEWHERE) {
            return;
        }
        let letters = self.words[option].text.iter();
        let found = letters.copied().find_map(|letter| called.case(At::Elsewhere(letter)));
        before.elsewhere = before.elsewhere.or(found);
    }

    /// `HOST:PATH`
    fn is_elsewhere(&self, index: usize) -> bool {
        self.words[index].text.contains(&b':')
    }

    /// Whether an option before the first operand says that no shell starts the command: `watch -x`,
    /// `wsl -e`.
    pub(super) fn starts_itself(&self, called: Called, rest: &[usize]) -> bool {
        let flag = match called.name {
            "watch" => b'x',
            "wsl" => b'e',
            _ => return false,
        };
        let mut at = 0;
        while at < rest.len() {
            let option = &self.words[rest[at]];
            match self.take(called, rest, &mut at) {
                Taken::Operand(_) => return false,
                Taken::Chosen(_) => {}
                Taken::Flags(_) | Taken::Valued(..) => {
                    let text = option.text.as_ref();
                    let is_long = text.len() > 2 && b"--exec".starts_with(text);
                    let end = text.iter().position(|it| matches!(it, b'n' | b'q' | b'd' | b'u'));
                    let letters = &text[..end.unwrap_or(text.len())];
                    if is_long || !text.starts_with(b"--") && letters.contains(&flag) {
                        return true;
                    }
                }
            }
        }
        false
    }

    fn is_word(&self, index: usize, text: &[u8]) -> bool {
        self.words[index].whole && self.words[index].text.as_ref() == text
    }

    /// `git clone --upload-pack=…`: a long option means the same wherever it is.
    fn is_long_case(&self, called: Called, index: usize) -> bool {
        let text = self.words[index].text.as_ref();
        let name = text.split(|byte| *byte == b'=').next().unwrap_or_default();
        text.starts_with(b"--") && called.option(name).is_some()
    }

    /// Notes a word for those after it.
    fn pass(&self, called: Called, before: &mut Before, index: usize) {
        let is_past = |case: &&'static Case| match case.at {
            // `gcloud compute ssh HOST -- COMMAND`
            At::Past("--") => {
                (before.has_ssh || called.name == "fab") && self.is_word(index, b"--")
            }
            // Options of Windows are the same in capitals, and `//c` is `/c`.
            At::Past(word) if word.starts_with('/') => {
                let text = self.words[index].text.as_ref();
                text.strip_prefix(b"/").is_some_and(|text| {
                    let text = text.strip_prefix(b"/").unwrap_or(text);
                    text.eq_ignore_ascii_case(&word.as_bytes()[1..])
                })
            }
            // `pnpm -rc exec`, `perl -lane`
            At::Past(letter) if letter.len() == 2 && letter.starts_with('-') => {
                let text = self.words[index].text.as_ref();
                let is_cluster = text.starts_with(b"-") && !text.starts_with(b"--");
                is_cluster && text.contains(&letter.as_bytes()[1])
            }
            At::Past(word) => self.is_word(index, word.as_bytes()),
            _ => false,
        };
        if called.has(Kinds::PAST.or(Kinds::AFTER)) {
            before.is_within |= before.past.is_some() && !self.words[index].is_option();
            before.past = before.past.or_else(|| called.rows(Kinds::PAST).find(is_past));
            before.has_ssh |= self.is_word(index, b"ssh");
            before.has_config |= self.is_word(index, b"config");
        }
        let last = before.word.replace(index);
        if self.words[index].is_option() {
            return;
        }
        before.operand = Some(index);
        if let Some((_, count)) = &mut before.following {
            *count = count.saturating_add(1);
        }
        if !called.has(Kinds::READS.or(Kinds::FOLLOWING)) {
            return;
        }
        // `gcloud compute ssh --zone ZONE HOST`: which long options are given a word is not known.
        let is_value = last.is_some_and(|last| {
            let text = self.words[last].text.as_ref();
            text.starts_with(b"--") && text.len() > 2 && !text.contains(&b'=')
        });
        if let Some(reads) = before.reads.as_mut().filter(|_| !is_value) {
            reads.operands = reads.operands.saturating_add(1);
        }
        let reads = called.rows(Kinds::READS).find_map(|case| match case.at {
            At::Reads(word, most) if self.is_word(index, word.as_bytes()) => {
                Some(Reads { case, most, operands: 0 })
            }
            _ => None,
        });
        before.reads = before.reads.or(reads);
        let is_following = |case: &&'static Case| match case.at {
            At::Following(word, _) => self.is_word(index, word.as_bytes()),
            _ => false,
        };
        let following = called.rows(Kinds::FOLLOWING).find(is_following).map(|case| (case, 0));
        before.following = before.following.or(following);
    }

    /// The rows for the words after another one.
    fn after(&mut self, called: Called, before: &Before, index: usize) {
        if !called.has(Kinds::AFTER.or(Kinds::PAST)) {
            return;
        }
        let is_after = |case: &&'static Case| {
            if case.at == At::Setting && before.has_config {
                return before.operand.is_some_and(|last| is_run(&self.words[last].text));
            }
            if let (At::Following(_, from), Some((following, count))) = (case.at, before.following)
            {
                return following == *case && count >= from && !self.words[index].is_option();
            }
            let At::After(word) = case.at else { return false };
            // `git submodule foreach --recursive COMMAND`
            let last = if word == "foreach" { before.operand } else { before.word };
            let Some(last) = last.map(|last| &self.words[last]) else { return false };
            // Only the shell knows `$OP` and `-$OP`; of other programs no more than a warning
            // depends on it.
            let may_be = !last.whole
                && word.as_bytes().starts_with(&last.text)
                && (case.role == Role::Name || !last.text.is_empty());
            may_be || last.whole && last.text.as_ref() == word.as_bytes()
        };
        // `heroku run --app=NAME COMMAND`
        let text = self.words[index].text.as_ref();
        let name = text.split(|byte| *byte == b'=').next().unwrap_or_default();
        let is_setting = !before.is_within && text.len() > name.len() && called.takes_word(name);
        let past = before.past.filter(|_| !is_setting);
        let case = past.or_else(|| called.rows(Kinds::AFTER).find(is_after));
        if let Some(case) = case {
            self.mark(index, case);
        }
    }

    /// `git clone -u COMMAND`, `aws ssm send-command --parameters …`: options that mean something
    /// after another word, in this word or before it.
    fn of(&mut self, called: Called, before: &[usize], index: usize) {
        let Some(&last) = before.last() else { return };
        let word = &self.words[index];
        for case in called.rows(Kinds::OF) {
            let At::Of(command, options) = case.at else { continue };
            if !before.iter().any(|it| self.is_word(*it, command.as_bytes())) {
                continue;
            }
            let is_given = |option: &&&str| {
                let option = option.as_bytes();
                let more = word.text.strip_prefix(option);
                let is_attached = more.is_some_and(|more| match option.starts_with(b"--") {
                    true => more.starts_with(b"="),
                    false => !more.is_empty() || !word.whole,
                });
                is_attached || self.is_word(last, option)
            };
            if let Some(option) = options.iter().find(is_given)
                && may_run(called, option.trim_start_matches('-').as_bytes(), &word.text)
            {
                self.mark(index, case);
            }
        }
    }

    fn operand(&mut self, called: Called, number: u8, index: usize) {
        for case in called.rows(Kinds::OPERAND) {
            let here = match case.at {
                At::From(first) => number >= first,
                At::Operand(only) => number == only,
                At::Begins(text) => self.words[index].text.starts_with(text.as_bytes()),
                _ => false,
            };
            if here && is_run_as_file(case) {
                self.reading.marks.push((index, Mark::Process(case)));
            } else if here {
                self.mark(index, case);
            }
        }
    }
}

/// A file that is run: only what `<( … )` gives is text of this step.
fn is_run_as_file(case: &Case) -> bool {
    case.at == At::Operand(0) && case.example.contains("<(")
}
