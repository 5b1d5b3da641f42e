//! Shell text as words and operators.

use super::command::{Kind, Unit, Word};
use super::found::{Found, MISSING};
use super::{Runner, Shell};
use crate::limits::MAX_NESTING;

/// The mark of a value that the other tool pastes.
pub(super) const VALUE: char = '\0';

/// No byte of a text.
const NEVER: u8 = 0xff;

/// Longer ones first.
const OPERATORS: [&str; 24] = [
    "&>>", "<<-", "<<<", ";;&", "&&", "||", ";;", ";&", "|&", "&>", ">>", ">&", ">|", "<<", "<&",
    "<>", ";", "&", "|", "(", ")", "<", ">", "\n",
];

#[derive(Debug)]
pub(super) enum Token {
    Word(Word),
    Operator(&'static str, usize),
}

/// What ends a list of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Text,
    /// `)`.
    Bracket,
    /// A backtick.
    Tick,
}

/// A heredoc whose lines follow.
struct Heredoc {
    word: String,
    is_quoted: bool,
    has_tabs: bool,
}

pub(super) struct Reader<'t> {
    pub(super) text: &'t [u8],
    pub(super) at: usize,
    pub(super) found: Found,
    pub(super) shell: &'t Shell,
    pub(super) depth: usize,
    /// A backtick ends the list.
    pub(super) in_tick: bool,
    /// No shell reads the text.
    pub(super) is_direct: bool,
    /// The commands decide what runs: those after `if`.
    pub(super) is_condition: bool,
    /// A command of this list is complete, and may have failed.
    pub(super) has_before: bool,
    /// Inside `$(…)`.
    pub(super) is_value: bool,
    /// Where the last command of a pipe is that may set variables.
    pub(super) piped: Option<usize>,
    heredocs: Vec<Heredoc>,
}

impl<'t> Reader<'t> {
    pub(super) fn read(text: &'t str, runner: &'t Runner) -> Found {
        let mut reader = Self::new(text.as_bytes(), &runner.shell);
        reader.is_direct = runner.is_direct && super::direct::is_direct(text);
        reader.all();
        reader.found
    }

    pub(super) fn new(text: &'t [u8], shell: &'t Shell) -> Self {
        Self {
            text,
            at: 0,
            found: Found::default(),
            shell,
            depth: 0,
            in_tick: false,
            is_direct: false,
            is_condition: false,
            has_before: false,
            is_value: false,
            piped: None,
            heredocs: Vec::new(),
        }
    }

    /// The whole text.
    pub(super) fn all(&mut self) {
        while self.at < self.text.len() {
            let before = self.at;
            self.list(End::Text);
            // A `)` or a backtick that closes nothing.
            self.at = self.at.max(before + 1);
        }
        self.pipe_rules();
    }

    /// Works in bash, and not in `sh`.
    pub(super) fn bashism(&mut self, what: impl Into<String>, elsewhere: &'static str) {
        if self.is_sh() {
            self.found.bash(what, elsewhere);
        }
    }

    /// Works in bash, and not in Task.
    pub(super) fn not_in_task(&mut self, what: impl Into<String>, elsewhere: &'static str) {
        if self.is_task() {
            self.found.bash(what, elsewhere);
        }
    }

    /// Works in both, and is not the same.
    pub(super) fn other(&mut self, what: impl Into<String>, elsewhere: &'static str) {
        match self.shell {
            Shell::Task => self.found.bash(what, elsewhere),
            Shell::Sh => self.found.sh(what, elsewhere),
            _ => {}
        }
    }

    pub(super) fn is_sh(&self) -> bool {
        *self.shell == Shell::Sh
    }

    pub(super) fn is_task(&self) -> bool {
        *self.shell == Shell::Task
    }

    pub(super) fn peek(&self, offset: usize) -> u8 {
        // A NUL is the mark of a value, which nothing here looks for.
        self.text.get(self.at + offset).copied().unwrap_or(b'\n')
    }

