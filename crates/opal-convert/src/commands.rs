//! The programs that a shell text starts, as far as they can be read without a shell.
//!
//! A judgement for the report and for pipes, like that of `quotes`: a wrong one costs a note.

use crate::form::{Expr, Piece, Sheet, Step, Task};
use crate::quotes::{Place, Quotes};

/// What can stand before the name of a program.
const BEFORE: [&str; 13] = [
    "!", "{", "do", "elif", "else", "exec", "if", "sudo", "then", "time", "until", "while",
    "command",
];
/// Programs that end with a failure to say something, in the middle of a pipe too.
const ASKED: [&str; 11] =
    ["[", "cmp", "diff", "egrep", "fgrep", "grep", "ls", "pgrep", "rg", "test", "which"];
/// Programs that succeed with anything that they can read.
const PATIENT: [&str; 8] = ["awk", "cut", "echo", "printf", "sed", "sort", "tr", "wc"];
/// Programs that stop reading before the end.
const IMPATIENT: [&str; 6] = [":", "false", "head", "less", "more", "true"];

/// A program of a text.
#[derive(Debug, Default, PartialEq, Eq)]
struct Command {
    name: String,
    /// Its first flag.
    flag: String,
    /// Its output is what the next one reads.
    is_piped: bool,
    /// After `!`, `if`, `while` and the like: what it ends with decides what runs.
    is_condition: bool,
    /// Before `||`.
    has_other: bool,
}

/// Whether a script of this program is read by a shell.
pub(crate) fn is_shell(program: &str) -> bool {
    let program = program.split(' ').next().unwrap_or_default();
    matches!(program.rsplit('/').next(), Some("bash" | "sh" | "dash" | "ash" | "zsh" | "ksh"))
}

/// Whether a text starts a program.
pub(crate) fn runs(pieces: &[Piece], program: &str) -> bool {
    commands(pieces).iter().any(|it| it.name == program)
}

/// Whether a text in another language seems to.
pub(crate) fn names(pieces: &[Piece], program: &str) -> bool {
    let is_named = |text: &str| {
        ['"', '\''].iter().any(|quote| {
            let word = format!("{quote}{program}");
            text.split(&word).skip(1).any(|it| it.starts_with([*quote, ' ']))
        })
    };
    pieces.iter().any(|it| matches!(it, Piece::Text(text) if is_named(text)))
}

impl Sheet {
    /// In opal a pipe fails if one of its programs does. Where only the last one counts in the other tool,
    /// commands for values say so, and those steps in which that would be noticed.
    pub(crate) fn keep_pipes(&mut self) {
        if self.has_pipefail {
            return;
        }
        let value = |it: &Expr| match it {
            Expr::Output(pieces) if may_be_noticed(&commands(pieces)) => {
                Some(Expr::Output(forgiving(pieces)))
            }
            _ => None,
        };
        self.rewrite(&value);
        self.tasks.iter_mut().for_each(Task::keep_pipes);
    }
}

impl Task {
    fn keep_pipes(&mut self) {
        self.body.iter_mut().chain(&mut self.finally).for_each(Step::keep_pipes);
    }
}

impl Step {
    fn keep_pipes(&mut self) {
        match self {
            Self::Line { pieces, .. } if is_noticed(&commands(pieces)) => {
                *pieces = forgiving(pieces);
            }
            Self::If { then, otherwise, .. } => {
                then.iter_mut().chain(otherwise).for_each(Self::keep_pipes);
            }
            Self::For { body, .. } => body.iter_mut().for_each(Self::keep_pipes),
            _ => {}
        }
    }
}

fn forgiving(pieces: &[Piece]) -> Vec<Piece> {
    let first = Piece::Text("set +o pipefail; ".to_owned());
    std::iter::once(first).chain(pieces.iter().cloned()).collect()
}

/// Whether a pipe decides what runs, and a program before its end may fail or be stopped.
fn decides(commands: &[Command]) -> bool {
    let counts = |it: &Command| it.is_piped && !PATIENT.contains(&it.name.as_str());
    let is_condition = commands.iter().any(|it| it.is_condition && counts(it));
    let has_other = commands.windows(2).enumerate().any(|(at, pair)| {
        // Nothing is decided by `|| true`.
        let next = commands.get(at + 2).map_or("", |it| it.name.as_str());
        counts(&pair[0]) && pair[1].has_other && !matches!(next, "true" | ":")
    });
    is_condition || has_other
}

/// Whether a program of a pipe usually fails, or is stopped by the next one.
fn is_noticed(commands: &[Command]) -> bool {
    if decides(commands) {
        return true;
    }
    commands.windows(2).filter(|pair| pair[0].is_piped).any(|pair| {
        let next = &pair[1];
        let stops = IMPATIENT.contains(&next.name.as_str())
            || next.name.ends_with("grep") && next.flag.contains(['q', 'm', 'l']);
        ASKED.contains(&pair[0].name.as_str()) || stops
    })
}

