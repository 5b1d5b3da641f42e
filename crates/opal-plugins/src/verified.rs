//! The packages that `opal plugin verify` has passed on this machine: `config/verified` of the runtime root, a
//! checksum on each line. Nobody else vouches for them, so they are `local-only`.

use opal_core::hash::Digest;
use opal_vault::root::{Root, RootError, Why, read_guarded};

const FOLDER: &str = "config";
const FILE: &str = "verified";
const MAX_BYTES: u64 = 1 << 20;

/// More are not remembered: the oldest are left out.
const MAX_LINES: usize = 10_000;

fn lines(root: &Root) -> Result<Vec<String>, RootError> {
    match read_guarded(&root.path().join(FOLDER).join(FILE), MAX_BYTES) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()),
        Err(RootError { why: Why::Missing | Why::NotADirectory, .. }) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Whether a package passed here. A file that others could have written says nothing.
#[must_use]
pub fn has(root: &Root, checksum: &Digest) -> bool {
    let line = checksum.hex();
    lines(root).is_ok_and(|all| all.contains(&line))
}

/// Remembers that a package passed, or that it does not pass any more.
pub fn keep(root: &Root, checksum: &Digest, passed: bool) -> Result<(), RootError> {
    let line = checksum.hex();
    let before = lines(root)?;
    let mut all: Vec<&str> = before.iter().map(String::as_str).filter(|it| *it != line).collect();
    if passed {
        all.push(&line);
    }
    if all == before {
        return Ok(());
    }
    let first = all.len().saturating_sub(MAX_LINES);
    let text: String = all[first..].iter().map(|it| format!("{it}\n")).collect();
    root.replace(FOLDER, FILE, text.as_bytes()).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passed_last_is_remembered_and_the_oldest_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        let checksum = |number: u8| Digest([number; 32]);
        assert!(!has(&root, &checksum(1)));
        for (number, passed) in [(1, true), (2, true), (1, true), (2, false)] {
            keep(&root, &checksum(number), passed).unwrap();
        }
        assert!(has(&root, &checksum(1)) && !has(&root, &checksum(2)));
        let file = folder.path().join("config/verified");
        let many = format!("{}\n", "0".repeat(64)).repeat(MAX_LINES);
        std::fs::write(&file, checksum(1).hex() + "\n" + &many).unwrap();
        keep(&root, &checksum(3), true).unwrap();
        assert!(has(&root, &checksum(3)) && !has(&root, &checksum(1)));
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        std::fs::set_permissions(&file, permissions).unwrap();
        assert!(!has(&root, &checksum(3)), "others could have written it");
    }
}
