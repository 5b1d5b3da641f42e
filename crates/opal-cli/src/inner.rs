//! The first words with which opal calls itself. Nobody else does.

/// Starts another program, as the leader of a terminal's session.
pub(crate) const LEADER: &str = "__leader";

/// Renders one template, with little memory and time.
pub(crate) const RENDERER: &str = "__render";

/// It was called by the name of `hyops`.
pub(crate) const HYOPS: &str = "__hyops";
