use std::path::{Path, PathBuf};

use opal_core::Data;
use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Capability, Descriptor, Example, Param, Resource};
use opal_core::files::EntryKind;
use opal_core::resolver::{Inputs, Probe, Trouble, TroubleKind};
use opal_core::resource::{Finding, Verify};

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

    /// A symlink may name it relative to itself.
    fn is_meant_by(&self, said: &Path) -> bool {
        let above = self.target.parent().unwrap_or(Path::new("/"));
        above.join(said) == self.source
    }
}

#[derive(Clone, Debug)]
enum Facts {
    Nothing,
    /// A link and what it says.
    Link(PathBuf),
    Else(EntryKind),
}

impl Facts {
    /// Trouble where something is to make room that has to stay.
    fn read(Wanted { target, force, .. }: &Wanted, probe: &dyn Probe) -> Result<Self, Trouble> {
        Ok(match paths::look(target, probe)?.map(|entry| entry.kind) {
            None => Self::Nothing,
            Some(EntryKind::Link) => Self::Link(probe.read_link(target)?),
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
        Facts::Link(to) if wanted.is_meant_by(to) => {
            Ok(Finding::satisfied(format!("`{target}` points to `{source}`")))
        }
        Facts::Link(to) => {
            let message = format!("`{target}` points to `{}`, expected `{source}`", to.display());
            Ok(Finding::drifted(message).with_details(differing(wanted, &to.to_string_lossy())))
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

fn differing(wanted: &Wanted, actual: &str) -> String {
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

    use super::*;

    fn wanted(force: bool) -> Wanted {
        Wanted { source: "/a/source".into(), target: "/a/link".into(), force }
    }

    #[test]
    fn what_is_found_decides() {
        let link = |to: &str| Facts::Link(to.into());
        for (force, facts, status) in [
            (false, Facts::Nothing, Some(Status::Missing)),
            (false, link("/a/source"), Some(Status::Satisfied)),
            (false, link("source"), Some(Status::Satisfied)),
            (false, link("/a/other"), Some(Status::Drifted)),
            (true, link("/a/other"), Some(Status::Drifted)),
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
    fn details_are_where_it_points_and_where_it_should() {
        let finding = decide(&wanted(false), &Facts::Link("/b".into())).unwrap();
        assert!(finding.details.unwrap().expose().contains("-/a/source\n+/b\n"));
    }
}
