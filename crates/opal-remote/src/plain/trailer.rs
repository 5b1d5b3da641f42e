//! Finding the last line of a command's output, which the shell adds and nobody shall see.

/// Passes output on, up to the mark.
pub(super) struct Trailer {
    mark: Vec<u8>,
    /// What may be the mark, or is it and what follows.
    held: Vec<u8>,
    is_found: bool,
}

impl Trailer {
    /// `mark` begins the line.
    pub(super) fn new(mark: String) -> Self {
        Self { mark: mark.into_bytes(), held: Vec::new(), is_found: false }
    }

    /// What of it is the command's.
    pub(super) fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(bytes);
        if self.is_found {
            return Vec::new();
        }
        let found = self.held.windows(self.mark.len()).position(|it| *it == self.mark);
        self.is_found = found.is_some();
        let at = found.unwrap_or_else(|| {
            let longest = (self.mark.len() - 1).min(self.held.len());
            let begun = |count: &usize| self.held.ends_with(&self.mark[..*count]);
            self.held.len() - (1..=longest).rev().find(begun).unwrap_or(0)
        });
        self.held.drain(..at).collect()
    }

    /// The code that the command ended with; none before its end.
    pub(super) fn code(&self) -> Option<i32> {
        let rest = self.is_found.then(|| &self.held[self.mark.len()..])?;
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        std::str::from_utf8(&rest[..end]).ok()?.trim().parse().ok()
    }

    /// What was held and was not the mark.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        if self.is_found { Vec::new() } else { std::mem::take(&mut self.held) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_found_however_it_is_cut_and_what_only_begins_like_it_is_output() {
        let all = b"one\nMAMAR\nMARK end 7\nlate";
        for size in 1..all.len() {
            let mut trailer = Trailer::new("MARK end ".to_owned());
            let output: Vec<u8> = all.chunks(size).flat_map(|it| trailer.pass(it)).collect();
            assert_eq!(
                (output.as_slice(), trailer.code()),
                (&b"one\nMAMAR\n"[..], Some(7)),
                "{size}"
            );
        }
        let mut trailer = Trailer::new("MARK".to_owned());
        assert_eq!(trailer.pass(b"aMA"), b"a");
        assert_eq!((trailer.rest(), trailer.code()), (b"MA".to_vec(), None));
    }
}
