//! A hardware key that is a library: `ssh-keygen` loads it, as it loads the middleware of real ones.

#![expect(clippy::disallowed_methods, reason = "a compiler and `ssh-keygen` make the key")]

use std::path::{Path, PathBuf};
use std::process::Command;

use opal_testing::needs;
use tempfile::TempDir;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/hardware.c");

/// The library, a key in it, and the file that says whether it is touched.
pub(crate) struct Hardware {
    folder: TempDir,
}

impl Hardware {
    /// None where there is no compiler, or no libcrypto.
    pub(crate) fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-o"])
            .arg(folder.path().join("key.so"))
            .args([SOURCE, "-l:libcrypto.so.3"])
            .output();
        let is_built = built.is_ok_and(|built| built.status.success());
        let helper = Path::new("/usr/lib/openssh/ssh-sk-helper").exists();
        if !needs::has("a C compiler, libcrypto 3 and `ssh-sk-helper`", is_built && helper) {
            return None;
        }
        let hardware = Self { folder };
        hardware.touched("yes");
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519-sk", "-N", "", "-C", "zoe", "-f"])
            .arg(hardware.key())
            .envs(hardware.environment())
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Some(hardware)
    }

    /// `yes`; `without`, for a key that signs without; `wait`, for one that waits; `no`.
    pub(crate) fn touched(&self, how: &str) {
        std::fs::write(self.folder.path().join("touch"), how).unwrap();
    }

    pub(crate) fn key(&self) -> PathBuf {
        self.folder.path().join("id_ed25519_sk")
    }

    /// As a policy writes the key.
    pub(crate) fn listed(&self) -> String {
        let text = std::fs::read_to_string(self.key().with_added_extension("pub")).unwrap();
        format!("\"{}\"", text.trim())
    }

    /// What `ssh-keygen` needs to find it.
    pub(crate) fn environment(&self) -> [(&'static str, String); 2] {
        let at = |name: &str| self.folder.path().join(name).display().to_string();
        [("SSH_SK_PROVIDER", at("key.so")), ("OPAL_TEST_TOUCH", at("touch"))]
    }
}
