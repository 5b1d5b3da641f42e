//! How `git` is started here: as everywhere in opal, and without questions, submodules and transports
//! that start other programs.

use std::path::Path;

use opal_core::git::{FOREIGN, OPTIONS, Remote};
use opal_core::resolver::{Trouble, TroubleKind};

use crate::resource::programs::Program;

/// Ways to a server that start no program but git's own and ssh. Everything else, such as `ext::`,
/// `fd::` and every helper that happens to be installed, is refused by opal and by git.
pub(super) const TRANSPORTS: [&str; 5] = ["file", "git", "http", "https", "ssh"];

/// The same for git, also for where a setting of the user leads (`url.….insteadOf`). ssh asks a
/// program that always fails instead of a person.
const SURROUNDINGS: [(&str, &str); 5] = [
    ("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh"),
    ("GIT_PROTOCOL_FROM_USER", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("SSH_ASKPASS", "false"),
    ("SSH_ASKPASS_REQUIRE", "force"),
];

pub(super) fn git(words: &'static str) -> Program {
    plain().text(words)
}

/// The same for a server, which may want a login.
pub(super) fn git_with(remote: &Remote, words: &'static str) -> Program {
    plain().words(remote.options()).set(&remote.environment()).text(words)
}

fn plain() -> Program {
    let forget = format!("unset -v {}; ", FOREIGN.join(" "));
    Program::after(&forget, "git", &OPTIONS.join(" "))
        .text(
            "-c protocol.allow=never -c protocol.file.allow=always -c protocol.git.allow=always \
             -c protocol.http.allow=always -c protocol.https.allow=always \
             -c protocol.ssh.allow=always -c submodule.recurse=false -c gc.auto=0 \
             -c maintenance.auto=false",
        )
        .set(&SURROUNDINGS)
}

/// In the repository at a whole path, and in none that is above it.
pub(super) fn git_in(path: &Path, words: &'static str) -> Result<Program, Trouble> {
    inside(git("-C"), path, words)
}

/// The same for a server.
pub(super) fn git_in_with(
    remote: &Remote,
    path: &Path,
    words: &'static str,
) -> Result<Program, Trouble> {
    inside(git_with(remote, "-C"), path, words)
}

fn inside(git: Program, path: &Path, words: &'static str) -> Result<Program, Trouble> {
    let above = path.parent().unwrap_or(path);
    let (path, above) = (text(path)?, text(above)?);
    Ok(git.word(path).text(words).set(&[("GIT_CEILING_DIRECTORIES", above)]))
}

pub(super) fn text(path: &Path) -> Result<&str, Trouble> {
    path.to_str().ok_or_else(|| {
        let message = format!("the path `{}` is not UTF-8 text", path.display());
        Trouble::new(TroubleKind::NotText, message, "choose another destination")
    })
}
