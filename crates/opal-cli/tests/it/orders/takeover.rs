//! Runners that die in the middle of a share, and those that take it over.

use std::fs;
use std::path::Path;

use opal_testing::processes::eventually;
use serde_json::{Value, json};

use super::pool::{Pool, pool};
use super::talking::rows;
use crate::servers::servers;

/// A pipe with a name, which everybody may use.
#[expect(clippy::disallowed_methods, reason = "`mkfifo` is the program that makes one")]
pub(super) fn fifo(path: &Path) {
    let made = std::process::Command::new("mkfifo").args(["-m", "666"]).arg(path).status();
    assert!(made.unwrap().success());
}

/// Three steps, of which the second waits until there is a file.
fn steps(second: &str) -> String {
    let wait = "echo two >> \"$HOME/marks\"; test -e \"$HOME/go\" || cat \"$HOME/pipe\"";
    format!(
        "        echo one >> \"$HOME/marks\"\n        {}\n        echo three >> \"$HOME/marks\"\n",
        second.replace("WAIT", wait)
    )
}

/// A share whose runner was killed in the middle of its second step.
fn killed(second: &str) -> Option<(Pool, u64)> {
    let pool = pool(1, &steps(second), "")?;
    fifo(&pool.opal.path().join("home/pipe"));
    pool.order(&[&["h1"]], |_| {});
    let mut talk = pool.talk(1, &json!({}));
    eventually("the second step runs", || pool.marks().contains(&"two".to_owned()));
    talk.kill();
    pool.opal.write("home/go", "");
    let number = talk.number("h1");
    Some((pool, number))
}

#[test]
fn a_step_that_was_running_when_its_runner_was_killed_is_not_repeated() {
    let Some((pool, number)) = killed("WAIT") else { return };
    assert_eq!(number, 3);
    for claim in [number, 0, 2] {
        let mut next = pool.talk(1, &json!({ "h1": claim }));
        let result = next.result();
        assert_eq!((rows(&result), &result["exit"]), (vec!["h1 lost".to_owned()], &json!(69)));
        let said = result["targets"][0]["message"].as_str().unwrap();
        assert!(said.contains("`task.ssh.hosts[0].shell[1]` has begun"), "{said}");
        assert_eq!(next.number("h1"), 3);
    }
    assert_eq!(pool.marks(), ["one", "two"]);
}

#[test]
fn a_step_that_may_be_repeated_or_has_a_check_is_taken_over() {
    let retry = "@retry(2, delay=1ms, lost=\"retry\") {\n            WAIT\n        }";
    let check = "@shell(\"WAIT\", check=\"test -e $HOME/done\")";
    let quoted =
        check.replace("WAIT", "echo two >> $HOME/marks; test -e $HOME/go || cat $HOME/pipe");
    let Some((pool, number)) = killed(retry) else { return };
    let mut next = pool.talk(1, &json!({ "h1": number }));
    assert_eq!(rows(&next.result()), ["h1 ok"]);
    assert_eq!(pool.marks(), ["one", "three", "two", "two"]);
    for is_done in [false, true] {
        let Some((pool, number)) = killed(&quoted) else { return };
        if is_done {
            pool.opal.write("home/done", "");
        }
        let mut next = pool.talk(1, &json!({ "h1": number }));
        let result = next.result();
        let expected = if is_done { "h1 ok" } else { "h1 failed" };
        assert_eq!(rows(&result), [expected], "{result:#}");
        let twos = pool.marks().iter().filter(|mark| *mark == "two").count();
        assert_eq!(twos, if is_done { 1 } else { 2 });
        assert_eq!(pool.marks().contains(&"three".to_owned()), is_done);
    }
}

/// Which targets had begun before others failed is known to the queue runner, and not to this run.
#[test]
fn a_target_that_was_begun_comes_to_its_end_although_another_one_has_failed() {
    let retry = "@retry(2, delay=1ms, lost=\"retry\") {\n            WAIT\n        }";
    let block = format!("        test @target.name != h1\n{}", steps(retry));
    let Some(pool) = pool(2, &block, ", max_concurrency=1") else { return };
    fifo(&pool.opal.path().join("home/pipe"));
    pool.order(&[&["h1", "h2"]], |_| {});
    let mut first = pool.talk(1, &json!({}));
    eventually("the second target waits", || pool.marks().contains(&"two".to_owned()));
    first.kill();
    pool.opal.write("home/go", "");
    let claims = json!({"h1": first.number("h1"), "h2": first.number("h2")});
    let mut next = pool.talk(1, &claims);
    assert_eq!(rows(&next.result()), ["h1 failed", "h2 ok"]);
    assert_eq!(pool.marks(), ["one", "three", "two", "two"]);
}

