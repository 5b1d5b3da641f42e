//! What a decorator says about the text of its block before anything runs.
//!
//! opal does not read such a text. The decorator knows its language, and can say where a value in it
//! would be code, or would not be replaced at all.

use std::fmt::Debug;
use std::ops::Range;

use crate::code::Code;
use crate::types::Type;

/// The rules of a language. They are pure: text and names in, faults out.
pub trait BlockRules: Debug + Sync {
    /// The parameter whose entries are the names that the text may use.
    fn values(&self) -> &'static str;

    /// What is wrong. Of a value whose type is not known, nothing is said about its type.
    fn faults(&self, text: &str, values: &[(&str, Type)]) -> Vec<BlockFault>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockFault {
    pub code: Code,
    pub at: BlockPlace,
    pub message: String,
    pub help: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockPlace {
    /// Bytes of the text.
    Text(Range<usize>),
    /// The value of this index.
    Value(usize),
}
