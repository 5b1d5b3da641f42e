//! From the outline of a file to the contract in it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use zstd::zstd_safe;

use super::error::{FormatError, Section};
use super::file::{LATER, VALUE_WEIGHT};
use super::frame::{Cursor, Frame, Packable};
use super::json::read::{Fault, Reader};
use super::limits::{MAX_MEMORY, MAX_SEALED_MEMORY, TOO_LARGE};
use super::provenance::Provenance;
use super::wire_v1::read::StepReader;
use super::{Contract, Wire, hash, provenance};
use crate::placeholder::Placeholder;
use crate::plan::{Key, Plan, PlanValue, Step};

/// The bytes of STEPS or VALUES, and how a place in them is named.
struct Raw<'a> {
    bytes: Cow<'a, [u8]>,
    section: Section,
    /// Where it is in the file; none where it was packed.
    start: Option<usize>,
}

impl Raw<'_> {
    /// Gives a place in this section its place in the file.
    fn placed(&self, mut error: FormatError) -> FormatError {
        match self.start {
            Some(start) => error.offset = error.offset.map(|offset| offset + start),
            None => error.unpacked = true,
        }
        error
    }

    fn cursor(&self) -> Cursor<'_> {
        Cursor { bytes: &self.bytes, at: 0, section: self.section }
    }

    fn text(&self, place: Range<usize>) -> Result<&str, FormatError> {
        std::str::from_utf8(&self.bytes[place.clone()]).map_err(|error| {
            FormatError::at(self.section, place.start + error.valid_up_to(), "it is not UTF-8")
        })
    }
}

/// From so many bytes of steps on, their hash is worked out while they are read; what it says
/// still comes first.
const PARALLEL_FROM_BYTES: usize = 256 * 1024;

