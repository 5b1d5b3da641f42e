//! What surrounds the process: arguments, environment, terminal. Read once, here.

use std::ffi::OsString;
use std::io::IsTerminal;

#[derive(Debug)]
pub(crate) struct Ambient {
    pub(crate) arguments: Vec<OsString>,
    /// A shell asks for completions.
    pub(crate) completes: bool,
    no_color: bool,
    force_color: bool,
    stdout_is_terminal: bool,
    stderr_is_terminal: bool,
}

/// `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Colour {
    #[default]
    Auto,
    Always,
    Never,
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

impl Ambient {
    pub(crate) fn read() -> Self {
        Self {
            arguments: std::env::args_os().skip(1).collect(),
            completes: is_set(crate::commands::completions::VARIABLE),
            no_color: is_set("NO_COLOR"),
            force_color: is_set("CLICOLOR_FORCE"),
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
        }
    }

    pub(crate) fn stdout_colour(&self, colour: Colour) -> bool {
        self.colour(colour, self.stdout_is_terminal)
    }

    pub(crate) fn stderr_colour(&self, colour: Colour) -> bool {
        self.colour(colour, self.stderr_is_terminal)
    }

    fn colour(&self, colour: Colour, terminal: bool) -> bool {
        match colour {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => !self.no_color && (terminal || self.force_color),
        }
    }
}
