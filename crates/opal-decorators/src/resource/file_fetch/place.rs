//! Where the copy is, on opal's machine.

use std::path::{Component, Path, PathBuf};

use opal_core::files::EntryKind;
use opal_core::resolver::{Inputs, Probe, Trouble, TroubleKind};

use crate::resource::paths;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// From here on no link is followed: the project, or a directory that the user names as a whole.
    pub(super) anchor: PathBuf,
    /// Whether the anchor is made where it is missing.
    pub(super) makes_anchor: bool,
    /// Of what is fetched.
    pub(super) copy: PathBuf,
}

impl Place {
    /// `named` is the path on the target.
    pub(super) fn new(inputs: &Inputs, named: &Path, origin: &dyn Probe) -> Result<Self, Trouble> {
        let to = paths::path(inputs, "to", origin)?;
        let is_whole = inputs.text("to").is_some_and(|to| to.starts_with(['/', '~']));
        let (anchor, to) = match is_whole {
            true => (plain(&to).ok_or_else(|| leads_up(&to))?, PathBuf::new()),
            false => {
                let project = plain(&origin.place(".")?).ok_or_else(|| leads_up(&to))?;
                let inside = to.strip_prefix(&project).ok().and_then(plain);
                let inside = inside.ok_or_else(|| leads_up(&to))?;
                (project, inside)
            }
        };
        let name = named.file_name().ok_or_else(|| no_name(named))?;
        let mut copy = anchor.join(to);
        copy.extend(inputs.member.as_deref());
        copy.push(name);
        let place = Self { anchor, makes_anchor: is_whole, copy };
        place.refuse_links(origin)?;
        Ok(place)
    }

    /// A link beneath the anchor would turn the copy elsewhere; so would the anchor itself.
    fn refuse_links(&self, origin: &dyn Probe) -> Result<(), Trouble> {
        let above = self.copy.ancestors().skip(1).filter(|path| path.starts_with(&self.anchor));
        let above = above.filter(|path| self.makes_anchor || *path != self.anchor);
        for path in above {
            match origin.stat(path)?.map(|found| found.kind) {
                None | Some(EntryKind::Directory) => {}
                Some(EntryKind::Link) => return Err(paths::is_link(path, origin)),
                Some(kind) => {
                    let message =
                        format!("`{}` is {}, not a directory", path.display(), kind.name());
                    return Err(Trouble::new(
                        TroubleKind::Invalid,
                        message,
                        "fetch to another directory, or move it away",
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Without `.`; none where it has `..`.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut parts = path.components();
    let has_parent = parts.any(|part| part == Component::ParentDir);
    (!has_parent).then(|| path.components().collect())
}

fn leads_up(to: &Path) -> Trouble {
    Trouble::new(
        TroubleKind::Invalid,
        format!("`{}` is outside the project", to.display()),
        "name a directory inside it, or write an absolute path without `..`",
    )
}

fn no_name(path: &Path) -> Trouble {
    let message = format!("`{}` has no name that the copy could get", path.display());
    Trouble::new(TroubleKind::Invalid, message, "fetch a directory in it")
}
