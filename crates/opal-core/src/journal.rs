//! The journal of an order on a target: which of its steps have begun and ended there.
//!
//! ```text
//! 1 begun MARKER PATH MAC
//! 2 ended CODE PATH MAC
//! ```
//!
//! Each line has the number of its entry, without a gap. Its MAC is HMAC-SHA-256 over the MAC of the line
//! before and the line itself, under a key that is derived for this order, target, machine and user. So a
//! line that was changed, moved, left out or copied from elsewhere is found. Lines that are missing at the
//! end are found by whoever knows the last number. What comes after the last line feed was never complete:
//! nothing was done because of it.
//!
//! Deliberately not here: the file, its lock and its directory (`opal-session`), and what follows from the
//! entries for the steps of a plan (`opal-exec`).

use std::fmt;
use std::time::Duration;

use crate::hash::{Algorithm, Digest};
use crate::wiped::Wiped;

/// Bytes of a path.
pub const MAX_PATH: usize = 8 * 1024;

/// Bytes of the marker of a session.
const MAX_MARKER: usize = 128;

/// Separates these MACs from all others.
const DOMAIN: &[u8] = b"opal journal v1";

/// What entries of an order on one target are authenticated with. It never reaches a disk of the target.
#[derive(Clone)]
pub struct JournalKey(Wiped<[u8; 32]>);

impl JournalKey {
    #[must_use]
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Wiped::new(bytes))
    }

    #[must_use]
    pub fn expose(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for JournalKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JournalKey(…)")
    }
}

/// What is asked of a target before the first step of an order.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The order: 32 hexadecimal digits.
    pub order: String,
    /// When the order ends, in Unix seconds.
    pub end: i64,
    /// The time of the runner, in Unix seconds: the clock of a target may be wrong.
    pub now: i64,
    /// The name of the target.
    pub target: String,
    pub key: JournalKey,
    /// The number of the last entry that is known.
    pub claim: u64,
    /// How long another session of the order may keep its lock.
    pub patience: Duration,
}

/// Whose journal it is.
#[derive(Clone, Copy, Debug)]
pub struct Owner<'a> {
    /// The ID of the machine.
    pub machine: &'a str,
    pub user: u32,
}

/// Something that happened to a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub number: u64,
    pub path: String,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A session with this marker has begun it: its processes have the marker in their environment.
    Begun { marker: String },
    /// It ended with this code.
    Ended { code: i32 },
}

/// Why the lines of a journal say nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// This entry is not as it was written, or was written elsewhere.
    Changed(u64),
    /// This entry is missing.
    Gap(u64),
}

impl Opening {
    /// The name of the file: it has the order, its end, the target, the machine and the user, so that each
    /// has a journal of its own.
    #[must_use]
    pub fn file_name(&self, owner: Owner<'_>) -> String {
        let target = Algorithm::Sha256.digest(&[self.target.as_bytes()]);
        let machine = Algorithm::Sha256.digest(&[owner.machine.as_bytes()]);
        let (order, end) = (&self.order, self.end.max(0));
        format!("{order}-{end}-{}-{}-{}{SUFFIX}", target.hex(), &machine.hex()[..32], owner.user)
    }

    /// Whether the order can have this id.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        is_order(&self.order)
    }
}

const SUFFIX: &str = ".journal";

fn is_order(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
}

/// When the order of the journal with this file name ended, in Unix seconds; none where it is not one.
#[must_use]
pub fn end_of(file_name: &str) -> Option<i64> {
    let mut parts = file_name.strip_suffix(SUFFIX)?.split('-');
    let (order, end) = (parts.next()?, parts.next()?);
    let is_end = end.bytes().all(|it| it.is_ascii_digit());
    let rest = parts.count();
    (is_order(order) && is_end && rest == 3).then(|| end.parse().ok()).flatten()
}

/// The lines of one journal, one after the other.
#[derive(Debug)]
pub struct Chain {
    key: JournalKey,
    last: Digest,
    number: u64,
}

impl Chain {
    /// Of a journal without any entry.
    #[must_use]
    pub fn new(opening: &Opening, owner: Owner<'_>) -> Self {
        let facts: [&[u8]; 5] = [
            DOMAIN,
            opening.order.as_bytes(),
            opening.target.as_bytes(),
            owner.machine.as_bytes(),
            &owner.user.to_le_bytes(),
        ];
        let key = Algorithm::Sha256.mac(opening.key.expose(), &facts);
        Self { key: JournalKey::new(key.0), last: Digest([0; 32]), number: 0 }
    }

    /// The number of the last entry.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The line of the next entry; none where the path or the marker of a session could not be read again.
    /// Nothing counts before [`Self::written`].
    #[must_use]
    pub fn line(&self, path: &str, what: &What) -> Option<Line> {
        let number = self.number + 1;
        let body = match what {
            What::Begun { marker } if is_marker(marker) => {
                format!("{number} begun {marker} {path}")
            }
            What::Begun { .. } => return None,
            What::Ended { code } => format!("{number} ended {code} {path}"),
        };
        let mac = self.mac(&body);
        is_path(path).then(|| Line { text: format!("{body} {}\n", mac.hex()), mac, number })
    }

    /// The line is in the journal.
    pub fn written(&mut self, line: &Line) {
        (self.last, self.number) = (line.mac, line.number);
    }

    /// All entries of a journal, in their order, and how many of its bytes they are. The chain goes on
    /// after them.
    pub fn read(&mut self, bytes: &[u8]) -> Result<(Vec<Entry>, usize), Broken> {
        let (mut entries, mut length) = (Vec::new(), 0);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let Some(line) = line.strip_suffix(b"\n") else { break };
            entries.push(self.entry(line)?);
            length += line.len() + 1;
        }
        Ok((entries, length))
    }

    fn entry(&mut self, line: &[u8]) -> Result<Entry, Broken> {
        let next = self.number + 1;
        let changed = Broken::Changed(next);
        let text = std::str::from_utf8(line).map_err(|_| changed)?;
        let (body, mac) = text.rsplit_once(' ').ok_or(changed)?;
        let mut parts = body.splitn(4, ' ');
        let mut part = || parts.next().ok_or(changed);
        let (number, kind, word, path) = (part()?, part()?, part()?, part()?);
        if number != next.to_string() {
            return Err(Broken::Gap(next));
        }
        let mac = Digest::parse(mac).ok_or(changed)?;
        if mac != self.mac(body) {
            return Err(changed);
        }
        let what = match kind {
            "begun" => What::Begun { marker: word.to_owned() },
            "ended" => What::Ended { code: word.parse().map_err(|_| changed)? },
            _ => return Err(changed),
        };
        (self.last, self.number) = (mac, next);
        Ok(Entry { number: next, path: path.to_owned(), what })
    }

    fn mac(&self, body: &str) -> Digest {
        Algorithm::Sha256.mac(self.key.expose(), &[&self.last.0, body.as_bytes()])
    }
}

/// An entry as bytes.
#[derive(Debug)]
pub struct Line {
    text: String,
    mac: Digest,
    number: u64,
}

impl Line {
    /// With its line feed.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

fn is_path(path: &str) -> bool {
    (1..=MAX_PATH).contains(&path.len()) && !path.chars().any(char::is_control)
}

fn is_marker(marker: &str) -> bool {
    let is_plain = marker.bytes().all(|it| it.is_ascii_graphic());
    (1..=MAX_MARKER).contains(&marker.len()) && is_plain
}

#[cfg(test)]
mod tests;
