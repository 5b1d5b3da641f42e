mod make;
#[cfg(test)]
mod tests;
mod trees;

use std::io::Read;
use std::path::{Path, PathBuf};

use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Capability, Descriptor, Example, Param, Resource};
use opal_core::files::EntryKind;
use opal_core::hash::{Algorithm, Digest};
use opal_core::resolver::{Inputs, Links, Probe, Trouble, TroubleKind};
use opal_core::resource::{Finding, Status, Verify};
use opal_core::{Data, Type};

use super::{diff, paths};
use crate::decorators::common::{DEPENDS_ON, ID, NO, VERIFY_TIMEOUT, YES};
use trees::{Difference, Facts, How, Piece, below, links};

/// Bytes of a file that is shown line by line.
const MAX_SHOWN_BYTES: u64 = 1 << 20;

/// Bytes that a contract is held against: a look is no second copy.
const MAX_HASHED_BYTES: u64 = 64 << 20;

/// Differences that are listed, and that are named in one line.
const MAX_LISTED: usize = 1_000;
const MAX_NAMED: usize = 3;

pub(in crate::decorators) static DESCRIPTOR: Descriptor = Descriptor {
    path: "file.copy",
    summary: "a copy of a file or a directory",
    docs: "Keeps the destination equal to the source, compared by content and permissions and \
           not by times. A destination that is there and differs is somebody's work, so it is \
           replaced only with `overwrite=true`; otherwise the step is blocked and says what \
           differs. What is only missing in a destination is added in any case.\n\n\
           A directory needs `recursive=true`. Links in it are copied as links. Files of the \
           destination that the source does not have are left alone.\n\n\
           Permissions are all twelve bits. Set-uid and set-gid of a file are those of the source \
           only where the copy belongs to the same user, or group: otherwise the program would \
           run as somebody else, and the copy has to be without them. With \
           `preserve_mode=false` the permissions are not looked at: a file that is there keeps \
           its own.\n\n\
           ## Statuses\n\n\
           - `satisfied`: all that the source has is in the destination too, with the same \
           content and, unless `preserve_mode=false`, the same permissions.\n\
           - `missing`: nothing is at the destination.\n\
           - `drifted`: parts of a directory are missing, or, with `overwrite=true`, something \
           differs.\n\
           - `blocked`: something differs and `overwrite` does not allow to replace it; the \
           source is not there, or is a directory without `recursive=true`; a file stands where a \
           directory should be, or the other way round; or the destination is a link or lies \
           within its source.",
    params: &[
        Param { name: "source", docs: "the file or directory to copy", ..Param::BASE },
        Param {
            name: "destination",
            docs: "where the copy is, by its full name and not the directory above it",
            ..Param::BASE
        },
        Param {
            name: "overwrite",
            ty: Type::Bool,
            presence: NO,
            docs: "replace a destination that differs",
            ..Param::BASE
        },
        Param {
            name: "recursive",
            ty: Type::Bool,
            presence: NO,
            docs: "copy a directory with all that is in it",
            ..Param::BASE
        },
        Param {
            name: "preserve_mode",
            ty: Type::Bool,
            presence: YES,
            docs: "give the copy the permissions of the source",
            ..Param::BASE
        },
        ID,
        DEPENDS_ON,
        VERIFY_TIMEOUT,
    ],
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
}

impl Wanted {
    fn new(inputs: &Inputs, probe: &dyn Probe) -> Result<Self, Trouble> {
        let source = paths::path(inputs, "source", probe)?;
        let destination = paths::path(inputs, "destination", probe)?;
        if source == destination {
            return Err(Trouble::new(
                TroubleKind::Invalid,
                format!("`{}` cannot be a copy of itself", source.display()),
                "choose another destination",
            ));
        }
        let (overwrite, recursive) = (inputs.is_true("overwrite"), inputs.is_true("recursive"));
        let preserve_mode = inputs.is_true("preserve_mode");
        Ok(Self { source, destination, overwrite, recursive, preserve_mode })
    }
}

