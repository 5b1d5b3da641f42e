//! Unpacks what `gzip` has packed (RFC 1951 and 1952): only what opal has packed itself, whose length
//! is known. Whoever uses it compares the digest.

/// A code has at most so many bits.
const MAX_BITS: usize = 15;

/// The order in which the lengths of the code for code lengths come.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// The least length and distance of each symbol, and how many bits are added.
const LENGTHS: [(usize, u32); 29] = [
    (3, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (7, 0),
    (8, 0),
    (9, 0),
    (10, 0),
    (11, 1),
    (13, 1),
    (15, 1),
    (17, 1),
    (19, 2),
    (23, 2),
    (27, 2),
    (31, 2),
    (35, 3),
    (43, 3),
    (51, 3),
    (59, 3),
    (67, 4),
    (83, 4),
    (99, 4),
    (115, 4),
    (131, 5),
    (163, 5),
    (195, 5),
    (227, 5),
    (258, 0),
];
const DISTANCES: [(usize, u32); 30] = [
    (1, 0),
    (2, 0),
    (3, 0),
    (4, 0),
    (5, 1),
    (7, 1),
    (9, 2),
    (13, 2),
    (17, 3),
    (25, 3),
    (33, 4),
    (49, 4),
    (65, 5),
    (97, 5),
    (129, 6),
    (193, 6),
    (257, 7),
    (385, 7),
    (513, 8),
    (769, 8),
    (1025, 9),
    (1537, 9),
    (2049, 10),
    (3073, 10),
    (4097, 11),
    (6145, 11),
    (8193, 12),
    (12289, 12),
    (16385, 13),
    (24577, 13),
];

/// The content of a file that `gzip -n` has packed, of exactly `length` bytes.
pub(super) fn gunzip(packed: &[u8], length: usize) -> Option<Vec<u8>> {
    // No name, no comment, no extra field.
    let body = packed.strip_prefix(&[0x1f, 0x8b, 8, 0])?.get(6..)?;
    let mut bits = Bits { bytes: body, at: 0 };
    let mut out = Vec::with_capacity(length);
    loop {
        let is_last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => stored(&mut bits, &mut out)?,
            1 => {
                let (literals, distances) = (Code::new(&fixed())?, Code::new(&[5; 30])?);
                block(&mut bits, &mut out, &literals, &distances, length)?;
            }
            2 => {
                let (literals, distances) = codes(&mut bits)?;
                block(&mut bits, &mut out, &literals, &distances, length)?;
            }
            _ => return None,
        }
        if out.len() > length {
            return None;
        }
        if is_last {
            return (out.len() == length).then_some(out);
        }
    }
}

/// The lengths of the code of a block that brings none.
fn fixed() -> [u8; 288] {
    let mut lengths = [8; 288];
    lengths[144..256].fill(9);
    lengths[256..280].fill(7);
    lengths
}

/// Bits, the lowest of each byte first.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn take(&mut self, count: u32) -> Option<usize> {
        let mut value = 0;
        for bit in 0..count {
            let byte = self.bytes.get(self.at / 8)?;
            value |= usize::from(byte >> (self.at % 8) & 1) << bit;
            self.at += 1;
        }
        Some(value)
    }
}

/// A canonical code: how many symbols each length has, and all symbols by length.
struct Code {
    counts: [usize; MAX_BITS + 1],
    symbols: Vec<usize>,
}

impl Code {
    fn new(lengths: &[u8]) -> Option<Self> {
        let mut counts = [0; MAX_BITS + 1];
        for length in lengths {
            *counts.get_mut(usize::from(*length))? += 1;
        }
        counts[0] = 0;
        let mut symbols: Vec<usize> = (0..lengths.len()).filter(|it| lengths[*it] > 0).collect();
        symbols.sort_by_key(|symbol| (lengths[*symbol], *symbol));
        Some(Self { counts, symbols })
    }

