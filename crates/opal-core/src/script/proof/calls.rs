//! Simple commands: their words are matched with the table, and what they print and set is noted.

use super::construct::{Construct, VALUE};
use super::flow::{Flow, Function, Held, Redirected};
use super::tree::{Redirect, Values, Word};
use super::variables::POSITIONAL;
use crate::script::cases::{Case, Role};
use crate::script::programs::ReadBy;
use crate::script::reading::{Mark, Reading, read};
use crate::script::words::{self, Kind, Spare, dequote};

/// Programs that print nothing, or only what they read or fetch, and not their words.
#[rustfmt::skip]
const SILENT: &[&[u8]] = &[
    b".", b":", b"[", b"alias", b"apt-get", b"aws", b"az", b"bash", b"cargo", b"cat", b"cd",
    b"chmod", b"chown", b"cp", b"curl", b"cut", b"dash", b"declare", b"docker", b"env", b"eval",
    b"exec", b"exit", b"export", b"false", b"gcloud", b"getopts", b"gh", b"gpg", b"grep", b"head",
    b"helm", b"install", b"kill", b"kubectl", b"let", b"ln", b"local", b"make", b"mapfile",
    b"minikube", b"mkdir", b"mv", b"mysql", b"node", b"nohup", b"npm", b"openssl", b"podman",
    b"printf", b"psql", b"pushd", b"python3", b"read", b"readarray", b"readonly", b"return", b"rm",
    b"rsync", b"scp", b"set", b"sh", b"shift", b"sleep", b"sops", b"sort", b"source", b"ssh",
    b"ssh-add", b"ssh-agent", b"su", b"sudo", b"tail", b"tar", b"tee", b"terraform", b"test",
    b"timeout", b"touch", b"tr", b"trap", b"true", b"typeset", b"ulimit", b"umask", b"uniq",
    b"unset", b"vault", b"wait", b"wget", b"xargs", b"zsh",
];

impl<'t> Flow<'t> {
    pub(super) fn simple(
        &mut self,
        all: &'t [Word],
        redirects: &'t [Redirect],
        input: Values,
        redirected: &Redirected,
    ) -> Values {
        // `$(< FILE)`
        if all.is_empty() && redirected.is_only_input {
            return input;
        }
        let (held, words, reading) = self.matched(all, input);
        self.attributed.extend(reading.attributed.iter().cloned());
        self.assign(all, &held, &words);
        let own = held.iter().fold(Values::NONE, |all, held| all.and(held.all));
        if let Some(case) = reading.input.filter(|case| case.role != Role::Warn) {
            self.mark(input, if redirected.is_text { case } else { Case::PRINTED });
        }
        let Some(first) = words.iter().position(|word| word.kind == Kind::Plain) else {
            return input;
        };
        let called = called(&words[first..]);
        let rest = (first + called.passed + 1).min(all.len());
        if called.name == b"exec" && all.len() <= rest {
            self.changed(self.standing.and(input) != self.standing);
            self.standing.add(input);
            // All that is printed from now on goes there.
            for sink in redirects.iter().flat_map(|it| &it.word.sinks) {
                self.list(sink, Values::ALL);
            }
        }
        if reading.stores {
            self.stored(&called.name, &words[rest.min(words.len())..], own, input);
        }
        self.settings(&called.name, &all[rest..], &held[rest..], &words[rest.min(words.len())..]);
        if called.name == b"set" && self.runs_positional {
            let from = words[rest..].iter().position(|word| word.text.as_ref() == b"--");
            let from = from.map_or(rest, |at| rest + at + 1);
            self.matched(&all[from..], input);
        }
        self.set_by_shell(&called.name, own);
        let mut printed = input;
        if reading.prints {
            printed.add(own);
        } else if !self.functions.contains_key(&called.name)
            && (self.loud > 0 || !SILENT.contains(&called.name.as_slice()))
        {
            for word in all {
                self.doubtful.add(word.values);
            }
            printed.add(own);
        }
        if let Some(function) = self.functions.get(&called.name).copied() {
            printed.add(own.and(function.printed));
            self.called_with(&called.name, function, &all[rest..], &held[rest..], input);
        }
        self.command_word(all.get(first), held.get(first), own);
        for sink in redirects
            .iter()
            .flat_map(|it| &it.word.sinks)
            .chain(all.iter().flat_map(|it| &it.sinks))
        {
            self.list(sink, printed.and(own));
        }
        printed
    }

