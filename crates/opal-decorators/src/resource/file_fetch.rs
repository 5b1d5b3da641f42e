//! A copy on opal's machine of what is on a target.
//!
//! The target is not trusted: it says which files there are, and what is in them. So names are single
//! parts of paths (the tree is checked when it is decoded), nothing is written but files and directories
//! beneath one directory, no link is followed or made there, and sizes are counted here.

mod making;
mod place;

use std::path::{Path, PathBuf};

use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Capability, Descriptor, Example, Param, Presence, Resource, Site};
use opal_core::files::EntryKind;
use opal_core::hash::{Algorithm, Digest};
use opal_core::resolver::{Inputs, Links, Probe, Trouble, TroubleKind};
use opal_core::resource::{Details, Finding, Verify};
use opal_core::target::INSIDE_A_TARGET;
use opal_core::tree::{TreeEntry, TreeLimits, below};
use opal_core::view::visible;
use opal_core::{Data, Type, Value};

use super::{links, paths};
use crate::common::{DEPENDS_ON, ID, NAME, VERIFY_TIMEOUT};
use place::Place;

/// Differences that details name.
const MAX_NAMED: usize = 20;

const MAX_BYTES: i64 = 1 << 30;
const MAX_ENTRIES: i64 = 100_000;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "file.fetch",
    summary: "a copy on opal's machine of a file or a directory of a target",
    docs: "Copies a file, or a directory with its content, from the target of the block to opal's \
           machine. The copy is beneath the directory `to`, under the name that it has on the target; in \
           a block on several hosts each has a directory of its own: `to/web1/…`. A copy that differs is \
           replaced. Files of `to` that the target does not have are not touched.\n\n\
           The target is not trusted: only files and directories are made, never symlinks, and nothing \
           outside `to`. Symlinks and special files of the target are left out. Files get the permissions \
           that they have on the target, without set-uid, set-gid and sticky bits. A relative `to` must be \
           inside the project, and no part of it may be a symlink.\n\n\
           ## Statuses\n\n\
           - `satisfied`: every file and directory of the target is there, with the same content.\n\
           - `missing`: nothing exists at the place of the copy.\n\
           - `drifted`: files are missing, or differ.\n\
           - `blocked`: the path does not exist on the target, or is larger than `max_bytes` or \
           `max_entries`; one is a file and the other a directory; a symlink is in the way; or `to` is outside \
           the project.",
    params: &[
        Param::required("path", "the file or directory on the target"),
        Param::required("to", "the directory on opal's machine that gets the copy"),
        Param {
            name: "max_bytes",
            ty: Type::Int,
            presence: Presence::Default(Value::Int(MAX_BYTES)),
            range: Some((1, 1 << 40)),
            docs: "how many bytes the copy may have at most",
            ..Param::BASE
        },
        Param {
            name: "max_entries",
            ty: Type::Int,
            presence: Presence::Default(Value::Int(MAX_ENTRIES)),
            range: Some((1, 200_000)),
            docs: "how many files and directories the copy may have at most",
            ..Param::BASE
        },
        ID,
        DEPENDS_ON,
        VERIFY_TIMEOUT,
        NAME,
    ],
    resource: Some(Resource { yaml: "fetch", key: &["to", "path"], verify: &FileFetch }),
    action: Some(&FileFetch),
    site: Site::Facts,
    capabilities: &[Capability::FilesRead, Capability::FilesWrite],
    examples: &[
        Example {
            title: "the log of a service",
            source: "fun log() {\n    @ssh.host(\"web1.example.com\") {\n        \
                     @file.fetch(\"/var/log/app.log\", to=\"logs\")\n    }\n}\n",
        },
        Example {
            title: "the configuration of every host: `conf/web1/app`, `conf/web2/app`",
            source: "fun configurations() {\n    @ssh.hosts([\"web1\", \"web2\"]) {\n        \
                     @file.fetch(\"/etc/app\", to=\"conf\")\n    }\n}\n",
        },
    ],
    ..Descriptor::BASE
};

#[derive(Debug)]
struct FileFetch;

/// What the target has, and what of it is not here.
#[derive(Debug)]
struct Facts {
    /// On the target, links followed.
    source: PathBuf,
    place: Place,
    tree: Vec<TreeEntry>,
    /// Indices into the tree.
    differing: Vec<Differing>,
    /// Symlinks and special files of the target.
    left_out: usize,
    limits: TreeLimits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Differing {
    index: usize,
    is_there: bool,
}

impl Facts {
    fn read(inputs: &Inputs, probe: &dyn Probe) -> Result<Self, Trouble> {
        let origin = probe.origin().ok_or_else(no_target)?;
        let number = |name| match inputs.data(name) {
            Some(Data::Int(number)) => u64::try_from(*number).unwrap_or(0),
            _ => 0,
        };
        let entries = usize::try_from(number("max_entries")).unwrap_or(usize::MAX);
        let limits = TreeLimits { entries, bytes: number("max_bytes") };
        let named = paths::path(inputs, "path", probe)?;
        let place = Place::new(inputs, &named, &*origin)?;
        let source = links::resolved(&named, probe)?;
        let tree = probe.tree(&source, &limits)?;
        let mut facts = Self { source, place, tree, differing: Vec::new(), left_out: 0, limits };
        facts.compare(&*origin)?;
        Ok(facts)
    }

