//! Runs as they are stored.

use std::path::Path;

use opal_core::hash::Algorithm;
use opal_plan::plan::source_hash;
use opal_vault::record::reader::{self, Found, Run};
use opal_vault::root::Root;
use serde_json::Value;

use crate::failure::Failure;
use crate::failure::record::{root_failure, unclear, unreadable};
use crate::planning;

pub(in crate::commands) fn found(root: &Root) -> Result<Vec<Found>, Failure> {
    reader::list(root).map_err(root_failure)
}

/// The run that a name means. `runs` begins the commands of messages.
pub(super) fn load(root: &Root, name: &str, runs: &str) -> Result<Run, Failure> {
    let all = found(root)?;
    let one = reader::find(&all, name).map_err(|why| unclear(name, &why, runs))?;
    let mut run = Run::load(one).map_err(unreadable)?;
    if is_modified(&run) == Some(true) {
        run.mark("modified", Value::Bool(true));
    }
    Ok(run)
}

/// Whether the source of a run had changes that its commit does not have, where the record leaves it
/// to git.
fn is_modified(run: &Run) -> Option<bool> {
    let (source, commit) = (run.get("source")?, run.text("commit")?);
    let (path, hash) = (source["path"].as_str()?, source["hash"].as_str()?);
    let (name, _) = hash.split_once(':')?;
    let algorithm = Algorithm::named(name)?;
    let has = |text: &str| algorithm.written(&source_hash(algorithm, text)) == hash;
    planning::is_as_committed(Path::new(path), commit, has).map(|is_same| !is_same)
}
