//! What a provider prints after its line: kept for the record, within limits, and the last lines for
//! an error. It is read without end, so that a provider never waits for us.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use opal_core::data::Secret;
use opal_core::protocol::MAX_LOG;
use opal_core::wiped::Wiped;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio::task::JoinHandle;

/// What is kept of a process.
const MAX_KEPT: usize = 1 << 20;

/// What is kept of its end.
const TAIL: usize = 16 << 10;
const LAST_LINES: usize = 20;

/// How lines begin that the library of providers prints at each start.
const CHATTER: &str = "{\"@level\":\"debug\"";

#[derive(Debug, Default)]
pub(super) struct Log {
    kept: Rc<RefCell<Kept>>,
    readers: RefCell<Vec<JoinHandle<()>>>,
}

#[derive(Default)]
struct Kept {
    /// What nobody has taken yet.
    new: Wiped<Vec<u8>>,
    total: usize,
    tail: VecDeque<u8>,
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Kept({})", self.total)
    }
}

impl Kept {
    fn add(&mut self, bytes: &[u8]) {
        let room = MAX_KEPT.saturating_sub(self.total).min(bytes.len());
        self.total += room;
        self.new.extend_from_slice(&bytes[..room]);
        self.tail.extend(bytes);
        let over = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..over);
    }
}

impl Log {
    /// Reads a stream of the process to its end.
    pub(super) fn keep(&self, mut from: Receiver) {
        let kept = Rc::clone(&self.kept);
        let reader = tokio::task::spawn_local(async move {
            let mut buffer = Wiped::new(vec![0; 8 << 10]);
            while let Ok(length @ 1..) = from.read(&mut buffer).await {
                kept.borrow_mut().add(&buffer[..length]);
            }
        });
        self.readers.borrow_mut().push(reader);
    }

    /// Waits for what a process that ended had printed. A child of it may still hold its output.
    pub(super) async fn finish(&self) {
        let readers = std::mem::take(&mut *self.readers.borrow_mut());
        for reader in readers {
            let abort = reader.abort_handle();
            if tokio::time::timeout(Duration::from_millis(200), reader).await.is_err() {
                abort.abort();
            }
        }
    }

    /// What was printed since the last time, as much as a reply may carry.
    pub(super) fn take(&self) -> Option<Secret> {
        let mut kept = self.kept.borrow_mut();
        let end = kept.new.len().min(MAX_LOG);
        let taken: Vec<u8> = kept.new.drain(..end).collect();
        let taken = Wiped::new(taken);
        (!taken.is_empty()).then(|| Secret::new(String::from_utf8_lossy(&taken)))
    }

    pub(super) fn last_lines(&self) -> Secret {
        let kept = self.kept.borrow();
        let bytes: Vec<u8> = kept.tail.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let tells = |line: &&str| !line.trim().is_empty() && !line.starts_with(CHATTER);
        let lines: Vec<&str> = text.lines().filter(tells).collect();
        Secret::new(lines[lines.len().saturating_sub(LAST_LINES)..].join("\n"))
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        for reader in self.readers.borrow().iter() {
            reader.abort();
        }
    }
}