    pub(super) fn is_at(&self, text: &str) -> bool {
        self.text[self.at.min(self.text.len())..].starts_with(text.as_bytes())
    }

    /// Whether there may be one more level of brackets.
    pub(super) fn enter(&mut self) -> bool {
        if self.depth >= MAX_NESTING {
            self.at = self.text.len();
            return false;
        }
        self.depth += 1;
        true
    }

    /// The next word or operator.
    pub(super) fn token(&mut self) -> Option<Token> {
        self.blanks();
        if self.at >= self.text.len() || self.in_tick && self.peek(0) == b'`' {
            return None;
        }
        let is_process = self.is_at("<(") || self.is_at(">(");
        let operator = OPERATORS.into_iter().find(|it| self.is_at(it) && !is_process);
        let Some(operator) = operator else { return Some(Token::Word(self.word())) };
        let at = self.at;
        self.at += operator.len();
        if operator == "\n" {
            self.heredoc_lines();
        }
        Some(Token::Operator(operator, at))
    }

    /// Blanks, comments, and line ends after a `\`.
    fn blanks(&mut self) {
        while self.at < self.text.len() {
            match self.peek(0) {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\\' if self.peek(1) == b'\n' && self.at + 1 < self.text.len() => self.at += 2,
                b'#' => {
                    let rest = &self.text[self.at..];
                    self.at += rest.iter().position(|it| *it == b'\n').unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    fn is_word_end(&self) -> bool {
        let c = self.peek(0);
        self.at >= self.text.len() || b" \t\r\n;&|<>()".contains(&c) || self.in_tick && c == b'`'
    }

    pub(super) fn word(&mut self) -> Word {
        let mut word = Word { start: self.at, ..Word::default() };
        if self.is_at("<(") || self.is_at(">(") {
            self.bashism("`<(…)`", "has no process substitution");
            if self.is_at(">(") {
                self.not_in_task("`>(…)`", "loses its output");
            }
            word.units.push(Unit { c: b'$', at: self.at, kind: Kind::Computed });
            self.at += 2;
            self.value(End::Bracket);
        }
        while !self.is_word_end() {
            self.part(&mut word.units);
        }
        word.end = self.at;
        word
    }

    /// A character of a word, or something in quotes.
    fn part(&mut self, units: &mut Vec<Unit>) {
        let at = self.at;
        let c = self.peek(0);
        match c {
            b'\\' => {
                self.at += 2;
                match self.text.get(at + 1) {
                    Some(b'\n') => {}
                    Some(c) => units.push(Unit { c: *c, at, kind: Kind::Quoted }),
                    None => units.push(Unit { c: b'\\', at, kind: Kind::Quoted }),
                }
            }
            b'\'' => {
                self.at += 1;
                while self.at < self.text.len() && self.peek(0) != b'\'' {
                    self.literal(units);
                }
                self.at += 1;
            }
            b'"' => {
                self.at += 1;
                self.double(units, b'"');
            }
            b'`' => {
                self.at += 1;
                units.push(Unit { c: b'$', at, kind: Kind::Computed });
                self.value(End::Tick);
            }
            b'$' => self.dollar(units, false),
            0 => {
                self.at += 1;
                units.push(Unit { c, at, kind: Kind::Computed });
            }
            c => {
                self.at += 1;
                units.push(Unit { c, at, kind: Kind::Bare });
            }
        }
        self.at = self.at.min(self.text.len());
    }

    /// A character in quotes.
    fn literal(&mut self, units: &mut Vec<Unit>) {
        let (c, at) = (self.peek(0), self.at);
        let kind = if c == 0 { Kind::Computed } else { Kind::Quoted };
        units.push(Unit { c, at, kind });
        self.at += 1;
    }

    /// What is between double quotes, up to and with the last one; also the lines of a heredoc and the
    /// word in `${x:-…}`, which end with something else.
    pub(super) fn double(&mut self, units: &mut Vec<Unit>, end: u8) {
        while self.at < self.text.len() {
            let at = self.at;
            match self.peek(0) {
                c if c == end => {
                    self.at += 1;
                    return;
                }
                b'\\' => {
                    let next = self.text.get(at + 1).copied();
                    self.at += 2;
                    match next {
                        Some(b'\n') => {}
                        Some(c @ (b'$' | b'`' | b'"' | b'\\')) => {
                            units.push(Unit { c, at, kind: Kind::Quoted });
                        }
                        other => {
                            units.push(Unit { c: b'\\', at, kind: Kind::Quoted });
                            let c = other.map(|c| Unit { c, at: at + 1, kind: Kind::Quoted });
                            units.extend(c);
                        }
                    }
                }
                b'`' => {
                    self.at += 1;
                    units.push(Unit { c: b'$', at, kind: Kind::Computed });
                    match self.in_tick {
                        // Only an escaped one begins something there.
                        true => return,
                        false => self.value(End::Tick),
                    }
                }
                b'$' => self.dollar(units, true),
                _ => self.literal(units),
            }
        }
    }

    /// Commands whose output is a value.
    pub(super) fn value(&mut self, end: End) {
        let outer = std::mem::replace(&mut self.is_value, true);
        self.nested(end);
        self.is_value = outer;
    }

    /// Commands in brackets, up to and with what closes them.
    pub(super) fn nested(&mut self, end: End) {
        if !self.enter() {
            return;
        }
        let outer = std::mem::replace(&mut self.in_tick, end == End::Tick);
        let before = (self.has_before, self.is_condition);
        self.has_before = false;
        self.list(end);
        (self.has_before, self.is_condition) = before;
        self.in_tick = outer;
        self.depth -= 1;
        self.at = self.at.min(self.text.len());
    }

    /// A heredoc begins on the next line.
    pub(super) fn announce(&mut self, operator: &str, word: &Word) {
        let is_quoted = word.units.iter().any(|it| it.kind == Kind::Quoted);
        let word = super::command::text(&word.units);
        self.heredocs.push(Heredoc { word, is_quoted, has_tabs: operator == "<<-" });
    }

    fn heredoc_lines(&mut self) {
        for heredoc in std::mem::take(&mut self.heredocs) {
            let start = self.at;
            let mut end = self.at;
            while self.at < self.text.len() {
                let rest = &self.text[self.at..];
                let length = rest.iter().position(|it| *it == b'\n').unwrap_or(rest.len());
                let line = String::from_utf8_lossy(&rest[..length]);
                let line = if heredoc.has_tabs { line.trim_start_matches('\t') } else { &line };
                let is_last = line == heredoc.word;
                self.at = (self.at + length + 1).min(self.text.len());
                if is_last {
                    break;
                }
                end = self.at;
            }
            if !heredoc.is_quoted && self.enter() {
                let after = self.at;
                let whole = self.text;
                self.text = &whole[..end];
                self.at = start;
                self.double(&mut Vec::new(), NEVER);
                self.text = whole;
                self.at = after;
                self.depth -= 1;
            }
        }
    }

    /// `((…))`, where it is one: up to and with the last two brackets; what is between them.
    pub(super) fn arithmetic(&mut self) -> Option<String> {
        let start = self.at;
        let mut depth = 0_usize;
        for (index, c) in self.text[start..].iter().enumerate() {
            match c {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                let inner = self.text.get(start + 2..start + index - 1)?;
                let is_double = self.text[start + index - 1] == b')';
                self.at = start + index + 1;
                let text = String::from_utf8_lossy(inner).into_owned();
                return is_double.then_some(text).or_else(|| {
                    self.at = start;
                    None
                });
            }
        }
        None
    }

    /// `a=(…)`, after the bracket.
    pub(super) fn array(&mut self) {
        self.bashism("arrays", MISSING);
        while let Some(token) = self.token() {
            if matches!(token, Token::Operator(")", _)) {
                return;
            }
        }
    }
}
