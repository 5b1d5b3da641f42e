//! What a file can make the reader hold: less than 64 MiB beside the file itself, whatever it says.
//!
//! A binary of its own, because everything in it is counted.

#![allow(clippy::disallowed_methods, reason = "tests read fixtures and start programs")]
#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use opal_core::contract::Frame;

#[path = "contract/raw.rs"]
mod raw;
#[path = "contract/support.rs"]
#[expect(dead_code, reason = "only the keys are needed here")]
mod support;

use raw::{PROVENANCE, Raw, STEP};

/// The system's allocator, with a count of bytes held.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn grow(bytes: usize) {
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

    // Large blocks are moved by their pages, not copied, so only the difference counts.
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        HELD.fetch_sub(layout.size(), Relaxed);
        grow(size);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

const LIMIT: usize = 64 << 20;

/// Whether the file is taken, and what its reading held at most.
fn reading(bytes: &[u8]) -> (bool, usize) {
    let held = HELD.load(Relaxed);
    PEAK.store(held, Relaxed);
    let taken = Frame::read(bytes).and_then(|frame| frame.decode()).is_ok();
    (taken, PEAK.load(Relaxed) - held)
}

fn argument(args: &str) -> Raw {
    Raw::with_step(&format!(r#"{{"args":{args},"decorator":"@log","path":"p"}}"#))
}

/// `part` as often as it fits into the largest file, less one MiB, separated by commas.
fn many(part: &str) -> String {
    let count = (31 << 20) / (part.len() + 1);
    vec![part; count].join(",")
}

fn sorted(count: usize, member: impl Fn(usize) -> String) -> String {
    (0..count).map(member).collect::<Vec<_>>().join(",")
}

fn hostile() -> Vec<(&'static str, Raw)> {
    let provenance = |members: &str| {
        let json = format!(r#"{{"compiler":"","placeholder_key_id":"",{members}}}"#);
        Raw { provenance: json.into(), ..Raw::default() }
    };
    let values = (0..600_000).map(|n| (format!("{n:08}").into_bytes(), 0)).collect();
    let block = format!(r#"{{"block":[{}],"decorator":"@log","path":"p"}}"#, many(STEP));
    vec![
        ("numbers", argument(&format!(r#"{{"a":[{}]}}"#, many("0")))),
        ("arrays", argument(&format!(r#"{{"a":[{}]}}"#, many("[0]")))),
        ("maps", argument(&format!(r#"{{"a":[{}]}}"#, many(r#"{"map":{"":0}}"#)))),
        ("texts", argument(&format!(r#"{{"a":[{}]}}"#, many(r#"{"text":["",""]}"#)))),
        (
            "handles",
            argument(&format!(r#"{{"a":[{}]}}"#, many(r#"{"access":[0,0],"let":"","name":""}"#))),
        ),
        ("pieces", argument(&format!(r#"{{"a":{{"shell":[{}]}}}}"#, many(r#""a""#)))),
        ("one text", argument(&format!(r#"{{"a":"{}"}}"#, "x".repeat(31 << 20)))),
        ("escapes", argument(&format!(r#"{{"a":"{}"}}"#, r"\n".repeat(15 << 20)))),
        ("arguments", argument(&format!("{{{}}}", sorted(1 << 21, |n| format!(r#""{n:08}":0"#))))),
        (
            "one map",
            argument(&format!(
                r#"{{"a":{{"map":{{{}}}}}}}"#,
                sorted(1 << 21, |n| format!(r#""{n:08}":0"#))
            )),
        ),
        ("steps", Raw { steps: vec![STEP.into(); 500_000], ..Raw::default() }),
        ("steps in a block", Raw::with_step(&block)),
        ("values", Raw { values, ..Raw::default() }),
        ("reads", provenance(&format!(r#""reads":[{}]"#, many(r#"{"decorator":"","key":""}"#)))),
        (
            "plugins",
            provenance(&format!(
                r#""plugins":[{}]"#,
                many(r#"{"name":"","source":"","verification":"","version":""}"#)
            )),
        ),
        (
            "resources",
            provenance(&format!(r#""resources":[{}]"#, many(r#"{"path":"","status":"missing"}"#))),
        ),
        (
            "reasons",
            provenance(&format!(
                r#""reasons":{{{}}}"#,
                sorted(1 << 21, |n| format!(r#""{n:08}":"a""#))
            )),
        ),
        ("provenance", Raw { provenance: PROVENANCE.into(), ..Raw::default() }),
    ]
}

#[test]
fn no_file_makes_the_reader_hold_more_than_64_mib() {
    for (name, raw) in hostile() {
        // Packed, because then the unpacked bytes are held too.
        let (taken, peak) = reading(&raw.compressed().bytes());
        assert!(peak < LIMIT, "{name}: {} KiB, taken: {taken}", peak >> 10);
    }
    // A declared bomb takes nothing at all.
    let raw = Raw::default().compressed();
    let [(frame, _), values] = raw.packed.clone().unwrap();
    let bomb = Raw { packed: Some([(frame, u32::MAX), values]), ..raw };
    let (taken, peak) = reading(&bomb.bytes());
    assert!(!taken && peak < 64 << 10, "{peak}");
}
