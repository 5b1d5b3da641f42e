//! A stand-in for the queue runner, at the other end of `--share-io`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use opal_testing::processes::{eventually, signal};
use serde_json::{Value, json};

use super::MARK;
use super::pool::{Pool, pool};

/// A run of a share, and what it has said.
pub(super) struct Talk {
    child: Child,
    input: Arc<Mutex<Option<ChildStdin>>>,
    lines: Arc<Mutex<Vec<Value>>>,
    /// Whether the queue gets the result.
    keeps: Arc<AtomicBool>,
    reader: Option<thread::JoinHandle<()>>,
}

impl Pool {
    /// Starts a share. Every target may start.
    pub(super) fn talk(&self, number: u32, claims: &Value) -> Talk {
        self.talk_denying(number, claims, &[])
    }

    pub(super) fn talk_denying(&self, number: u32, claims: &Value, denied: &[&str]) -> Talk {
        let mut command = self.opal.interruptible();
        let number = number.to_string();
        command.args(["run", "--plan", "c.plan", "--order", "order", "--share", &number]);
        command.arg("--share-io").stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        writeln!(input, "{}", json!({ "claims": claims })).unwrap();
        // However long the test takes on a busy machine, the claim holds.
        writeln!(input, "{}", json!({ "held": u64::MAX })).unwrap();
        let (input, lines) =
            (Arc::new(Mutex::new(Some(input))), Arc::<Mutex<Vec<Value>>>::default());
        let (answers, heard) = (Arc::clone(&input), Arc::clone(&lines));
        let keeps = Arc::new(AtomicBool::new(true));
        let is_kept = Arc::clone(&keeps);
        let out = BufReader::new(child.stdout.take().unwrap());
        let denied: Vec<String> = denied.iter().map(|name| (*name).to_owned()).collect();
        let reader = thread::spawn(move || {
            for line in out.lines() {
                let line = line.unwrap();
                assert!(line.len() <= 1024 * 1024);
                let value: Value = serde_json::from_str(&line).unwrap();
                if value["ask"] == "start" {
                    let name = value["target"].as_str().unwrap();
                    let answer = match denied.iter().any(|it| it == name) {
                        true => json!({"start": name, "go": false, "reason": "too many failed"}),
                        false => json!({"start": name, "go": true}),
                    };
                    if let Some(input) = &mut *answers.lock().unwrap() {
                        let _ = writeln!(input, "{answer}");
                    }
                }
                if value.get("result").is_some()
                    && is_kept.load(Ordering::SeqCst)
                    && let Some(input) = &mut *answers.lock().unwrap()
                {
                    let _ = writeln!(input, "{}", json!({"kept": true}));
                }
                heard.lock().unwrap().push(value);
            }
        });
        Talk { child, input, lines, keeps, reader: Some(reader) }
    }
}

impl Talk {
    pub(super) fn lines(&self) -> Vec<Value> {
        self.lines.lock().unwrap().clone()
    }

    pub(super) fn say(&self, line: &str) {
        writeln!(self.input.lock().unwrap().as_mut().unwrap(), "{line}").unwrap();
    }

    /// From now on the queue gets nothing.
    pub(super) fn keep_nothing(&self) {
        self.keeps.store(false, Ordering::SeqCst);
    }

    /// As where the queue runner has died.
    pub(super) fn hang_up(&self) {
        drop(self.input.lock().unwrap().take());
    }

    /// The last number of a target.
    pub(super) fn number(&self, target: &str) -> u64 {
        let numbers = self.lines().into_iter().filter_map(|line| {
            let journal = line.get("journal")?;
            (journal["target"] == target).then(|| journal["number"].as_u64().unwrap())
        });
        numbers.max().unwrap_or(0)
    }

    /// Waits until the journal of a target has so many entries.
    pub(super) fn noted(&self, target: &str, number: u64) {
        eventually("an entry is noted", || self.number(target) >= number);
    }

    pub(super) fn kill(&mut self) {
        signal(&self.child, "KILL");
        self.end();
    }

    /// The code that it has exited with.
    pub(super) fn end(&mut self) -> i32 {
        let status = self.child.wait().unwrap();
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        status.code().unwrap_or(-1)
    }

    /// The result, which is the last line and has the exit code.
    pub(super) fn result(&mut self) -> Value {
        let code = self.end();
        let lines = self.lines();
        let (last, before) = lines.split_last().unwrap();
        assert!(before.iter().all(|line| line.get("result").is_none()), "{lines:?}");
        assert_eq!(last["result"]["exit"], code, "{lines:#?}");
        last["result"].clone()
    }
}

/// Name and status of each target of a result.
pub(super) fn rows(result: &Value) -> Vec<String> {
    let rows = result["targets"].as_array().unwrap().iter();
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    rows.map(|row| format!("{} {}", text(row, "target"), text(row, "status"))).collect()
}

