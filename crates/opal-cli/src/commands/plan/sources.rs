//! The files that a contract was made from, for its provenance.

use opal_core::contract::SourceFile;
use opal_core::hash::Algorithm;
use opal_ops::planning::Subject;
use opal_ops::source::Form;
use opal_plan::plan::source_hash;

use super::contract::relative;
use crate::failure::Failure;

/// Every source file that was read: of a module also its profile and the files of its pack.
pub(super) fn sources(
    subject: &Subject<'_>,
    algorithm: Algorithm,
) -> Result<Vec<SourceFile>, Failure> {
    let loaded = subject.loaded;
    let digest = source_hash(algorithm, &loaded.text);
    let mut sources = vec![SourceFile { path: relative(&loaded.path)?, digest }];
    let Form::Module(run) = &loaded.form else { return Ok(sources) };
    for path in run.prepared.files().iter().skip(1) {
        let bytes = std::fs::read(path).map_err(|error| Failure::unreadable(path, &error))?;
        sources.push(SourceFile { path: relative(path)?, digest: algorithm.digest(&[&bytes]) });
    }
    Ok(sources)
}