impl Verify for FileCopy {
    fn verify(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Finding, Trouble> {
        let wanted = Wanted::new(inputs, probe)?;
        let facts = look(&wanted, probe)?;
        let finding = decide(&wanted, &facts)?;
        if finding.status == Status::Satisfied {
            return Ok(finding);
        }
        let finding =
            finding.with_content(contents(&wanted, &facts, probe)?).with_privacy(facts.is_private);
        if finding.status != Status::Drifted {
            return Ok(finding);
        }
        let diff = diff_of(&wanted, &facts, probe)?;
        Ok(finding.with_details(diff.unwrap_or_else(|| listed(&facts.differences))))
    }
}

fn look(wanted: &Wanted, probe: &dyn Probe) -> Result<Facts, Trouble> {
    let there = paths::look(&wanted.destination, probe)?;
    if there.is_some_and(|it| it.kind == EntryKind::Link) {
        return Err(paths::is_link(&wanted.destination, probe));
    }
    Facts::read(wanted, probe)
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
        return Ok(Finding::missing(format!("there is no `{destination}`")));
    }
    if facts.differences.is_empty() {
        return Ok(Finding::satisfied(format!("`{destination}` is a copy of `{source}`")));
    }
    // What is only missing can be added without anybody's work being lost.
    let takes_away = |it: &Difference| !matches!(it.how, How::Missing(_));
    if !wanted.overwrite && facts.differences.iter().any(takes_away) {
        return Err(Trouble::new(
            TroubleKind::Invalid,
            format!("`{destination}` differs from `{source}`: {}", summary(&facts.differences)),
            "say `overwrite=true` to replace what differs, or move it away",
        ));
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

/// What would be copied, and what is there instead: by content up to a limit, beyond it by length.
fn contents(wanted: &Wanted, facts: &Facts, probe: &dyn Probe) -> Result<Digest, Trouble> {
    let mut left = MAX_HASHED_BYTES;
    let mut parts: Vec<Vec<u8>> = Vec::new();
    let mut add = |root: &Path, path: &Path| -> Result<(), Trouble> {
        let path = &below(root, path);
        let mut bytes = Vec::new();
        let read = probe.read(path, links(root, path))?.take(left).read_to_end(&mut bytes);
        read.map_err(|error| trees::unread(path, &error))?;
        left -= bytes.len() as u64;
        parts.push(Algorithm::Sha256.digest(&[&bytes]).0.to_vec());
        Ok(())
    };
    for difference in &facts.differences {
        if let How::Missing(Piece::File { .. }) | How::Content { .. } = difference.how {
            add(&facts.source, &difference.path)?;
        }
        if let How::Content { .. } = difference.how {
            add(&wanted.destination, &difference.path)?;
        }
    }
    parts.extend(facts.differences.iter().map(|it| format!("{it:?}").into_bytes()));
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    Ok(Algorithm::Sha256.digest(&parts))
}

/// Of a single file, where it is not too large to be shown line by line.
fn diff_of(wanted: &Wanted, facts: &Facts, probe: &dyn Probe) -> Result<Option<String>, Trouble> {
    let [Difference { how: How::Content { expected, actual, .. }, .. }] = &facts.differences[..]
    else {
        return Ok(None);
    };
    if facts.kind != EntryKind::File || *expected.max(actual) > MAX_SHOWN_BYTES {
        return Ok(None);
    }
    let read = |path: &Path| {
        let mut bytes = Vec::new();
        let read = probe
            .read(path, Links::followed_above(path))?
            .take(MAX_SHOWN_BYTES)
            .read_to_end(&mut bytes);
        read.map(|_| bytes).map_err(|error| trees::unread(path, &error))
    };
    let (source, destination) = (read(&facts.source)?, read(&wanted.destination)?);
    let expected = (&*wanted.source.to_string_lossy(), &*source);
    let actual = (&*wanted.destination.to_string_lossy(), &*destination);
    Ok(Some(diff::unified(expected, actual)))
}

/// A line for each difference.
fn listed(differences: &[Difference]) -> String {
    let mut lines: String =
        differences.iter().take(MAX_LISTED).map(|it| format!("{}\n", described(it))).collect();
    if let Some(more @ 1..) = differences.len().checked_sub(MAX_LISTED) {
        lines.push_str(&format!("and {} more\n", diff::grouped(more)));
    }
    lines
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
        false => format!("`{}`: ", difference.path.display()),
    };
    match &difference.how {
        How::Missing(_) => format!("{of}missing"),
        How::Content { expected, actual, .. } if expected == actual => format!("{of}content"),
        How::Content { expected, actual, .. } => {
            format!("{of}content ({actual} bytes, expected {expected})")
        }
        How::Mode { expected, actual } => format!("{of}mode {actual:04o}, expected {expected:04o}"),
        How::Link { expected, actual } => {
            format!("{of}points to `{}`, expected `{}`", actual.display(), expected.display())
        }
        How::Kind { expected, actual } => {
            format!("{of}{}, expected {}", actual.name(), expected.name())
        }
    }
}

impl Action for FileCopy {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let made = {
            let probe = stage.probe();
            Wanted::new(inputs, &*probe).and_then(|wanted| {
                let facts = look(&wanted, &*probe)?;
                decide(&wanted, &facts)?;
                make::make(&wanted, &facts, &*probe, stage.files())
            })
        };
        made.map(|()| Data::Null).map_err(|trouble| stage.fail(1, trouble))
    }
}
