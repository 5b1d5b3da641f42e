//! How `git` is started here: without questions, hooks, submodules and what a hook around opal has
//! left in the environment.

use std::path::Path;

use opal_core::resolver::{Trouble, TroubleKind};

use crate::decorators::resource::programs::Program;

/// A hook that runs opal hands these on, and they would lead git to another repository.
const FORGET: &str = "unset -v GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY \
                      GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_NAMESPACE GIT_PREFIX; ";

/// ssh asks a program that always fails instead of a person.
const NO_QUESTIONS: [(&str, &str); 3] =
    [("GIT_TERMINAL_PROMPT", "0"), ("SSH_ASKPASS", "false"), ("SSH_ASKPASS_REQUIRE", "force")];

pub(super) fn git(words: &'static str) -> Program {
    let hardened = "--no-pager --no-optional-locks -c core.hooksPath=/dev/null \
                    -c core.fsmonitor=false -c protocol.ext.allow=never \
                    -c submodule.recurse=false -c gc.auto=0 -c maintenance.auto=false";
    Program::after(FORGET, "git", hardened).set(&NO_QUESTIONS).text(words)
}

/// In the repository at a whole path, and in none that is above it.
pub(super) fn git_in(path: &Path, words: &'static str) -> Result<Program, Trouble> {
    let above = path.parent().unwrap_or(path);
    let (path, above) = (text(path)?, text(above)?);
    Ok(git("-C").word(path).text(words).set(&[("GIT_CEILING_DIRECTORIES", above)]))
}

pub(super) fn text(path: &Path) -> Result<&str, Trouble> {
    path.to_str().ok_or_else(|| {
        let message = format!("the path `{}` is not UTF-8 text", path.display());
        Trouble::new(TroubleKind::NotText, message, "choose another destination")
    })
}
