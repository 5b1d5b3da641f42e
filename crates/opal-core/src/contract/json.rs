//! The one spelling of JSON that contracts are written in.
//!
//! - No whitespace. The members of an object are sorted by the bytes of their names, each once.
//! - A number is a whole one from -2⁶³ to 2⁶³-1, without a leading zero, a plus sign or `-0`.
//! - In a string, `"` and `\` follow a `\`; the characters below U+0020 are `\b`, `\t`, `\n`, `\f`,
//!   `\r`, and `\u00` with two lower-case digits for the others; everything else is itself, in
//!   UTF-8.
//!
//! So two texts mean the same only where their bytes are the same. The writer is here, the reader,
//! which refuses every other spelling, in [`read`].

pub(super) mod read;

/// Writes canonical JSON. Whoever uses it gives the members of an object in their order.
#[derive(Debug, Default)]
pub(super) struct Writer {
    pub(super) out: Vec<u8>,
}

const HEX: &[u8; 16] = b"0123456789abcdef";

impl Writer {
    pub(super) fn open(&mut self, bracket: u8) {
        self.out.push(bracket);
    }

    pub(super) fn close(&mut self, bracket: u8) {
        self.out.push(bracket);
    }

    /// Goes before each item of an array.
    pub(super) fn item(&mut self) {
        if !matches!(self.out.last(), Some(b'[' | b'{')) {
            self.out.push(b',');
        }
    }

    /// Goes before each value of an object.
    pub(super) fn key(&mut self, name: &str) {
        self.item();
        self.string(name);
        self.out.push(b':');
    }

    /// A member whose name needs no escapes.
    pub(super) fn plain_key(&mut self, name: &'static str) {
        self.item();
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    pub(super) fn null(&mut self) {
        self.out.extend_from_slice(b"null");
    }

    pub(super) fn bool(&mut self, value: bool) {
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
    }

    pub(super) fn int(&mut self, value: i64) {
        use std::io::Write as _;
        write!(self.out, "{value}").expect("memory takes every byte");
    }

    pub(super) fn string(&mut self, text: &str) {
        self.out.push(b'"');
        let mut rest = text.as_bytes();
        loop {
            let (plain, special) = rest.split_at(plain_length(rest));
            self.out.extend_from_slice(plain);
            let Some((byte, following)) = special.split_first() else { break };
            self.escape(*byte);
            rest = following;
        }
        self.out.push(b'"');
    }

    fn escape(&mut self, byte: u8) {
        let short = match byte {
            b'"' | b'\\' => byte,
            0x08 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            0x0c => b'f',
            b'\r' => b'r',
            _ => {
                self.out.extend_from_slice(b"\\u00");
                let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
                self.out.extend_from_slice(&digits);
                return;
            }
        };
        self.out.extend_from_slice(&[b'\\', short]);
    }
}

/// How many of the first bytes stand for themselves in a string. Most strings are all of them, so
/// this checks eight at a time: a byte's high bit in `found` says that it may be special, and the
/// lowest such byte is.
fn plain_length(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGHS: u64 = ONES << 7;
    let (chunks, rest) = bytes.as_chunks::<8>();
    for (index, chunk) in chunks.iter().enumerate() {
        let word = u64::from_le_bytes(*chunk);
        let below = |limit: u64, word: u64| word.wrapping_sub(ONES * limit) & !word & HIGHS;
        let equal = |byte: u8| below(1, word ^ (ONES * u64::from(byte)));
        let found = below(0x20, word) | equal(b'"') | equal(b'\\');
        if found != 0 {
            return index * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let special = |byte: &u8| *byte < 0x20 || matches!(byte, b'"' | b'\\');
    bytes.len() - rest.len() + rest.iter().position(special).unwrap_or(rest.len())
}
