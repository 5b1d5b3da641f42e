//! Which contracts this side accepts: decided where they run, never in the file.
//!
//! | what | where |
//! |---|---|
//! | the rules, and how several sets of them become one | [`Policy`] |
//! | the files they are in | [`Files`], [`ProjectFile`] |
//! | what is wrong with such a file | [`PolicyError`] |
//! | what a user prefers, which no refusal depends on | [`Settings`] |
//! | whether a contract may run | [`Policy::judge`], [`Refusal`] |
//! | which packages of decorators may be used | [`PluginRules`] |
//! | whether something may run without one | [`Policy::allows_direct`] |
//! | which projects and tools an agent gets | [`McpRules`] |
//! | which contracts need the approval of people | [`Rule`], [`Person`] |
//! | the only variables of a contract run | [`Environment`] |
//!
//! Deliberately not here: whether a contract is whole, expired, used, or the same plan. That is
//! not a matter of trust.

mod approval;
mod environment;
mod error;
mod file;
mod judge;
mod mcp;
mod plugins;
mod settings;

use std::collections::BTreeSet;

use opal_core::Duration;

pub use approval::{Person, Rule};
pub use environment::Environment;
pub use error::{PolicyError, PolicyFault, Setting};
pub use file::{Files, ProjectFile};
pub(crate) use judge::SKEW_SECONDS;
pub use judge::{Facts, Refusal, Signature};
pub use mcp::{McpRules, RESOLVING, TOOLS};
pub use plugins::{Native, PluginRules};
pub use settings::{Queue, Settings};

use crate::keys::PublicKey;

/// The strictest of all the rules that hold here. The default accepts everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    pub require_signature: bool,
    /// Whose signatures count. Where a signature is required and this is none, nobody's does.
    pub trusted_keys: Option<BTreeSet<PublicKey>>,
    /// Whose orders a runner takes; none: those of `trusted_keys`.
    pub dispatchers: Option<BTreeSet<PublicKey>>,
    pub randomness: Randomness,
    /// How old a contract may be.
    pub max_age: Option<Duration>,
    pub require_expiry: bool,
    /// Whether nothing may run without a contract.
    pub refuses_direct: bool,
    /// `[[approval]]`: every rule that matches must be met.
    pub rules: Vec<Rule>,
    /// Whether a contract runs in a fresh checkout of its commit.
    pub tree: bool,
    /// The only variables of a contract run.
    pub environment: Option<Environment>,
    /// Which packages of decorators may be used.
    pub plugins: PluginRules,
    /// What agents may do.
    pub mcp: McpRules,
}

/// Where random values may come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Randomness {
    #[default]
    Any,
    /// From the seed of a contract only: a direct run may draw none.
    Contract,
}

impl Policy {
    /// What `--require-signature` says, with the key it names.
    #[must_use]
    pub fn requiring_signature(key: Option<PublicKey>) -> Self {
        let trusted_keys = key.map(|key| BTreeSet::from([key]));
        Self { require_signature: true, trusted_keys, ..Self::default() }
    }

    /// Both sets of rules at once, where the two are of equal standing: the system's, the user's,
    /// the command line's.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        Self {
            require_signature: self.require_signature || other.require_signature,
            trusted_keys: both(self.trusted_keys, other.trusted_keys),
            dispatchers: both(self.dispatchers, other.dispatchers),
            randomness: self.randomness.max(other.randomness),
            max_age: match (self.max_age, other.max_age) {
                (Some(one), Some(two)) => Some(one.min(two)),
                (one, two) => one.or(two),
            },
            require_expiry: self.require_expiry || other.require_expiry,
            refuses_direct: self.refuses_direct || other.refuses_direct,
            rules: self.rules.into_iter().chain(other.rules).collect(),
            tree: self.tree || other.tree,
            environment: Environment::both(self.environment, other.environment),
            plugins: self.plugins.merge(other.plugins),
            mcp: self.mcp.merge(other.mcp),
        }
    }

    /// Whose orders a runner takes; none where nobody is named.
    #[must_use]
    pub fn dispatchers(&self) -> Option<&BTreeSet<PublicKey>> {
        self.dispatchers.as_ref().or(self.trusted_keys.as_ref())
    }

    /// The rules of a project on top, which can only tighten: where a signature is required and
    /// nobody is trusted yet, a project cannot name whom to trust.
    #[must_use]
    pub fn tightened_by(self, mut project: Self) -> Self {
        if self.require_signature && self.trusted_keys.is_none() {
            project.trusted_keys = None;
        }
        // Nothing of a project is read before its order was accepted.
        project.dispatchers = None;
        project.plugins = project.plugins.of_project();
        self.merge(project)
    }
}

type Keys = Option<BTreeSet<PublicKey>>;

/// Those that both allow.
fn both(one: Keys, other: Keys) -> Keys {
    match (one, other) {
        (Some(one), Some(two)) => Some(one.intersection(&two).copied().collect()),
        (one, two) => one.or(two),
    }
}
