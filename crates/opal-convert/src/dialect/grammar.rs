//! Words and operators as commands.

use super::command::{Command, Redirect, Word};
use super::found::MISSING;
use super::lexer::{End, Reader, Token};
use super::rules::has_caret;

/// Where in a list a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// A command begins.
    Start,
    /// After its name.
    Words,
    /// After `for` or `select`, then after the name.
    LoopName,
    LoopIn,
    /// After `case`, then after the word, then the patterns.
    CaseWord,
    CaseIn,
    Pattern,
    /// After `function`.
    FunctionName,
    /// Inside `[[ … ]]`.
    Test,
}

/// A list that is read.
struct List {
    end: End,
    mode: Mode,
    /// How many `case` are open.
    cases: usize,
    command: Command,
    /// A pipe ends in the command.
    is_piped: bool,
    /// A redirection whose word is next.
    redirect: Option<(&'static str, Option<String>)>,
}

impl Reader<'_> {
    /// Commands up to and with what closes the list.
    pub(super) fn list(&mut self, end: End) {
        let command = Command::default();
        let mut list =
            List { end, mode: Mode::Start, cases: 0, command, is_piped: false, redirect: None };
        while let Some(token) = self.token() {
            match token {
                Token::Word(word) if list.redirect.is_some() => self.target(word, &mut list),
                Token::Word(word) => self.take(word, &mut list),
                Token::Operator(operator, at) => {
                    if self.operator(operator, at, &mut list) {
                        return;
                    }
                }
            }
        }
        self.finish(&mut list, "");
        if end == End::Tick && self.at < self.text.len() {
            self.at += 1;
        }
    }

    /// The command is complete.
    fn finish(&mut self, list: &mut List, next: &str) {
        let command = std::mem::take(&mut list.command);
        list.redirect = None;
        if !command.is_empty() {
            self.rules(&command, next);
            let ends = matches!(next, ";" | "\n") && !self.is_condition;
            self.has_before |= ends && command.may_fail();
        }
    }

    fn target(&mut self, word: Word, list: &mut List) {
        let Some((operator, number)) = list.redirect.take() else { return };
        if operator.starts_with("<<") && operator != "<<<" {
            self.announce(operator, &word);
            return;
        }
        list.command.redirects.push(Redirect { operator, number, target: word });
    }

    fn take(&mut self, word: Word, list: &mut List) {
        match list.mode {
            Mode::Start => self.first(word, list),
            Mode::Words => list.command.words.push(word),
            Mode::LoopName => {
                self.found.sets.extend(word.literal());
                list.mode = Mode::LoopIn;
            }
            Mode::LoopIn => match word.bare().as_deref() {
                Some("in") => {
                    list.command.is_loop = true;
                    list.mode = Mode::Words;
                }
                // `for x do`.
                _ => list.mode = Mode::Start,
            },
            Mode::CaseWord => list.mode = Mode::CaseIn,
            Mode::CaseIn => list.mode = Mode::Pattern,
            Mode::Pattern => {
                if self.is_sh() && has_caret(&word.units) {
                    self.found.sh("`[^…]`", "reads `^` as one of the characters");
                }
                if word.bare().as_deref() == Some("esac") {
                    list.cases = list.cases.saturating_sub(1);
                    list.mode = Mode::Start;
                }
            }
            Mode::FunctionName => list.mode = Mode::Start,
            Mode::Test => {
                if word.bare().as_deref() == Some("]]") {
                    list.mode = Mode::Words;
                }
            }
        }
    }

    /// Whether the word begins a command that does not run where one before it fails and ends the text.
    fn follows(&mut self, word: Option<&str>) {
        let is_next = match word {
            Some("then" | "do" | "else" | "elif" | "fi" | "}" | "esac") => false,
            // The next round.
            Some("done") => self.has_before,
            _ => self.has_before && !self.is_condition,
        };
        match self.is_value {
            true => self.found.has_inner_list |= is_next,
            false => self.found.is_list |= is_next,
        }
        match word {
            Some("if" | "while" | "until" | "elif") => self.is_condition = true,
            Some("then" | "do") => self.is_condition = false,
            _ => {}
        }
        if matches!(word, Some("else" | "elif")) {
            self.has_before = false;
        }
    }

