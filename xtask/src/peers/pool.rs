//! A contract on a pool of runners beside the same contract in one run; and what an order costs the queue, which
//! `docs/reference/queue.md` computes with.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::{command, free_port, installed, judge, medians, text, write};
use crate::chores::release;
use crate::say;
use crate::tools::provide;

const TARGETS: usize = 1_000;
const QUICK_TARGETS: usize = 200;
const RUNNERS: usize = 4;

/// Targets at a time, on both sides: a pool that works on more of them would win by that alone.
const TOGETHER: usize = 100;

/// The time on a pool beside the time of one run.
const BAR: f64 = 1.15;

const ROUNDS: usize = 5;
const QUICK_ROUNDS: usize = 1;

/// The queue and the runners end when it is dropped.
struct Pool {
    folder: PathBuf,
    opal: PathBuf,
    port: u16,
    /// Where the server says how much it has seen.
    numbers: u16,
}

pub(crate) fn compare(root: &Path, bars: bool, quick: bool) -> Result<(), String> {
    provide(root, &[("nats-server", "/usr/sbin/nats-server")]);
    if !Path::new("/usr/sbin/nats-server").exists() {
        say("runners are left out: they require nats-server");
        return Ok(());
    }
    release(root)?;
    let (targets, rounds) = if quick { (QUICK_TARGETS, QUICK_ROUNDS) } else { (TARGETS, ROUNDS) };
    let pool = Pool::start(root.join("target/bench/pool"), installed(root)?, targets)?;
    let contract = ["dispatch", "../pool.plan", "--pool", "bench", "--insecure-queue"];
    let lines = [pool.line(&contract)?, pool.line(&["run", "--plan", "../direct.plan"])?];
    let project = pool.folder.join("project");
    // Runners have the order's parts, and the queue its streams, from the first order on.
    medians(&project, &lines, 1)?;
    let before = pool.seen()?;
    medians(&project, &lines[..1], 1)?;
    let after = pool.seen()?;
    for ((name, before), (_, after)) in before.iter().zip(&after) {
        say(&format!("queue: {name:<12} {:.1} for each target", (after - before) / float(targets)));
    }
    let took = medians(&project, &lines, rounds)?;
    let ratio = took[0].as_secs_f64() / took[1].as_secs_f64();
    say(&format!(
        "{targets} targets, {TOGETHER} at a time, on {RUNNERS} runners           pool {:.0} ms   one run {:.0} ms   × {ratio:.3} (bar {BAR})",
        took[0].as_secs_f64() * 1000.0,
        took[1].as_secs_f64() * 1000.0
    ));
    let missed = if ratio > BAR { vec![format!("runners: × {ratio:.3}")] } else { Vec::new() };
    judge(bars, &missed)
}

#[expect(clippy::cast_precision_loss, reason = "a number of targets")]
fn float(number: usize) -> f64 {
    number as f64
}

impl Pool {
    fn start(folder: PathBuf, opal: PathBuf, targets: usize) -> Result<Self, String> {
        write(&folder, "pool.sh", include_str!("pool.sh"))?;
        let pool = Self { folder, opal, port: free_port()?, numbers: free_port()? };
        let (port, numbers) = (pool.port.to_string(), pool.numbers.to_string());
        let (runners, targets) = (RUNNERS.to_string(), targets.to_string());
        let together = TOGETHER.to_string();
        let opal = text(&pool.opal)?;
        let words = ["sh", "pool.sh", opal, &port, &numbers, &runners, &targets, together.as_str()];
        let mut script = command(&words);
        script.current_dir(&pool.folder).stdin(Stdio::null()).stdout(Stdio::null());
        match script.status().is_ok_and(|status| status.success()) {
            true => Ok(pool),
            false => Err("the queue or its runners do not start".to_owned()),
        }
    }

    fn line(&self, words: &[&str]) -> Result<Vec<String>, String> {
        let (home, root) = (self.folder.join("home"), self.folder.join("d"));
        let set = [
            "env".to_owned(),
            format!("HOME={}", text(&home)?),
            format!("NATS_URL=nats://127.0.0.1:{}", self.port),
            text(&self.opal)?.to_owned(),
        ];
        let words = words.iter().copied().chain(["--root", text(&root)?]).map(str::to_owned);
        Ok(set.into_iter().chain(words).collect())
    }

    /// Messages and bytes that the server has received and sent.
    fn seen(&self) -> Result<Vec<(&'static str, f64)>, String> {
        let failed = |error: std::io::Error| format!("the server's numbers: {error}");
        let mut stream = TcpStream::connect(("127.0.0.1", self.numbers)).map_err(failed)?;
        stream.write_all(b"GET /varz HTTP/1.0\r\n\r\n").map_err(failed)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map_err(failed)?;
        let number = |name: &'static str| {
            let found = answer.split(&format!("\"{name}\":")).nth(1)?;
            let digits = found.trim_start().split(|it: char| !it.is_ascii_digit()).next()?;
            Some((name, digits.parse().ok()?))
        };
        let all = ["in_msgs", "out_msgs", "in_bytes", "out_bytes"].into_iter().map(number);
        all.collect::<Option<_>>().ok_or_else(|| "the server's numbers are not there".to_owned())
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let stop = "tac pids | xargs -r kill; :";
        let _ =
            command(&["sh", "-c", stop]).current_dir(&self.folder).stderr(Stdio::null()).status();
    }
}
