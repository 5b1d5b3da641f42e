//! A newer minor version: what is not known is passed over, and still there when written again.

use crate::contract::raw::Raw;
use crate::contract::support::{accept, decode, write};

const STEP: &str = r#"{"args":{"a":{"new":[1,{"x":"y"}],"text":["b",{"data":1,"new":null}]}},"decorator":"@log","future":{"k":[true]},"path":"p"}"#;
const PROVENANCE: &str =
    r#"{"audit":{"by":"x"},"compiler":"9.0.0","placeholder_key_id":"00","zzz":-5}"#;

fn newer() -> Raw {
    Raw {
        minor: 3,
        flags: 0b100 | 1 << 8 | 1 << 15,
        steps: vec![STEP.into()],
        provenance: PROVENANCE.into(),
        records: vec![(9, vec![1; 70]), (200, Vec::new())],
        ..Raw::default()
    }
}

#[test]
fn a_newer_minor_is_accepted_and_written_again_as_it_was() {
    for raw in [newer(), newer().compressed()] {
        let bytes = raw.bytes();
        let contract = accept(&bytes).unwrap();
        assert_eq!(contract.provenance().compiler, "9.0.0");
        assert_eq!(contract.plan().steps[0].args.len(), 1);
        assert!(write(&contract, raw.flags & 1 == 1, false) == bytes);
    }
}

#[test]
fn every_bit_of_a_newer_file_is_authenticated() {
    let mut bytes = newer().bytes();
    for index in 0..bytes.len() {
        for bit in 0..8 {
            bytes[index] ^= 1 << bit;
            assert!(accept(&bytes).is_err(), "bit {bit} of byte {index}");
            bytes[index] ^= 1 << bit;
        }
    }
}

#[test]
fn what_a_newer_minor_may_not_use_is_refused() {
    for bit in 3..8 {
        let error = decode(&Raw { flags: 0b100 | 1 << bit, ..newer() }.bytes()).unwrap_err();
        assert!(error.contains("unknown flag"), "{error}");
    }
    for major in [0, 2, 256] {
        assert!(decode(&Raw { major, ..newer() }.bytes()).unwrap_err().contains("version"));
    }
    // Unknown parts are held to the canonical form too, and a kind of argument is not a new member.
    for step in [
        r#"{"decorator":"@log","new":{"b":1,"a":1},"path":"p"}"#,
        r#"{"decorator":"@log","new":1.5,"path":"p"}"#,
        r#"{"args":{"a":{"matrix":1}},"decorator":"@log","path":"p"}"#,
    ] {
        assert!(decode(&Raw { steps: vec![step.into()], ..newer() }.bytes()).is_err(), "{step}");
    }
}

#[test]
fn the_same_is_refused_in_this_version() {
    for minor in [0, 1] {
        assert!(decode(&Raw { minor, ..newer() }.bytes()).is_err());
    }
    for raw in [
        Raw { steps: vec![STEP.into()], ..Raw::default() },
        Raw { provenance: PROVENANCE.into(), ..Raw::default() },
        Raw { records: vec![(9, vec![1; 70])], ..Raw::default() },
        Raw { flags: 0b100 | 1 << 8, ..Raw::default() },
    ] {
        assert!(decode(&raw.bytes()).is_err(), "{raw:?}");
    }
}
