//! Any bytes: reading a plan file never panics, and what is read is written again as it was.

#![no_main]

use libfuzzer_sys::fuzz_target;
use opal_core::contract::{Encoding, Frame, Sign, encode, plan_hash};
use opal_core::hash::Algorithm;

const AUTH_KEY: [u8; 32] = [0x5a; 32];
/// The authentication record and its padding.
const CODE_BYTES: usize = 40;
const SIGNATURE_BYTES: usize = 72;

/// Says again what was signed before.
struct Replay([u8; 64]);

impl Sign for Replay {
    fn sign(&self, _: &[u8]) -> [u8; 64] {
        self.0
    }
}

fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    // As a step, and as the provenance, of a file whose hash is right: no mutation would find it.
    check(&file(bytes, PROVENANCE));
    check(&file(STEP, bytes));
});

const STEP: &[u8] = br#"{"decorator":"@shell","path":"p"}"#;
const PROVENANCE: &[u8] = br#"{"compiler":"0.1.0","placeholder_key_id":"00"}"#;
const KEYS: [&[u8]; 2] = [b"env.A", b"env.B"];

fn check(bytes: &[u8]) {
    let Ok(frame) = Frame::read(bytes) else { return };
    let Ok(contract) = frame.decode() else { return };
    let replay = frame.ed25519().map(|(signature, _)| Replay(*signature));
    let encoding = Encoding {
        envelope: frame.envelope(),
        auth_key: &AUTH_KEY,
        compress: frame.header().is_compressed(),
        signer: replay.as_ref().map(|replay| replay as &dyn Sign),
    };
    let again = encode(&contract, &encoding).expect("what was read can be written");
    let signed = if replay.is_some() { SIGNATURE_BYTES } else { 0 };
    let end = bytes.len() - CODE_BYTES - signed;
    assert!(again.len() == bytes.len() && again[..end] == bytes[..end]);
    // Written from the plan, not from the bytes that were kept.
    if frame.header().minor == 0 {
        assert_eq!(plan_hash(contract.plan()), contract.plan_hash());
    }
}

fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(8), 0);
}

fn file(step: &[u8], provenance: &[u8]) -> Vec<u8> {
    let length = |bytes: &[u8]| (bytes.len() as u32).to_le_bytes();
    let target = [4, 0, b't', b'e', b's', b't', 0, 0];
    let mut steps = length(step).to_vec();
    steps.extend(step);
    pad(&mut steps);
    let hash = Algorithm::Sha256.digest(&[b"opal plan v1\n", &target, &steps]);
    let mut out = b"OPAL\x01\0\0\0\x04\0\x01\0\x01\0\0\0\x02\0\0\0".to_vec();
    out.extend(length(provenance));
    out.extend([0; 40]);
    out.extend(hash.0);
    out.extend(target);
    out.extend([0; 8]);
    out.extend(steps);
    for key in KEYS {
        out.extend([key.len() as u8, 0]);
        out.extend(key);
        out.extend([0; 37]);
        pad(&mut out);
    }
    out.extend(length(provenance));
    out.extend(provenance);
    pad(&mut out);
    out.extend([1, 32, 0]);
    out.extend([0; 32]);
    pad(&mut out);
    out
}
