//! A line of a file that belongs to someone else.

mod backup;
mod edit;
mod encoding;
mod words;

use std::path::PathBuf;

use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Capability, Descriptor, Example, Param, Presence, Resource};
use opal_core::files::{Attributes, Entry, Existing, Files};
use opal_core::hash::Algorithm;
use opal_core::resolver::{Inputs, Links, Probe, Trouble, TroubleKind};
use opal_core::resource::{Finding, Verify};
use opal_core::types::Choices;
use opal_core::wiped::Wiped;
use opal_core::{Data, Type, Value};
use regex::Regex;

use super::diff::unified;
use super::{content, paths};
use crate::common::{DEPENDS_ON, ID, NAME, VERIFY_TIMEOUT};
use edit::{Change, Line, Several, edit};
use encoding::Encoding;

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "file.line",
    summary: "a line that is present in a file, or absent",
    docs: "Manages a single line of a file that has other owners. The rest of the file keeps its \
           bytes, including its line ends. Without `match`, the exact line is searched for and \
           appended if it is missing. With `match`, the matching line is replaced, so a setting \
           changes its value instead of appearing twice.\n\n\
           With `state=\"absent\"` the line, and matching lines, are removed. Several different \
           matching lines are ambiguous, even if one of them is the desired line: the step is \
           blocked unless `on_multiple_matches` selects one. For a line that should be absent, \
           `first` would leave the others, so it is blocked too.\n\n\
           If the file does not exist, it is created for a line that should be present. With \
           `backup=true` the previous file is kept as `FILE.bak`, or `FILE.bak.1` and so on: no \
           backup replaces another.\n\n\
           ## Statuses\n\n\
           - `satisfied`: the file would not change; or it does not exist, and the line should be \
           absent.\n\
           - `missing`: the file does not exist, and the line should be present.\n\
           - `drifted`: the line must be added, replaced or removed.\n\
           - `blocked`: several lines match and `on_multiple_matches` does not select one; the \
           file or the line does not fit the `encoding`; or the path is a symlink or anything \
           else that is not a file.",
    params: &[
        Param::required("file", "the file to change"),
        Param {
            name: "line",
            pattern: Some("[^\\r\\n]*"),
            docs: "the line, without its line end",
            ..Param::BASE
        },
        Param {
            name: "state",
            ty: Type::OneOf(Choices::Static(&["present", "absent"])),
            presence: Presence::Default(Value::text("present")),
            docs: "whether the file should have the line",
            ..Param::BASE
        },
        Param {
            name: "match",
            ty: Type::Regex,
            presence: Presence::Optional,
            docs: "which line is meant, as a regular expression `r\"…\"` that matches any part \
                   of it",
            ..Param::BASE
        },
        Param {
            name: "on_multiple_matches",
            ty: Type::OneOf(Choices::Static(&["first", "all", "error"])),
            presence: Presence::Default(Value::text("error")),
            docs: "which line to use if several match",
            ..Param::BASE
        },
        Param::flag("backup", "keep a copy of the previous file"),
        Param::optional(
            "backup_dir",
            "the directory of the copy; by default the directory of the file",
        ),
        Param {
            name: "encoding",
            ty: Type::OneOf(Choices::Static(&["utf-8", "latin-1", "windows-1252", "ascii"])),
            presence: Presence::Default(Value::text("utf-8")),
            docs: "the encoding of the file; differences are shown in UTF-8",
            ..Param::BASE
        },
        ID,
        DEPENDS_ON,
        VERIFY_TIMEOUT,
        NAME,
    ],
    resource: Some(Resource { yaml: "line_in_file", key: &["file", "line"], verify: &FileLine }),
    capabilities: &[Capability::FilesRead, Capability::FilesWrite],
    action: Some(&FileLine),
    examples: &[
        Example {
            title: "change a setting, and keep the old file",
            source: "fun harden() {\n    @file.line(\n        \
                     \"/etc/ssh/sshd_config\",\n        \"PermitRootLogin no\",\n        \
                     match=r\"^#?PermitRootLogin\",\n        backup=true,\n    )\n}\n",
        },
        Example {
            title: "remove a line",
            source: "fun forget() {\n    \
                     @file.line(\"/etc/hosts\", \"10.0.0.7 old-db\", state=\"absent\")\n}\n",
        },
    ],
    ..Descriptor::BASE
};

#[derive(Debug)]
struct FileLine;

