//! What a block says about its crossings.

use std::collections::BTreeMap;

use crate::data::Secret;
use crate::duration::Duration;

/// What a block says about its crossings.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// For the login, or for the program that changes the user.
    pub password: Option<Secret>,
    /// On top of the environment there.
    pub environment: BTreeMap<String, Secret>,
    /// Whether steps get the environment of a login shell.
    pub is_login: bool,
    /// Whether the agent of the user signs for the target.
    pub forwards_agent: bool,
    /// Files of opal's machine that are sent before the block runs, by their names there.
    pub files: BTreeMap<String, String>,
    /// How long the target may be silent before it counts as lost.
    pub lost: Option<Duration>,
    /// How long the connection may take.
    pub connect: Option<Duration>,
    pub helper: HelperUse,
    /// Whether a person may be asked what `ssh` asks: a block on one target.
    pub asks: bool,
}

/// Whether the target helper runs on a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HelperUse {
    /// Where it can; else only commands run there.
    #[default]
    Auto,
    /// Never: only commands run there.
    None,
}

impl Settings {
    /// Whether a session that was opened with others is good for these.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let text = |secret: &Option<Secret>| secret.as_ref().map(|it| it.expose().to_owned());
        let all = |settings: &Self| {
            let variables = settings.environment.iter();
            let variables =
                variables.map(|(name, value)| (name.clone(), value.expose().to_owned()));
            let Self { password, is_login, forwards_agent, lost, connect, helper, .. } = settings;
            let flags = (*is_login, *forwards_agent, *helper == HelperUse::None);
            (text(password), variables.collect::<Vec<_>>(), flags, *lost, *connect)
        };
        all(self) == all(other)
    }
}
