//! Shell text in which values are data.
//!
//! Every value in the text becomes a parameter of the shell, quoted for its place, so the text is
//! the same whatever the values are. They reach the shell on its standard input, which it reads
//! before anything else:
//!
//! ```text
//! set -o pipefail                     what every script starts with, where the shell has it
//! unset -v __opal_0                   an exported variable of that name would stay exported
//! eval "$(command -p cat)"            unset -v __opal_0
//!                                     __opal_0='; rm -rf /'
//! : "${__opal_0?}"                    nothing runs without the values
//! exec </dev/null
//! kubectl scale --replicas="${__opal_0}"
//! ```
//!
//! The left column is the shell's argument and holds no value; the right one is what is read. A
//! parameter is not exported, so neither the list of arguments nor the environment of any process
//! shows a value, unless the script hands it on itself. `. /dev/stdin` would need no `cat`, but
//! bash 3.2, which macOS has, reads nothing from a pipe that way.
//!
//! A shell that waits for its commands has a way of its own to read values; it takes them as
//! [`Compiled::assignments`].
//!
//! Deliberately not here: who runs it. This is a function from parts to text.

mod language;
mod movement;
mod plain;
mod quote;
mod quotes;
pub mod syntax;
mod texts;

use std::fmt::Write as _;

use crate::context::{Context, Place};
use crate::resolver::{ScriptPart, Trouble, TroubleKind};
use crate::script::Refusal;
use crate::wiped::Wiped;
use crate::{Data, Secret};

pub use language::{Language, constant};
pub use movement::{Movement, movement};
pub use plain::{Plain, plain};
pub use quotes::{Quotes, Seen};
pub use texts::{Text, stand_in, texts, texts_within};

/// A program can be given 128 KiB in one argument; longer scripts are read like the values.
const MAX_ARGUMENT_BYTES: usize = 64 * 1024;

/// The shells that text can be compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    Bash,
    /// Any POSIX shell: dash, ash.
    Sh,
}

/// A script and the values of its parameters.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The text. It holds no value, except for what was pasted with `@raw`.
    script: Secret,
    /// The value of [`parameter`] 0, 1 and so on.
    values: Vec<Secret>,
    /// Whether the script must be kept out of the shell's arguments too.
    is_fed: bool,
    /// Whether something in it was pasted.
    is_raw: bool,
}

/// The shell's name for the value of this number.
#[must_use]
pub fn parameter(index: usize) -> String {
    format!("__opal_{index}")
}

/// What the script is called where it is read and not given.
const SCRIPT: &str = "__opal_script";

const EVALUATED: &str = "eval \"${__opal_script}\"";

/// Puts text between single quotes, where only the quote itself means something.
pub fn single(into: &mut String, text: &str) {
    quote::single(into, text);
}

/// What a value becomes, by the one rule for it: the last line of defence.
pub fn words(data: &Data, context: Context) -> Result<Vec<Secret>, Trouble> {
    crate::script::admit(context, data).map_err(|refusal| refused(&refusal, "a value", "…"))
}

/// A refusal as it is reported at run time.
#[must_use]
pub fn refused(refusal: &Refusal, name: &str, written: &str) -> Trouble {
    let mut help = refusal.help(written).into_iter();
    let message = refusal.message(name);
    let mut trouble = Trouble::new(TroubleKind::Invalid, message, help.next().unwrap_or_default());
    trouble.help.extend(help.map(Into::into));
    trouble
}

/// Makes every value a parameter.
///
/// Refuses what has no form in its place: a value in text that is evaluated once more, anything
/// but an Int where the shell calculates, a collection inside a word, a NUL.
pub fn compile(parts: &[ScriptPart]) -> Result<Compiled, Trouble> {
    let mut script = Wiped::new(String::new());
    let mut values = Vec::new();
    let mut is_raw = false;
    for part in parts {
        match part {
            ScriptPart::Text(text) => script.push_str(text),
            ScriptPart::Raw(text) => {
                is_raw = true;
                script.push_str(text.expose());
            }
            ScriptPart::Data(data, context) => {
                for (index, value) in words(data, *context)?.into_iter().enumerate() {
                    let name = parameter(values.len());
                    let blank = if index == 0 { "" } else { " " };
                    let quote = if quote::is_bare(context.place()) { "" } else { "\"" };
                    write!(script, "{blank}{quote}${{{name}}}{quote}")
                        .expect("writing to a String does not fail");
                    values.push(value);
                }
            }
        }
    }
    if script.contains('\0') || values.iter().any(|value| value.expose().contains('\0')) {
        return Err(Trouble::new(
            TroubleKind::Invalid,
            "a command cannot contain a NUL character",
            "pass such bytes in a file",
        ));
    }
    let is_fed = is_raw || script.len() > MAX_ARGUMENT_BYTES;
    Ok(Compiled { script: Secret::new(script.as_str()), values, is_fed, is_raw })
}

