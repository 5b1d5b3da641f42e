//! Which single-use contracts have been used on this machine.
//!
//! Each is an empty file in `ledger/` under the runtime root, named after the contract; making it
//! is the claim, and the file system sees to it that only one process succeeds. A run of the contract
//! that failed can be continued, which is the same use: a second file, named after the contract and
//! that run, is the claim to continue it. So a run is continued once, and there is always one at most
//! that can be. Under an order the use is that of the order: a file names it, each share that has ended has
//! one of its own, and the contract is used up by that order. What people signed who rejected or approved a
//! contract is kept in two more, a line each.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use opal_core::contract::MAX_BYTES;
use opal_core::hash::Digest;
use opal_files::atomic::Unfinished;

use crate::record::RunId;
use crate::root::{self, Root, RootError, Why};

const FOLDER: &str = "ledger";
const APPROVED: &str = "approved";

/// How the names of the files end that have what people signed about a contract.
const REJECTED: &str = ".rejected";
const APPROVALS: &str = ".approvals";

/// Bytes of such a file.
const MAX_SAID_BYTES: u64 = 16 << 20;

/// Bytes of the name of an order.
const MAX_ORDER_BYTES: u64 = 4096;

#[derive(Clone, Copy, Debug)]
pub struct Ledger<'a>(&'a Root);

#[derive(Debug)]
pub enum ClaimError {
    AlreadyUsed,
    /// The ledger cannot be written, so nobody could tell afterwards.
    Root(RootError),
}

impl<'a> Ledger<'a> {
    #[must_use]
    pub fn new(root: &'a Root) -> Self {
        Self(root)
    }

    /// Whether a contract was used, directly or by an order. `contract` is the digest of its bytes.
    #[must_use]
    pub fn is_used(&self, contract: &Digest) -> bool {
        self.has(&contract.hex()) || self.has(&by_order(contract))
    }

    /// What a share of an order could do with its contract.
    #[must_use]
    pub fn share(&self, contract: &Digest, share: ShareOf<'_>) -> ShareUse {
        let path = self.0.path().join(FOLDER).join(by_order(contract));
        let is_elsewhere = match root::read_guarded(&path, MAX_ORDER_BYTES) {
            Ok(known) => known.trim_ascii_end() != share.order.as_bytes(),
            // Whose it is cannot be read.
            Err(error) => !matches!(error.why, Why::Missing),
        };
        if is_elsewhere || self.has(&contract.hex()) {
            return ShareUse::Elsewhere;
        }
        match self.has(&ended(contract, share)) {
            true => ShareUse::Ended,
            false => ShareUse::Open,
        }
    }

    /// Marks a contract as used by an order, for a share that has not ended. When this returns, the mark is
    /// on the disk.
    pub fn claim_share(&self, contract: &Digest, share: ShareOf<'_>) -> Result<(), ClaimError> {
        let folder = self.0.directory(FOLDER).map_err(ClaimError::Root)?;
        let path = folder.join(by_order(contract));
        let failed =
            |error| ClaimError::Root(RootError { path: path.clone(), why: Why::Io(error) });
        let mut file = Unfinished::beside(&path).map_err(failed)?;
        let written = file.write_all(share.order.as_bytes()).and_then(|()| file.file().sync_all());
        written.map_err(failed)?;
        // Whoever is first names the order; nobody sees a part of its name.
        match file.add(rustix::fs::CWD, &path) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(failed(error.into())),
        }
        File::open(&folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        match self.share(contract, share) {
            ShareUse::Open => Ok(()),
            ShareUse::Ended | ShareUse::Elsewhere => Err(ClaimError::AlreadyUsed),
        }
    }

