//! The helper's side of the plugin protocol: lines from opal, each call a task of one thread.
//!
//! ```text
//! opal  {"id":1,"call":"load","params":{"program":…,"name":"aws 6.47.1","config":…},"plugin":"aws"}
//! opal  {"id":2,"call":"state.verify","params":{…},"plugin":"aws"}
//! ```
//!
//! A provider starts at its first call, not at its `load`. Calls about packages name no provider that is
//! loaded (`packages`).

mod handles;
mod packages;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::{BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use opal_core::data::{Data, Secret, json};
use opal_core::protocol::call::{Intent, Invocation};
use opal_core::protocol::request::{Handle, Revealed, Service};
use opal_core::protocol::{Body, Call, Kind, Malformed, Message, Refusal, Reply, line};
use opal_core::recipe::{Recipes, Way};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use crate::adopt::state::{self, Managed};
use crate::instance::{Asked, Instance, Load};
use crate::process;
use handles::Sealed;

/// What all calls share.
struct Served {
    instances: RefCell<BTreeMap<String, Rc<Instance>>>,
    socket: RefCell<UnixStream>,
    launcher: PathBuf,
    temporary: PathBuf,
    /// Our own calls: the number of the next one, and who waits for which.
    next: Cell<u64>,
    running: RefCell<BTreeMap<u64, Running>>,
    waiting: RefCell<BTreeMap<u64, oneshot::Sender<Result<Body, Refusal>>>>,
    /// The objects of the state file that was read last.
    adopted: RefCell<Vec<Rc<Managed>>>,
}

/// A call that is being answered.
struct Running {
    plugin: String,
    acts: bool,
    task: AbortHandle,
}

/// Answers until opal ends the connection. Then all providers end.
pub fn serve(socket: UnixStream, launcher: PathBuf, temporary: PathBuf) -> Result<(), Malformed> {
    let io = |error: std::io::Error| Malformed::Io(error.kind());
    let incoming = socket.try_clone().map_err(io)?;
    let (sender, receiver) = mpsc::unbounded_channel();
    // Only this thread reads; what it reads is judged by the other one.
    std::thread::spawn(move || {
        let mut incoming = BufReader::with_capacity(64 << 10, incoming);
        loop {
            let message = line::read(&mut incoming).transpose();
            let is_last = !matches!(message, Some(Ok(_)));
            if sender.send(message).is_err() || is_last {
                return;
            }
        }
    });
    process::sweep(&temporary);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(io)?;
    let served = Rc::new(Served {
        instances: RefCell::default(),
        socket: RefCell::new(socket),
        launcher,
        temporary,
        next: Cell::new(1),
        running: RefCell::default(),
        waiting: RefCell::default(),
        adopted: RefCell::default(),
    });
    tokio::task::LocalSet::new().block_on(&runtime, served.answer_all(receiver))
}

type Incoming = mpsc::UnboundedReceiver<Option<Result<Message, Malformed>>>;

impl Served {
    async fn answer_all(self: Rc<Self>, mut incoming: Incoming) -> Result<(), Malformed> {
        let mut ended = Ok(());
        while let Some(Some(message)) = incoming.recv().await {
            match message {
                Ok(Message::Call(call)) => {
                    let own = Rc::clone(&self);
                    let (id, acts) = (call.id, call.call == "action.act");
                    let plugin = call.plugin.clone().unwrap_or_default();
                    let task = tokio::task::spawn_local(async move { own.answer(call).await });
                    let task = task.abort_handle();
                    self.running.borrow_mut().insert(id, Running { plugin, acts, task });
                }
                Ok(Message::Cancel(id)) => self.cancel(id),
                Ok(Message::Reply(reply)) => {
                    let Some(waiting) = self.waiting.borrow_mut().remove(&reply.id) else {
                        ended = Err(Malformed::NotMessage("an answer to nothing"));
                        break;
                    };
                    // Whoever waited may have been stopped.
                    let _ = waiting.send(reply.result);
                }
                Err(malformed) => {
                    ended = Err(malformed);
                    break;
                }
            }
        }
        let instances = std::mem::take(&mut *self.instances.borrow_mut());
        for instance in instances.into_values() {
            instance.stop().await;
        }
        ended
    }

    /// A change is asked to stop, and its answer says how far it came. What only reads ends at once, and
    /// other calls of its provider go on.
    fn cancel(&self, id: u64) {
        let running = self.running.borrow();
        let Some(call) = running.get(&id) else { return };
        if !call.acts {
            call.task.abort();
            drop(running);
            let result = Err(Refusal::new(Kind::Failed, "the call was stopped"));
            return self.reply(Reply { id, result, log: None });
        }
        let instance = self.instances.borrow().get(&call.plugin).map(Rc::clone);
        if let Some(instance) = instance {
            tokio::task::spawn_local(async move { instance.cancel().await });
        }
    }

