//! Lines from opal: each call is answered in a thread of its own.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};

use opal_core::protocol::call::{Function, Invocation, Load};
use opal_core::protocol::{Body, Call, Malformed, Message, Refusal, Reply, line};

use crate::engine::{Machine, Plugin, load_error};
use crate::link::Link;
use crate::socket::{Files, Incoming};

/// Everything that the threads share.
struct Served {
    machine: Machine,
    link: Arc<Link>,
    plugins: Mutex<BTreeMap<String, Arc<Plugin>>>,
}

/// Answers until opal ends the connection. Then this process ends, also in the middle of an answer.
pub(crate) fn serve(socket: UnixStream) -> Result<(), Malformed> {
    let outgoing = socket.try_clone().map_err(|error| Malformed::Io(error.kind()))?;
    let machine = Machine::new().map_err(|_| Malformed::NotMessage("no engine"))?;
    let link = Arc::new(Link::new(outgoing));
    let served = Arc::new(Served { machine, link, plugins: Mutex::default() });
    let incoming = Incoming::new(socket);
    let files = incoming.files();
    let mut incoming = BufReader::with_capacity(64 << 10, incoming);
    while let Some(message) = line::read(&mut incoming)? {
        match message {
            Message::Cancel(call) => served.link.cancel(call),
            Message::Reply(reply) => {
                if !served.link.answer(reply) {
                    return Err(Malformed::NotMessage("an answer to nothing"));
                }
            }
            Message::Call(call) => served.call(call, &files)?,
        }
    }
    Ok(())
}

impl Served {
    fn call(self: &Arc<Self>, call: Call, files: &Files) -> Result<(), Malformed> {
        let id = call.id;
        let plugin = call.plugin.unwrap_or_default();
        match call.call.as_str() {
            "hello" => self.reply(id, Ok(Body::default().with("build", &build()))),
            "load" => {
                let load = call.params.read::<Load>();
                let (Some(load), Some(file)) = (load, files.take()) else {
                    return Err(Malformed::NotMessage("a load without a component"));
                };
                // Calls that follow need it, so nothing else is read meanwhile.
                let loaded = self.machine.load(file, &load).map(|loaded| {
                    let mut plugins = self.plugins.lock().unwrap_or_else(PoisonError::into_inner);
                    plugins.insert(plugin, Arc::new(loaded));
                    Body::default()
                });
                self.reply(id, loaded);
            }
            "compile" => {
                let (Some(from), Some(to)) = (files.take(), files.take()) else {
                    return Err(Malformed::NotMessage("nothing to compile"));
                };
                self.reply(id, self.machine.compile(from, to));
            }
            other => {
                let function = Function::named(other);
                let function = function.ok_or(Malformed::NotMessage("an unknown call"))?;
                let invocation: Option<Invocation> = call.params.read();
                let invocation = invocation.ok_or(Malformed::NotMessage("another call"))?;
                self.invoke(id, plugin, function, invocation)?;
            }
        }
        Ok(())
    }

    fn invoke(
        self: &Arc<Self>,
        id: u64,
        plugin: String,
        function: Function,
        invocation: Invocation,
    ) -> Result<(), Malformed> {
        let plugins = self.plugins.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(plugin) = plugins.get(&plugin).cloned() else {
            drop(plugins);
            self.reply(id, Err(load_error("it is not loaded")));
            return Ok(());
        };
        let cancelled = self.link.begin(id).ok_or(Malformed::NotMessage("a number twice"))?;
        let own = Arc::clone(self);
        self.link.workers().run(move || {
            let call = (Arc::clone(&own.link), id, cancelled);
            let run = || own.machine.call(&plugin, function, &invocation, call);
            let Ok((result, log)) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run))
            else {
                // opal names the signal; nobody waits for an answer that never comes.
                std::process::abort();
            };
            own.link.reply(Reply { id, result, log });
        });
        Ok(())
    }

    fn reply(&self, id: u64, result: Result<Body, Refusal>) {
        self.link.reply(Reply { id, result, log: None });
    }
}

fn build() -> String {
    opal_helper::BUILD.to_owned()
}
