//! Calls of a plugin in Rust, beside `bash -c true`, which they replace: with `cargo xtask bench plugins`.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark starts programs and prints what it measured"
)]

#[path = "../tests/it/fixtures.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod fixtures;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fixtures::{component, hosts, resolve};

/// `bash -c true` on the machine of the design pages, which bars in milliseconds refer to.
const UNIT_MS: f64 = 1.23;

fn main() {
    let guest = component();
    let unit = median(101, || {
        let done = Command::new("bash").args(["-c", "true"]).stdin(Stdio::null()).status();
        assert!(done.unwrap().success());
    });
    println!("bash -c true: {:.2} ms", ms(unit));
    let first = median(51, || {
        let hosts = hosts();
        resolve(&hosts, &guest, "guest.subject", "x").unwrap();
    });
    bar("start, cached load, first call", first, unit, 12.0);
    let hosts = hosts();
    let call = |subject: &str| {
        resolve(&hosts, &guest, "guest.subject", subject).unwrap();
    };
    call("warm");
    bar("further call, alone", median(1_001, || call("x")), unit, 0.3);
    let many = median(11, || in_parallel(&call, 1_000));
    bar("further call, pipelined", many / 1_000, unit, 0.15);
    bar("1,000 values", many, unit, 250.0);
    let stop = median(11, || {
        let at = Instant::now() + Duration::from_millis(50);
        let mut opal = fixtures::Opal { stops_after: Some(at), ..fixtures::Opal::default() };
        let it = fixtures::invocation("guest.loop", "");
        let function = opal_core::protocol::call::Function::Resolve;
        assert!(hosts.call(&guest, function, &it, &mut opal).is_err());
    });
    bar("stop", stop.saturating_sub(Duration::from_millis(50)), unit, 50.0);
}

/// So many calls by eight threads.
fn in_parallel(call: &(impl Fn(&str) + Sync), count: usize) {
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..count / 8).for_each(|_| call("x")));
        }
    });
}

fn bar(name: &str, took: Duration, unit: Duration, most_ms: f64) {
    let most = most_ms / UNIT_MS * ms(unit);
    let verdict = if ms(took) <= most { "holds" } else { "MISSED" };
    println!("{name}: {:.3} ms, at most {most:.3} ms here: {verdict}", ms(took));
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

fn median(times: usize, mut work: impl FnMut()) -> Duration {
    let mut took: Vec<Duration> = (0..times)
        .map(|_| {
            let since = Instant::now();
            work();
            since.elapsed()
        })
        .collect();
    took.sort();
    took[times / 2]
}
