//! What the commands of a step do with the values in it.
//!
//! Every command is matched with the table, as the lexer does it. A variable that a value is given to
//! counts as the value, wherever the step uses it, and so does what a command prints. The order of the
//! commands does not count: they may be in a loop or in a function.

use std::collections::BTreeMap;
use std::ops::Range;

use super::constants::{Constants, Piece};
use super::construct::Construct;
use super::found::Found;
use super::held::ByPlace;
use super::letters::Letters;
use super::outline::first_shift;
use super::printing;
use super::texts::Texts;
use super::tree::{Command, CommandKind, List, Quoted, Redirect, RedirectKind, Values, Word};
use super::variables::{Content, POSITIONAL, Variables};
use crate::script::cases::{Case, Role};

/// Variables are given to each other along chains; nobody has a longer one.
const MAX_PASSES: usize = 8;

#[derive(Debug)]
pub(super) struct Flow<'t> {
    pub(super) src: &'t [u8],
    pub(super) bodies: &'t [Word],
    pub(super) variables: Variables,
    pub(super) constants: Constants<'t>,
    /// What words held when they were judged last, by where they begin.
    pub(super) words: ByPlace,
    /// One of them has changed in this pass.
    pub(super) is_word_changed: bool,
    pub(super) attributed: Vec<Vec<u8>>,
    pub(super) functions: BTreeMap<Vec<u8>, Function>,
    /// What `exec` gives to all commands after it.
    pub(super) standing: Values,
    /// A variable may be another name of one that holds a value.
    pub(super) has_namerefs: bool,
    /// Messages of commands may go where their output goes.
    pub(super) is_loud: bool,
    /// Texts in quotes that commands run.
    pub(super) texts: Vec<Quoted>,
    /// Texts in quotes, whatever becomes of them.
    pub(super) written: Texts,
    /// A command reads a value.
    pub(super) feeds: bool,
    /// What is computed may be the name of a variable.
    pub(super) computes_names: bool,
    /// The output of the command that is judged goes to another one, or into a word.
    pub(super) is_captured: bool,
    /// Where the first loop or `shift` is.
    pub(super) first_shift: Option<usize>,
    pub(super) found: Found,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) input: Values,
    pub(super) printed: Values,
}

