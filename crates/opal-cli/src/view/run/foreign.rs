//! What a step on a target prints, where a terminal shows it: only text and colours.

use opal_core::stream::Stream;

use super::plain::{Part, Plain, is_reset};

/// Both streams of a step on a target.
#[derive(Debug, Default)]
pub(super) struct Foreign {
    streams: [Plain; 2],
    /// By stream: a colour holds at the end of what was shown.
    is_coloured: [bool; 2],
    /// The step has the terminal to itself: what it may draw, the session on its target has decided.
    pub(super) has_terminal: bool,
}

impl Foreign {
    /// What is shown of it.
    pub(super) fn pass(&mut self, stream: Stream, bytes: &[u8]) -> Vec<u8> {
        if self.has_terminal {
            return bytes.to_vec();
        }
        let index = usize::from(stream == Stream::Stderr);
        let is_coloured = &mut self.is_coloured[index];
        let mut passed = Vec::with_capacity(bytes.len());
        self.streams[index].push(bytes, |part| match part {
            Part::Text(byte) => passed.push(byte),
            Part::Colour(numbers) => {
                *is_coloured = !is_reset(numbers);
                passed.extend([b"\x1b[", numbers, b"m"].concat());
            }
        });
        passed
    }

    /// The streams whose colours have to end with the step.
    pub(super) fn coloured(&self) -> impl Iterator<Item = Stream> {
        let all = [Stream::Stdout, Stream::Stderr].into_iter().zip(self.is_coloured);
        all.filter(|(_, is_coloured)| *is_coloured).map(|(stream, _)| stream)
    }
}