/// Whether `[[` may be a command of the text.
fn has_test(text: &str) -> bool {
    text.match_indices("[[").any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + 2..].chars().next();
        before.is_none_or(|it| it.is_whitespace() || ";&|(!".contains(it))
            && after.is_some_and(|it| it.is_whitespace() || it == '\\')
    })
}

impl Compiled {
    /// The same for this shell. One that does not know `[[` would run what follows `||` in it, so
    /// text with values and `[[` is for bash alone.
    pub fn for_shell(self, shell: Shell) -> Result<Self, Trouble> {
        if shell == Shell::Bash || self.values.is_empty() || !has_test(self.script.expose()) {
            return Ok(self);
        }
        Err(Trouble::new(
            TroubleKind::Invalid,
            "this step uses `[[`, which only bash has, and `sh` would run it",
            "install bash, or write `[ … ]`",
        ))
    }

    /// The shell's argument after `-c`. It holds no value.
    #[must_use]
    pub fn command(&self, shell: Shell) -> String {
        self.command_from(shell, "command -p cat", "exec </dev/null\n")
    }

    /// The same where the values come on another descriptor, which is closed after them.
    #[must_use]
    pub fn command_reading(&self, shell: Shell, number: i32) -> String {
        let read = format!("command -p cat <&{number}");
        self.command_from(shell, &read, &format!("exec {number}<&-\n"))
    }

    fn command_from(&self, shell: Shell, read: &str, after: &str) -> String {
        let mut command = match shell {
            Shell::Bash => "set -o pipefail\n".to_owned(),
            Shell::Sh => String::new(),
        };
        if let Some(last) = self.last() {
            command.push_str(&format!(
                "unset -v {last}\neval \"$({read})\"\n: \"${{{last}?}}\"\n{after}"
            ));
        }
        if self.is_fed {
            command.push_str(EVALUATED);
        } else {
            command.push_str(self.script.expose());
        }
        command
    }

    /// For a shell that reads the values on its standard input: what it runs first, with `after` as
    /// the end of that, and the text. The first has no line break, so that the lines of the text
    /// keep their numbers.
    #[must_use]
    pub fn alone(&self, after: &str) -> (String, &str) {
        let prelude = self.last().map(|last| {
            format!("unset -v {last}; eval \"$(command -p cat)\"; : \"${{{last}?}}\"; {after}; ")
        });
        let text = if self.is_fed { EVALUATED } else { self.script.expose() };
        (prelude.unwrap_or_default(), text)
    }

    /// What the shell must read on its standard input, to the end; none where it reads nothing.
    #[must_use]
    pub fn feed(&self) -> Option<Wiped<String>> {
        self.last()?;
        let script = self.is_fed.then(|| (SCRIPT.to_owned(), &self.script));
        // With `allexport` from outside the values would be exported.
        let mut feed = self.assign(script);
        feed.insert_str(0, "set +a\n");
        // Nothing follows the last value: where its end is missing, so is the value.
        let end = feed.trim_end_matches([';', ' ']).len();
        feed.truncate(end);
        Some(feed)
    }

    /// The text in which every value is a parameter. Pasted text is kept apart from it.
    #[must_use]
    pub fn text(&self) -> &str {
        if self.is_raw { EVALUATED } else { self.script.expose() }
    }

    /// What sets the parameters in a shell that reads text: on one line where the values are.
    #[must_use]
    pub fn assignments(&self) -> Wiped<String> {
        let script = self.is_raw.then(|| (SCRIPT.to_owned(), &self.script));
        self.assign(script)
    }

    fn assign(&self, script: Option<(String, &Secret)>) -> Wiped<String> {
        let values = self.values.iter().enumerate().map(|(index, value)| (parameter(index), value));
        let all: Vec<_> = values.chain(script).collect();
        let bytes: usize =
            all.iter().map(|(_, value)| quote::single_bytes(value.expose()) + 64).sum();
        let mut text = Wiped::new(String::with_capacity(bytes + 64));
        for (name, value) in all {
            text.push_str(&format!("unset -v {name}; {name}="));
            quote::single(&mut text, value.expose());
            text.push_str("; ");
        }
        text
    }

    /// The parameter that is read last: where it is set, all are.
    fn last(&self) -> Option<String> {
        match self.values.len() {
            _ if self.is_fed => Some(SCRIPT.to_owned()),
            0 => None,
            count => Some(parameter(count - 1)),
        }
    }
}
