//! The strict reading of the texts of steps. A file repeats many of them, so each is read once.

use std::collections::BTreeMap;

use opal_core::script::{Part, prove};
use opal_syntax::context::Context;

use super::Lower;
use crate::unit::{Piece, ShellText};

/// Texts that were read before.
#[derive(Debug, Default)]
pub struct Proofs {
    /// By the [`hash`] of their keys; of those with the same one, the last.
    pub(super) known: BTreeMap<u64, Known>,
    /// The key of the text at hand: kept for its memory.
    key: Vec<u8>,
}

/// Texts that are kept from one source to the next, at most: those of a file of 60,000 lines, and more.
const MOST: usize = 50_000;

impl Proofs {
    /// Without what would take too much memory: an editor shows new texts all day.
    pub(super) fn limited(mut self) -> Self {
        if self.known.len() > MOST {
            self.known.clear();
        }
        self
    }
}

#[derive(Debug)]
pub(super) struct Known {
    pub(super) key: Vec<u8>,
    /// The places of its references.
    pub(super) places: Vec<Context>,
}

impl Lower<'_> {
    /// Reads the whole text once more, and makes the places of its references as strict as that
    /// reading asks for.
    pub(super) fn prove(&mut self, text: &mut ShellText) {
        if !text.pieces.iter().any(|piece| matches!(piece, Piece::Reference(..))) {
            return;
        }
        let proofs = &mut self.proofs;
        key(text.pieces.iter().map(Piece::part), &mut proofs.key);
        let hash = hash(&proofs.key);
        let known = proofs.known.get(&hash).filter(|known| known.key == proofs.key);
        let fresh;
        let places = match known {
            Some(known) => &known.places,
            None => {
                let parts: Vec<Part<'_>> = text.pieces.iter().map(Piece::part).collect();
                fresh = prove(&parts);
                let known = Known { key: proofs.key.clone(), places: fresh.clone() };
                proofs.known.insert(hash, known);
                &fresh
            }
        };
        let mut places = places.iter();
        for piece in &mut text.pieces {
            if let Piece::Reference(reference, context) = piece
                && reference.path.text != RAW
                && let Some(place) = places.next()
            {
                *context = *place;
            }
        }
    }
}

const RAW: &str = "raw";

/// All that the reading depends on. Each part begins with its kind and its length, so no two lists of
/// parts have the same key.
fn key<'t>(parts: impl Iterator<Item = Part<'t>>, key: &mut Vec<u8>) {
    key.clear();
    for part in parts {
        let place;
        let (kind, bytes) = match &part {
            Part::Text(text) => (0, text.as_bytes()),
            Part::AtWord(text) => (1, text.as_bytes()),
            Part::Value(context) => {
                place = context.bits().to_le_bytes();
                (2, place.as_slice())
            }
            Part::Pasted => (3, [].as_slice()),
        };
        key.push(kind);
        key.extend_from_slice(&bytes.len().to_le_bytes());
        key.extend_from_slice(bytes);
    }
}

/// Where a key is looked for.
fn hash(key: &[u8]) -> u64 {
    let (chunks, rest) = key.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    chunks.iter().chain([&last]).fold(key.len() as u64, |mixed, chunk| {
        let mixed = mixed.rotate_left(5) ^ u64::from_le_bytes(*chunk);
        mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

#[cfg(test)]
mod tests {
    use opal_syntax::context::Place;

    use super::*;
    use crate::words::Words;

    #[test]
    fn a_text_that_a_file_repeats_is_read_once() {
        let text = "var T = \"v1\"\n\
            fun a() {\n    docker push app:@var.T\n    echo hello\n}\n\
            fun b() {\n    docker push app:@var.T\n    docker push old:@var.T\n}\n";
        let parse = opal_syntax::parse(text, &Words(&opal_decorators::registry()));
        let mut lower = Lower::new(&parse, text);
        lower.has_bodies = true;
        lower.files();
        assert_eq!(lower.proofs.known.len(), 2);
    }

    #[test]
    fn after_an_edit_only_the_texts_that_it_changed_are_read() {
        let source = |tag: &str| {
            format!("var T = \"v1\"\nfun a() {{\n    echo {tag}:@var.T\n    echo app:@var.T\n}}\n")
        };
        let registry = opal_decorators::registry();
        let mut proofs = Proofs::default();
        for (tag, known) in [("old", 2), ("old", 2), ("new", 3)] {
            let text = source(tag);
            let parse = opal_syntax::parse(&text, &Words(&registry));
            let edited = crate::lower::edited(&parse, &text, &mut proofs);
            assert_eq!(proofs.known.len(), known, "{tag}");
            assert_eq!(format!("{edited:?}"), format!("{:?}", crate::lower::unit(&parse, &text)));
        }
    }

    #[test]
    fn texts_that_are_kept_have_a_limit() {
        let known = |count| Proofs {
            known: (0..count).map(|it| (it, Known { key: vec![], places: vec![] })).collect(),
            key: vec![],
        };
        assert_eq!(known(MOST as u64).limited().known.len(), MOST);
        assert!(known(MOST as u64 + 1).limited().known.is_empty());
    }

    #[test]
    fn only_the_same_parts_have_the_same_key() {
        let value = Part::Value(Context::new(Place::Word));
        let quoted = Part::Value(Context::new(Place::Quoted));
        let lists: [&[Part<'_>]; 8] = [
            &[Part::Text("echo "), value],
            &[Part::Text("echo "), quoted],
            &[Part::Text("echo"), Part::Text(" "), value],
            &[Part::AtWord("echo "), value],
            &[Part::Text("echo "), Part::Pasted],
            &[value, Part::Text("echo ")],
            &[Part::Text("echo "), value, value],
            &[Part::Text("echo \u{2}"), value],
        ];
        let key = |parts: &[Part<'_>]| {
            let mut key = vec![7];
            super::key(parts.iter().copied(), &mut key);
            key
        };
        let keys: std::collections::BTreeSet<Vec<u8>> = lists.iter().map(|it| key(it)).collect();
        assert_eq!(keys.len(), lists.len());
        assert_eq!(key(lists[0]), key(&[Part::Text("echo "), value]));
    }
}
