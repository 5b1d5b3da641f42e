//! What a file can make the reader hold: less than 64 MiB beside the file itself, whatever it says.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use opal_core::contract::Frame;

use crate::contract::raw::{PROVENANCE, Raw, STEP};

/// The allocator of the system, with a count of the bytes that each thread holds: other tests of
/// this binary run at the same time and do not count.
struct Counting;

thread_local! {
    // Constant and without a destructor: these can be used inside an allocator. A thread may free
    // what another has allocated, so the count can go below zero.
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn grow(bytes: usize) {
    let held = HELD.get() + bytes.cast_signed();
    HELD.set(held);
    PEAK.set(PEAK.get().max(held));
}

fn shrink(bytes: usize) {
    HELD.set(HELD.get() - bytes.cast_signed());
}

#[expect(unsafe_code, reason = "an allocator that counts can only be written this way")]
// SAFETY: every call goes to the allocator of the system unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        shrink(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    // Large blocks are moved by their pages, not copied, so only the difference counts.
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        shrink(layout.size());
        grow(size);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

const LIMIT: isize = 64 << 20;

/// Whether the file is taken, and what its reading held at most.
fn reading(bytes: &[u8]) -> (bool, isize) {
    let held = HELD.get();
    PEAK.set(held);
    let taken = Frame::read(bytes).and_then(|frame| frame.decode()).is_ok();
    (taken, PEAK.get() - held)
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
fn what_a_thread_allocates_is_counted_for_it_alone() {
    let held = HELD.get();
    PEAK.set(held);
    let kept = std::hint::black_box(Vec::<u8>::with_capacity(5 << 20));
    assert!((5 << 20..6 << 20).contains(&(HELD.get() - held)));
    let other = || std::hint::black_box(Vec::<u8>::with_capacity(20 << 20)).capacity();
    assert!(std::thread::spawn(other).join().unwrap() > 0);
    drop(kept);
    assert!((5 << 20..6 << 20).contains(&(PEAK.get() - held)), "{}", PEAK.get() - held);
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
