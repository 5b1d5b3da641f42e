//! What several members of PROVENANCE are written with.

use crate::contract::json::Writer;

/// What a read or a record needs in memory.
pub(super) const RECORD_WEIGHT: usize = 256;

pub(super) fn write_optional(json: &mut Writer, name: &'static str, text: Option<&str>) {
    if let Some(text) = text {
        json.plain_key(name);
        json.string(text);
    }
}

/// Writes texts; how many they are.
pub(super) fn write_set<'t>(json: &mut Writer, texts: impl Iterator<Item = &'t str>) -> usize {
    json.open(b'[');
    let mut count = 0;
    for text in texts {
        json.item();
        json.string(text);
        count += 1;
    }
    json.close(b']');
    count
}
