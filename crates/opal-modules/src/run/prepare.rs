//! Everything that is known of a run before a plan is made. Nothing here changes anything.

mod imports;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use opal_core::hash::Algorithm;
use opal_core::placeholder::PlaceholderKey;
use opal_core::{Code, Data, Diagnostic};
use opal_vault::Vault;
use serde_json::{Map, Value, json};

use super::driver::{Driver, Request, Work};
use super::pack::Pack;
use super::{
    Command, HookStep, ProbeStep, Programs, drivers, finish, hooks, probes, secrets, workspace,
};
use crate::inputs::{self, Given, InvalidInputs};
use crate::keep::{Credentials, HIDDEN, Instance, RuntimeRoot, State, Unusable};
use crate::lint::{self, Linted};
use crate::load::{self, Read};
use crate::{ModuleRef, NotFound, Places, Profile, Spec};

/// What is to be run, and what was said about it.
#[derive(Debug)]
pub struct Wanted<'w> {
    pub command: Command,
    pub module: &'w ModuleRef,
    pub instance: Option<&'w Instance>,
    pub places: &'w Places,
    pub root: &'w RuntimeRoot,
    /// Without what is imported.
    pub given: Given,
    /// Whether the module was named itself, and does not come along with another.
    pub is_named: bool,
    pub programs: &'w Programs,
}

