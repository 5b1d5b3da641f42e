//! Why a share is not run, and when it is tried again.
//!
//! What is wrong with the order or the contract is final. What is wrong with this runner is not: it declines,
//! another runner may take the share, and this one tries again later, less and less often. Where all runners
//! have declined, whoever follows the order ends it.

use std::collections::BTreeMap;

use opal_trust::order::{Order, OrderId};
use opal_vault::record::Reason;
use tokio::time::{Duration, Instant};

use super::outcome::PAST_END;
use crate::time::seconds;

/// Why nothing starts after the end of an order.
pub(crate) const ENDED: &str = "the order is past its end";

/// When a share is tried again that cannot run now, in seconds.
pub(crate) const LATER: u64 = 5;

/// 2 to this: seconds after which a runner tries again at last what it has declined.
const LONGEST: u32 = 6;

/// Orders and shares that a runner has declined.
const MAX_DECLINED: usize = 1_000;

/// For whom a refusal holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Nobody can run it: something is wrong with the order or the contract.
    Everybody,
    /// Another runner may: something is missing here.
    ThisRunner,
    /// The server does not answer, so nothing is known.
    Nobody,
}

/// Why a share is not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: u8,
    pub(crate) message: String,
    pub(crate) reach: Reach,
    /// The order, as far as it can be read: who sent it hears why.
    pub(crate) order: Option<Box<Order>>,
    /// What the record of the contract says.
    pub(crate) reason: Reason,
    /// Whether this runner has refused a contract of somebody whose orders it takes.
    pub(crate) is_recorded: bool,
}

impl Refusal {
    pub(crate) fn damaged(message: impl Into<String>) -> Self {
        Self {
            code: 76,
            message: message.into(),
            reach: Reach::Everybody,
            order: None,
            reason: Reason::Tampered,
            is_recorded: false,
        }
    }

    /// The order has ended before the share began.
    pub(crate) fn past_end() -> Self {
        Self { code: PAST_END, ..Self::damaged(ENDED) }.because(Reason::Expired)
    }

    pub(crate) fn not_here(code: u8, message: impl Into<String>) -> Self {
        Self { code, reach: Reach::ThisRunner, ..Self::damaged(message) }
    }

    /// The server could not be asked: that says nothing about the order.
    pub(crate) fn away(trouble: &crate::trouble::Trouble) -> Self {
        Self { reach: Reach::Nobody, ..Self::not_here(69, trouble.to_string()) }
    }

    /// What the process of a share said before it ended without a result. 76: the contract is not the plan of
    /// now, has expired or was used.
    pub(crate) fn of_process(code: u8, message: String) -> Self {
        match code {
            76 => Self::damaged(message),
            _ => Self::not_here(code, message),
        }
    }

    pub(crate) fn because(self, reason: Reason) -> Self {
        Self { reason, ..self }
    }

    /// The order is of somebody whose orders count here: what is wrong with its contract is recorded, and what
    /// is wrong with this machine is not.
    pub(crate) fn recorded(self) -> Self {
        Self { is_recorded: matches!(self.code, 76 | 77 | PAST_END), ..self }
    }

    pub(crate) fn about(self, order: &Order) -> Self {
        Self { order: Some(order.clone().into()), ..self }
    }
}

/// What this runner has declined: an order as a whole, or one share of it.
#[derive(Debug, Default)]
pub(crate) struct Declined(BTreeMap<(OrderId, Option<u32>), Entry>);

#[derive(Debug)]
struct Entry {
    refusal: Refusal,
    times: u32,
    until: Instant,
}

impl Declined {
    /// Why a share is not tried now.
    pub(crate) fn why(&self, order: OrderId, share: u32) -> Option<(Option<u32>, Refusal)> {
        [None, Some(share)].into_iter().find_map(|which| {
            let entry = self.0.get(&(order, which)).filter(|it| Instant::now() < it.until)?;
            Some((which, entry.refusal.clone()))
        })
    }

    /// Remembers a refusal, and says after what time it is tried again: each time twice as long.
    pub(super) fn note(
        &mut self,
        order: OrderId,
        share: Option<u32>,
        refusal: &Refusal,
    ) -> Duration {
        if self.0.len() >= MAX_DECLINED {
            self.0.retain(|_, entry| Instant::now() < entry.until);
        }
        if self.0.len() >= MAX_DECLINED {
            self.0.pop_first();
        }
        let now = Instant::now();
        let entry = self.0.entry((order, share)).or_insert_with(|| Entry {
            refusal: refusal.clone(),
            times: 0,
            until: now,
        });
        if now >= entry.until {
            entry.until = now + seconds(1 << entry.times.min(LONGEST));
            entry.times += 1;
            entry.refusal = refusal.clone();
        }
        entry.until - now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_declined_is_tried_again_less_and_less_often() {
        let mut declined = Declined::default();
        let (order, refusal) = (OrderId::draw(), Refusal::not_here(69, "no route"));
        assert_eq!(declined.why(order, 1), None);
        let first = declined.note(order, Some(1), &refusal);
        assert!(first <= seconds(1));
        assert_eq!(declined.why(order, 1), Some((Some(1), refusal.clone())));
        assert_eq!(declined.why(order, 2), None);
        // Until then a second message changes nothing.
        assert!(declined.note(order, Some(1), &refusal) <= first);
        for times in 1..20 {
            if let Some(entry) = declined.0.get_mut(&(order, Some(1))) {
                entry.until = Instant::now();
            }
            assert_eq!(declined.why(order, 1), None);
            let wait = declined.note(order, Some(1), &refusal);
            assert!(wait > seconds((1 << times.min(LONGEST)) - 1), "{times}: {wait:?}");
        }
        declined.note(order, None, &refusal);
        assert_eq!(declined.why(order, 2), Some((None, refusal)));
    }

    #[test]
    fn only_what_is_wrong_with_the_contract_holds_for_all_runners() {
        assert_eq!(Refusal::of_process(76, String::new()).reach, Reach::Everybody);
        for code in [1, 65, 66, 69, 74, 77, 78, 101] {
            assert_eq!(Refusal::of_process(code, String::new()).reach, Reach::ThisRunner, "{code}");
        }
    }
}
