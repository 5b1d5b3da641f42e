use std::path::{Component, Path, PathBuf};

use opal_core::Data;
use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Capability, Descriptor, Example, Param, Resource};
use opal_core::files::EntryKind;
use opal_core::resolver::{Inputs, Probe, Trouble, TroubleKind};
use opal_core::resource::{Details, Finding, Verify};

use super::{diff, paths, removal};
use crate::common::{DEPENDS_ON, ID, NAME, VERIFY_TIMEOUT};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "file.symlink",
    summary: "a symlink",
    docs: "Keeps a symlink that points to the right target. The order is the order of `ln -s`: \
           first the file that it points to, then the symlink. A symlink that points elsewhere is \
           corrected.\n\n\
           If a file or directory is in the place of the symlink, the step is blocked, because \
           creating the symlink would destroy it; `force=true` replaces it.\n\n\
           ## Statuses\n\n\
           - `satisfied`: the symlink points to `source`, with an absolute or a relative path; \
           `source` need not exist.\n\
           - `missing`: nothing is in the place of the symlink.\n\
           - `drifted`: the symlink points elsewhere, or, with `force=true`, something else is in \
           its place.\n\
           - `blocked`: a file or a directory is in its place, without `force=true`; or a \
           directory is in its place that cannot be removed, as for `@file.absent`.",
    params: &[
        Param::required("source", "the path that the symlink points to"),
        Param::required("target", "the symlink itself"),
        Param::flag("force", "replace a file or directory in the place of the symlink"),
        ID,
        DEPENDS_ON,
        VERIFY_TIMEOUT,
        NAME,
    ],
    resource: Some(Resource { yaml: "symlink", key: &["target"], verify: &FileSymlink }),
    action: Some(&FileSymlink),
    capabilities: &[Capability::FilesRead, Capability::FilesWrite],
    examples: &[Example {
        title: "link a configuration into the home directory",
        source: "fun dotfiles() {\n    @file.symlink(\"~/dotfiles/vimrc\", \"~/.vimrc\")\n}\n",
    }],
    ..Descriptor::BASE
};

#[derive(Debug)]
struct FileSymlink;

struct Wanted {
    source: PathBuf,
    target: PathBuf,
    force: bool,
}

impl Wanted {
    fn new(inputs: &Inputs, probe: &dyn Probe) -> Result<Self, Trouble> {
        let source = paths::path(inputs, "source", probe)?;
        let target = paths::path(inputs, "target", probe)?;
        if source == target {
            return Err(Trouble::new(
                TroubleKind::Invalid,
                format!("`{}` cannot point to itself", target.display()),
                "write the path it points to first, then the symlink",
            ));
        }
        Ok(Self { source, target, force: inputs.is_true("force") })
    }
}

/// Whether the text of a symlink means the source, however both are written.
fn is_meant(wanted: &Wanted, said: &Path, probe: &dyn Probe) -> Result<bool, Trouble> {
    let said = wanted.target.parent().unwrap_or(Path::new("/")).join(said);
    if said == wanted.source {
        return Ok(true);
    }
    let (said, source) = (direct(&said, probe)?, direct(&wanted.source, probe)?);
    Ok(said.is_some() && said == source)
}

/// A path without `..`. None where that cannot be seen from its text: what is before a `..` is not a
/// directory, but a symlink or nothing.
fn direct(whole: &Path, probe: &dyn Probe) -> Result<Option<PathBuf>, Trouble> {
    let mut path = PathBuf::new();
    for part in whole.components() {
        if part != Component::ParentDir {
            path.push(part);
            continue;
        }
        let entry = probe.stat(&path)?;
        if entry.is_none_or(|entry| entry.kind != EntryKind::Directory) {
            return Ok(None);
        }
        path.pop();
    }
    Ok(Some(path))
}

#[derive(Clone, Debug)]
enum Facts {
    Nothing,
    /// A symlink: its text, and whether that means the source.
    Link {
        said: PathBuf,
        is_right: bool,
    },
    Else(EntryKind),
}

impl Facts {
    /// Trouble where something is to make room that has to stay.
    fn read(wanted: &Wanted, probe: &dyn Probe) -> Result<Self, Trouble> {
        let Wanted { target, force, .. } = wanted;
        Ok(match paths::stat_creatable(target, probe)?.map(|entry| entry.kind) {
            None => Self::Nothing,
            Some(EntryKind::Link) => {
                let said = probe.read_link(target)?;
                let is_right = is_meant(wanted, &said, probe)?;
                Self::Link { said, is_right }
            }
            Some(kind) => {
                if *force {
                    removal::demand_removable(target, probe)?;
                }
                Self::Else(kind)
            }
        })
    }
}

