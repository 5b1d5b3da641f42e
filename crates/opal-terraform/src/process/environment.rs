//! The environment of a provider: of the step's only what every program needs, and what the recipe of
//! the provider names.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// What every provider gets of the environment of the step.
const USUAL: [&str; 12] = [
    "HOME",
    "PATH",
    "LANG",
    "TZ",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
];

/// What none gets, whoever lists it: an agent signs for whoever reaches it.
const NEVER: [&str; 1] = ["SSH_AUTH_SOCK"];

/// What the protocol is about, or what would show the secrets of a provider. Nobody sets these.
fn is_reserved(name: &str) -> bool {
    name.starts_with("TF_LOG")
        || name.starts_with("PLUGIN_")
        || name == COOKIE.0
        || name == "TMPDIR"
}

const COOKIE: (&str, &str) =
    ("TF_PLUGIN_MAGIC_COOKIE", "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2");

/// What the protocol adds. Without a certificate of the client, providers speak plain text.
pub(super) fn protocol() -> [(&'static str, &'static str); 9] {
    [
        COOKIE,
        ("PLUGIN_PROTOCOL_VERSIONS", "5,6"),
        ("TF_LOG", "OFF"),
        ("TF_LOG_PROVIDER", "OFF"),
        ("TF_LOG_SDK", "OFF"),
        ("TF_LOG_SDK_FRAMEWORK", "OFF"),
        ("TF_LOG_SDK_PROTO", "OFF"),
        ("TF_LOG_CORE", "OFF"),
        ("GOGC", "200"),
    ]
}

/// What a provider gets: the usual variables, those that its recipe lists (`AWS_*`), and those of
/// `env={…}` of its block.
#[must_use]
pub fn of_provider(
    step: &BTreeMap<String, OsString>,
    listed: &[String],
    given: &BTreeMap<String, OsString>,
) -> Vec<(OsString, OsString)> {
    let is_listed = |name: &str| {
        listed.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(start) => !start.is_empty() && name.starts_with(start),
            None => pattern == name,
        })
    };
    let passes = |name: &str| (USUAL.contains(&name) || is_listed(name)) && may_have(name);
    let mut all: BTreeMap<&str, &OsStr> = BTreeMap::new();
    all.extend(
        step.iter().filter(|(name, _)| passes(name)).map(|(name, value)| (&**name, &**value)),
    );
    all.extend(
        given.iter().filter(|(name, _)| may_have(name)).map(|(name, value)| (&**name, &**value)),
    );
    all.into_iter().map(|(name, value)| (name.into(), value.to_owned())).collect()
}

/// Whether a provider may have a variable at all.
#[must_use]
pub fn may_have(name: &str) -> bool {
    !NEVER.contains(&name) && !is_reserved(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_gets_only_what_is_usual_listed_or_given() {
        let variable = |name: &str| (name.to_owned(), OsString::from("x"));
        let step: BTreeMap<_, _> = [
            "HOME",
            "AWS_PROFILE",
            "AWS",
            "SSH_AUTH_SOCK",
            "GITHUB_TOKEN",
            "TF_LOG",
            "LD_PRELOAD",
            "PLUGIN_CLIENT_CERT",
            "TF_LOG_PATH",
            "TMPDIR",
        ]
        .map(variable)
        .into();
        let given: BTreeMap<_, _> = ["OWN", "SSH_AUTH_SOCK", "TF_LOG"].map(variable).into();
        let listed = ["AWS_*", "SSH_AUTH_SOCK", "TF_LOG_PATH", "*"].map(str::to_owned);
        let names: Vec<_> =
            of_provider(&step, &listed, &given).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["AWS_PROFILE", "HOME", "OWN"]);
    }
}
