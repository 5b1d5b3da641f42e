//! Bringing the index up to date with the records.
//!
//! The directory of a target is listed only if it has changed since it was read. A run that has ended never
//! changes, so only new runs, and those that were running, are read.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

use opal_vault::record::reader::{self, Found};
use opal_vault::record::{RunId, pruned};
use opal_vault::root::Root;
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};

use super::Error;
use super::tables::{APPROVALS, RUNS, STEPS, VERIFICATIONS, VERSION, create};

const FILE: &str = "index.sqlite";

/// As long as another query brings it up to date.
const MOST_WAIT: Duration = Duration::from_secs(30);

/// A directory that changed so shortly before it was read may have changed again without a new time.
const SETTLED: Duration = Duration::from_secs(2);

/// Memory for pages of the index, while it is brought up to date and afterwards.
const CACHE_KIB: i64 = 32 * 1024;
const USUAL_CACHE_KIB: i64 = 2_000;

/// The index, up to date.
pub(super) fn open(root: &Root) -> Result<Connection, Error> {
    let path = root.path().join(FILE);
    match at(root, &path) {
        // It is derived: what cannot be used is made again.
        Err(Error::Database(_)) => {
            for end in ["", "-journal", "-wal", "-shm"] {
                let _ = fs::remove_file(path.with_file_name(format!("{FILE}{end}")));
            }
            at(root, &path).or_else(|_| in_memory(root))
        }
        opened => opened,
    }
}

/// Where the root cannot be written.
fn in_memory(root: &Root) -> Result<Connection, Error> {
    let mut connection = Connection::open_in_memory()?;
    refresh(root, &mut connection)?;
    Ok(connection)
}

fn at(root: &Root, path: &Path) -> Result<Connection, Error> {
    // Nobody else can read it, and it is not a link to something else.
    let made = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(NO_FOLLOW)
        .open(path);
    if made.is_err() {
        return in_memory(root);
    }
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(MOST_WAIT)?;
    // It can be made again, so it does not wait for the disk.
    connection.pragma_update(None, "synchronous", "OFF")?;
    // Rows of many runs go everywhere in the file.
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    refresh(root, &mut connection)?;
    connection.pragma_update(None, "cache_size", -USUAL_CACHE_KIB)?;
    connection.execute_batch("PRAGMA shrink_memory")?;
    Ok(connection)
}

/// `O_NOFOLLOW`.
const NO_FOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits() as i32;

fn refresh(root: &Root, connection: &mut Connection) -> Result<(), Error> {
    let work = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: i64 = work.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version != VERSION {
        let tables: i64 =
            work.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        if tables > 0 {
            return Err(Error::Database(rusqlite::Error::InvalidQuery));
        }
        create(&work)?;
    }
    take_pruned(root, &work)?;
    let mut there = BTreeSet::new();
    let mut new = Vec::new();
    for folder in reader::target_folders(root)? {
        let path = folder.display().to_string();
        new.extend(target(&work, &folder, &path)?.into_iter().map(|id| (id, folder.clone())));
        there.insert(path);
    }
    // In the order of the tables, at whose end most of them are.
    new.sort_unstable();
    for (id, folder) in new {
        add(&work, &folder.display().to_string(), Found::within(&folder, id))?;
    }
    for gone in folders(&work)?.difference(&there) {
        remove_all(&work, gone)?;
        work.execute("DELETE FROM folders WHERE path = ?", [gone])?;
    }
    work.commit()?;
    Ok(())
}

fn folders(work: &Connection) -> Result<BTreeSet<String>, Error> {
    let mut all = work.prepare_cached("SELECT path FROM folders")?;
    let all = all.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    Ok(all)
}

/// Lines about pruned runs. The record counts where it is still there.
fn take_pruned(root: &Root, work: &Connection) -> Result<(), Error> {
    let from: i64 = work.query_row("SELECT pruned FROM progress", [], |row| row.get(0))?;
    let pruned = pruned::read(root, u64::try_from(from).unwrap_or_default())?;
    for mut run in pruned.runs {
        let Some(id) = run.get("id").and_then(|id| id.as_str()).map(str::to_owned) else {
            continue;
        };
        let is_there = work
            .prepare_cached("SELECT folder FROM known WHERE run = ?")?
            .query_row([&id], |row| row.get::<_, String>(0))
            .optional()?
            .is_some_and(|folder| Path::new(&folder).join(&id).is_dir());
        if !is_there {
            forget(work, &id)?;
            run.insert("pruned".to_owned(), true.into());
            RUNS.put(work, [&run])?;
        }
    }
    work.execute(
        "UPDATE progress SET pruned = ?",
        [i64::try_from(pruned.end).unwrap_or(i64::MAX)],
    )?;
    Ok(())
}

