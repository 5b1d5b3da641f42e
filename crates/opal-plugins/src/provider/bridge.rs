//! The helper `opal-terraform`, and one instance in it for each provider, configuration and environment.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use opal_core::data::Secret;
use opal_core::hash::{Algorithm, Digest};
use opal_core::protocol::call::Invocation;
use opal_core::protocol::request::Service;
use opal_core::protocol::{Body, Kind, Refusal, Shape};
use opal_helper::{BUILD, Unusable};

use super::deletion::Deletion;
use super::{Installation, Provider};
use crate::client::Serve;
use crate::client::failure::Why;
use crate::client::process::{Ended, Given, Host};

/// The file name of the helper.
pub const HELPER: &str = "opal-terraform";

/// How long the helper may say nothing about a call. It has limits of its own for each call of a provider;
/// a step can ask for a day.
const PATIENCE: Duration = Duration::from_secs(25 * 3600);

/// Bytes of output that are kept for the next step.
const MOST_PRINTED: usize = 1 << 20;

/// The one of this process; none where it runs no providers.
pub static BRIDGE: OnceLock<Bridge> = OnceLock::new();

/// What runs the providers of this process. Nothing is started before the first call.
#[derive(Debug)]
pub struct Bridge {
    /// The names of all variables of the environment.
    pub(super) variables: Vec<String>,
    /// Directories that providers are not to see.
    covered: Vec<String>,
    open: Mutex<Open>,
    agreed: Mutex<Agreed>,
    /// What providers printed while they were only asked, until a step can record it.
    printed: Mutex<Vec<Secret>>,
}

#[derive(Debug, Default)]
struct Open {
    host: Option<Arc<Host>>,
    /// The instances that the helper has.
    loaded: BTreeMap<Digest, String>,
    has_restarted: bool,
}

/// What steps would delete, who agreed, and what a contract is about.
#[derive(Debug, Default)]
struct Agreed {
    /// What was found.
    seen: Vec<Deletion>,
    /// What a person confirmed.
    confirmed: Vec<Deletion>,
    /// Whether a contract is about all objects as they were found.
    is_held: bool,
    /// The paths of steps whose objects a contract saw missing; none without a contract.
    missing: Option<BTreeSet<Box<str>>>,
}

/// A provider with what a block around the step says.
#[derive(Debug)]
pub(super) struct Configured<'a> {
    pub(super) provider: &'a Provider,
    /// A JSON object.
    pub(super) config: Secret,
    pub(super) environment: Vec<(String, Secret)>,
}

impl Bridge {
    /// `variables` are the names of all variables of the environment, `covered` the directories that
    /// providers are not to see.
    #[must_use]
    pub fn new(variables: Vec<String>, covered: Vec<String>) -> Self {
        Self {
            variables,
            covered,
            open: Mutex::default(),
            agreed: Mutex::default(),
            printed: Mutex::default(),
        }
    }

    /// Keeps what a provider printed for the next step that acts.
    fn keep_printed(&self, log: Option<Secret>) {
        let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        let kept: usize = printed.iter().map(|log| log.expose().len()).sum();
        printed.extend(log.filter(|log| kept + log.expose().len() <= MOST_PRINTED));
    }

