//! Commands that a shell has itself.

use super::programs::Called;

/// Commands of a shell.
#[rustfmt::skip]
const BUILTINS: &[&str] = &[
    ".", ":", "[", "alias", "bind", "builtin", "cd", "command", "compgen", "complete", "declare", "enable", "eval", "exec", "export", "fc",
    "getopts", "hash", "history", "jobs", "kill", "let", "local", "mapfile", "popd", "pushd", "read", "readarray", "readonly", "set", "shift",
    "source", "test", "trap", "type", "typeset", "ulimit", "umask", "unset", "wait",
];

impl Called {
    /// Whether only a shell has a command of that name, or has one that reads more in its words than
    /// the program does.
    pub(super) fn is_builtin(self) -> bool {
        BUILTINS.contains(&self.name)
    }
}
