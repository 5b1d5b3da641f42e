//! Paths and programs of the machine that a call acts on, as that machine has them.

use std::path::{Component, Path, PathBuf};

use opal_core::files::EntryKind;
use opal_core::protocol::{Kind, Refusal};
use opal_core::resolver::{Probe, Trouble, TroubleKind};

/// Symlinks on the way to a file.
const MAX_LINKS: usize = 40;

/// What went wrong, as a plugin hears it.
pub(super) fn refusal(trouble: &Trouble) -> Refusal {
    let kind = match trouble.kind {
        TroubleKind::Missing => Kind::Missing,
        TroubleKind::Denied => Kind::Denied,
        TroubleKind::TimedOut => Kind::TimedOut,
        TroubleKind::TooLarge => Kind::TooLarge,
        TroubleKind::NotText => Kind::NotText,
        TroubleKind::Invalid => Kind::Invalid,
        _ => Kind::Failed,
    };
    let refusal = Refusal::new(kind, trouble.message.to_string());
    trouble.help.iter().fold(refusal, |refusal, help| refusal.with_help(help.to_string()))
}

/// A file that is not there.
pub(crate) fn no_file(path: &str) -> Refusal {
    let path: String = path.chars().filter(|c| !c.is_control()).take(200).collect();
    let refusal = Refusal::new(Kind::Missing, format!("the file `{path}` does not exist"));
    refusal.with_help("create it, or name another file")
}

/// A path after all symlinks are resolved. With `last`, what is at the path itself must be a file, or
/// nothing.
pub(super) fn resolved(probe: &dyn Probe, path: &str) -> Result<PathBuf, Refusal> {
    let whole = probe.place(path).map_err(|trouble| refusal(&trouble))?;
    let mut left: Vec<PathBuf> = parts(&whole);
    let mut found = PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = left.pop() {
        if part == Path::new("..") {
            found.pop();
            continue;
        }
        let next = found.join(&part);
        let entry = probe.stat(&next).map_err(|trouble| refusal(&trouble))?;
        if entry.is_some_and(|entry| entry.kind == EntryKind::Link) {
            links += 1;
            if links > MAX_LINKS {
                return Err(Refusal::new(Kind::Invalid, "too many symlinks"));
            }
            let to = probe.read_link(&next).map_err(|trouble| refusal(&trouble))?;
            if to.is_absolute() {
                found = PathBuf::from("/");
            }
            left.extend(parts(&to));
        } else {
            found = next;
        }
    }
    Ok(found)
}

/// The parts of a path, the first last.
fn parts(path: &Path) -> Vec<PathBuf> {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(PathBuf::from(name)),
        Component::ParentDir => Some(PathBuf::from("..")),
        _ => None,
    });
    let mut parts: Vec<PathBuf> = parts.collect();
    parts.reverse();
    parts
}

/// Where a program is: in the absolute directories of `PATH`.
pub(super) fn program(probe: &dyn Probe, name: &str) -> Result<String, Refusal> {
    let is_plain = !name.is_empty() && !name.contains('/') && !name.contains('\0');
    let missing = || Refusal::new(Kind::Missing, format!("`{name}` is not installed"));
    if !is_plain {
        return Err(Refusal::new(Kind::Invalid, "a program is a name without `/`"));
    }
    let path = probe.env("PATH").map_err(|trouble| refusal(&trouble))?;
    let path = path.as_ref().map_or("/usr/local/bin:/usr/bin:/bin", |path| path.expose());
    for folder in path.split(':').filter(|folder| folder.starts_with('/')) {
        let place = Path::new(folder).join(name);
        let entry = probe.stat(&place).ok().flatten();
        let is_there = entry.is_some_and(|it| match it.kind {
            EntryKind::File => it.mode & 0o111 != 0,
            EntryKind::Link => true,
            EntryKind::Directory | EntryKind::Other => false,
        });
        if is_there {
            return place.to_str().map(str::to_owned).ok_or_else(missing);
        }
    }
    Err(missing())
}
