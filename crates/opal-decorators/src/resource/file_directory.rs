use std::path::PathBuf;

use opal_core::Data;
use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Capability, Descriptor, Example, Param, Resource};
use opal_core::files::{Attributes, Entry, EntryKind};
use opal_core::resolver::{Inputs, Probe, Trouble, TroubleKind};
use opal_core::resource::{Details, Finding, Verify};

use super::paths;
use super::properties::{self, Property};
use crate::common::{DEPENDS_ON, GROUP, ID, MODE, NAME, OWNER, VERIFY_TIMEOUT};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "file.directory",
    summary: "a directory with its owner and permissions",
    docs: "Creates the directory and its parents if they do not exist. Permissions, owner and \
           group are checked and corrected only if they are given, and only for the directory \
           itself, never for its content.\n\n\
           If something else has that name, the step is blocked: nothing is deleted.\n\n\
           ## Statuses\n\n\
           - `satisfied`: the directory exists, with the given permissions, owner and group.\n\
           - `missing`: nothing exists at the path.\n\
           - `drifted`: permissions, owner or group differ from the given ones.\n\
           - `blocked`: a symlink or anything else that is not a directory has that name, or the \
           owner or group does not exist.",
    params: &[
        Param::required("path", "the directory; `~` is the home directory"),
        MODE,
        OWNER,
        GROUP,
        ID,
        DEPENDS_ON,
        VERIFY_TIMEOUT,
        NAME,
    ],
    resource: Some(Resource { yaml: "directory", key: &["path"], verify: &FileDirectory }),
    action: Some(&FileDirectory),
    capabilities: &[Capability::FilesRead, Capability::FilesWrite],
    examples: &[Example {
        title: "a data directory for a service",
        source: "fun prepare() {\n    \
                 @file.directory(\"/var/lib/app\", mode=\"0750\", owner=\"app\", \
                 group=\"app\")\n}\n",
    }],
    ..Descriptor::BASE
};

#[derive(Debug)]
struct FileDirectory;

struct Wanted {
    path: PathBuf,
    attributes: Attributes,
}

impl Wanted {
    fn new(inputs: &Inputs, probe: &dyn Probe) -> Result<Self, Trouble> {
        let path = paths::path(inputs, "path", probe)?;
        Ok(Self { path, attributes: paths::attributes(inputs, probe)? })
    }
}

impl Verify for FileDirectory {
    fn verify(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Finding, Trouble> {
        let wanted = Wanted::new(inputs, probe)?;
        let found = paths::stat_creatable(&wanted.path, probe)?;
        if found.is_some_and(|it| it.kind == EntryKind::Link) {
            return Err(paths::is_link(&wanted.path, probe));
        }
        decide(&wanted, found)
    }
}

fn decide(wanted: &Wanted, found: Option<Entry>) -> Result<Finding, Trouble> {
    let path = wanted.path.display();
    let Some(found) = found else {
        let missing = Finding::missing(format!("the directory `{path}` does not exist"));
        let given = paths::given(&wanted.attributes);
        return Ok(if given.is_empty() {
            missing
        } else {
            missing.with_details(Details::words(given))
        });
    };
    if found.kind != EntryKind::Directory {
        return Err(Trouble::new(
            TroubleKind::Invalid,
            format!("`{path}` is {}, not a directory", found.kind.name()),
            format!("move it away, or remove it with `@file.absent(\"{path}\")`"),
        ));
    }
    let properties = paths::compared(&wanted.attributes, &found);
    if properties.iter().any(Property::differs) {
        let message = format!("`{path}` differs: {}", properties::differing(&properties));
        let details = properties::compared(&path.to_string(), &properties);
        return Ok(Finding::drifted(message).with_details(details));
    }
    Ok(Finding::satisfied(format!("`{path}` exists")))
}

impl Action for FileDirectory {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let made = Wanted::new(inputs, &*stage.probe())
            .and_then(|wanted| stage.files().make_directory(&wanted.path, &wanted.attributes));
        made.map(|()| Data::Null).map_err(|trouble| stage.fail(1, trouble))
    }
}

#[cfg(test)]
mod tests {
    use opal_core::resource::Status;

    use super::*;

    fn found(kind: EntryKind, mode: u32, owner: u32) -> Option<Entry> {
        Some(Entry { kind, mode, owner, group: 0, bytes: 0 })
    }

    #[test]
    fn what_is_found_decides() {
        let any = Attributes::default();
        let strict = Attributes { mode: Some(0o750), owner: Some(33), group: None };
        let directory = EntryKind::Directory;
        for (attributes, found, status) in [
            (any, None, Some(Status::Missing)),
            (any, found(directory, 0o700, 5), Some(Status::Satisfied)),
            (strict, found(directory, 0o750, 33), Some(Status::Satisfied)),
            (strict, found(directory, 0o755, 33), Some(Status::Drifted)),
            (strict, found(directory, 0o1750, 33), Some(Status::Drifted)),
            (strict, found(directory, 0o750, 0), Some(Status::Drifted)),
            (any, found(EntryKind::File, 0o644, 0), None),
            (any, found(EntryKind::Other, 0o644, 0), None),
        ] {
            let wanted = Wanted { path: "/d".into(), attributes };
            let decided = decide(&wanted, found);
            assert_eq!(decided.as_ref().ok().map(|it| it.status), status, "{found:?}");
            if let Err(trouble) = decided {
                assert!(trouble.message.contains("`/d` is ") && !trouble.help.is_empty());
            }
        }
    }

    #[test]
    fn details_say_what_it_is_and_what_it_should_be() {
        let attributes = Attributes { mode: Some(0o750), owner: Some(0), group: None };
        let wanted = Wanted { path: "/d".into(), attributes };
        let finding = decide(&wanted, found(EntryKind::Directory, 0o755, 0)).unwrap();
        assert_eq!(finding.message.expose(), "`/d` differs: mode 0755, expected 0750");
        let details = finding.details.unwrap().report();
        assert!(details.contains("-mode: 0750\n+mode: 0755\n owner: 0\n"));
    }
}
