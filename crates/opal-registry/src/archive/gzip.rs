//! One gzip member (RFC 1952), without a name and a time.

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress as inflate, inflate_flags};

use super::ArchiveError;

/// Deflate, no flags, no time, an unknown system.
const HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
const TAIL: usize = 8;
const LEVEL: u8 = 9;

/// Deflate cannot make more bytes out of one.
const MAX_RATIO: u64 = 1032;

pub(super) fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut out = HEAD.to_vec();
    out.extend(compress_to_vec(bytes, LEVEL));
    out.extend(crc32(bytes).to_le_bytes());
    // The length modulo 2³², as the format wants it.
    out.extend((bytes.len() as u32).to_le_bytes());
    out
}

pub(super) fn decompress(bytes: &[u8], most: u64) -> Result<Vec<u8>, ArchiveError> {
    let wrong = |why| Err(ArchiveError::Gzip(why));
    if bytes.len() < HEAD.len() + TAIL || !bytes.starts_with(&HEAD[..3]) {
        return wrong("it has another format");
    }
    // The time, the compression level and the system say nothing.
    if bytes[3] != 0 {
        return wrong("it has a name, a comment or extra fields");
    }
    let (body, tail) = bytes[HEAD.len()..].split_at(bytes.len() - HEAD.len() - TAIL);
    let number =
        |at: usize| u32::from_le_bytes([tail[at], tail[at + 1], tail[at + 2], tail[at + 3]]);
    let size = u64::from(number(4));
    if size > most {
        return Err(ArchiveError::TooLarge);
    }
    // No memory for a size that the bytes cannot have.
    if size > body.len() as u64 * MAX_RATIO {
        return wrong("its length is wrong");
    }
    let mut out = vec![0; size as usize];
    let flags = inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    let mut state = DecompressorOxide::new();
    let (status, read, written) = inflate(&mut state, body, &mut out, 0, flags);
    match status {
        TINFLStatus::Done if read == body.len() && written == out.len() => {}
        TINFLStatus::Done => return wrong("its length is wrong"),
        TINFLStatus::HasMoreOutput => return wrong("it is longer than it says"),
        _ => return wrong("its data is damaged or cut off"),
    }
    match crc32(&out) == number(0) {
        true => Ok(out),
        false => wrong("its checksum is wrong"),
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut index = 0;
        while index < 256 {
            let mut value = index as u32;
            let mut bit = 0;
            while bit < 8 {
                value = if value & 1 == 0 { value >> 1 } else { (value >> 1) ^ 0xedb8_8320 };
                bit += 1;
            }
            table[index] = value;
            index += 1;
        }
        table
    };
    !bytes.iter().fold(!0, |crc: u32, byte| TABLE[usize::from(crc as u8 ^ byte)] ^ (crc >> 8))
}