    async fn answer(&self, call: Call) {
        let id = call.id;
        let plugin = call.plugin.clone().unwrap_or_default();
        let instance = self.instances.borrow().get(&plugin).map(Rc::clone);
        let result = match (call.call.as_str(), &instance) {
            ("hello", _) => Ok(Body::default().with("build", &opal_helper::BUILD.to_owned())),
            ("load", _) => self.load(plugin, &call.params),
            ("package.find", _) => packages::find(&call.params),
            ("package.open", _) => packages::open(&call.params),
            ("package.covers", _) => Ok(packages::covers(&self.launcher)),
            ("package.schema", _) => {
                packages::schema(&call.params, &self.launcher, &self.temporary).await
            }
            ("adopt.read", _) => self.adopt_read(&call.params),
            (_, None) => Err(Refusal::new(Kind::Invalid, "the provider is not loaded")),
            ("state.adopt", Some(instance)) => match self.managed(&call.params) {
                Some(managed) => instance.adopt(&managed).await,
                None => Err(Refusal::new(Kind::Invalid, "an object that was not read")),
            },
            (name, Some(instance)) => match self.asked(&call).await {
                Ok(asked) => {
                    let announce = async |intent: Intent| {
                        let params = Body::of(&intent);
                        self.ask(&call, Service::StageKeep, params).await.map(drop)
                    };
                    instance.call(name, &asked, &announce).await
                }
                Err(refusal) => Err(refusal),
            },
        };
        let log = match &instance {
            Some(instance) => instance.take_log().await,
            None => None,
        };
        self.reply(Reply { id, result, log });
    }

    /// What a call says, with its secrets revealed.
    async fn asked(&self, call: &Call) -> Result<Asked, Refusal> {
        let invocation: Option<Invocation> = call.params.read();
        let sealed = invocation.as_ref().and_then(Sealed::read);
        let invalid = || Refusal::new(Kind::Invalid, "a call with invalid arguments");
        let sealed = sealed.ok_or_else(invalid)?;
        let mut revealed = BTreeMap::new();
        for handle in &sealed.handles {
            let params = Body::of(&Handle { secret: Some(*handle) });
            let answer = self.ask(call, Service::Reveal, params).await?;
            let Revealed { text } = answer.read().ok_or_else(invalid)?;
            revealed.insert(*handle, text);
        }
        Ok(sealed.open(&revealed))
    }

    /// Asks opal for something, on behalf of a call.
    async fn ask(&self, call: &Call, service: Service, params: Body) -> Result<Body, Refusal> {
        let id = self.next.replace(self.next.get() + 1);
        let (sender, receiver) = oneshot::channel();
        self.waiting.borrow_mut().insert(id, sender);
        let asked = Call {
            id,
            parent: Some(call.id),
            plugin: call.plugin.clone(),
            call: service.word().to_owned(),
            params,
        };
        if let Ok(bytes) = line::bytes(&Message::Call(asked)) {
            let _ = self.socket.borrow_mut().write_all(&bytes);
        }
        let ended = || Refusal::new(Kind::Failed, "opal does not answer");
        receiver.await.map_err(|_| ended())?
    }

    /// What a state file has. Its objects are adopted by their numbers.
    fn adopt_read(&self, params: &Body) -> Result<Body, Refusal> {
        let incomplete = || Refusal::new(Kind::Invalid, "an incomplete call");
        let path: String = params.get("path").ok_or_else(incomplete)?;
        let recipes: Secret = params.get("recipes").ok_or_else(incomplete)?;
        let recipes = match json::read(recipes.expose()) {
            Ok(Data::Map(recipes)) => Recipes::new(&recipes),
            _ => return Err(incomplete()),
        };
        let recipes =
            recipes.map_err(|why| Refusal::new(Kind::Invalid, format!("{why} (E1403)")))?;
        let file = state::open(Path::new(&path))
            .map_err(|why| Refusal::new(Kind::Invalid, why.to_string()))?;
        let objects: Vec<Data> = file.objects.iter().map(|it| listed(it, &recipes)).collect();
        *self.adopted.borrow_mut() = file.objects.into_iter().map(Rc::new).collect();
        Ok(Body::default()
            .with("objects", &line::json(&Data::Array(objects)))
            .with("outputs", &file.outputs)
            .with("deposed", &file.deposed)
            .with("data", &file.data))
    }

    fn managed(&self, params: &Body) -> Option<Rc<Managed>> {
        let number: u32 = params.get("object")?;
        self.adopted.borrow().get(usize::try_from(number).ok()?).map(Rc::clone)
    }

    fn load(&self, plugin: String, params: &Body) -> Result<Body, Refusal> {
        let load =
            Load::read(params).ok_or_else(|| Refusal::new(Kind::Invalid, "an incomplete load"))?;
        let instance = Instance::new(load, self.launcher.clone(), self.temporary.clone())?;
        let stamp = instance.stamp().to_owned();
        self.instances.borrow_mut().insert(plugin, Rc::new(instance));
        Ok(Body::default().with("stamp", &stamp))
    }

    fn reply(&self, reply: Reply) {
        let id = reply.id;
        // Nobody waits for a second answer.
        if self.running.borrow_mut().remove(&id).is_none() {
            return;
        }
        let bytes = line::bytes(&Message::Reply(reply)).or_else(|_| {
            let result = Err(Refusal::new(Kind::TooLarge, "the answer is too large"));
            line::bytes(&Message::Reply(Reply { id, result, log: None }))
        });
        if let Ok(bytes) = bytes {
            // If opal is gone, reading ends too.
            let _ = self.socket.borrow_mut().write_all(&bytes);
        }
    }
}

/// An object as opal lists it: nothing of what it holds.
fn listed(managed: &Managed, recipes: &Recipes) -> Data {
    let text = |text: &str| Data::text(text.to_owned());
    let is_state_only = recipes.way(&managed.of) == Some(&Way::State);
    let fields = [
        ("address", text(&managed.address)),
        ("type", text(&managed.of)),
        ("name", text(&managed.name)),
        ("state_only", Data::Bool(is_state_only)),
        ("tainted", Data::Bool(managed.is_tainted)),
    ];
    Data::Map(fields.into_iter().map(|(name, data)| (name.to_owned(), data)).collect())
}
