//! Inventories of hosts, and whoever reads them.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::boundary::Member;
use crate::resolver::{Probe, Trouble, TroubleKind};

/// What a block wants of an inventory.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// A file, a directory, `ssh`, or `cmd:PROGRAM`.
    pub inventory: &'a str,
    /// A pattern, as Ansible writes it.
    pub select: &'a str,
    /// Connections other than SSH that the block permits.
    pub connections: Vec<&'a str>,
    /// The user that the block names, or `inventory`.
    pub role: Option<&'a str>,
}

/// Reads inventories.
pub trait Inventories: Send + Sync + fmt::Debug {
    /// The selected hosts, in order. Nothing is changed.
    fn members(&self, wanted: &Wanted<'_>, probe: &dyn Probe) -> Result<Vec<Member>, Trouble>;

    /// Which of these members, each with its groups, a pattern means. One that is unknown to it means
    /// none.
    fn limited(
        &self,
        pattern: &str,
        members: &[(&str, &[String])],
    ) -> Result<BTreeSet<String>, Trouble>;

    /// Whether reading it starts a program.
    fn is_expensive(&self, inventory: &str) -> bool;
}

static READER: OnceLock<Arc<dyn Inventories>> = OnceLock::new();

/// From now on inventories are read by `reader`. The first one stays.
pub fn read_by(reader: Arc<dyn Inventories>) {
    let _ = READER.set(reader);
}

/// Who reads inventories.
pub fn reader() -> Result<&'static dyn Inventories, Trouble> {
    READER.get().map(|reader| &**reader).ok_or_else(|| {
        let message = "inventories cannot be read from here";
        Trouble::new(TroubleKind::Invalid, message, "name the hosts with `hosts=[…]`")
    })
}
