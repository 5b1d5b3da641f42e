//! What words hold.

use std::ops::Range;

use super::construct::{Construct, VALUE};
use super::flow::Flow;
use super::tree::{Command, CommandKind, Form, List, Pipeline, Values, Variable, Word};
use super::variables::{Content, NUMBERED, keys_of};
use crate::script::cases::Case;

/// The values that a word has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) content: Content,
    /// Those that a command in it prints.
    pub(super) printed: Values,
    /// Those that `<( … )` prints.
    pub(super) processed: Values,
    /// Those that an expansion without quotes gives.
    pub(super) split: Values,
    /// The first variable that holds some.
    pub(super) first: Option<Range<usize>>,
    pub(super) beginning: Beginning,
}

/// What words hold, by where they begin.
#[derive(Debug, Default)]
pub(super) struct ByPlace(Vec<(usize, Held)>);

impl ByPlace {
    pub(super) fn get(&self, at: usize) -> Option<&Held> {
        let index = self.0.binary_search_by_key(&at, |(at, _)| *at).ok()?;
        Some(&self.0[index].1)
    }

    fn insert(&mut self, at: usize, held: Held) {
        match self.0.binary_search_by_key(&at, |(at, _)| *at) {
            Ok(index) => self.0[index].1 = held,
            Err(index) => self.0.insert(index, (at, held)),
        }
    }
}

/// What a word begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Beginning {
    #[default]
    Simple,
    /// Two expansions or more, one after the other.
    Joined,
    /// Two values.
    Pair,
}

impl<'t> Flow<'t> {
    /// What a word holds, once the commands in it are judged.
    pub(super) fn word(&mut self, word: &'t Word, input: Values) -> Held {
        let mut held = Held::default();
        held.content.held = word.values;
        let leading = self.leading(word, &mut held);
        for variable in &word.variables {
            self.expanded(variable, &leading, &mut held);
        }
        self.tilde(word, &mut held);
        for inner in &word.commands {
            let printed = self.captured(&inner.list, input);
            held.content.held.add(printed);
            if !self.prints_beginning(&inner.list) {
                held.content.cut.add(printed);
            }
            held.printed.add(printed);
            if !inner.is_quoted {
                held.split.add(printed);
            }
            if leading.contains(&inner.start) || leading.end == inner.start {
                held.content.begins.add(printed);
            }
            if let Some(case) = inner.case {
                self.mark(printed, case);
            }
        }
        // Who writes to it is not known.
        for sink in &word.sinks {
            self.list(sink, Values::ALL);
        }
        for list in &word.processes {
            let printed = self.captured(list, input);
            held.content.held.add(printed);
            held.processed.add(printed);
        }
        self.sums(word);
        for element in &word.elements {
            let inner = self.word(element, input);
            held.content.add(inner.content);
            held.printed.add(inner.printed);
            held.processed.add(inner.processed);
            held.split.add(inner.split);
        }
        // What is assigned is not split.
        if word.assigned.is_some() && word.elements.is_empty() {
            held.split = Values::NONE;
        }
        if word.variables.is_empty() && word.commands.is_empty() && word.elements.is_empty() {
            let from = self.beginning(word);
            held.content.spelled.add(self.variables.named(&self.src[from..word.at.end.max(from)]));
        }
        for name in &word.given {
            let name = self.text(name);
            self.variables.give(name, Content { begins: held.content.held, ..held.content });
            let is_new = self.constants.open(name);
            self.changed(is_new);
        }
        let known = self.words.get(word.at.start);
        if !word.at.is_empty() && known.unwrap_or(&Held::default()) != &held {
            self.is_word_changed = true;
            self.words.insert(word.at.start, held.clone());
        }
        held
    }

    /// Whether a command prints no part of a value without its beginning.
    fn prints_beginning(&self, list: &List) -> bool {
        const PRINTERS: [&[u8]; 6] =
            [b"dirname", b"echo", b"printf", b"pwd", b"readlink", b"realpath"];
        let [Pipeline(commands)] = list.0.as_slice() else { return false };
        let [Command { kind: CommandKind::Simple(words), .. }] = commands.as_slice() else {
            return false;
        };
        words.first().is_some_and(|word| PRINTERS.contains(&self.text(&word.at)))
    }

    /// The expansions that a word begins with, each of which may be empty.
    fn leading(&self, word: &Word, held: &mut Held) -> Range<usize> {
        let start = self.beginning(word);
        let (mut at, mut items, mut values) = (start, 0, 0);
        while at < word.at.end {
            let variable = word.variables.iter().find(|it| it.at.start == at);
            match (self.src[at], variable) {
                (VALUE, _) => {
                    values += usize::from(values == items);
                    at += 1;
                }
                (_, Some(variable)) => at = variable.at.end,
                (b'"' | b'\'', _) => {
                    at += 1;
                    continue;
                }
                // `$\'\'`
                (b'$', None) if matches!(self.src.get(at + 1), Some(b'"' | b'\'')) => {
                    at += 1;
                    continue;
                }
                _ => break,
            }
            items += 1;
        }
        if values > 0 {
            held.content.begins.add(word.values.first());
        }
        held.beginning = match (items, values) {
            (_, 2..) => Beginning::Pair,
            (2.., _) => Beginning::Joined,
            _ => Beginning::Simple,
        };
        start..at
    }