/// The runs of one target: what is new is left to be added.
fn target(work: &Connection, folder: &Path, path: &str) -> Result<Vec<RunId>, Error> {
    let state = state(folder);
    let known: Option<(Option<String>, i64)> = work
        .prepare_cached("SELECT state, names FROM folders WHERE path = ?")?
        .query_row([path], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if state.is_some() && known.as_ref().is_some_and(|(known, _)| *known == state) {
        unfinished(work, folder, path)?;
        return Ok(Vec::new());
    }
    let found = reader::ids_in(folder)?;
    let names = sum(&found);
    let added = match known {
        Some((_, names)) => added(work, path, &found, names)?,
        None => None,
    };
    if let Some(new) = added {
        unfinished(work, folder, path)?;
        keep_state(work, path, state, names)?;
        return Ok(new);
    }
    let Changes { gone, new, unfinished } = changes(work, path, found)?;
    gone.iter().try_for_each(|id| forget(work, id))?;
    for id in unfinished {
        forget(work, id.as_str())?;
        add(work, path, Found::within(folder, id))?;
    }
    keep_state(work, path, state, names)?;
    Ok(new)
}

fn keep_state(
    work: &Connection,
    path: &str,
    state: Option<String>,
    names: i64,
) -> Result<(), Error> {
    let text = "INSERT OR REPLACE INTO folders VALUES (?, ?, ?)";
    work.prepare_cached(text)?.execute(params![path, state, names])?;
    Ok(())
}

/// A number for a set of runs, in whatever order.
fn sum<'i>(ids: impl IntoIterator<Item = &'i RunId>) -> i64 {
    let number = |id: &RunId| {
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        hasher.finish()
    };
    ids.into_iter().map(number).fold(0, u64::wrapping_add).cast_signed()
}

/// The new runs of a directory, where those up to the newest one that is known have the sum that they had:
/// nearly always runs only come. Otherwise none, and all of them are compared.
fn added(
    work: &Connection,
    path: &str,
    found: &[RunId],
    names: i64,
) -> Result<Option<Vec<RunId>>, Error> {
    let newest: Option<String> = work
        .prepare_cached("SELECT max(run) FROM known WHERE folder = ?")?
        .query_row([path], |row| row.get(0))?;
    let newest: Option<RunId> = newest.and_then(|id| id.parse().ok());
    let (known, new): (Vec<&RunId>, Vec<&RunId>) =
        found.iter().partition(|id| Some(*id) <= newest.as_ref());
    Ok((sum(known) == names).then(|| new.into_iter().cloned().collect()))
}

/// What tells whether something was added to a directory or removed; none where that is too recent to tell.
#[expect(clippy::disallowed_methods, reason = "the time is compared with those of the file system")]
fn state(folder: &Path) -> Option<String> {
    let metadata = fs::metadata(folder).ok()?;
    let age = SystemTime::now().duration_since(metadata.modified().ok()?).ok()?;
    let (seconds, nanos) = (metadata.mtime(), metadata.mtime_nsec());
    (age >= SETTLED).then(|| format!("{seconds}.{nanos}.{}", metadata.nlink()))
}

/// What a directory has beside what the index knows of it.
#[derive(Default)]
struct Changes {
    gone: Vec<String>,
    new: Vec<RunId>,
    /// Those that were running.
    unfinished: Vec<RunId>,
}

/// Both in the order of their names, next to each other: nearly all of many runs are known and over.
fn changes(work: &Connection, path: &str, mut found: Vec<RunId>) -> Result<Changes, Error> {
    found.sort_unstable();
    let mut found = found.into_iter().peekable();
    let mut changes = Changes::default();
    let mut known =
        work.prepare_cached("SELECT run, is_over FROM known WHERE folder = ? ORDER BY run")?;
    let mut known = known.query([path])?;
    while let Some(row) = known.next()? {
        let id = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        while let Some(new) = found.next_if(|found| found.as_str() < id) {
            changes.new.push(new);
        }
        match found.next_if(|found| found.as_str() == id) {
            None => changes.gone.push(id.to_owned()),
            Some(found) if !row.get::<_, bool>(1)? => changes.unfinished.push(found),
            Some(_) => {}
        }
    }
    changes.new.extend(found);
    Ok(changes)
}

/// Reads again those that were running.
fn unfinished(work: &Connection, folder: &Path, path: &str) -> Result<(), Error> {
    let mut running = work.prepare_cached(
        "SELECT run FROM known INDEXED BY known_running WHERE folder = ? AND NOT is_over",
    )?;
    let running: Vec<String> =
        running.query_map([path], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for id in running.iter().filter_map(|id| id.parse::<RunId>().ok()) {
        forget(work, id.as_str())?;
        add(work, path, Found::within(folder, id))?;
    }
    Ok(())
}

/// Adds a run that the index knows nothing of.
fn add(work: &Connection, path: &str, found: Found) -> Result<(), Error> {
    let rows = reader::rows(&found);
    let id = found.id.as_str();
    if !found.folder.is_dir() {
        // Pruned in this moment: the next query finds its line.
        return Ok(());
    }
    RUNS.put(work, [&rows.run])?;
    STEPS.put(work, &rows.steps)?;
    VERIFICATIONS.put(work, &rows.verifications)?;
    APPROVALS.put(work, &rows.approvals)?;
    let is_over = rows.run.get("status").is_none_or(|status| status != "running");
    work.prepare_cached("INSERT OR REPLACE INTO known VALUES (?, ?, ?)")?
        .execute(params![id, path, is_over])?;
    Ok(())
}

/// Removes the runs of a directory that is gone.
fn remove_all(work: &Connection, path: &str) -> Result<(), Error> {
    let mut all = work.prepare_cached("SELECT run FROM known WHERE folder = ?")?;
    let all: Vec<String> =
        all.query_map([path], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    all.iter().try_for_each(|id| forget(work, id))
}

/// Removes everything about a run; one that was pruned stays.
fn forget(work: &Connection, id: &str) -> Result<(), Error> {
    for text in [
        "DELETE FROM runs WHERE id = ? AND pruned IS NOT 1",
        "DELETE FROM steps WHERE run = ?",
        "DELETE FROM verifications WHERE run = ?",
        "DELETE FROM approvals WHERE run = ?",
        "DELETE FROM known WHERE run = ?",
    ] {
        work.prepare_cached(text)?.execute([id])?;
    }
    Ok(())
}
