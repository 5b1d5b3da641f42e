//! What every call may use.

use opal_trust::policy::McpRules;
use opal_vault::Vault;
use opal_vault::root::Root;

use super::pages::Pages;
use super::projects::Projects;
use super::started::Started;
use crate::child::Opal;

/// Shared by all calls of a connection.
pub(super) struct Desk {
    pub(super) opal: Opal,
    pub(super) projects: Projects,
    pub(super) started: Started,
    pub(super) rules: McpRules,
    pub(super) pages: Pages,
    /// For what is written down: agents may send secrets.
    pub(super) vault: Vault,
}

impl Desk {
    pub(super) const fn root(&self) -> &Root {
        self.opal.root()
    }
}
