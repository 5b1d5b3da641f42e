//! The words of a command without their quotes, matched with the table.

use opal_core::script::{Mark, Reading, Spare, Word, dequote, read};

use super::kept::Kept;
use crate::lexer::Lexer;

impl<'s> Lexer<'s> {
    /// Matches the words of a command with the table.
    pub(super) fn matched(&mut self, kept: &[Kept], reading: &mut Reading) {
        let mut words = std::mem::take(&mut self.judged.dequoted);
        let mut spare = std::mem::take(&mut self.judged.spare);
        words.extend(kept.iter().map(|word| self.dequoted(word, &mut spare)));
        read(&words, reading);
        // Such a mark is only about what `<( … )` prints.
        reading.marks.retain(|(index, mark)| match mark {
            Mark::Process(_) => words[*index].has_process,
            _ => true,
        });
        spare.clear(&mut words);
        (self.judged.dequoted, self.judged.spare) = (words, spare);
    }

    fn dequoted(&self, word: &Kept, spare: &mut Spare) -> Word<'s> {
        let src: &'s [u8] = self.src;
        let raw = &src[word.start as usize..word.end as usize];
        let has_references = word.references.1 > word.references.0;
        let first = self.judged.spots.get(word.references.0 as usize).filter(|_| has_references);
        let range = first.map(|spot| {
            (spot.at - word.start) as usize..(spot.end.min(word.end) - word.start) as usize
        });
        dequote(raw, range, word.kind, spare)
    }
}
