//! What all shares of a runner use, and the room that they take.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;

use opal_trust::keys::{PublicKey, Runner, SigningKey};
use opal_trust::order::{MAX_SHARE, OrderId};
use opal_trust::policy::Policy;
use opal_vault::root::Root;
use tokio::sync::Notify;

use super::prepared::{Prepared, Ticket, prepare};
use super::refusal::{Declined, Refusal};
use crate::pool::Pool;

/// Orders whose contract and sources are kept in memory.
const MAX_ORDERS: usize = 4;

/// What all shares of this runner use.
pub(crate) struct Desk {
    pub(super) opal: PathBuf,
    pub(super) root: Root,
    pub(super) runner: Runner,
    pub(super) key: SigningKey,
    pub(super) policy: Policy,
    pub(super) dispatchers: BTreeSet<PublicKey>,
    pub(super) pool: Pool,
    pub(super) orders: RefCell<BTreeMap<OrderId, Rc<Prepared>>>,
    pub(super) preparing: tokio::sync::Mutex<()>,
    /// What it does not try now.
    pub(super) declined: RefCell<Declined>,
    /// Refusals that were said: of a share, or of the whole order.
    pub(super) reported: RefCell<BTreeSet<(OrderId, Option<u32>, String)>>,
    pub(super) stopping: Cell<bool>,
    /// Targets that are worked on, or may be.
    pub(super) busy: Cell<usize>,
    pub(super) freed: Notify,
}

impl Desk {
    /// An order, which is fetched and checked once for all its shares.
    pub(super) async fn prepared(
        &self,
        id: OrderId,
        ticket: &Ticket,
    ) -> Result<Rc<Prepared>, Refusal> {
        let _turn = self.preparing.lock().await;
        if let Some(known) = self.orders.borrow().get(&id) {
            return Ok(Rc::clone(known));
        }
        let prepared = Rc::new(prepare(self, id, ticket).await?);
        let mut orders = self.orders.borrow_mut();
        // One whose shares are running stays with them.
        while orders.len() >= MAX_ORDERS {
            orders.pop_first();
        }
        orders.insert(id, Rc::clone(&prepared));
        Ok(prepared)
    }
}

/// Room for the targets of a share.
pub(crate) struct Room {
    desk: Rc<Desk>,
    targets: usize,
}

impl Room {
    pub(super) fn take(desk: &Rc<Desk>) -> Self {
        desk.busy.set(desk.busy.get() + MAX_SHARE);
        Self { desk: Rc::clone(desk), targets: MAX_SHARE }
    }

    /// So many it has.
    pub(crate) fn shrink(&mut self, targets: usize) {
        self.desk.busy.set(self.desk.busy.get() - self.targets + targets);
        self.targets = targets;
        self.desk.freed.notify_one();
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.desk.busy.set(self.desk.busy.get() - self.targets);
        self.desk.freed.notify_one();
    }
}
