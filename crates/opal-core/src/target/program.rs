//! Programs that a package names for its targets: what leads there, what runs the steps, what says that a
//! target is ready.

use std::fmt;

use crate::data::Data;
use crate::duration::Duration;
use crate::value::Value;
use crate::view::visible;

/// Arguments of one program, and bytes of one.
const MAX_ARGUMENTS: usize = 128;
const MAX_BYTES: usize = 4_096;

/// A program by name, never by path, and its arguments. No shell reads them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Program {
    name: String,
    arguments: Vec<String>,
}

/// A program of opal's machine whose input is a shell on the target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Carrier {
    pub program: Program,
    /// Whether it may use the keys of the user's agent.
    pub has_agent: bool,
}

/// A program of the target that succeeds once steps can run there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Readiness {
    pub program: Program,
    /// How long it may take.
    pub within: Duration,
}

/// Why something is not a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramError {
    Name(String),
    Argument(String),
    TooMany,
}

impl Program {
    /// # Errors
    /// The name is not one, or an argument cannot be shown as it is.
    pub fn new(name: &str, arguments: Vec<String>) -> Result<Self, ProgramError> {
        let is_inside = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
        let is_name = name.len() <= 255
            && name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && name.chars().all(is_inside);
        if !is_name {
            return Err(ProgramError::Name(name.to_owned()));
        }
        if arguments.len() > MAX_ARGUMENTS {
            return Err(ProgramError::TooMany);
        }
        let is_shown = |word: &&String| word.len() <= MAX_BYTES && visible::line(word) == **word;
        match arguments.iter().find(|word| !is_shown(word)) {
            Some(word) => Err(ProgramError::Argument(word.clone())),
            None => Ok(Self { name: name.to_owned(), arguments }),
        }
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    #[must_use]
    pub fn arguments(&self) -> &[String] {
        &self.arguments
    }

    /// As plans write it.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let words = std::iter::once(&self.name).chain(&self.arguments);
        Value::Array(words.map(|word| Value::String(word.clone().into())).collect())
    }

    /// Reads what [`Self::to_value`] wrote.
    #[must_use]
    pub fn from_data(data: &Data) -> Option<Self> {
        let Data::Array(words) = data else { return None };
        let mut words = words.iter().map(|word| word.as_text().map(str::to_owned));
        let name = words.next()??;
        Self::new(&name, words.collect::<Option<_>>()?).ok()
    }
}

/// With quotes around words that would be read as several.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.arguments.iter().try_for_each(|word| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "._+-/:=@%,".contains(c);
            match !word.is_empty() && word.chars().all(is_plain) {
                true => write!(f, " {word}"),
                false => write!(f, " {word:?}"),
            }
        })
    }
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => {
                let name = visible::brief(name, 64);
                write!(f, "`{name}` is not the name of a program: expects a name without `/`")
            }
            Self::Argument(word) => {
                let word = visible::brief(word, 64);
                write!(f, "the argument `{word}` is too long or has invisible characters")
            }
            Self::TooMany => write!(f, "a program has at most {MAX_ARGUMENTS} arguments"),
        }
    }
}

impl std::error::Error for ProgramError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_a_name_and_words_that_can_be_shown() {
        let new = |name: &str, words: &[&str]| {
            Program::new(name, words.iter().map(|it| (*it).to_owned()).collect())
        };
        let program = new("ssm-tool", &["connect", "i-1", "a b", ""]).unwrap();
        assert_eq!(program.to_string(), "ssm-tool connect i-1 \"a b\" \"\"");
        assert_eq!(Program::from_data(&Data::from(&program.to_value())), Some(program));
        for name in ["", "-x", "/bin/sh", "a/b", "..", "a b", "a\n"] {
            assert!(new(name, &[]).is_err(), "{name:?}");
        }
        for word in ["a\nb", "\u{202e}", "\0", "\u{1b}[1m"] {
            assert!(new("a", &[word]).is_err(), "{word:?}");
        }
    }
}
