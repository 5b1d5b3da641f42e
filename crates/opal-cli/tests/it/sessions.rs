//! What a step on a target has of opal's terminal, and what a target without a helper can do.

mod configured;
mod helper;
mod persist;
mod plain;
mod questions;
mod terminal;

use std::fs::File;
use std::io::Write as _;
use std::process::Child;

use crate::pty::start;
use crate::run::terminal::read_until;
use crate::support::Opal;

/// Opal on a terminal, and the person in front of it.
pub(crate) struct Person {
    pub(crate) child: Child,
    pub(crate) own: File,
    pub(crate) shown: String,
    _opal: Opal,
}

impl Person {
    pub(crate) fn before(opal: Opal) -> Self {
        let (child, own) = start(opal.interruptible());
        Self { child, own, shown: String::new(), _opal: opal }
    }

    /// Waits until the terminal shows it.
    pub(crate) fn sees(&mut self, said: &str) -> &mut Self {
        read_until(&mut self.own, &mut self.shown, said);
        assert!(self.shown.contains(said), "{said:?} is not in {}", self.shown);
        self
    }

    pub(crate) fn types(&mut self, keys: &[u8]) -> &mut Self {
        self.own.write_all(keys).unwrap();
        self
    }

    /// The exit code, and all that was shown.
    pub(crate) fn ends(mut self) -> (i32, String) {
        read_until(&mut self.own, &mut self.shown, "\0never");
        (self.child.wait().unwrap().code().unwrap_or(-1), self.shown)
    }
}
