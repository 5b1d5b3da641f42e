//! Files of contracts: reading, opening and writing them.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use opal_core::contract::{Contract, MAX_BYTES};
use opal_files::atomic::{self, Unfinished};
use opal_files::{outgoing, regular};
use opal_ops::contract::Refusal;
use opal_trust::contracts::{self, Opened};

use crate::context::Context;
use crate::failure::Failure;
use crate::failure::contract::Refused;
use crate::options::PlanOptions;
use crate::planning;

/// The bytes of a contract, `-` from standard input.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    // One more than there may be, so that a file that is too long is seen as one.
    let limit = MAX_BYTES as u64 + 1;
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        regular::open_given(path).and_then(|file| file.take(limit).read_to_end(&mut bytes))
    };
    read.map_err(|error| {
        let failure = Failure::unreadable(path, &error);
        // Its help is about sources.
        let help = "name a contract; make one with `opal plan TASK -o FILE`";
        Failure { help: vec![help.to_owned()], ..failure }
    })?;
    Ok(bytes)
}

/// Opens a contract for this runner.
pub(crate) fn open(
    context: &Context<'_>,
    options: &PlanOptions,
    path: &Path,
    bytes: &[u8],
) -> Result<Opened, Failure> {
    let runner = planning::runner(context, options).map_err(Failure::key)?;
    opal_ops::contract::open(bytes, &runner)
        .map_err(|refusal| refused(path, refusal, Some(&runner.recipient().to_string())))
}

/// A contract that is only read.
pub(super) struct Seen {
    pub(super) contract: Contract,
    /// Where this runner cannot open it.
    pub(super) note: Option<String>,
}

/// Reads a contract for somebody who may not be able to run it. One that this runner can open and
/// that is damaged is refused.
pub(super) fn read(
    context: &Context<'_>,
    options: &PlanOptions,
    path: &Path,
) -> Result<Seen, Failure> {
    let bytes = read_file(path)?;
    if let Some(runner) = planning::known_runner(context, options).map_err(Failure::key)? {
        match opal_ops::contract::open(&bytes, &runner) {
            Ok(opened) => return Ok(Seen { contract: opened.contract, note: None }),
            Err(Refusal::SealedToOthers) => {}
            Err(refusal) => return Err(refused(path, refusal, None)),
        }
    }
    let contract = contracts::peek(&bytes).map_err(|why| refused(path, why.into(), None))?;
    let shown = path.display();
    let note = format!("this runner cannot open `{shown}`, so it cannot check that it is intact");
    Ok(Seen { contract, note: Some(note) })
}

/// The words for a file that is not a contract for this runner, whose public key is `own`.
pub(super) fn refused(path: &Path, refusal: Refusal, own: Option<&str>) -> Failure {
    Refused { path, own, again: &|| None }.failure(&refusal)
}

/// Replaces the file in one move: a reader sees the old contract or the new one. A pipe or a
/// device is written to as it is, since a rename would put a file in its place.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let shown = format!("`{}`", path.display());
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        let file = outgoing::open_special(path);
        let written = file.and_then(|mut file| file.write_all(bytes));
        return written.map_err(|error| Failure::unwritable(&shown, &error));
    }
    // A link stays one: what it names is replaced.
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    put(&place, bytes).map_err(|error| Failure::unreplaced(path, &error))
}

fn put(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let usual = atomic::usual_mode(atomic::directory_of(path)?)?;
    let mut file = Unfinished::beside(path)?;
    file.write_all(bytes)?;
    file.file().set_permissions(PermissionsExt::from_mode(0o644 & usual))?;
    file.file().sync_all()?;
    Ok(file.replace(rustix::fs::CWD, path)?)
}
