//! A command line for the line editor of a shell: one line, each word exactly itself.

use crate::failure::{Exit, Failure};

/// Whose rules a word is quoted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shell {
    /// bash and zsh: nothing is special in single quotes, and they cannot contain one.
    Posix,
    /// In single quotes, `\` and `'` follow a `\`.
    Fish,
}

impl Shell {
    pub(super) fn named(name: &str) -> Self {
        if name == "fish" { Self::Fish } else { Self::Posix }
    }

    /// The words as one line. A control character would be a key of the line editor, or end the line:
    /// it is refused.
    pub(super) fn line(self, words: &[String]) -> Result<String, Failure> {
        let has_control = |word: &&String| word.chars().any(is_control);
        if let Some(word) = words.iter().find(has_control) {
            return Err(Failure::new(
                Exit::Source,
                format!("`{word}` contains a control character, which a shell would read as a key"),
                "run the task without `--print`",
            ));
        }
        Ok(words.iter().map(|word| self.quoted(word)).collect::<Vec<_>>().join(" "))
    }

    fn quoted(self, word: &str) -> String {
        if is_plain(word) {
            return word.to_owned();
        }
        let text = match self {
            Self::Posix => word.replace('\'', r"'\''"),
            Self::Fish => word.replace('\\', r"\\").replace('\'', r"\'"),
        };
        format!("'{text}'")
    }
}

/// Also characters that end a line for some programs.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Whether no shell reads anything into a word. `=` at the start is a command for zsh.
fn is_plain(word: &str) -> bool {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+".contains(c);
    word.starts_with(|c: char| c.is_ascii_alphanumeric() || "_-./".contains(c))
        && word.chars().all(is_safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_themselves_again_in_each_shell() {
        let words = ["deploy", "it's", r"a\b", "=ls", "$(x)", "", "--env=a b"].map(str::to_owned);
        assert_eq!(
            Shell::Posix.line(&words).unwrap(),
            r"deploy 'it'\''s' 'a\b' '=ls' '$(x)' '' '--env=a b'"
        );
        assert_eq!(
            Shell::Fish.line(&words).unwrap(),
            r"deploy 'it\'s' 'a\\b' '=ls' '$(x)' '' '--env=a b'"
        );
    }

    #[test]
    fn control_characters_are_refused() {
        for c in ['\n', '\r', '\t', '\u{1b}', '\0', '\u{7f}', '\u{85}', '\u{9b}', '\u{2028}'] {
            for shell in [Shell::Posix, Shell::Fish] {
                let refused = shell.line(&["deploy".to_owned(), format!("a{c}b")]).unwrap_err();
                assert_eq!(refused.exit.code(), 65, "{c:?}");
            }
        }
    }
}
