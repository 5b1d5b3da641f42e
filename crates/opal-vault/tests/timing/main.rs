//! How the time that the scrubber takes grows.
//!
//! Measured times depend on what else the machine does, so these tests have a binary of their own:
//! `cargo test` leaves it out, and `cargo xtask test` runs it once, one test at a time.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

#[path = "../it/logs.rs"]
mod logs;

use std::time::{Duration, Instant};

use opal_core::Data;
use opal_vault::Vault;

use logs::{Noise, logs, noise, values};

/// The shortest of several times: the one that the rest of the machine disturbed least.
fn shortest(work: impl Fn()) -> Duration {
    let once = || {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..5).map(|_| once()).min().unwrap()
}

fn registering(value: &Data) -> Duration {
    shortest(|| {
        let vault = Vault::new();
        vault.register(value, "‹v›");
        std::hint::black_box(vault.memory());
    })
}

fn scrubbing(vault: &Vault, text: &[u8]) -> Duration {
    shortest(|| {
        let mut scrubber = vault.scrubber();
        for read in text.chunks(8192) {
            std::hint::black_box(scrubber.push(read).bytes());
        }
    })
}

#[test]
fn the_time_to_register_grows_as_the_value_does() {
    let size = if cfg!(debug_assertions) { 20_000 } else { 1 << 20 };
    let number = |index: usize| format!("{index:08}\n");
    let texts: [(&str, &dyn Fn(usize) -> String); 4] = [
        ("letters", &noise),
        ("one letter", &|size| "x".repeat(size)),
        ("lines", &|size| (0..size / 9).map(number).collect()),
        ("quotes", &|size| "it's \"<a&b>\" \\ $x; ".chars().cycle().take(size).collect()),
    ];
    for (what, text) in texts {
        let [small, large] = [size, 4 * size].map(|size| registering(&Data::text(text(size))));
        assert!(large < 10 * small, "{what}: four times as much took {small:?}, then {large:?}");
    }
}

#[test]
fn the_time_grows_as_the_output_does_and_hardly_with_the_number_of_values() {
    let (few, many) = if cfg!(debug_assertions) { (20, 400) } else { (20, 4000) };
    let text = logs(&mut Noise(13), if cfg!(debug_assertions) { 400_000 } else { 8_000_000 });
    let (half, text) = (&text.as_bytes()[..text.len() / 2], text.as_bytes());
    let [few, many] = [few, many].map(values);
    let time = scrubbing(&many, text);
    assert!(time < 4 * scrubbing(&many, half), "twice the output");
    assert!(time < 20 * scrubbing(&few, text), "many times the values");
}

#[test]
fn values_that_begin_alike_or_repeat_themselves_cost_no_more() {
    let vault = Vault::new();
    for index in 0..300 {
        vault.register(&Data::text(format!("{}{index}", "a".repeat(40))), "‹v›");
    }
    vault.register(&Data::text("a".repeat(20_000)), "‹l›");
    let text = vec![b'a'; if cfg!(debug_assertions) { 40_000 } else { 400_000 }];
    let time = scrubbing(&vault, &text);
    assert!(time < 6 * scrubbing(&vault, &text[..text.len() / 2]), "it is not linear");
}
