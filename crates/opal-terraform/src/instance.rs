//! One provider with one configuration: what opal's calls become.
//!
//! | what | where |
//! |---|---|
//! | verifying and acting | `answers` |
//! | what a step says | `step` |
//! | objects of a state file | `adopting` |

mod adopting;
mod answers;
mod step;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use opal_core::data::{Data, Secret, json};
use opal_core::protocol::call::{Intent, Resolved};
use opal_core::protocol::{Body, Kind, Refusal, line};
use opal_core::recipe::Recipes;
use tokio::sync::Mutex;

use crate::client::{Observe, Provider};
use crate::process::{Start, environment};
use crate::secrets;
use crate::trouble::Trouble;
use crate::trusted;
use crate::value::{Value, convert};
pub(crate) use step::Asked;

/// How long a call may take that no step has a limit for.
const LIMIT: Duration = Duration::from_secs(30);

/// How long a data source may take. Some wait for what they report.
const DATA: Duration = Duration::from_secs(5 * 60);

/// What opal says about a provider.
#[derive(Debug)]
pub(crate) struct Load {
    /// How messages name it: `aws 6.47.1`.
    name: String,
    program: String,
    /// `h1:` of its directory, or `sha256:` of the file: what was accepted.
    hash: Option<String>,
    /// What the last `load` answered.
    stamp: Option<String>,
    directory: String,
    /// What the provider gets; opal has chosen it.
    environment: Vec<(String, Secret)>,
    config: Secret,
    recipes: Secret,
    /// The name in `opal.mod`.
    project: Option<String>,
    /// Directories that it is not to see.
    covered: Vec<String>,
}

impl Load {
    pub(crate) fn read(params: &Body) -> Option<Self> {
        Some(Self {
            name: params.get("name")?,
            program: params.get("program")?,
            hash: params.get("hash")?,
            stamp: params.get("stamp")?,
            directory: params.get("directory")?,
            environment: params.get("environment")?,
            config: params.get("config")?,
            recipes: params.get("recipes")?,
            project: params.get("project")?,
            covered: params.get::<Option<_>>("covered")?.unwrap_or_default(),
        })
    }
}

#[derive(Debug)]
pub(crate) struct Instance {
    name: String,
    start: Start,
    config: Data,
    recipes: Recipes,
    project: Option<String>,
    provider: Mutex<Option<Rc<Provider>>>,
    /// Why it does not start, or refuses its configuration. It is asked once a run, whatever needs it.
    refused: RefCell<Option<Refusal>>,
    /// The accounts that data sources reported.
    accounts: RefCell<BTreeMap<String, Secret>>,
    /// Secrets that it got or gave: no message and no log has them.
    known: RefCell<Vec<Secret>>,
    /// What the record gets besides its output.
    notes: RefCell<Vec<String>>,
}

impl Instance {
    pub(crate) fn new(load: Load, launcher: PathBuf, temporary: PathBuf) -> Result<Self, Refusal> {
        let invalid = |why: &str| Refusal::new(Kind::Invalid, format!("{}: {why}", load.name));
        let read = |text: &Secret| json::read(text.expose()).map_err(|_| invalid("not JSON"));
        let recipes = match read(&load.recipes)? {
            Data::Map(recipes) => {
                Recipes::new(&recipes).map_err(|why| invalid(&why.to_string()))?
            }
            _ => return Err(invalid("its recipes are not a table")),
        };
        let program = PathBuf::from(&load.program);
        let program = trusted::open(&program, load.hash.as_deref(), load.stamp.as_deref());
        let program = program.map_err(|rejected| rejected.refusal(&load.name))?;
        let given =
            load.environment.iter().map(|(name, value)| (name.clone(), value.expose().into()));
        let given: BTreeMap<String, OsString> = given.collect();
        Ok(Self {
            config: read(&load.config)?,
            start: Start {
                launcher,
                program,
                directory: load.directory.into(),
                environment: environment::of_provider(&BTreeMap::new(), &[], &given),
                temporary,
                covered: load.covered.into_iter().map(PathBuf::from).collect(),
            },
            name: load.name,
            recipes,
            project: load.project,
            provider: Mutex::new(None),
            refused: RefCell::default(),
            accounts: RefCell::default(),
            known: RefCell::default(),
            notes: RefCell::default(),
        })
    }

    /// What tells the file of the provider apart from another one.
    pub(crate) fn stamp(&self) -> &str {
        &self.start.program.stamp
    }

    /// The provider, which starts at its first call.
    async fn provider(&self) -> Result<Rc<Provider>, Refusal> {
        let mut running = self.provider.lock().await;
        if let Some(provider) = &*running {
            return Ok(Rc::clone(provider));
        }
        if let Some(refusal) = &*self.refused.borrow() {
            return Err(refusal.clone());
        }
        let provider = self.configured().await;
        let provider =
            provider.inspect_err(|refusal| *self.refused.borrow_mut() = Some(refusal.clone()))?;
        let provider = Rc::new(provider);
        *running = Some(Rc::clone(&provider));
        Ok(provider)
    }

    async fn configured(&self) -> Result<Provider, Refusal> {
        let started = Provider::start(&self.start, LIMIT).await;
        let provider = started.map_err(|trouble| self.refusal(&trouble))?;
        let block = &provider.schemas().provider;
        let config = self.value(&self.config, block)?;
        self.keep_secret(secrets::texts(block, &config));
        let configured = provider.configure(config).await;
        configured.map_err(|trouble| self.refusal(&trouble))?;
        Ok(provider)
    }

