//! How `git` is asked, so that a repository of strangers cannot make it do anything.

use opal_core::Secret;
use opal_core::message;
use opal_core::resolver::{Probe, Run, Trouble, TroubleKind};

use super::reading::without_line_ends;

/// Neither a file system monitor nor a hook of the repository is started, nothing is paged, and
/// the index is not refreshed on disk.
const HARDENED: [&str; 7] = [
    "git",
    "--no-pager",
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
];

/// What `git` prints for these words. Where it fails, what it was asked for is not there.
pub(super) fn ask(
    probe: &dyn Probe,
    words: &[&str],
    nothing: &'static str,
) -> Result<Secret, Trouble> {
    let command = [&HARDENED, words].concat();
    match probe.run(&Run::Program(&command)) {
        Ok(output) => Ok(without_line_ends(&output)),
        Err(trouble) if trouble.kind == TroubleKind::Failed => Err(Trouble::new(
            TroubleKind::Missing,
            nothing,
            message!(
                "run `git ",
                words.join(" "),
                "` where the steps start: it says whether there is a \
                 repository, and whether git trusts its owner"
            ),
        )),
        Err(trouble) => Err(trouble),
    }
}
