//! What a block says about its crossings.

use std::collections::BTreeMap;

use crate::data::{Data, Secret};
use crate::duration::Duration;
use crate::gather::Gather as _;
use crate::resolver::Inputs;

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
    /// How long the target may be silent before it counts as lost.
    pub lost: Option<Duration>,
    /// How long the connection may take.
    pub connect: Option<Duration>,
}

impl Settings {
    /// Those of a block with these arguments.
    #[must_use]
    pub fn of(inputs: &Inputs) -> Self {
        let secret = |data: &Data| match data {
            Data::Text(text) => Some(Secret::clone(text)),
            _ => None,
        };
        let duration = |name| match inputs.data(name) {
            Some(Data::Duration(duration)) => Some(*duration),
            _ => None,
        };
        let environment = match inputs.data("env") {
            Some(Data::Map(variables)) => {
                let all = variables.iter();
                all.filter_map(|(name, value)| Some((name.clone(), secret(value)?))).gathered()
            }
            _ => BTreeMap::new(),
        };
        Self {
            password: inputs.data("password").and_then(secret),
            environment,
            is_login: inputs.is_true("login"),
            forwards_agent: inputs.is_true("forward_agent"),
            lost: duration("lost"),
            connect: duration("connect_timeout"),
        }
    }

    /// Whether a session that was opened with others is good for these.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let text = |secret: &Option<Secret>| secret.as_ref().map(|it| it.expose().to_owned());
        let all = |settings: &Self| {
            let variables = settings.environment.iter();
            let variables =
                variables.map(|(name, value)| (name.clone(), value.expose().to_owned()));
            let Self { password, is_login, forwards_agent, lost, connect, .. } = settings;
            let flags = (*is_login, *forwards_agent);
            (text(password), variables.collect::<Vec<_>>(), flags, *lost, *connect)
        };
        all(self) == all(other)
    }
}
