//! What is sent and what is not, the table, events, batches and `tolerate`.

use std::fs;

use serde_json::Value;

use crate::shop::{Shop, table};

fn statuses(text: &str) -> Vec<String> {
    table(text).into_iter().map(|(_, status)| status).collect()
}

#[test]
fn a_contract_runs_on_a_pool_and_its_table_is_that_of_one_run() {
    let Some(shop) = Shop::open(120, "", 2) else { return };
    let file = shop.contract("prod.plan", &[]);
    let _runners = shop.all_runners();
    let ran = shop.dispatch(&file, &[]);
    ran.code(0).says("120 targets in 3 shares").says("120 of 120 targets have ended");
    let expected: Vec<(String, String)> =
        (1..=120).map(|it| (format!("t{it}"), "ok".to_owned())).collect();
    assert_eq!(table(&ran.stdout), expected);
    assert_eq!((shop.logged("begun"), shop.logged("process")), (120, 3));
    // Nothing that was sent is readable in what the server has, and neither are the events.
    for canary in
        ["canary-of-the-contract", "canary-of-the-sources", "canary-output", "hosts.ini", "t120"]
    {
        assert!(!shop.nats.has(canary), "{canary}");
    }
    // The directory of a share belongs to this user only, and has the sources.
    let process = shop.log().into_iter().find(|it| it.starts_with("process 1 ")).unwrap();
    assert!(
        process.contains(" 0o700 ./commands.opl ./hosts.ini ./opal.mod ./scripts/deploy.sh"),
        "{process}"
    );
    let id = ran.stderr.split_whitespace().nth(1).unwrap().trim_end_matches(':').to_owned();
    let kept = fs::read_to_string(shop.at(&format!("d/logs/dispatch/{id}/targets.json"))).unwrap();
    let kept: Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept["fleets"][0]["targets"].as_array().unwrap().len(), 120);
    // Whoever has the dispatcher's key reads the events again, by a few digits of the order.
    let root = shop.name("d");
    let tail = ["runs", "tail", &id[..10], "--pool", "eu", "--insecure-queue", "--root", &root];
    let ran = shop.opal(&tail);
    ran.code(0)
        .says("120 targets in 3 shares")
        .says("may start:")
        .says("t120: ok")
        .says("ended with exit code 0");
    assert!(
        !ran.stdout.contains("not signed") && !ran.stdout.contains("missing"),
        "{}",
        ran.stdout
    );
    let ran = shop.opal(&[&tail[..], &["--json"]].concat());
    let lines: Vec<Value> =
        ran.code(0).stdout.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert!(lines.iter().any(|it| it["said"]["event"]["kind"] == "started"));
}

#[test]
fn batches_follow_each_other_and_failures_end_them() {
    let Some(shop) = Shop::open(6, ", batch=2, tolerate=1", 2) else { return };
    shop.flag("fail-t2", true);
    shop.flag("fail-t3", true);
    let file = shop.contract("prod.plan", &[]);
    let _runners = shop.all_runners();
    let ran = shop.dispatch(&file, &[]);
    ran.code(3).says("error: 2 of 6 targets failed (tolerate=1)");
    assert_eq!(statuses(&ran.stdout), ["ok", "failed", "failed", "skipped", "skipped", "skipped"]);
    let log = shop.log();
    let at = |text: &str| log.iter().position(|it| it == text).unwrap();
    assert!(at("ended t2 failed") < at("begun t3"));
    assert!(
        !log.iter().any(|it| it.starts_with("begun t4") || it.starts_with("begun t5")),
        "{log:?}"
    );
}

#[test]
fn failures_within_what_is_tolerated_are_a_success() {
    let Some(shop) = Shop::open(4, ", batch=[1, 3], tolerate=1", 1) else { return };
    shop.flag("fail-t2", true);
    let file = shop.contract("prod.plan", &[]);
    let _runners = shop.all_runners();
    let ran = shop.dispatch(&file, &["--json"]);
    let document: Value = serde_json::from_str(&ran.code(0).stdout).unwrap();
    let rows = document["fleets"][0]["targets"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[1]["code"]), (4, &Value::from(3)));
}

