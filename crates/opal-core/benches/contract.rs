//! How fast a contract is written and read.
//!
//! `cargo bench -p opal-core --bench contract` prints a table; with `--bars` it also fails where a
//! bar is missed. The plan has 20,000 steps. Writing is the whole way from the plan to the file:
//! canonical form, PlanHash and authentication record; reading is the whole way back. The digest
//! that both need is measured alone in the same run, because a number of one machine means little
//! on another.

#![allow(clippy::disallowed_methods, reason = "tests read fixtures and start programs")]
#![expect(clippy::unwrap_used, reason = "the helpers are those of the tests")]

use std::hint::black_box;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use opal_core::contract::{Contract, Encoding, Frame, Provenance, encode};
use opal_core::hash::Algorithm;
use opal_core::plan::{Arg, Piece, Plan};

#[path = "../tests/it/contract/support.rs"]
#[expect(dead_code, reason = "the tests use the rest of it")]
mod support;

const ROUNDS: usize = 40;
const LOOPS: usize = 4_000;
const BAR: f64 = 200.0;

/// The best of many: the one that the rest of the machine disturbed least.
fn best_of<I, T>(mut input: impl FnMut() -> I, mut work: impl FnMut(I) -> T) -> Duration {
    let once = |given: I, work: &mut dyn FnMut(I) -> T| {
        let start = Instant::now();
        let result = work(given);
        let took = start.elapsed();
        drop(result);
        // An allocator that puts off joining what was freed does it now, not while the next round
        // is measured.
        drop(black_box(Vec::<u8>::with_capacity(64 << 10)));
        took
    };
    (0..ROUNDS).map(|_| once(input(), &mut work)).min().unwrap_or_default()
}

fn write(plan: Plan, compress: bool) -> Vec<u8> {
    let contract =
        Contract::new(plan, support::CREATED, Provenance::default()).expect("the plan is sound");
    let encoding = Encoding {
        envelope: support::ENVELOPE,
        auth_key: &support::AUTH_KEY,
        compress,
        signer: None,
    };
    encode(&contract, &encoding).expect("the contract is small enough")
}

fn read(bytes: &[u8]) -> Contract {
    let frame = Frame::read(bytes).expect("the file is sound");
    frame.authenticate(&support::AUTH_KEY).expect("the file is whole");
    frame.decode().expect("the file is sound")
}

fn main() -> ExitCode {
    let bars = std::env::args().any(|argument| argument == "--bars");
    let plan = plan();
    let plain = write(plan.clone(), false);
    let packed = write(plan.clone(), true);
    assert_eq!(read(&plain).plan(), read(&packed).plan(), "both files hold the plan");

    let speed = |time: Duration| plain.len() as f64 / time.as_secs_f64() / 1e6;
    let encoded = speed(best_of(|| plan.clone(), |plan| write(black_box(plan), false)));
    let decoded = speed(best_of(|| (), |()| read(black_box(&plain))));
    let compressed = speed(best_of(|| plan.clone(), |plan| write(black_box(plan), true)));
    let unpacked = speed(best_of(|| (), |()| read(black_box(&packed))));
    let digest = speed(best_of(|| (), |()| Algorithm::Sha256.digest(&[black_box(&plain)])));

    let mut table = String::new();
    for (name, value, bar) in [
        ("bytes", format!("{}", plain.len()), String::new()),
        ("bytes compressed", format!("{}", packed.len()), String::new()),
        ("encode, MB/s", format!("{encoded:.0}"), format!(">= {BAR:.0}")),
        ("decode, MB/s", format!("{decoded:.0}"), format!(">= {BAR:.0}")),
        ("encode compressed", format!("{compressed:.0}"), String::new()),
        ("decode compressed", format!("{unpacked:.0}"), String::new()),
        ("one SHA-256, MB/s", format!("{digest:.0}"), String::new()),
    ] {
        table.push_str(&format!("{name:<22}{value:>12}  {bar}\n"));
    }
    let _ = std::io::stdout().write_all(table.as_bytes());
    if bars && (encoded < BAR || decoded < BAR) {
        let _ = writeln!(std::io::stderr(), "error: a bar is missed");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Loops with four steps each: 20,000 steps with the iterations.
fn plan() -> Plan {
    use support::{around, data, int, shell, step, with};
    let mut plan = support::empty_plan(Algorithm::Sha256);
    let keys = ["env.IMAGE", "env.REGION", "git.commit"];
    plan.values = keys.iter().map(|key| support::value(Algorithm::Sha256, key, "x")).collect();
    for index in 0..LOOPS {
        let path = format!("deploy.service[{index}]");
        let command = Arg::Shell(vec![
            Piece::Text("kubectl --context ".into()),
            data(Arg::Value("env.REGION".into())),
            Piece::Text(format!(" set image deployment/service-{index} app=").into()),
            data(Arg::Value("env.IMAGE".into())),
            Piece::Text(" --record --timeout=90s".into()),
        ]);
        let set = with(step("@shell", &format!("{path}.shell[0]")), "command", command);
        let health = "curl -fsS \"https://service.example.com/healthz?full=1\" | jq -r '.status' | grep -q ok # ";
        let check = shell(&format!("{path}.retry[0].shell[0]"), health, Some("git.commit"));
        let retry = with(step("@retry", &format!("{path}.retry[0]")), "attempts", int(3));
        let log = shell(&format!("{path}.shell[1]"), "tee -a logs/push.log", None);
        let number = int(index.try_into().unwrap_or_default());
        let iteration = with(step("iteration", &path), "value", number);
        plan.steps.push(around(iteration, vec![set, around(retry, vec![check]), log]));
    }
    plan
}
