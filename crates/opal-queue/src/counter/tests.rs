use super::*;

fn progress(started: Bits, failed: Bits) -> Progress {
    Progress { started, failed, is_done: false }
}

#[test]
fn a_counter_comes_back_as_it_was_written() {
    let done = Progress { started: (1 << 50) - 1, failed: 0b101, is_done: true };
    let shares = BTreeMap::from([(3, done), (4, Progress::default())]);
    let counter = Counter { version: 9, batch: 2, failed: 1, shares };
    assert_eq!(counter.failed(), 3);
    let text = counter.write().to_string();
    assert_eq!(Counter::read(9, text.as_bytes()), Some(counter));
    for wrong in ["", "[]", "{}", "{\"batch\":1,\"failed\":0,\"shares\":[[1]]}"] {
        assert_eq!(Counter::read(1, wrong.as_bytes()), None, "{wrong}");
    }
}

/// A runner that takes a share over says again what has failed, and adds nothing by it.
#[test]
fn a_target_counts_once_however_often_it_is_counted() {
    let shares = BTreeMap::from([(1, progress(0b111, 0b001))]);
    let mut counter = Counter { version: 1, batch: 1, failed: 0, shares };
    for failed in [0b001, 0, 0b101, 0b001] {
        counter.shares.entry(1).or_default().failed |= failed;
    }
    assert_eq!(counter.failed(), 2);
}

/// The last change is somebody else's then: whoever names it twice looks like a counter that was reset.
#[test]
fn a_failure_in_a_batch_that_has_ended_is_not_a_change() {
    let mut counter = Counter { version: 5, batch: 2, ..Counter::default() };
    assert_eq!(counter.fail(1, 1, 0b1), None);
    assert_eq!((counter.failed(), counter.shares.len()), (0, 0));
    assert_eq!(counter.fail(2, 3, 0b1), Some(()));
    assert_eq!(counter.failed(), 1);
}

#[test]
fn targets_that_have_started_go_on_and_no_other_starts_after_too_many_failures() {
    let shares = BTreeMap::from([(1, progress(0b011, 0b001))]);
    let mut counter = Counter { version: 1, batch: 1, failed: 0, shares };
    assert_eq!(counter.start(1, 1, 0b111, 0), Ok(0b011));
    assert_eq!(counter.start(1, 1, 0b100, 0), Err(Halt::Failures));
    assert_eq!(counter.start(1, 2, 0b1, 0), Err(Halt::Failures));
    assert_eq!(counter.start(1, 1, 0b100, 1), Ok(0b100));
    assert_eq!(counter.shares[&1].started, 0b111);
    assert_eq!(counter.start(2, 3, 1, 1), Err(Halt::TooEarly));
    counter.batch = 2;
    assert_eq!(counter.start(1, 1, 0b111, 0), Ok(0b111));
}

#[test]
fn a_counter_of_other_shares_or_targets_is_not_that_of_the_order() {
    let order = crate::follow::tests::order();
    let of = |version, batch, share, bits| {
        let shares = BTreeMap::from([(share, progress(bits, 0))]);
        Counter { version, batch, failed: 0, shares }.fits(&order)
    };
    assert!(of(1, 1, 1, 1) && of(1, 2, 3, 0));
    assert!(!of(0, 1, 1, 1), "it was never changed");
    assert!(!of(1, 3, 1, 1) && !of(1, 0, 1, 1), "no such batch");
    assert!(!of(1, 1, 3, 1) && !of(1, 1, 9, 1), "a share of another batch, or of none");
    assert!(!of(1, 1, 1, 2), "no such target");
}
