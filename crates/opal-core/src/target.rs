//! Targets: other machines, users, containers and pods, and the way to one.
//!
//! A [`Way`] has a level for each [`Hop`]: first to a machine, then to a user or a container there.
//! Its names are types with closed grammars ([`name`]), so that no name can be an option, a path or
//! a second word of a command.

mod address;
mod host_key;
mod identity;
mod mount;
pub mod name;
mod program;
#[cfg(test)]
mod tests;

use std::fmt;
use std::num::NonZeroU16;

pub use address::AddressError;
pub use host_key::HostKey;
pub use identity::Identity;
pub use mount::{Mount, MountError};
pub use name::{Host, Image, KubeContext, LabelSelector, Name, NameError, TargetName, User};
pub use program::{Carrier, Program, ProgramError, Readiness};

/// Levels of a way at most.
pub const MAX_LEVELS: usize = 3;

/// The way forward where something needs a target and has none.
pub const INSIDE_A_TARGET: &str = "use it inside `@ssh.host`, `@ssh.hosts`, `@as`, `@container.exec`, \
                                   `@container.run` or `@k8s.exec`";

/// A host that `ssh` connects to. What is not given is the user's SSH configuration's to say.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ssh {
    pub host: Host,
    pub port: Option<NonZeroU16>,
    pub user: Option<User>,
}

/// Who starts programs in a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Engine {
    /// The first of `docker` and `podman` that knows the container, or has the image.
    Auto,
    Docker,
    Podman,
}

/// Which program changes the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Via {
    Sudo,
    Doas,
}

impl Via {
    /// The program that is started.
    #[must_use]
    pub const fn program(self) -> &'static str {
        match self {
            Self::Sudo => "sudo",
            Self::Doas => "doas",
        }
    }
}

/// A pod of Kubernetes. What is not given is the configuration of `kubectl`'s to say.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pod {
    pub name: Name,
    pub namespace: Option<Name>,
    pub container: Option<Name>,
    pub context: Option<KubeContext>,
}

/// A container that is made for one block, and removed after it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NewContainer {
    pub engine: Engine,
    pub image: Image,
    pub mounts: Vec<Mount>,
    /// What is not given is the engine's to say.
    pub network: Option<Name>,
}

/// One level of the way to a target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hop {
    /// This machine, with a helper of its own.
    Local,
    Ssh(Ssh),
    Container {
        engine: Engine,
        name: Name,
    },
    NewContainer(NewContainer),
    Pod(Pod),
    /// A machine that a program of opal's machine leads to.
    Program(Carrier),
    /// Another user of the same machine.
    User {
        user: User,
        via: Via,
    },
}

/// The way to a target: at least one level, at most [`MAX_LEVELS`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way(Vec<Hop>);

/// A level that cannot follow the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NestingError {
    /// `ssh` or another machine inside a target.
    MachineInside,
    TooDeep,
}

impl Way {
    #[must_use]
    pub fn new(first: Hop) -> Self {
        Self(vec![first])
    }

    /// The same way with one more level.
    pub fn then(&self, hop: Hop) -> Result<Self, NestingError> {
        if hop.is_machine() {
            return Err(NestingError::MachineInside);
        }
        if self.0.len() == MAX_LEVELS {
            return Err(NestingError::TooDeep);
        }
        Ok(Self(self.0.iter().cloned().chain([hop]).collect()))
    }

    /// From opal's machine to the target. Never empty.
    #[must_use]
    pub fn hops(&self) -> &[Hop] {
        &self.0
    }
}

impl Hop {
    /// Whether it begins on opal's machine, and nowhere else.
    #[must_use]
    pub fn is_machine(&self) -> bool {
        matches!(self, Self::Ssh(_) | Self::Local | Self::Program(_))
    }
}

impl Engine {
    pub const ALL: [Self; 3] = [Self::Auto, Self::Docker, Self::Podman];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Docker => "docker",
            Self::Podman => "podman",
        }
    }
}

impl Via {
    pub const ALL: [Self; 2] = [Self::Sudo, Self::Doas];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sudo => "sudo",
            Self::Doas => "doas",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Via {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// As messages name it.
impl fmt::Display for Hop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => f.write_str("local"),
            Self::Ssh(ssh) => ssh.fmt(f),
            Self::Container { name, .. } => write!(f, "container {name}"),
            Self::NewContainer(new) => write!(f, "container of {}", new.image),
            Self::Pod(pod) => write!(f, "pod {}", pod.name),
            Self::Program(carrier) => write!(f, "`{}`", carrier.program),
            Self::User { user, .. } => write!(f, "user {user}"),
        }
    }
}

impl fmt::Display for NestingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MachineInside => f.write_str("SSH inside a target"),
            Self::TooDeep => write!(f, "more than {MAX_LEVELS} targets inside each other"),
        }
    }
}

impl std::error::Error for NestingError {}
