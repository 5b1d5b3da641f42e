//! Where a resource is verified from.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use opal_core::Secret;
use opal_session::Place;
use opal_session::stop::Stop;

#[derive(Clone, Debug)]
pub(crate) struct Spot {
    /// Where its relative paths begin.
    pub(crate) base: Arc<Path>,
    /// Where its commands run.
    pub(crate) directory: Arc<Path>,
    pub(crate) environment: Arc<BTreeMap<String, Secret>>,
}

impl Spot {
    pub(crate) fn place<'s>(&'s self, stop: &'s Stop) -> Place<'s> {
        let Self { base, directory, environment } = self;
        Place { base, directory, environment, stop }
    }
}
