//! What exists, for whoever has named something that does not.

use std::path::Path;

use opal_core::suggest;

/// A longer list is cut.
const MOST_NAMES: usize = 20;
/// A reference has fewer parts.
const MOST_LEVELS: usize = 8;
/// Directories that are searched for names.
const MOST_FOLDERS: usize = 2_000;

/// Words that help: the nearest of what exists, then all of it; `otherwise` where nothing exists.
pub(super) fn offer(given: &str, what: &str, mut names: Vec<String>, otherwise: String) -> String {
    names.sort();
    names.dedup();
    if names.is_empty() {
        return otherwise;
    }
    let near = suggest::nearest(given, names.iter().map(String::as_str));
    let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    let left = names.len().saturating_sub(MOST_NAMES);
    let shown: Vec<String> = names.iter().take(MOST_NAMES).map(|it| format!("`{it}`")).collect();
    let more = if left > 0 { format!(" and {left} more") } else { String::new() };
    format!("{near}existing {what}: {}{more}", shown.join(", "))
}

/// The directories below `root` that hold an entry of this name, by their paths from there.
pub(super) fn folders_with(root: &Path, entry: &str) -> Vec<String> {
    let mut names = Vec::new();
    walk(root, |folder, below| {
        let is_one = folder.join(entry).symlink_metadata().is_ok();
        names.extend(is_one.then(|| below.to_owned()));
        !is_one
    });
    names
}

/// The files below `root` that end like this, by their paths from there without that end.
pub(super) fn files_ending(root: &Path, end: &str) -> Vec<String> {
    let mut names = Vec::new();
    walk(root, |folder, below| {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let stem = name.to_str().and_then(|name| name.strip_suffix(end));
            names.extend(stem.map(|stem| joined(below, stem)));
        }
        true
    });
    names
}

/// Visits directories, without links, in the order of their names; `visit` says whether to go on below.
fn walk(root: &Path, mut visit: impl FnMut(&Path, &str) -> bool) {
    let mut open = vec![(root.to_path_buf(), String::new(), 0)];
    let mut left = MOST_FOLDERS;
    while let Some((folder, below, level)) = open.pop() {
        if !visit(&folder, &below) || level == MOST_LEVELS {
            continue;
        }
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let (Some(name), Ok(kind)) = (name.to_str(), entry.file_type()) else { continue };
            if kind.is_dir() && !name.starts_with('.') && left > 0 {
                left -= 1;
                open.push((entry.path(), joined(&below, name), level + 1));
            }
        }
    }
}

fn joined(below: &str, name: &str) -> String {
    if below.is_empty() { name.to_owned() } else { format!("{below}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_comes_first_and_a_long_list_is_cut() {
        let names = |count: usize| (0..count).map(|number| format!("name-{number:02}")).collect();
        let offer = |given: &str, names| super::offer(given, "packs", names, "add one".to_owned());
        assert_eq!(offer("a", Vec::new()), "add one");
        assert_eq!(
            offer("nome-01", names(2)),
            "did you mean `name-01`? existing packs: `name-00`, `name-01`"
        );
        let long = offer("other", names(25));
        assert!(long.ends_with("`name-19` and 5 more") && !long.contains("did you"), "{long}");
    }

    #[test]
    fn names_are_found_below_a_root_and_never_through_links() {
        let root = tempfile::tempdir().unwrap();
        let folder = |name: &str| std::fs::create_dir_all(root.path().join(name)).unwrap();
        ["a/b/stack/deep/stack", "c/stack", ".git/stack", "empty"].into_iter().for_each(folder);
        std::os::unix::fs::symlink("c", root.path().join("link")).unwrap();
        std::fs::write(root.path().join("a/x.profile.yml"), "").unwrap();
        let mut found = folders_with(root.path(), "stack");
        found.sort();
        assert_eq!(found, ["a/b", "c"]);
        assert_eq!(files_ending(root.path(), ".profile.yml"), ["a/x"]);
        assert!(folders_with(&root.path().join("none"), "stack").is_empty());
    }
}
