//! Most output holds no value: where none can begin is passed over.
//!
//! A window as long as the shortest pattern slides over the output. Its last three bytes say how
//! far it may jump (as Wu and Manber do); where they say nothing, the first bytes of the window
//! must be those of a pattern for anyone to look.

/// Where patterns may begin.
pub(super) struct Filter {
    window: usize,
    furthest: usize,
    /// For the last three bytes of a window, hashed: how far the next window may be.
    jumps: Vec<u8>,
    /// What is left of a hash of 32 bits for `jumps`.
    shift: u32,
    /// The beginnings of patterns, hashed, a bit each.
    beginnings: Vec<u64>,
}

/// A longer window would jump further, but few values are so long.
const LONGEST_WINDOW: usize = 16;
const SHORTEST_WINDOW: usize = 4;

impl Filter {
    /// No pattern is shorter than four bytes.
    pub(super) fn new<'p>(patterns: impl Iterator<Item = &'p [u8]> + Clone) -> Self {
        let shortest = patterns.clone().map(<[u8]>::len).min().unwrap_or(SHORTEST_WINDOW);
        let window = shortest.clamp(SHORTEST_WINDOW, LONGEST_WINDOW);
        let count = patterns.clone().count();
        let furthest = window - 2;
        let jumps = (count * furthest * 16).next_power_of_two().clamp(1 << 12, 1 << 20);
        let words = (count / 2).next_power_of_two().clamp(1 << 6, 1 << 16);
        let jump = u8::try_from(furthest).unwrap_or(1);
        let shift = u32::BITS - jumps.ilog2();
        let (jumps, beginnings) = (vec![jump; jumps], vec![0; words]);
        let mut filter = Self { window, furthest, jumps, shift, beginnings };
        for pattern in patterns {
            for (index, last) in pattern[..window].windows(3).enumerate() {
                let slot = filter.slot(u32::from_le_bytes([0, last[0], last[1], last[2]]));
                let jump = u8::try_from(furthest - 1 - index).unwrap_or(0);
                filter.jumps[slot] = filter.jumps[slot].min(jump);
            }
            let (word, bit) = filter.beginning(&pattern[..window]);
            filter.beginnings[word] |= bit;
        }
        filter
    }

    /// The first place from `at` on where a pattern may begin that ends within `bytes`.
    pub(super) fn next(&self, bytes: &[u8], mut at: usize) -> Option<usize> {
        loop {
            let mut jump = self.jump(bytes, at)?;
            // Nearly every jump is the furthest. One that is known beforehand need not wait for the
            // table, so that the processor reads several windows at once.
            while jump == self.furthest {
                at += self.furthest;
                jump = self.jump(bytes, at)?;
            }
            if jump == 0 {
                let (word, bit) = self.beginning(&bytes[at..at + self.window]);
                if self.beginnings[word] & bit != 0 {
                    return Some(at);
                }
                at += 1;
            } else {
                at += jump;
            }
        }
    }

    /// How far the window after the one at `at` may be; nothing if this one is not whole.
    fn jump(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let window = bytes.get(at..at + self.window)?;
        let last = window.last_chunk().map_or(0, |last| u32::from_le_bytes(*last));
        Some(usize::from(self.jumps[self.slot(last & 0xffff_ff00)]))
    }

    fn slot(&self, last: u32) -> usize {
        (last.wrapping_mul(0x9e37_79b1) >> self.shift) as usize & (self.jumps.len() - 1)
    }

    fn beginning(&self, window: &[u8]) -> (usize, u64) {
        let first = window.first_chunk().map_or_else(
            || window.first_chunk().map_or(0, |four| u64::from(u32::from_le_bytes(*four))),
            |eight| u64::from_le_bytes(*eight),
        );
        let hash = (first ^ (first >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        ((hash >> 6) as usize & (self.beginnings.len() - 1), 1 << (hash & 63))
    }

    pub(super) fn memory(&self) -> usize {
        self.jumps.len() + 8 * self.beginnings.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_pattern_is_passed_over_wherever_it_is() {
        let patterns: [&[u8]; 4] =
            [b"hunter2hunter2", b"aaaaaaaaaa", b"0123456789abcdef012", b"pass"];
        for some in [&patterns[..3], &patterns[..1], &patterns[..]] {
            let filter = Filter::new(some.iter().copied());
            for pattern in some {
                for before in 0..40 {
                    let mut text = vec![b'x'; before];
                    text.extend_from_slice(pattern);
                    text.extend_from_slice(b" and so on");
                    assert!(filter.next(&text, 0).is_some_and(|at| at <= before));
                }
            }
        }
    }
}
