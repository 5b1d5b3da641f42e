//! What opal sends for a request: the input of a command, or the content of a file.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use opal_core::wiped::Wiped;

use crate::wire::codec::Malformed;
use crate::wire::credit::Account;

/// What comes, in order.
pub(super) enum Piece {
    Bytes(Wiped<Vec<u8>>),
    End,
    /// For a file that is being written: what a later request, of this number, wants of it.
    Wish(u32, Wish),
}

pub(super) enum Wish {
    Resemble(PathBuf),
    Keep,
    Release,
}

#[derive(Default)]
pub(super) struct Inlet {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// None before anything may come.
    account: Option<Account>,
    has_ended: bool,
    pieces: VecDeque<Piece>,
    /// Nobody takes more.
    is_over: bool,
    /// The last wish was said.
    is_settled: bool,
}

impl Inlet {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on so much may come. Called before the grant is sent.
    pub(super) fn open(&self, window: u32) {
        self.lock().account = Some(Account::new(window));
    }

    pub(super) fn receive(&self, bytes: Wiped<Vec<u8>>) -> Result<(), Malformed> {
        let mut state = self.lock();
        let has_ended = state.has_ended;
        let account = state.account.as_mut().filter(|_| !has_ended);
        account.ok_or(Malformed("data for a stream that is not open"))?.receive(bytes.len())?;
        if !state.is_over {
            state.pieces.push_back(Piece::Bytes(bytes));
            self.changed.notify_all();
        }
        Ok(())
    }

    pub(super) fn end(&self, count: u64) -> Result<(), Malformed> {
        let mut state = self.lock();
        let has_ended = std::mem::replace(&mut state.has_ended, true);
        let account = state.account.as_ref().filter(|_| !has_ended);
        account.ok_or(Malformed("the end of a stream that is not open"))?.end(count)?;
        state.pieces.push_back(Piece::End);
        self.changed.notify_all();
        Ok(())
    }

    pub(super) fn wish(&self, number: u32, wish: Wish) {
        let mut state = self.lock();
        state.is_settled = !matches!(wish, Wish::Resemble(_));
        state.pieces.push_back(Piece::Wish(number, wish));
        self.changed.notify_all();
    }

    /// Whether more can be wished for.
    pub(super) fn takes_wishes(&self) -> bool {
        !self.lock().is_settled
    }

    /// Nobody takes more.
    pub(super) fn give_up(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    pub(super) fn is_over(&self) -> bool {
        self.lock().is_over
    }

    /// Waits for the next piece; none where nobody shall take one.
    pub(super) fn next(&self) -> Option<Piece> {
        let mut state = self.lock();
        loop {
            if state.is_over {
                return None;
            }
            if let Some(piece) = state.pieces.pop_front() {
                return Some(piece);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// So many bytes are out of the way: what to grant.
    pub(super) fn taken(&self, bytes: usize) -> Option<u32> {
        self.lock().account.as_mut()?.take(bytes)
    }
}