    fn expanded(&mut self, variable: &Variable, leading: &Range<usize>, held: &mut Held) {
        let name = self.text(&variable.name);
        let mut content = match variable.form {
            Form::Indirect if self.constants.is_name(self.src, name) => {
                Content::parts(self.variables.of(name).spelled)
            }
            Form::Indirect => self.variables.every(),
            Form::Keys => self.variables.of(&keys_of(name)),
            _ => self.variables.of(self.positional_name(variable)),
        };
        if matches!(variable.form, Form::Cut | Form::Slice) {
            content = Content { spelled: content.spelled, ..Content::parts(content.held) };
        }
        if !variable.is_quoted {
            held.split.add(content.held);
            content.cut.add(content.held);
        }
        if !content.held.is_empty() && held.first.is_none() {
            held.first = Some(variable.at.clone());
        }
        if !leading.contains(&variable.at.start) {
            content.begins = Values::NONE;
        }
        held.content.add(content);
    }

    /// `$2` is one word, as long as nothing before it can have shifted it.
    pub(super) fn positional_name(&self, variable: &Variable) -> &'t [u8] {
        match (self.text(&variable.name), NUMBERED) {
            ([digit @ b'1'..=b'9'], numbered) if !self.may_be_shifted(variable.at.start) => {
                numbered[usize::from(digit - b'1')]
            }
            (name, _) => name,
        }
    }

    /// Whether a loop or `shift` is in the text before it.
    fn may_be_shifted(&self, at: usize) -> bool {
        self.first_shift.is_some_and(|first| first < at)
    }

    /// `~`, `~+` and `~-` are variables too.
    fn tilde(&self, word: &Word, held: &mut Held) {
        let text = &self.src[self.beginning(word).min(word.at.end)..word.at.end];
        let name: &[u8] = match text {
            [b'~', b'+', ..] => b"PWD",
            [b'~', b'-', ..] => b"OLDPWD",
            [b'~'] | [b'~', b'/', ..] => b"HOME",
            _ => return,
        };
        held.content.add(self.variables.of(name));
        if held.first.is_none() && !held.content.held.is_empty() {
            let at = self.beginning(word);
            held.first = Some(at..at + 1);
        }
    }

    /// What the shell computes in a word.
    fn sums(&mut self, word: &'t Word) {
        for sum in &word.sums {
            self.found.mark(sum.values, sum.case);
            let text = self.text(&sum.at);
            if sum.case == Case::PARAMETER {
                let named = self.variables.of(text);
                self.mark(named.held.without(sum.values), sum.case);
                // `n='a[i]'; ${!n}` computes the index.
                if !self.constants.is_name(self.src, text) {
                    self.mark(named.spelled.doubted(), sum.case);
                }
                continue;
            }
            let mut named = self.variables.named(text).without(sum.values);
            let is_inner =
                |it: &&Variable| it.form == Form::Indirect && sum.at.contains(&it.at.start);
            if word.variables.iter().any(|it| is_inner(&it)) {
                named.add(self.variables.every().held.doubted());
            }
            if self.constants.names_open(text) {
                self.soften_mentioned();
            }
            if named.is_empty() {
                continue;
            }
            if sum.case == Case::INDEX || sum.case == Case::KEY {
                // It is computed, unless the array has texts for keys.
                self.found.soften(named, Construct::Index);
                self.soften_named(Construct::Index);
            } else {
                self.mark(named, sum.case);
            }
        }
    }

    /// Where what a word means begins: after `NAME=` and a quote.
    fn beginning(&self, word: &Word) -> usize {
        let from = self.beginning_of_text(word);
        let text = &self.src[from..word.at.end.max(from)];
        from + text.iter().take_while(|byte| matches!(byte, b'"' | b'\'')).count()
    }

    /// The same before the quote.
    pub(super) fn beginning_of_text(&self, word: &Word) -> usize {
        let text = self.text(&word.at);
        // An element of a list: `[KEY]=…`.
        if text.first() == Some(&b'[')
            && let Some(end) = text.windows(2).position(|pair| pair == b"]=")
        {
            return word.at.start + end + 2;
        }
        let assigned = word.assigned.as_ref();
        let equals = assigned.and_then(|_| text.iter().position(|byte| *byte == b'='));
        word.at.start + equals.map_or(0, |equals| equals + 1)
    }
}
