//! The keys of a plan that is made here.

use std::collections::BTreeMap;

use opal_core::decorator::Descriptor;
use opal_core::placeholder::PlaceholderKey;
use opal_core::resolver::Stream;
use opal_core::wiped::Wiped;

use super::{lasting_name, regen_key, site};
use crate::keys::{ContractSecret, KeyError, Runner};
use crate::randomness::{Drbg, canonical_parameters};
use opal_core::keys::{Draw, Keys};

/// Who runs, and for which project: looked up only where a plan needs it.
pub type Load<'k> = Box<dyn FnMut() -> Result<(Runner, String), KeyError> + 'k>;

/// The runner's keys, and a secret that is drawn for this plan alone.
pub struct OwnKeys<'k> {
    load: Load<'k>,
    loaded: Option<(Runner, String)>,
    target: String,
    pub(super) secret: ContractSecret,
    /// Keys of lasting values that were drawn: a contract takes them along.
    pub(super) regen: BTreeMap<String, Wiped<[u8; 32]>>,
    /// The decorators that values were drawn from.
    pub(super) drawn: Drawn,
    drew: bool,
}

/// Decorators by their paths.
pub(super) type Drawn = BTreeMap<&'static str, &'static Descriptor>;

impl<'k> OwnKeys<'k> {
    #[must_use]
    pub fn new(target: &str, load: Load<'k>) -> Self {
        let secret = ContractSecret::fresh();
        crate::seeding::of_plan(&secret);
        Self {
            load,
            loaded: None,
            target: target.to_owned(),
            secret,
            regen: BTreeMap::new(),
            drawn: Drawn::new(),
            drew: false,
        }
    }

    /// The runner and the project's name.
    pub fn runner(&mut self) -> Result<&(Runner, String), KeyError> {
        if self.loaded.is_none() {
            self.loaded = Some((self.load)()?);
        }
        Ok(self.loaded.as_ref().expect("it has just been loaded"))
    }

    /// The runner, if anything has needed it.
    #[must_use]
    pub fn used_runner(&self) -> Option<&Runner> {
        self.loaded.as_ref().map(|(runner, _)| runner)
    }

    /// Whether a value was drawn from the secret: gone with this process, unless a contract
    /// carries it.
    #[must_use]
    pub fn drew(&self) -> bool {
        self.drew
    }

    pub(super) fn own_placeholder_key(&mut self) -> Result<PlaceholderKey, KeyError> {
        let target = self.target.clone();
        let (runner, project) = self.runner()?;
        Ok(runner.placeholder_key(project, &target))
    }
}

impl Keys for OwnKeys<'_> {
    fn placeholder_key(&mut self) -> Result<PlaceholderKey, KeyError> {
        self.own_placeholder_key()
    }

    fn draw(&mut self, draw: &Draw<'_>) -> Result<Box<dyn Stream>, KeyError> {
        self.drawn.insert(draw.decorator.path, draw.decorator);
        let (Some(name), Some(regen_key)) = (lasting_name(draw), regen_key(draw.inputs)) else {
            self.drew = true;
            return Ok(Box::new(Drbg::of_site(&self.secret.seed(), &site(draw))));
        };
        let parameters = canonical_parameters(draw.inputs);
        let (runner, project) = self.runner()?;
        let subkey = runner.regen_subkey(project, draw.decorator.path, regen_key, &parameters);
        let stream = Drbg::of_regen(&subkey);
        self.regen.insert(name, subkey);
        Ok(Box::new(stream))
    }
}

impl std::fmt::Debug for OwnKeys<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OwnKeys").field("target", &self.target).finish_non_exhaustive()
    }
}
