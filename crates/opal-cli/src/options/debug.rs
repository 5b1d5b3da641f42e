//! How much is traced.

/// `--debug`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Debugged {
    Paths,
    Detailed,
}

/// `--telemetry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Telemetry {
    Basic,
    Timing,
}
