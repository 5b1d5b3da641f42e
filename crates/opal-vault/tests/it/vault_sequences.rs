//! Escape sequences of any length and control characters inside a secret.

use opal_core::Data;
use opal_vault::Vault;

const SECRET: &str = "hunter2hunter2";
const LABEL: &str = "‹s›";

fn vault() -> Vault {
    let vault = Vault::new();
    vault.register(&Data::text(SECRET), LABEL);
    vault
}

/// What is shown of a stream that comes in pieces of this size.
fn shown(vault: &Vault, stream: &[u8], piece: usize) -> Vec<u8> {
    let mut scrubber = vault.scrubber();
    let mut out = Vec::new();
    for piece in stream.chunks(piece) {
        out.extend_from_slice(scrubber.push(piece).bytes());
    }
    out.extend_from_slice(scrubber.finish().bytes());
    out
}

/// What a terminal takes in without printing it.
fn unprinted() -> Vec<(&'static str, Vec<u8>)> {
    let numbers = vec!["1"; 1_000].join(";");
    let long = "x".repeat(10_000);
    let mut all: Vec<(&str, Vec<u8>)> = [
        ("a colour", "\x1b[1;31m".to_owned()),
        ("1,000 parameters", format!("\x1b[{numbers}m")),
        ("1,000 parameters after U+009B", format!("\u{9b}{numbers}m")),
        ("control characters in parameters", "\x1b[3\x07\n1m".to_owned()),
        ("cancelled parameters", "\x1b[31\x18".to_owned()),
        ("a link of 10 kB", format!("\x1b]8;;https://example.com/{long}\x1b\\")),
        ("a title of 10 kB", format!("\x1b]0;{long}\x07")),
        ("a title that ends with U+009C", format!("\x1b]0;{long}\u{9c}")),
        ("a title after U+009D", format!("\u{9d}0;{long}\x07")),
        ("a title of two lines", "\x1b]0;one\ntwo\x07".to_owned()),
        ("a cancelled title", "\x1b]0;one\x1a".to_owned()),
        ("a title that another sequence ends", "\x1b]0;one\x1b[m".to_owned()),
        ("a device control string", format!("\x1bPq{long}\x1b\\")),
        ("a message to the program", format!("\x1b_G{long}\x1b\\")),
        ("a character set", "\x1b(B".to_owned()),
        ("a carriage return", "\r".to_owned()),
        ("two carriage returns", "\r\r".to_owned()),
        ("a saved cursor", "\x1b7".to_owned()),
        ("an escape alone", "\x1b".to_owned()),
        ("an index", "\u{84}".to_owned()),
        ("several", "\x1b[0m\x1b]0;x\x07\0\x1b[1m".to_owned()),
    ]
    .map(|(name, text)| (name, text.into_bytes()))
    .into();
    let controls = (0..0x20).chain([0x7f]).filter(|byte| !b"\t\n\r\x1b".contains(byte));
    all.extend(controls.map(|byte| ("a control character", vec![byte])));
    all
}

#[test]
fn a_secret_is_found_across_whatever_is_not_printed() {
    let vault = vault();
    for (name, unprinted) in unprinted() {
        for at in [1, 7, SECRET.len() - 1] {
            // An escape takes in the letter after it, where it is one that ends a sequence.
            let (before, after) = SECRET.split_at(at);
            if name == "an escape alone" && after.starts_with('n') {
                continue;
            }
            let stream = [b"a ", before.as_bytes(), &unprinted, after.as_bytes(), b" b\n"].concat();
            for piece in [1, 7, 4096, stream.len()] {
                let out = shown(&vault, &stream, piece);
                let out = String::from_utf8_lossy(&out);
                assert_eq!(out, format!("a {LABEL} b\n"), "{name} at {at}, by {piece}");
            }
        }
    }
}

#[test]
fn without_a_secret_every_sequence_passes_byte_for_byte() {
    let vault = vault();
    for (name, unprinted) in unprinted() {
        let stream = [b"a hunter ", &unprinted[..], b" hunter2 b\n"].concat();
        for piece in [1, 7, 4096, stream.len()] {
            assert_eq!(shown(&vault, &stream, piece), stream, "{name}, by {piece}");
        }
    }
}

#[test]
fn a_secret_inside_a_sequence_is_found() {
    let vault = vault();
    for (from, to) in [("\x1b]0;", "\x07"), ("\x1b]8;;https://x/", "\x1b\\"), ("\u{9d}", "\u{9c}")]
    {
        for secret in [SECRET.to_owned(), "hunter2\0hunter2".to_owned()] {
            let stream = format!("a {from}{secret}{to} b\n");
            for piece in [1, 7, stream.len()] {
                let out = shown(&vault, stream.as_bytes(), piece);
                assert_eq!(String::from_utf8_lossy(&out), format!("a {from}{LABEL}{to} b\n"));
            }
        }
    }
}

#[test]
fn a_sequence_of_a_megabyte_hides_nothing_and_is_not_held_back() {
    let vault = vault();
    let body = "0123456789;".repeat(100_000);
    let (first, last) = SECRET.split_at(7);
    for (from, to) in
        [("\x1b]8;;", "\x07"), ("\x1bP", "\x1b\\"), ("\x1b[", "m"), ("\u{9d}", "\u{9c}")]
    {
        for inside in ["", SECRET] {
            if from == "\x1b[" && !inside.is_empty() {
                continue;
            }
            let stream = format!("a {first}{from}{body}{inside}{body}{to}{last} b\n");
            for piece in [64, 5_000] {
                let mut scrubber = vault.scrubber();
                let mut out = Vec::new();
                for piece in stream.as_bytes().chunks(piece) {
                    out.extend_from_slice(scrubber.push(piece).bytes());
                    let held = format!("{scrubber:?}");
                    let held: usize =
                        held.split(&[' ', ','][..]).find_map(|word| word.parse().ok()).unwrap();
                    assert!(held < 80_000, "{held} bytes are held back");
                }
                out.extend_from_slice(scrubber.finish().bytes());
                let out = String::from_utf8_lossy(&out);
                let label = if inside.is_empty() { "" } else { LABEL };
                assert_eq!(out.len(), format!("a {from}{body}{label}{body}{to}{LABEL} b\n").len());
                assert!(!out.contains(SECRET) && !out.contains(first), "{from:?}");
                assert!(out.ends_with(&format!("{to}{LABEL} b\n")), "{from:?}");
            }
        }
    }
}

#[test]
fn a_sequence_that_never_ends_is_text_in_the_end() {
    let vault = vault();
    let stream = format!("a \x1b]0;one {SECRET} two\n");
    for piece in [1, stream.len()] {
        let out = shown(&vault, stream.as_bytes(), piece);
        assert_eq!(String::from_utf8_lossy(&out), format!("a \x1b]0;one {LABEL} two\n"));
    }
}

#[test]
fn a_secret_that_holds_a_carriage_return_is_found() {
    let vault = Vault::new();
    vault.register(&Data::text("first-half\rsecond-half"), LABEL);
    for piece in [1, 5, 100] {
        let out = shown(&vault, b"a first-half\rsecond-half b", piece);
        let out = String::from_utf8_lossy(&out);
        assert!(out.contains(LABEL) && !out.contains("half"), "{piece}: {out:?}");
    }
}
