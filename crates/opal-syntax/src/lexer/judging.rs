//! What a whole command makes of the references in its words.
//!
//! A command is known only at its end: `test @var.x -eq 1` and `<<< @var.x bash` name what they do
//! after the reference. So the words are kept while they are read, and the places of the references
//! are set when the command ends. The table of what programs do with their words is in
//! `opal_core::script`.

mod kept;
mod matching;
mod repeats;

use std::ops::Range;

use opal_core::script::{Case, Kind, Mark, Reading, Role, Spare, Word, interpreted};

use super::Lexer;
use super::frames::FrameKind;
use crate::context::Place;
use kept::{Kept, Spot};
use repeats::{Asked, Repeats};

/// What is given to a variable: its name, and the references.
#[derive(Debug)]
pub(super) struct Given {
    /// None: any variable.
    name: Option<(u32, u32)>,
    references: (u32, u32),
}

/// What the commands of a step leave for its end.
#[derive(Debug, Default)]
pub(super) struct Judged<'s> {
    pub(super) words: Vec<Kept>,
    pub(super) spots: Vec<Spot>,
    commands: u32,
    given: Vec<Given>,
    attributed: Vec<Vec<u8>>,
    /// Bodies of heredocs that were read before their command ended.
    bodies: Vec<(u32, (u32, u32))>,
    /// The references of the last word that was refused as a whole.
    last: (u32, u32),
    /// The command being judged: kept for their memory.
    dequoted: Vec<Word<'s>>,
    spare: Spare,
    reading: Reading,
    repeats: Repeats,
}

impl Judged<'_> {
    /// Forgets a step. A text that is one command as a whole keeps the attributes of its variables.
    pub(super) fn clear(&mut self, is_whole: bool) {
        self.words.clear();
        self.spots.clear();
        self.commands = 0;
        self.given.clear();
        if !is_whole {
            self.attributed.clear();
        }
        self.bodies.clear();
        self.last = (0, 0);
    }
}

/// Of two commands that read the same, the one that refuses.
pub(super) fn stricter(
    one: Option<&'static Case>,
    other: Option<&'static Case>,
) -> Option<&'static Case> {
    let refuses = |case: &&'static Case| case.role != Role::Warn;
    one.filter(refuses).or(other.filter(refuses)).or(one).or(other)
}

impl<'s> Lexer<'s> {
    /// Begins a command in the frame on top: with the words and references that are to come.
    pub(super) fn begin_command(&mut self) {
        self.judged.commands += 1;
        let (id, first) = (self.judged.commands, self.judged.words.len() as u32);
        let references = self.contexts.len() as u32;
        let command = &mut self.top().command;
        command.id = id;
        command.first = first;
        command.references = references;
    }

    /// Keeps the word from `start` to the position.
    #[inline]
    pub(super) fn keep_word(&mut self, start: usize, kind: Kind) {
        let end = self.pos as u32;
        let to = self.contexts.len() as u32;
        let from = self.top().command.word_references;
        self.judged.words.push(Kept { start: start as u32, end, references: (from, to), kind });
    }

    /// Notes where the reference that was just read is.
    pub(super) fn note_spot(&mut self, at: usize) {
        let mut owner = self.frames.last().map_or(0, |top| top.commands);
        // A list holds words of the command around it.
        while owner > 0 && self.frames[owner as usize].kind == FrameKind::List {
            owner = self.frames[owner as usize - 1].commands;
        }
        let end = self.pos as u32;
        self.judged.spots.push(Spot { at: at as u32, end, owner, is_printed: false });
    }

    /// Ends the command of the frame on top; `piped` where the next one reads what it writes.
    pub(super) fn finish_command(&mut self, piped: bool) {
        let references = self.contexts.len() as u32;
        let heredocs = self.heredocs.len() as u32;
        let src = self.src;
        let frame = self.top();
        let (kind, command, open) = (frame.kind, frame.command, frame.open);
        let is_output = kind == FrameKind::Substitution && src.get(open as usize) == Some(&b'>');
        let is_compound = !matches!(kind, FrameKind::Step | FrameKind::Substitution) || is_output;
        let has_references = references > command.references;
        let reads_pipe =
            frame.is_piped && (references > frame.pipeline.0 || heredocs > frame.pipeline.1);
        let is_head = std::mem::take(&mut frame.is_head);
        let has_words = self.judged.words.len() as u32 > command.first;
        if kind == FrameKind::List || command.patterns || kind == FrameKind::Case && is_head {
            // No command.
        } else if is_head {
            self.judge_head(command.first);
        } else if command.inner.is_some()
            || has_words
                && (has_references
                    || reads_pipe
                    || is_compound
                    || command.is_judged
                    || heredocs > 0)
        {
            self.judge_command();
        }
        self.judged.words.truncate(command.first as usize);
        let frame = self.top();
        frame.is_piped = piped;
        if !piped {
            frame.pipeline = (references, heredocs);
        }
    }

