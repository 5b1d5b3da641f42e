//! Whether a run can begin: what it needs is there.

use std::path::{Path, PathBuf};

use opal_core::parameter::listed;
use opal_core::resolver::Probe;
use rustix::fs::{Access, StatVfs, statvfs};
use serde_json::{Value, json};

use super::HookStep;
use super::prepared::Prepared;
use super::versions;
use crate::CheckKind;

/// What is wrong, and the way forward.
pub type Fault = (String, String);

/// One thing that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    pub kind: CheckKind,
    pub fault: Option<Fault>,
}

impl Check {
    pub(super) fn new(kind: CheckKind, fault: Option<Fault>) -> Self {
        Self { kind, fault }
    }

    /// Whether it found that this program cannot be started.
    #[must_use]
    pub fn misses_tool(&self, program: &str) -> bool {
        matches!(&self.kind, CheckKind::Tool(name) if name == program) && self.fault.is_some()
    }

    #[must_use]
    pub fn json(&self) -> Value {
        let (detail, help) = self.fault.clone().unzip();
        let name = self.kind.to_string();
        json!({"name": name, "ok": self.fault.is_none(), "detail": detail, "help": help})
    }
}

/// Checks tools, credentials and disk. That the pack is there is known already. `probe` asks the
/// tools that the profile wants in certain versions.
#[must_use]
pub fn preflight(prepared: &Prepared, probe: &dyn Probe) -> Vec<Check> {
    let pack = Check::new(CheckKind::Pack(prepared.spec.execution.pack.to_string()), None);
    let mut checks = vec![pack];
    for program in programs(prepared) {
        let fault = missing_tool(prepared, program);
        checks.push(Check::new(CheckKind::Tool(program.to_owned()), fault));
    }
    checks.extend(versions::checks(prepared, probe));
    let missing = prepared.credentials.missing();
    for name in &prepared.spec.credentials {
        let credentials = &prepared.credentials;
        let unusable = credentials.fault(name).or(credentials.lack(name)).cloned();
        let fault = unusable.map(|it| (it.message, it.help)).or_else(|| {
            let file = prepared.root.credentials().join(format!("{name}.credentials.env"));
            let help = format!("put them in `{}`", file.display());
            let is_missing = missing.contains(name);
            is_missing.then(|| (format!("missing credentials `{name}`"), help))
        });
        checks.push(Check::new(CheckKind::Credentials(name.clone()), fault));
    }
    checks.extend(contracts(prepared));
    checks.push(Check::new(CheckKind::Root, unwritable(prepared.root.path())));
    checks.extend(disk(prepared));
    checks
}

/// The programs that the tools and the strict hooks begin with, each once.
fn programs(prepared: &Prepared) -> Vec<&str> {
    let mut programs = Vec::new();
    let tools = prepared.work.tools.iter().filter_map(|tool| tool.words.first());
    // What a run can do without must not stop it.
    let hooks = prepared.hooks.iter().filter(|hook| hook.strict).filter_map(HookStep::program);
    for program in tools.map(String::as_str).chain(hooks) {
        if !programs.contains(&program) {
            programs.push(program);
        }
    }
    programs
}

/// Where a program is that a tool begins with.
pub(super) fn located(prepared: &Prepared, program: &str) -> Option<PathBuf> {
    match program.contains('/') {
        true => Some(prepared.pack.stack.join(program)).filter(|path| path.is_file()),
        false => prepared.programs.find(program),
    }
}

fn missing_tool(prepared: &Prepared, program: &str) -> Option<Fault> {
    let programs = &prepared.programs;
    let message = match located(prepared, program) {
        None => format!("the program `{program}` is not installed"),
        Some(path) => programs
            .missing_for(&path)
            .map(|it| format!("`{program}` is a script for `{it}`, which is not installed"))?,
    };
    let help = match programs.is_empty() {
        true => "`PATH` is empty: set it",
        false => "install it, or add its directory to `PATH`",
    };
    Some((message, help.to_owned()))
}

