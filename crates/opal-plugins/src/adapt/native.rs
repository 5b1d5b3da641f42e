//! Native programs: what the helper leaves them before it becomes one.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use opal_core::protocol::call::Native;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

use crate::capability::Capability;

/// What holds for the native programs of a process.
#[derive(Clone, Debug, Default)]
pub struct NativeRules {
    /// Whether the policy lets them run where the kernel cannot take files from them.
    pub is_unconfined: bool,
    /// Where relative patterns begin: the directory of the project. Absolute.
    pub base: PathBuf,
}

impl NativeRules {
    /// What a program with these capabilities may do by itself.
    #[must_use]
    pub fn of(&self, capabilities: &[Capability], memory_mib: u32) -> Native {
        let has = |is: &dyn Fn(&Capability) -> bool| capabilities.iter().any(is);
        let paths = |pattern: &dyn Fn(&Capability) -> Option<String>| {
            let all = capabilities.iter().filter_map(pattern);
            all.map(|it| prefix(&self.base.join(it)).display().to_string()).collect()
        };
        Native {
            reads: paths(&|it| match it {
                Capability::Read(pattern) => Some(pattern.clone()),
                _ => None,
            }),
            writes: paths(&|it| match it {
                Capability::Write(pattern) => Some(pattern.clone()),
                _ => None,
            }),
            net: has(&|it| matches!(it, Capability::Net(_) | Capability::Query(_))),
            run: has(&|it| matches!(it, Capability::Run(_) | Capability::Ask(_))),
            memory_mib,
            unconfined: self.is_unconfined,
        }
    }
}

/// The longest beginning of a pattern without a wildcard: the kernel knows no patterns.
fn prefix(pattern: &Path) -> PathBuf {
    let is_plain = |part: &Component<'_>| {
        part.as_os_str().to_str().is_some_and(|part| !part.contains(['*', '?', '[']))
    };
    pattern.components().take_while(is_plain).collect()
}

/// A program in memory that nobody can change any more: the bytes that were checked are the ones that run.
pub(super) fn image(bytes: &[u8]) -> io::Result<File> {
    let file = memfd_create("plugin", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let mut file = File::from(file);
    file.write_all(bytes)?;
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    fcntl_add_seals(&file, seals)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_native_program_has_the_directories_of_its_patterns() {
        let rules = NativeRules { is_unconfined: false, base: "/work".into() };
        let all = ["read:data/**", "write:/tmp/out-*/x", "read:/etc/motd", "net:a.example"];
        let all: Vec<Capability> = all.iter().map(|it| it.parse().unwrap()).collect();
        let native = rules.of(&all, 64);
        assert_eq!(native.reads, ["/work/data", "/etc/motd"]);
        assert_eq!(native.writes, ["/tmp"]);
        assert!(native.net && !native.run && !native.unconfined);
    }
}