    fn refusal(&self, trouble: &Trouble) -> Refusal {
        let mut refusal = Refusal::new(trouble.kind(), "");
        refusal.message = self.shown(trouble.message(&self.name).expose());
        refusal.identity = trouble.made.clone();
        refusal
    }

    fn invalid(&self, why: &str) -> Refusal {
        let mut refusal = Refusal::new(Kind::Invalid, "");
        refusal.message = self.shown(&format!("{}: {why}", self.name));
        refusal
    }

    /// One call of opal.
    pub(crate) async fn call(
        &self,
        name: &str,
        asked: &Asked,
        announce: &impl AsyncFn(Intent) -> Result<(), Refusal>,
    ) -> Result<Body, Refusal> {
        self.keep_secret(asked.texts());
        // What only reads is repeated once after a crash, what changes never.
        let mut tries = if name == "action.act" { 1 } else { 2 };
        loop {
            tries -= 1;
            let provider = self.provider().await?;
            let answer = self.answer(&provider, name, asked, announce).await;
            let trouble = match answer {
                Ok(body) => return Ok(body),
                Err(Failed::Refused(refusal)) => return Err(refusal),
                Err(Failed::Trouble(trouble)) => provider.explain(trouble).await,
            };
            if trouble.is_crash() || trouble.is_silence() {
                self.forget(&provider).await;
            }
            if trouble.is_crash() && name == "action.act" {
                return self.after_crash(asked, trouble).await;
            }
            if !trouble.is_crash() || tries == 0 {
                return Err(self.refusal(&trouble));
            }
        }
    }

    async fn answer(
        &self,
        provider: &Provider,
        name: &str,
        asked: &Asked,
        announce: &impl AsyncFn(Intent) -> Result<(), Refusal>,
    ) -> Result<Body, Failed> {
        match name {
            "value.resolve" => self.resolve(provider.observe().within(DATA), asked).await,
            "state.verify" => self.verify(provider.observe(), asked).await,
            "action.act" => self.act(provider, asked, announce).await,
            _ => Err(Failed::Refused(self.invalid("an unknown call"))),
        }
    }

    /// The next call starts another process, unless one has done so already. This one ends with the last
    /// call that it answers.
    async fn forget(&self, ended: &Rc<Provider>) {
        let mut running = self.provider.lock().await;
        if running.as_ref().is_some_and(|provider| Rc::ptr_eq(provider, ended)) {
            *running = None;
            let said = ended.process().take_log();
            self.notes.borrow_mut().extend(said.map(|it| it.expose().trim_end().to_owned()));
        }
    }

    async fn resolve(&self, observe: Observe, asked: &Asked) -> Result<Body, Failed> {
        let of = asked.decorator.as_str();
        let block = observe.schemas().data.get(of);
        let block = block.ok_or_else(|| self.invalid(&format!("it has no data source `{of}`")))?;
        let config = self.value(&Data::Map(asked.args.clone()), block)?;
        self.keep_secret(secrets::texts(block, &config));
        let state = observe.data(of, config).await?;
        self.keep_secret(secrets::texts(block, &state));
        let hidden = secrets::paths(block, &state);
        Ok(Body::of(&Resolved { value: self.document(&state)?, secrets: some(hidden) }))
    }

    /// A text without the secrets that this provider got or gave.
    fn shown(&self, text: &str) -> Secret {
        Secret::new(secrets::scrub(text, &self.known.borrow()))
    }

    fn keep_secret(&self, texts: Vec<Secret>) {
        let mut known = self.known.borrow_mut();
        for text in texts {
            if !known.iter().any(|it| it.expose() == text.expose()) {
                known.push(text);
            }
        }
    }

    fn document(&self, value: &Value) -> Result<Secret, Refusal> {
        let data = convert::to_data(value);
        let data =
            data.map_err(|_| self.invalid("a result has a number that is out of range (E1404)"))?;
        Ok(line::json(&data))
    }

    pub(crate) async fn cancel(&self) {
        let provider = self.provider.lock().await.as_ref().map(Rc::clone);
        if let Some(provider) = provider {
            provider.cancel().await;
        }
    }

    pub(crate) async fn take_log(&self) -> Option<Secret> {
        let log = self.provider.lock().await.as_ref().and_then(|it| it.process().take_log());
        let notes = std::mem::take(&mut *self.notes.borrow_mut());
        let lines = log.iter().map(|log| log.expose().trim_end().to_owned()).chain(notes);
        let lines: Vec<String> = lines.collect();
        (!lines.is_empty()).then(|| self.shown(&lines.join("\n")))
    }

    pub(crate) async fn stop(&self) {
        if let Some(provider) = self.provider.lock().await.take()
            && let Ok(provider) = Rc::try_unwrap(provider)
        {
            provider.stop().await;
        }
    }
}

type Args = BTreeMap<String, Data>;

fn some(all: Vec<String>) -> Option<Vec<String>> {
    (!all.is_empty()).then_some(all)
}

/// Why a call has no answer: opal's reason, or the provider's.
enum Failed {
    Refused(Refusal),
    Trouble(Trouble),
}

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Trouble> for Failed {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}
