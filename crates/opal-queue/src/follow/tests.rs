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
pub(crate) fn order() -> Order {
    let share = |batch, name: &str| Share { batch, targets: vec![name.into()] };
    let by = SigningKey::generate().public();
    Order {
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
    }
}

fn case(tolerate: usize) -> Case {
    let order = order();
    let by = order.runners[0].key;
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
        let name = ["", "a", "b", "c", "d"][share as usize];
        self.say(share, vec![json!({"start": [name], "version": version})])
    }

    /// What another runner of the pool says, which is added where it is not in it yet.
    fn also(&mut self, by: PublicKey, share: u32, line: Value) -> Vec<Notice> {
        if !self.follow.order.has_runner(&by) {
            let recipient = Runner::ephemeral("a test").recipient();
            self.follow.order.runners.push(RunnerKeys { recipient, key: by });
        }
        self.follow.take(&Said { share, attempt: 0, number: 1, by, lines: vec![line] })
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
    for (version, is_out) in [(2, false), (4, true)] {
        let mut three = case(0);
        assert_eq!(three.start(1, 1), []);
        let ended = json!({"ended": {"target": "a", "status": "failed"}, "version": 3});
        assert_eq!(three.say(1, vec![ended]), []);
        assert_eq!(out(three.start(2, version)), is_out, "allowed by change {version}");
    }
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

#[test]
fn a_share_that_all_runners_have_declined_is_refused() {
    let declined = |all: bool| json!({"declined": {"code": 69, "message": "no route", "all": all}});
    let mut case = case(0);
    let (one, two) = (case.by, SigningKey::generate().public());
    case.also(two, 1, json!({"taken": ["a"]}));
    // One of two: the other may still run it.
    case.also(one, 1, declined(true));
    assert!(!case.follow.is_over() && !case.follow.is_declined());
    // What another has begun is not refused.
    assert_eq!(case.start(1, 1), []);
    case.also(one, 2, declined(true));
    case.also(two, 2, declined(false));
    assert!(case.follow.is_declined() && !case.follow.is_over());
    case.result(1, "a", "ok");
    assert_eq!((case.follow.is_over(), case.follow.code()), (true, 69));
    let rows = case.follow.rows();
    assert_eq!((&rows[1]["message"], &rows[2]["status"]), (&json!("no route"), &json!("skipped")));
}

#[test]
fn a_runner_that_works_on_a_share_does_not_decline_it_any_more() {
    let declined = json!({"declined": {"code": 74, "message": "no disk", "all": true}});
    let mut case = case(0);
    let (one, two) = (case.by, SigningKey::generate().public());
    case.also(two, 1, json!({"taken": ["a"]}));
    case.also(one, 1, declined.clone());
    case.result(1, "a", "ok");
    case.also(two, 2, declined);
    assert!(!case.follow.is_declined());
}

#[test]
fn what_the_successor_of_a_dead_runner_starts_again_is_in_order() {
    let mut case = case(0);
    assert_eq!((case.start(1, 1), case.start(2, 2)), (vec![], vec![]));
    let ended = json!({"ended": {"target": "b", "status": "failed"}, "version": 3});
    assert_eq!(case.say(2, vec![ended]), []);
    assert_eq!(case.start(1, 4), [], "it had started before");
}

#[test]
fn how_a_share_ended_for_a_runner_that_has_lost_it_counts_for_nothing() {
    let mut case = case(0);
    let by = case.by;
    let row = |status| {
        vec![json!({"result": {"exit": 0, "targets": [{"target": "a", "status": status}]}})]
    };
    let mut say =
        |attempt, lines| case.follow.take(&Said { share: 1, attempt, number: 1, by, lines });
    assert_eq!(say(2, vec![json!({"taken": ["a"]})]), []);
    assert_eq!(say(1, row("ok")), [Notice::Late]);
    assert_eq!(case.follow.progress(), (0, 4));
}

#[test]
fn a_failure_does_not_end_an_order_whose_batch_still_runs() {
    let mut case = case(0);
    case.result(1, "a", "ok");
    case.result(2, "b", "ok");
    assert_eq!(case.start(3, 3), []);
    let ended = json!({"ended": {"target": "c", "status": "failed"}, "version": 4});
    assert_eq!(case.say(3, vec![ended]), []);
    assert!(!case.follow.is_over(), "its rows come with the result");
    case.result(3, "c", "failed");
    case.result(4, "d", "ok");
    assert!(case.follow.is_over() && case.follow.code() == 3);
}

/// Ctrl+C twice, or the end of the order: no more rows come.
#[test]
fn what_has_begun_is_never_called_skipped() {
    let status = |case: &Case| -> Vec<String> {
        case.follow.rows().iter().map(|it| it["status"].as_str().unwrap().to_owned()).collect()
    };
    let ended = |status: &str| vec![json!({"ended": {"target": "a", "status": status}})];
    let mut one = case(0);
    one.start(1, 1);
    one.start(2, 2);
    assert_eq!(status(&one), ["lost", "lost", "skipped", "skipped"]);
    assert_eq!((one.follow.code(), one.follow.count_failed()), (69, 2));
    one.say(1, ended("ok"));
    assert_eq!(status(&one), ["ok", "lost", "skipped", "skipped"]);
    assert!(one.follow.rows()[1]["message"].as_str().unwrap().contains("no runner has said"));
    // It was stopped, and another runner has begun it again.
    let mut two = case(0);
    two.start(1, 1);
    two.say(1, ended("stopped"));
    assert_eq!(status(&two)[0], "stopped");
    two.start(1, 2);
    assert_eq!(status(&two)[0], "lost");
    // What the last runner did not start, an earlier one may have begun.
    let mut three = case(0);
    three.start(1, 1);
    three.say(1, ended("skipped"));
    assert_eq!(status(&three)[0], "lost");
    three.result(1, "a", "skipped");
    assert_eq!(status(&three)[0], "lost");
    // The same where a share is refused that was begun.
    let mut four = case(0);
    four.start(1, 1);
    four.say(1, vec![json!({"refused": {"code": 76, "message": "no"}})]);
    assert_eq!(status(&four), ["lost", "skipped", "skipped", "skipped"]);
}

#[test]
fn a_message_that_comes_again_after_the_end_changes_nothing() {
    let refused = |code: u8| vec![json!({"refused": {"code": code, "message": "no"}})];
    for (code, expected) in [(PAST_END, 0), (76, 76)] {
        let mut case = case(0);
        for (share, name) in [(1, "a"), (2, "b"), (3, "c"), (4, "d")] {
            case.result(share, name, "ok");
        }
        case.say(1, refused(code));
        assert_eq!(case.follow.code(), expected);
    }
    let mut case = case(0);
    case.say(1, refused(PAST_END));
    assert_eq!(case.follow.code(), 124);
}

#[test]
fn a_share_that_failed_as_a_whole_fails_the_order() {
    let mut case = case(0);
    for (share, name, exit) in [(1, "a", 0), (2, "b", 74), (3, "c", 0), (4, "d", 0)] {
        let rows = [json!({"target": name, "status": "ok"})];
        case.say(share, vec![json!({"result": {"exit": exit, "targets": rows}})]);
    }
    assert_eq!((case.follow.is_over(), case.follow.code()), (true, 74));
}

/// Its batch has ended, so its runner has not changed the counter: it names no change.
#[test]
fn a_failure_in_an_earlier_batch_does_not_look_like_a_reset() {
    let mut case = case(1);
    case.start(1, 1);
    case.start(2, 2);
    case.result(1, "a", "ok");
    case.result(2, "b", "ok");
    assert_eq!(case.say(1, vec![json!({"ended": {"target": "a", "status": "failed"}})]), []);
    assert_eq!(case.start(3, 5), []);
    assert_eq!(case.start(4, 6), []);
}

#[test]
fn an_order_is_at_work_while_a_runner_has_a_share() {
    let mut case = case(0);
    assert!(!case.follow.is_at_work());
    case.say(1, vec![json!({"taken": ["a"]})]);
    assert!(case.follow.is_at_work());
    case.say(1, vec![json!({"released": true})]);
    assert!(!case.follow.is_at_work());
    case.say(1, vec![json!({"taken": ["a"]})]);
    case.result(1, "a", "ok");
    assert!(!case.follow.is_at_work());
    // It ended in 1970.
    assert_eq!(case.follow.left(), Duration::ZERO);
}