    /// What providers printed since the last step that acted.
    pub(super) fn take_printed(&self) -> Vec<Secret> {
        std::mem::take(&mut *self.printed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls a function of a provider.
    pub(super) fn call<T: Shape>(
        &self,
        of: &Configured<'_>,
        function: &str,
        invocation: &Invocation,
        serve: &mut dyn Serve,
    ) -> Result<T, Why> {
        self.send(of, function, Body::of(invocation), serve)
    }

    /// The same for a call that is not about one of its decorators.
    pub(super) fn send<T: Shape>(
        &self,
        of: &Configured<'_>,
        function: &str,
        params: Body,
        serve: &mut dyn Serve,
    ) -> Result<T, Why> {
        let (host, instance) = self.ready(of)?;
        let given = host.ask(function, Some(&instance), params, &[], serve, PATIENCE);
        let (result, log) = given.map_err(Why::Crashed)?;
        self.keep_printed(log);
        match result.map_err(Why::Refused)?.read() {
            Some(answer) => Ok(answer),
            None => Err(Why::Strange("its answer has another form".to_owned())),
        }
    }

    /// Asks the helper something that is about no provider.
    pub(super) fn ask(&self, call: &str, params: Body, serve: &mut dyn Serve) -> Result<Body, Why> {
        let host = Self::host(&mut self.open())?;
        ask(&host, call, None, params, serve).map(|(body, _)| body)
    }

    /// A helper that has loaded the provider.
    fn ready(&self, of: &Configured<'_>) -> Result<(Arc<Host>, String), Why> {
        if !of.provider.may_start() {
            return Err(Why::NoRuntime);
        }
        let mut open = self.open();
        let host = Self::host(&mut open)?;
        let key = of.key();
        if let Some(instance) = open.loaded.get(&key) {
            return Ok((host, instance.clone()));
        }
        let instance = format!("{}#{}", of.provider.name(), open.loaded.len());
        // The provider itself starts at its first call, so nobody waits here for long.
        ask(&host, "load", Some(&instance), of.load(&self.covered), &mut NoServices)?;
        open.loaded.insert(key, instance.clone());
        Ok((host, instance))
    }

    /// A helper that runs.
    fn host(open: &mut Open) -> Result<Arc<Host>, Why> {
        if let Some(ended) = open.host.as_ref().and_then(|host| host.ended()) {
            if std::mem::replace(&mut open.has_restarted, true) {
                return Err(Why::CrashedAgain(ended));
            }
            (open.host, open.loaded) = (None, BTreeMap::new());
        }
        if let Some(host) = &open.host {
            return Ok(Arc::clone(host));
        }
        let host = Arc::new(start()?);
        open.host = Some(Arc::clone(&host));
        Ok(host)
    }

    fn agreed(&self) -> MutexGuard<'_, Agreed> {
        self.agreed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A contract is run, which saw the objects of these steps missing.
    pub fn under_contract(&self, missing: BTreeSet<Box<str>>) {
        self.agreed().missing = Some(missing);
    }

    /// Whether the contract saw the object of a step missing; none without a contract.
    pub(super) fn contract_saw_missing(&self, step: &str) -> Option<bool> {
        self.agreed().missing.as_ref().map(|missing| missing.contains(step))
    }

    /// A contract is about the objects as they were found: nothing about them differs.
    pub fn hold(&self) {
        self.agreed().is_held = true;
    }

    pub(super) fn is_held(&self) -> bool {
        self.agreed().is_held
    }

    /// A verification found something that its step would delete.
    pub(super) fn saw(&self, deletion: Deletion) {
        let mut agreed = self.agreed();
        agreed.seen.retain(|seen| seen.step != deletion.step);
        agreed.seen.push(deletion);
    }

    /// What steps would delete and nobody has fixed, as verifications found it.
    #[must_use]
    pub fn doubtful(&self) -> Vec<Deletion> {
        let agreed = self.agreed();
        let is_held = |seen: &&Deletion| agreed.is_held && seen.account.is_some();
        let doubtful = agreed.seen.iter().filter(|seen| seen.doubt.is_some() && !is_held(seen));
        doubtful.cloned().collect()
    }

    /// A person has seen it and agreed.
    pub fn confirm(&self, deletion: Deletion) {
        self.agreed().confirmed.push(deletion);
    }

    /// Whether something may be deleted.
    pub(super) fn may_delete(&self, deletion: &Deletion) -> bool {
        let agreed = self.agreed();
        deletion.doubt.is_none() || agreed.confirmed.iter().any(|it| it.is_same(deletion))
    }

    /// Ends all providers.
    pub fn end(&self) {
        let host = self.open().host.take();
        drop(host);
    }
}

impl Configured<'_> {
    /// One instance for each of these.
    fn key(&self) -> Digest {
        let program = self.provider.program.as_os_str().as_encoded_bytes();
        let directory = self.provider.project.directory.as_os_str().as_encoded_bytes();
        let mut parts = vec![program, directory, self.config.expose().as_bytes()];
        for (name, value) in &self.environment {
            parts.extend([name.as_bytes(), value.expose().as_bytes()]);
        }
        let lengths: Vec<[u8; 8]> =
            parts.iter().map(|part| (part.len() as u64).to_le_bytes()).collect();
        let all: Vec<&[u8]> = lengths.iter().zip(&parts).flat_map(|(a, b)| [&a[..], *b]).collect();
        Algorithm::Sha256.digest(&all)
    }

    fn load(&self, covered: &[String]) -> Body {
        let provider = self.provider;
        Body::default()
            .with("name", &provider.called())
            .with("program", &text(&provider.program))
            .with("hash", &Some(provider.hash()))
            .with("stamp", &provider.stamp)
            .with("directory", &text(&provider.project.directory))
            .with("environment", &self.environment)
            .with("config", &self.config)
            .with("recipes", &provider.project.recipes.document)
            .with("project", &provider.project.name)
            .with("covered", &Some(covered.to_vec()))
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// One call of the helper.
fn ask(
    host: &Host,
    call: &str,
    instance: Option<&str>,
    params: Body,
    serve: &mut dyn Serve,
) -> Result<(Body, Option<Secret>), Why> {
    let given: Result<Given, Ended> = host.ask(call, instance, params, &[], serve, PATIENCE);
    let (result, log) = given.map_err(Why::Crashed)?;
    Ok((result.map_err(Why::Refused)?, log))
}

/// Has an accepted provider describe itself, into a directory.
pub(super) fn describe(
    provider: &Provider,
    environment: Vec<(String, Secret)>,
    covered: Vec<String>,
    into: &Path,
) -> Result<u32, Why> {
    let folder = provider.program.parent().unwrap_or(Path::new("/"));
    let version = match &provider.origin {
        Installation::Local(_) => "0.0.0".to_owned(),
        Installation::Registry { version, .. } => version.clone(),
    };
    let params = Body::default()
        .with("source", &provider.wanted.source)
        .with("platform", &platform())
        .with("version", &Some(version))
        .with("program", &text(&provider.program))
        .with("hash", &provider.hash())
        .with("directory", &text(folder))
        .with("environment", &environment)
        .with("covered", &Some(covered))
        .with("namespace", &provider.wanted.segment)
        .with("into", &text(into));
    let (described, _) = ask(&start()?, "package.schema", None, params, &mut NoServices)?;
    described.get("protocol").ok_or_else(|| Why::Strange("it has no protocol".to_owned()))
}

/// The helper for calls that are about packages, not about a provider that runs.
#[derive(Debug)]
pub struct Session(Host);

impl Session {
    pub fn start() -> Result<Self, Why> {
        start().map(Self)
    }

    pub(super) fn ask(&self, call: &str, params: Body) -> Result<Body, Why> {
        ask(&self.0, call, None, params, &mut NoServices).map(|(body, _)| body)
    }
}

/// Whether directories can be covered on this machine, so that providers do not see them.
#[must_use]
pub fn covers() -> bool {
    let asked = start()
        .and_then(|host| ask(&host, "package.covers", None, Body::default(), &mut NoServices));
    asked.is_ok_and(|(body, _)| body.get("covers") == Some(true))
}

/// The platform of this machine, as registries of providers call it.
#[must_use]
pub fn platform() -> String {
    let machine = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        other => other,
    };
    format!("{}_{machine}", std::env::consts::OS)
}

fn start() -> Result<Host, Why> {
    let program = opal_helper::find(HELPER).map_err(Why::Unusable)?;
    Host::start(&program, BUILD).map_err(|ended| match ended {
        Ended::OtherBuild(build) => Why::Unusable(Unusable::OtherBuild { name: HELPER, build }),
        Ended::NotStarted(kind) => Why::Unusable(Unusable::NotStarted { name: HELPER, kind }),
        ended => Why::Crashed(ended),
    })
}

/// Providers ask opal for nothing.
pub(super) fn denied() -> Result<Body, Refusal> {
    Err(Refusal::new(Kind::Denied, "a provider asks opal for nothing"))
}

struct NoServices;

impl Serve for NoServices {
    fn serve(&mut self, _: Service, _: &Body) -> Result<Body, Refusal> {
        denied()
    }

    fn is_stopped(&self) -> bool {
        false
    }
}
