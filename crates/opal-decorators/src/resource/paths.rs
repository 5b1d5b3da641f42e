//! What resources that are about a path have in common: the path, its mode, and links in its place.

use std::path::{Path, PathBuf};

use opal_core::files::{Attributes, Entry, EntryKind};
use opal_core::resolver::{Inputs, Probe, Trouble, TroubleKind};

use super::owners;
use super::properties::Property;

/// An argument that is a path, whole.
pub(super) fn path(inputs: &Inputs, name: &str, probe: &dyn Probe) -> Result<PathBuf, Trouble> {
    let text = inputs.text(name).unwrap_or_default();
    if text.is_empty() || text.contains('\0') {
        return Err(Trouble::new(
            TroubleKind::Invalid,
            format!("invalid path in `{name}`: it is empty, or contains a NUL character"),
            "name a file or a directory",
        ));
    }
    probe.place(text)
}

/// What is at a path where something is to be made: trouble where that cannot be.
pub(super) fn stat_creatable(path: &Path, probe: &dyn Probe) -> Result<Option<Entry>, Trouble> {
    let found = probe.stat(path)?;
    if found.is_none() {
        check_creatable(path, probe)?;
    }
    Ok(found)
}

/// Trouble where nothing can be at a path at which nothing is.
pub(super) fn check_creatable(path: &Path, probe: &dyn Probe) -> Result<(), Trouble> {
    for above in path.ancestors().skip(1) {
        match probe.stat(above)?.map(|it| it.kind) {
            None => {}
            Some(EntryKind::Directory | EntryKind::Link) => break,
            Some(EntryKind::File | EntryKind::Other) => {
                return Err(Trouble::new(
                    TroubleKind::Invalid,
                    format!(
                        "`{}` cannot exist: a part of its path is a file, `{}`",
                        path.display(),
                        above.display()
                    ),
                    "fix the path, or move the file away",
                ));
            }
        }
    }
    Ok(())
}

/// Whether nobody but the owner may read what has these permissions.
pub(super) fn is_private(mode: u32) -> bool {
    mode & 0o044 == 0
}

/// Permission bits; the descriptor's pattern has seen to the digits.
pub(super) fn mode(inputs: &Inputs) -> Option<u32> {
    u32::from_str_radix(inputs.text("mode")?, 8).ok()
}

/// `mode`, `owner` and `group`, where they are given.
pub(super) fn attributes(inputs: &Inputs, probe: &dyn Probe) -> Result<Attributes, Trouble> {
    let owner = inputs.text("owner").map(|name| owners::user(name, probe)).transpose()?;
    let group = inputs.text("group").map(|name| owners::group(name, probe)).transpose()?;
    Ok(Attributes { mode: mode(inputs), owner, group })
}

/// The attributes that are given, as a line of words; nothing where none is.
pub(super) fn given(attributes: &Attributes) -> String {
    let mode = attributes.mode.map(|mode| format!("mode {mode:04o}"));
    let owner = attributes.owner.map(|owner| format!("owner {owner}"));
    let group = attributes.group.map(|group| format!("group {group}"));
    let all: Vec<String> = [mode, owner, group].into_iter().flatten().collect();
    if all.is_empty() { String::new() } else { all.join(", ") + "\n" }
}

/// Each attribute that is given, and what it is.
pub(super) fn compared(wanted: &Attributes, found: &Entry) -> Vec<Property> {
    let octal = |mode: u32| format!("{mode:04o}");
    let mode = wanted.mode.map(|mode| Property::new("mode", octal(mode), octal(found.mode)));
    let number = |name, wanted: Option<u32>, found: u32| {
        wanted.map(|wanted| Property::new(name, wanted.to_string(), found.to_string()))
    };
    let owner = number("owner", wanted.owner, found.owner);
    let group = number("group", wanted.group, found.group);
    [mode, owner, group].into_iter().flatten().collect()
}

/// A symlink is where something is to be changed: whoever made it could lead the change anywhere.
pub(super) fn is_link(path: &Path, probe: &dyn Probe) -> Trouble {
    let to = probe.read_link(path).ok();
    let to = to.map(|to| path.parent().unwrap_or(path).join(to));
    Trouble::new(
        TroubleKind::Invalid,
        format!("`{}` is a symlink", path.display()),
        to.map_or_else(
            || "name its target".to_owned(),
            |to| format!("name its target: `{}`", to.display()),
        ),
    )
}