    /// `for NAME in …`: what the variable is given.
    fn judge_head(&mut self, first: u32) {
        let words = &self.judged.words[first as usize..];
        let (Some(name), Some(last)) = (words.first().copied(), words.last().copied()) else {
            return;
        };
        let references = (name.references.1, last.references.1);
        let text = &self.text[name.start as usize..name.end as usize];
        if interpreted(text).is_some() {
            let owner = self.frames.len() as u32 - 1;
            self.set(references, owner, Case::INTERPRETED);
        }
        self.judged.given.push(Given { name: Some((name.start, name.end)), references });
    }

    /// `coproc NAME {`: the name is that of a variable.
    pub(super) fn judge_coprocess(&mut self) {
        let first = self.top().command.first as usize;
        let owner = self.frames.len() as u32 - 1;
        if let Some(references) = self.judged.words.get(first).map(|word| word.references) {
            self.set(references, owner, Case::TEST_NAME);
        }
    }

    fn judge_command(&mut self) {
        let command = self.top().command;
        let owner = self.frames.len() as u32 - 1;
        // Taken for as long as the places are set, which needs neither; their memory stays.
        let all = std::mem::take(&mut self.judged.words);
        let mut reading = std::mem::take(&mut self.judged.reading);
        let kept = &all[command.first as usize..];
        let asked = Asked::new(self.src, kept, &self.judged.spots);
        let is_known =
            asked.as_ref().is_some_and(|asked| self.judged.repeats.recall(asked, &mut reading));
        if !is_known {
            self.matched(kept, &mut reading);
            if let Some(asked) = &asked {
                self.judged.repeats.keep(asked, &reading);
            }
        }
        for (index, mark) in &reading.marks {
            let word = &kept[*index];
            match mark {
                Mark::Case(case) => self.set(word.references, owner, case),
                Mark::Process(case) => {
                    let is_code = case.refuses();
                    self.each(word.references, |context, spot| {
                        let is_run = is_code || spot.is_printed;
                        if is_run { context.case(case) } else { context }
                    });
                }
                Mark::Program => self.each(word.references, |context, _| context.program(true)),
                Mark::ReadBy(reader) => self.each(word.references, |context, spot| {
                    if spot.owner == owner { context.read_by(*reader) } else { context }
                }),
                Mark::Single => self.each(word.references, |context, _| context.single()),
                Mark::Declared => self
                    .each(word.references, |context, spot| context.declared(spot.owner == owner)),
            }
        }
        self.judged.attributed.extend(reading.attributed.iter().cloned());
        self.note_given(kept, &reading);
        self.judge_input(kept, &reading);
        (self.judged.words, self.judged.reading) = (all, reading);
    }

    /// Keeps what variables are given, for the attributes that the step gives them.
    fn note_given(&mut self, kept: &[Kept], reading: &Reading) {
        for word in kept.iter().filter(|word| word.references.1 > word.references.0) {
            let raw = &self.src[word.start as usize..word.end as usize];
            let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
            let name = match word.kind {
                Kind::Assignment => {
                    let length = raw.iter().take_while(is_name).count();
                    // `n\` at the end of a line is a part of a name.
                    (raw.get(length) != Some(&b'\\'))
                        .then_some((word.start, word.start + length as u32))
                }
                _ if reading.stores => None,
                _ => continue,
            };
            self.judged.given.push(Given { name, references: word.references });
        }
    }

