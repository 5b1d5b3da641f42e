mod changes;
mod given;
mod make;
#[cfg(test)]
mod tests;
mod trees;

use std::path::{Path, PathBuf};

use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Capability, Descriptor, Example, Param, Resource};
use opal_core::files::{Attributes, Entry, EntryKind};
use opal_core::hash::{Algorithm, Digest};
use opal_core::resolver::{Inputs, Probe, Trouble, TroubleKind};
use opal_core::resource::{Details, Finding, Status, Verify};
use opal_core::tree::below;
use opal_core::view::visible;
use opal_core::{Data, Type};

use super::sides::Sides;
use super::{diff, paths};
use crate::common::{DEPENDS_ON, GROUP, ID, MODE, NAME, OWNER, VERIFY_TIMEOUT, YES};
use trees::{Chunks, Difference, Facts, How};

/// Differences that are named in one line.
const MAX_NAMED: usize = 3;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "file.copy",
    summary: "a copy of a file or a directory, or a file with a given content",
    docs: "Keeps the destination equal to the source, in content and permissions but not in \
           times; or equal to `content`, which is written unchanged. Give either `source` or \
           `content`. An existing destination that differs may be somebody's work, so it is \
           replaced only with `overwrite=true`; otherwise the step is blocked and shows the \
           difference. Missing parts of a destination are always added.\n\n\
           A directory needs `recursive=true`. Symlinks in it are copied as symlinks. Files of \
           the destination that the source does not have are not touched.\n\n\
           Permissions are all twelve bits. The set-uid and set-gid bits of a file are copied \
           only if the copy belongs to the same user, or group: otherwise the program would run \
           as somebody else. With `preserve_mode=false` the permissions are not compared: an \
           existing file keeps its own. `mode` is for a file and overrides the permissions of the \
           source; `owner` and `group` apply to everything that is copied, except symlinks.\n\n\
           ## Statuses\n\n\
           - `satisfied`: everything in the source is in the destination too, with the same \
           content and, unless `preserve_mode=false`, the same permissions, and with the given \
           `mode`, `owner` and `group`.\n\
           - `missing`: nothing exists at the destination.\n\
           - `drifted`: parts of a directory are missing, or, with `overwrite=true`, something \
           differs.\n\
           - `blocked`: something differs, without `overwrite=true`; the source does not exist, \
           or is a directory without `recursive=true`; one is a file and the other a directory; \
           or the destination is a symlink or is inside the source.",
    params: &[
        Param::optional("source", "the file or directory to copy"),
        Param::required("destination", "the path of the copy itself, not of its directory"),
        Param::optional("content", "the content of the file, instead of a `source`"),
        Param::flag("overwrite", "replace a destination that differs"),
        Param::flag("recursive", "copy a directory with its content"),
        Param {
            name: "preserve_mode",
            ty: Type::Bool,
            presence: YES,
            docs: "give the copy the permissions of the source, unless `mode` is given",
            ..Param::BASE
        },
        MODE,
        OWNER,
        GROUP,
        ID,
        DEPENDS_ON,
        VERIFY_TIMEOUT,
        NAME,
    ],
    one_of: &["source", "content"],
    resource: Some(Resource { yaml: "copy", key: &["destination"], verify: &FileCopy }),
    action: Some(&FileCopy),
    capabilities: &[Capability::FilesRead, Capability::FilesWrite],
    examples: &[
        Example {
            title: "install a unit file",
            source: "fun install() {\n    \
                     @file.copy(\"app.service\", \"/etc/systemd/system/app.service\", \
                     overwrite=true)\n}\n",
        },
        Example {
            title: "a small file without a source",
            source: "fun motd() {\n    \
                     @file.copy(destination=\"/etc/motd\", content=\"Welcome\\n\", mode=\"0644\", \
                     overwrite=true)\n}\n",
        },
        Example {
            title: "publish a directory",
            source: "fun publish() {\n    \
                     @file.copy(\"dist\", \"/srv/www\", recursive=true, overwrite=true)\n}\n",
        },
    ],
    ..Descriptor::BASE
};

#[derive(Debug)]
struct FileCopy;

#[derive(Debug)]
struct Wanted {
    source: PathBuf,
    destination: PathBuf,
    overwrite: bool,
    recursive: bool,
    preserve_mode: bool,
    attributes: Attributes,
}

impl Wanted {
    fn new(inputs: &Inputs, sides: &Sides<'_>) -> Result<Self, Trouble> {
        let source = paths::path(inputs, "source", sides.source())?;
        let destination = paths::path(inputs, "destination", sides.here())?;
        if sides.is_one() && source == destination {
            return Err(Trouble::new(
                TroubleKind::Invalid,
                format!("`{}` cannot be a copy of itself", source.display()),
                "choose another destination",
            ));
        }
        let (overwrite, recursive) = (inputs.is_true("overwrite"), inputs.is_true("recursive"));
        let preserve_mode = inputs.is_true("preserve_mode");
        let attributes = paths::attributes(inputs, sides.here())?;
        Ok(Self { source, destination, overwrite, recursive, preserve_mode, attributes })
    }

    /// Whether the permissions of the copy matter.
    fn sets_mode(&self) -> bool {
        self.preserve_mode || self.attributes.mode.is_some()
    }

    /// The permissions of a copy that is there.
    fn mode(&self, source: &Entry, copy: &Entry) -> u32 {
        self.attributes.mode.unwrap_or_else(|| trees::mode(source, copy))
    }
}