impl Verify for FileLine {
    fn verify(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Finding, Trouble> {
        let wanted = Wanted::new(inputs, probe)?;
        let found = found(&wanted, probe)?;
        decide(&wanted, found.as_ref())
    }
}

impl Action for FileLine {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        apply(inputs, &*stage.probe(), &*stage.files())
            .map(|()| Data::Null)
            .map_err(|trouble| stage.fail(1, trouble))
    }
}

struct Wanted<'i> {
    path: PathBuf,
    line: Line<'i>,
    backup: bool,
    backup_dir: Option<PathBuf>,
}

/// A file that is there.
struct Found {
    entry: Entry,
    content: Wiped<Vec<u8>>,
}

impl<'i> Wanted<'i> {
    fn new(inputs: &'i Inputs, probe: &dyn Probe) -> Result<Self, Trouble> {
        let pattern = inputs.text("match").map(Regex::new).transpose().map_err(|_| {
            let message = "invalid regular expression in `match`";
            Trouble::new(TroubleKind::Invalid, message, "fix it, or make it shorter")
        })?;
        let backup_dir =
            inputs.text("backup_dir").map(|_| paths::path(inputs, "backup_dir", probe));
        Ok(Self {
            path: paths::path(inputs, "file", probe)?,
            line: Line {
                text: inputs.text("line").unwrap_or_default(),
                is_present: inputs.text("state") != Some("absent"),
                pattern,
                several: match inputs.text("on_multiple_matches") {
                    Some("first") => Several::First,
                    Some("all") => Several::All,
                    _ => Several::Refused,
                },
                encoding: Encoding::named(inputs.text("encoding").unwrap_or_default()),
            },
            backup: inputs.is_true("backup"),
            backup_dir: backup_dir.transpose()?,
        })
    }

    fn edit(&self, found: Option<&Found>) -> Result<Option<Change>, Trouble> {
        edit(found.map(|it| &**it.content), &self.line)
            .map_err(|refusal| words::refused(&self.path, &self.line, &refusal))
    }
}

fn found(wanted: &Wanted<'_>, probe: &dyn Probe) -> Result<Option<Found>, Trouble> {
    let path = &wanted.path;
    // Nothing has to fit in there for a line that should not be.
    if !wanted.line.is_present && probe.stat(path)?.is_none() {
        return Ok(None);
    }
    let Some(there) = content::replaceable(probe, path, None)? else { return Ok(None) };
    let content = content::read(probe, path, Links::followed_above(path))?;
    Ok(Some(Found { entry: there.entry, content }))
}

fn decide(wanted: &Wanted<'_>, found: Option<&Found>) -> Result<Finding, Trouble> {
    let path = wanted.path.display().to_string();
    let change = wanted.edit(found)?;
    let message = words::reported(&path, change.as_ref(), wanted.line.is_present);
    Ok(match (change, found) {
        (None, _) => Finding::satisfied(message),
        (Some(change), None) => {
            let content = Algorithm::Sha256.digest(&[&change.content]);
            let shown = wanted.line.encoding.shown(&change.content);
            let diff = unified((&path, shown.as_bytes()), (&path, b""));
            Finding::missing(format!("`{path}` does not exist"))
                .with_details(diff)
                .with_content(content)
        }
        (Some(change), Some(found)) => {
            let shown = |bytes| wanted.line.encoding.shown(bytes);
            let (expected, actual) = (shown(&change.content), shown(&found.content));
            let diff = unified((&path, expected.as_bytes()), (&path, actual.as_bytes()));
            let is_private = paths::is_private(found.entry.mode);
            let finding = Finding::drifted(message).with_details(diff.private(is_private));
            if wanted.line.is_present { finding } else { finding.with_removed(wanted.line.text) }
        }
    })
}

fn apply(inputs: &Inputs, probe: &dyn Probe, files: &dyn Files) -> Result<(), Trouble> {
    let wanted = Wanted::new(inputs, probe)?;
    // Begun before the file is read: another step may have a line for the same file.
    let pending = files.write(&wanted.path, &Attributes::default(), Existing::Replaced)?;
    let found = found(&wanted, probe)?;
    let Some(change) = wanted.edit(found.as_ref())? else { return Ok(()) };
    if let (true, Some(found)) = (wanted.backup, &found) {
        backup::keep(&wanted, found, probe, files)?;
    }
    content::keep(pending, &wanted.path, &change.content)
}

#[cfg(test)]
mod tests;