#[test]
fn a_runner_waits_for_the_one_that_has_a_target_and_goes_on_where_that_left_it() {
    let retry = "@retry(2, delay=1ms, lost=\"retry\") {\n            WAIT\n        }";
    let Some(pool) = pool(1, &steps(retry), "") else { return };
    fifo(&pool.opal.path().join("home/pipe"));
    pool.order(&[&["h1"]], |_| {});
    let mut first = pool.talk(1, &json!({}));
    eventually("the second step runs", || pool.marks().contains(&"two".to_owned()));
    let mut second = pool.talk(1, &json!({ "h1": 3 }));
    eventually("the second runner has asked", || {
        second.lines().iter().any(|line| line["ask"] == "start")
    });
    pool.opal.write("home/go", "");
    assert_eq!(second.number("h1"), 0, "the first one has the lock");
    first.kill();
    assert_eq!(rows(&second.result()), ["h1 ok"]);
    assert_eq!(pool.marks(), ["one", "three", "two", "two"]);
}

#[test]
fn a_journal_that_was_cut_edited_removed_or_copied_leaves_the_target_lost() {
    type Edit = fn(&Path);
    let cut: Edit = |path| {
        let text = fs::read_to_string(path).unwrap();
        fs::write(path, text.split_inclusive('\n').take(1).collect::<String>()).unwrap();
    };
    let edited: Edit = |path| {
        let text = fs::read_to_string(path).unwrap();
        fs::write(path, text.replacen("ended 0", "ended 1", 1)).unwrap();
    };
    let removed: Edit = |path| fs::remove_file(path).unwrap();
    let copied: Edit = |path| {
        let other = fs::read_dir(path.parent().unwrap()).unwrap().map(|it| it.unwrap().path());
        let other = other.into_iter().find(|it| it != path).unwrap();
        fs::copy(other, path).unwrap();
    };
    for (said, edit) in [
        ("ends at entry 1 on the target, but it has had 2", cut),
        ("entry 2 is not what opal has written", edited),
        ("is missing on the target, but it has had 2 entries", removed),
        ("entry 1 is not what opal has written", copied),
    ] {
        let Some(pool) = pool(2, super::MARK, "") else { return };
        pool.order(&[&["h1", "h2"]], |_| {});
        let mut first = pool.talk(1, &json!({}));
        assert_eq!(rows(&first.result()), ["h1 ok", "h2 ok"]);
        edit(&pool.journals()[0]);
        let mut next = pool.talk(1, &json!({"h1": 2, "h2": 2}));
        let result = next.result();
        let lost: Vec<&Value> = result["targets"].as_array().unwrap().iter().collect();
        let lost: Vec<&&Value> = lost.iter().filter(|row| row["status"] == "lost").collect();
        assert_eq!(lost.len(), 1, "{said}: {result:#}");
        assert!(lost[0]["message"].as_str().unwrap().contains(said), "{said}: {}", lost[0]);
        assert_eq!(pool.marks(), ["h1", "h2"], "{said}");
    }
}

/// The same over a real SSH server, with a journal in the home of the account there.
#[test]
fn a_share_is_taken_over_on_hosts() {
    let source = "fun task() {\n    @ssh.hosts([\"web1\", \"web2\"]) {\n        echo one >> marks-@target.name\n        \
                  @retry(2, delay=1ms, lost=\"retry\") {\n            echo two >> marks-@target.name\n            \
                  test -e go || cat pipe\n        }\n        echo three >> marks-@target.name\n    }\n}\n";
    let Some((sshd, opal)) = servers(&["web1", "web2"], source) else { return };
    let home = sshd.account().home.clone();
    fifo(&home.join("pipe"));
    let pool = Pool::of(opal.args(["--root", "root"]));
    pool.order(&[&["web1", "web2"]], |_| {});
    let marks = |name: &str| {
        let text = fs::read_to_string(home.join(format!("marks-{name}"))).unwrap_or_default();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let mut first = pool.talk(1, &json!({}));
    // Two steps have ended, and the one that waits has begun.
    eventually("both wait", || ["web1", "web2"].iter().all(|it| first.number(it) == 5));
    first.kill();
    fs::write(home.join("go"), "").unwrap();
    let claims = json!({"web1": first.number("web1"), "web2": first.number("web2")});
    let mut next = pool.talk(1, &claims);
    assert_eq!(rows(&next.result()), ["web1 ok", "web2 ok"]);
    for name in ["web1", "web2"] {
        assert_eq!(marks(name), ["one", "two", "two", "three"]);
    }
    let journals = fs::read_dir(home.join(".local/state/opal")).unwrap();
    assert_eq!(journals.count(), 2);
}