    /// A word where a command begins.
    fn first(&mut self, word: Word, list: &mut List) {
        // After `X=1` nothing is a keyword.
        let bare = word.bare().filter(|_| list.command.is_empty());
        self.follows(bare.as_deref());
        let sets = ["while", "until", "for", "if", "{", "read", "mapfile"];
        if list.is_piped && bare.as_deref().is_some_and(|it| sets.contains(&it)) {
            self.piped = Some(word.start);
        }
        list.is_piped = false;
        match bare.as_deref() {
            Some("if" | "then" | "else" | "elif" | "while" | "until" | "do" | "!" | "{") => return,
            Some("fi" | "done" | "}") => return,
            Some("esac") => {
                list.cases = list.cases.saturating_sub(1);
                return;
            }
            Some("time") => {
                self.bashism("`time`", "starts a program of that name");
                self.not_in_task("`time`", "prints its result to standard output");
                return;
            }
            Some("coproc") => {
                self.bashism("`coproc`", MISSING);
                self.not_in_task("`coproc`", MISSING);
                return;
            }
            Some("for") => return list.mode = Mode::LoopName,
            Some("select") => {
                self.bashism("`select`", MISSING);
                return list.mode = Mode::LoopName;
            }
            Some("case") => {
                list.cases += 1;
                return list.mode = Mode::CaseWord;
            }
            Some("function") => {
                self.bashism("`function`", MISSING);
                return list.mode = Mode::FunctionName;
            }
            Some("[[") => {
                self.bashism("`[[`", MISSING);
                return list.mode = Mode::Test;
            }
            _ => {}
        }
        match word.assigned() {
            Some((name, operator)) => {
                self.found.sets.insert(name);
                match operator.as_str() {
                    "+=" => self.bashism("`x+=…`", MISSING),
                    "[" => self.bashism("arrays", MISSING),
                    _ => {}
                }
                list.command.assignments.push(word);
            }
            None => {
                list.command.words.push(word);
                list.mode = Mode::Words;
            }
        }
    }

    /// Whether the list is closed.
    fn operator(&mut self, operator: &'static str, at: usize, list: &mut List) -> bool {
        match (operator, list.mode) {
            (_, Mode::Test) => {}
            ("(", Mode::Pattern) | ("|" | "\n", Mode::Pattern) => {}
            (")", Mode::Pattern) => list.mode = Mode::Start,
            ("\n", Mode::LoopIn | Mode::CaseIn) => {}
            ("(", _) => self.bracket(at, list),
            (")", _) => {
                self.finish(list, operator);
                if list.end == End::Bracket {
                    return true;
                }
                list.mode = Mode::Start;
            }
            (";;" | ";&" | ";;&", _) => {
                if operator != ";;" {
                    self.bashism(format!("`{operator}`"), MISSING);
                }
                self.finish(list, operator);
                list.mode = if list.cases > 0 { Mode::Pattern } else { Mode::Start };
            }
            (";" | "&" | "&&" | "||" | "|" | "|&" | "\n", _) => {
                if operator == "|&" {
                    self.bashism("`|&`", MISSING);
                }
                self.finish(list, operator);
                list.is_piped = operator.starts_with('|') && operator != "||";
                list.mode = Mode::Start;
            }
            (redirect, _) => self.redirection(redirect, at, list),
        }
        false
    }

    /// `(`: a subshell, an array, a function or a calculation.
    fn bracket(&mut self, at: usize, list: &mut List) {
        let is_double = self.text.get(at + 1) == Some(&b'(');
        let is_first = list.mode == Mode::Start && list.command.is_empty();
        if is_double && (is_first || list.mode == Mode::LoopName) {
            self.at = at;
            if self.arithmetic().is_some() {
                self.bashism("`((…))`", MISSING);
                return list.mode = if is_first { Mode::Words } else { Mode::Start };
            }
            self.at = at + 1;
        }
        let last = list.command.words.last().or(list.command.assignments.last());
        let is_array = last.is_some_and(|it| {
            let ends = it.units.last().is_some_and(|unit| unit.c == b'=');
            it.end == at && ends && it.assigned().is_some()
        });
        if is_array {
            return self.array();
        }
        let is_alone = list.command.words.len() == 1 && list.command.assignments.is_empty();
        let closes = self.text[self.at..].trim_ascii_start().starts_with(b")");
        if is_alone && closes && list.mode == Mode::Words {
            let name = list.command.words[0].literal().unwrap_or_default();
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if !name.chars().all(is_name) {
                self.bashism(
                    "a function name with other characters than letters, digits and `_`",
                    MISSING,
                );
            }
            list.command = Command::default();
            let _ = self.token();
            return list.mode = Mode::Start;
        }
        self.nested(End::Bracket);
        if is_first {
            list.mode = Mode::Words;
        }
    }

    fn redirection(&mut self, operator: &'static str, at: usize, list: &mut List) {
        let words = &mut list.command.words;
        let number = words.last().filter(|it| it.end == at).and_then(Word::bare);
        let is_number = |it: &String| it.bytes().all(|c| c.is_ascii_digit());
        let is_name = |it: &String| it.starts_with('{') && it.ends_with('}') && it.len() > 2;
        let number = number.filter(|it| is_number(it) || is_name(it));
        if number.is_some() {
            words.pop();
            if words.is_empty() && list.mode == Mode::Words {
                list.mode = Mode::Start;
            }
        }
        list.redirect = Some((operator, number));
    }
}
