//! The code of a package, and what runs it in this process.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use opal_core::pages::Exchanges;
use opal_core::protocol::MEMORY_MIB;
use opal_core::protocol::call::Load;

use super::native::{self, NativeRules};
use crate::capability::Capability;
use crate::client::compiled::{Cache, Compiled};
use crate::client::failure::{CallFailure, Why};
use crate::client::grants::Grants;
use crate::client::{Component, Ended, HOST, Hosts};

/// The code of a package. Nothing is compiled or started before the first call.
#[derive(Debug)]
pub struct Code {
    pub name: String,
    pub version: String,
    /// Of its package: `sha256:…`.
    pub checksum: String,
    /// The component, or the native program.
    pub wasm: Vec<u8>,
    pub is_native: bool,
    /// What its manifest says that it exports.
    pub exports: Vec<String>,
    pub memory_mib: u32,
    /// What it was granted.
    pub capabilities: Vec<Capability>,
    pub runtime: &'static OnceLock<Runtime>,
    pub made: OnceLock<Made>,
}

/// What is made of code when it is called first.
#[derive(Debug)]
pub struct Made {
    pub(super) grants: Grants,
    component: Mutex<Option<Arc<Component>>>,
}

/// What runs the code of packages in this process.
#[derive(Debug)]
pub struct Runtime {
    pub cache: Cache,
    pub hosts: Hosts,
    /// Who speaks to hosts.
    pub web: Arc<dyn Exchanges>,
    pub native: NativeRules,
}

/// The one of this process; none where it runs no code of packages.
pub static RUNTIME: OnceLock<Runtime> = OnceLock::new();

impl Code {
    #[must_use]
    pub fn new(name: &str, version: &str, wasm: Vec<u8>, exports: Vec<String>) -> Self {
        Self {
            name: name.to_owned(),
            version: version.to_owned(),
            checksum: String::new(),
            wasm,
            is_native: false,
            exports,
            memory_mib: MEMORY_MIB,
            capabilities: Vec::new(),
            runtime: &RUNTIME,
            made: OnceLock::new(),
        }
    }

    pub(super) fn runtime(&self) -> Result<&'static Runtime, Why> {
        self.runtime.get().ok_or(Why::NoRuntime)
    }

    pub(super) fn made(&self, runtime: &Runtime) -> &Made {
        self.made.get_or_init(|| {
            let root = runtime.cache.root();
            let grants = Grants::new(self.capabilities.iter().cloned(), root);
            Made { grants, component: Mutex::default() }
        })
    }

    /// What the component exports; or why it cannot be compiled.
    ///
    /// # Errors
    /// Nothing here runs the code of packages.
    pub(crate) fn exported(&self) -> Result<Result<Vec<String>, String>, CallFailure> {
        let failed = |why| CallFailure {
            plugin: self.name.clone(),
            version: self.version.clone(),
            decorator: String::new(),
            why,
        };
        match self.runtime().and_then(|runtime| self.compiled(runtime)) {
            Ok(compiled) => {
                let mut exports = compiled.exports;
                exports.sort_unstable();
                Ok(Ok(exports))
            }
            Err(Why::Refused(refusal)) => Ok(Err(refusal.message.expose().to_owned())),
            Err(Why::Crashed(ended)) => Ok(Err(format!("the compiler ended: {ended:?}"))),
            Err(why) => Err(failed(why)),
        }
    }

    fn compiled(&self, runtime: &Runtime) -> Result<Compiled, Why> {
        let program = runtime.hosts.program().map_err(Why::Unusable)?;
        let compiled = runtime.cache.open(&program, &self.wasm).map_err(|ended| match ended {
            Ended::OtherBuild(build) => {
                Why::Unusable(opal_helper::Unusable::OtherBuild { name: HOST, build })
            }
            ended => Why::Crashed(ended),
        })?;
        compiled.map_err(Why::Refused)
    }

    pub(super) fn component(&self, runtime: &Runtime) -> Result<Arc<Component>, Why> {
        let made = self.made(runtime);
        let mut component = made.component.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(component) = &*component {
            return Ok(Arc::clone(component));
        }
        let compiled = match self.is_native {
            true => native::image(&self.wasm)
                .map_err(|error| Why::Crashed(Ended::NotStarted(error.kind())))?,
            false => self.compiled(runtime)?.file,
        };
        let native = || {
            let found =
                runtime.native.of(&self.capabilities, self.memory_mib, made.grants.reserved());
            found.map_err(Why::Refused)
        };
        let native = self.is_native.then(native).transpose()?;
        let made = Arc::new(Component {
            name: self.name.clone(),
            version: self.version.clone(),
            compiled,
            load: Load { exports: self.exports.clone(), memory_mib: self.memory_mib },
            native,
            is_alone: self.is_native || made.grants.has_secrets(),
        });
        *component = Some(Arc::clone(&made));
        Ok(made)
    }
}
