//! Whether a command can leave the shell in another directory.

use crate::Secret;
use crate::resolver::ScriptPart;

use super::plain;
use super::quotes::{Quotes, Seen};

/// What a command does to the working directory, as far as its text tells.
#[derive(Clone, Debug)]
pub enum Movement {
    /// Nothing.
    Stays,
    /// It is `cd DIR` and nothing else: the directory, where `~` is the home directory.
    Only(Secret),
    /// Perhaps something.
    May,
}

/// The commands that move the shell itself.
const MOVERS: [&str; 6] = ["cd", "pushd", "popd", ".", "source", "eval"];

/// What may precede a command.
const BEFORE: [&str; 11] =
    ["!", "{", "builtin", "command", "do", "elif", "else", "if", "then", "time", "while"];

#[must_use]
pub fn movement(parts: &[ScriptPart]) -> Movement {
    if let Some(directory) = only(parts) {
        return Movement::Only(directory);
    }
    let mut scan = Scan { is_command: true, ..Scan::default() };
    let moves = parts.iter().any(|part| match part {
        ScriptPart::Text(text) => scan.text(text),
        ScriptPart::Raw(_) => true,
        ScriptPart::Data(_, context) if context.is_command() => true,
        ScriptPart::Data(..) => {
            scan.word.push('=');
            false
        }
    });
    // The lines of a heredoc have quotes that are none, and so may end somewhere else.
    let is_unclear = scan.quotes.is_open() || scan.has_heredoc && names_mover(parts);
    if moves || scan.close() || is_unclear { Movement::May } else { Movement::Stays }
}

/// Whether one of the commands that move is somewhere in the text, whatever it is there.
fn names_mover(parts: &[ScriptPart]) -> bool {
    parts.iter().any(|part| match part {
        ScriptPart::Text(text) => {
            text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| MOVERS.contains(&word))
        }
        ScriptPart::Raw(_) | ScriptPart::Data(..) => false,
    })
}

fn only(parts: &[ScriptPart]) -> Option<Secret> {
    let words = plain::words(parts)?;
    let names: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let (directory, text) = match names.as_slice() {
        ["cd"] => return Some(Secret::new("~")),
        ["cd", directory] if !directory.starts_with('-') => (&words[1], directory),
        ["cd", "--", directory] if *directory != "-" => (&words[2], directory),
        _ => return None,
    };
    // An empty name, and one that only looks like the home directory, are the shell's.
    let is_odd = text.is_empty() || text.starts_with('~') != directory.is_tilde;
    (words[0].is_constant && !is_odd).then(|| Secret::new(*text))
}

#[derive(Default)]
struct Scan {
    /// Over all parts: a value may be in the middle of a quoted text.
    quotes: Quotes,
    is_comment: bool,
    has_heredoc: bool,
    word: String,
    /// For each open round bracket, `is_command` around it. What is inside one has a directory of
    /// its own.
    around: Vec<bool>,
    /// Whether the next word is the name of a command.
    is_command: bool,
}

impl Scan {
    /// Whether something in the text moves.
    fn text(&mut self, text: &str) -> bool {
        text.chars().any(|c| self.take(c))
    }

    fn take(&mut self, c: char) -> bool {
        if self.is_comment && c != '\n' {
            return false;
        }
        self.is_comment = false;
        match (self.quotes.see(c), c) {
            (Seen::Mark, _) | (Seen::Escaped, '\n') | (Seen::In('`'), _) => false,
            (Seen::In(_) | Seen::Escaped, _) => {
                self.word.push(c);
                false
            }
            (Seen::Bare, ' ' | '\t') => self.close(),
            (Seen::Bare, '#') if self.word.is_empty() => {
                self.is_comment = true;
                false
            }
            (Seen::Bare, ';' | '&' | '|' | '\n' | '(' | ')') => {
                if self.close() {
                    return true;
                }
                if c == '(' {
                    self.around.push(self.is_command);
                }
                // A lone `)` ends a pattern of `case`.
                let following = if c == ')' { self.around.pop() } else { None };
                self.is_command = following.unwrap_or(true);
                false
            }
            (Seen::Bare, _) => {
                self.word.push(c);
                self.has_heredoc |= self.word.ends_with("<<");
                false
            }
        }
    }

    /// The word is whole: whether it moves.
    fn close(&mut self) -> bool {
        let word = std::mem::take(&mut self.word);
        if word.is_empty() || !self.is_command {
            return false;
        }
        self.is_command = BEFORE.contains(&word.as_str()) || word.contains('=');
        self.around.is_empty() && MOVERS.contains(&word.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Data;
    use crate::context::{Context, Place};

    fn of(text: &str) -> String {
        match movement(&[ScriptPart::Text(text.to_owned())]) {
            Movement::Stays => "stays".to_owned(),
            Movement::Only(directory) => directory.expose().to_owned(),
            Movement::May => "may".to_owned(),
        }
    }

    #[test]
    fn a_lone_cd_says_where_to() {
        for (text, directory) in [
            ("cd build", "build"),
            (" cd  'a b'", "a b"),
            ("cd -- -x", "-x"),
            ("cd ~/src", "~/src"),
            ("cd ~", "~"),
            ("cd", "~"),
        ] {
            assert_eq!(of(text), directory, "{text}");
        }
    }

    #[test]
    fn what_can_move_is_known_by_its_commands() {
        for text in [
            "cd -",
            "cd '~/x'",
            "cd a b",
            "cd $X",
            "cd x && make",
            "make; cd x",
            "X=1 cd x",
            "! cd x",
            "{ cd x; }",
            "if a; then cd x; fi",
            "\\cd $X",
            "'cd' $X",
            "builtin cd $X",
            "pushd x",
            ". ./env",
            "source env",
            "eval \"$X\"",
            "case $a in b) cd x;; esac",
            "echo \\\"; cd x",
            "echo \"a\\\"b\"; cd x",
            "echo '\\'; cd x",
            "true # it's\ncd x",
            "cat <<E\nit's\nE\ncd x",
            "cat <<E\nit's\nE\ncd x\ncat <<E\nit's\nE",
        ] {
            assert_eq!(of(text), "may", "{text}");
        }
    }

    #[test]
    fn a_value_inside_of_quotes_does_not_end_them() {
        let text = |text: &str| ScriptPart::Text(text.to_owned());
        let value = || ScriptPart::Data(Data::text("v"), Context::new(Place::Quoted));
        for (before, after, moves) in [
            ("echo \"", "\"; cd build", true),
            ("echo '", "'; cd build", true),
            ("echo \"", "; cd build\"", false),
            ("echo \"a", "b\" && true", false),
        ] {
            let found = movement(&[text(before), value(), text(after)]);
            assert_eq!(matches!(found, Movement::May), moves, "{before}…{after}");
        }
    }

    #[test]
    fn a_word_that_is_not_a_command_moves_nothing() {
        for text in [
            "docker build .",
            "cp a .",
            "echo cd x",
            "(cd x && make)",
            "tar -C $(cd .. && pwd) .",
            "x=`cd y`",
            "grep '; cd x' f",
            "abcd x",
            "echo '\\'\"; cd x\"",
            "true # ; cd x",
            "cat <<E\nit is .\nE",
        ] {
            assert_eq!(of(text), "stays", "{text}");
        }
    }
}
