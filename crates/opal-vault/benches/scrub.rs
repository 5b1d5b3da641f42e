//! How fast output passes the scrubber, and what many values cost.
//!
//! `cargo xtask bench` prints a table; with `--bars` it also fails where a bar is missed. Ratios
//! are between two measurements of the same run.

use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use opal_core::Data;
use opal_vault::Vault;

const OUTPUT: usize = 64 << 20;
const READ: usize = 64 << 10;

struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 24
    }
}

/// What programs print: times, levels, paths, ids, JSON, traces.
fn logs(length: usize, colours: bool) -> Vec<u8> {
    let mut noise = Noise(1);
    let mut text = String::with_capacity(length + 512);
    let (bold, plain) = if colours { ("\x1b[32m", "\x1b[0m") } else { ("", "") };
    while text.len() < length {
        let (a, b, c) = (noise.next(), noise.next() % 60, noise.next() % 1000);
        let _ = match a % 5 {
            0 => writeln!(
                text,
                "2026-11-15T08:{b:02}:17.{c:03}Z {bold}INFO{plain} api::server: GET /v1/users/{c} 200 in {b} ms"
            ),
            1 => writeln!(
                text,
                "{{\"level\":\"info\",\"ts\":{a},\"id\":\"{a:016x}\",\"msg\":\"request done\",\"took\":{c}}}"
            ),
            2 => writeln!(
                text,
                "    at com.example.service.Handler.handle(Handler.java:{c}) ~[app.jar:1.{b}.0]"
            ),
            3 => {
                writeln!(text, "   Compiling serde_json v1.0.{c} (/home/ci/.cache/build/{a:x}/out)")
            }
            _ => writeln!(
                text,
                "{bold}[{b}%]{plain} Building CXX object src/lib/CMakeFiles/core.dir/module_{c}.cpp.o"
            ),
        };
    }
    text.truncate(length);
    text.into_bytes()
}

fn vault(count: u64) -> Vault {
    let vault = Vault::new();
    let mut noise = Noise(count);
    for index in 0..count {
        let value = format!("s{:x}-{:x}", noise.next(), noise.next());
        vault.register(&Data::text(value), &format!("‹{index}›"));
    }
    vault
}

fn pass(vault: &Vault, output: &[u8]) -> Duration {
    let start = Instant::now();
    let mut scrubber = vault.scrubber();
    for read in output.chunks(READ) {
        black_box(scrubber.push(read).bytes().len());
    }
    black_box(scrubber.finish().bytes().len());
    start.elapsed()
}

fn main() -> ExitCode {
    let bars = std::env::args().any(|argument| argument == "--bars");
    let mut out = std::io::stdout();
    let mut missed = Vec::new();
    for (what, colours) in [("plain", false), ("coloured", true)] {
        let output = logs(OUTPUT, colours);
        for count in [0, 1, 10, 100, 4_000] {
            let vault = vault(count);
            let start = Instant::now();
            let memory = vault.memory();
            let built = start.elapsed();
            // In turns: a machine that is busy for a moment is so for both.
            let turns = (0..5)
                .map(|_| [&output[..OUTPUT / 2], &output[..]].map(|output| pass(&vault, output)));
            let [half, whole] =
                turns.fold([Duration::MAX; 2], |[half, whole], [a, b]| [half.min(a), whole.min(b)]);
            let rate = OUTPUT as f64 / whole.as_secs_f64() / 1e6;
            let ratio = whole.as_secs_f64() / half.as_secs_f64();
            let _ = writeln!(
                out,
                "{what:<9} logs, {count:>5} values {rate:>10.0} MB/s   twice as much × {ratio:.2}   \
                 {:>6.1} MB, made in {:.1} ms",
                memory as f64 / 1e6,
                built.as_secs_f64() * 1000.0
            );
            if count > 0 && ratio > 2.6 {
                missed.push(format!(
                    "{count} values: twice the output takes {ratio:.2} times as long"
                ));
            }
        }
    }
    if bars && !missed.is_empty() {
        let _ = writeln!(out, "missed: {}", missed.join("; "));
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
