//! Files put together by hand, for what no writer of ours would write.

use hmac::{KeyInit as _, Mac as _};
use opal_core::hash::Algorithm;

use crate::contract::support::{AUTH_KEY, ENVELOPE};

/// The parts of a file. Counts, lengths, hashes and the authentication record are put right, unless
/// said otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Raw {
    pub(crate) major: u16,
    pub(crate) minor: u16,
    pub(crate) flags: u16,
    pub(crate) mode: u8,
    pub(crate) hash: u8,
    pub(crate) step_count: Option<u32>,
    pub(crate) value_count: Option<u32>,
    pub(crate) provenance_bytes: Option<u32>,
    pub(crate) created: i64,
    pub(crate) target: Vec<u8>,
    pub(crate) steps: Vec<Vec<u8>>,
    pub(crate) values: Vec<(Vec<u8>, u8)>,
    pub(crate) provenance: Vec<u8>,
    /// Packed frames of STEPS and VALUES with the lengths they claim.
    pub(crate) packed: Option<[(Vec<u8>, u32); 2]>,
    /// Before the authentication record.
    pub(crate) records: Vec<(u8, Vec<u8>)>,
    pub(crate) trailing: Vec<u8>,
}

pub(crate) const STEP: &str = r#"{"decorator":"@shell","path":"deploy.shell[0]"}"#;
pub(crate) const PROVENANCE: &str = r#"{"compiler":"0.1.0","placeholder_key_id":"00"}"#;

impl Default for Raw {
    fn default() -> Self {
        Self {
            major: 1,
            minor: 1,
            flags: 0b100,
            mode: 1,
            hash: 0,
            step_count: None,
            value_count: None,
            provenance_bytes: None,
            created: 1_800_000_000,
            target: b"deploy".to_vec(),
            steps: vec![STEP.into()],
            values: Vec::new(),
            provenance: PROVENANCE.into(),
            packed: None,
            records: Vec::new(),
            trailing: Vec::new(),
        }
    }
}

fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(8), 0);
}

fn block(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend(u32::try_from(bytes.len()).unwrap().to_le_bytes());
    out.extend(bytes);
    pad(out);
}

fn record(out: &mut Vec<u8>, algorithm: u8, bytes: &[u8]) {
    out.push(algorithm);
    out.extend(u16::try_from(bytes.len()).unwrap().to_le_bytes());
    out.extend(bytes);
    pad(out);
}

impl Raw {
    pub(crate) fn with_step(json: &str) -> Self {
        Self { steps: vec![json.into()], ..Self::default() }
    }

    pub(crate) fn steps_section(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.steps.iter().for_each(|step| block(&mut out, step));
        out
    }

    pub(crate) fn values_section(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (key, hash) in &self.values {
            out.extend(u16::try_from(key.len()).unwrap().to_le_bytes());
            out.extend(key);
            out.extend(5u32.to_le_bytes());
            out.push(*hash);
            out.extend([0xee; 32]);
            pad(&mut out);
        }
        out
    }

    pub(crate) fn compressed(mut self) -> Self {
        let pack = |raw: Vec<u8>| {
            let length = u32::try_from(raw.len()).unwrap();
            (zstd::bulk::compress(&raw, 3).unwrap(), length)
        };
        self.packed = Some([pack(self.steps_section()), pack(self.values_section())]);
        self.flags |= 1;
        self
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut target = u16::try_from(self.target.len()).unwrap().to_le_bytes().to_vec();
        target.extend(&self.target);
        pad(&mut target);
        let steps = self.steps_section();
        let algorithm = if self.hash == 1 { Algorithm::Blake3 } else { Algorithm::Sha256 };
        let plan_hash = algorithm.digest(&[b"opal plan v1\n", &target, &steps]);

        let mut out = b"OPAL".to_vec();
        for number in [self.major, self.minor, self.flags] {
            out.extend(number.to_le_bytes());
        }
        out.extend([self.mode, self.hash]);
        let count = |given: Option<u32>, real: usize| given.unwrap_or(real as u32).to_le_bytes();
        out.extend(count(self.step_count, self.steps.len()));
        out.extend(count(self.value_count, self.values.len()));
        out.extend(count(self.provenance_bytes, self.provenance.len()));
        out.extend(self.created.to_le_bytes());
        out.extend([0x50; 32]);
        out.extend(plan_hash.0);
        out.extend(target);
        block(&mut out, ENVELOPE);
        match &self.packed {
            Some(packed) => {
                for (frame, raw_length) in packed {
                    out.extend(u32::try_from(frame.len()).unwrap().to_le_bytes());
                    out.extend(raw_length.to_le_bytes());
                    out.extend(frame);
                    pad(&mut out);
                }
            }
            None => {
                out.extend(steps);
                out.extend(self.values_section());
            }
        }
        block(&mut out, &self.provenance);
        for (algorithm, bytes) in &self.records {
            record(&mut out, *algorithm, bytes);
        }
        let mut mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(&AUTH_KEY).unwrap();
        mac.update(&out);
        record(&mut out, 1, &mac.finalize().into_bytes());
        out.extend(&self.trailing);
        out
    }
}
