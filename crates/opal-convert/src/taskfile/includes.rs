//! `includes`: other Taskfiles become part of the same program.

use opal_config::document::Node;

use super::nodes::{Lines, entries, flag, get, text, texts};
use super::sheet as sheet_of;
use crate::files::{Folder, folder_of};
use crate::form::{Expr, HERE, Leftover, Place, Sheet};

/// Adds the tasks of all included files. `folder` is the directory of the file that includes them.
pub(super) fn add(
    root: &Node,
    lines: &Lines<'_>,
    folder: &str,
    files: Folder<'_>,
    sheet: &mut Sheet,
) {
    let Some(includes) = get(root, "includes") else { return };
    for (key, node) in entries(includes) {
        let namespace = key.word().unwrap_or_default();
        let line = lines.at(key.span.start as usize);
        let include = Include { namespace, node, line };
        if let Err(why) = include.add(folder, files, sheet) {
            let name = format!("includes: {namespace}");
            sheet.leftovers.push(Leftover { line, source: name.clone(), name, why });
        }
    }
    call_defaults(sheet);
}

struct Include<'n> {
    namespace: &'n str,
    node: &'n Node,
    line: usize,
}

impl Include<'_> {
    fn add(&self, folder: &str, files: Folder<'_>, sheet: &mut Sheet) -> Result<(), String> {
        let node = self.node;
        let path = text(node).or_else(|| get(node, "taskfile").and_then(text));
        let path = path.ok_or("its path is not a text")?;
        let directory = get(node, "dir").and_then(text).filter(|it| !it.is_empty());
        if path.contains("{{") || directory.is_some_and(|it| it.contains("{{")) {
            return Err("its path is computed".to_owned());
        }
        if path.contains("://") || path.ends_with(".git") {
            return Err("it is on another machine".to_owned());
        }
        let Some(opened) = files.open(folder, &candidates(path))? else {
            let missing = "the file is not there".to_owned();
            return if flag(node, "optional") { Ok(()) } else { Err(missing) };
        };
        let below = folder_of(&opened.path);
        let mut other = sheet_of(&opened.text, below, files.below())
            .map_err(|it| format!("{}:{}: {}", opened.path, it.line, it.message))?;
        other.imports.clear();
        let excluded = texts(get(node, "excludes"));
        other.tasks.retain(|it| !excluded.contains(&it.name));
        self.variables(&mut other)?;
        if below != folder {
            let mut reads_here = false;
            other.variables.iter().for_each(|it| reads_here |= it.name == HERE);
            let note = "`TASKFILE_DIR` and `ROOT_DIR` are the directory of the main file";
            other.tasks.iter_mut().filter(|_| reads_here).for_each(|it| it.differs(note));
        }
        if get(node, "aliases").is_some() {
            let why = "aliases of included files are not converted".to_owned();
            let name = format!("aliases of {}", self.namespace);
            sheet.leftovers.push(Leftover { line: self.line, source: name.clone(), name, why });
        }
        let prefix = match flag(node, "flatten") {
            true => String::new(),
            false => format!("{}:", self.namespace),
        };
        let directory = directory.map(|it| it.trim_start_matches("./").trim_end_matches('/'));
        let directory = directory.filter(|it| !matches!(*it, "" | "."));
        other.tasks.iter_mut().for_each(|it| it.creates_directory |= directory.is_some());
        // Variables of the include are for its tasks only.
        let is_shared = get(node, "vars").is_none();
        let (file, line) = (opened.path.as_str(), self.line);
        let place = Place { prefix: &prefix, directory, file, line, is_shared };
        sheet.absorb(other, &place);
        Ok(())
    }

    /// Variables that the include sets take the place of those of the file.
    fn variables(&self, other: &mut Sheet) -> Result<(), String> {
        for (name, value) in super::nodes::variables(self.node, "vars") {
            let Expr::Text(_) = value else {
                return Err(format!("the variable `{name}` of the include is computed"));
            };
            match other.variables.iter_mut().find(|it| it.name == name) {
                Some(variable) => variable.value = value,
                None => {
                    return Err(format!(
                        "the include sets `{name}`, which the file does not define"
                    ));
                }
            }
        }
        Ok(())
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

/// `task: docs` runs the task `default` of the file that is included as `docs`.
fn call_defaults(sheet: &mut Sheet) {
    let names: Vec<String> = sheet.tasks.iter().map(|it| it.name.clone()).collect();
    for task in &mut sheet.tasks {
        task.calls_mut(&mut |call| {
            let default = format!("{}:default", call.task);
            if !names.contains(&call.task) && names.contains(&default) {
                call.task = default;
            }
        });
    }
}