/// Whether the credentials that are there hold what the profile wants in them.
fn contracts(prepared: &Prepared) -> impl Iterator<Item = Check> {
    let contracts = &prepared.profile.policy.credential_contracts;
    let named = prepared.spec.credentials.iter();
    named.filter_map(|id| {
        let wanted = contracts.get(id)?;
        let files = prepared.credentials.files.get(id).filter(|files| !files.is_empty())?;
        if prepared.credentials.fault(id).is_some() {
            return None;
        }
        let missing = prepared.credentials.unassigned(id, wanted);
        let fault = (!missing.is_empty()).then(|| {
            let missing = listed(missing);
            let files: Vec<String> = files.iter().map(|it| it.display().to_string()).collect();
            (
                format!("the credentials `{id}` have no value for {missing}"),
                format!("add it in {}", listed(files.iter().map(String::as_str))),
            )
        });
        Some(Check::new(CheckKind::CredentialContract(id.clone()), fault))
    })
}

/// Whether something could be written below a directory that may not be there yet.
fn unwritable(root: &Path) -> Option<Fault> {
    let there = root.ancestors().find(|path| path.exists()).unwrap_or(root);
    let (why, help) = match rustix::fs::access(there, Access::WRITE_OK | Access::EXEC_OK) {
        Err(error) => (error.to_string(), "make this root writable"),
        // A disk whose free space is unknown may still be written to.
        Ok(()) => {
            let is_administrator = rustix::process::geteuid().is_root();
            let why = statvfs(there).ok().and_then(|found| full(&found, is_administrator))?;
            (why.to_owned(), "free space on the disk of this root")
        }
    };
    Some((
        format!("cannot write below `{}`: {why}", there.display()),
        format!("name another root with `--root DIR`, or {help}"),
    ))
}

/// Why nothing more fits on a disk. Some file systems count nothing, or no inodes: all is zero there.
fn full(found: &StatVfs, is_administrator: bool) -> Option<&'static str> {
    let (blocks, inodes) = match is_administrator {
        // What is kept back is kept for the administrator.
        true => (found.f_bfree, found.f_ffree),
        false => (found.f_bavail, found.f_favail),
    };
    if found.f_blocks > 0 && blocks == 0 {
        return Some("its disk is full");
    }
    (found.f_files > 0 && inodes == 0).then_some("its disk has no free inodes")
}

fn disk(prepared: &Prepared) -> Option<Check> {
    let wanted = prepared.profile.policy.min_free_disk_mb?;
    // A root that is not there yet will be made on the disk of what is.
    let root = prepared.root.path();
    let there = root.ancestors().find(|path| path.exists()).unwrap_or(root);
    let fault = match statvfs(there) {
        Ok(found) => {
            let free = (found.f_bavail.saturating_mul(found.f_frsize)) >> 20;
            let root = root.display();
            (free < u64::from(wanted)).then(|| {
                (
                    format!("{free} MiB are free below `{root}`, but {wanted} MiB are required"),
                    "free some space, or name another root with `--root DIR`".to_owned(),
                )
            })
        }
        Err(error) => {
            let message = format!("the disk cannot be checked: {error}");
            Some((message, "check the runtime root".to_owned()))
        }
    };
    Some(Check::new(CheckKind::Disk, fault))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with room, changed.
    fn disk(change: impl Fn(&mut StatVfs)) -> StatVfs {
        let mut found = statvfs("/").unwrap();
        (found.f_blocks, found.f_bfree, found.f_bavail) = (100, 10, 5);
        (found.f_files, found.f_ffree, found.f_favail) = (100, 10, 5);
        change(&mut found);
        found
    }

    #[test]
    fn a_disk_is_full_without_blocks_or_without_inodes() {
        for is_administrator in [false, true] {
            assert_eq!(full(&disk(|_| {}), is_administrator), None);
            let no_blocks = disk(|it| (it.f_bfree, it.f_bavail) = (0, 0));
            assert!(full(&no_blocks, is_administrator).unwrap().contains("disk is full"));
            let no_inodes = disk(|it| (it.f_ffree, it.f_favail) = (0, 0));
            assert!(full(&no_inodes, is_administrator).unwrap().contains("no free inodes"));
        }
    }

    #[test]
    fn what_is_kept_back_is_for_the_administrator_alone() {
        for kept_back in [disk(|it| it.f_bavail = 0), disk(|it| it.f_favail = 0)] {
            assert!(full(&kept_back, false).is_some());
            assert_eq!(full(&kept_back, true), None);
        }
    }

    #[test]
    fn a_disk_that_counts_nothing_is_not_full() {
        let uncounted = disk(|it| {
            (it.f_blocks, it.f_bfree, it.f_bavail) = (0, 0, 0);
            (it.f_files, it.f_ffree, it.f_favail) = (0, 0, 0);
        });
        assert_eq!(full(&uncounted, false), None);
    }
}