#[test]
fn a_contract_that_cannot_be_shared_is_not_sent() {
    let block = |options: &str, block: &str| {
        format!(
            "    @ssh.hosts(inventory=\"hosts.ini\", connections=[\"local\"]{options}) {{\n{block}    }}\n"
        )
    };
    let fun = |body: String| format!("fun task() {{\n{body}}}\n");
    let echo = "        echo x\n";
    for (source, more, code, said) in [
        (
            fun("    echo before\n".to_owned() + &block("", echo)),
            &[][..],
            65,
            "it would run once for each share",
        ),
        (fun(block("", echo) + "    echo after\n"), &[], 65, "make a contract for each"),
        (fun(block("", echo) + &block("", echo)), &[], 65, "it would run once for each share"),
        (fun("    echo alone\n".to_owned()), &[], 65, "no block on targets"),
        (fun(block(", helper=\"none\"", echo)), &[], 65, "cannot refuse a second runner"),
        (fun(block("", echo)), &["--once"], 65, "has no expiry"),
        (
            fun("    @confirm(\"really?\")\n".to_owned() + &block("", echo)),
            &[],
            77,
            "opal plan approve",
        ),
    ] {
        let Some(shop) = Shop::of(&source, 2, 1) else { return };
        let file = shop.contract("prod.plan", more);
        shop.dispatch(&file, &[]).code(code).says(said);
        assert!(!shop.nats.has("opal.shares"), "{said}");
    }
}

#[test]
fn what_is_wrong_on_this_side_is_said_before_anything_is_sent() {
    let Some(shop) = Shop::open(2, "", 1) else { return };
    let file = shop.contract("prod.plan", &[]);
    let root = shop.name("d");
    let send = |words: &[&str]| {
        shop.opal(&[&["dispatch", file.as_str(), "--root", &root], words].concat())
    };
    send(&[]).code(2).says("--pool");
    send(&["--pool", "us"]).code(78).says("these pools: `eu`");
    send(&["--pool", "a.b"]).code(2).says("name of a pool");
    send(&["--pool", "events"]).code(2).says("its stream would be that of the events");
    send(&["--pool", "eu"]).code(78).says("is not encrypted");
    send(&["--pool", "eu", "--server", "tls://a:b@host"]).code(78).says("not the address");
    send(&["--pool", "eu", "--end", "31d", "--insecure-queue"]).code(2).says("at most 30 days");
    send(&["--pool", "eu", "--sign", "none", "--insecure-queue"]).code(77).says("`none`");
    let file = shop.name("project/commands.opl");
    shop.dispatch(&file, &[]).code(76).says("not a contract");
    shop.dispatch("/nonexistent", &[]).code(66);
    // A runner that is in its pool twice.
    let settings = shop.at("d/config/settings.toml");
    let good = fs::read_to_string(&settings).unwrap();
    let runner = good.split('"').nth(1).unwrap();
    fs::write(&settings, format!("[queue.pools]\neu = [\"{runner}\", \"{runner}\"]\n")).unwrap();
    shop.dispatch(&shop.name("prod.plan"), &[]).code(78).says("has a runner twice");
    fs::write(&settings, good).unwrap();
    // A project with a link in it.
    std::os::unix::fs::symlink("/etc/passwd", shop.at("project/link")).unwrap();
    let file = shop.name("prod.plan");
    shop.dispatch(&file, &[]).code(65).says("`link` is not a regular file");
    assert!(!shop.nats.has("opal.shares"));
}

#[test]
fn an_empty_file_of_approvals_approves_nothing() {
    let source = "fun task() {\n    @confirm(\"really?\")\n    @ssh.hosts(inventory=\"hosts.ini\", \
                  connections=[\"local\"]) {\n        echo x\n    }\n}\n";
    let Some(shop) = Shop::of(source, 2, 1) else { return };
    let file = shop.contract("prod.plan", &[]);
    fs::write(shop.at("prod.plan.approvals"), "\n").unwrap();
    shop.dispatch(&file, &[]).code(77).says("opal plan approve");
}

#[test]
fn ctrl_c_stops_an_order_and_detaching_leaves_it() {
    let Some(shop) = Shop::open(3, "", 1) else { return };
    shop.flag("hold", true);
    let file = shop.contract("prod.plan", &[]);
    shop.dispatch(&file, &["--detach"]).code(0).says("follow it anywhere");
    let _runners = shop.all_runners();
    opal_testing::processes::eventually("a target has begun", || shop.logged("begun") == 1);
    shop.flag("hold", false);
    opal_testing::processes::eventually("all have ended", || shop.logged("ended") == 3);
    shop.flag("hold", true);
    let following = shop.dispatching(&file, &[]);
    opal_testing::processes::eventually("a target has begun again", || shop.logged("begun") == 4);
    opal_testing::processes::signal(&following.child, "INT");
    let ran = following.end();
    ran.code(130).says("what runs is stopped with its cleanup");
    assert!(shop.log().iter().any(|it| it.starts_with("stop 1 who sent the order has stopped it")));
    assert_eq!(shop.logged("begun"), 4);
}