impl Frame<'_> {
    /// The contract in a file of which nothing is known: one that would need much memory is
    /// refused.
    pub fn decode(&self) -> Result<Contract, FormatError> {
        self.decode_within(MAX_MEMORY)
    }

    /// The contract in a file whose bytes `key` authenticates.
    ///
    /// With the key out of the file's own envelope this knows two things: the file is whole, and it
    /// was sealed to whoever opened the envelope. It does not know who wrote it: the public key of a
    /// runner is enough to write such a file. That is for the signature to say.
    pub fn open(&self, key: &[u8; 32]) -> Result<Contract, FormatError> {
        self.authenticate(key)?;
        self.decode_within(MAX_SEALED_MEMORY)
    }

    fn decode_within(&self, memory: usize) -> Result<Contract, FormatError> {
        let header = &self.header;
        let steps = self.unpack(&self.steps, Section::Steps)?;
        let values = self.unpack(&self.values, Section::Values)?;
        let target = &self.bytes[self.target_section.clone()];
        let whole = || hash(header.algorithm, target, &steps.bytes) == header.plan_hash;
        let read = || self.plan(&steps, &values, memory);
        let (whole, plan) = if steps.bytes.len() < PARALLEL_FROM_BYTES {
            let whole = whole();
            (whole, if whole { Some(read()) } else { None })
        } else {
            std::thread::scope(|scope| {
                let whole = scope.spawn(whole);
                let plan = read();
                (whole.join().unwrap_or(false), Some(plan))
            })
        };
        let Some(plan) = plan.filter(|_| whole) else {
            let reason = "PlanHash does not match TARGET and STEPS";
            return Err(FormatError::at(Section::Header, 64, reason));
        };
        let (plan, provenance) = plan?;
        let packed = header.is_compressed().then(|| {
            [&self.steps, &self.values].map(|section| self.bytes[section.place.clone()].to_vec())
        });
        let wire = Wire {
            minor: header.minor,
            flags: header.flags & LATER,
            steps: steps.bytes.into_owned(),
            values: values.bytes.into_owned(),
            provenance: self.bytes[self.provenance.clone()].to_vec(),
            packed,
            records: self.bytes[self.unknown_records.clone()].to_vec(),
        };
        Ok(Contract {
            plan,
            created: header.created,
            plan_hash: header.plan_hash,
            provenance,
            wire,
        })
    }

    /// The plan in the sections, and what is said about its making.
    fn plan(
        &self,
        steps: &Raw<'_>,
        values: &Raw<'_>,
        memory: usize,
    ) -> Result<(Plan, Provenance), FormatError> {
        let header = &self.header;
        let held = steps.bytes.len() + values.bytes.len() + self.provenance.len();
        let mut budget = memory - held;
        let found = self.read_values(values, &mut budget).map_err(|error| values.placed(error))?;
        let mut reader = StepReader::new(found.keys().cloned());
        let read = self
            .read_steps(steps, &mut reader, &mut budget)
            .map_err(|error| steps.placed(error))?;
        let mut plan = Plan {
            steps: read,
            values: found,
            ..Plan::empty(self.target(), header.algorithm, header.source_hash)
        };
        let schemas = reader.known.into_iter().map(|known| known.schema);
        plan.values.values_mut().zip(schemas).for_each(|(value, schema)| value.schema = schema);
        let provenance = self.read_provenance(&mut plan, budget)?;
        Ok((plan, provenance))
    }

    /// Memory is taken for what the file says, which [`Frame::read`] limited, and the frame must
    /// fill exactly that.
    fn unpack(&self, section: &Packable, name: Section) -> Result<Raw<'_>, FormatError> {
        let bytes = &self.bytes[section.place.clone()];
        let start = section.place.start;
        let Some(raw_length) = section.raw_length else {
            return Ok(Raw { bytes: Cow::Borrowed(bytes), section: name, start: Some(start) });
        };
        let content = zstd_safe::get_frame_content_size(bytes);
        let whole = zstd_safe::find_frame_compressed_size(bytes) == Ok(bytes.len());
        if !matches!(content, Ok(Some(length)) if length == raw_length as u64) || !whole {
            let reason = "expected one zstd frame of the length that precedes it";
            return Err(FormatError::at(name, start, reason));
        }
        match zstd::bulk::decompress(bytes, raw_length) {
            Ok(raw) if raw.len() == raw_length => {
                Ok(Raw { bytes: Cow::Owned(raw), section: name, start: None })
            }
            _ => Err(FormatError::at(name, start, "the zstd frame is damaged")),
        }
    }

    fn read_values(
        &self,
        raw: &Raw<'_>,
        budget: &mut usize,
    ) -> Result<BTreeMap<Key, PlanValue>, FormatError> {
        let mut cursor = raw.cursor();
        let mut values: BTreeMap<Key, PlanValue> = BTreeMap::new();
        for _ in 0..self.header.values {
            let start = cursor.at;
            let (key, rest) = cursor.value()?;
            let key: Key = raw.text(key)?.into();
            *budget = match budget.checked_sub(VALUE_WEIGHT) {
                Some(left) => left,
                None => return cursor.fail_at(start, TOO_LARGE),
            };
            if values.last_key_value().is_some_and(|(last, _)| *last >= key) {
                return cursor.fail_at(start, "the keys are unsorted, or one is duplicated");
            }
            let mut fields = Cursor { at: rest, ..cursor.clone() };
            let (length, algorithm) = (fields.u32()?, fields.algorithm()?);
            if algorithm != self.header.algorithm {
                return fields
                    .fail_at(fields.at - 1, "the hash differs from the one in the header");
            }
            let digest = crate::hash::Digest(fields.array()?);
            let value = PlanValue {
                placeholder: Placeholder { length, algorithm, digest },
                public: None,
                roots: BTreeSet::from([Arc::clone(&key)]),
                holders: BTreeSet::new(),
                schema: None,
            };
            values.insert(key, value);
        }
        if cursor.at != raw.bytes.len() {
            return cursor.fail("there are more values than the header says");
        }
        Ok(values)
    }

    fn read_steps(
        &self,
        raw: &Raw<'_>,
        reader: &mut StepReader,
        budget: &mut usize,
    ) -> Result<Vec<Step>, FormatError> {
        let mut cursor = raw.cursor();
        let mut steps = Vec::new();
        for _ in 0..self.header.steps {
            let place = cursor.block()?;
            let text = raw.text(place.clone())?;
            let mut json = Reader::new(text, self.header.is_newer(), *budget);
            let step = reader
                .step(&mut json)
                .and_then(|step| json.end().map(|()| step))
                .map_err(|fault| located(fault, Section::Steps, place.start))?;
            *budget = json.budget;
            steps.push(step);
        }
        if cursor.at != raw.bytes.len() {
            return cursor.fail("there are more steps than the header says");
        }
        Ok(steps)
    }

    fn read_provenance(&self, plan: &mut Plan, budget: usize) -> Result<Provenance, FormatError> {
        let raw = Raw {
            bytes: Cow::Borrowed(&self.bytes[self.provenance.clone()]),
            section: Section::Provenance,
            start: Some(self.provenance.start),
        };
        let mut read = || {
            let text = raw.text(0..raw.bytes.len())?;
            let mut json = Reader::new(text, self.header.is_newer(), budget);
            let mut made = Provenance::default();
            provenance::read::read(&mut json, plan, &mut made)
                .and_then(|()| json.end())
                .map_err(|fault| located(fault, Section::Provenance, 0))?;
            if made.signer.is_some() != self.header.is_signed() {
                let reason = "a signer is named if and only if the file is signed";
                return Err(FormatError::at(Section::Provenance, 0, reason));
            }
            Ok(made)
        };
        read().map_err(|error| raw.placed(error))
    }
}

fn located(fault: Fault, section: Section, start: usize) -> FormatError {
    FormatError::at(section, start + fault.offset, fault.reason)
}