    /// Matches the words of a command with the table.
    pub(super) fn matched(
        &mut self,
        all: &'t [Word],
        input: Values,
    ) -> (Vec<Held>, Vec<words::Word<'t>>, Reading) {
        let held: Vec<Held> = all.iter().map(|word| self.word(word, input)).collect();
        let mut spare = Spare::default();
        let mut words: Vec<words::Word<'t>> = Vec::with_capacity(all.len() + 1);
        for (word, held) in all.iter().zip(&held) {
            let kind = if word.assigned.is_some() { Kind::Assignment } else { Kind::Plain };
            words.push(self.dequoted(word, held, kind, &mut spare));
        }
        // What it reads decides whether a word that only the shell knows matters.
        let has_input = !input.is_empty();
        if has_input {
            words.push(words::Word { kind: Kind::Input, ..words::Word::unknown() });
        }
        let mut reading = Reading::default();
        read(&words, &mut reading);
        self.marked(&reading, all, &held);
        self.spelled(all, &words);
        if has_input {
            words.pop();
        }
        (held, words, reading)
    }

    fn dequoted(&self, word: &Word, held: &Held, kind: Kind, spare: &mut Spare) -> words::Word<'t> {
        let src: &'t [u8] = self.src;
        let raw = &src[word.at.clone()];
        let start = word.at.start;
        let value = raw.iter().position(|byte| *byte == VALUE).map(|at| at..at + 1);
        let variable = held.first.as_ref().map(|at| at.start - start..at.end - start);
        let first = match (value, variable) {
            (Some(value), Some(variable)) if variable.start < value.start => Some(variable),
            (value, variable) => value.or(variable),
        };
        // A value in a command inside of the word counts where it is printed.
        let inner = || {
            let at = raw.iter().position(|byte| matches!(byte, b'$' | b'`' | b'<'))?;
            Some(at..at + 1)
        };
        let first = if held.all.is_empty() { None } else { first.or_else(inner) };
        dequote(raw, first, kind, spare)
    }

    fn marked(&mut self, reading: &Reading, all: &[Word], held: &[Held]) {
        for (index, mark) in &reading.marks {
            let (Some(word), Some(held)) = (all.get(*index), held.get(*index)) else { continue };
            // What is in a variable or printed is not known by a place of its own.
            let inner = held.all.without(word.values);
            match mark {
                Mark::Case(case) => {
                    self.found.mark(word.values, case);
                    let is_printed = !held.printed.is_empty() && case.role != Role::Sum;
                    if case.role != Role::Warn {
                        self.mark(inner, if is_printed { Case::PRINTED } else { case });
                    }
                }
                Mark::Process(case) => self.mark(held.processed, case),
                Mark::Program => {
                    self.found.programs.add(word.values);
                    self.mark(inner, Case::UNKNOWN);
                }
                Mark::Declared => self.found.declared.add(word.values),
                Mark::ReadBy(reader) => {
                    self.found.read.add(word.values);
                    if *reader == ReadBy::UNLISTED {
                        continue;
                    }
                    let begins = held.begins.without(word.values).without(self.doubtful);
                    self.found.begin(begins, *reader);
                    if reader.has_rows() {
                        self.found.soften(held.split, Construct::Split);
                    }
                    if word.begins_with_two && reader.joins() {
                        self.found.mark(word.values, Case::JOINED);
                    }
                }
                Mark::Single => {}
            }
        }
    }

    /// Names that are written where the shell computes: `let m=n`, `test -v 'a[n]'`.
    fn spelled(&mut self, all: &[Word], words: &[words::Word<'t>]) {
        if self.variables.is_empty() {
            return;
        }
        let named: Vec<Values> =
            all.iter().map(|word| self.variables.named(self.text(&word.at))).collect();
        if named.iter().all(|named| named.is_empty()) {
            return;
        }
        let mut words = words.to_vec();
        for (word, named) in words.iter_mut().zip(&named) {
            word.has_references |= !named.is_empty();
        }
        let mut reading = Reading::default();
        read(&words, &mut reading);
        for (index, mark) in &reading.marks {
            if let (Mark::Case(case), Some(named)) = (mark, named.get(*index))
                && matches!(case.role, Role::Sum | Role::Name)
            {
                // The name of a variable is not computed, only the index after it.
                let text = &words[*index].text;
                let is_index = case.role == Role::Sum || text.contains(&b'[');
                if is_index {
                    self.mark(*named, case);
                }
            }
        }
    }

    fn assign(&mut self, all: &'t [Word], held: &[Held], words: &[words::Word<'t>]) {
        for (word, held) in all.iter().zip(held) {
            if let Some(name) = &word.assigned {
                let text = &self.src[name.end..word.at.end];
                let spelled = self.variables.named(text);
                let name = match self.text(name) {
                    b"BASH_ARGV0" => POSITIONAL,
                    name => name,
                };
                self.variables.give(name, held.all, held.begins, spelled);
                if matches!(name, b"BASH_CMDS" | b"BASH_ALIASES" | b"POSIXLY_CORRECT") {
                    self.found.setting = Some(Construct::Setting);
                }
            }
        }
        // `export "NAME=…"`
        let first = words.iter().position(|word| word.kind == Kind::Plain).unwrap_or(words.len());
        let called = called(&words[first..]);
        if !is_declaring(&called.name) {
            return;
        }
        for (index, word) in words.iter().enumerate().skip(first) {
            let Some(end) = word.text.iter().position(|byte| matches!(byte, b'=' | b'[' | b'+'))
            else {
                continue;
            };
            let (Some(held), Some(written)) = (held.get(index), all.get(index)) else { continue };
            let spelled = self.variables.named(self.text(&written.at));
            let name = &word.text[..end];
            self.variables.give(name, held.all, held.all, spelled);
            // Without a parser's help the shell splits what is assigned: it may be more than one.
            if written.assigned.is_none() {
                self.found.soften(held.split, Construct::Split);
            }
            if matches!(name, b"BASH_CMDS" | b"BASH_ALIASES" | b"POSIXLY_CORRECT") {
                self.found.setting = Some(Construct::Setting);
            }
        }
    }

    /// A function of the step is called: its words are its positional parameters.
    fn called_with(
        &mut self,
        name: &[u8],
        function: Function,
        rest: &'t [Word],
        held: &[Held],
        input: Values,
    ) {
        self.positional(rest, held);
        let all = function.input.and(input);
        self.changed(all != function.input);
        self.functions.insert(name.to_vec(), Function { input: all, ..function });
        if self.runs_positional && !rest.is_empty() {
            let redirected = Redirected::default();
            let printed = self.simple(rest, &[], input, &redirected);
            let function = self.functions.entry(name.to_vec()).or_default();
            let is_other = function.printed.and(printed) != function.printed;
            function.printed.add(printed);
            self.changed(is_other);
        }
    }

    pub(super) fn positional(&mut self, rest: &'t [Word], held: &[Held]) {
        for (word, held) in rest.iter().zip(held) {
            let spelled = self.variables.named(self.text(&word.at));
            self.variables.give(POSITIONAL, held.all, held.begins, spelled);
        }
    }

    /// The word that names the command, where a variable holds it.
    fn command_word(&mut self, word: Option<&'t Word>, held: Option<&Held>, own: Values) {
        let (Some(word), Some(held)) = (word, held) else { return };
        // `$flag`: its words are a command.
        self.found.soften(held.split, Construct::Split);
        for variable in &word.variables {
            let text = self.text(&variable.at);
            if matches!(self.text(&variable.name), b"@" | b"*") {
                self.changed(!self.runs_positional);
                self.runs_positional = true;
            } else if text.contains(&b'[') {
                // `"${command[@]}"`
                let values = self.variables.held(self.text(&variable.name));
                self.mark(values, Case::UNKNOWN);
                if !values.is_empty() {
                    self.mark(own.without(word.values), Case::UNKNOWN);
                }
            }
        }
    }
}

/// The command that is called, once those that only call another are passed.
pub(super) struct Called {
    pub(super) name: Vec<u8>,
    /// How many words are before it.
    passed: usize,
}

fn called(words: &[words::Word<'_>]) -> Called {
    let mut passed = 0;
    let name = |word: &words::Word<'_>| if word.whole { word.text.to_vec() } else { Vec::new() };
    while let Some(word) = words.get(passed) {
        let is_passed =
            word.whole && matches!(word.text.as_ref(), b"command" | b"builtin" | b"exec");
        let has_more = words.len() > passed + 1;
        let is_option = passed > 0 && word.whole && word.text.starts_with(b"-");
        if !(is_passed || is_option) || !has_more {
            break;
        }
        passed += 1;
    }
    let name = words.get(passed).map(name).unwrap_or_default();
    Called { name, passed }
}

pub(super) fn is_declaring(name: &[u8]) -> bool {
    matches!(name, b"declare" | b"typeset" | b"local" | b"readonly" | b"export")
}
