//! What a command of a prepared session does.

use std::path::PathBuf;
use std::time::Duration;

use opal_core::resolver::Trouble;

/// What a command does.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    pub(super) code: i32,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) takes: Duration,
    pub(super) directory: Option<PathBuf>,
    /// Prints what it reads.
    pub(super) passes: bool,
    /// Ends only when it is killed.
    pub(super) is_stubborn: bool,
    pub(super) trouble: Option<Trouble>,
}

impl Answer {
    #[must_use]
    pub fn code(code: i32) -> Self {
        Self { code, ..Self::default() }
    }

    #[must_use]
    pub fn prints(text: impl Into<Vec<u8>>) -> Self {
        Self { stdout: text.into(), ..Self::default() }
    }

    /// It could not be run at all.
    #[must_use]
    pub fn fails(trouble: Trouble) -> Self {
        Self { trouble: Some(trouble), ..Self::default() }
    }

    /// Prints what it reads, like `cat`.
    #[must_use]
    pub fn passes_on() -> Self {
        Self { passes: true, ..Self::default() }
    }

    #[must_use]
    pub fn and_code(mut self, code: i32) -> Self {
        self.code = code;
        self
    }

    #[must_use]
    pub fn says(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.stderr = text.into();
        self
    }

    /// After printing.
    #[must_use]
    pub fn takes(mut self, time: Duration) -> Self {
        self.takes = time;
        self
    }

    #[must_use]
    pub fn stubborn(mut self) -> Self {
        self.is_stubborn = true;
        self
    }

    /// Where it ends; a lone `cd` needs no answer for that.
    #[must_use]
    pub fn ends_in(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }
}
