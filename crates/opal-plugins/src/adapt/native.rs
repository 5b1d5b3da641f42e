//! Native programs: what the helper leaves them before it becomes one.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use opal_core::protocol::call::Native;
use opal_core::protocol::{Ending, Refusal};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

use crate::capability::Capability;
use crate::client::reserved::{Excess, Reserved, whole};

/// What holds for the native programs of a process.
#[derive(Clone, Debug, Default)]
pub struct NativeRules {
    /// Whether the policy lets them run where the kernel cannot take files from them.
    pub is_unconfined: bool,
    /// Where relative patterns begin: the directory of the project. Absolute.
    pub base: PathBuf,
    /// Where patterns begin that have `~/`; without one they cover nothing.
    pub home: Option<PathBuf>,
}

impl NativeRules {
    /// What a program with these capabilities may do by itself; or why it cannot be confined so.
    pub(crate) fn of(
        &self,
        capabilities: &[Capability],
        memory_mib: u32,
        reserved: &Reserved,
    ) -> Result<Native, Refusal> {
        let has = |is: &dyn Fn(&Capability) -> bool| capabilities.iter().any(is);
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for capability in capabilities {
            let (pattern, paths) = match capability {
                Capability::Read(pattern) => (pattern, &mut reads),
                Capability::Write(pattern) => (pattern, &mut writes),
                _ => continue,
            };
            let Some(pattern) = self.placed(pattern) else { continue };
            // The program gets the directory that was checked, whatever a symlink says later.
            let path = whole(&prefix(&pattern));
            reserved.leaves(&path).map_err(|excess| refused(capability, &path, &excess))?;
            paths.push(path.display().to_string());
        }
        Ok(Native {
            reads,
            writes,
            net: has(&|it| matches!(it, Capability::Net(_) | Capability::Query(_))),
            run: has(&|it| matches!(it, Capability::Run(_) | Capability::Ask(_))),
            memory_mib,
            unconfined: self.is_unconfined,
        })
    }

    /// A pattern as a whole path.
    fn placed(&self, pattern: &str) -> Option<PathBuf> {
        match pattern.strip_prefix("~/") {
            Some(rest) => Some(self.home.as_ref().filter(|it| it.is_absolute())?.join(rest)),
            None => Some(self.base.join(pattern)),
        }
    }
}

fn refused(capability: &Capability, path: &Path, excess: &Excess) -> Refusal {
    let path = path.display();
    let message = match excess {
        Excess::Has(place) => format!(
            "`{capability}` gives native code all of `{path}`, and `{}` is never for plugins",
            place.display()
        ),
        Excess::TooLarge => format!(
            "`{capability}` gives native code all of `{path}`, which has too many files to check"
        ),
    };
    let help =
        "use a package that names a directory with nothing like that in it, as in `read:data/**`";
    Refusal::engine(Ending::Load, message).with_help(help)
}

/// What a capability means for native code, for the person who is asked to accept it: opal checks none of what the
/// program does by itself.
#[must_use]
pub fn sentence(capability: &Capability) -> String {
    let below = |pattern: &str| match prefix(Path::new(pattern)) {
        path if path.as_os_str().is_empty() => "the directory of the project".to_owned(),
        path => path.display().to_string(),
    };
    match capability {
        Capability::Net(_) | Capability::Query(_) => "any host, by itself".to_owned(),
        Capability::Ask(_) | Capability::Run(_) => {
            "any program, by itself: can run code".to_owned()
        }
        Capability::Read(pattern) => format!("reads everything below {}", below(pattern)),
        Capability::Write(pattern) => {
            format!("reads and writes everything below {}", below(pattern))
        }
        other => other.sentence(),
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

    fn of(rules: &NativeRules, all: &[&str]) -> Result<Native, Refusal> {
        let all: Vec<Capability> = all.iter().map(|it| it.parse().unwrap()).collect();
        rules.of(&all, 64, &Reserved::new(Path::new("/home/u/.opal")))
    }

    fn rules() -> NativeRules {
        let home = Some(PathBuf::from("/home/u"));
        NativeRules { is_unconfined: false, base: "/work-of-nobody".into(), home }
    }

    #[test]
    fn a_native_program_has_the_directories_of_its_patterns() {
        let all = [
            "read:data/**",
            "write:/var/none/out-*/x",
            "read:/none/motd",
            "read:~/x/*.txt",
            "net:a.example",
        ];
        let native = of(&rules(), &all).unwrap();
        assert_eq!(native.reads, ["/work-of-nobody/data", "/none/motd", "/home/u/x"]);
        assert_eq!(native.writes, ["/var/none"]);
        assert!(native.net && !native.run && !native.unconfined);
        let homeless = NativeRules { home: None, ..rules() };
        assert!(of(&homeless, &["read:~/x/*.txt"]).unwrap().reads.is_empty());
    }

    #[test]
    fn a_native_program_gets_no_directory_with_something_reserved_in_it() {
        for capability in ["read:/**", "write:/home/**", "read:~/**", "read:/proc/self/*"] {
            let refusal = of(&rules(), &[capability]).unwrap_err();
            let said = refusal.message.expose();
            assert!(said.contains(capability) && said.contains("never for plugins"), "{said}");
        }
    }

    #[test]
    fn people_read_what_native_code_really_gets() {
        for (capability, says) in [
            ("net:a.example", "any host, by itself"),
            ("ask:git status", "any program, by itself: can run code"),
            ("read:**", "reads everything below the directory of the project"),
            ("write:/srv/a*/b", "reads and writes everything below /srv"),
            ("clock", "reads the time"),
        ] {
            assert_eq!(sentence(&capability.parse().unwrap()), says);
        }
    }
}