    fn read(&self, bits: &mut Bits<'_>) -> Option<usize> {
        let (mut code, mut first, mut index) = (0, 0, 0);
        for count in &self.counts[1..] {
            code |= bits.take(1)?;
            if code < first + count {
                return self.symbols.get(index + code.checked_sub(first)?).copied();
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        None
    }
}

fn stored(bits: &mut Bits<'_>, out: &mut Vec<u8>) -> Option<()> {
    bits.at = bits.at.next_multiple_of(8);
    let (length, check) = (bits.take(16)?, bits.take(16)?);
    if length != !check & 0xffff {
        return None;
    }
    let start = bits.at / 8;
    out.extend_from_slice(bits.bytes.get(start..start + length)?);
    bits.at += 8 * length;
    Some(())
}

/// The two codes of a block that brings its own.
fn codes(bits: &mut Bits<'_>) -> Option<(Code, Code)> {
    let (literals, distances) = (bits.take(5)? + 257, bits.take(5)? + 1);
    let count = bits.take(4)? + 4;
    let mut lengths = [0; 19];
    for place in ORDER.into_iter().take(count) {
        lengths[place] = u8::try_from(bits.take(3)?).ok()?;
    }
    let code = Code::new(&lengths)?;
    let mut all: Vec<u8> = Vec::with_capacity(literals + distances);
    while all.len() < literals + distances {
        let (value, times) = match code.read(bits)? {
            16 => (*all.last()?, 3 + bits.take(2)?),
            17 => (0, 3 + bits.take(3)?),
            18 => (0, 11 + bits.take(7)?),
            length => (u8::try_from(length).ok()?, 1),
        };
        all.extend(std::iter::repeat_n(value, times));
    }
    let (literals, distances) = all.split_at_checked(literals)?;
    Some((Code::new(literals)?, Code::new(distances)?))
}

fn block(
    bits: &mut Bits<'_>,
    out: &mut Vec<u8>,
    literals: &Code,
    distances: &Code,
    most: usize,
) -> Option<()> {
    loop {
        match literals.read(bits)? {
            literal @ 0..256 => out.push(u8::try_from(literal).ok()?),
            256 => return Some(()),
            symbol => {
                let (least, more) = *LENGTHS.get(symbol - 257)?;
                let length = least + bits.take(more)?;
                let (least, more) = *DISTANCES.get(distances.read(bits)?)?;
                let start = out.len().checked_sub(least + bits.take(more)?)?;
                // What is copied may reach into what is being written.
                for at in start..start + length {
                    out.push(*out.get(at)?);
                }
            }
        }
        if out.len() > most {
            return None;
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the real program packs")]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use super::*;

    fn gzip(bytes: &[u8], level: &str) -> Vec<u8> {
        let mut child = Command::new("gzip")
            .args(["-n", "-c", level])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let bytes = bytes.to_vec();
        let writer = std::thread::spawn(move || stdin.write_all(&bytes));
        let packed = child.wait_with_output().unwrap().stdout;
        writer.join().unwrap().unwrap();
        packed
    }

    /// Without a pattern, and the same each time.
    fn noise(count: usize) -> Vec<u8> {
        let mut state = 88_172_645_463_325_252_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn what_the_real_gzip_has_packed_is_unpacked() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let contents = [
            Vec::new(),
            b"a".to_vec(),
            b"abcabcabcabcabcabcabcabc".to_vec(),
            vec![0; 100_000],
            noise(200_000),
            program[..program.len().min(2_000_000)].to_vec(),
        ];
        for content in contents {
            for level in ["-1", "-9"] {
                let packed = gzip(&content, level);
                assert_eq!(gunzip(&packed, content.len()).as_deref(), Some(&*content));
                assert_eq!(gunzip(&packed, content.len() + 1), None);
            }
        }
    }

    #[test]
    fn what_is_broken_is_nothing_and_never_a_panic() {
        let content = b"some text, some text, some more text".repeat(30);
        let packed = gzip(&content, "-9");
        for cut in 0..packed.len() - 8 {
            assert_eq!(gunzip(&packed[..cut], content.len()), None, "{cut}");
        }
        for at in 0..packed.len() {
            for bit in 0..8 {
                let mut broken = packed.clone();
                broken[at] ^= 1 << bit;
                let _ = gunzip(&broken, content.len());
            }
        }
    }
}
