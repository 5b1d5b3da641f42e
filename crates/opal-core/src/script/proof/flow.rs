//! What the commands of a step do with the values in it.
//!
//! Every command is matched with the table, as the lexer does it. A variable that a value is given to
//! counts as the value, wherever the step uses it, and so does what a command prints. The order of the
//! commands does not count: they may be in a loop or in a function.

use std::collections::BTreeMap;
use std::ops::Range;

use super::construct::{Construct, VALUE};
use super::found::Found;
use super::tree::{Command, CommandKind, List, Redirect, RedirectKind, Values, Word};
use super::variables::{POSITIONAL, Variables};
use crate::script::cases::Case;
use crate::script::names::interpreted;

/// Variables are given to each other along chains; nobody has a longer one.
const MAX_PASSES: usize = 8;

#[derive(Debug)]
pub(super) struct Flow<'t> {
    pub(super) src: &'t [u8],
    bodies: &'t [Word],
    pub(super) variables: Variables,
    pub(super) attributed: Vec<Vec<u8>>,
    pub(super) functions: BTreeMap<Vec<u8>, Function>,
    /// What `exec` gives to all commands after it.
    pub(super) standing: Values,
    /// Values that are words of a program which may print them.
    pub(super) doubtful: Values,
    /// `"$@"` is a command.
    pub(super) runs_positional: bool,
    /// How many commands around this one have their messages where their output goes.
    pub(super) loud: u32,
    pub(super) found: Found,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) input: Values,
    pub(super) printed: Values,
}

/// The values that a word stands for.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    pub(super) all: Values,
    /// Those that can be at its beginning.
    pub(super) begins: Values,
    /// Those that a command in it prints.
    pub(super) printed: Values,
    /// Those that `<( … )` prints.
    pub(super) processed: Values,
    /// Those that an expansion without quotes gives.
    pub(super) split: Values,
    /// The first variable that holds some.
    pub(super) first: Option<Range<usize>>,
}

/// Judges all commands; none where it takes too many passes.
pub(super) fn judge<'t>(src: &'t [u8], bodies: &'t [Word], list: &'t List) -> Option<Found> {
    let mut flow = Flow {
        src,
        bodies,
        variables: Variables::default(),
        attributed: Vec::new(),
        functions: BTreeMap::new(),
        standing: Values::NONE,
        doubtful: Values::NONE,
        runs_positional: false,
        loud: 0,
        found: Found::new(),
    };
    for _ in 0..MAX_PASSES {
        flow.variables.has_changed = false;
        flow.found = Found::new();
        flow.attributed.clear();
        flow.list(list, Values::NONE);
        if !flow.variables.has_changed {
            flow.names();
            flow.found.leaks = !flow.variables.is_empty()
                || !flow.functions.is_empty()
                || !flow.standing.is_empty();
            return Some(flow.found);
        }
    }
    None
}

