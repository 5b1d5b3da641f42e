//! What is checked before a run, and before a target counts as ready.

use std::fmt;

/// Which thing a check is about. Shown as its name in documents and on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckKind {
    /// The settings of a target.
    Config,
    /// The credentials of a target.
    TargetCredentials,
    /// The mark of a target that is ready.
    Marker,
    Pack(String),
    /// A program.
    Tool(String),
    /// The version of a program.
    Version(String),
    Credentials(String),
    /// What the profile wants in the credentials.
    CredentialContract(String),
    /// The runtime root.
    Root,
    Disk,
}

impl fmt::Display for CheckKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config => f.write_str("config"),
            Self::TargetCredentials => f.write_str("credentials"),
            Self::Marker => f.write_str("marker"),
            Self::Pack(name) => write!(f, "pack:{name}"),
            Self::Tool(name) => write!(f, "tool:{name}"),
            Self::Version(name) => write!(f, "version:{name}"),
            Self::Credentials(name) => write!(f, "credentials:{name}"),
            Self::CredentialContract(name) => write!(f, "credential_contract:{name}"),
            Self::Root => f.write_str("root"),
            Self::Disk => f.write_str("disk"),
        }
    }
}
