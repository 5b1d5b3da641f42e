//! Files that are never edited: what was written once is written and read the same for ever. Files of
//! format 1.0 are no longer written, and still read.
//!
//! `compressed` also holds the packing of the zstd version in use. Should another version pack
//! differently, that file must still be read and give its own bytes back.

use std::path::PathBuf;

use opal_core::contract::{Contract, plan_hash};

use crate::contract::support::{CREATED, VARIANTS, Variant, accept, additions, old_plan, write};

/// Every minor version that was ever written.
pub(crate) const FORMATS: [&str; 2] = ["1.0", "1.1"];

pub(crate) fn path(format: &str, variant: Variant) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("test_data/contract");
    folder.join(format).join(format!("{}.plan", variant.name))
}

pub(crate) fn golden(format: &str, variant: Variant) -> Vec<u8> {
    let path = path(format, variant);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_fixture_is_written_as_ever() {
    for variant in VARIANTS {
        assert!(variant.bytes() == golden("1.1", variant), "{}", variant.name);
    }
}

/// Steps that were added to the format since the fixture was made.
pub(crate) fn additions_path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("test_data/contract/1.1/additions.plan")
}

#[test]
fn what_was_added_is_written_as_ever() {
    let bytes = std::fs::read(additions_path()).unwrap();
    assert!(write(&additions(), false, false) == bytes);
    let read = accept(&bytes).unwrap();
    assert_eq!(read.plan_hash(), plan_hash(additions().plan()));
    assert!(write(&read, false, false) == bytes);
}

#[test]
fn decoding_and_encoding_gives_the_same_bytes() {
    for (format, variant) in FORMATS.iter().flat_map(|format| VARIANTS.map(|it| (format, it))) {
        let bytes = golden(format, variant);
        let contract = accept(&bytes).unwrap();
        assert!(write(&contract, variant.compress, variant.sign) == bytes, "{}", variant.name);
    }
}

#[test]
fn an_old_file_still_says_what_it_said() {
    for variant in VARIANTS {
        let contract: Contract = accept(&golden("1.0", variant)).unwrap();
        assert!(contract.is_older(), "{}", variant.name);
        assert_eq!(contract.created(), CREATED);
        assert_eq!(contract.plan().values, old_plan(variant.algorithm).values, "{}", variant.name);
        assert_eq!(contract.plan_hash(), plan_hash(&old_plan(variant.algorithm)));
        let made = contract.provenance();
        assert!(!made.modified && made.options.is_empty() && made.sources.is_empty());
    }
}

#[test]
fn the_files_hold_no_resolved_value() {
    for (format, variant) in FORMATS.iter().flat_map(|format| VARIANTS.map(|it| (format, it))) {
        let bytes = golden(format, variant);
        let is_clear = bytes.windows(6).any(|window| window == b"canary");
        assert!(variant.compress || !is_clear, "{format} {}", variant.name);
    }
}
