//! The path that nobody can guess, and the ticket for it.
//!
//! All pages are under a path of 128 random bits, which is in no argument, title or log. What a browser is
//! given is a ticket, in a file that only this user can read. It is exchanged for the path once.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use opal_core::hash::Algorithm;
use opal_trust::keys::unguessable;
use tempfile::{NamedTempFile, TempPath};

/// What the addresses of tickets begin with.
pub(super) const FOLDER: &str = "ticket";

/// What the names of their files begin and end with.
const PREFIX: &str = "open-";
const SUFFIX: &str = ".html";

/// A ticket, and what became of it.
#[derive(Debug)]
pub(super) struct Ticket {
    word: String,
    url: String,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    /// Nobody has used it. The file is removed with this.
    Ready(TempPath),
    Used,
    Withdrawn,
}

/// What is left of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Left {
    File(PathBuf),
    Nothing,
}

/// What using it has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    First,
    Again,
    Late,
    /// It is not this ticket.
    Wrong,
}

impl Ticket {
    pub(super) fn new(folder: &Path, origin: &str) -> io::Result<Self> {
        let word = word();
        let url = format!("{origin}/{FOLDER}/{word}");
        let mut file: NamedTempFile =
            tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).tempfile_in(folder)?;
        file.write_all(opening(&url).as_bytes())?;
        let state = Mutex::new(State::Ready(file.into_temp_path()));
        Ok(Self { word, url, state })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn left(&self) -> Left {
        match &*self.lock() {
            State::Ready(file) => Left::File(file.to_path_buf()),
            State::Used | State::Withdrawn => Left::Nothing,
        }
    }

    /// Uses it. Its file is gone afterwards.
    pub(super) fn present(&self, word: &str) -> Use {
        if !is_same(word, &self.word) {
            return Use::Wrong;
        }
        let state = &mut *self.lock();
        match state {
            State::Ready(_) => {
                *state = State::Used;
                Use::First
            }
            State::Used => Use::Again,
            State::Withdrawn => Use::Late,
        }
    }

    /// Nobody can use it from now on; whether somebody could have.
    pub(super) fn withdraw(&self) -> bool {
        let state = &mut *self.lock();
        let was_ready = matches!(state, State::Ready(_));
        if was_ready {
            *state = State::Withdrawn;
        }
        was_ready
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes the files of those who were killed before they could. So old, a ticket is worthless.
pub(super) fn remove_stale(folder: &Path, worthless: Duration) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_ours = |name: &str| name.starts_with(PREFIX) && name.ends_with(SUFFIX);
    for entry in entries.filter(|it| it.file_name().to_str().is_some_and(is_ours)) {
        let age =
            entry.metadata().and_then(|it| it.modified()).ok().and_then(|it| it.elapsed().ok());
        if age.is_some_and(|age| age >= worthless) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// 128 random bits.
pub(super) fn word() -> String {
    unguessable().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compares without saying by the time that it takes how much is right.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let digest = |text: &str| Algorithm::Sha256.digest(&[text.as_bytes()]);
    digest(one) == digest(other)
}

/// The file that a browser opens: it goes to the address at once. The address has nothing to escape.
fn opening(url: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0;url={url}\"><title>opal</title></head>\
         <body><p><a href=\"{url}\">Open the pages of opal</a></p></body></html>\n"
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_ticket_counts_once_and_its_file_is_private_and_then_gone() {
        let folder = tempfile::tempdir().unwrap();
        let ticket = Ticket::new(folder.path(), "http://127.0.0.1:1").unwrap();
        let Left::File(file) = ticket.left() else { panic!("no file") };
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(std::fs::read_to_string(&file).unwrap().contains(ticket.url()));
        let word = ticket.url().rsplit_once('/').unwrap().1.to_owned();
        assert_eq!(word.len(), 32);
        assert_eq!(ticket.present("0"), Use::Wrong);
        assert_eq!(ticket.present(&word), Use::First);
        assert!(!file.exists());
        assert_eq!(ticket.present(&word), Use::Again);
        assert!(!ticket.withdraw());
    }

    #[test]
    fn files_of_tickets_that_were_left_are_removed_when_they_are_worthless() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["open-x.html", "open-y.html", "other.html", "open-z.txt"] {
            std::fs::write(at(name), "").unwrap();
        }
        remove_stale(folder.path(), Duration::from_secs(60));
        assert!(at("open-x.html").exists(), "it may still be used");
        let file = std::fs::File::open(at("open-x.html")).unwrap();
        let made = file.metadata().unwrap().modified().unwrap();
        file.set_modified(made - Duration::from_secs(61)).unwrap();
        remove_stale(folder.path(), Duration::from_secs(60));
        assert!(!at("open-x.html").exists() && at("open-y.html").exists());
        assert!(at("other.html").exists() && at("open-z.txt").exists());
    }

    #[test]
    fn a_ticket_that_is_too_late_opens_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let ticket = Ticket::new(folder.path(), "http://127.0.0.1:1").unwrap();
        assert!(ticket.withdraw());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let word = ticket.url().rsplit_once('/').unwrap().1.to_owned();
        assert_eq!(ticket.present(&word), Use::Late);
    }
}
