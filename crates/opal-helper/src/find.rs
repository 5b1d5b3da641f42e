//! Where a helper is: beside this program and nowhere else.
//!
//! Whoever could put another file there would run as whoever runs opal. So the file and its directory
//! must be of this user or of root, and nobody else may write them.

use std::path::{Path, PathBuf};

use opal_files::trusted::{self, Untrusted};

use crate::Unusable;

/// The path of a helper that may be started.
pub fn find(name: &'static str) -> Result<PathBuf, Unusable> {
    let own = std::env::current_exe().and_then(|path| path.canonicalize());
    let own = own.map_err(|error| Unusable::Unknown { name, kind: error.kind() })?;
    beside(&own, name)
}

fn beside(program: &Path, name: &'static str) -> Result<PathBuf, Unusable> {
    let path = program.with_file_name(name);
    let folder = path.parent().unwrap_or(Path::new("/"));
    let missing = || Unusable::Missing { name, folder: folder.to_path_buf() };
    // A link could lead anywhere.
    if !path.symlink_metadata().is_ok_and(|found| found.is_file()) {
        return Err(missing());
    }
    match trusted::check(&path) {
        Ok(()) => Ok(path),
        Err(Untrusted::Foreign(path, _)) => Err(Unusable::Foreign { name, path }),
        Err(Untrusted::Writable(path, _)) => Err(Unusable::Writable { name, path }),
        Err(Untrusted::Unknown(..)) => Err(missing()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_helper_is_used_only_where_nobody_else_can_put_one() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        let found = || beside(&at("opal"), "opal-extra");
        assert!(matches!(found(), Err(Unusable::Missing { .. })));
        symlink("/bin/true", at("opal-extra")).unwrap();
        assert!(matches!(found(), Err(Unusable::Missing { .. })));
        fs::remove_file(at("opal-extra")).unwrap();
        fs::write(at("opal-extra"), "").unwrap();
        mode(&at("opal-extra"), 0o755);
        assert_eq!(found(), Ok(at("opal-extra")));
        for bits in [0o777, 0o757] {
            mode(&at("opal-extra"), bits);
            assert!(matches!(found(), Err(Unusable::Writable { .. })), "{bits:o}");
            mode(&at("opal-extra"), 0o755);
            mode(folder.path(), bits);
            assert!(matches!(found(), Err(Unusable::Writable { .. })), "{bits:o}");
            mode(folder.path(), 0o755);
        }
    }
}
