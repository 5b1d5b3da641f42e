//! What a session on this machine is made of, and what is said where the system refuses it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use opal_core::inventory::EntryStore;
use opal_core::pages::Pages;
use opal_core::resolver::Trouble;

use super::terminal::Terminal;
use crate::error::SessionError;

/// What a session is made of. The command line collects it. Of the environment of the process,
/// sessions read only where temporary files go.
pub struct Setup {
    /// Of every command.
    pub environment: Arc<BTreeMap<OsString, OsString>>,
    /// Where the first steps start. Absolute.
    pub start: PathBuf,
    /// What `~` stands for; none where there is no home.
    pub home: Option<PathBuf>,
    /// Tells the processes of this run from all others: the id of the run.
    pub marker: String,
    /// When opal is interactive: standard input, output and error are a terminal.
    pub terminal: Option<Arc<Terminal>>,
    /// What is remembered of earlier runs.
    pub entries: Option<Arc<dyn EntryStore>>,
    /// Who reads pages of the web; none on a machine that is not opal's own.
    pub pages: Option<Arc<dyn Pages>>,
}

pub(super) const NO_PIPES: &str = "cannot create the pipes of a command";

pub(super) fn failed(what: &'static str, error: &std::io::Error) -> Trouble {
    SessionError::System { what, why: error.kind() }.into()
}

/// The names of the variables and never their values.
impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup")
            .field("environment", &self.environment.keys())
            .field("start", &self.start)
            .field("home", &self.home)
            .field("marker", &self.marker)
            .finish_non_exhaustive()
    }
}
