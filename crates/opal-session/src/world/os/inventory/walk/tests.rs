//! The walk compared with that of the crate `ignore`, which is slower.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use ignore::WalkBuilder;
use opal_core::inventory::{MAX_FILES, Which};
use proptest::prelude::*;

use super::{Patterns, Walk};
use crate::stop::Stop;

/// The files below a directory, seen from it.
fn ours(root: &Path, below: &str, which: Which) -> BTreeSet<String> {
    let patterns = Patterns::read(&["**"], root, None, root).unwrap();
    let except = Patterns::read(&[], root, None, root).unwrap();
    let real = root.join(below);
    let walk = Walk {
        real: &real,
        shown: &real,
        base: root,
        project: root,
        patterns: &patterns,
        except: &except,
        which,
        known: None,
        stop: &Stop::new(),
        room: MAX_FILES,
    };
    let found = walk.found().unwrap();
    let names = found.others.iter().map(|(path, _)| path.strip_prefix(root).unwrap());
    names.map(|path| path.to_str().unwrap().to_owned()).collect()
}

fn theirs(root: &Path, below: &str) -> BTreeSet<String> {
    let mut walk = WalkBuilder::new(root.join(below));
    walk.standard_filters(false).git_ignore(true).git_global(true).git_exclude(true).parents(true);
    walk.filter_entry(|entry| entry.file_name() != ".git");
    let entries = walk.build().map(Result::unwrap).filter(|entry| !entry.path().is_dir());
    let names = entries.map(|entry| entry.path().strip_prefix(root).unwrap().to_owned());
    names.map(|path| path.to_str().unwrap().to_owned()).collect()
}

fn write(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

const RULES: [&str; 12] =
    ["*.o", "/x", "a/", "!keep.o", "b/**/c", "**/y", "[", "#x", "!a/", "a/b", "\\!x", " x "];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_git_ignores_is_what_the_crate_ignore_says(
        files in prop::collection::vec("(a/|b/|c/){0,3}(x|y|!x|keep[.]o|m[.]o|[.]h)", 1..20),
        rules in prop::collection::vec(
            ("(a/|b/){0,2}[.]gitignore", prop::collection::vec(0..RULES.len(), 0..4)),
            0..4,
        ),
        excluded in prop::option::of(0..RULES.len()),
        repositories in prop::collection::vec("(a/|b/){0,1}[.](git|jj)", 0..3),
        below in "(a|b)?",
    ) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a")).unwrap();
        fs::create_dir_all(root.join("b")).unwrap();
        for file in &files {
            // A name may be that of a directory.
            if !root.join(file).is_dir() {
                write(&root, file, "");
            }
        }
        for (file, lines) in &rules {
            let lines: Vec<&str> = lines.iter().map(|&at| RULES[at]).collect();
            write(&root, file, &lines.join("\n"));
        }
        for repository in &repositories {
            let exclude = excluded.map_or("", |at| RULES[at]);
            write(&root, &format!("{repository}/info/exclude"), exclude);
        }
        prop_assert_eq!(ours(&root, &below, Which::Inputs), theirs(&root, &below));
    }
}

#[test]
fn several_threads_find_what_one_finds() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    write(&root, ".gitignore", "*.o\n");
    write(&root, ".git/HEAD", "");
    for index in 0..3000 {
        let end = if index % 3 == 0 { "o" } else { "c" };
        write(&root, &format!("{}/{}/{index}.{end}", index % 7, index % 50), "");
    }
    let found = ours(&root, "", Which::Inputs);
    assert_eq!(found.len(), 2001);
    assert_eq!(found, theirs(&root, ""));
    assert_eq!(ours(&root, "", Which::Outputs).len(), 3001, "outputs may be ignored");
}

#[test]
fn a_directory_of_any_depth_is_walked() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let deep = "d/".repeat(300) + "file";
    write(&root, &deep, "");
    assert_eq!(ours(&root, "", Which::Inputs), BTreeSet::from([deep]));
}

#[test]
fn a_work_tree_has_the_exclude_file_of_its_repository() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    write(&root, "main/.git/info/exclude", "secret\n");
    write(&root, "main/.git/worktrees/w/commondir", "../..\n");
    write(&root, "w/.git", "gitdir: ../main/.git/worktrees/w\n");
    write(&root, "w/secret", "");
    write(&root, "w/open", "");
    assert_eq!(ours(&root, "w", Which::Inputs), BTreeSet::from(["w/open".to_owned()]));
}
