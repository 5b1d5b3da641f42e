//! What a command does in another way.

use super::command::{Command, Kind, Redirect, Unit, Word};
use super::found::MISSING;
use super::lexer::Reader;

/// Programs that are built into bash only.
const BUILT_IN: [&str; 24] = [
    "bind",
    "builtin",
    "caller",
    "compgen",
    "complete",
    "compopt",
    "declare",
    "dirs",
    "disown",
    "enable",
    "help",
    "history",
    "let",
    "logout",
    "mapfile",
    "popd",
    "pushd",
    "readarray",
    "shopt",
    "source",
    "suspend",
    "typeset",
    "time",
    "coproc",
];
/// A failure of these ends `sh`, and what is assigned before them stays.
const SPECIAL: [&str; 12] = [
    ".", ":", "break", "continue", "eval", "exec", "export", "readonly", "set", "shift", "times",
    "unset",
];
/// Their arguments are assignments in `sh`, too.
const DECLARES: [&str; 6] = ["alias", "declare", "export", "local", "readonly", "typeset"];
/// Programs whose first argument is the command.
const BEFORE: [&str; 2] = ["command", "exec"];

impl Reader<'_> {
    /// `next` is the operator after the command.
    pub(super) fn rules(&mut self, command: &Command, next: &str) {
        self.assignments(command);
        if !(self.is_sh() || self.is_task()) {
            return;
        }
        let name = command.name();
        let declares = name.as_deref().is_some_and(|it| DECLARES.contains(&it));
        for word in &command.words {
            self.word_rules(word, !declares);
        }
        for redirect in &command.redirects {
            self.redirect_rules(redirect);
        }
        self.program_rules(command, next);
    }

    /// The variables that a command sets: `read x`, `export X=1`.
    fn assignments(&mut self, command: &Command) {
        let name = command.name();
        let sets =
            |it: &str| DECLARES.contains(&it) || matches!(it, "read" | "getopts" | "mapfile");
        if name.as_deref().is_some_and(sets) {
            let words = command.words.iter().skip(1);
            let names = words.filter_map(|it| it.assigned().map(|it| it.0).or(it.literal()));
            self.found.sets.extend(names);
        }
    }

    /// What the program does in another way.
    fn program_rules(&mut self, command: &Command, next: &str) {
        let Some(name) = command.name() else { return };
        if self.is_task() {
            return self.task_rules(command, &name);
        }
        if BUILT_IN.contains(&name.as_str()) {
            self.found.bash(format!("`{name}`"), MISSING);
            return;
        }
        let arguments = command.arguments();
        if BEFORE.contains(&name.as_str())
            && arguments.first().is_some_and(|it| !it.is_empty() && !it.starts_with('-'))
        {
            let words = command.words[1..].to_vec();
            return self.program_rules(&Command { words, ..Command::default() }, next);
        }
        if SPECIAL.contains(&name.as_str()) && !command.assignments.is_empty() {
            self.found.sh(format!("`X=… {name}`"), "keeps what is assigned");
        }
        self.builtin_rules(command, &name, &arguments, next);
    }

    /// What a word means, whatever the command is.
    fn word_rules(&mut self, word: &Word, tilde_is_text: bool) {
        if self.is_task() {
            self.separate_names(word);
        } else {
            self.quote_braces(word);
            if has_caret(&word.units) {
                self.found.sh("`[^…]`", "reads `^` as one of the characters");
            }
        }
        let first = word.units.first();
        let is_tilde = |it: &Unit| it.kind == Kind::Bare && it.c == b'~';
        if first.is_some_and(is_tilde)
            && matches!(word.units.get(1), Some(it) if b"+-".contains(&it.c))
        {
            self.found.insert(word.start, "\\");
        }
        // Bash reads `NAME=~` as an assignment in every argument.
        let equals = word.units.iter().position(|it| it.c == b'=');
        let equals = equals.filter(|_| tilde_is_text && word.assigned().is_some());
        let after = equals.map_or(&[][..], |at| &word.units[at..]);
        for pair in after.windows(2).filter(|it| b"=:".contains(&it[0].c) && is_tilde(&it[1])) {
            self.found.insert(pair[1].at, "\\");
        }
    }

    fn redirect_rules(&mut self, redirect: &Redirect) {
        let Redirect { operator, number, target } = redirect;
        let first = target.units.first();
        match *operator {
            "<<<" => self.bashism("`<<<`", MISSING),
            "&>" | "&>>" => {
                self.bashism(format!("`{operator}`"), "starts the command in the background");
            }
            ">&" | "<&" => {
                let is_number =
                    |it: &Unit| it.kind == Kind::Computed || it.c.is_ascii_digit() || it.c == b'-';
                if !first.is_some_and(is_number) {
                    self.found.bash("`>& FILE`", "expects a number there");
                }
                if first.is_some_and(|it| it.c.is_ascii_digit() && it.c > b'2') {
                    self.not_in_task("a redirection of other numbers than 0, 1 and 2", MISSING);
                }
            }
            _ => {}
        }
        match number.as_deref() {
            Some(name) if name.starts_with('{') => self.found.bash("`{name}>`", MISSING),
            Some(number) if number.len() > 1 => {
                self.bashism(format!("`{number}>`"), "reads one digit only");
                self.not_in_task("a redirection of other numbers than 0, 1 and 2", MISSING);
            }
            Some(number) if number > "2" => {
                self.not_in_task("a redirection of other numbers than 0, 1 and 2", MISSING);
            }
            _ => {}
        }
        if self.is_sh() {
            self.quote_braces(target);
        }
    }
}

/// `[^a]` in a pattern.
pub(super) fn has_caret(units: &[Unit]) -> bool {
    let is = |it: &Unit, c: u8| it.kind == Kind::Bare && it.c == c;
    let starts = units.windows(2).position(|it| is(&it[0], b'[') && is(&it[1], b'^'));
    starts.is_some_and(|start| units[start..].iter().skip(2).any(|it| is(it, b']')))
}
