//! One provider with one configuration: what opal's calls become.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use opal_core::data::{Data, Secret, json};
use opal_core::protocol::call::{Acted, Finding, Found, Invocation, Resolved};
use opal_core::protocol::{Body, Kind, Refusal, line};
use tokio::sync::Mutex;

use crate::apply::{self, Allowed, Done};
use crate::client::{Id, Provider};
use crate::differ;
use crate::identity::recipes::Recipes;
use crate::identity::{self, Step};
use crate::process::{Start, environment};
use crate::schema::Block;
use crate::trouble::Trouble;
use crate::trusted;
use crate::value::{Type, Value, convert};
use crate::verify::{self, Ask, Status};

/// How long a call may take.
const LIMIT: Duration = Duration::from_secs(30);

/// How long a change may take to become visible.
const SETTLE: Duration = Duration::from_secs(30);

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
            },
            name: load.name,
            recipes,
            project: load.project,
            provider: Mutex::new(None),
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
        let started = Provider::start(&self.start, LIMIT).await;
        let provider = started.map_err(|trouble| self.refusal(&trouble))?;
        let config = self.value(&self.config, &provider.schemas().provider)?;
        let configured = provider.configure(config).await;
        configured.map_err(|trouble| self.refusal(&trouble))?;
        let provider = Rc::new(provider);
        *running = Some(Rc::clone(&provider));
        Ok(provider)
    }

    fn refusal(&self, trouble: &Trouble) -> Refusal {
        let mut refusal = Refusal::new(trouble.kind(), "");
        refusal.message = trouble.message(&self.name);
        refusal
    }

    /// Arguments as a value of a schema.
    fn value(&self, data: &Data, block: &Block) -> Result<Value, Refusal> {
        let Type::Object(fields) = block.implied() else { return Ok(Value::map([])) };
        let Data::Map(given) = data else {
            return Err(self.invalid("arguments that are not a table"));
        };
        let each = given.iter().map(|(name, data)| {
            let of =
                fields.get(name).ok_or_else(|| self.invalid(&format!("it has no `{name}`")))?;
            let value = convert::from_data(data, of, name);
            Ok((name.clone(), value.map_err(|why| self.invalid(&why.to_string()))?))
        });
        Ok(block.complete(Value::Map(each.collect::<Result<_, Refusal>>()?)))
    }

    fn invalid(&self, why: &str) -> Refusal {
        Refusal::new(Kind::Invalid, format!("{}: {why}", self.name))
    }

    /// One call of opal.
    pub(crate) async fn call(&self, name: &str, params: &Body) -> Result<Body, Refusal> {
        let asked: Invocation = params.read().ok_or_else(|| self.invalid("another call"))?;
        let Ok(Data::Map(args)) = json::read(asked.args.expose()) else {
            return Err(self.invalid("arguments that are not a table"));
        };
        // What only reads is repeated once after a crash, what changes never.
        let mut tries = if name == "action.act" { 1 } else { 2 };
        loop {
            tries -= 1;
            let provider = self.provider().await?;
            let answer = self.answer(&provider, name, &asked.decorator, args.clone()).await;
            let trouble = match answer {
                Ok(body) => return Ok(body),
                Err(Failed::Refused(refusal)) => return Err(refusal),
                Err(Failed::Trouble(trouble)) => provider.explain(trouble).await,
            };
            if trouble.is_crash() {
                self.forget(&provider).await;
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
        decorator: &str,
        args: Args,
    ) -> Result<Body, Failed> {
        match name {
            "value.resolve" => self.resolve(provider, decorator, args).await,
            "state.verify" => self.verify(provider, decorator, args).await,
            "action.act" => self.act(provider, decorator, args).await,
            _ => Err(Failed::Refused(self.invalid("an unknown call"))),
        }
    }

    /// The next call starts another process, unless one has done so already.
    async fn forget(&self, ended: &Rc<Provider>) {
        let mut running = self.provider.lock().await;
        if running.as_ref().is_some_and(|provider| Rc::ptr_eq(provider, ended)) {
            *running = None;
        }
    }

    async fn resolve(&self, provider: &Provider, of: &str, args: Args) -> Result<Body, Failed> {
        let block = provider.schemas().data.get(of);
        let block = block.ok_or_else(|| self.invalid(&format!("it has no data source `{of}`")))?;
        let config = self.value(&Data::Map(args), block)?;
        let state = provider.observe().data(of, config).await?;
        Ok(Body::of(&Resolved { value: self.document(&state)?, secrets: None }))
    }

    async fn verify(
        &self,
        provider: &Provider,
        decorator: &str,
        args: Args,
    ) -> Result<Body, Failed> {
        let (of, is_absent) = named(decorator);
        let (ask, _) = self.ask(provider, of, args)?;
        let verified = verify::verify(&provider.observe(), &ask).await?;
        let (status, message) = match (&verified.status, is_absent) {
            (Status::Blocked(why), _) => return Err(self.invalid(why).into()),
            (Status::Missing, true) => (Found::Satisfied, "it does not exist".to_owned()),
            (_, true) => (Found::Drifted, "it exists".to_owned()),
            (Status::Missing, false) => (Found::Missing, "not found".to_owned()),
            (Status::Satisfied, false) => (Found::Satisfied, String::new()),
            (Status::Drifted { differences, replace }, false) => {
                let lines = differences.iter().map(|it| it.line(|_| "🔒".to_owned()));
                let replaced =
                    replace.iter().map(|path| format!("{path} cannot be changed in place"));
                (Found::Drifted, lines.chain(replaced).collect::<Vec<_>>().join("\n"))
            }
        };
        let unread = (!verified.unread.is_empty())
            .then(|| Secret::new(format!("not read back: {}", verified.unread.join(", "))));
        let identity = verified.object.and_then(|object| object.identity);
        let identity = identity.map(|identity| Secret::new(differ::show(&identity)));
        let message = Secret::new(message);
        Ok(Body::of(&Finding {
            status,
            message,
            details: unread,
            identity,
            object: None,
            unread: None,
            secrets: None,
            digest: None,
        }))
    }

    async fn act(&self, provider: &Provider, decorator: &str, args: Args) -> Result<Body, Failed> {
        let (of, is_absent) = named(decorator);
        let (ask, replace) = self.ask(provider, of, args)?;
        let (observe, change) = (provider.observe(), provider.change());
        let acted = if is_absent {
            apply::absent(&observe, &change, &ask, SETTLE).await?
        } else {
            let allowed = Allowed { replace, settle: SETTLE };
            apply::apply(&observe, &change, &ask, allowed).await?
        };
        let none = Value::Null;
        let output = self.document(acted.object.as_ref().map_or(&none, |object| &object.state))?;
        let identity = acted.object.and_then(|object| object.identity);
        let identity = identity.map(|identity| Secret::new(differ::show(&identity)));
        Ok(Body::of(&Acted {
            output,
            identity,
            adopted: acted.done == Done::Nothing,
            unread: None,
            secrets: None,
            digest: None,
        }))
    }

    /// What a step asks for, and whether it may replace.
    fn ask(&self, provider: &Provider, of: &str, mut args: Args) -> Result<(Ask, bool), Refusal> {
        let schemas = provider.schemas();
        let block = schemas.resources.get(of);
        let block = block.ok_or_else(|| self.invalid(&format!("it has no resource `{of}`")))?;
        let adopt = match args.remove("adopt") {
            None | Some(Data::Null) => None,
            Some(Data::Text(id)) => Some(Id::Text(id.expose().to_owned())),
            Some(data) => {
                let identity = schemas.identities.get(of);
                let identity = identity.ok_or_else(|| self.invalid("it has no identities"))?;
                let value = convert::from_data(&data, &identity.implied(), "adopt");
                Some(Id::Identity(value.map_err(|why| self.invalid(&why.to_string()))?))
            }
        };
        let mark = args.remove("mark");
        let replace = matches!(args.remove("replace"), Some(Data::Bool(true)));
        let ignore = match args.remove("ignore") {
            Some(Data::Array(items)) => {
                items.iter().filter_map(Data::as_text).map(str::to_owned).collect()
            }
            _ => Vec::new(),
        };
        let config = self.value(&Data::Map(args), block)?;
        let own = self.value(&self.config, &schemas.provider)?;
        let step = Step {
            of,
            config: &config,
            provider: &own,
            adopt,
            mark: mark.as_ref().and_then(Data::as_text),
            project: self.project.as_deref(),
        };
        let by = identity::choose(&step, &self.recipes, schemas.identities.get(of));
        let by = by.map_err(|refused| self.invalid(&refused.message(of)))?;
        Ok((Ask { of: of.to_owned(), config: identity::tagged(config, &by), by, ignore }, replace))
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
        self.provider.lock().await.as_ref().and_then(|provider| provider.process().take_log())
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

/// `aws_s3_bucket.absent` is the twin that removes.
fn named(decorator: &str) -> (&str, bool) {
    match decorator.strip_suffix(".absent") {
        Some(of) => (of, true),
        None => (decorator, false),
    }
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
