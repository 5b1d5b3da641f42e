//! Files that are never edited: what was written once is written and read the same for ever.
//!
//! `compressed` also holds the packing of the zstd version in use. Should another version pack
//! differently, that file must still be read and give its own bytes back.

use std::path::PathBuf;

use crate::support::{VARIANTS, Variant, accept, write};

pub(crate) fn path(variant: Variant) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("test_data/contract");
    folder.join(format!("{}.plan", variant.name))
}

fn golden(variant: Variant) -> Vec<u8> {
    let path = path(variant);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_fixture_is_written_as_ever() {
    for variant in VARIANTS {
        assert!(variant.bytes() == golden(variant), "{}", variant.name);
    }
}

#[test]
fn decoding_and_encoding_gives_the_same_bytes() {
    for variant in VARIANTS {
        let bytes = golden(variant);
        let contract = accept(&bytes).unwrap();
        assert!(write(&contract, variant.compress, variant.sign) == bytes, "{}", variant.name);
    }
}

#[test]
fn the_files_hold_no_resolved_value() {
    for variant in VARIANTS.iter().filter(|variant| !variant.compress) {
        let bytes = golden(*variant);
        assert!(!bytes.windows(6).any(|window| window == b"canary"), "{}", variant.name);
    }
}