    fn compare(&mut self, origin: &dyn Probe) -> Result<(), Trouble> {
        for (index, TreeEntry { path, entry, digest }) in self.tree.iter().enumerate() {
            if !matches!(entry.kind, EntryKind::File | EntryKind::Directory) {
                if path.as_os_str().is_empty() {
                    return Err(special(&self.source, entry.kind));
                }
                self.left_out += 1;
                continue;
            }
            let here = below(&self.place.copy, path);
            let Some(found) = origin.stat(&here)? else {
                self.differing.push(Differing { index, is_there: false });
                continue;
            };
            if found.kind != entry.kind {
                return Err(other_kind(&here, entry.kind, found.kind));
            }
            let links = Links::FollowedTo(&self.place.anchor);
            if digest.is_some() && origin.digest(&here, links).map(Some)? != *digest {
                self.differing.push(Differing { index, is_there: true });
            }
        }
        Ok(())
    }

    fn decide(&self) -> Finding {
        let copy = self.place.copy.display();
        let left_out = match self.left_out {
            0 => String::new(),
            1 => ", without 1 symlink or special file".to_owned(),
            count => format!(", without {count} symlinks and special files"),
        };
        let is_missing = |it: &Differing| it.index == 0 && !it.is_there;
        if self.differing.is_empty() {
            let source = self.source.display();
            return Finding::satisfied(format!("`{copy}` is a copy of `{source}`{left_out}"));
        }
        let finding = match self.differing.iter().any(is_missing) {
            true => Finding::missing(format!("`{copy}` does not exist{left_out}")),
            false => {
                let count = self.differing.len();
                let places = if count == 1 { "place" } else { "places" };
                Finding::drifted(format!("`{copy}` differs in {count} {places}{left_out}"))
            }
        };
        finding.with_details(self.details()).with_content(self.content())
    }

    fn details(&self) -> Details {
        let named = self.differing.iter().take(MAX_NAMED).map(|it| {
            let word = if it.is_there { "differs" } else { "missing" };
            let path = below(&self.place.copy, &self.tree[it.index].path);
            format!("{word}: {}\n", visible::path(&path))
        });
        let mut words: String = named.collect();
        if let Some(more @ 1..) = self.differing.len().checked_sub(MAX_NAMED) {
            words.push_str(&format!("and {more} more\n"));
        }
        Details::words(words)
    }

    /// Of what would be written.
    fn content(&self) -> Digest {
        let mut whole = Algorithm::Sha256.hasher();
        for Differing { index, .. } in &self.differing {
            let TreeEntry { path, digest, .. } = &self.tree[*index];
            whole.update(path.as_os_str().as_encoded_bytes());
            whole.update(&[0]);
            whole.update(digest.as_ref().map_or(&[][..], |digest| &digest.0));
        }
        whole.finish()
    }
}

impl Verify for FileFetch {
    fn verify(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Finding, Trouble> {
        Facts::read(inputs, probe).map(|facts| facts.decide())
    }
}

impl Action for FileFetch {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let made = {
            let probe = stage.probe();
            Facts::read(inputs, &*probe)
                .and_then(|facts| making::make(&facts, &*probe, &*stage.origin_files()))
        };
        made.map(|()| Data::Null).map_err(|trouble| stage.fail(1, trouble))
    }
}

fn no_target() -> Trouble {
    let message = "`@file.fetch` outside a block that runs on a target";
    let help = format!("{INSIDE_A_TARGET}; `@file.copy` copies on one machine");
    Trouble::new(TroubleKind::Invalid, message, help)
}

fn special(path: &Path, kind: EntryKind) -> Trouble {
    let message = format!("`{}` is {}", path.display(), kind.name());
    Trouble::new(TroubleKind::Invalid, message, "fetch a file or a directory")
}

fn other_kind(path: &Path, expected: EntryKind, actual: EntryKind) -> Trouble {
    Trouble::new(
        TroubleKind::Invalid,
        format!(
            "`{}` is {} where the target has {}",
            path.display(),
            actual.name(),
            expected.name()
        ),
        "move it away, or fetch to another directory",
    )
}