impl<'t> Flow<'t> {
    pub(super) fn text(&self, at: &Range<usize>) -> &'t [u8] {
        &self.src[at.clone()]
    }

    /// Another pass is needed.
    pub(super) fn changed(&mut self, is_other: bool) {
        self.variables.has_changed |= is_other;
    }

    /// Puts values that come from a variable or from what a command prints in a row of the table.
    pub(super) fn mark(&mut self, values: Values, case: &'static Case) {
        self.found.mark(values.without(self.doubtful), case);
        if case.refuses() {
            self.found.soften(values.only(self.doubtful), Construct::Output);
        }
    }

    /// Names that the shell interprets, and attributes.
    fn names(&mut self) {
        let mut found = Vec::new();
        for (name, held, spelled) in self.variables.each() {
            let text = std::str::from_utf8(name).unwrap_or_default();
            let row = interpreted(text);
            if row.is_some() {
                found.push((held, Case::INTERPRETED));
            }
            let is_it = |it: &Vec<u8>| it == b"*" || it.as_slice() == name;
            if self.attributed.iter().any(is_it) || row.is_some() {
                found.push((held.and(spelled), Case::INTEGER));
            }
        }
        for (values, case) in found {
            self.mark(values, case);
        }
    }

    /// Gives what the commands may print.
    pub(super) fn list(&mut self, list: &'t List, input: Values) -> Values {
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
        let is_loud =
            command.is_loud || command.redirects.iter().any(|it| it.kind == RedirectKind::Copy);
        self.loud += u32::from(is_loud);
        let redirected = self.redirected(&command.redirects, input);
        let input = if redirected.is_fed { redirected.own } else { input.and(redirected.own) };
        let printed = self.kind(command, input, &redirected);
        self.loud -= u32::from(is_loud);
        for redirect in &command.redirects {
            for sink in &redirect.word.sinks {
                self.list(sink, printed);
            }
        }
        printed
    }

    fn kind(&mut self, command: &'t Command, input: Values, redirected: &Redirected) -> Values {
        match &command.kind {
            CommandKind::Simple(words) => self.simple(words, &command.redirects, input, redirected),
            CommandKind::Group { lists, words } => {
                for word in words {
                    self.word(word, input);
                }
                let printed = lists.iter().map(|list| self.list(list, input));
                printed.fold(input, Values::and)
            }
            CommandKind::For { name, words, body } => {
                let mut all = Held::default();
                let mut spelled = Values::NONE;
                for word in words {
                    let held = self.word(word, input);
                    all.all.add(held.all);
                    all.begins.add(held.begins);
                    spelled.add(self.variables.named(self.text(&word.at)));
                }
                if words.is_empty() {
                    all.all.add(self.variables.held(POSITIONAL));
                    all.begins.add(self.variables.begins(POSITIONAL));
                }
                let name = self.text(name);
                self.variables.give(name, all.all, all.begins, spelled);
                // `select` reads an answer.
                self.variables.give(b"REPLY", input, input, Values::NONE);
                input.and(self.list(body, input))
            }
            CommandKind::Function { name, body } => {
                let name = self.text(name);
                // bash calls it with the words of a command that it does not find.
                if name == b"command_not_found_handle" {
                    self.found.setting = Some(Construct::Setting);
                }
                self.changed(!self.functions.contains_key(name));
                let before = *self.functions.entry(name.to_vec()).or_default();
                let printed = before.printed.and(self.command(body, before.input));
                self.changed(printed != before.printed);
                self.functions.entry(name.to_vec()).or_default().printed.add(printed);
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

    /// The values that redirections feed.
    fn redirected(&mut self, redirects: &'t [Redirect], input: Values) -> Redirected {
        let mut found = Redirected::default();
        for redirect in redirects {
            let held = match redirect.kind {
                RedirectKind::Heredoc(number) => {
                    let bodies = self.bodies;
                    bodies.get(number).map(|body| self.word(body, input)).unwrap_or_default()
                }
                _ => self.word(&redirect.word, input),
            };
            match redirect.kind {
                RedirectKind::Copy => {
                    self.found.mark(redirect.word.values, Case::DUPLICATED);
                    self.mark(held.all.without(redirect.word.values), Case::DUPLICATED);
                }
                RedirectKind::Heredoc(_) | RedirectKind::String => found.own.add(held.all),
                RedirectKind::In => found.own.add(held.processed),
                RedirectKind::Out => {}
            }
            let is_input = !matches!(redirect.kind, RedirectKind::Out | RedirectKind::Copy);
            let descriptor = redirect.descriptor.as_ref().map(|at| self.text(at));
            let text = self.text(&redirect.word.at);
            // `< /dev/stdin` is what it was before.
            let is_same = redirect.kind == RedirectKind::In
                && (!redirect.word.is_literal
                    || text.windows(3).any(|it| it == b"fd/")
                    || text.ends_with(b"stdin"));
            found.is_fed |= is_input && !is_same && matches!(descriptor, None | Some(b"0"));
            found.is_only_input &= redirect.kind == RedirectKind::In;
            found.is_text |=
                matches!(redirect.kind, RedirectKind::Heredoc(_) | RedirectKind::String);
        }
        found
    }

    /// What a word holds, once the commands in it are judged.
    pub(super) fn word(&mut self, word: &'t Word, input: Values) -> Held {
        let mut held = Held { all: word.values, ..Held::default() };
        let start = self.beginning(word);
        if self.src.get(start) == Some(&VALUE) {
            held.begins.add(word.values.first());
        }
        for variable in &word.variables {
            let name = self.text(&variable.name);
            let mut values = self.variables.held(name);
            if variable.is_indirect {
                values.add(self.variables.spelled(name));
            }
            held.all.add(values);
            if !variable.is_quoted {
                held.split.add(values);
            }
            if variable.at.start == start {
                held.begins.add(self.variables.begins(name));
            }
            if !values.is_empty() && held.first.is_none() {
                held.first = Some(variable.at.clone());
            }
        }
        for inner in &word.commands {
            let printed = self.list(&inner.list, input);
            held.all.add(printed);
            held.printed.add(printed);
            if !inner.is_quoted {
                held.split.add(printed);
            }
            if inner.start == start {
                held.begins.add(printed);
            }
            if let Some(case) = inner.case {
                self.mark(printed, case);
            }
        }
        for list in &word.processes {
            let printed = self.list(list, input);
            held.all.add(printed);
            held.processed.add(printed);
        }
        for sum in &word.sums {
            self.found.mark(sum.values, sum.case);
            let named = self.variables.named(self.text(&sum.at)).without(sum.values);
            self.mark(named, sum.case);
        }
        for name in &word.given {
            let name = self.text(name);
            self.variables.give(name, held.all, held.all, Values::NONE);
        }
        held
    }

    /// Where what a word means begins: after `NAME=` and a quote.
    fn beginning(&self, word: &Word) -> usize {
        let text = self.text(&word.at);
        let assigned = word.assigned.as_ref();
        let equals = assigned.and_then(|_| text.iter().position(|byte| *byte == b'='));
        let from = equals.map_or(0, |equals| equals + 1);
        let quotes = text[from..].iter().take_while(|byte| matches!(byte, b'"' | b'\'')).count();
        word.at.start + from + quotes
    }

    fn test(&mut self, words: &'t [Word], input: Values) {
        const NUMBERS: [&[u8]; 6] = [b"-eq", b"-ne", b"-lt", b"-le", b"-gt", b"-ge"];
        let src = self.src;
        let text = |index: usize| {
            let text = words.get(index).map(|word| &src[word.at.clone()]);
            text.map(|text| text.strip_suffix(b"\\\n").unwrap_or(text))
        };
        let mut all = Values::NONE;
        for (index, word) in words.iter().enumerate() {
            let held = self.word(word, input);
            all.add(held.all);
            let before = index.checked_sub(1).and_then(text);
            let is_number = |text: Option<&[u8]>| text.is_some_and(|text| NUMBERS.contains(&text));
            let case = if matches!(before, Some(b"-v" | b"-R")) {
                Case::TEST_NAME
            } else if is_number(before) || is_number(text(index + 1)) {
                Case::TEST_SUM
            } else {
                continue;
            };
            self.found.mark(word.values, case);
            let named = self.variables.named(self.text(&word.at));
            self.mark(held.all.without(word.values).and(named), case);
        }
        if words.iter().any(|word| self.text(&word.at) == b"=~") {
            self.variables.give(b"BASH_REMATCH", all, all, Values::NONE);
        }
        self.test_of_dash(words, input);
    }

    /// dash, which does not know `[[`, runs what follows `&&` and `||` in it.
    fn test_of_dash(&mut self, words: &'t [Word], input: Values) {
        let src = self.src;
        let is_operator =
            |word: &Word| matches!(&src[word.at.clone()], b"&&" | b"||" | b"(" | b")");
        for segment in words.split(is_operator).skip(1) {
            if !segment.is_empty() {
                self.matched(segment, input);
            }
        }
    }
}

/// What the redirections of a command feed to it.
#[derive(Debug)]
pub(super) struct Redirected {
    own: Values,
    /// What was its input before is gone.
    is_fed: bool,
    /// Each is `< FILE`.
    pub(super) is_only_input: bool,
    /// One is a heredoc or a here-string.
    pub(super) is_text: bool,
}

impl Default for Redirected {
    fn default() -> Self {
        Self { own: Values::NONE, is_fed: false, is_only_input: true, is_text: false }
    }
}
