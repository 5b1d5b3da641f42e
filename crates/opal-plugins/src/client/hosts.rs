//! The processes of a run: one for most packages, one for each package that reads secrets, and one
//! restart in all.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use opal_core::protocol::Body;
use opal_core::protocol::call::{Function, Invocation, Load, Native};
use opal_helper::BUILD;

use super::failure::{CallFailure, Why};
use super::process::{Ended, Given, Host};
use super::{HOST, Serve};

/// The code of a package, compiled and checked.
#[derive(Debug)]
pub struct Component {
    /// `acme/vault`.
    pub name: String,
    pub version: String,
    /// Opened once, checked, and loaded from this descriptor: compiled code, or a program.
    pub compiled: File,
    pub load: Load,
    /// What a native program may do by itself; none for WASM.
    pub native: Option<Native>,
    /// Whether it has a process of its own: it may read the text of secrets.
    pub is_alone: bool,
}

/// The helper processes of one run. None runs before the first call.
#[derive(Debug, Default)]
pub struct Hosts {
    /// Another program than the one beside opal, for tests.
    program: Option<PathBuf>,
    /// By the package that is alone in it.
    slots: Mutex<BTreeMap<Option<String>, Slot>>,
    has_restarted: AtomicBool,
}

#[derive(Debug)]
struct Slot {
    host: Arc<Host>,
    loaded: BTreeSet<String>,
}

fn unusable(ended: Ended) -> Why {
    match ended {
        Ended::OtherBuild(build) => {
            Why::Unusable(opal_helper::Unusable::OtherBuild { name: HOST, build })
        }
        Ended::NotStarted(kind) => {
            Why::Unusable(opal_helper::Unusable::NotStarted { name: HOST, kind })
        }
        ended => Why::Crashed(ended),
    }
}

impl Hosts {
    /// With the helper at a path.
    #[must_use]
    pub fn at(program: PathBuf) -> Self {
        Self { program: Some(program), ..Self::default() }
    }

    /// Calls a function of a package. An error of the plugin is a [`CallFailure`] too.
    pub fn call(
        &self,
        component: &Component,
        function: Function,
        invocation: &Invocation,
        serve: &mut dyn Serve,
    ) -> Result<(Body, Option<opal_core::Secret>), CallFailure> {
        let failed = |why| CallFailure {
            plugin: component.name.clone(),
            version: component.version.clone(),
            decorator: invocation.decorator.clone(),
            why,
        };
        let host = self.ready(component).map_err(failed)?;
        let given = host.call(&component.name, function, invocation, serve);
        let (result, log): Given = given.map_err(|ended| failed(Why::Crashed(ended)))?;
        match result {
            Ok(body) => Ok((body, log)),
            Err(refusal) => Err(failed(Why::Refused(refusal))),
        }
    }

    /// A process that has loaded the package.
    fn ready(&self, component: &Component) -> Result<Arc<Host>, Why> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let place = component.is_alone.then(|| component.name.clone());
        if let Some(slot) = slots.get(&place)
            && let Some(ended) = slot.host.ended()
        {
            if self.has_restarted.swap(true, Ordering::SeqCst) {
                return Err(Why::CrashedAgain(ended));
            }
            slots.remove(&place);
        }
        if !slots.contains_key(&place) {
            let (host, loaded) = match &component.native {
                Some(native) => (self.native(component, native)?, [component.name.clone()].into()),
                None => (self.start()?, BTreeSet::new()),
            };
            slots.insert(place.clone(), Slot { host: Arc::new(host), loaded });
        }
        let Some(slot) = slots.get_mut(&place) else {
            return Err(Why::Crashed(Ended::Silent));
        };
        if !slot.loaded.contains(&component.name) {
            let loaded = slot.host.load(&component.name, &component.compiled, &component.load);
            loaded.map_err(Why::Crashed)?.map_err(Why::Refused)?;
            slot.loaded.insert(component.name.clone());
        }
        Ok(Arc::clone(&slot.host))
    }

    /// The helper: the one beside opal.
    pub fn program(&self) -> Result<PathBuf, opal_helper::Unusable> {
        match &self.program {
            Some(program) => Ok(program.clone()),
            None => opal_helper::find(HOST),
        }
    }

    fn start(&self) -> Result<Host, Why> {
        let program = self.program().map_err(Why::Unusable)?;
        Host::start(&program, BUILD).map_err(unusable)
    }

    /// A process that is a native program, which exports what its manifest says.
    fn native(&self, component: &Component, native: &Native) -> Result<Host, Why> {
        let program = self.program().map_err(Why::Unusable)?;
        let started = Host::native(&program, BUILD, &component.compiled, native);
        let (host, mut exports) = started.map_err(unusable)?.map_err(Why::Refused)?;
        exports.sort_unstable();
        let mut declared = component.load.exports.clone();
        declared.sort_unstable();
        if exports == declared {
            return Ok(host);
        }
        let shown = |names: &[String]| names.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
        let (found, says) = (shown(&exports), shown(&declared));
        Err(Why::Strange(format!("it exports {found}, its manifest says {says}")))
    }

    /// Ends the native programs, with everything that they started. The others end with opal.
    pub fn end(&self) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.retain(|_, slot| !slot.host.is_native());
    }

    /// The processes that run, for tests that kill them.
    #[must_use]
    pub fn pids(&self) -> Vec<u32> {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.values().map(|slot| slot.host.pid()).collect()
    }
}
