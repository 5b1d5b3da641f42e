//! Whether a package may be used here: what it needs must be what the project allows, what the policy of
//! this side allows, and what somebody accepted on this machine.

use std::fmt;

use opal_trust::policy::{Native, PluginRules};

use super::Installed;
use crate::accept::Acceptances;
use crate::address::Source;
use crate::capability::Capability;

/// Why a package may not be used here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotAllowed {
    /// `allow` of `opal.mod` leaves it out.
    Project(Capability),
    Policy(String),
    /// Nobody accepted this checksum; whether another one was.
    NotAccepted {
        was_another: bool,
    },
}

impl Installed {
    /// # Errors
    /// The first rule that it breaks.
    pub fn judge(&self, policy: &PluginRules, accepted: &Acceptances) -> Result<(), NotAllowed> {
        let granted = self.granted();
        if let Some(missing) = self.manifest.capabilities.difference(&granted).next() {
            return Err(NotAllowed::Project(missing.clone()));
        }
        self.obeys(policy).map_err(NotAllowed::Policy)?;
        if accepted.accepts(self.name(), &self.checksum, &granted)
            || accepted.trusts(&self.directory)
        {
            return Ok(());
        }
        Err(NotAllowed::NotAccepted { was_another: accepted.of(self.name()).next().is_some() })
    }

    /// `local`, `local:PATH`, `registry:HOST`, `git`, `git:HOST`, `git:HOST/o/r`, or all of it.
    fn is_from(&self, allowed: &str) -> bool {
        let source = self.source();
        let is_below = |whole: &str| {
            let rest = whole.strip_prefix(allowed);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '@', ':']))
        };
        match &self.origin {
            Source::Local(_) => {
                allowed == source
                    || allowed == "local"
                    || allowed == format!("local:{}", self.directory.display())
            }
            Source::Registry(_) => allowed == source,
            Source::Git(_) => is_below(&source),
        }
    }

    fn obeys(&self, policy: &PluginRules) -> Result<(), String> {
        if policy.requires_verification && self.verification != "passed" {
            return Err(format!(
                "the policy requires verified packages, and the verification is `{}`",
                self.verification
            ));
        }
        let source = self.source();
        if policy.sources.as_ref().is_some_and(|all| !all.iter().any(|it| self.is_from(it))) {
            return Err(format!("the policy does not allow packages from `{source}`"));
        }
        if let Some(publishers) = &policy.publishers {
            match &self.signed_by {
                Some(publisher) if publishers.contains(publisher) => {}
                Some(publisher) => {
                    return Err(format!("the policy does not name its publisher `{publisher}`"));
                }
                None => return Err("the policy names publishers, and it is not signed".to_owned()),
            }
        }
        let space = self.name().split('/').next();
        let bound = policy.registries.iter().find(|(name, _)| Some(name.as_str()) == space);
        if let Some((name, address)) = bound
            && self.origin != Source::Registry(address.clone())
        {
            return Err(format!(
                "the policy binds `{name}` to {address}, and it is from `{source}`"
            ));
        }
        if policy.refuses_shell && self.manifest.capabilities.contains(&Capability::Shell) {
            return Err("the policy refuses packages with `shell`".to_owned());
        }
        if self.engine() == "native" && policy.native == Native::Refuse {
            return Err("the policy refuses native code".to_owned());
        }
        let denied = [
            self.name().to_owned(),
            format!("{}@{}", self.name(), self.version()),
            format!("sha256:{}", self.checksum.hex()),
            self.signed_by.clone().unwrap_or_default(),
        ];
        match policy.deny.iter().find(|deny| denied.contains(deny)) {
            Some(deny) => Err(format!("the policy denies `{deny}`")),
            None => Ok(()),
        }
    }
}

impl fmt::Display for NotAllowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Project(capability) => {
                write!(f, "`allow` in opal.mod leaves out `{capability}`, which it needs")
            }
            Self::Policy(why) => f.write_str(why),
            Self::NotAccepted { was_another: true } => {
                f.write_str("it has changed since it was accepted on this machine")
            }
            Self::NotAccepted { was_another: false } => {
                f.write_str("nobody has accepted it on this machine")
            }
        }
    }
}
