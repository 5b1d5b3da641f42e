//! What all records of the section are written with.

use crate::contract::json::Writer;
use crate::contract::weight;

/// What a read or a record needs in memory.
pub(super) const RECORD_WEIGHT: usize = 256;

pub(super) fn write_optional(json: &mut Writer, name: &'static str, text: Option<&str>) {
    if let Some(text) = text {
        json.plain_key(name);
        json.string(text);
    }
}

pub(super) fn write_set<'t>(json: &mut Writer, texts: impl Iterator<Item = &'t str>) -> usize {
    json.open(b'[');
    let mut heavy = weight::MAP;
    for text in texts {
        json.item();
        json.string(text);
        heavy += weight::ITEM;
    }
    json.close(b']');
    heavy
}
