//! Ordinary output is left alone, however many values there are; and no way to cut a stream
//! changes what is shown of it.

use opal_core::Data;
use opal_vault::Vault;
use proptest::prelude::*;

use crate::logs::{Noise, WORDS, logs, values};

const LOGS: usize = if cfg!(debug_assertions) { 5_000_000 } else { 100_000_000 };
const CASES: u32 = if cfg!(debug_assertions) { 40 } else { 4_000 };

#[test]
fn ordinary_logs_are_shown_as_they_are() {
    let vault = values(50);
    let mut noise = Noise(11);
    let mut scrubber = vault.scrubber();
    let (mut seen, mut expected) = (Vec::new(), Vec::new());
    let mut left = LOGS;
    while left > 0 {
        let some = logs(&mut noise, left.min(1 << 20));
        left = left.saturating_sub(some.len());
        expected.extend_from_slice(some.as_bytes());
        for read in some.as_bytes().chunks(8192) {
            seen.extend_from_slice(scrubber.push(read).bytes());
        }
        let held = expected.len() - seen.len();
        assert!(held < 1024 && expected.starts_with(&seen), "something was hidden");
        expected.drain(..seen.len());
        seen.clear();
    }
    assert_eq!(scrubber.finish().bytes(), expected);
}

#[test]
fn four_thousand_values_take_less_than_ten_megabytes() {
    let memory = values(4000).memory();
    assert!(memory < 10_000_000, "{memory} bytes");
}

#[test]
fn each_value_is_hidden_as_soon_as_it_is_registered() {
    let vault = Vault::new();
    let mut noise = Noise(17);
    let mut scrubber = vault.scrubber();
    for _ in 0..if cfg!(debug_assertions) { 100 } else { 4000 } {
        let value = noise.text(WORDS, 20);
        vault.register(&Data::text(value.as_str()), "‹v›");
        assert_eq!(scrubber.push(format!("~{value}~").as_bytes()).bytes(), "~‹v›~".as_bytes());
    }
}

/// A piece of output: words, dress, or one of the values, in some form.
fn piece() -> impl Strategy<Value = (u8, usize, String)> {
    (0..12_u8, 0..4_usize, "[a-f0-9 :\\n]{0,6}")
}

fn hexadecimal(text: &str) -> String {
    text.bytes().fold(String::new(), |out, byte| format!("{out}{byte:02x}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn all_cuts_of_a_stream_show_the_same(
        values in prop::collection::vec("[ab]{4,12}|[a-f0-9]{8,20}|[a-z\"\\\\\\n ]{4,30}|[ab]{250,700}|(ab){150,300}", 4),
        pieces in prop::collection::vec(piece(), 1..12),
        cuts in prop::collection::vec(1..40_usize, 1..40),
    ) {
        let vault = Vault::new();
        for (index, value) in values.iter().enumerate() {
            vault.register(&Data::text(value.as_str()), &format!("‹{index}›"));
        }
        let mut text = String::new();
        for (kind, which, noise) in pieces {
            let value = &values[which];
            match kind {
                0..=2 => text.push_str(value),
                3 => text.push_str(&value[..value.len() / 2]),
                4 => text.push_str(&hexadecimal(value)),
                5 => text.push_str(&value.replace('\n', "\r\n")),
                6 => text.push_str(&hexadecimal(value).replace('6', "6 ").replace('7', "7\n")),
                7 => text.extend(["\x1b[", &noise, "m"]),
                8 => text.extend(["\x1b]0;", value, "\x07"]),
                9 => text.push('\r'),
                _ => text.push_str(&noise),
            }
        }
        let whole = vault.scrub(&text);
        let mut scrubber = vault.scrubber();
        let (mut seen, mut rest) = (Vec::new(), text.as_bytes());
        for cut in cuts.iter().cycle() {
            let (now, after) = rest.split_at((*cut).min(rest.len()));
            seen.extend_from_slice(scrubber.push(now).bytes());
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        seen.extend_from_slice(scrubber.finish().bytes());
        prop_assert_eq!(String::from_utf8_lossy(&seen), whole.text());
        for value in values.iter().filter(|value| value.trim().chars().count() >= 8) {
            prop_assert!(!whole.text().contains(value.as_str()));
        }
    }
}
