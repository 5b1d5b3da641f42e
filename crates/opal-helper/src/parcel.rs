//! What crosses: a document, and bytes beside it that may be secret.

use std::fmt;
use std::io::{self, Read, Write};

use opal_core::wiped::Wiped;
use serde_json::Value;

use crate::desk::Sent;

/// The largest part of a parcel: larger than every value and every source.
const MOST_BYTES: u32 = 128 << 20;
const MOST_BLOBS: u32 = 1_000;

/// One message, in either direction.
#[derive(Default)]
pub struct Parcel {
    pub head: Value,
    /// Wiped when the parcel is dropped.
    pub blobs: Vec<Wiped<Vec<u8>>>,
}

/// Both parts may hold values, so only their sizes are shown.
impl fmt::Debug for Parcel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<usize> = self.blobs.iter().map(|blob| blob.len()).collect();
        f.debug_struct("Parcel").field("blobs", &sizes).finish_non_exhaustive()
    }
}

impl Parcel {
    #[must_use]
    pub const fn new(head: Value) -> Self {
        Self { head, blobs: Vec::new() }
    }

    #[must_use]
    pub fn with(mut self, bytes: &[u8]) -> Self {
        self.blobs.push(Wiped::new(bytes.to_vec()));
        self
    }

    /// The text of a part.
    #[must_use]
    pub fn text(&self, index: usize) -> Option<&str> {
        std::str::from_utf8(self.blobs.get(index)?).ok()
    }

    /// The next parcel; none at the end.
    pub(crate) fn read(from: &mut dyn Read) -> io::Result<Option<Self>> {
        let Some(count) = number(from)? else { return Ok(None) };
        if count > MOST_BLOBS {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let head = part(from)?;
        let head = serde_json::from_slice(&head).map_err(io::Error::from)?;
        let blobs = (0..count).map(|_| part(from)).collect::<io::Result<_>>()?;
        Ok(Some(Self { head, blobs }))
    }

    pub(crate) fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        to.write_all(&length(self.blobs.len(), MOST_BLOBS)?)?;
        let head = Wiped::new(self.head.to_string().into_bytes());
        for part in std::iter::once(&head).chain(&self.blobs) {
            to.write_all(&length(part.len(), MOST_BYTES)?)?;
            to.write_all(part)?;
        }
        Ok(())
    }

    /// As it is sent.
    pub(crate) fn to_bytes(&self) -> io::Result<Sent> {
        let blobs: usize = self.blobs.iter().map(|blob| blob.len() + 4).sum();
        let mut bytes = Wiped::new(Vec::with_capacity(blobs + 256));
        self.write(&mut *bytes)?;
        Ok(bytes)
    }
}

fn length(length: usize, most: u32) -> io::Result<[u8; 4]> {
    let length = u32::try_from(length).ok().filter(|length| *length <= most);
    length.map(u32::to_le_bytes).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// A number; none where nothing follows.
fn number(from: &mut dyn Read) -> io::Result<Option<u32>> {
    let mut bytes = [0; 4];
    loop {
        match from.read(&mut bytes[..1]) {
            Ok(0) => return Ok(None),
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    from.read_exact(&mut bytes[1..])?;
    Ok(Some(u32::from_le_bytes(bytes)))
}

fn part(from: &mut dyn Read) -> io::Result<Wiped<Vec<u8>>> {
    let length = number(from)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    if length > MOST_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = Wiped::new(vec![0; length as usize]);
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_parcel_arrives_as_it_was_sent() {
        let sent = Parcel::new(json!({"a": [1, "\u{0}é"]})).with(b"").with(b"\0\xff");
        let mut bytes = Vec::new();
        sent.write(&mut bytes).unwrap();
        sent.write(&mut bytes).unwrap();
        let mut rest = bytes.as_slice();
        for _ in 0..2 {
            let found = Parcel::read(&mut rest).unwrap().unwrap();
            assert_eq!((found.head, found.blobs), (sent.head.clone(), sent.blobs.clone()));
        }
        assert!(Parcel::read(&mut rest).unwrap().is_none());
        for end in 1..bytes.len() / 2 {
            assert!(Parcel::read(&mut &bytes[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn what_is_in_a_parcel_is_not_shown() {
        let parcel = Parcel::new(json!({"name": "canary-1"})).with(b"canary-2");
        assert_eq!(format!("{parcel:?}"), "Parcel { blobs: [8], .. }");
    }

    #[test]
    fn a_length_that_nobody_sends_is_an_error_and_no_memory() {
        for bytes in [[0xff; 8], [0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]] {
            assert!(Parcel::read(&mut bytes.as_slice()).is_err());
        }
    }
}
