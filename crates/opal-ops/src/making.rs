//! Making a contract out of a plan.
//!
//! Deliberately not here: where the bytes go.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use opal_core::contract::{Provenance, Seen, Source, SourceFile, TargetRecord};
use opal_core::gather;
use opal_core::hash::Algorithm;
use opal_core::keys::{KeyError, Keys as _};
use opal_core::resolver::Trouble;
use opal_core::{Duration, Registry};
use opal_plan::plan::Resolved;
use opal_session::stop::Stop;
use opal_trust::contracts::{self, Making, OwnKeys, Unmade};
use opal_trust::keys::{Recipient, Runner, SigningKey};

use crate::module::arguments;
use crate::planning::Subject;
use crate::resources::{self, Place};
use crate::source::{Form, seen_from};
use crate::targets::{has_targets, records};
use opal_core::gather::Gather as _;

/// The option whose contracts are of the user's tasks.
pub const GLOBAL: &str = "global";

/// A contract that is to be made.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    pub subject: &'r Subject<'r>,
    pub registry: &'r Registry,
    pub terms: &'r Terms<'r>,
    pub origin: &'r Origin,
    pub place: &'r Place<'r>,
    /// The directory of the process: recorded paths are relative to it, or absolute.
    pub here: &'r Path,
    /// In Unix seconds.
    pub time: i64,
    pub stop: &'r Stop,
}

/// What is said about the contract itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terms<'t> {
    pub expires: Option<Duration>,
    pub once: bool,
    /// Runners that may run it, besides this one.
    pub recipients: &'t [Recipient],
    pub signer: Option<&'t SigningKey>,
    pub typed: Typed<'t>,
}

/// Options as they were typed: a new contract needs them as well, and no hash has them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Typed<'t> {
    pub env_files: &'t [PathBuf],
    pub recipients: &'t [String],
    pub root: Option<&'t Path>,
    pub sign: Option<&'t str>,
}

/// Who makes it, and where.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The version of opal.
    pub compiler: String,
    pub user: Option<String>,
    pub host: Option<String>,
    /// The commit of the source.
    pub commit: Option<String>,
    /// Whether the source has changes that are not in that commit.
    pub modified: bool,
}

/// Why there is no contract.
#[derive(Debug)]
pub enum NotMade {
    Key(KeyError),
    /// The resources cannot be verified at all. It holds no value.
    Unready(Trouble),
    /// A target does not answer, or `ssh` refuses its key.
    Target(Trouble),
    /// A file that the plan was made of cannot be read again, or has changed.
    Source(Trouble),
    /// It cannot be sealed or encoded; `ephemeral` is why this machine has no key of its own.
    Unmade {
        why: Unmade,
        ephemeral: Option<String>,
    },
    /// A signal or a time limit came while resources were verified.
    Stopped,
}

/// The bytes of the contract of a plan that was made with `keys`.
pub fn make(
    resolved: Resolved,
    keys: &mut OwnKeys<'_>,
    request: &Request<'_>,
) -> Result<Vec<u8>, NotMade> {
    let (resources, targets) = request.world(&resolved, keys)?;
    let provenance =
        Provenance { resources, targets, ..request.provenance(resolved.plan.algorithm)? };
    let making = Making {
        created: request.time,
        provenance,
        recipients: request.terms.recipients,
        signer: request.terms.signer,
        registry: request.registry,
    };
    contracts::make(resolved.plan, keys, making).map_err(|why| {
        let ephemeral = keys.used_runner().and_then(Runner::why_ephemeral);
        NotMade::Unmade { why, ephemeral: ephemeral.map(str::to_owned) }
    })
}

