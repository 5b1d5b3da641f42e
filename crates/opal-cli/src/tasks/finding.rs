//! The tasks of a source, with those of its imports.

use std::collections::BTreeMap;

use opal_core::Diagnostic;
use opal_ops::source::Loaded;
use opal_plan::unit::{FunctionNames, Lookup, Unit};
use opal_plan::{check, lower};

use super::{Task, task};

/// The tasks of a source, in its order, and after them those of the imports that have been read; a name
/// that is there twice counts once.
pub(crate) fn of(loaded: &Loaded) -> Vec<Task> {
    outline(loaded).map(|unit| all(&unit, &loaded.text)).unwrap_or_default()
}

fn outline(loaded: &Loaded) -> Option<Unit> {
    Some(lower::outline(loaded.parse()?, &loaded.text, &loaded.imports.program.links))
}

/// Functions that are defined twice.
pub(crate) fn duplicates(loaded: &Loaded) -> Vec<Diagnostic> {
    outline(loaded).map(|unit| check::duplicates(&unit)).unwrap_or_default()
}

/// The task called `name`; `-` and `_` are equal where no task has exactly this name.
pub(crate) fn find(loaded: &Loaded, name: &str) -> Option<Task> {
    let parse = loaded.parse()?;
    if name.contains('.') {
        return of_import(loaded, name);
    }
    let find = |wanted: &dyn Fn(&str) -> bool| lower::find(parse, &loaded.text, wanted);
    let loose = name.replace('-', "_");
    let found =
        find(&|known| known == name).or_else(|| find(&|known| known.replace('-', "_") == loose))?;
    Some(task(&found, &loaded.text))
}

/// Whether a name means a private function of an imported file.
pub(crate) fn is_private_elsewhere(loaded: &Loaded, name: &str) -> bool {
    let is_private = |unit: Unit| {
        let found = FunctionNames::new(&unit).find(0, name);
        matches!(found, Lookup::Private(_))
    };
    name.contains("._") && outline(loaded).is_some_and(is_private)
}

/// The same for a function of an imported file, which is not private.
fn of_import(loaded: &Loaded, name: &str) -> Option<Task> {
    let loose = |text: &str| text.replace('-', "_");
    let mut all = of(loaded);
    let exact = all.iter().position(|task| task.name == name);
    let found = exact.or_else(|| all.iter().position(|it| loose(&it.name) == loose(name)))?;
    Some(all.swap_remove(found))
}

/// The tasks of a file, in source order; a name that stands twice counts once.
pub(crate) fn all(unit: &Unit, text: &str) -> Vec<Task> {
    let mut tasks = of_file(unit, 0, text);
    let imports = unit.imports.iter().filter_map(|it| Some((it.namespace()?, it.file?)));
    for (namespace, file) in imports {
        let theirs = of_file(unit, file, text).into_iter().filter(|task| !task.is_private());
        tasks.extend(theirs.map(|task| Task {
            name: format!("{namespace}.{}", task.name),
            namespace: Some(namespace.to_owned()),
            group: task.group.map(|group| format!("{namespace}: {group}")),
            ..task
        }));
    }
    tasks
}

fn of_file(unit: &Unit, file: usize, text: &str) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for function in &unit.functions[unit.functions_of(file)] {
        match known.get(function.name.text.as_str()) {
            // Neither of the two can be called.
            Some(&first) => {
                tasks[first].docs = "defined twice: see `opal check`".to_owned();
                tasks[first].params.clear();
            }
            None => {
                known.insert(&function.name.text, tasks.len());
                tasks.push(task(function, text));
            }
        }
    }
    tasks
}
