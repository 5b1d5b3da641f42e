//! Descriptors for shells that know only those up to 9.
//!
//! Two low numbers are kept busy from the first use on, so that they are there when such a shell is
//! started: requests come in on one, answers go out on the other. A shell that serves one command
//! reads its values from the first.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use rustix::io::{DupFlags, dup2, dup3, fcntl_dupfd_cloexec};

use super::children::{self, Running};
use super::waiting::Descriptors;

const LOWEST: i32 = 3;
const HIGHEST: i32 = 9;

static SLOTS: Mutex<Option<[OwnedFd; 2]>> = Mutex::new(None);

/// Starts a shell that gets both descriptors; `command` is given the path to read its script from.
pub(super) fn start(
    requests: BorrowedFd<'_>,
    answers: BorrowedFd<'_>,
    command: impl FnOnce(&str) -> Command,
) -> io::Result<(Running, Descriptors)> {
    reserve()?;
    let mut slots = SLOTS.lock().unwrap_or_else(PoisonError::into_inner);
    let [from, to] = slots.as_mut().expect("they were reserved above");
    let nothing = File::open("/dev/null")?;
    let running = children::start_alone(|| {
        dup2(requests, from)?;
        dup2(answers, to)?;
        let child = command(&format!("/dev/fd/{}", from.as_raw_fd())).spawn();
        dup3(&nothing, from, DupFlags::CLOEXEC)?;
        dup3(&nothing, to, DupFlags::CLOEXEC)?;
        child
    })?;
    let (script, channel) = (from.as_raw_fd(), to.as_raw_fd());
    let is_free = |number: &i32| ![script, channel].contains(number);
    let error = (LOWEST..=HIGHEST).rev().find(is_free).unwrap_or(LOWEST);
    Ok((running, Descriptors { script: Some(script), channel, error, mark: None }))
}

/// Starts what reads `given` first, under the number that `command` is given.
pub(super) fn start_with(
    given: BorrowedFd<'_>,
    command: impl FnOnce(i32) -> Command,
) -> io::Result<Running> {
    reserve()?;
    let mut slots = SLOTS.lock().unwrap_or_else(PoisonError::into_inner);
    let [slot, _] = slots.as_mut().expect("they were reserved above");
    let nothing = File::open("/dev/null")?;
    children::start_alone(|| {
        dup2(given, slot)?;
        let child = command(slot.as_raw_fd()).spawn();
        dup3(&nothing, slot, DupFlags::CLOEXEC)?;
        child
    })
}

/// Takes the numbers: best done early, while they are free.
pub(super) fn reserve() -> io::Result<()> {
    let mut slots = SLOTS.lock().unwrap_or_else(PoisonError::into_inner);
    if slots.is_some() {
        return Ok(());
    }
    let nothing = File::open("/dev/null")?;
    let (one, two) =
        (fcntl_dupfd_cloexec(&nothing, LOWEST)?, fcntl_dupfd_cloexec(&nothing, LOWEST)?);
    if one.as_raw_fd().max(two.as_raw_fd()) > HIGHEST {
        return Err(io::Error::other("no descriptor below 10 is free"));
    }
    *slots = Some([one, two]);
    Ok(())
}