    /// Marks a share as ended: it is not run again here.
    pub fn end_share(&self, contract: &Digest, share: ShareOf<'_>) -> Result<(), ClaimError> {
        match self.mark(&ended(contract, share)) {
            Ok(()) | Err(ClaimError::AlreadyUsed) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Whether this run of a contract was continued.
    #[must_use]
    pub fn is_continued(&self, contract: &Digest, run: &RunId) -> bool {
        self.has(&continuation(contract, run))
    }

    /// The lines of those who rejected a contract, as far as this machine has seen them.
    ///
    /// # Errors
    /// If there are some that cannot be read: nobody knows what they say.
    pub fn rejections(&self, contract: &Digest) -> Result<Vec<String>, RootError> {
        self.lines(contract, REJECTED)
    }

    /// The lines of those whose approvals of a contract are kept here.
    ///
    /// # Errors
    /// If there are some that cannot be read.
    pub fn approvals(&self, contract: &Digest) -> Result<Vec<String>, RootError> {
        self.lines(contract, APPROVALS)
    }

    /// A line of the rejections of a contract, from 1, is not what somebody has written.
    #[must_use]
    pub fn damaged(&self, contract: &Digest, line: usize) -> RootError {
        let path = self.0.path().join(FOLDER).join(said(contract, REJECTED));
        RootError { path, why: Why::Damaged(line) }
    }

    /// The lines of all rejections, each after the digits of its contract, in order.
    ///
    /// # Errors
    /// If some cannot be read.
    pub fn all_rejections(&self) -> Result<Vec<(String, String)>, RootError> {
        self.all(REJECTED)
    }

    /// The same of all approvals.
    ///
    /// # Errors
    /// If some cannot be read.
    pub fn all_approvals(&self) -> Result<Vec<(String, String)>, RootError> {
        self.all(APPROVALS)
    }

    fn lines(&self, contract: &Digest, kind: &str) -> Result<Vec<String>, RootError> {
        let path = self.0.path().join(FOLDER).join(said(contract, kind));
        match root::read_guarded(&path, MAX_SAID_BYTES) {
            // A line that was damaged does not hide the others.
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()),
            Err(RootError { why: Why::Missing | Why::NotADirectory, .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn all(&self, kind: &str) -> Result<Vec<(String, String)>, RootError> {
        let entries = fs::read_dir(self.0.path().join(FOLDER)).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut contracts: Vec<Digest> =
            names.filter_map(|name| Digest::parse(name.strip_suffix(kind)?)).collect();
        contracts.sort_unstable_by_key(Digest::hex);
        let mut all = Vec::new();
        for contract in contracts {
            let hex = contract.hex();
            all.extend(self.lines(&contract, kind)?.into_iter().map(|line| (hex.clone(), line)));
        }
        Ok(all)
    }

    /// Keeps the line of somebody who rejected a contract. When this returns, it is on the disk.
    pub fn reject(&self, contract: &Digest, line: &str) -> Result<(), RootError> {
        self.keep(contract, REJECTED, line)
    }

    /// Keeps the line of somebody who approved a contract here, or whose approval counted for a run.
    pub fn approve(&self, contract: &Digest, line: &str) -> Result<(), RootError> {
        self.keep(contract, APPROVALS, line)
    }

    fn keep(&self, contract: &Digest, kind: &str, line: &str) -> Result<(), RootError> {
        if self.lines(contract, kind)?.iter().any(|known| known == line.trim_end()) {
            return Ok(());
        }
        let folder = self.0.directory(FOLDER)?;
        let path = folder.join(said(contract, kind));
        let options = &mut OpenOptions::new();
        let opened = options.read(true).append(true).create(true).mode(0o600).open(&path);
        let written = opened.and_then(|mut file| {
            // After a line that was cut off, a new one begins.
            let mut last = [b'\n'];
            if file.metadata()?.len() > 0 {
                file.seek(SeekFrom::End(-1))?;
                file.read_exact(&mut last)?;
            }
            let start = if last == [b'\n'] { "" } else { "\n" };
            file.write_all(format!("{start}{}\n", line.trim_end()).as_bytes())?;
            file.sync_all()?;
            File::open(&folder)?.sync_all()
        });
        written.map_err(|error| RootError { path, why: Why::Io(error) })
    }

    /// The contract that is kept as the one that a person approved last, of those with something in common.
    /// Whether that person did approve it, only their signature says: [`Self::approvals`].
    #[must_use]
    pub fn approved(&self, kinship: &Digest) -> Option<Vec<u8>> {
        let path = self.0.path().join(FOLDER).join(APPROVED).join(kinship.hex());
        root::read_guarded(&path, MAX_BYTES as u64).ok().map(|bytes| bytes.to_vec())
    }

    /// All of them, each read when its turn comes.
    pub fn all_approved(&self) -> impl Iterator<Item = Result<Vec<u8>, RootError>> + use<> {
        let folder = self.0.path().join(FOLDER).join(APPROVED);
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort_unstable();
        let read = |path: PathBuf| root::read_guarded(&path, MAX_BYTES as u64);
        paths.into_iter().map(move |path| read(path).map(|bytes| bytes.to_vec()))
    }

    /// Keeps it, in place of the one before.
    pub fn keep_approved(&self, kinship: &Digest, contract: &[u8]) -> Result<(), RootError> {
        let folder = self.0.directory(&format!("{FOLDER}/{APPROVED}"))?;
        let path = folder.join(kinship.hex());
        let failed = |error| RootError { path: path.clone(), why: Why::Io(error) };
        let mut file = Unfinished::beside(&path).map_err(failed)?;
        file.write_all(contract).map_err(failed)?;
        file.replace(rustix::fs::CWD, &path).map_err(|error| failed(error.into()))
    }

    /// A mark that cannot be looked for counts as one that is there.
    fn has(&self, name: &str) -> bool {
        match self.0.path().join(FOLDER).join(name).symlink_metadata() {
            Ok(_) => true,
            // Any other reason leaves open what is there.
            Err(error) => {
                !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
            }
        }
    }

    /// Marks a contract as used, once. When this returns, the mark is on the disk.
    pub fn claim(&self, contract: &Digest) -> Result<(), ClaimError> {
        if self.has(&by_order(contract)) {
            return Err(ClaimError::AlreadyUsed);
        }
        self.mark(&contract.hex())?;
        // An order writes its mark and then looks for this one, so of two at the same time at most one goes on.
        if self.has(&by_order(contract)) {
            let _ = fs::remove_file(self.0.path().join(FOLDER).join(contract.hex()));
            return Err(ClaimError::AlreadyUsed);
        }
        Ok(())
    }

    /// Marks a run of a contract as continued, once. When this returns, the mark is on the disk.
    pub fn claim_continuation(&self, contract: &Digest, run: &RunId) -> Result<(), ClaimError> {
        match self.claim(contract) {
            Err(ClaimError::AlreadyUsed) if self.has(&by_order(contract)) => {
                Err(ClaimError::AlreadyUsed)
            }
            Ok(()) | Err(ClaimError::AlreadyUsed) => self.mark(&continuation(contract, run)),
            Err(error) => Err(error),
        }
    }

    fn mark(&self, name: &str) -> Result<(), ClaimError> {
        let folder = self.0.directory(FOLDER).map_err(ClaimError::Root)?;
        let path = folder.join(name);
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        match made.and_then(|file| file.sync_all()).and_then(|()| File::open(&folder)?.sync_all()) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(ClaimError::AlreadyUsed)
            }
            Err(error) => Err(ClaimError::Root(RootError { path, why: Why::Io(error) })),
        }
    }
}

/// A share of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShareOf<'a> {
    /// The id of the order: digits and letters.
    pub order: &'a str,
    pub number: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareUse {
    /// It has not run here, or not to its end.
    Open,
    /// It has run to its end.
    Ended,
    /// The contract was used by another order, or without one.
    Elsewhere,
}

fn by_order(contract: &Digest) -> String {
    format!("{}.order", contract.hex())
}

fn ended(contract: &Digest, ShareOf { order, number }: ShareOf<'_>) -> String {
    format!("{}.{order}-{number}", contract.hex())
}

fn said(contract: &Digest, kind: &str) -> String {
    format!("{}{kind}", contract.hex())
}

fn continuation(contract: &Digest, run: &RunId) -> String {
    format!("{}.{run}", contract.hex())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contract_is_used_by_one_order_and_each_of_its_shares_ends_once() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        let (ledger, contract) = (Ledger::new(&root), Digest([7; 32]));
        let share = |order, number| ShareOf { order, number };
        assert_eq!(ledger.share(&contract, share("a", 1)), ShareUse::Open);
        assert!(!ledger.is_used(&contract));
        ledger.claim_share(&contract, share("a", 1)).unwrap();
        assert!(ledger.is_used(&contract));
        // One that was interrupted is continued, and so are the others of the order.
        ledger.claim_share(&contract, share("a", 1)).unwrap();
        ledger.claim_share(&contract, share("a", 2)).unwrap();
        assert_eq!(ledger.share(&contract, share("b", 1)), ShareUse::Elsewhere);
        let other = ledger.claim_share(&contract, share("b", 1));
        assert!(matches!(other, Err(ClaimError::AlreadyUsed)));
        ledger.end_share(&contract, share("a", 1)).unwrap();
        ledger.end_share(&contract, share("a", 1)).unwrap();
        assert_eq!(ledger.share(&contract, share("a", 1)), ShareUse::Ended);
        assert_eq!(ledger.share(&contract, share("a", 2)), ShareUse::Open);
        let again = ledger.claim_share(&contract, share("a", 1));
        assert!(matches!(again, Err(ClaimError::AlreadyUsed)));
        // One that ran without an order is used up for all of them.
        let direct = Digest([8; 32]);
        ledger.claim(&direct).unwrap();
        assert_eq!(ledger.share(&direct, share("a", 1)), ShareUse::Elsewhere);
        assert!(matches!(ledger.claim_share(&direct, share("a", 1)), Err(ClaimError::AlreadyUsed)));
    }

    #[test]
    fn what_an_order_has_used_runs_and_continues_under_no_other_name() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        let (ledger, contract) = (Ledger::new(&root), Digest([7; 32]));
        let share = ShareOf { order: "a", number: 1 };
        ledger.claim_share(&contract, share).unwrap();
        assert!(matches!(ledger.claim(&contract), Err(ClaimError::AlreadyUsed)));
        let run = RunId::new(std::time::SystemTime::UNIX_EPOCH, [0; 4]);
        let continued = ledger.claim_continuation(&contract, &run);
        assert!(matches!(continued, Err(ClaimError::AlreadyUsed)));
        // Its own shares still run.
        assert_eq!(ledger.share(&contract, share), ShareUse::Open);
        // A mark that nobody can read is a mark: whose it is cannot be known.
        let path = folder.path().join(FOLDER).join(by_order(&contract));
        fs::write(&path, [0xff, 0xfe]).unwrap();
        assert_eq!(ledger.share(&contract, share), ShareUse::Elsewhere);
    }
}
