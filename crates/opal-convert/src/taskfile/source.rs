//! A Taskfile with the files that it includes.

use std::rc::Rc;

use opal_config::document::{self, Node};

use super::nodes::{self, Lines, entries, flag, get, text, texts};
use crate::files::{Folder, folder_of};
use crate::form::{Expr, Leftover};
use crate::limits::MAX_TASKS;
use crate::outcome::Unreadable;

/// A file as it is written.
pub(super) struct Source {
    pub(super) text: String,
    pub(super) root: Rc<Node>,
    /// From the directory of the main file.
    pub(super) path: String,
    pub(super) includes: Vec<Include>,
    /// Includes that are not there, or that cannot be read.
    pub(super) leftovers: Vec<Leftover>,
}

/// An entry of `includes`.
pub(super) struct Include {
    pub(super) source: Source,
    /// What precedes the names of its tasks.
    pub(super) prefix: String,
    pub(super) directory: Option<String>,
    pub(super) excluded: Vec<String>,
    /// Other names for the prefix.
    pub(super) aliases: Vec<String>,
    pub(super) is_internal: bool,
    /// Variables for its tasks only.
    pub(super) variables: Vec<(String, Expr)>,
}

impl Source {
    pub(super) fn load(text: &str, path: &str, files: Folder<'_>) -> Result<Self, Unreadable> {
        let lines = Lines::new(text);
        let unreadable = |found: Box<opal_core::Diagnostic>| {
            Unreadable::new(lines.at(found.primary.span.start as usize), &found.message)
        };
        let root = document::read(text).map_err(unreadable)?;
        let root = root.ok_or_else(|| Unreadable::new(1, "the file is empty"))?;
        let tasks = get(&root, "tasks").map(entries).unwrap_or_default();
        if tasks.is_empty() && get(&root, "includes").is_none() {
            return Err(Unreadable::new(1, "the file has no `tasks`"));
        }
        if tasks.len() > MAX_TASKS {
            return Err(Unreadable::new(1, &format!("the file has more than {MAX_TASKS} tasks")));
        }
        let (text, path) = (text.to_owned(), path.to_owned());
        let mut source = Self { text, root, path, includes: Vec::new(), leftovers: Vec::new() };
        source.include(files);
        Ok(source)
    }

    fn include(&mut self, files: Folder<'_>) {
        let root = self.root.clone();
        let text = self.text.clone();
        let lines = Lines::new(&text);
        for (key, node) in get(&root, "includes").map(entries).unwrap_or_default() {
            let namespace = key.word().unwrap_or_default();
            let line = lines.at(key.span.start as usize);
            let leave = |name: String, why: String| Leftover {
                line,
                source: name.clone(),
                name,
                why,
                ..Leftover::default()
            };
            match self.included(namespace, node, files) {
                Ok(Some(include)) => self.includes.push(include),
                Ok(None) => {}
                Err(why) => self.leftovers.push(leave(format!("includes: {namespace}"), why)),
            }
        }
    }

    /// The included file; none where it is optional and not there.
    fn included(
        &self,
        namespace: &str,
        node: &Node,
        files: Folder<'_>,
    ) -> Result<Option<Include>, String> {
        let path = text(node).or_else(|| get(node, "taskfile").and_then(text));
        let path = path.ok_or("its path is not a text")?;
        let directory = get(node, "dir").and_then(text).filter(|it| !it.is_empty());
        let is_here = |it: &str| it.replace(' ', "") == "{{.ROOT_DIR}}" && self.folder().is_empty();
        let directory = directory.filter(|it| !is_here(it));
        if path.contains("{{") || directory.is_some_and(|it| it.contains("{{")) {
            return Err("its path is computed".to_owned());
        }
        if path.contains("://") || path.ends_with(".git") {
            return Err("it is on another machine".to_owned());
        }
        let Some(opened) = files.open(self.folder(), &candidates(path))? else {
            let missing = "the file is not there".to_owned();
            return if flag(node, "optional") { Ok(None) } else { Err(missing) };
        };
        let source = Self::load(&opened.text, &opened.path, files.below())
            .map_err(|it| format!("{}:{}: {}", opened.path, it.line, it.message))?;
        let directory = directory.map(|it| it.trim_start_matches("./").trim_end_matches('/'));
        Ok(Some(Include {
            source,
            prefix: match flag(node, "flatten") {
                true => String::new(),
                false => format!("{namespace}:"),
            },
            directory: directory.filter(|it| !matches!(*it, "" | ".")).map(str::to_owned),
            excluded: texts(get(node, "excludes")),
            aliases: match flag(node, "flatten") {
                true => Vec::new(),
                false => texts(get(node, "aliases")),
            },
            is_internal: flag(node, "internal"),
            variables: nodes::variables(node, "vars"),
        }))
    }

    pub(super) fn folder(&self) -> &str {
        folder_of(&self.path)
    }
}

/// The file, or the Taskfile of the directory.
fn candidates(path: &str) -> Vec<String> {
    let names = [
        "Taskfile.yml",
        "taskfile.yml",
        "Taskfile.yaml",
        "taskfile.yaml",
        "Taskfile.dist.yml",
        "Taskfile.dist.yaml",
    ];
    let inside = names.iter().map(|name| format!("{}/{name}", path.trim_end_matches('/')));
    std::iter::once(path.to_owned()).chain(inside).collect()
}
