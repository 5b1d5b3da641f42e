//! What the commands of a step do with the values in it.
//!
//! Every command is matched with the table, as the lexer does it. A variable that a value is given to
//! counts as the value, wherever the step uses it, and so does what a command prints. The order of the
//! commands does not count: they may be in a loop or in a function.

use std::collections::BTreeMap;
use std::ops::Range;

use super::construct::Construct;
use super::found::Found;
use super::scan::is_name_start;
use super::tree::{Command, CommandKind, List, Redirect, RedirectKind, Values, Word};
use crate::script::cases::{Case, Role};
use crate::script::names::interpreted;
use crate::script::programs::ReadBy;
use crate::script::reading::{Mark, Reading, read};
use crate::script::words::{self, Kind, Spare, dequote};

/// The name of all positional parameters.
pub(super) const POSITIONAL: &[u8] = b"@";

/// Variables are given to each other along chains; nobody has a longer one.
const MAX_PASSES: usize = 6;

#[derive(Debug)]
pub(super) struct Flow<'t> {
    src: &'t [u8],
    bodies: &'t [Word],
    /// What variables are given.
    given: BTreeMap<&'t [u8], Values>,
    attributed: Vec<Vec<u8>>,
    functions: BTreeMap<&'t [u8], Function>,
    /// What `exec` gives to all commands after it.
    standing: Values,
    has_changed: bool,
    pub(super) found: Found,
}

#[derive(Clone, Copy, Debug, Default)]
struct Function {
    input: Values,
    printed: Values,
}

/// Judges all commands; none where it takes too many passes.
pub(super) fn judge<'t>(src: &'t [u8], bodies: &'t [Word], list: &'t List) -> Option<Found> {
    let mut flow = Flow {
        src,
        bodies,
        given: BTreeMap::new(),
        attributed: Vec::new(),
        functions: BTreeMap::new(),
        standing: Values::NONE,
        has_changed: false,
        found: Found::new(),
    };
    for _ in 0..MAX_PASSES {
        flow.has_changed = false;
        flow.found = Found::new();
        flow.attributed.clear();
        flow.list(list, Values::NONE);
        if !flow.has_changed {
            flow.names();
            flow.found.leaks =
                !flow.given.is_empty() || !flow.functions.is_empty() || !flow.standing.is_empty();
            return Some(flow.found);
        }
    }
    None
}

