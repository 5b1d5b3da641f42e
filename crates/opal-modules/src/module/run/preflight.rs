//! Whether a run can begin: what it needs is there.

use std::path::Path;

use rustix::fs::{Access, statvfs};
use serde_json::{Value, json};

use super::prepare::Prepared;

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// `tool:ansible-playbook`.
    pub name: String,
    /// What is wrong with it, and the way forward.
    pub fault: Option<(String, String)>,
}

impl Check {
    fn new(name: impl Into<String>, fault: Option<(String, String)>) -> Self {
        Self { name: name.into(), fault }
    }

    #[must_use]
    pub fn json(&self) -> Value {
        let (detail, help) = self.fault.clone().unzip();
        json!({"name": self.name, "ok": self.fault.is_none(), "detail": detail, "help": help})
    }
}

/// Looks at tools, credentials and disk. That the pack is there is known already.
#[must_use]
pub fn preflight(prepared: &Prepared) -> Vec<Check> {
    let pack = Check::new(format!("pack:{}", prepared.spec.execution.pack), None);
    let mut checks = vec![pack];
    for program in programs(prepared) {
        let fault = missing_tool(prepared, program);
        checks.push(Check::new(format!("tool:{program}"), fault));
    }
    let missing = prepared.credentials.missing();
    for name in &prepared.spec.credentials {
        let fault = missing.contains(name).then(|| {
            let folder = prepared.root.credentials();
            (
                format!("the credentials `{name}` are not there"),
                format!(
                    "put them into `{}`",
                    folder.join(format!("{name}.credentials.env")).display()
                ),
            )
        });
        checks.push(Check::new(format!("credentials:{name}"), fault));
    }
    checks.push(Check::new("root", unwritable(prepared.root.path())));
    checks.extend(disk(prepared));
    checks
}

/// The programs that the tools begin with, each once.
fn programs(prepared: &Prepared) -> Vec<&str> {
    let mut programs = Vec::new();
    for program in prepared.work.tools.iter().filter_map(|tool| tool.words.first()) {
        if !programs.contains(&program.as_str()) {
            programs.push(program);
        }
    }
    programs
}

fn missing_tool(prepared: &Prepared, program: &str) -> Option<(String, String)> {
    let is_there = match program.contains('/') {
        true => prepared.pack.stack.join(program).is_file(),
        false => prepared.programs.find(program).is_some(),
    };
    (!is_there).then(|| {
        (
            format!("the program `{program}` is not there"),
            "install it, or put its directory on the PATH".to_owned(),
        )
    })
}

/// Whether something could be written below a directory that may not be there yet.
fn unwritable(root: &Path) -> Option<(String, String)> {
    let there = root.ancestors().find(|path| path.exists()).unwrap_or(root);
    let error = rustix::fs::access(there, Access::WRITE_OK | Access::EXEC_OK).err()?;
    Some((
        format!("nothing can be written below `{}`: {error}", there.display()),
        "name another root with `--root DIR`, or make this one writable".to_owned(),
    ))
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
                    format!("{free} MiB are free below `{root}`, and {wanted} are wanted"),
                    "make room, or name another root with `--root DIR`".to_owned(),
                )
            })
        }
        Err(error) => {
            let message = format!("the disk cannot be looked at: {error}");
            Some((message, "check the runtime root".to_owned()))
        }
    };
    Some(Check::new("disk", fault))
}
