//! Whether a package may be used here: what it needs must be what the project allows, what the policy of
//! this side allows, and what somebody accepted on this machine.

use std::collections::BTreeSet;
use std::fmt;

use opal_core::contract::PluginRecord;
use opal_trust::policy::{Native, PluginRules};

use super::Installed;
use crate::accept::Acceptances;
use crate::address::Source;
use crate::capability::Capability;
use crate::provider::ENGINE as PROVIDER;

/// Why a package may not be used here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotAllowed {
    /// `allow` of `opal.mod` leaves it out.
    Project(Capability),
    /// It leaves a host to the project, and `allow` of `opal.mod` names none.
    Open(Capability),
    /// `allow` of `opal.mod` has what its manifest does not ask for.
    Excess(Capability),
    Policy(String),
    /// It is native code, and `opal.mod` does not say that it may be.
    Native,
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
        self.closed(&granted)?;
        if self.engine() == "native" && !self.wanted.native {
            return Err(NotAllowed::Native);
        }
        self.obeys(policy).map_err(NotAllowed::Policy)?;
        if accepted.accepts(self.name(), &self.checksum, &granted)
            || self.is_local() && accepted.trusts(&self.directory)
        {
            return Ok(());
        }
        Err(NotAllowed::NotAccepted { was_another: accepted.of(self.name()).next().is_some() })
    }

    /// Whether `allow` leaves it everything that it needs, names the hosts that it leaves open, and nothing
    /// else.
    fn closed(&self, granted: &BTreeSet<Capability>) -> Result<(), NotAllowed> {
        let mut allow = self.wanted.allow.iter().flatten();
        if let Some(more) = allow.find(|it| !granted.contains(it)) {
            return Err(NotAllowed::Excess(more.clone()));
        }
        for needed in &self.manifest.capabilities {
            match needed {
                Capability::Open(_) if granted.iter().any(|it| it.closes(needed)) => {}
                Capability::Open(_) => return Err(NotAllowed::Open(needed.clone())),
                _ if granted.contains(needed) => {}
                _ => return Err(NotAllowed::Project(needed.clone())),
            }
        }
        Ok(())
    }

    /// As a contract records it.
    fn record(&self) -> PluginRecord {
        PluginRecord {
            name: self.name().to_owned(),
            version: self.version().to_string(),
            source: self.source(),
            verification: self.verification.to_owned(),
            signed_by: self.signed_by.clone(),
            schema: None,
            checksum: Some(format!("sha256:{}", self.checksum.hex())),
            engine: Some(self.engine().to_owned()),
            capabilities: self.manifest.capabilities.iter().map(ToString::to_string).collect(),
        }
    }

    fn obeys(&self, policy: &PluginRules) -> Result<(), String> {
        let whole = self.is_local().then(|| format!("local:{}", self.directory.display()));
        obeys(&self.record(), whole.as_deref(), policy)?;
        let space = self.name().split('/').next();
        match policy.registries.iter().find(|(name, _)| Some(name.as_str()) == space) {
            Some((name, address)) if self.origin != Source::Registry(address.clone()) => {
                Err(format!("the policy binds `{name}` to {address}, and it is from elsewhere"))
            }
            _ => Ok(()),
        }
    }
}

/// Whether a policy allows a package that a contract records.
///
/// # Errors
/// The first rule that it breaks.
pub fn allowed(record: &PluginRecord, policy: &PluginRules) -> Result<(), String> {
    obeys(record, None, policy)
}

/// `local`, `local:PATH`, `registry:HOST`, `git`, `git:HOST`, `git:HOST/o/r`, or all of it.
fn is_from(source: &str, allowed: &str) -> bool {
    let is_below = |rest: &str| rest.is_empty() || rest.starts_with(['/', '@', ':']);
    allowed == source
        || allowed == "local" && source.starts_with("local:")
        || source.starts_with("git:") && source.strip_prefix(allowed).is_some_and(is_below)
}

/// `whole` is the source of a directory without symlinks.
fn obeys(record: &PluginRecord, whole: Option<&str>, policy: &PluginRules) -> Result<(), String> {
    let (source, verification) = (&record.source, &record.verification);
    if policy.requires_verification && verification != "passed" {
        return Err(format!(
            "the policy requires verified packages, and the verification is `{verification}`"
        ));
    }
    let is_named = |it: &String| is_from(source, it) || Some(it.as_str()) == whole;
    if policy.sources.as_ref().is_some_and(|all| !all.iter().any(is_named)) {
        return Err(format!("the policy does not allow packages from `{source}`"));
    }
    if let Some(publishers) = &policy.publishers {
        match &record.signed_by {
            Some(publisher) if publishers.contains(publisher) => {}
            Some(publisher) => {
                return Err(format!("the policy does not name its publisher `{publisher}`"));
            }
            None => return Err("the policy names publishers, and it is not signed".to_owned()),
        }
    }
    let space = record.name.split('/').next();
    let bound = policy.registries.iter().find(|(name, _)| Some(name.as_str()) == space);
    if let Some((name, address)) = bound
        && *source != Source::Registry(address.clone()).shown()
    {
        return Err(format!("the policy binds `{name}` to {address}, and it is from `{source}`"));
    }
    if policy.refuses_shell && record.capabilities.iter().any(|it| it == "shell") {
        return Err("the policy refuses packages with `shell`".to_owned());
    }
    if record.engine.as_deref() == Some("native") && policy.native() == Native::Refuse {
        return Err("the policy refuses native code".to_owned());
    }
    if record.engine.as_deref() == Some(PROVIDER) && policy.refuses_providers {
        return Err("the policy refuses Terraform providers".to_owned());
    }
    let version = format!("{}@{}", record.name, record.version);
    let denied =
        [Some(&record.name), Some(&version), record.checksum.as_ref(), record.signed_by.as_ref()];
    match policy.deny.iter().find(|deny| denied.contains(&Some(*deny))) {
        Some(deny) => Err(format!("the policy denies `{deny}`")),
        None => Ok(()),
    }
}

impl fmt::Display for NotAllowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Project(capability) => {
                write!(f, "`allow` in opal.mod leaves out `{capability}`, which it needs")
            }
            Self::Open(open) => {
                write!(f, "it {}, and opal.mod names none", open.sentence())
            }
            Self::Excess(more) => {
                write!(f, "`allow` in opal.mod has `{more}`, which its manifest does not ask for")
            }
            Self::Policy(why) => f.write_str(why),
            Self::Native => f.write_str("it is native code, which opal.mod does not allow"),
            Self::NotAccepted { was_another: true } => {
                f.write_str("it has changed since it was accepted on this machine")
            }
            Self::NotAccepted { was_another: false } => {
                f.write_str("nobody has accepted it on this machine")
            }
        }
    }
}
