//! `import` and `mod`: other justfiles become part of the same program.

use super::expr::Cursor;
use super::file::{Include, Justfile};
use super::places::places;
use super::{items, recipe};
use crate::files::{Folder, folder_of};
use crate::form::{Expr, Leftover, Place, Sheet};
use crate::outcome::Unreadable;

/// A line that names another file.
pub(super) fn include(line: &str, number: usize) -> Include {
    let source = line.trim().to_owned();
    let mut cursor = Cursor::new(line, 0);
    let is_module = cursor.name() == Some("mod");
    let optional = cursor.eat("?");
    cursor.blanks();
    let module = if is_module { cursor.name().map(str::to_owned) } else { None };
    cursor.blanks();
    let path = match cursor.expression() {
        Ok(Expr::Text(path)) => Some(path),
        _ => None,
    };
    Include { line: number, module, path, optional, source }
}

/// A justfile with the files that it names, by its path from the directory of the main file.
pub(super) fn sheet(text: &str, path: &str, files: Folder<'_>) -> Result<Sheet, Unreadable> {
    let folder = folder_of(path);
    let mut file = items(text)?;
    file.settle(path, path);
    let mut open: Vec<(String, Include)> =
        file.includes.drain(..).map(|it| (folder.to_owned(), it)).collect();
    let mut modules = Vec::new();
    let mut files = files;
    while !open.is_empty() {
        files = files.below();
        for (folder, include) in std::mem::take(&mut open) {
            if include.module.is_some() {
                modules.push((folder, include));
                continue;
            }
            match imported(&folder, &include, files) {
                Ok(None) => {}
                Ok(Some((imported, mut other))) => {
                    let below = folder_of(&imported).to_owned();
                    open.extend(other.includes.drain(..).map(|it| (below.clone(), it)));
                    other.settle(&imported, path);
                    file.import(other, &imported);
                }
                Err(why) => file.leftovers.push(leftover(&include, why)),
            }
        }
    }
    let mut sheet = recipe::sheet(file, path);
    for (folder, include) in modules {
        if let Err(why) = module(&folder, &include, files, &mut sheet) {
            sheet.leftovers.push(leftover(&include, why));
        }
    }
    Ok(sheet)
}

fn leftover(include: &Include, why: String) -> Leftover {
    let (line, name) = (include.line, include.source.clone());
    Leftover { line, source: name.clone(), name, why, ..Leftover::default() }
}

/// The file of an import; none where it is optional and not there.
fn imported(
    folder: &str,
    include: &Include,
    files: Folder<'_>,
) -> Result<Option<(String, Justfile)>, String> {
    let path = include.path.clone().ok_or("its path is not a text")?;
    let Some(opened) = files.open(folder, &[path])? else {
        return if include.optional { Ok(None) } else { Err("the file is not there".to_owned()) };
    };
    let read = items(&opened.text);
    let read = read.map_err(|it| format!("{}:{}: {}", opened.path, it.line, it.message))?;
    Ok(Some((opened.path, read)))
}

/// Adds the recipes of a module, which start in its directory.
fn module(
    folder: &str,
    include: &Include,
    files: Folder<'_>,
    sheet: &mut Sheet,
) -> Result<(), String> {
    let name = include.module.as_deref().unwrap_or_default();
    let paths = match &include.path {
        Some(path) => candidates(path, path),
        None => candidates(&format!("{name}.just"), name),
    };
    let Some(opened) = files.open(folder, &paths)? else {
        let missing = "the file is not there".to_owned();
        return if include.optional { Ok(()) } else { Err(missing) };
    };
    let below = folder_of(&opened.path);
    let mut other = self::sheet(&opened.text, &opened.path, files.below())
        .map_err(|it| format!("{}:{}: {}", opened.path, it.line, it.message))?;
    // Only the variables of the main file's environment are loaded.
    other.imports.clear();
    let prefix = format!("{name}::");
    let directory = (below != folder).then(|| below.strip_prefix(folder).unwrap_or(below));
    let directory = directory.map(|it| it.trim_start_matches('/'));
    let place = Place { prefix: &prefix, directory, file: &opened.path };
    sheet.absorb(other, &place);
    Ok(())
}

/// Where a module may be: the file, or a file in the directory.
fn candidates(file: &str, directory: &str) -> Vec<String> {
    let names = ["mod.just", "justfile", "Justfile", ".justfile"];
    let inside = names.iter().map(|name| format!("{directory}/{name}"));
    std::iter::once(file.to_owned()).chain(inside).collect()
}

impl Justfile {
    /// Says where the file is that its variables are in.
    fn settle(&mut self, source: &str, module: &str) {
        for variable in &mut self.variables {
            variable.value = variable.value.with_names(&places(source, module));
        }
    }

    /// Adds what an imported file defines; what this file defines itself wins.
    fn import(&mut self, other: Self, path: &str) {
        let settings = &mut self.settings;
        if settings.shell.is_empty() {
            settings.shell = other.settings.shell;
        }
        if settings.interpreter.is_empty() {
            settings.interpreter = other.settings.interpreter;
        }
        settings.export |= other.settings.export;
        settings.positional |= other.settings.positional;
        settings.scripts |= other.settings.scripts;
        if settings.directory.is_none() {
            settings.directory = other.settings.directory;
        }
        settings.dotenv.add(other.settings.dotenv);
        let has = |name: &str| self.variables.iter().any(|it| it.name == name);
        let variables: Vec<_> = other.variables.into_iter().filter(|it| !has(&it.name)).collect();
        self.exported.extend(other.exported);
        self.variables.splice(0..0, variables);
        let has = |name: &str| self.recipes.iter().any(|it| it.name == name);
        let mut recipes: Vec<_> = other.recipes.into_iter().filter(|it| !has(&it.name)).collect();
        recipes.iter_mut().for_each(|it| it.file = Some(path.to_owned()));
        self.recipes.extend(recipes);
        self.aliases.extend(other.aliases);
        let named = |it: Leftover| Leftover { file: Some(path.to_owned()), ..it };
        self.leftovers.extend(other.leftovers.into_iter().map(named));
    }
}
