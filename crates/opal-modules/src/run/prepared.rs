//! A run that could be planned: everything that is known of it, and why there may be none.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use opal_core::hash::Algorithm;
use opal_core::placeholder::PlaceholderKey;
use opal_core::{Data, Diagnostic};
use opal_vault::Vault;
use opal_vault::event::End;
use serde_json::{Map, Value, json};

use super::driver::{Driver, Request, Tool, Work};
use super::hooks::{HookStep, LABEL};
use super::pack::Pack;
use super::probes::{OUTPUTS, ProbeStep};
use super::{Command, Programs};
use crate::constraint::{Constraint, Subject};
use crate::inputs::InvalidInputs;
use crate::keep::{Credentials, HIDDEN, Instance, RuntimeRoot, ToolEnd};
use crate::load::ReadFile;
use crate::{NotFound, Profile, Spec};
use opal_core::gather::Gather as _;

/// A run that could be planned.
pub struct Prepared {
    pub command: Command,
    pub instance: Option<Instance>,
    pub root: RuntimeRoot,
    pub spec: Spec,
    pub spec_path: PathBuf,
    /// The text of the spec.
    pub spec_text: String,
    /// The files that it is made of, for the provenance of a contract: the spec first, then its schema,
    /// the profile with its templates, and every file of the pack.
    /// The file of inputs is not one of them: it may hold secrets, which a digest could give away.
    pub files: Vec<ReadFile>,
    pub profile: Profile,
    pub profile_path: PathBuf,
    /// Of what the profile says to the tools or wants of a run, and of the files that it brings along.
    pub(crate) policy_digest: String,
    pub driver: &'static dyn Driver,
    pub pack: Pack,
    /// With what is secret in them.
    pub inputs: Map<String, Value>,
    /// The secret ones, by where they are.
    pub secrets: BTreeMap<String, Data>,
    /// What must be hidden besides: variables as they were written, those of the profile, and what is
    /// in secret documents.
    pub(super) hidden: Vec<Data>,
    /// What the templates of the profile hold, by where they belong below the stack.
    pub(super) templates: BTreeMap<String, String>,
    pub work: Work,
    /// What is checked after the tools, where they have done well.
    pub probes: Vec<ProbeStep>,
    /// What runs after that, where it has done well.
    pub hooks: Vec<HookStep>,
    pub credentials: Credentials,
    pub programs: Programs,
    /// What is not as it should be, and stops nothing.
    pub warnings: Vec<String>,
}

/// Why a module cannot be run.
#[derive(Debug)]
pub enum Unprepared {
    /// A file has faults.
    Faults {
        path: PathBuf,
        text: String,
        diagnostics: Vec<Diagnostic>,
    },
    /// Something is not there.
    Missing(NotFound),
    Inputs(InvalidInputs),
    /// What it builds on has not been applied.
    Dependency(NotFound),
}

impl From<NotFound> for Unprepared {
    fn from(missing: NotFound) -> Self {
        Self::Missing(missing)
    }
}

