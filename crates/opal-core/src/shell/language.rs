//! Programs that take a text other than the shell of a session: how they are given it.

use std::path::Path;

use crate::Secret;
use crate::resolver::{ScriptPart, Trouble, TroubleKind};

use super::Shell;

/// Shells whose second readings the table of places knows. Others evaluate words elsewhere: `test` of
/// ksh, mksh and zsh computes both sides of `-eq`. A value in their text would become code.
const SHELLS: [&str; 4] = ["ash", "bash", "dash", "sh"];

/// Programs that call it something else than `-c`.
const BY_E: [&str; 4] = ["node", "nodejs", "perl", "ruby"];

/// What a program reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Shell(Shell),
    /// It has no place for values in its text.
    Other {
        flag: &'static str,
    },
}

impl Language {
    /// By the name of the program, or its path.
    #[must_use]
    pub fn of(program: &str) -> Self {
        let name = Path::new(program).file_name().and_then(|it| it.to_str()).unwrap_or(program);
        match name {
            "bash" => Self::Shell(Shell::Bash),
            _ if SHELLS.contains(&name) => Self::Shell(Shell::Sh),
            _ if BY_E.contains(&name) => Self::Other { flag: "-e" },
            _ => Self::Other { flag: "-c" },
        }
    }

    /// What precedes the text.
    #[must_use]
    pub const fn flag(self) -> &'static str {
        match self {
            Self::Shell(_) => "-c",
            Self::Other { flag } => flag,
        }
    }
}

/// Text without any value in it.
pub fn constant(parts: &[ScriptPart]) -> Result<Secret, Trouble> {
    let text = parts.iter().map(|part| match part {
        ScriptPart::Text(text) => Ok(text.as_str()),
        ScriptPart::Data(..) | ScriptPart::Raw(_) => Err(Trouble::new(
            TroubleKind::Invalid,
            "a value in text for another interpreter would become code",
            "pass it in a variable, with `@environ(NAME=…)`, or on standard input",
        )),
    });
    let text = text.collect::<Result<String, Trouble>>()?;
    if text.contains('\0') {
        return Err(Trouble::new(
            TroubleKind::Invalid,
            "a command cannot contain a NUL character",
            "pass such bytes in a file",
        ));
    }
    Ok(Secret::new(text))
}
