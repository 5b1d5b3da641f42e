//! A contract: a resolved plan as bytes that can be reviewed, stored, sealed and signed, and held
//! against a fresh plan later. `docs/plan-format.md` specifies every byte.
//!
//! | what | where |
//! |---|---|
//! | the one spelling of JSON | `json` |
//! | steps and provenance in that spelling, frozen | `wire_v1` |
//! | the file: writing it, following its lengths, decoding it | `file`, [`Frame`], `decode` |
//! | what people say about one | [`approval`] |
//! | how much it may hold | `limits` |
//! | whether a fresh plan is the same plan | [`compare()`], [`diff`] |
//! | what a plugin's decorator promises, as a hash | [`schema_hash`] |
//!
//! Deliberately not here: keys, sealing, the checking of signatures, files, the clock. A contract
//! is never executed; it is only compared.

pub mod approval;
mod compare;
mod decode;
mod error;
mod file;
mod frame;
mod json;
mod limits;
mod provenance;
mod schema;
mod weight;
mod wire_v1;

use std::fmt;

pub use compare::{
    Cause, Change, Difference, Drift, Earlier, Side, Verdict, compare, compare_limited,
    compare_quick, diff,
};
pub use error::{FormatError, FormatErrorKind, Section};
pub use file::{Encoding, Sign, encode};
pub use frame::{Frame, Header};
pub use limits::MAX_BYTES;
pub use provenance::{PluginRecord, Provenance, Seed, Seen, Source, SourceFile, TargetRecord};
pub use schema::schema_hash;

use limits::{MAX_SEALED_MEMORY, MAX_TIME, QUICK, WORTH_PACKING_BYTES};

use crate::hash::{Algorithm, Digest};
use crate::plan::{MAX_STEPS, Mode, Plan};

/// A resolved plan that is frozen: what it was made of cannot be changed any more, so its bytes
/// and its plan always agree.
#[derive(Clone, PartialEq)]
pub struct Contract {
    plan: Plan,
    created: i64,
    plan_hash: Digest,
    provenance: Provenance,
    wire: Wire,
}

/// The sections as they are in the file, with what a newer minor version put there.
#[derive(Clone, PartialEq)]
struct Wire {
    minor: u16,
    /// Only bits 8 to 15.
    flags: u16,
    steps: Vec<u8>,
    values: Vec<u8>,
    provenance: Vec<u8>,
    /// STEPS and VALUES as they were packed in the file that was read.
    packed: Option<[Vec<u8>; 2]>,
    /// Signature records of algorithms that are not known here, with their padding.
    records: Vec<u8>,
}

/// The canonical form of the steps of a block, whatever function it is in.
#[must_use]
pub fn block_form(plan: &Plan, steps: &[crate::plan::Step]) -> Vec<u8> {
    wire_v1::block(plan, steps)
}

impl Contract {
    /// Freezes a resolved plan. `created` is a Unix time.
    pub fn new(plan: Plan, created: i64, provenance: Provenance) -> Result<Self, FormatError> {
        let unwritable = |section, reason: &str| Err(FormatError::unwritable(section, reason));
        if plan.mode != Mode::Resolved {
            return unwritable(Section::Header, QUICK);
        }
        if !(0..=MAX_TIME).contains(&created) {
            return unwritable(Section::Header, "the time is not between 1970 and 9999");
        }
        if u16::try_from(plan.target.name.len()).is_err() {
            return unwritable(Section::Target, "the target's name is longer than 65,535 bytes");
        }
        let steps = wire_v1::steps(&plan);
        let values = file::values(&plan)?;
        let (json, weight) = provenance::write(&plan, &provenance)?;
        if let Some(problem) = steps.problem {
            return Err(FormatError::unwritable(Section::Steps, problem));
        }
        let bytes = steps.bytes.len() + values.len() + json.len();
        let weight = steps.weight + file::VALUE_WEIGHT * plan.values.len() + weight;
        if steps.count > MAX_STEPS || bytes > MAX_BYTES || bytes + weight > MAX_SEALED_MEMORY {
            return Err(FormatError::too_large());
        }
        let plan_hash = hash(plan.algorithm, &file::target(&plan.target.name), &steps.bytes);
        let wire = Wire {
            minor: file::MINOR,
            flags: 0,
            steps: steps.bytes,
            values,
            provenance: json,
            packed: None,
            records: Vec::new(),
        };
        Ok(Self { plan, created, plan_hash, provenance, wire })
    }

    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Whether an older version wrote it, without the defaults of arguments.
    #[must_use]
    pub fn is_older(&self) -> bool {
        self.wire.minor < file::MINOR
    }

    /// Whether it has something that this version does not know, and so cannot show.
    #[must_use]
    pub fn has_unknown_parts(&self) -> bool {
        self.wire.minor > file::MINOR || self.wire.flags != 0 || !self.wire.records.is_empty()
    }

    /// When it was made, as a Unix time.
    #[must_use]
    pub fn created(&self) -> i64 {
        self.created
    }

    #[must_use]
    pub fn plan_hash(&self) -> Digest {
        self.plan_hash
    }

    #[must_use]
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// Whether its file becomes smaller with [`Encoding::compress`]: canonical JSON shrinks to a
    /// tenth, but the frames have a price too.
    #[must_use]
    pub fn is_worth_packing(&self) -> bool {
        self.wire.steps.len() + self.wire.values.len() >= WORTH_PACKING_BYTES
    }
}

impl fmt::Debug for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contract")
            .field("plan_hash", &self.plan_hash)
            .field("created", &self.created)
            .field("provenance", &self.provenance)
            .field("plan", &self.plan)
            .finish_non_exhaustive()
    }
}

/// The digest of the structure of a plan: of the text `opal plan v1` and a line feed, the bytes of
/// the section TARGET, and those of STEPS, unpacked.
///
/// Not in it: what values are, who holds them, notes, places, spans and times. A quick plan has one
/// too, for its views; what it left open is written as the value that it will be, so that a quick
/// plan that decided everything has the hash of the contract that comes of it.
#[must_use]
pub fn plan_hash(plan: &Plan) -> Digest {
    hash(plan.algorithm, &file::target(&plan.target.name), &wire_v1::steps(plan).bytes)
}

fn hash(algorithm: Algorithm, target: &[u8], steps: &[u8]) -> Digest {
    algorithm.digest(&[b"opal plan v1\n", target, steps])
}