/// A run that could be planned.
pub struct Prepared {
    pub command: Command,
    pub instance: Option<Instance>,
    pub root: RuntimeRoot,
    pub spec: Spec,
    /// Where the spec stands, and its text.
    pub source: (PathBuf, String),
    pub profile: Profile,
    pub profile_path: PathBuf,
    /// Of what the profile says to the tools or wants of a run, and of the files that it brings along.
    pub policy_digest: String,
    pub driver: &'static dyn Driver,
    pub pack: Pack,
    /// With what is secret in them.
    pub inputs: Map<String, Value>,
    /// The secret ones, by where they stand.
    pub secrets: BTreeMap<String, Data>,
    /// What must be hidden besides: variables as they were written, those of the profile, and what is
    /// in secret documents.
    hidden: Vec<Data>,
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

/// Reads everything that a run needs.
pub fn prepare(wanted: Wanted<'_>) -> Result<Prepared, Unprepared> {
    let prepared = look(wanted)?;
    match prepared.credentials.unusable.values().next().cloned() {
        Some(Unusable { message, help }) => Err(NotFound { message, help }.into()),
        None => Ok(prepared),
    }
}

/// The same where nothing will run: what is wrong with credentials is one thing among others.
pub fn look(wanted: Wanted<'_>) -> Result<Prepared, Unprepared> {
    let Wanted { command, module, instance, places, root, mut given, is_named, programs } = wanted;
    let read = load::spec(places, module)?;
    let source = (read.path.clone(), read.text.clone());
    let mut warnings = unused(&read.checked.diagnostics);
    let spec = whole(read)?;
    let read = load::profile(places, &spec)?;
    let profile_path = read.path.clone();
    warnings.extend(unused(&read.checked.diagnostics));
    let profile = whole(read)?;
    let hook_steps = hooks::steps(command, (&spec, &source), &profile, &mut warnings)?;
    let driver = drivers::find(&spec.execution.driver)?;
    let stack = places.stack(&spec.execution.driver, &spec.execution.pack)?;
    let pack = pack_of(command, &stack)?;
    warnings.extend(unfit_pack(command, &pack)?);
    if !is_named {
        given = given.fitting(&spec);
    }
    given.imports = imports::of(command, &spec, root, &mut warnings)?;
    let schema = load::schema(places, module)?;
    if schema.is_none() && !spec.defaults.is_empty() {
        warnings.extend(given.unknown(&spec));
    }
    let inputs = inputs::resolve(&spec, &given, schema.as_ref()).map_err(Unprepared::Inputs)?;
    let secrets = secrets::find(&inputs, schema.as_ref());
    let mut hidden = secrets::said(&given, schema.as_ref());
    hidden.extend(secrets::of_profile(&profile.env));
    hidden.extend(secrets::in_documents(&inputs, schema.as_ref()));
    hidden.extend(secrets::parts(secrets.values().chain(&hidden)));
    let invalid =
        |reason| Unprepared::Inputs(InvalidInputs { module_ref: spec.module_ref.clone(), reason });
    if let Some(reason) = unfit(&inputs, &secrets) {
        return Err(invalid(reason));
    }
    let probes = probes::steps(command, &spec, &inputs, &secrets).map_err(invalid)?;
    let credentials = Credentials::read(root, &spec.credentials)
        .map_err(|it| NotFound { message: it.message, help: it.help })?;
    warnings.extend(credentials.warnings.iter().cloned());
    let templates = drivers::templates(&profile, &profile_path)?;
    let mut prepared = Prepared {
        command,
        instance: instance.cloned(),
        root: root.clone(),
        spec,
        source,
        policy_digest: policy_digest(&profile, &templates),
        profile,
        profile_path,
        driver,
        pack,
        inputs,
        secrets,
        hidden,
        templates,
        work: Work::default(),
        probes,
        hooks: hook_steps,
        credentials,
        programs: programs.clone(),
        warnings,
    };
    let find = |name: &str| programs.find(name);
    let request = prepared.request(&prepared.inputs, &find);
    let work = driver.work(&request)?;
    prepared.warnings.extend(work.warnings.iter().cloned());
    prepared.work = work;
    prepared.warnings.extend(strange(&prepared));
    prepared.warnings.extend(workspace::name(&prepared).and_then(Result::err));
    Ok(prepared)
}

/// What is taken down is what other inputs have brought about: the tools may not find it.
fn strange(prepared: &Prepared) -> Option<String> {
    let state = State::seen(&prepared.state()).ok().flatten()?;
    let other = state.inputs_digest.is_some_and(|digest| digest != prepared.inputs_digest());
    let is_strange = prepared.command == Command::Destroy && other;
    is_strange
        .then(|| "these are not the inputs of the last run: what that has made may stay".to_owned())
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
    pub fn shown_inputs(&self) -> Value {
        let mut shown = Value::Object(self.inputs.clone());
        for at in self.secrets.keys() {
            shown.pointer_mut(at).into_iter().for_each(|value| *value = HIDDEN.into());
        }
        shown
    }

    /// Which inputs they are, by those that are no secret: a digest of a secret could be guessed at.
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
        let secrets: Map<String, Value> = self.secrets.iter().map(keyed).collect::<Option<_>>()?;
        Some(digest(&json!({
            "execution": finish::execution(self),
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
}

fn digest(value: &Value) -> String {
    format!("blake3:{}", Algorithm::Blake3.digest(&[value.to_string().as_bytes()]).hex())
}

/// Of what a profile says to the tools or wants of a run, and of the files that it brings along.
fn policy_digest(profile: &Profile, templates: &BTreeMap<String, String>) -> String {
    let (hooks, Profile { env, settings, .. }) = (profile.written_hooks(), profile);
    let policy = json!({"env": env, "hooks": hooks, "settings": settings, "templates": templates});
    digest(&json!([policy, profile.policy.told()]))
}

/// What a file says for nobody.
fn unused(diagnostics: &[Diagnostic]) -> Vec<String> {
    let unused = diagnostics.iter().filter(|one| one.code == Code::SpecUnused);
    unused.map(|one| one.message.clone()).collect()
}

/// A file without faults; other warnings are for the linter.
fn whole<T>(read: Read<T>) -> Result<T, Unprepared> {
    let Read { path, text, checked } = read;
    let diagnostics = checked.diagnostics;
    match checked.found.filter(|_| !diagnostics.iter().any(Diagnostic::is_error)) {
        Some(found) => Ok(found),
        None => Err(Unprepared::Faults { path, text, diagnostics }),
    }
}

/// What was made is taken down with what is there.
fn pack_of(command: Command, stack: &Path) -> Result<Pack, NotFound> {
    match command {
        Command::Destroy => Pack::read_without_outward_links(stack),
        _ => Pack::read(stack),
    }
}

/// Refuses a pack that a validation refuses. What it has made can still be taken down, with a warning.
fn unfit_pack(command: Command, pack: &Pack) -> Result<Option<String>, Unprepared> {
    let unfit = lint::unfit(&pack.stack).map_err(|error| NotFound {
        message: format!("the pack in `{}` cannot be used: {error}", pack.stack.display()),
        help: "`opal module lint` looks through packs as well".to_owned(),
    })?;
    match unfit {
        None => Ok(None),
        Some(Linted { path, diagnostics, .. }) if command == Command::Destroy => {
            let first = diagnostics.iter().find(|one| one.is_error());
            let why = first.map_or("it has faults", |one| one.message.as_str());
            Ok(Some(format!("`{}`: {why}", path.display())))
        }
        Some(Linted { path, text, diagnostics }) => {
            Err(Unprepared::Faults { path, text, diagnostics })
        }
    }
}

/// Why a plan cannot hold the inputs.
fn unfit(inputs: &Map<String, Value>, secrets: &BTreeMap<String, Data>) -> Option<String> {
    if let Some(at) = odd_number("", &Value::Object(inputs.clone())) {
        let at = inputs::place(&at);
        return Some(format!("the number at `{at}` {}", inputs::LARGE));
    }
    let short = secrets.iter().find(|(_, secret)| secrets::is_short(secret));
    short.map(|(at, _)| {
        format!(
            "`{}` is a secret of fewer than {} characters, and could not be hidden",
            inputs::place(at),
            opal_core::class::HIDDEN_ALONE_FROM
        )
    })
}

/// Where a number stands that neither an Int nor a Float can hold without a loss.
fn odd_number(at: &str, value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => {
            (number.is_u64() && number.as_i64().is_none()).then(|| at.to_owned())
        }
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(index, item)| odd_number(&format!("{at}/{index}"), item))
        }
        Value::Object(map) => {
            map.iter().find_map(|(key, value)| odd_number(&secrets::below(at, key), value))
        }
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
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

#[cfg(test)]
mod tests;
