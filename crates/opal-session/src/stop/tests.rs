use super::*;

const SOON: Option<Duration> = Some(Duration::from_secs(60));

#[test]
fn what_is_said_above_is_heard_below() {
    let run = Stop::new();
    let block = run.below().limited(Duration::from_secs(3_600), USUAL_GRACE);
    assert_eq!(block.order(), Order::GoOn);
    run.ask(Why::Signal(2));
    let end = Order::End { why: Why::Signal(2), grace: USUAL_GRACE };
    assert_eq!(block.order(), end);
    run.ask(Why::Signal(15));
    assert_eq!(block.order(), end);
    run.kill();
    assert_eq!(block.order(), Order::Kill);
}

#[test]
fn a_patient_run_gives_more_time_to_all_that_it_asks_to_end() {
    let run = Stop::new();
    run.be_patient(Duration::from_secs(600));
    run.be_patient(Duration::ZERO);
    run.ask(Why::Signal(15));
    let grace = Duration::from_secs(600);
    assert_eq!(run.below().order(), Order::End { why: Why::Signal(15), grace });
}

#[test]
fn cleaning_up_hears_of_nothing_but_the_order_to_kill() {
    let run = Stop::new();
    run.ask(Why::Signal(2));
    let clean = run.deaf().below();
    assert_eq!(clean.order(), Order::GoOn);
    run.kill();
    assert_eq!(clean.order(), Order::Kill);
}

#[test]
fn a_signal_counts_once_it_is_noted() {
    let (run, note) = (Stop::new(), Arc::new(AtomicUsize::new(0)));
    run.noted_in(Arc::clone(&note));
    let block = run.below();
    assert_eq!((block.order(), block.why()), (Order::GoOn, None));
    note.store(2, Ordering::SeqCst);
    let end = Order::End { why: Why::Signal(2), grace: USUAL_GRACE };
    assert_eq!((block.order(), block.why()), (end, Some(Why::Signal(2))));
    // Whoever passes it on says the same, and what comes later changes nothing.
    run.ask(Why::Signal(2));
    note.store(15, Ordering::SeqCst);
    assert_eq!(block.why(), Some(Why::Signal(2)));
    assert_eq!(run.deaf().order(), Order::GoOn);
}

#[test]
fn whoever_waits_longer_than_a_moment_is_attended_once() {
    let run = Stop::new();
    let (sender, begun) = std::sync::mpsc::channel();
    run.attended_by(move || sender.send(()).unwrap());
    let block = run.below();
    for _ in 0..20 {
        let _ = block.wait(&[], Some(Duration::from_millis(1)), Order::GoOn);
    }
    assert_eq!(begun.try_iter().count(), 1);
    run.attend();
    assert_eq!(begun.try_iter().count(), 0);
}

#[test]
fn one_branch_may_be_stopped_alone() {
    let run = Stop::new();
    let (one, other) = (run.below(), run.below());
    one.ask(Why::Cancelled);
    assert_ne!(one.order(), Order::GoOn);
    assert_eq!(other.order(), Order::GoOn);
}

#[test]
fn a_wait_ends_when_something_is_said_and_not_again_for_the_same() {
    let run = Stop::new();
    let block = run.below();
    let teller = run.clone();
    let thread = std::thread::spawn(move || teller.ask(Why::Signal(15)));
    while block.order() == Order::GoOn {
        let _ = block.wait(&[], SOON, Order::GoOn);
    }
    thread.join().unwrap();
    let seen = block.order();
    let _ = block.wait(&[], Some(Duration::from_millis(1)), seen);
    assert_eq!(block.order(), seen);
}

#[test]
fn what_has_been_said_above_cleaning_up_keeps_nobody_awake() {
    let run = Stop::new();
    let limited = run.limited(Duration::ZERO, USUAL_GRACE);
    let (signalled, timed_out) = (run.deaf().below(), limited.deaf());
    run.ask(Why::Signal(2));
    for clean in [signalled, timed_out] {
        let (since, mut turns) = (Instant::now(), 0);
        while let Some(left) = Duration::from_millis(300).checked_sub(since.elapsed()) {
            let _ = clean.wait(&[], Some(left), Order::GoOn);
            turns += 1;
        }
        assert!(turns < 100, "{turns} turns");
    }
}

#[test]
fn cleaning_up_that_waits_hears_the_order_to_kill() {
    let run = Stop::new();
    let clean = run.deaf();
    run.ask(Why::Signal(2));
    let teller = run.clone();
    let thread = std::thread::spawn(move || teller.kill());
    while clean.order() == Order::GoOn {
        let _ = clean.wait(&[], None, Order::GoOn);
    }
    thread.join().unwrap();
}

#[test]
fn only_the_block_that_timed_out_is_out_of_time() {
    let run = Stop::new();
    let outer = run.limited(Duration::ZERO, USUAL_GRACE);
    let inner = outer.limited(Duration::ZERO, USUAL_GRACE);
    assert!(outer.is_out_of_time());
    assert!(!inner.is_out_of_time());
    run.ask(Why::Signal(2));
    assert!(!outer.is_out_of_time());
}
