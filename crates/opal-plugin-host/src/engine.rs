//! Compiling, loading and calling components, with all limits.

mod call;
mod state;
mod ticker;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use opal_core::data::Secret;
use opal_core::protocol::call::{Function, INTERFACES, Invocation, Load};
use opal_core::protocol::{Body, Ending, MAX_MEMORY_MIB, Refusal};
use wasmtime::component::{Component, InstancePre, Linker};
use wasmtime::{Config, Engine, Store};

use crate::bindings::opal::plugin::host;
use crate::link::Link;
use crate::wasi;
use call::Exports;
pub(crate) use state::State;
use ticker::Ticker;

/// Bytes of a component, and of its compiled form.
const MAX_COMPONENT: u64 = 64 << 20;
const MAX_COMPILED: u64 = 512 << 20;

/// Everything that runs components.
pub(crate) struct Machine {
    engine: Engine,
    ticker: Ticker,
}

/// A component that is loaded.
pub(crate) struct Plugin {
    instance: InstancePre<State>,
    exports: Exports,
    memory_bytes: usize,
}

impl Machine {
    pub(crate) fn new() -> wasmtime::Result<Self> {
        let mut config = Config::new();
        config
            .epoch_interruption(true)
            .cranelift_nan_canonicalization(true)
            .relaxed_simd_deterministic(true)
            .wasm_backtrace_max_frames(None)
            .generate_address_map(false)
            .native_unwind_info(false);
        let engine = Engine::new(&config)?;
        let ticker = Ticker::new(engine.clone());
        Ok(Self { engine, ticker })
    }

    /// Compiles the component in a file into another file, and says what it exports.
    pub(crate) fn compile(&self, from: File, mut to: File) -> Result<Body, Refusal> {
        let bytes = read(&from, MAX_COMPONENT)?;
        let refused = |error: wasmtime::Error| load_error(format!("{error:#}"));
        let compiled = self.engine.precompile_component(&bytes).map_err(refused)?;
        let component = self.deserialize(&compiled)?;
        wasi::check(&component, &self.engine)?;
        to.write_all(&compiled).map_err(|_| load_error("the compiled form cannot be written"))?;
        let exports: Vec<String> = self.exports(&component)?.into_iter().collect();
        Ok(Body::default().with("exports", &exports))
    }

    /// Loads what was compiled, from a descriptor that opal has checked.
    pub(crate) fn load(&self, from: File, load: &Load) -> Result<Plugin, Refusal> {
        let bytes = read(&from, MAX_COMPILED)?;
        let component = self.deserialize(&bytes)?;
        let found = self.exports(&component)?;
        let declared: BTreeSet<String> = load.exports.iter().cloned().collect();
        if found != declared {
            let list = |names: &BTreeSet<String>| {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
            };
            let message =
                format!("it exports {}, its manifest says {}", list(&found), list(&declared));
            return Err(load_error(message));
        }
        let mut linker = Linker::new(&self.engine);
        let refused = |error: wasmtime::Error| load_error(format!("{error:#}"));
        host::add_to_linker::<_, wasmtime::component::HasSelf<State>>(&mut linker, |state| state)
            .map_err(refused)?;
        wasi::link(&mut linker, &component, &self.engine)?;
        let instance = linker.instantiate_pre(&component).map_err(refused)?;
        let exports = Exports::new(&instance, &found).map_err(refused)?;
        let memory = load.memory_mib.min(MAX_MEMORY_MIB) as usize;
        Ok(Plugin { instance, exports, memory_bytes: memory << 20 })
    }

    #[expect(unsafe_code, reason = "opal passes only code that this helper compiled, under a MAC")]
    fn deserialize(&self, compiled: &[u8]) -> Result<Component, Refusal> {
        let component = unsafe { Component::deserialize(&self.engine, compiled) };
        component.map_err(|error| load_error(format!("{error:#}")))
    }

    /// The interfaces of a component; others than ours are refused.
    fn exports(&self, component: &Component) -> Result<BTreeSet<String>, Refusal> {
        let ty = component.component_type();
        // What makes components from JavaScript and Python leaves these in them. Nothing calls them.
        let is_left_over = |name: &str| ["init", "exports"].contains(&name);
        let exports = ty.exports(&self.engine).filter(|(name, _)| !is_left_over(name));
        let exports = exports.map(|(name, _)| {
            let ours = name.strip_prefix("opal:plugin/").and_then(|rest| rest.split_once('@'));
            match ours {
                Some((interface, "1.0.0")) if INTERFACES.contains(&interface) => {
                    Ok(interface.to_owned())
                }
                _ => Err(load_error(format!("it exports `{name}`, which opal does not know"))),
            }
        });
        exports.collect()
    }

    /// Calls a function in a new instance.
    pub(crate) fn call(
        &self,
        plugin: &Plugin,
        function: Function,
        invocation: &Invocation,
        (link, call, cancelled): (Arc<Link>, u64, Arc<AtomicBool>),
    ) -> (Result<Body, Refusal>, Option<Secret>) {
        let Some(seed) = state::seed(&invocation.seed) else {
            return (Err(load_error("the seed is not 64 hexadecimal digits")), None);
        };
        let state = State::new(link, call, cancelled, seed, plugin.memory_bytes);
        let mut store = Store::new(&self.engine, state);
        store.limiter(|state| &mut state.limits);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|mut store| store.data_mut().tick());
        let _ticking = self.ticker.start();
        let result = plugin
            .instance
            .instantiate(&mut store)
            .and_then(|instance| plugin.exports.call(&mut store, &instance, function, invocation));
        let result = match result {
            Ok(result) => result,
            Err(error) => Err(store.data().ending(&error)),
        };
        (result, store.into_data().log())
    }
}

/// The whole content of a file, from its start.
/// All of a file, by position: other processes may read the same descriptor.
fn read(file: &File, most: u64) -> Result<Vec<u8>, Refusal> {
    let refused = |_| load_error("the component cannot be read");
    let size = file.metadata().map_err(refused)?.len();
    if size > most {
        return Err(load_error("the component is too large"));
    }
    let mut bytes = vec![0; usize::try_from(size).unwrap_or_default()];
    file.read_exact_at(&mut bytes, 0).map_err(refused)?;
    Ok(bytes)
}

pub(crate) fn load_error(message: impl Into<String>) -> Refusal {
    Refusal::engine(Ending::Load, message)
}