impl Verify for FileSymlink {
    fn verify(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Finding, Trouble> {
        let wanted = Wanted::new(inputs, probe)?;
        decide(&wanted, &Facts::read(&wanted, probe)?)
    }
}

fn decide(wanted: &Wanted, facts: &Facts) -> Result<Finding, Trouble> {
    let (source, target) = (wanted.source.display(), wanted.target.display());
    match facts {
        Facts::Nothing => {
            let missing = Finding::missing(format!("the symlink `{target}` does not exist"));
            Ok(missing.with_details(differing(wanted, "")))
        }
        Facts::Link { is_right: true, .. } => {
            Ok(Finding::satisfied(format!("`{target}` points to `{source}`")))
        }
        Facts::Link { said, .. } => {
            let message = format!("`{target}` points to `{}`, expected `{source}`", said.display());
            Ok(Finding::drifted(message).with_details(differing(wanted, &said.to_string_lossy())))
        }
        Facts::Else(kind) if wanted.force => {
            let message = format!("`{target}` is {}, not a symlink", kind.name());
            Ok(Finding::drifted(message).with_details(differing(wanted, kind.name())))
        }
        Facts::Else(kind) => Err(Trouble::new(
            TroubleKind::Invalid,
            format!("`{target}` is {}, not a symlink", kind.name()),
            "move it away, or set `force=true` to replace it with the symlink",
        )),
    }
}

fn differing(wanted: &Wanted, actual: &str) -> Details {
    let of = wanted.target.to_string_lossy();
    let expected = format!("{}\n", wanted.source.display());
    let actual = if actual.is_empty() { String::new() } else { format!("{actual}\n") };
    diff::unified((&of, expected.as_bytes()), (&of, actual.as_bytes()))
}

impl Action for FileSymlink {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let made = {
            let probe = stage.probe();
            Wanted::new(inputs, &*probe).and_then(|wanted| {
                Facts::read(&wanted, &*probe)?;
                stage.files().make_link(&wanted.target, &wanted.source, wanted.force)
            })
        };
        made.map(|()| Data::Null).map_err(|trouble| stage.fail(1, trouble))
    }
}

#[cfg(test)]
mod tests {
    use opal_core::resource::Status;
    use opal_testing::MemoryWorld;

    use super::*;

    fn wanted(force: bool) -> Wanted {
        Wanted { source: "/a/source".into(), target: "/a/link".into(), force }
    }

    #[test]
    fn what_is_found_decides() {
        let link = |is_right| Facts::Link { said: "source".into(), is_right };
        for (force, facts, status) in [
            (false, Facts::Nothing, Some(Status::Missing)),
            (false, link(true), Some(Status::Satisfied)),
            (false, link(false), Some(Status::Drifted)),
            (true, link(false), Some(Status::Drifted)),
            (false, Facts::Else(EntryKind::File), None),
            (false, Facts::Else(EntryKind::Directory), None),
            (true, Facts::Else(EntryKind::File), Some(Status::Drifted)),
            (true, Facts::Else(EntryKind::Directory), Some(Status::Drifted)),
        ] {
            let decided = decide(&wanted(force), &facts);
            assert_eq!(decided.as_ref().ok().map(|it| it.status), status, "{facts:?}");
        }
    }

    #[test]
    fn a_symlink_is_right_however_it_writes_the_path_of_the_source() {
        let world = |said| {
            MemoryWorld::default()
                .file("/a/source", "")
                .file("/a/b/d/file", "")
                .link("/a/b/elsewhere", "/x/y")
                .link("/a/b/link", said)
        };
        let wanted =
            Wanted { source: "/a/source".into(), target: "/a/b/link".into(), force: false };
        for (said, is_right) in [
            ("/a/source", true),
            ("../source", true),
            ("./../source", true),
            ("d/../../source", true),
            ("/a/./b/../source", true),
            ("../../a/source", true),
            ("source", false),
            ("../../source", false),
            // `..` of a symlink is where it points, and of a missing directory nowhere.
            ("elsewhere/../../source", false),
            ("absent/../../source", false),
            ("d/file/../../../source", false),
        ] {
            let facts = Facts::read(&wanted, &world(said)).unwrap();
            assert!(
                matches!(facts, Facts::Link { is_right: right, .. } if right == is_right),
                "{said}"
            );
        }
    }

    #[test]
    fn details_are_where_it_points_and_where_it_should() {
        let finding =
            decide(&wanted(false), &Facts::Link { said: "/b".into(), is_right: false }).unwrap();
        assert!(finding.details.unwrap().report().contains("-/a/source\n+/b\n"));
    }
}
