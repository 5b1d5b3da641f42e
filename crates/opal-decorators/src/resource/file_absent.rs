use std::path::{Path, PathBuf};

use opal_core::Data;
use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Capability, Descriptor, Example, Param, Resource};
use opal_core::files::{Entry, EntryKind};
use opal_core::resolver::{Inputs, Probe, Trouble, TroubleKind};
use opal_core::resource::{Finding, Verify};

use super::{diff, paths, removal};
use crate::common::{DEPENDS_ON, ID, NAME, VERIFY_TIMEOUT};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "file.absent",
    summary: "nothing exists at a path",
    docs: "Removes a file, a symlink or an empty directory. If nothing exists at the path, there \
           is nothing to do. Of a symlink only the link itself is removed, not its target.\n\n\
           A directory that is not empty blocks the step, so that a wrong path does not delete a \
           tree of files; `recursive=true` removes it with its content.\n\n\
           ## Statuses\n\n\
           - `satisfied`: nothing exists at the path.\n\
           - `drifted`: something exists at the path.\n\
           - `blocked`: it is a directory that is not empty, without `recursive=true`; a file \
           system is mounted in it; it is the directory in which relative paths start, or a \
           parent of it; or the path has no name at its end, such as `/`.",
    params: &[
        Param::required("path", "the path to remove; `~` is the home directory"),
        Param::flag("recursive", "remove a directory that is not empty"),
        ID,
        DEPENDS_ON,
        VERIFY_TIMEOUT,
        NAME,
    ],
    resource: Some(Resource { yaml: "absent", key: &["path"], verify: &FileAbsent }),
    action: Some(&FileAbsent),
    capabilities: &[Capability::FilesRead, Capability::FilesWrite],
    examples: &[Example {
        title: "remove the leftovers of an old version",
        source: "fun clean() {\n    @file.absent(\"/etc/nginx/sites-enabled/default\")\n    \
                 @file.absent(\"/var/cache/app\", recursive=true)\n}\n",
    }],
    ..Descriptor::BASE
};

#[derive(Debug)]
struct FileAbsent;

struct Wanted {
    path: PathBuf,
    recursive: bool,
}

impl Wanted {
    fn new(inputs: &Inputs, probe: &dyn Probe) -> Result<Self, Trouble> {
        let path = paths::path(inputs, "path", probe)?;
        if path.file_name().is_none() {
            return Err(Trouble::new(
                TroubleKind::Invalid,
                format!("`{}` cannot be removed", path.display()),
                "write its name, without `..` or `/` at the end",
            ));
        }
        Ok(Self { path, recursive: inputs.is_true("recursive") })
    }
}

/// What is there, and, of a directory, how much it holds.
#[derive(Clone, Copy, Debug)]
struct Facts {
    entry: Entry,
    names: usize,
}

impl Facts {
    fn read(path: &Path, probe: &dyn Probe) -> Result<Option<Self>, Trouble> {
        let Some(entry) = probe.stat(path)? else { return Ok(None) };
        let is_directory = entry.kind == EntryKind::Directory;
        let names = if is_directory { probe.list(path)?.len() } else { 0 };
        Ok(Some(Self { entry, names }))
    }
}

impl Verify for FileAbsent {
    fn verify(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Finding, Trouble> {
        let wanted = Wanted::new(inputs, probe)?;
        let facts = Facts::read(&wanted.path, probe)?;
        let finding = decide(&wanted, facts)?;
        if facts.is_some_and(|it| it.entry.kind != EntryKind::Link) {
            removal::demand_removable(&wanted.path, probe)?;
        }
        Ok(finding)
    }
}

fn decide(wanted: &Wanted, facts: Option<Facts>) -> Result<Finding, Trouble> {
    let path = wanted.path.display();
    let Some(Facts { entry, names }) = facts else {
        return Ok(Finding::satisfied(format!("`{path}` does not exist")));
    };
    let held = if names == 1 { "1 entry".to_owned() } else { format!("{names} entries") };
    if names > 0 && !wanted.recursive {
        return Err(Trouble::new(
            TroubleKind::Invalid,
            format!("`{path}` is a directory that is not empty: it contains {held}"),
            "set `recursive=true` to remove it with its content",
        ));
    }
    let kind = entry.kind.name();
    let details = match names {
        0 => format!("{kind}\n"),
        _ => format!("{kind} with {held}\n"),
    };
    let of = path.to_string();
    let details = diff::unified((&of, b""), (&of, details.as_bytes()));
    Ok(Finding::drifted(format!("`{path}` exists: {kind}")).with_details(details))
}

impl Action for FileAbsent {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let removed = {
            let probe = stage.probe();
            Wanted::new(inputs, &*probe).and_then(|wanted| {
                self.verify(inputs, &*probe)?;
                stage.files().remove(&wanted.path, wanted.recursive)
            })
        };
        removed.map(|()| Data::Null).map_err(|trouble| stage.fail(1, trouble))
    }
}

#[cfg(test)]
mod tests {
    use opal_core::resource::Status;

    use super::*;

    #[test]
    fn what_is_found_decides() {
        let facts = |kind, names| {
            Some(Facts { entry: Entry { kind, mode: 0, owner: 0, group: 0, bytes: 0 }, names })
        };
        for (recursive, facts, status) in [
            (false, None, Some(Status::Satisfied)),
            (false, facts(EntryKind::File, 0), Some(Status::Drifted)),
            (false, facts(EntryKind::Link, 0), Some(Status::Drifted)),
            (false, facts(EntryKind::Other, 0), Some(Status::Drifted)),
            (false, facts(EntryKind::Directory, 0), Some(Status::Drifted)),
            (false, facts(EntryKind::Directory, 2), None),
            (true, facts(EntryKind::Directory, 2), Some(Status::Drifted)),
        ] {
            let decided = decide(&Wanted { path: "/x".into(), recursive }, facts);
            assert_eq!(decided.as_ref().ok().map(|it| it.status), status, "{facts:?}");
            if let Err(trouble) = decided {
                assert!(trouble.message.contains("`/x` is a directory that is not empty"));
                assert!(trouble.help[0].contains("recursive=true"));
            }
        }
    }
}
