//! How `git` is asked for a value.

use opal_core::message;
use opal_core::resolver::{Probe, Run, Trouble, TroubleKind};
use opal_core::{Secret, git};

use super::reading::without_line_ends;

/// What `git` prints for these words. Where it fails, what it was asked for is not there.
pub(super) fn ask(
    probe: &dyn Probe,
    words: &[&str],
    nothing: &'static str,
) -> Result<Secret, Trouble> {
    let command = git::command(words);
    match probe.run(&Run::ProgramWithout { words: &command, variables: &git::FOREIGN }) {
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
