//! How fast a source is parsed, and what it costs in memory.
//!
//! `cargo xtask bench` prints a table; with `--bars` it also fails where a bar is missed. The input
//! is a program of 10,000 lines without an error. A plain scan of the same bytes is measured in the
//! same run, because a number of one machine means little on another.

#![allow(clippy::disallowed_methods, reason = "tests read fixtures and start programs")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use opal_syntax::parse;

#[path = "../tests/it/support.rs"]
mod support;

const LINES: usize = 10_000;
const ROUNDS: usize = 300;

const LINES_PER_MS_BAR: f64 = 3_000.0;
const PEAK_BAR: f64 = 8.0;
const ALLOCATIONS_BAR: usize = 64;

/// The system's allocator, with a count of calls and of bytes held.
struct Counting;

static CALLS: AtomicUsize = AtomicUsize::new(0);
static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn grow(bytes: usize) {
    CALLS.fetch_add(1, Relaxed);
    let held = HELD.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(held, Relaxed);
}

#[expect(unsafe_code, reason = "an allocator that counts can only be written this way")]
// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both blocks may be there while the content moves.
        grow(size);
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

struct Memory {
    allocations: usize,
    peak_bytes: usize,
}

fn memory_of<T>(work: impl FnOnce() -> T) -> Memory {
    let (calls, held) = (CALLS.load(Relaxed), HELD.load(Relaxed));
    PEAK.store(held, Relaxed);
    let result = work();
    let memory =
        Memory { allocations: CALLS.load(Relaxed) - calls, peak_bytes: PEAK.load(Relaxed) - held };
    drop(result);
    memory
}

/// The best of many: the one that the rest of the machine disturbed least.
fn best_of<T>(mut work: impl FnMut() -> T) -> Duration {
    let once = |work: &mut dyn FnMut() -> T| {
        let start = Instant::now();
        let result = work();
        let took = start.elapsed();
        drop(result);
        took
    };
    (0..ROUNDS).map(|_| once(&mut work)).min().unwrap_or_default()
}

fn main() -> ExitCode {
    let bars = std::env::args().any(|argument| argument == "--bars");
    let text = program();
    let lines = text.lines().count();
    assert!(lines >= LINES, "the input has {lines} lines");
    let parsed = parse(&text, &support::Words);
    assert_eq!(parsed.errors, [], "the input is free of errors");
    let tokens = parsed.tokens().len();
    drop(parsed);

    let memory = memory_of(|| parse(&text, &support::Words));
    let time = best_of(|| parse(black_box(&text), &support::Words));
    let scan = best_of(|| memchr::memchr(0, black_box(text.as_bytes())));

    let lines_per_ms = lines as f64 / (time.as_secs_f64() * 1e3);
    let peak = memory.peak_bytes as f64 / text.len() as f64;
    let speed = |time: Duration| text.len() as f64 / time.as_secs_f64() / 1e6;
    let rows = [
        ("lines", format!("{lines}"), String::new()),
        ("bytes", format!("{}", text.len()), String::new()),
        ("tokens", format!("{tokens}"), String::new()),
        ("parse, lines/ms", format!("{lines_per_ms:.0}"), format!(">= {LINES_PER_MS_BAR:.0}")),
        ("parse, MB/s", format!("{:.0}", speed(time)), String::new()),
        ("plain scan, MB/s", format!("{:.0}", speed(scan)), String::new()),
        ("allocations", format!("{}", memory.allocations), format!("< {ALLOCATIONS_BAR}")),
        ("peak / source bytes", format!("{peak:.2}"), format!("< {PEAK_BAR}")),
    ];
    let mut table = String::new();
    for (name, value, bar) in rows {
        let _ = writeln!(table, "{name:<22}{value:>12}  {bar}");
    }
    let _ = std::io::stdout().write_all(table.as_bytes());
    let missed = lines_per_ms < LINES_PER_MS_BAR
        || peak >= PEAK_BAR
        || memory.allocations >= ALLOCATIONS_BAR;
    if bars && missed {
        let _ = writeln!(std::io::stderr(), "error: a bar is missed");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Variables, loops and long shell lines with references, as in a large `commands.opl`.
fn program() -> String {
    let mut text = String::from("#!/usr/bin/env opal\nvar REGISTRY = \"ghcr.io/acme\"\n");
    let mut unit = 0;
    while text.lines().count() < LINES {
        for _ in 0..20 {
            push_unit(&mut text, unit);
            unit += 1;
        }
    }
    text
}

fn push_unit(text: &mut String, n: usize) {
    let part = format!(
        r#"
// Builds and ships service {n}.
var image_{n} = "@var.REGISTRY/service-{n}:@git.commit"
var replicas_{n} = 3 + {n} % 5
var regions_{n} = ["eu-central-1", "us-east-1", "ap-south-1"]
var (
    timeout_{n} = 1m30s
    labels_{n} = {{team: "core", tier: 'web', "cost-center": {n}}}
)
fun deploy-{n}(environment: String = "staging", replicas = 3) {{
    # Every region gets the same image.
    for region in @var.regions_{n} {{
        kubectl --context @var.region --namespace=svc-{n} set image deployment/service-{n} app=@var.image_{n}
        kubectl --context @var.region rollout status "deployment/service-{n}" --timeout=90s && echo "done: @var.region"
        curl -fsS "https://@var.region.service-{n}.example.com/healthz?full=1" | jq -r '.status' | grep -q ok
        cd deploy && for f in $(find manifests/{n} -name '*.yaml' -newer .stamp); do kubectl apply -f "$f" --context @var.region; done
    }}
    if environment == "production" && replicas > 2 {{
        @retry(3, delay=10s) {{
            docker push @var.image_{n} 2>&1 | tee -a logs/push-{n}.log
        }}
    }} else if replicas_{n} < 1 {{
        echo "nothing to do for service {n}" >&2
    }}
    when @var.environment {{
        "production" | "live" -> echo "page ops@example.com about service-{n}"
        r"^dev-" -> @log("a developer's service {n}")
        else -> echo other
    }}
    tar czf "backup/@var.environment-{n}.tgz" --exclude='*.log' ${{BACKUP_DIR:-/var/backup}}/{n} && rm -rf /tmp/build-{n}
}}
"#
    );
    text.push_str(&part);
}
