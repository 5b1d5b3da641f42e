//! Why the packages of a project cannot be used.

use std::path::PathBuf;

use semver::Version;

use crate::error::PackageError;
use crate::lock::LockError;
use crate::manifest::Faulty;
use crate::project::ModError;

/// Why the packages of a project cannot be used.
#[derive(Debug)]
pub enum LoadError {
    Mod(ModError),
    /// `opal.lock` cannot be read.
    Lock(LockError),
    /// The directory is not there.
    Missing {
        key: String,
    },
    /// It is locked, and its files are not on this machine.
    NotInstalled {
        name: String,
        version: Version,
    },
    /// Its files, or who signed them, are not what was locked.
    Untrusted {
        message: String,
        help: String,
    },
    /// What checks it is not on this machine.
    Unavailable {
        message: String,
        help: String,
    },
    Package {
        key: String,
        why: PackageError,
    },
    /// What its manifests say is wrong; with the directory as the user knows it.
    Manifest {
        directory: PathBuf,
        faulty: Vec<Faulty>,
    },
    /// Files of the project, or packages, contradict each other.
    Conflict {
        message: String,
        help: String,
    },
}
