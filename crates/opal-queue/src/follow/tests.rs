use opal_core::hash::Digest;
use opal_trust::keys::{Runner, SigningKey};
use opal_trust::order::{OrderId, RunnerKeys, Share};

use super::*;

struct Case {
    follow: Follow,
    by: PublicKey,
    number: u64,
}

/// Two batches of two shares with a target each.
fn case(tolerate: usize) -> Case {
    let share = |batch, name: &str| Share { batch, targets: vec![name.into()] };
    let by = SigningKey::generate().public();
    let order = Order {
        id: OrderId::draw(),
        contract: Digest([1; 32]),
        approvals: None,
        bundle: Digest([2; 32]),
        source: "commands.opl".into(),
        pool: "eu".into(),
        runners: vec![RunnerKeys { recipient: Runner::ephemeral("a test").recipient(), key: by }],
        dispatcher: Runner::ephemeral("a test").recipient(),
        made: 0,
        end: 10,
        once: false,
        shares: vec![share(1, "a"), share(1, "b"), share(2, "c"), share(2, "d")],
    };
    Case { follow: Follow::new(order, tolerate), by, number: 0 }
}

impl Case {
    fn say(&mut self, share: u32, lines: Vec<Value>) -> Vec<Notice> {
        self.number += 1;
        let (by, number) = (self.by, self.number);
        // One attempt for all, so that numbers have no gap.
        let said = Said { share, attempt: u64::from(share), number: 1, by, lines };
        let said = Said { attempt: said.attempt * 1000 + number, ..said };
        self.follow.take(&said)
    }

    fn result(&mut self, share: u32, name: &str, status: &str) -> Vec<Notice> {
        let row = json!({"target": name, "status": status, "code": 3});
        self.say(share, vec![json!({"result": {"exit": 0, "targets": [row]}})])
    }

    fn start(&mut self, share: u32, version: u64) -> Vec<Notice> {
        self.say(share, vec![json!({"start": ["x"], "version": version})])
    }
}

#[test]
fn an_order_whose_batches_follow_each_other_is_in_order() {
    let mut case = case(0);
    for (share, name) in [(1, "a"), (2, "b"), (3, "c"), (4, "d")] {
        assert!(!case.follow.is_over());
        assert_eq!(case.start(share, u64::from(share)), []);
        assert_eq!(case.result(share, name, "ok"), []);
    }
    assert!(case.follow.is_over() && case.follow.code() == 0 && case.follow.failure().is_none());
}

#[test]
fn a_start_that_the_counter_cannot_have_allowed_is_out_of_order() {
    let out = |notices: Vec<Notice>| matches!(notices.as_slice(), [Notice::OutOfOrder(_)]);
    // The last batch first.
    let mut one = case(0);
    assert!(out(one.start(3, 1)));
    // A number that was used: the counter was reset.
    let mut two = case(0);
    assert_eq!(two.start(1, 1), []);
    assert!(out(two.start(2, 1)));
    // After too many failures.
    let mut three = case(0);
    assert_eq!(three.start(1, 1), []);
    let ended = json!({"ended": {"target": "a", "status": "failed"}, "version": 3});
    assert_eq!(three.say(1, vec![ended]), []);
    assert_eq!(three.start(2, 2), [], "it was allowed before the failure was counted");
    assert!(out(three.start(2, 4)));
}

#[test]
fn failures_and_refusals_end_an_order_early() {
    let mut one = case(0);
    one.result(1, "a", "ok");
    assert!(!one.follow.is_over());
    one.result(2, "b", "failed");
    assert!(one.follow.is_over());
    assert_eq!(one.follow.code(), 3);
    let statuses: Vec<String> =
        one.follow.rows().iter().map(|it| it["status"].as_str().unwrap().to_owned()).collect();
    assert_eq!(statuses, ["ok", "failed", "skipped", "skipped"]);
    assert_eq!(one.follow.failure().unwrap(), "error: 1 of 4 targets failed (tolerate=0)");
    let mut two = case(1);
    two.result(1, "a", "lost");
    two.say(2, vec![json!({"refused": {"code": 77, "message": "no"}})]);
    assert!(two.follow.is_over());
    assert_eq!(two.follow.code(), 77);
    let mut three = case(1);
    for (share, name, status) in
        [(1, "a", "lost"), (2, "b", "ok"), (3, "c", "ok"), (4, "d", "unreachable")]
    {
        three.result(share, name, status);
    }
    assert_eq!((three.follow.is_over(), three.follow.code()), (true, 69));
}

#[test]
fn strangers_repeats_and_gaps_are_noticed() {
    let mut case = case(0);
    let result =
        || vec![json!({"result": {"exit": 0, "targets": [{"target": "a", "status": "ok"}]}})];
    let said = |number, by| Said { share: 1, attempt: 1, number, by, lines: result() };
    let stranger = SigningKey::generate().public();
    assert_eq!(case.follow.take(&said(1, stranger)), [Notice::Stranger(stranger)]);
    assert_eq!(case.follow.progress(), (0, 4));
    let by = case.by;
    assert_eq!(case.follow.take(&said(1, by)), []);
    assert_eq!(case.follow.take(&said(1, by)), [Notice::Repeated]);
    assert_eq!(case.follow.take(&said(4, by)), [Notice::Missing(2, 4)]);
    // A target of another share counts for nothing.
    let foreign = json!({"result": {"exit": 0, "targets": [{"target": "d", "status": "ok"}]}});
    case.say(1, vec![foreign]);
    assert_eq!(case.follow.progress(), (1, 4));
}