impl Verify for FileCopy {
    fn verify(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Finding, Trouble> {
        if let Some(content) = inputs.text("content") {
            return given::verify(content, inputs, probe);
        }
        let sides = Sides::of(probe);
        let wanted = Wanted::new(inputs, &sides)?;
        let facts = Facts::read(&wanted, &sides)?;
        let finding = decide(&wanted, &facts)?;
        if finding.status == Status::Satisfied {
            return Ok(finding);
        }
        let given = match finding.status {
            Status::Missing => paths::given(&wanted.attributes),
            _ => String::new(),
        };
        let changes = changes::shown(&wanted, &facts, &sides)?;
        Ok(finding.with_details(Details::words(given).and(changes)))
    }

    fn content(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Option<Digest>, Trouble> {
        if inputs.text("content").is_some() {
            return Ok(None);
        }
        let sides = Sides::of(probe);
        let wanted = Wanted::new(inputs, &sides)?;
        contents(&wanted, &Facts::read(&wanted, &sides)?, &sides).map(Some)
    }
}

fn decide(wanted: &Wanted, facts: &Facts) -> Result<Finding, Trouble> {
    let (source, destination) = (wanted.source.display(), wanted.destination.display());
    for difference in &facts.differences {
        if let How::Kind { expected, actual } = difference.how {
            let path = below(&wanted.destination, &difference.path);
            return Err(make::other_kind(&path, expected, actual));
        }
    }
    if !facts.is_there {
        return Ok(Finding::missing(format!("`{destination}` does not exist")));
    }
    if facts.differences.is_empty() {
        return Ok(Finding::satisfied(format!("`{destination}` is a copy of `{source}`")));
    }
    // What is only missing can be added without anybody's work being lost.
    let takes_away = |it: &Difference| !matches!(it.how, How::Missing(_));
    if !wanted.overwrite && facts.differences.iter().any(takes_away) {
        let message = format!(
            "`{destination}` differs from `{source}`: {}; `overwrite` is not set",
            summary(&facts.differences)
        );
        let help = "set `overwrite=true` to replace it, or move it away";
        return Ok(Finding::blocked(Trouble::new(TroubleKind::Invalid, message, help)));
    }
    let message = match facts.kind {
        EntryKind::Directory => {
            let count = diff::grouped(facts.differences.len());
            let places = if count == "1" { "place" } else { "places" };
            format!("`{destination}` differs from `{source}` in {count} {places}")
        }
        _ => format!("`{destination}` differs from `{source}`: {}", summary(&facts.differences)),
    };
    Ok(Finding::drifted(message))
}

/// What would be copied, and what is there instead: every byte of it.
fn contents(wanted: &Wanted, facts: &Facts, sides: &Sides<'_>) -> Result<Digest, Trouble> {
    let mut whole = Algorithm::Sha256.hasher();
    let mut add = |probe: &dyn Probe, root: &Path, path: &Path| -> Result<(), Trouble> {
        let path = &below(root, path);
        let (mut file, mut hasher) = (Chunks::open(path, root, probe)?, Algorithm::Sha256.hasher());
        loop {
            match file.next()? {
                [] => break,
                chunk => hasher.update(chunk),
            }
        }
        whole.update(&hasher.finish().0);
        Ok(())
    };
    for difference in &facts.differences {
        if difference.has_content() {
            add(sides.source(), &facts.source, &difference.path)?;
        }
        if let How::Content { .. } = difference.how {
            add(sides.here(), &wanted.destination, &difference.path)?;
        }
    }
    facts.differences.iter().for_each(|it| whole.update(it.hashed().as_bytes()));
    Ok(whole.finish())
}

/// The first of them, for one line.
fn summary(differences: &[Difference]) -> String {
    let first = differences.iter().take(MAX_NAMED).map(described).collect::<Vec<_>>().join(", ");
    match differences.len().saturating_sub(MAX_NAMED) {
        0 => first,
        more => format!("{first} and {} more", diff::grouped(more)),
    }
}

fn described(difference: &Difference) -> String {
    let of = match difference.path.as_os_str().is_empty() {
        true => String::new(),
        false => format!("`{}`: ", visible::path(&difference.path)),
    };
    match &difference.how {
        How::Missing(_) => format!("{of}missing"),
        How::Content { expected, actual, .. } if expected == actual => format!("{of}content"),
        How::Content { expected, actual, .. } => {
            format!("{of}content ({actual} bytes, expected {expected})")
        }
        How::Mode { expected, actual } => format!("{of}mode {actual:04o}, expected {expected:04o}"),
        How::Owner { expected: (owner, group), actual } => {
            let owner = owner.filter(|owner| *owner != actual.0);
            let owner = owner.map(|owner| format!("owner {}, expected {owner}", actual.0));
            let group = group.filter(|group| *group != actual.1);
            let group = group.map(|group| format!("group {}, expected {group}", actual.1));
            let both: Vec<String> = owner.into_iter().chain(group).collect();
            format!("{of}{}", both.join("; "))
        }
        How::Link { expected, actual } => {
            let (actual, expected) = (visible::path(actual), visible::path(expected));
            format!("{of}points to `{actual}`, expected `{expected}`")
        }
        How::Kind { expected, actual } => {
            format!("{of}{}, expected {}", actual.name(), expected.name())
        }
    }
}

impl Action for FileCopy {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        if let Some(content) = inputs.text("content") {
            let written = given::apply(content, inputs, &*stage.probe(), &*stage.files());
            return written.map(|()| Data::Null).map_err(|trouble| stage.fail(1, trouble));
        }
        let made = {
            let probe = stage.probe();
            let sides = Sides::of(&*probe);
            Wanted::new(inputs, &sides).and_then(|wanted| {
                let facts = Facts::read(&wanted, &sides)?;
                decide(&wanted, &facts)?.decided()?;
                make::make(&wanted, &facts, &sides, &*stage.files())
            })
        };
        made.map(|()| Data::Null).map_err(|trouble| stage.fail(1, trouble))
    }
}
