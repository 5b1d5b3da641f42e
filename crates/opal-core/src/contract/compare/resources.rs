//! What resources were when a contract was made, and what they are now.
//!
//! What a run of the contract itself has applied is not drift: a state that an earlier run left
//! counts as much as the one that the contract has seen.

use super::{Change, Difference, Drift, Side, Verdict};
use crate::contract::Contract;
use crate::contract::provenance::Seen;
use crate::hash::Digest;
use crate::resource::Status;

/// What an earlier run of a contract left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Earlier {
    /// What was seen at its end.
    Left(Vec<Seen>),
    /// Nobody looked: it was killed, or its machine was.
    Unseen,
}

impl Verdict {
    /// Holds what is seen `now` against what `contract` has seen. `earlier` gives what its earlier
    /// runs left, the newest first, and is asked only where something differs.
    ///
    /// False where something differs and cannot be judged, since the last run was cut off.
    pub fn hold_resources(
        &mut self,
        contract: &Contract,
        now: &[Seen],
        earlier: impl FnOnce() -> Vec<Earlier>,
    ) -> bool {
        let then = &contract.provenance().resources;
        let mut found: Vec<(Difference, &Seen)> = now
            .iter()
            .filter_map(|now| {
                let was = self.was(&now.path)?;
                let then = then.iter().find(|then| &*then.path == was)?;
                let difference = difference(then, now).filter(|_| !self.is_unreached(now))?;
                Some((difference, now))
            })
            .collect();
        if found.is_empty() {
            return true;
        }
        let earlier = earlier();
        // What came after a run that was cut off has seen what that left.
        if earlier.first() == Some(&Earlier::Unseen) {
            return false;
        }
        found.retain(|(_, now)| {
            !earlier.iter().any(|left| matches!(left, Earlier::Left(seen) if seen.contains(now)))
        });
        self.differences.extend(found.into_iter().map(|(difference, _)| difference));
        true
    }
}

impl Verdict {
    /// Whether it could not be verified because its machine is not the one that it was, which is a
    /// difference of its own.
    fn is_unreached(&self, now: &Seen) -> bool {
        let mut machines = self.differences.iter().filter_map(|it| it.machine.as_deref());
        now.status == Status::Blocked
            && machines.any(|name| {
                let rest = now.path.strip_prefix(name);
                rest.is_some_and(|rest| rest.starts_with(['/', ':']))
            })
    }
}

fn difference(then: &Seen, now: &Seen) -> Option<Difference> {
    if let Some(what) = other_object(then, now) {
        let words = format!("`{}` is {what}", now.path);
        return Some(described(Drift::InfraMutated, then, now, words));
    }
    let is_open = |seen: &Seen| seen.status == Status::Unknown || seen.by_prerequisite;
    if now.status == Status::Satisfied || is_open(then) || is_open(now) {
        return None;
    }
    let is_same = then.status == now.status && then.details == now.details;
    if is_same {
        return None;
    }
    let code = match (then.status, now.status) {
        (Status::Satisfied, Status::Missing) => Drift::InfraMissing,
        _ => Drift::InfraMutated,
    };
    let (was, is) = (then.status.name(), now.status.name());
    let path = &now.path;
    let words = match was == is {
        true => format!("`{path}` is {is} as before, but differs in another way"),
        false => {
            format!("`{path}` was {was} when the contract was made, and is now {is}")
        }
    };
    Some(described(code, then, now, words))
}

/// Which other object was found than the contract's, whatever it is like: one in another account, or
/// another one in the same.
fn other_object(then: &Seen, now: &Seen) -> Option<&'static str> {
    let is_other = |pair: (Option<Digest>, Option<Digest>)| matches!(pair, (Some(then), Some(now)) if then != now);
    match (is_other((then.account, now.account)), is_other((then.identity, now.identity))) {
        (true, _) => Some("not in the contract's account, region or cluster"),
        (false, true) => Some("another object than the contract's"),
        (false, false) => None,
    }
}

fn described(code: Drift, then: &Seen, now: &Seen, words: String) -> Difference {
    let side = |seen: &Seen| {
        let placeholder = seen.details.clone()?;
        Some(Side { placeholder, public: None })
    };
    Difference {
        change: Change::Resource,
        code,
        path: Some(now.path.clone()),
        was: Some(then.path.clone()),
        key: None,
        machine: None,
        before: side(then),
        after: side(now),
        causes: Vec::new(),
        words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(status: Status, details: Option<u8>) -> Seen {
        let details = details.map(|byte| crate::placeholder::Placeholder {
            length: 1,
            algorithm: crate::hash::Algorithm::Sha256,
            digest: crate::hash::Digest([byte; 32]),
        });
        let (identity, account) = (None, None);
        let path = "setup.file.copy[0]".into();
        Seen { path, status, details, identity, account, by_prerequisite: false }
    }

    fn code(then: &Seen, now: &Seen) -> Option<Drift> {
        difference(then, now).map(|difference| difference.code)
    }

    #[test]
    fn satisfied_now_is_never_drift() {
        for then in Status::ALL {
            assert_eq!(code(&seen(then, None), &seen(Status::Satisfied, None)), None);
        }
    }

    #[test]
    fn what_is_gone_and_what_is_different_have_codes_of_their_own() {
        use Status::{Blocked, Drifted, Missing, Satisfied};
        let cases = [
            ((Satisfied, None), (Missing, None), Some(Drift::InfraMissing)),
            ((Satisfied, None), (Drifted, Some(1)), Some(Drift::InfraMutated)),
            ((Missing, None), (Drifted, Some(1)), Some(Drift::InfraMutated)),
            ((Drifted, Some(1)), (Drifted, Some(2)), Some(Drift::InfraMutated)),
            ((Drifted, Some(1)), (Missing, None), Some(Drift::InfraMutated)),
            ((Missing, None), (Blocked, None), Some(Drift::InfraMutated)),
            ((Drifted, Some(1)), (Drifted, Some(1)), None),
            ((Missing, None), (Missing, None), None),
            ((Blocked, None), (Blocked, None), None),
        ];
        for ((then, before), (now, after), expected) in cases {
            let found = code(&seen(then, before), &seen(now, after));
            assert_eq!(found, expected, "{then:?} to {now:?}");
        }
    }

    #[test]
    fn what_nobody_can_tell_is_not_compared() {
        let waiting = Seen { by_prerequisite: true, ..seen(Status::Blocked, None) };
        for now in [&seen(Status::Unknown, None), &waiting] {
            assert_eq!(code(&seen(Status::Satisfied, None), now), None);
            assert_eq!(code(now, &seen(Status::Missing, None)), None);
        }
    }

    #[test]
    fn another_object_or_account_is_drift_even_where_all_is_satisfied() {
        let digest = |byte| Some(Digest([byte; 32]));
        let of = |identity, account| Seen { identity, account, ..seen(Status::Satisfied, None) };
        let then = of(digest(1), digest(2));
        for (now, expected) in [
            (of(digest(1), digest(2)), None),
            (of(digest(9), digest(2)), Some(Drift::InfraMutated)),
            (of(digest(1), digest(9)), Some(Drift::InfraMutated)),
            // What is gone is another matter, and what says nothing is not another one.
            (of(None, None), None),
        ] {
            assert_eq!(code(&then, &now), expected, "{now:?}");
        }
    }
}
