//! Which parts of a whole text are hidden.

use std::ops::Range;
use std::sync::Arc;

use super::Vault;
use super::patterns::{HIDDEN, Patterns};
use super::scrubber::Scrubber;

/// A part of a text that is hidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    pub range: Range<usize>,
    /// What takes its place.
    pub label: Arc<str>,
}

/// A stretch of what the first stage shows, and what it is made from.
struct Segment {
    shown: Range<usize>,
    text: Range<usize>,
    label: Option<Arc<str>>,
}

impl Vault {
    /// The parts of a whole text that [`Vault::scrub`] replaces, in order.
    #[must_use]
    pub fn hidden_in(&self, text: &str) -> Vec<Hidden> {
        let segments = segments(text, Scrubber::new(self).hidden_values(text.as_bytes()));
        let guessed = match self.shared.has_patterns {
            true => Patterns::hidden_in(&shown(text, &segments)),
            false => Vec::new(),
        };
        let label: Arc<str> = HIDDEN.into();
        let mut parts: Vec<Hidden> = Vec::new();
        for range in guessed.iter().map(|range| origin(&segments, range)) {
            match parts.last_mut().filter(|last| range.start < last.range.end) {
                Some(last) => last.range.end = last.range.end.max(range.end),
                None => parts.push(Hidden { range, label: Arc::clone(&label) }),
            }
        }
        let guesses = parts.len();
        for Segment { text, label, .. } in segments {
            let Some(label) = label else { continue };
            let at = parts[..guesses].partition_point(|part| part.range.end <= text.start);
            if parts[..guesses].get(at).is_none_or(|part| text.start < part.range.start) {
                self.note(&label);
                parts.push(Hidden { range: text, label });
            }
        }
        parts.sort_by_key(|part| part.range.start);
        for part in &mut parts {
            // A form of a value may be found in the middle of a character.
            part.range =
                text.floor_char_boundary(part.range.start)..text.ceil_char_boundary(part.range.end);
        }
        parts
    }
}

fn segments(text: &str, hidden: Vec<Hidden>) -> Vec<Segment> {
    let mut segments = Vec::with_capacity(2 * hidden.len() + 1);
    let (mut shown, mut at) = (0, 0);
    let mut push = |text: Range<usize>, label: Option<Arc<str>>| {
        let length = label.as_ref().map_or(text.len(), |label| label.len());
        if !text.is_empty() {
            segments.push(Segment { shown: shown..shown + length, text, label });
            shown += length;
        }
    };
    for Hidden { range, label } in hidden {
        push(at..range.start, None);
        at = range.end;
        push(range, Some(label));
    }
    push(at..text.len(), None);
    segments
}

fn shown(text: &str, segments: &[Segment]) -> Vec<u8> {
    let bytes = |segment: &Segment| match &segment.label {
        Some(label) => label.as_bytes().to_vec(),
        None => text.as_bytes()[segment.text.clone()].to_vec(),
    };
    segments.iter().flat_map(bytes).collect()
}

/// What a range of what was shown is made from; of a value always all of it.
fn origin(segments: &[Segment], range: &Range<usize>) -> Range<usize> {
    let segment = |at: usize| &segments[segments.partition_point(|it| it.shown.end <= at)];
    let place = |at: usize| {
        let Segment { shown, text, label } = segment(at);
        match label {
            Some(_) => text.clone(),
            None => text.start + (at - shown.start)..text.start + (at - shown.start) + 1,
        }
    };
    place(range.start).start..place(range.end - 1).end
}

#[cfg(test)]
mod tests {
    use opal_core::Data;

    use super::*;

    #[test]
    fn the_parts_are_those_that_a_scrubber_replaces() {
        let vault = Vault::with_patterns();
        vault.register(&Data::text("canary-0001"), "opal:one");
        vault.register(&Data::text("canärß-0002"), "opal:two");
        let long = format!("password={}", "x".repeat(200 << 10));
        for text in [
            "",
            "plain",
            "canary-0001",
            "a canary-0001 b canärß-0002 c",
            "canary-0001canärß-0002",
            "password=canary-0001",
            "token: canary-0001canärß-0002 and more",
            "postgres://app:Hunter2Canary@db/x canary-0001",
            "\u{1b}[1mcanary-\u{1b}[0m0001 password=\u{1b}[31mhunter2222\u{1b}[0m",
            "-----BEGIN PRIVATE KEY-----\nMIIcanary-0001\nabc\n-----END PRIVATE KEY-----\nrest",
            "{\n  \"password\": \"canary-0001\",\n  \"name\": \"DB_PASSWORD\",\n  \"value\": \"x1y2z3w4\"\n}",
            &long,
            &format!("{} canary-0001", "line\n".repeat(30_000)),
        ] {
            let (mut made, mut at) = (String::new(), 0);
            for Hidden { range, label } in vault.hidden_in(text) {
                assert!(at <= range.start && range.start < range.end, "{text:?}");
                made += &text[at..range.start];
                made += &label;
                at = range.end;
            }
            made += &text[at..];
            assert_eq!(made, vault.scrub(text).text(), "{text:?}");
        }
    }
}