    /// Sets what the command reads: here-strings, heredocs, and what is piped to it.
    fn judge_input(&mut self, kept: &[Kept], reading: &Reading) {
        let command = self.top().command;
        let owner = self.frames.len() as u32 - 1;
        let input = stricter(reading.input, command.inner);
        for word in kept {
            let prints = word.kind == Kind::Input || (reading.prints && word.kind == Kind::Plain);
            for index in word.references.0..word.references.1 {
                let spot = &mut self.judged.spots[index as usize];
                spot.is_printed |= prints && spot.owner == owner;
            }
        }
        if let Some(case) = command.feeds {
            let to = self.contexts.len() as u32;
            self.each((command.references, to), |context, spot| {
                if spot.is_printed { context.case(case) } else { context }
            });
        }
        let Some(case) = input else { return };
        let printed = if case.role == Role::Warn { case } else { Case::PRINTED };
        for word in kept.iter().filter(|word| word.kind == Kind::Input) {
            self.set(word.references, owner, case);
        }
        // `bash < <( … )`
        let is_process = |it: &&Kept| self.src[it.start as usize..].starts_with(b"<(");
        let processes: Vec<Kept> = kept.iter().filter(is_process).copied().collect();
        for word in processes.iter().filter(|word| word.kind == Kind::Target) {
            self.each(word.references, |context, _| context.case(case));
        }
        for pending in self.heredocs.iter_mut().filter(|it| it.command == command.id) {
            pending.evaluated = Some(case);
        }
        let bodies = std::mem::take(&mut self.judged.bodies);
        for (id, references) in bodies {
            if id == command.id {
                self.set(references, owner, case);
            } else {
                self.judged.bodies.push((id, references));
            }
        }
        let frame = self.top();
        frame.runs_input = stricter(frame.runs_input, Some(case));
        if !frame.is_piped {
            return;
        }
        let (first, heredoc) = frame.pipeline;
        frame.pipeline = (command.references, heredoc);
        self.each((first, command.references), |context, spot| {
            if spot.is_printed { context.case(printed) } else { context }
        });
        for pending in self.heredocs.iter_mut().skip(heredoc as usize) {
            if pending.evaluated.is_none() {
                pending.evaluated = Some(printed);
            }
        }
    }

    /// The body of a heredoc was read: a command that has not ended is judged with it.
    pub(super) fn note_body(&mut self, command: u32, references: (u32, u32)) {
        for spot in &mut self.judged.spots[references.0 as usize..references.1 as usize] {
            spot.is_printed = true;
        }
        if references.1 > references.0 {
            self.judged.bodies.push((command, references));
        }
    }

    /// Sets the row of the table for the references of a word in the command of frame `owner`.
    pub(super) fn set(&mut self, references: (u32, u32), owner: u32, case: &'static Case) {
        let (from, to) = references;
        // What is inside of it was set with the command inside: nothing is gone through twice.
        let last = std::mem::replace(&mut self.judged.last, references);
        let inner = if from <= last.0 && last.1 <= to { last } else { (from, from) };
        let apply = |context: crate::context::Context, spot: &Spot| match case.role {
            _ if spot.owner != owner && !spot.is_printed => context,
            Role::Sum => context.at(Place::Arithmetic).case(case),
            _ if spot.owner != owner && case.role != Role::Warn => context.case(Case::PRINTED),
            _ if spot.owner != owner => context,
            Role::Name => context.at(Place::Subscript).case(case),
            Role::Code | Role::Warn => context.case(case),
        };
        self.each((from, inner.0), apply);
        self.each((inner.1, to), apply);
    }

    fn each(
        &mut self,
        (from, to): (u32, u32),
        apply: impl Fn(crate::context::Context, &Spot) -> crate::context::Context,
    ) {
        let range: Range<usize> = from as usize..to as usize;
        let contexts = self.contexts.get_mut(range.clone()).unwrap_or_default();
        let spots = self.judged.spots.get(range).unwrap_or_default();
        for (context, spot) in contexts.iter_mut().zip(spots) {
            *context = apply(*context, spot);
        }
    }

    /// What a command inside `$(( … ))` prints is computed.
    pub(super) fn compute_printed(&mut self, from: u32) {
        let to = self.contexts.len() as u32;
        self.each((from, to), |context, spot| {
            if spot.is_printed { context.at(Place::Arithmetic).case(Case::SUM) } else { context }
        });
    }

    /// The attributes that a command of several lines has given its variables.
    pub(crate) fn late_attributes(&mut self) -> Option<Vec<Vec<u8>>> {
        let attributes = std::mem::take(&mut self.judged.attributed);
        (self.whole && !attributes.is_empty()).then_some(attributes)
    }

    /// Begins with attributes that were found before.
    pub(crate) fn begin_with(&mut self, attributes: Vec<Vec<u8>>) {
        self.judged.attributed = attributes;
    }

    /// The step has ended: its variables have the attributes that it gave them.
    pub(super) fn judge_attributes(&mut self) {
        if self.judged.attributed.is_empty() {
            return;
        }
        let attributed = std::mem::take(&mut self.judged.attributed);
        for given in std::mem::take(&mut self.judged.given) {
            let name = given.name.map(|(start, end)| &self.src[start as usize..end as usize]);
            if name.is_none_or(|name| attributed.iter().any(|it| it == name || it == b"*")) {
                self.each(given.references, |context, _| match context.refused() {
                    Some(_) => context,
                    None => context.at(Place::Arithmetic).case(Case::INTEGER),
                });
            }
        }
        self.judged.attributed = attributed;
    }
}