impl Request<'_> {
    /// The state of the resources and who answers on the targets, for a later run to be compared with.
    fn world(
        &self,
        resolved: &Resolved,
        keys: &mut OwnKeys<'_>,
    ) -> Result<(Vec<Seen>, Vec<TargetRecord>), NotMade> {
        let plan = &resolved.plan;
        if !resources::has_resources(plan, self.registry) && !has_targets(plan) {
            return Ok(Default::default());
        }
        let key = keys.placeholder_key().map_err(NotMade::Key)?;
        let report = resources::of_contract(resolved, self.registry, &key, self.place, self.stop);
        let report = report.map_err(NotMade::Unready)?;
        if report.stopped.is_some() {
            return Err(NotMade::Stopped);
        }
        let targets = match self.place.reach.as_deref() {
            Some(reach) => records(&report, reach, plan.algorithm, &key),
            None => Ok(Vec::new()),
        };
        Ok((resources::seen(&report), targets.map_err(NotMade::Target)?))
    }

    fn provenance(&self, algorithm: Algorithm) -> Result<Provenance, NotMade> {
        let (path, origin, terms) = (&self.subject.loaded.path, self.origin, self.terms);
        Ok(Provenance {
            compiler: origin.compiler.clone(),
            source: Some(Source { path: self.relative(path), absolute: self.absolute(path) }),
            sources: self.sources(algorithm)?,
            modified: origin.modified,
            commit: origin.commit.clone(),
            options: self.options(),
            generated_by: origin.user.clone(),
            host: origin.host.clone(),
            expires: terms
                .expires
                .map(|after| self.time + (after.as_nanos() / 1_000_000_000).max(1)),
            once: terms.once,
            ..Provenance::default()
        })
    }

    /// Every source file that was read: of a module also its profile and the files of its pack.
    fn sources(&self, algorithm: Algorithm) -> Result<Vec<SourceFile>, NotMade> {
        let loaded = self.subject.loaded;
        let digests = loaded.digests(algorithm);
        let mut sources: Vec<SourceFile> = digests
            .map(|(file, digest)| SourceFile { path: self.relative(file.path), digest })
            .collect();
        gather::sort_by(&mut sources, |a, b| a.path.cmp(&b.path));
        let Form::Module(run) = &loaded.form else { return Ok(sources) };
        for file in run.files().iter().skip(1) {
            let digest = file.digest_with(algorithm).map_err(NotMade::Source)?;
            sources.push(SourceFile { path: self.relative(&file.path), digest });
        }
        Ok(sources)
    }

    /// The options that change a run, or that a new contract needs as well, and that no hash has.
    /// Paths are absolute: the next command may be typed elsewhere.
    fn options(&self) -> BTreeMap<String, Vec<String>> {
        let Typed { env_files, recipients, root, sign } = self.terms.typed;
        let file_or = |text: &str| match self.here.join(text).exists() || text.contains('/') {
            true => self.absolute(Path::new(text)),
            false => text.to_owned(),
        };
        let mut kept: BTreeMap<String, Vec<String>> = [
            ("changed-since", self.changed_since().into_iter().collect()),
            ("env-file", env_files.iter().map(|file| self.absolute(file)).collect()),
            ("recipient", recipients.iter().map(|text| file_or(text)).collect()),
            ("root", root.into_iter().map(|root| self.absolute(root)).collect()),
            ("sign", sign.into_iter().map(file_or).collect()),
            ("skip-preflight", self.skipped_preflight().into_iter().collect()),
        ]
        .into_iter()
        .map(|(name, values): (&str, Vec<String>)| (name.to_owned(), values))
        .gathered();
        kept.retain(|_, values| !values.is_empty());
        if self.subject.loaded.is_global {
            kept.insert(GLOBAL.to_owned(), Vec::new());
        }
        kept
    }

    /// The commit since which the projects have changed, where that was asked: what a name means may
    /// change.
    fn changed_since(&self) -> Option<String> {
        self.subject.loaded.selection.as_ref()?.commit.clone()
    }

    /// Why the preflight of a module was skipped, where it was.
    fn skipped_preflight(&self) -> Option<String> {
        let arguments = &self.subject.arguments;
        arguments.get(arguments::MODULE)?;
        match arguments.get(arguments::SKIP) {
            Some(opal_core::Value::String(reason)) => Some(reason.to_string()),
            _ => None,
        }
    }

    fn absolute(&self, path: &Path) -> String {
        let whole = std::path::absolute(self.here.join(path));
        whole.unwrap_or_else(|_| path.to_owned()).display().to_string()
    }

    /// A path from here, so that another checkout finds its own file.
    fn relative(&self, path: &Path) -> String {
        if path.is_relative() {
            return path.display().to_string();
        }
        seen_from(self.here, path).display().to_string()
    }
}

#[cfg(test)]
mod tests;
