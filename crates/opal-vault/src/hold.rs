//! What a branch tells while others are shown: little of it in memory, the rest in a file that has
//! no name and is gone with the process. All of it has been through the scrubber.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::os::unix::fs::FileExt;

use crate::Shown;
use crate::event::Event;
use opal_core::stream::{Closed, Stream};

/// Bytes of output that stay in memory.
pub(crate) const MAX_MEMORY: usize = 64 * 1024;

/// The same where no file can be written.
pub(crate) const MAX_UNSPILLED: usize = 64 * 1024 * 1024;

/// Where files go when the usual place for temporary files cannot be written.
const ELSEWHERE: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// A row of events with output between them.
#[derive(Debug, Default)]
pub struct Hold<'p> {
    /// Each with how many bytes of the log precede it.
    events: VecDeque<(u64, Event<'p>)>,
    /// Output in frames: the number of its step, its stream, its length, its bytes.
    spilled: Option<File>,
    spilled_bytes: u64,
    memory: Vec<u8>,
    /// The step that printed last.
    last: u64,
    /// Neither here nor there can a file be written.
    has_no_file: bool,
    /// There was too much of it for memory too: nothing more is taken.
    is_cut: bool,
}

#[derive(Debug)]
pub enum Item<'i, 'p> {
    Event(Event<'p>),
    Output(u64, Stream, Shown<'i>),
}

/// Number, stream and length.
const HEAD_BYTES: usize = 8 + 1 + 8;

pub(crate) const CUT: &[u8] =
    b"opal: the rest of this output could not be stored while it waited for its turn\n";

impl<'p> Hold<'p> {
    pub fn event(&mut self, event: Event<'p>) {
        self.events.push_back((self.spilled_bytes + self.memory.len() as u64, event));
    }

    /// Closed to what could not be kept: the step gets to know, and fails.
    pub fn output(&mut self, number: u64, stream: Stream, bytes: &Shown<'_>) -> Result<(), Closed> {
        if self.is_cut {
            return Err(Closed);
        }
        let bytes = bytes.bytes();
        let length = self.memory.len() + HEAD_BYTES + bytes.len();
        if length > MAX_MEMORY && !self.spills() && length > MAX_UNSPILLED {
            self.is_cut = true;
            self.frame(number, Stream::Stderr, CUT);
            return Err(Closed);
        }
        self.frame(number, stream, bytes);
        Ok(())
    }

    fn spills(&mut self) -> bool {
        self.has_no_file |= !self.has_no_file && self.spill().is_err();
        !self.has_no_file
    }

    fn frame(&mut self, number: u64, stream: Stream, bytes: &[u8]) {
        self.last = number;
        frame(&mut self.memory, number, stream, bytes);
    }

    /// Moves what is in memory to the file.
    fn spill(&mut self) -> io::Result<()> {
        let file = match &mut self.spilled {
            Some(file) => file,
            none => none.insert(nameless()?),
        };
        file.write_all_at(&self.memory, self.spilled_bytes)?;
        self.spilled_bytes += self.memory.len() as u64;
        self.memory.clear();
        Ok(())
    }

    pub fn replay(mut self, mut tell: impl FnMut(Item<'_, 'p>)) {
        let mut at = 0;
        if let Some(mut file) = self.spilled.take() {
            if file.rewind().is_ok() {
                let file = BufReader::new(file.take(self.spilled_bytes));
                at = frames(file, at, &mut self.events, &mut tell);
            }
            if at < self.spilled_bytes {
                tell(Item::Output(self.last, Stream::Stderr, Shown::vouch(CUT)));
                at = self.spilled_bytes;
            }
        }
        let memory = std::mem::take(&mut self.memory);
        frames(memory.as_slice(), at, &mut self.events, &mut tell);
        for (_, event) in self.events {
            tell(Item::Event(event));
        }
    }
}

/// Adds output to a log.
pub(crate) fn frame(log: &mut Vec<u8>, number: u64, stream: Stream, bytes: &[u8]) {
    log.extend(number.to_le_bytes());
    log.push(u8::from(stream == Stream::Stderr));
    log.extend((bytes.len() as u64).to_le_bytes());
    log.extend(bytes);
}

/// A file without a name.
pub(crate) fn nameless() -> io::Result<File> {
    let mut made = tempfile::tempfile();
    for folder in ELSEWHERE {
        made = made.or_else(|_| tempfile::tempfile_in(folder));
    }
    made
}

/// Tells what `log` holds, with the events between; how many bytes have been passed on.
pub(crate) fn frames<'p>(
    mut log: impl Read,
    mut at: u64,
    events: &mut VecDeque<(u64, Event<'p>)>,
    tell: &mut impl FnMut(Item<'_, 'p>),
) -> u64 {
    let mut bytes = Vec::new();
    loop {
        while events.front().is_some_and(|(before, _)| *before <= at) {
            if let Some((_, event)) = events.pop_front() {
                tell(Item::Event(event));
            }
        }
        let (mut number, mut stream, mut length) = ([0; 8], [0; 1], [0; 8]);
        let head = [number.as_mut_slice(), &mut stream, &mut length];
        if head.into_iter().any(|part| log.read_exact(part).is_err()) {
            return at;
        }
        let length = u64::from_le_bytes(length);
        bytes.clear();
        let read = log.by_ref().take(length).read_to_end(&mut bytes);
        if !read.is_ok_and(|count| count as u64 == length) {
            return at;
        }
        let stream = if stream == [0] { Stream::Stdout } else { Stream::Stderr };
        let shown = Shown::vouch(bytes.as_slice());
        tell(Item::Output(u64::from_le_bytes(number), stream, shown));
        at += HEAD_BYTES as u64 + length;
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use crate::event::Kind;

    use super::*;

    fn reported(hold: Hold<'_>) -> Vec<String> {
        let mut reported: Vec<String> = Vec::new();
        hold.replay(|item| match item {
            Item::Event(Event { kind: Kind::Skipped { path, .. }, .. }) => {
                reported.push(path.into())
            }
            Item::Event(_) => {}
            Item::Output(number, stream, bytes) => {
                reported.push(format!("{number} {stream:?} {} bytes", bytes.bytes().len()));
            }
        });
        reported
    }

    fn event(path: &str) -> Event<'_> {
        let kind = Kind::Skipped { path, decorator: "@shell", why: None };
        Event { at: SystemTime::UNIX_EPOCH, target: None, alike: None, kind }
    }

    #[test]
    fn what_cannot_be_read_back_is_said_to_be_missing() {
        for kept_bytes in [0, 40_000 + HEAD_BYTES as u64, 50_000] {
            let mut hold = Hold::default();
            hold.event(event("first"));
            for number in 1..=3 {
                let bytes = Shown::vouch(vec![b'a'; 40_000]);
                hold.output(number, Stream::Stdout, &bytes).unwrap();
            }
            hold.event(event("last"));
            hold.spilled.as_ref().unwrap().set_len(kept_bytes).unwrap();
            let lost = format!("3 Stderr {} bytes", CUT.len());
            let reported = reported(hold);
            assert!(reported.contains(&lost), "{kept_bytes}: {reported:?}");
            assert_eq!(reported.last().map(String::as_str), Some("last"), "{reported:?}");
        }
    }

    #[test]
    fn what_was_held_comes_back_in_order_from_memory_and_from_the_file() {
        let mut hold = Hold::default();
        hold.event(event("first"));
        hold.output(1, Stream::Stdout, &Shown::vouch(vec![b'a'; 40_000])).unwrap();
        hold.event(event("second"));
        hold.output(2, Stream::Stderr, &Shown::vouch(vec![b'b'; 40_000])).unwrap();
        hold.output(2, Stream::Stdout, &Shown::vouch(vec![b'c'; 100_000])).unwrap();
        hold.event(event("third"));
        hold.output(3, Stream::Stdout, &Shown::vouch(vec![b'd'; 10])).unwrap();
        hold.event(event("last"));
        assert!(hold.spilled.is_some());
        assert!(hold.memory.len() < MAX_MEMORY);
        assert_eq!(
            reported(hold),
            [
                "first",
                "1 Stdout 40000 bytes",
                "second",
                "2 Stderr 40000 bytes",
                "2 Stdout 100000 bytes",
                "third",
                "3 Stdout 10 bytes",
                "last",
            ]
        );
    }
}