impl Prepared {
    /// What the driver is asked for, with these inputs.
    pub(super) fn request<'r>(
        &'r self,
        inputs: &'r Map<String, Value>,
        find: &'r dyn Fn(&str) -> Option<PathBuf>,
    ) -> Request<'r> {
        Request {
            command: self.command,
            module: &self.spec.module_ref,
            instance: self.instance.as_ref().map(Instance::as_str),
            inputs,
            execution: &self.spec.execution,
            credentials: &self.spec.credentials,
            profile: &self.profile,
            templates: &self.templates,
            stack: &self.pack.stack,
            find,
        }
    }

    /// Hides the credentials and everything else that its tools could print, from now on. The secret
    /// inputs are values of the plan, which hides them itself.
    pub fn register(&self, vault: &Vault) {
        self.credentials.register(vault);
        self.hidden.iter().for_each(|secret| vault.register(secret, HIDDEN));
    }

    /// Where the state of this module, or of this one of several, is kept.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.root.state(&self.spec.module_ref, self.instance.as_ref())
    }

    /// The inputs without what is secret in them, however short it is.
    #[must_use]
    pub(crate) fn shown_inputs(&self) -> Value {
        let mut shown = Value::Object(self.inputs.clone());
        for at in self.secrets.keys() {
            shown.pointer_mut(at).into_iter().for_each(|value| *value = HIDDEN.into());
        }
        shown
    }

    /// Which inputs they are, by those that are not secret: a digest of a secret could be guessed
    /// at.
    #[must_use]
    pub fn inputs_digest(&self) -> String {
        digest(&self.shown_inputs())
    }

    /// What the run rests on: all inputs, the files of the pack, and what the profile says to the tools.
    /// What is secret counts by digests that only this key makes; none where there is no key for it.
    #[must_use]
    pub fn basis_digest(&self, key: Option<&PlaceholderKey>) -> Option<String> {
        let keyed = |(at, secret): (&String, &Data)| {
            let of_secret = key?.placeholder(Algorithm::Blake3, at, secret);
            Some((at.clone(), Value::from(of_secret.digest.hex())))
        };
        let secrets: Vec<_> = self.secrets.iter().map(keyed).collect::<Option<_>>()?;
        let secrets: Map<String, Value> = secrets.into_iter().gathered();
        Some(digest(&json!({
            "execution": self.execution(),
            "inputs": self.shown_inputs(),
            "pack": self.pack.digest.hex(),
            "policy": self.policy_digest,
            "secrets": secrets,
        })))
    }

    /// A directory that outlives the run, for what the tools have to remember.
    pub(super) fn memory(&self) -> PathBuf {
        let folder = self.root.path().join("state").join("tools").join(self.spec.module_ref.id());
        match &self.instance {
            Some(instance) => folder.join("instances").join(instance.as_str()),
            None => folder.join("latest"),
        }
    }

    /// How it runs, for its evidence.
    pub(super) fn execution(&self) -> Value {
        let execution = &self.spec.execution;
        let hooks: Map<String, Value> = execution
            .hooks
            .iter()
            .map(|hook| (hook.name.clone(), Value::Object(hook.settings.clone())))
            .gathered();
        json!({
            "driver": execution.driver.as_str(),
            "hooks": hooks,
            "pack_id": execution.pack.as_str(),
            "profile": execution.profile.as_str(),
        })
    }

    /// Everything that runs, in order: the tools of the driver, what is checked after them, the hooks.
    pub fn tools(&self) -> impl Iterator<Item = Tool> {
        let hooks = self.hooks.iter().map(HookStep::tool);
        self.work.tools.iter().cloned().chain(self.checks()).chain(hooks)
    }

    /// Whether a tool may fail without failing the run.
    #[must_use]
    pub fn may_fail(&self, label: &str) -> bool {
        self.tools().any(|tool| tool.may_fail && tool.label == label)
    }

    /// See [`Tool::runs_anyway`].
    #[must_use]
    pub fn runs_anyway(&self, label: &str) -> bool {
        self.tools().any(|tool| tool.runs_anyway && tool.label == label)
    }

    /// What there is to say about hooks that have failed without failing the run.
    pub fn failed_hooks(&self, tools: &[ToolEnd]) -> impl Iterator<Item = String> {
        let failed = |tool: &&ToolEnd| matches!(tool.end, End::Failed | End::TimedOut);
        let failed = tools.iter().filter(failed).filter(|tool| self.may_fail(&tool.label));
        failed.filter_map(|ToolEnd { label, rc, .. }| {
            let name = label.strip_prefix(LABEL)?;
            Some(format!("the hook `{name}` ended with {rc}; see `{label}.stderr.txt`"))
        })
    }

    /// The constraints that hold for what is put out; none where nothing is.
    pub(super) fn output_constraints(&self) -> Vec<&Constraint> {
        let is_output = |one: &&Constraint| matches!(one.subject, Subject::Output(_));
        match self.command.of_tools() {
            Command::Apply => self.spec.constraints.iter().filter(is_output).collect(),
            _ => Vec::new(),
        }
    }

    /// What is checked after the tools, in order.
    pub(super) fn checks(&self) -> impl Iterator<Item = Tool> {
        let outputs = !self.output_constraints().is_empty();
        let outputs = outputs.then(|| Tool::new(OUTPUTS, &["outputs"]));
        outputs.into_iter().chain(self.probes.iter().map(ProbeStep::tool))
    }

    /// Whether a tool of this label is a check of opal's own.
    #[must_use]
    pub fn is_check(&self, label: &str) -> bool {
        self.checks().any(|check| check.label == label)
    }
}

pub(super) fn digest(value: &Value) -> String {
    format!("blake3:{}", Algorithm::Blake3.digest(&[value.to_string().as_bytes()]).hex())
}

/// Inputs may be secret.
impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("command", &self.command)
            .field("module", &self.spec.module_ref)
            .field("pack", &self.pack.stack)
            .field("work", &self.work)
            .finish_non_exhaustive()
    }
}