/// Judges all commands; none where it takes too many passes.
/// Texts in texts are judged down to `depth`.
pub(super) fn judge<'t>(
    src: &'t [u8],
    letters: Letters,
    bodies: &'t [Word],
    list: &'t List,
    depth: u32,
) -> Option<Found> {
    let mut flow = Flow {
        src,
        bodies,
        variables: Variables::default(),
        constants: Constants::new(src, letters),
        words: ByPlace::default(),
        is_word_changed: false,
        attributed: Vec::new(),
        functions: BTreeMap::new(),
        standing: Values::NONE,
        has_namerefs: false,
        is_loud: printing::is_loud(src, letters),
        texts: Vec::new(),
        written: Texts::default(),
        feeds: false,
        computes_names: false,
        is_captured: false,
        first_shift: first_shift(src, letters),
        found: Found::new(),
    };
    for _ in 0..MAX_PASSES {
        flow.variables.begin();
        flow.is_word_changed = false;
        flow.found = Found::new();
        flow.attributed.clear();
        flow.texts.clear();
        flow.computes_names = false;
        flow.list(list, Values::NONE);
        if flow.has_namerefs {
            let every = flow.variables.every();
            flow.variables.give_any(every);
        }
        // A command has the words of another place only from what variables are set to.
        flow.changed(flow.is_word_changed && !flow.constants.all.is_empty());
        if !flow.variables.has_changed {
            flow.names();
            flow.inner(depth);
            flow.written(depth);
            flow.found.renames = flow.has_namerefs || !flow.attributed.is_empty();
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
        self.found.mark(values.known(), case);
        let doubtful = values.doubtful();
        if !case.refuses() || doubtful.is_empty() {
            return;
        }
        self.found.soften(doubtful, Construct::Output);
        if case.role != Role::Code {
            self.soften_named(Construct::Output);
        }
    }

    /// A harmless text that is computed can name any variable.
    pub(super) fn soften_named(&mut self, construct: Construct) {
        let every = self.variables.every();
        self.found.soften(every.held, construct);
    }

    /// Gives what the commands may print.
    pub(super) fn captured(&mut self, list: &'t List, input: Values) -> Values {
        let outer = std::mem::replace(&mut self.is_captured, true);
        let printed = self.list(list, input);
        self.is_captured = outer;
        printed
    }

    /// The same, where it is printed.
    pub(super) fn list(&mut self, list: &'t List, input: Values) -> Values {
        let mut printed = Values::NONE;
        for pipeline in &list.0 {
            let mut passed = input;
            let outer = self.is_captured;
            for (at, command) in pipeline.0.iter().enumerate() {
                self.is_captured = outer || at + 1 < pipeline.0.len();
                passed = self.command(command, passed);
            }
            self.is_captured = outer;
            printed.add(passed);
        }
        printed
    }

    fn command(&mut self, command: &'t Command, input: Values) -> Values {
        let input = input.and(self.standing);
        let redirected = self.redirected(&command.redirects, input);
        let input = if redirected.is_fed { redirected.own } else { input.and(redirected.own) };
        self.changed(!self.feeds && !input.is_empty());
        self.feeds |= !input.is_empty();
        let printed = self.kind(command, input, &redirected);
        // A file that cannot be opened is named.
        if self.is_loud { printed.and(redirected.named.doubted()) } else { printed }
    }

    fn kind(&mut self, command: &'t Command, input: Values, redirected: &Redirected) -> Values {
        match &command.kind {
            CommandKind::Simple(words) => self.simple(words, &command.redirects, input, redirected),
            CommandKind::Group { lists, words } => {
                self.keep_input(&command.redirects);
                for word in words {
                    self.word(word, input);
                }
                let printed = lists.iter().map(|list| self.list(list, input));
                printed.fold(input, Values::and)
            }
            CommandKind::For { name, words, body } => {
                let name = self.text(name);
                let mut all = Content::default();
                self.keep_input(&command.redirects);
                for word in words {
                    self.keep_word(word);
                    let held = self.word(word, input);
                    all.add(held.content);
                    if held.split.is_empty() && !word.has_braces && word.variables.is_empty() {
                        let is_new = self.constants.set(name, vec![Piece::Word(word, 0)]);
                        self.changed(is_new);
                    } else {
                        let is_new = self.constants.open(name);
                        self.changed(is_new);
                    }
                    let split = held.split;
                    all.cut.add(split);
                }
                if words.is_empty() {
                    all.add(self.variables.of(POSITIONAL));
                    let is_new = self.constants.open(name);
                    self.changed(is_new);
                }
                self.variables.give(name, all);
                // `select` reads an answer.
                self.variables.give(b"REPLY", Content::parts(input));
                input.and(self.list(body, input))
            }
            CommandKind::Function { name, body } => {
                let name = self.text(name);
                // bash calls it with the words of a command that it does not find.
                if name == b"command_not_found_handle" {
                    self.found.setting = Some(Construct::Setting);
                }
                self.called_by_text(name);
                self.changed(!self.functions.contains_key(name));
                let before = *self.functions.entry(name.to_vec()).or_default();
                // Where its output goes is not known.
                let outer = std::mem::replace(&mut self.is_captured, true);
                let printed = before.printed.and(self.command(body, before.input));
                self.is_captured = outer;
                self.changed(printed != before.printed);
                self.functions.entry(name.to_vec()).or_default().printed.add(printed);
                Values::NONE
            }
            CommandKind::Test(words) => {
                let all = self.test(words, input);
                if self.is_loud { all.doubted() } else { Values::NONE }
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
                    let inner = held.content.held.without(redirect.word.values);
                    self.mark(inner, Case::DUPLICATED);
                }
                RedirectKind::Heredoc(_) | RedirectKind::String => found.own.add(held.content.held),
                RedirectKind::In => found.own.add(held.processed),
                RedirectKind::Out => {}
            }
            found.named.add(held.content.held);
            let is_input = !matches!(redirect.kind, RedirectKind::Out | RedirectKind::Copy);
            let descriptor = redirect.descriptor.as_ref().map(|at| self.text(at));
            let text = self.text(&redirect.word.at);
            // `< /dev/stdin` is what it was before.
            let is_same = redirect.kind == RedirectKind::In
                && (!redirect.word.is_literal
                    || text.windows(3).any(|it| it == b"fd/")
                    || text.ends_with(b"stdin"));
            found.is_fed |= is_input && !is_same && matches!(descriptor, None | Some(b"0"));
            // `<&3` is what `exec` has opened.
            if redirect.kind == RedirectKind::Copy
                && self.src[..redirect.word.at.start].trim_ascii_end().ends_with(b"<&")
            {
                found.is_fed = false;
            }
            found.is_only_input &= redirect.kind == RedirectKind::In;
            found.is_text |=
                matches!(redirect.kind, RedirectKind::Heredoc(_) | RedirectKind::String);
        }
        found
    }

    fn test(&mut self, words: &'t [Word], input: Values) -> Values {
        const NUMBERS: [&[u8]; 6] = [b"-eq", b"-ne", b"-lt", b"-le", b"-gt", b"-ge"];
        let src = self.src;
        let text = |index: usize| {
            let text = words.get(index).map(|word| &src[word.at.clone()]);
            text.map(|text| text.strip_suffix(b"\\\n").unwrap_or(text))
        };
        let mut all = Values::NONE;
        for (index, word) in words.iter().enumerate() {
            let held = self.word(word, input);
            all.add(held.content.held);
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
            let inner = held.content.held.and(held.content.spelled);
            self.mark(inner.without(word.values), case);
            if self.constants.names_open(self.text(&word.at)) {
                self.soften_mentioned();
            }
        }
        if words.iter().any(|word| self.text(&word.at) == b"=~") {
            self.variables.give(b"BASH_REMATCH", Content::parts(all));
            let is_new = self.constants.open(b"BASH_REMATCH");
            self.changed(is_new);
        }
        all
    }
}

/// What the redirections of a command feed to it.
#[derive(Debug)]
pub(super) struct Redirected {
    own: Values,
    /// The values in names of files.
    named: Values,
    /// What was its input before is gone.
    is_fed: bool,
    /// Each is `< FILE`.
    pub(super) is_only_input: bool,
    /// One is a heredoc or a here-string.
    pub(super) is_text: bool,
}

impl Default for Redirected {
    fn default() -> Self {
        Self {
            own: Values::NONE,
            named: Values::NONE,
            is_fed: false,
            is_only_input: true,
            is_text: false,
        }
    }
}
