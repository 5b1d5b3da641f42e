//! Tasks of other projects among what is completed: `apps/web:build`, `apps/...:test`.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};

use crate::project::{Chosen, DEFAULT_FILE};
use crate::projects::{self, BELOW};
use crate::{path_completion, source};

/// The most projects that are read for one answer.
const MAX_PROJECTS: usize = 100;

/// Files that opal runs, and tasks of projects.
pub(super) fn sources() -> ArgValueCompleter {
    let files = path_completion::sources();
    ArgValueCompleter::new(move |begun: &OsStr| {
        let mut all = files.complete(begun);
        let targets = begun.to_str().map(targets).unwrap_or_default();
        all.extend(targets.into_iter().map(CompletionCandidate::new));
        all
    })
}

/// The targets that begin so, once a directory or a part of one is typed.
fn targets(begun: &str) -> BTreeSet<String> {
    let folders: Vec<String> = match begun.rsplit_once(':') {
        Some((folder, _)) => vec![folder.to_owned()],
        None if begun.contains('/') => folders(begun),
        None => return BTreeSet::new(),
    };
    let of = |folder: &String| -> Vec<String> {
        let tasks = match projects::is_tree(Path::new(folder)) {
            true => of_tree(Path::new(folder)),
            false => of_project(&Path::new(folder).join(DEFAULT_FILE)),
        };
        tasks.into_iter().map(|task| format!("{folder}:{task}")).collect()
    };
    let all = folders.iter().take(MAX_PROJECTS).flat_map(of);
    all.filter(|target| target.starts_with(begun)).collect()
}

/// The directories beside what is typed that are projects, and `...` once a dot is typed.
fn folders(begun: &str) -> Vec<String> {
    let parent = begun.rfind('/').map_or("", |end| &begun[..=end]);
    let Ok(entries) = std::fs::read_dir(if parent.is_empty() { "." } else { parent }) else {
        return Vec::new();
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut folders: Vec<String> = names
        .map(|name| format!("{parent}{name}"))
        .filter(|folder| {
            folder.starts_with(begun) && Path::new(folder).join(DEFAULT_FILE).is_file()
        })
        .collect();
    folders.sort();
    let tree = format!("{parent}{BELOW}");
    if begun.len() > parent.len() && tree.starts_with(begun) {
        folders.insert(0, tree);
    }
    folders
}

fn of_project(path: &Path) -> Vec<String> {
    let registry = opal_decorators::registry();
    let loaded = source::read_with(&Chosen::named(PathBuf::from(path)), &registry).ok();
    let tasks = loaded.map(|loaded| crate::tasks::of(&loaded)).unwrap_or_default();
    tasks.into_iter().filter(|task| !task.is_private()).map(|task| task.name).collect()
}

fn of_tree(tree: &Path) -> Vec<String> {
    let Ok(found) = projects::below(tree) else { return Vec::new() };
    let folder = tree.parent().unwrap_or(Path::new(""));
    let files = found.projects.iter().take(MAX_PROJECTS);
    files.flat_map(|project| of_project(&folder.join(project).join(DEFAULT_FILE))).collect()
}
