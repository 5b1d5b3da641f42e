//! Whether a command can leave the shell in another directory.

use crate::Secret;
use crate::resolver::ScriptPart;

use super::plain;

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
    let mut scan = Scan { word: String::new(), around: Vec::new(), is_command: true };
    let moves = parts.iter().any(|part| match part {
        ScriptPart::Text(text) => scan.text(text),
        ScriptPart::Raw(_) => true,
        ScriptPart::Data(_, context) if context.is_command() => true,
        ScriptPart::Data(..) => {
            scan.word.push('=');
            false
        }
    });
    if moves || scan.close() { Movement::May } else { Movement::Stays }
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

struct Scan {
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
        let mut quote = None;
        for c in text.chars() {
            match (quote, c) {
                (Some(open), _) if open == c => quote = None,
                (Some('`'), _) => {}
                (Some(_), _) => self.word.push(c),
                (None, '\'' | '"' | '`') => quote = Some(c),
                (None, '\\') => {}
                (None, ' ' | '\t') => {
                    if self.close() {
                        return true;
                    }
                }
                (None, ';' | '&' | '|' | '\n' | '(' | ')') => {
                    if self.close() {
                        return true;
                    }
                    if c == '(' {
                        self.around.push(self.is_command);
                    }
                    // A lone `)` ends a pattern of `case`.
                    let following = if c == ')' { self.around.pop() } else { None };
                    self.is_command = following.unwrap_or(true);
                }
                (None, _) => self.word.push(c),
            }
        }
        false
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
        ] {
            assert_eq!(of(text), "may", "{text}");
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
        ] {
            assert_eq!(of(text), "stays", "{text}");
        }
    }
}
