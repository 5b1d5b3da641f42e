//! What surrounds the process: arguments, environment, terminal. Read once, here.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use opal_core::Secret;
use opal_core::gather::Gather as _;
use opal_vault::trace::{TRACEPARENT, TraceParent};

use crate::inner::ALL;

#[derive(Debug)]
pub(crate) struct Ambient {
    /// It is `opal-commands`.
    pub(crate) has_all: bool,
    /// As it was called.
    pub(crate) name: OsString,
    /// The directory before `-C`, where there is one.
    pub(crate) began_in: OnceLock<PathBuf>,
    pub(crate) arguments: Vec<OsString>,
    /// A shell asks for completions.
    pub(crate) completes: bool,
    /// `$OPAL_ROOT`.
    pub(crate) root: Option<PathBuf>,
    pub(crate) home: Option<PathBuf>,
    /// Who runs opal, for the records of a contract.
    pub(crate) user: Option<String>,
    /// `$OPAL_IDENTITY`, which may be a key.
    pub(crate) identity: Option<Secret>,
    /// `$TRACEPARENT`, where its form is valid: the span that opal runs in.
    pub(crate) trace_parent: Option<TraceParent>,
    /// Where the checkout of a workflow is.
    workspace: Option<PathBuf>,
    /// Where a job of GitHub collects its summary.
    pub(crate) job_summary: Option<PathBuf>,
    no_color: bool,
    force_color: bool,
    pub(crate) stdout_is_terminal: bool,
    pub(crate) stderr_is_terminal: bool,
    /// The terminal only goes forward: `TERM` says so.
    is_dumb: bool,
    /// In a workflow of GitHub.
    pub(crate) github: bool,
    /// A browser has somewhere to appear.
    pub(crate) has_screen: bool,
}

/// `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Colour {
    #[default]
    Auto,
    Always,
    Never,
}

/// Set where a shell asks for completions.
pub(crate) const COMPLETE: &str = "OPAL_COMPLETE";

/// Where a key may stand.
pub(crate) const IDENTITY: &str = "OPAL_IDENTITY";

/// A variable that is set to something.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Whether two names are of one directory.
fn is_same(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| path.metadata().map(|found| (found.dev(), found.ino())).ok();
    one.is_absolute() && identity(one).is_some_and(|found| identity(other) == Some(found))
}

fn is_set(name: &str) -> bool {
    variable(name).is_some()
}

impl Ambient {
    pub(crate) fn read(has_all: bool) -> Self {
        let mut words = std::env::args_os();
        let name = words.next().unwrap_or_default();
        let mut words = words.peekable();
        // With these two opal has become this program.
        if has_all && words.next_if(|first| first == ALL).is_some() {
            words.next();
        }
        Self {
            has_all,
            name,
            began_in: OnceLock::new(),
            arguments: words.collect(),
            completes: is_set(COMPLETE),
            root: variable("OPAL_ROOT").map(PathBuf::from),
            home: variable("HOME").map(PathBuf::from),
            user: variable("USER")
                .or_else(|| variable("LOGNAME"))
                .map(|name| name.to_string_lossy().into_owned()),
            // What is no text is no key, and is refused as one.
            identity: variable(IDENTITY)
                .map(|value| Secret::new(value.into_string().unwrap_or_default())),
            trace_parent: variable(TRACEPARENT)
                .and_then(|value| TraceParent::parse(value.to_str()?)),
            workspace: variable("GITHUB_WORKSPACE").map(PathBuf::from),
            job_summary: variable("GITHUB_STEP_SUMMARY").map(PathBuf::from),
            no_color: is_set("NO_COLOR"),
            force_color: is_set("CLICOLOR_FORCE"),
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
            is_dumb: variable("TERM").is_some_and(|term| term == "dumb"),
            github: variable("GITHUB_ACTIONS").is_some_and(|value| value == "true"),
            has_screen: cfg!(target_os = "macos") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"),
        }
    }

    /// Everything that is set, for what a plan reads and runs; the runner's key is for neither.
    pub(crate) fn environment() -> BTreeMap<OsString, OsString> {
        let set = std::env::vars_os().filter(|(name, _)| name != IDENTITY);
        let mut set: BTreeMap<OsString, OsString> = set.gathered();
        // As every shell does: `-C`, or whoever started opal, may have gone elsewhere.
        if let (Some(named), Ok(here)) = (set.get_mut(OsStr::new("PWD")), std::env::current_dir())
            && !is_same(Path::new(named), &here)
        {
            *named = here.into_os_string();
        }
        set
    }

    /// The program that runs, without links: what it was installed with is beside it.
    pub(crate) fn program() -> Option<std::path::PathBuf> {
        std::env::current_exe().ok()?.canonicalize().ok()
    }

    /// A file as the workflow around opal knows it: from the top of its checkout.
    pub(crate) fn in_workspace(&self, path: &Path) -> String {
        let whole = path.canonicalize().ok();
        let workspace = self.workspace.as_ref().and_then(|top| top.canonicalize().ok());
        let below = match (&whole, &workspace) {
            (Some(whole), Some(top)) => whole.strip_prefix(top).ok(),
            _ => None,
        };
        below.unwrap_or(path).display().to_string()
    }

    /// Whether standard error is a terminal that can move its cursor.
    pub(crate) fn can_redraw(&self) -> bool {
        self.stderr_is_terminal && !self.is_dumb
    }

    /// Whether a terminal, if there is one, can move its cursor.
    pub(crate) fn is_capable(&self) -> bool {
        !self.is_dumb
    }

    /// Whether somebody sits in front of it: all three are a terminal.
    pub(crate) fn is_interactive(&self) -> bool {
        self.stdout_is_terminal && self.stderr_is_terminal && std::io::stdin().is_terminal()
    }

    /// The most memory that this process has had, in kilobytes, where the system tells.
    pub(crate) fn peak_memory() -> Option<u64> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().strip_suffix("kB")?.trim().parse().ok()
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
