//! Descriptors for shells that know only those up to 9.
//!
//! Two low numbers are kept busy from the first use on, so that they are there when such a shell is
//! started: requests come in on one, answers go out on the other.

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

/// Starts a shell that gets both descriptors; `command` is told the path to read its script from.
pub(super) fn start(
    requests: BorrowedFd<'_>,
    answers: BorrowedFd<'_>,
    command: impl FnOnce(&str) -> Command,
) -> io::Result<(Running, Descriptors)> {
    let mut slots = SLOTS.lock().unwrap_or_else(PoisonError::into_inner);
    let nothing = OwnedFd::from(File::open("/dev/null")?);
    if slots.is_none() {
        *slots = Some(reserve(&nothing)?);
    }
    let [from, to] = slots.as_mut().expect("they were reserved above");
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
    Ok((running, Descriptors { script: Some(script), channel, error }))
}

fn reserve(nothing: &OwnedFd) -> io::Result<[OwnedFd; 2]> {
    let mut found = Vec::new();
    while found.len() < 2 {
        let next = fcntl_dupfd_cloexec(nothing, LOWEST)?;
        if next.as_raw_fd() > HIGHEST {
            return Err(io::Error::other("no descriptor below 10 is free"));
        }
        found.push(next);
    }
    <[OwnedFd; 2]>::try_from(found).map_err(|_| io::Error::other("not two descriptors"))
}