impl<'t> Flow<'t> {
    pub(super) fn text(&self, at: &Range<usize>) -> &'t [u8] {
        &self.src[at.clone()]
    }

    fn mark(&mut self, values: Values, case: &'static Case) {
        self.found.mark(values, case);
    }

    pub(super) fn give(&mut self, name: &'t [u8], values: Values) {
        if values.is_empty() {
            return;
        }
        let held = self.given.entry(name).or_default();
        let all = held.and(values);
        self.has_changed |= all != *held;
        *held = all;
    }

    /// What a variable holds.
    fn held(&self, name: &[u8]) -> Values {
        let is_positional = name.first().is_some_and(|byte| !is_name_start(*byte));
        let name = if is_positional { POSITIONAL } else { name };
        let of = |name: &[u8]| self.given.get(name).copied().unwrap_or_default();
        of(name).and(of(b"*"))
    }

    /// Names that the shell interprets, and attributes.
    fn names(&mut self) {
        let given: Vec<(&[u8], Values)> =
            self.given.iter().map(|(name, held)| (*name, *held)).collect();
        for (name, held) in given {
            let text = std::str::from_utf8(name).unwrap_or_default();
            if name == b"*" || interpreted(text).is_some() {
                self.mark(held, Case::INTERPRETED);
            }
            let is_it = |it: &Vec<u8>| it == b"*" || it.as_slice() == name;
            if self.attributed.iter().any(is_it) {
                self.mark(held, Case::INTEGER);
            }
        }
    }

    /// Gives what the commands may print.
    fn list(&mut self, list: &'t List, input: Values) -> Values {
        let mut printed = Values::NONE;
        for pipeline in &list.0 {
            let mut passed = input;
            for command in &pipeline.0 {
                passed = self.command(command, passed);
            }
            printed.add(passed);
        }
        printed
    }

    fn command(&mut self, command: &'t Command, input: Values) -> Values {
        let input = input.and(self.standing);
        let (own, is_fed) = self.redirected(&command.redirects, input);
        let input = if is_fed { own } else { input.and(own) };
        match &command.kind {
            CommandKind::Simple(words) => self.simple(words, &command.redirects, input),
            CommandKind::Group { lists, words } => {
                for word in words {
                    self.word(word, input);
                }
                let printed = lists.iter().map(|list| self.list(list, input));
                printed.fold(input, Values::and)
            }
            CommandKind::For { name, words, body } => {
                let held = words.iter().map(|word| self.word(word, input).all);
                let mut held = held.fold(Values::NONE, Values::and);
                if words.is_empty() {
                    held.add(self.held(POSITIONAL));
                }
                let name = self.text(name);
                self.give(name, held);
                input.and(self.list(body, input))
            }
            CommandKind::Function { name, body } => {
                let name = self.text(name);
                // bash calls it with the words of a command that it does not find.
                if name == b"command_not_found_handle" {
                    self.found.setting = Some(Construct::Setting);
                }
                self.has_changed |= !self.functions.contains_key(name);
                let before = *self.functions.entry(name).or_default();
                let printed = before.printed.and(self.command(body, before.input));
                self.has_changed |= printed != before.printed;
                self.functions.entry(name).or_default().printed.add(printed);
                Values::NONE
            }
            CommandKind::Test(words) => {
                self.test(words, input);
                Values::NONE
            }
            CommandKind::Sum(word) => {
                self.word(word, input);
                Values::NONE
            }
        }
    }

    /// The values that redirections feed, and whether the input before them is gone.
    fn redirected(&mut self, redirects: &'t [Redirect], input: Values) -> (Values, bool) {
        let (mut own, mut is_fed) = (Values::NONE, false);
        for redirect in redirects {
            let held = match redirect.kind {
                RedirectKind::Heredoc(number) => {
                    let bodies = self.bodies;
                    bodies.get(number).map(|body| self.word(body, input)).unwrap_or_default()
                }
                _ => self.word(&redirect.word, input),
            };
            match redirect.kind {
                RedirectKind::Copy => self.mark(held.all, Case::DUPLICATED),
                RedirectKind::Heredoc(_) | RedirectKind::String => own.add(held.all),
                RedirectKind::In => own.add(held.processed),
                RedirectKind::Out => {}
            }
            let is_input = !matches!(redirect.kind, RedirectKind::Out | RedirectKind::Copy);
            let descriptor = redirect.descriptor.as_ref().map(|at| self.text(at));
            is_fed |= is_input && matches!(descriptor, None | Some(b"0"));
        }
        (own, is_fed)
    }

    /// What a word holds, once the commands in it are judged.
    fn word(&mut self, word: &'t Word, input: Values) -> Held {
        let mut held = Held { all: word.values, ..Held::default() };
        for variable in &word.variables {
            let values = self.held(self.text(&variable.name));
            held.all.add(values);
            if !values.is_empty() && held.first.is_none() {
                held.first = Some(variable.at.clone());
            }
        }
        for (list, case) in &word.commands {
            let printed = self.list(list, input);
            held.all.add(printed);
            held.printed.add(printed);
            if let Some(case) = case {
                self.mark(printed, case);
            }
        }
        for list in &word.processes {
            let printed = self.list(list, input);
            held.all.add(printed);
            held.processed.add(printed);
        }
        for sum in &word.sums {
            let names = self.names_in(sum.at.clone());
            self.mark(sum.values.and(names), sum.case);
        }
        for name in &word.given {
            let name = self.text(name);
            self.give(name, held.all);
        }
        held
    }

    /// What the variables in a text that is computed hold.
    fn names_in(&self, at: Range<usize>) -> Values {
        if self.given.is_empty() {
            return Values::NONE;
        }
        let is_name =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'@' | b'*');
        let text = self.text(&at);
        let names = text.split(|byte| !is_name(byte)).filter(|name| !name.is_empty());
        names.map(|name| self.held(name)).fold(Values::NONE, Values::and)
    }

    fn test(&mut self, words: &'t [Word], input: Values) {
        const NUMBERS: [&[u8]; 6] = [b"-eq", b"-ne", b"-lt", b"-le", b"-gt", b"-ge"];
        let src = self.src;
        let text = |index: usize| words.get(index).map(|word| &src[word.at.clone()]);
        for (index, word) in words.iter().enumerate() {
            let held = self.word(word, input).all;
            let before = index.checked_sub(1).and_then(text);
            if matches!(before, Some(b"-v" | b"-R")) {
                self.mark(held, Case::TEST_NAME);
            }
            let is_number = |text: Option<&[u8]>| text.is_some_and(|text| NUMBERS.contains(&text));
            if is_number(before) || is_number(text(index + 1)) {
                self.mark(held, Case::TEST_SUM);
            }
        }
    }

    fn simple(&mut self, all: &'t [Word], redirects: &'t [Redirect], input: Values) -> Values {
        let src = self.src;
        let held: Vec<Held> = all.iter().map(|word| self.word(word, input)).collect();
        let name = all.iter().position(|word| word.assigned.is_none());
        let mut spare = Spare::default();
        let mut words: Vec<words::Word<'_>> = Vec::with_capacity(all.len() + redirects.len());
        for (word, held) in all.iter().zip(&held) {
            let kind = if word.assigned.is_some() { Kind::Assignment } else { Kind::Plain };
            words.push(self.dequoted(word, held, kind, &mut spare));
        }
        // What it reads decides whether a word that only the shell knows matters.
        if !input.is_empty() {
            let input = words::Word { kind: Kind::Input, ..words::Word::unknown() };
            words.push(input);
        }
        let mut reading = Reading::default();
        read(&words, &mut reading);
        self.marked(&reading, all, &held);
        self.attributed.extend(reading.attributed.iter().cloned());
        self.assign(all, &held);
        let own = held.iter().fold(Values::NONE, |all, held| all.and(held.all));
        if let Some(case) = reading.input.filter(|case| case.role != Role::Warn) {
            let is_own = redirects
                .iter()
                .any(|it| matches!(it.kind, RedirectKind::Heredoc(_) | RedirectKind::String));
            self.mark(input, if is_own { case } else { Case::PRINTED });
        }
        let name = name.map(|name| &src[all[name].at.clone()]).unwrap_or_default();
        if name == b"exec" && all.len() == 1 {
            self.has_changed |= self.standing.and(input) != self.standing;
            self.standing.add(input);
        }
        if reading.stores {
            self.stored(name, all, &held, input);
        }
        self.settings(name, all, own.and(input));
        let mut printed = input;
        if reading.prints {
            printed.add(own);
        }
        if let Some(function) = self.functions.get(name).copied() {
            self.give(POSITIONAL, own);
            let all = function.input.and(input);
            self.has_changed |= all != function.input;
            self.functions.insert(name, Function { input: all, ..function });
            printed.add(function.printed.and(own));
        }
        printed
    }

    fn dequoted(&self, word: &Word, held: &Held, kind: Kind, spare: &mut Spare) -> words::Word<'t> {
        let src: &'t [u8] = self.src;
        let raw = &src[word.at.clone()];
        let start = word.at.start;
        let value =
            raw.iter().position(|byte| *byte == super::construct::VALUE).map(|at| at..at + 1);
        let variable = held.first.as_ref().map(|at| at.start - start..at.end - start);
        let first = match (value, variable) {
            (Some(value), Some(variable)) if variable.start < value.start => Some(variable),
            (value, variable) => value.or(variable),
        };
        // A value in a command inside of the word counts where it is printed.
        let first = first.filter(|_| !held.all.is_empty()).or_else(|| {
            let is_inner = !held.all.is_empty();
            is_inner
                .then(|| raw.iter().position(|byte| *byte == b'$' || *byte == b'`'))
                .flatten()
                .map(|at| at..at + 1)
        });
        dequote(raw, first, kind, spare)
    }

    fn marked(&mut self, reading: &Reading, all: &[Word], held: &[Held]) {
        for (index, mark) in &reading.marks {
            let (Some(word), Some(held)) = (all.get(*index), held.get(*index)) else { continue };
            // What is in a variable or printed is not known by a place of its own.
            let inner = held.all.without(word.values);
            match mark {
                Mark::Case(case) => {
                    self.mark(word.values, case);
                    let inner_case = if held.printed.is_empty() { case } else { Case::PRINTED };
                    self.mark(inner, if case.role == Role::Sum { case } else { inner_case });
                }
                Mark::Process(case) => self.mark(held.processed, case),
                Mark::Program => {
                    self.found.programs.add(word.values);
                    self.mark(inner, Case::UNKNOWN);
                }
                Mark::Declared => self.found.declared.add(word.values),
                Mark::ReadBy(reader) => {
                    self.found.read.add(word.values);
                    if word.begins_with_two && *reader != ReadBy::UNLISTED {
                        self.mark(word.values, Case::JOINED);
                    }
                }
                Mark::Single => {}
            }
        }
    }

    fn assign(&mut self, all: &'t [Word], held: &[Held]) {
        for (word, held) in all.iter().zip(held) {
            if let Some(name) = &word.assigned {
                let name = self.text(name);
                self.give(name, held.all);
            }
        }
    }
}

/// The values that a word stands for.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    pub(super) all: Values,
    /// Those that a command in it prints.
    printed: Values,
    /// Those that `<( … )` prints.
    processed: Values,
    /// The first variable that holds some.
    first: Option<Range<usize>>,
}
