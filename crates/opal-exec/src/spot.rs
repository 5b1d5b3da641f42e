//! Where a step is: on this machine or on a target, and where there.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use opal_core::Secret;
use opal_core::action::TextFile;
use opal_core::crossing::Crossing;
use opal_core::plan::{Node, Step};
use opal_core::resolver::Trouble;
use opal_core::target::Hop;
use opal_session::stop::Stop;
use opal_session::targets::{Access, Reach, Reached};
use opal_session::{Place, Session};

/// A machine that is not opal's own, and the way to it.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) way: Vec<Crossing>,
    /// The names of the targets on the way, with `/` between them.
    pub(crate) label: Arc<str>,
    /// The member of a fleet.
    pub(crate) member: Option<Arc<str>>,
    /// The files that were sent for the block: they are gone when the block lets go of them, before the
    /// session is.
    pub(crate) folder: Option<Folder>,
    pub(crate) session: Arc<dyn Session + Send>,
}

/// A directory of a target that is there as long as this is held.
#[derive(Clone)]
pub(crate) struct Folder(pub(crate) Arc<dyn TextFile>);

impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Folder").field(&self.0.path()).finish()
    }
}

/// Each container that is made for a block is another one.
static VISITS: AtomicU64 = AtomicU64::new(1);

impl Site {
    /// Goes one crossing further than `from`; with it comes where steps start there.
    pub(crate) fn cross(
        reach: Option<&dyn Reach>,
        from: Option<&Self>,
        crossing: &Crossing,
        is_member: bool,
        access: Access,
        stop: &Stop,
    ) -> Result<(Arc<Self>, Arc<Path>), Trouble> {
        let reach = reach.ok_or_else(Trouble::no_targets)?;
        let mut way = from.map(|site| site.way.clone()).unwrap_or_default();
        let visit = match crossing.target.hop {
            Hop::NewContainer(_) => VISITS.fetch_add(1, Ordering::Relaxed),
            _ => 0,
        };
        way.push(Crossing { visit, ..crossing.clone() });
        let Reached { session, start } = reach.reach(&way, access, stop)?;
        let names: Vec<&str> = way.iter().map(|it| it.target.name.as_str()).collect();
        let label = names.join("/").into();
        let own = is_member.then(|| crossing.target.name.as_str().into());
        let member = from.and_then(|site| site.member.clone()).or(own);
        Ok((Arc::new(Self { way, label, member, folder: None, session }), start.into()))
    }
}

impl Site {
    /// The same with another session, where the connection of this one was lost; none where it was not.
    pub(crate) fn again(
        &self,
        reach: Option<&dyn Reach>,
        stop: &Stop,
    ) -> Option<Result<Self, Trouble>> {
        let reach = reach.filter(|_| self.session.is_lost())?;
        let reached = reach.reach(&self.way, Access::Acting, stop);
        Some(reached.map(|Reached { session, .. }| Self { session, folder: None, ..self.clone() }))
    }
}

/// Where a resource is verified from.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    /// None on opal's own machine.
    pub(crate) site: Option<Arc<Site>>,
    /// Where its relative paths begin.
    pub(crate) base: Arc<Path>,
    /// The same on opal's own machine.
    pub(crate) sources: Arc<Path>,
    /// Where its commands run.
    pub(crate) directory: Arc<Path>,
    pub(crate) environment: Arc<BTreeMap<String, Secret>>,
}

impl Spot {
    pub(crate) fn place<'s>(&'s self, stop: &'s Stop) -> Place<'s> {
        let Self { base, sources, directory, environment, .. } = self;
        Place { base, directory, environment, sources: Some(&**sources), stop }
    }

    /// The names of the targets on the way to it.
    pub(crate) fn target(&self) -> Option<&str> {
        self.site.as_ref().map(|site| &*site.label)
    }

    /// The member of a fleet that it is on.
    pub(crate) fn member(&self) -> Option<&str> {
        self.site.as_ref().and_then(|site| site.member.as_deref())
    }

    /// The same, to be held by a thread of its own.
    pub(crate) fn shared(&self, own: &Arc<dyn Session + Send>) -> Arc<dyn Session + Send> {
        Arc::clone(self.site.as_ref().map_or(own, |site| &site.session))
    }

    /// The session there; `own` is that of opal's machine.
    pub(crate) fn session<'s>(&'s self, own: &'s dyn Session) -> &'s dyn Session {
        self.site.as_ref().map_or(own, |site| &*site.session)
    }
}

/// The steps that a fleet runs on one of its members.
pub(crate) fn member_block<'p>(fleet: &'p Step, member: &str) -> &'p [Step] {
    let is_of = |variant: &&Step| variant.targets().any(|name| name == member);
    let variants = fleet.block.iter().take_while(|step| step.node == Node::Variant);
    variants.clone().find(is_of).map_or(
        // Without variants it is the same on all.
        if variants.count() == 0 { &fleet.block } else { &[] },
        |variant| &variant.block,
    )
}