#[test]
fn a_queue_runner_hears_everything_in_order_and_the_result_last() {
    let Some(pool) = pool(3, MARK, ", max_concurrency=1, tolerate=1") else { return };
    pool.order(&[&["h1", "h2"], &["h3"]], |_| {});
    let mut talk = pool.talk_denying(1, &json!({}), &["h2"]);
    let result = talk.result();
    assert_eq!(rows(&result), ["h1 ok", "h2 skipped"]);
    assert_eq!(result["targets"][1]["message"], "too many failed");
    let lines = talk.lines();
    let kinds: Vec<String> = lines
        .iter()
        .filter(|line| line.get("event").is_none())
        .map(|line| line.as_object().unwrap().keys().next().unwrap().clone())
        .collect();
    assert_eq!(kinds, ["ask", "journal", "journal", "ended", "ask", "ended", "result"]);
    assert_eq!(lines.iter().filter(|line| line["ended"]["status"] == "ok").count(), 1);
    // The events are those of the record.
    let own = |line: &Value| line["event"]["kind"].as_str().map(str::to_owned);
    let events: Vec<String> = lines.iter().filter_map(own).collect();
    assert_eq!(events.first().unwrap(), "run_started");
    assert_eq!(events.last().unwrap(), "run_finished");
    assert!(events.contains(&"fleet_started".to_owned()));
    // A step is noted before it begins and after it has ended.
    let place = |is: &dyn Fn(&Value) -> bool| lines.iter().position(is).unwrap();
    let begun = place(&|line| line["journal"]["number"] == 1);
    let ended = place(&|line| line["journal"]["number"] == 2);
    let done = place(&|line| {
        line["event"]["kind"] == "step_finished" && line["event"]["decorator"] == "@shell"
    });
    assert!(begun < ended && ended < done, "{begun} {ended} {done}");
    assert_eq!(pool.marks(), ["h1"]);
}

#[test]
fn what_a_step_prints_is_an_event_and_never_a_line_of_its_own() {
    let block = "        printf 'one\\n{\"result\": {}}\\n'\n        head -c 3000000 /dev/zero | tr '\\0' 'x'\n        cat\n";
    let Some(pool) = pool(1, block, "") else { return };
    pool.order(&[&["h1"]], |_| {});
    let mut talk = pool.talk(1, &json!({}));
    let result = talk.result();
    assert_eq!(rows(&result), ["h1 ok"]);
    let texts = talk.lines().into_iter().filter_map(|line| {
        let event = line.get("event")?;
        (event["kind"] == "output").then(|| event["text"].as_str().unwrap().len())
    });
    assert_eq!(texts.sum::<usize>(), 3_000_000 + 19);
}

const BLOCKED: &str = "        cat \"$HOME/pipe\"\n";

/// A share whose step waits.
fn blocked() -> Option<(Pool, Talk)> {
    let pool = pool(1, BLOCKED, "")?;
    super::takeover::fifo(&pool.opal.path().join("home/pipe"));
    pool.order(&[&["h1"]], |_| {});
    let talk = pool.talk(1, &json!({}));
    talk.noted("h1", 1);
    Some((pool, talk))
}

#[test]
fn a_share_stops_where_the_queue_runner_says_so_or_dies() {
    let ways =
        ["hang up", "stop", "silence", "nonsense", "an answer that is too long", "claims again"];
    for how in ways {
        let Some((pool, mut talk)) = blocked() else { return };
        let mut code = 143;
        match how {
            "hang up" => talk.hang_up(),
            "stop" => talk.say("{\"stop\": \"a target is out of order\"}"),
            // The claim has ended when this machine was started.
            "silence" => talk.say("{\"held\": 1}"),
            other => {
                code = 70;
                match other {
                    "nonsense" => talk.say("nonsense"),
                    "claims again" => talk.say("{\"claims\": {}}"),
                    _ => talk.say(&"x".repeat(1024 * 1024 + 1)),
                }
            }
        }
        let result = talk.result();
        assert_eq!(result["exit"], code, "{how}");
        assert_eq!(rows(&result), ["h1 stopped"], "{how}");
        // Nobody knows what the step would have done: the next runner finds it begun.
        assert_eq!(talk.number("h1"), 1, "{how}");
        let mut next = pool.talk(1, &json!({"h1": 1}));
        assert_eq!(rows(&next.result()), ["h1 lost"], "{how}");
    }
}

#[test]
fn a_share_that_is_refused_has_no_result() {
    let Some(pool) = pool(1, MARK, "") else { return };
    pool.order(&[&["h1"]], |order| order.contract = opal_core::hash::Digest([9; 32]));
    let mut talk = pool.talk(1, &json!({}));
    assert_eq!(talk.end(), 76);
    assert!(talk.lines().is_empty(), "{:?}", talk.lines());
}

#[test]
fn a_share_whose_result_the_queue_has_not_got_is_not_used_up() {
    let Some(pool) = pool(1, BLOCKED, "") else { return };
    let pipe = pool.opal.path().join("home/pipe");
    super::takeover::fifo(&pipe);
    pool.opal.call(&["plan", "task", "-o", "c.plan", "--once", "--expires", "1h"]).code(0);
    pool.order(&[&["h1"]], |_| {});
    let mut talk = pool.talk(1, &json!({}));
    talk.noted("h1", 1);
    talk.keep_nothing();
    std::fs::write(&pipe, "go").unwrap();
    eventually("the result is there", || talk.lines().iter().any(|it| it.get("result").is_some()));
    talk.hang_up();
    assert_eq!(rows(&talk.result()), ["h1 ok"]);
    // Another message of the queue leads to the same end, and repeats nothing.
    let mut again = pool.talk(1, &json!({"h1": 2}));
    assert_eq!(rows(&again.result()), ["h1 ok"]);
    assert_eq!(again.number("h1"), 2);
    let mut late = pool.talk(1, &json!({"h1": 2}));
    assert_eq!(late.end(), 76);
}
