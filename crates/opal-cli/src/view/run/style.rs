//! How a run is shown, and what a view is given with an event.

use opal_core::action::BranchOutput;

use crate::view::ink::Ink;

/// How a run is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) talk: Talk,
    /// How long each step took, at the end.
    pub(crate) timings: bool,
    pub(crate) ink: Ink,
    /// Standard output is for a program: what steps print there goes to standard error.
    pub(crate) stdout_is_json: bool,
    pub(crate) stdout_is_terminal: bool,
    /// A terminal that can move its cursor.
    pub(crate) stderr_is_terminal: bool,
    /// In a workflow of GitHub.
    pub(crate) github: bool,
    /// Whether it is told how many branches have ended, where that cannot be drawn.
    pub(crate) counts_branches: bool,
}

/// How much opal says itself. What steps print is theirs, and always shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Talk {
    /// Failures only.
    Quiet,
    Usual,
    /// Blocks, paths, times and debug messages too.
    Verbose,
}

impl Style {
    /// How parallel branches are shown where nobody says: live where a person watches.
    pub(crate) const fn branch_output(&self) -> BranchOutput {
        let watched = match self.stdout_is_json {
            true => self.stderr_is_terminal,
            false => self.stdout_is_terminal,
        };
        if watched { BranchOutput::Prefixed } else { BranchOutput::Grouped }
    }
}

/// Where in the source the step of an event is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Of<'a> {
    /// The task whose step starts.
    pub(crate) task: Option<&'a str>,
    /// `deploy.opl:12`, of a step that failed.
    pub(crate) place: Option<&'a str>,
    /// `conf (Web server): template:/etc/app.conf`, of a step that is skipped.
    pub(crate) label: Option<&'a str>,
}
