//! The part of two texts in which they differ.

/// Two texts without the lines at both ends that are the same, but for a few around what differs.
pub(super) struct Window<'t> {
    pub(super) old: &'t str,
    pub(super) new: &'t str,
    /// Lines in front of the window, the same in both.
    pub(super) skipped: usize,
    /// Bytes of the lines that are the same in both, at the window's beginning and at its end.
    before: usize,
    after: usize,
}

impl<'t> Window<'t> {
    pub(super) fn new(old: &'t str, new: &'t str, context: usize) -> Self {
        let same = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
        let front = line_start(old, same);
        let begin = (0..context).fold(front, |at, _| line_start(old, at.saturating_sub(1)));

        let (old_rest, new_rest) = (&old[front..], &new[front..]);
        let ends = old_rest.bytes().rev().zip(new_rest.bytes().rev());
        let same = ends.take_while(|(a, b)| a == b).count();
        let tail = &old.as_bytes()[old.len() - same..];
        // The first of these bytes may lie within a line, so whole lines begin after a line end.
        let back = memchr::memchr(b'\n', tail).map_or(0, |at| tail.len() - at - 1);
        let kept = &tail[tail.len() - back..];
        let after: usize =
            kept.split_inclusive(|byte| *byte == b'\n').take(context).map(<[u8]>::len).sum();
        let cut = back - after;

        Self {
            old: &old[begin..old.len() - cut],
            new: &new[begin..new.len() - cut],
            skipped: memchr::memchr_iter(b'\n', &old.as_bytes()[..begin]).count(),
            before: front - begin,
            after,
        }
    }

    /// On both sides together.
    pub(super) fn lines(&self) -> usize {
        [self.old, self.new]
            .map(|side| memchr::memchr_iter(b'\n', side.as_bytes()).count())
            .iter()
            .sum()
    }

    /// What is the same before, what is old, what is new, and what is the same after.
    pub(super) fn parts(&self) -> (&'t str, &'t str, &'t str, &'t str) {
        let (old, new) = (self.old, self.new);
        let after = old.len() - self.after;
        (
            &old[..self.before],
            &old[self.before..after],
            &new[self.before..new.len() - self.after],
            &old[after..],
        )
    }
}

/// Where the line begins that `at` is in.
fn line_start(text: &str, at: usize) -> usize {
    memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |end| end + 1)
}