/// Whether a program of a pipe may fail or be stopped.
fn may_be_noticed(commands: &[Command]) -> bool {
    let is_patient = |it: &Command| PATIENT.contains(&it.name.as_str());
    commands.iter().any(|it| it.is_piped) && !commands.iter().all(is_patient)
}

fn commands(pieces: &[Piece]) -> Vec<Command> {
    let mut reader = Reader { is_first: true, ..Reader::default() };
    for piece in pieces {
        match piece {
            Piece::Text(text) | Piece::Value(Expr::Text(text)) => {
                let mut chars = text.chars().peekable();
                while let Some(c) = chars.next() {
                    reader.next(c, chars.peek().copied());
                }
            }
            Piece::Value(_) => {
                reader.word.push('?');
                reader.quotes.value();
            }
        }
    }
    reader.end_word();
    reader.found
}

#[derive(Default)]
struct Reader {
    quotes: Quotes,
    word: String,
    /// The next word is the name of a program.
    is_first: bool,
    /// The next program is a condition.
    is_condition: bool,
    /// The character before was the `|` of a `||`.
    is_or: bool,
    found: Vec<Command>,
}

impl Reader {
    fn next(&mut self, c: char, next: Option<char>) {
        let place = self.quotes.place();
        let mut buffer = [0; 4];
        self.quotes.text(c.encode_utf8(&mut buffer));
        if place == Place::Comment {
            return self.end_line(c);
        }
        let is_inner = self.quotes.place() == Place::Bare && place == Place::Double;
        if place != Place::Bare && !is_inner {
            self.word.push('"');
            return;
        }
        match c {
            ' ' | '\t' => self.end_word(),
            '|' => {
                self.end_word();
                let is_or = std::mem::take(&mut self.is_or) || next == Some('|');
                self.is_or = next == Some('|');
                if let Some(last) = self.found.last_mut().filter(|_| self.is_or) {
                    last.has_other = true;
                }
                if !is_or && let Some(last) = self.found.last_mut() {
                    last.is_piped = true;
                }
                self.is_first = true;
            }
            ';' | '&' | '(' | ')' | '`' | '\n' => {
                self.end_word();
                self.is_first = true;
            }
            '#' if self.word.is_empty() => {}
            c => self.word.push(c),
        }
    }

    fn end_line(&mut self, c: char) {
        if c == '\n' {
            self.end_word();
            self.is_first = true;
        }
    }

    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        if word.is_empty() {
            return;
        }
        if !self.is_first {
            if let Some(last) = self.found.last_mut()
                && last.flag.is_empty()
                && word.starts_with('-')
            {
                last.flag = word;
            }
            return;
        }
        let is_assignment = word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        });
        if BEFORE.contains(&word.as_str()) || is_assignment {
            self.is_condition |= matches!(word.as_str(), "!" | "elif" | "if" | "until" | "while");
            return;
        }
        self.is_first = false;
        let is_condition = std::mem::take(&mut self.is_condition);
        self.found.push(Command { name: word, is_condition, ..Command::default() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Vec<Piece> {
        vec![Piece::Text(text.to_owned())]
    }

    #[test]
    fn a_program_is_the_first_word_of_a_command() {
        for (source, expected) in [
            ("just x", true),
            ("cd a && just x", true),
            ("X=1 just x", true),
            ("if just x; then y; fi", true),
            ("echo $(just x)", true),
            ("echo \"$(just x)\"", true),
            ("a\njust x", true),
            ("watch | just x", true),
            ("sudo just x", true),
            ("echo just x", false),
            ("echo 'a; just x'", false),
            ("echo \"; just x\"", false),
            ("a # just x", false),
            ("./just x", false),
            ("justify x", false),
            ("cat <<E\njust x\nE\n", false),
        ] {
            assert_eq!(runs(&text(source), "just"), expected, "{source}");
        }
        assert!(names(&text("run([\"just\", \"x\"])"), "just"));
        assert!(!names(&text("# just a comment, \"justice\""), "just"));
    }

    #[test]
    fn pipes_in_which_a_failure_is_usual_are_noticed() {
        for (source, expected) in [
            ("yes | head -1", true),
            ("ps | grep x | awk 1", true),
            ("x=$(git tag | head -1)", true),
            ("git tag | grep -q v1", true),
            ("a | sort", false),
            ("a || head", false),
            ("grep x f || true", false),
            ("echo 'a | head'", false),
            ("docker ps -q | xargs docker rm", false),
            ("docker ps -q | xargs docker rm || true", false),
            ("curl a | jq . || curl b", true),
            ("curl a | jq . && b", false),
            ("echo a | jq . || b", false),
            ("! git branch | jq .", true),
            ("! git branch", false),
            ("if curl a | jq .; then b; fi", true),
            ("if a; then curl b | jq .; fi", false),
        ] {
            assert_eq!(is_noticed(&commands(&text(source))), expected, "{source}");
        }
    }
}
