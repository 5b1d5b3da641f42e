//! The first words with which opal calls itself. Nobody else does.

/// Starts another program, as the leader of a terminal's session.
pub(crate) const LEADER: &str = "__leader";

/// A round of `opal watch`: a run like any other, whose record is counted apart. The next word is the
/// file in which it says which files count.
pub(crate) const ROUND: &str = "__round";

/// Serves the session of this machine over standard input and output: the target helper, in `opal`.
pub(crate) const TARGET: [&str; 2] = ["self", "target"];

/// It was called by the name of `hyops`.
pub(crate) const HYOPS: &str = "__hyops";

/// `opal` becomes `opal-commands`. The next word is its build, and then comes what was typed.
pub(crate) const ALL: &str = "commands";
