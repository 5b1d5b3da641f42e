//! Orders that do not hold here: nothing runs, nothing is planned, and each refusal leaves a record.

use opal_core::hash::Digest;
use opal_trust::keys::{Runner, SigningKey};
use opal_trust::order::{Order, Share};

use super::MARK;
use super::pool::{now, pool};

#[test]
fn an_order_that_does_not_hold_is_refused_with_its_code_and_nothing_runs() {
    let Some(pool) = pool(2, MARK, "") else { return };
    let usual: &[&[&str]] = &[&["h1"], &["h2"]];
    type Change = fn(&mut Order);
    let changes: [(i32, &str, Change); 8] = [
        (76, "the order is past its end", |it| {
            it.made = now() - 7200;
            it.end = now() - 1;
        }),
        (76, "dated in the future", |it| {
            it.made = now() + 600;
            it.end = now() + 7200;
        }),
        (76, "for another contract", |it| it.contract = Digest([9; 32])),
        (76, "for other approvals", |it| it.approvals = Some(Digest([9; 32]))),
        (76, "for other runners", |it| {
            it.runners[0].recipient = Runner::ephemeral("a test").recipient();
        }),
        (76, "the order has no share 1", |it| it.shares.clear()),
        (76, "`h9` of the order is not a target", |it| it.shares[1].targets = vec!["h9".into()]),
        (76, "is not a target of its contract", |it| it.shares.swap(0, 1)),
    ];
    // Planning would leave a trace.
    for (code, said, change) in changes {
        let mut order = pool.unsigned(usual, change);
        if order.shares.is_empty() {
            // Nobody signs an order without a share: another number is the same.
            order.shares = vec![Share { batch: 1, targets: vec!["h1".into()] }];
            pool.opal.write("order", order.sign(&pool.key).unwrap());
            pool.share(7).code(76).says("the order has no share 7");
            continue;
        }
        pool.opal.write("order", order.sign(&pool.key).unwrap());
        pool.share(1).code(code).says(said);
        let record = pool.opal.call(&["runs", "list", "--json"]).json();
        assert_eq!(record["runs"][0]["status"], "refused", "{said}: {record:#}");
    }
    // Signed by somebody else, changed afterwards, or nothing of the kind.
    let stranger = SigningKey::generate();
    pool.opal.write("order", pool.unsigned(usual, |_| {}).sign(&stranger).unwrap());
    pool.share(1).code(77).says("by a key that may not dispatch here");
    pool.order(usual, |_| {});
    let line = pool.opal.read("order");
    pool.opal.write("order", line.replace("\"eu\"", "\"us\""));
    pool.share(1).code(77).says("is not signed by");
    for text in ["", "{}\n", &line[..line.len() - 1]] {
        pool.opal.write("order", text);
        pool.share(1).code(76).says("not an order");
    }
    pool.opal.write("order", &line);
    pool.policy("");
    pool.share(1).code(78).says("no key may give orders to this runner");
    // Whoever may sign contracts may give orders, unless the policy says who does.
    pool.policy(&format!("trusted_keys = [\"{}\"]\n", stranger.public()));
    pool.share(1).code(77).says("by a key that may not dispatch here");
    assert!(pool.marks().is_empty() && pool.journals().is_empty());
}

#[test]
fn options_that_make_another_run_of_a_contract_cannot_be_used_with_an_order() {
    let Some(pool) = pool(1, MARK, "") else { return };
    pool.order(&[&["h1"]], |_| {});
    let usual = ["run", "--plan", "c.plan", "--order", "order", "--share", "1"];
    for more in [
        &["--force"][..],
        &["--limit", "h1"],
        &["--from", "step:1"],
        &["--resume"],
        &["--dry-run"],
        &["--share-io", "--json"],
        &["--share-io", "--events", "x"],
        &["--share", "0"],
    ] {
        pool.opal.call(&[&usual, more].concat()).code(2);
    }
    for few in
        [&usual[..5], &[&usual[..3], &["--share", "1"]].concat(), &["run", "task", "--share-io"]]
    {
        pool.opal.call(few).code(2);
    }
    assert!(pool.marks().is_empty());
    pool.opal.call(&["run", "--help"]).code(0).hides("share-io");
}

#[test]
fn a_contract_that_is_more_than_one_fleet_is_no_order() {
    let Some(pool) = pool(1, MARK, "") else { return };
    let source = pool.opal.read("commands.opl");
    let more = source.replace("fun task() {\n", "fun task() {\n    echo outside\n");
    pool.opal.write("commands.opl", more);
    pool.opal.call(&["plan", "task", "-o", "c.plan"]).code(0);
    pool.order(&[&["h1"]], |_| {});
    pool.share(1).code(76).says("is not one fleet block").hides("outside");
    // A task that only calls another one is.
    let called = source.replace("fun task", "fun inner") + "fun task() {\n    @cmd.inner()\n}\n";
    pool.opal.write("commands.opl", called);
    pool.opal.call(&["plan", "task", "-o", "c.plan"]).code(0);
    pool.order(&[&["h1"]], |_| {});
    pool.share(1).code(0);
    // The source has another text and the same plan: for an order that is another source.
    let text = pool.opal.read("commands.opl");
    pool.opal.write("commands.opl", format!("# more\n{text}"));
    pool.share(1).code(76);
}
