//! Sources from files.

use std::path::Path;

use opal_core::Registry;
use opal_ops::source::Loaded;
use opal_ops::source::imports::{How, Wanted};
use opal_syntax::source::NoText;

use crate::decorators::Decorators;
use crate::failure::{Exit, Failure};
use crate::project::Chosen;
use crate::tasks::{self, Task};
use crate::view::ink::Ink;
use crate::{env_file, project, view};

/// Why a source could not be loaded.
#[derive(Debug)]
pub(crate) enum NotLoaded {
    Failure(Failure),
    /// It is there, and no text.
    NoText {
        name: String,
        found: Box<NoText>,
    },
}

/// Reads a source and parses it with the decorators of its project, without its imports.
pub(crate) fn read(chosen: &Chosen, decorators: &Decorators) -> Result<Loaded, NotLoaded> {
    decorators.of_source(&chosen.path, chosen.is_found).map_err(NotLoaded::Failure)?;
    let loaded = read_with(chosen, decorators)?;
    decorators.check_read().map_err(NotLoaded::Failure)?;
    Ok(loaded)
}

/// The same with these decorators, whatever project it is of.
pub(crate) fn read_with(chosen: &Chosen, registry: &Registry) -> Result<Loaded, NotLoaded> {
    let path = &chosen.path;
    let source = project::read(path).map_err(NotLoaded::Failure)?;
    let text = match source.text {
        Ok(text) => text,
        Err(found) => return Err(NotLoaded::NoText { name: source.name, found }),
    };
    let is_config = project::is_config(path);
    let load = if is_config { Loaded::configuration } else { Loaded::language };
    let loaded = load(path.clone(), source.name, text, registry);
    Ok(Loaded { is_found: chosen.is_found, is_global: chosen.is_global, ..loaded })
}

/// Reads what is wanted of the files that a source imports.
pub(crate) fn import(
    loaded: &mut Loaded,
    wanted: Wanted<'_>,
    registry: &Decorators,
) -> Result<(), Failure> {
    let how = How { registry, here: &|| std::env::current_dir().unwrap_or_default() };
    loaded.import(wanted, &how).map_err(|why| {
        Failure::new(
            Exit::NotTrusted,
            format!("`{}` imports a file that is not used: {why}", loaded.name),
            "read it, and if you trust it, make it yours with `chown` and `chmod go-w`",
        )
    })?;
    registry.check_read()?;
    env_file::check(&mut loaded.imports);
    Ok(())
}

/// The task called `name`, with the files that it uses.
pub(crate) fn task(
    loaded: &mut Loaded,
    name: &str,
    registry: &Decorators,
) -> Result<Option<Task>, Failure> {
    if let Some((namespace, _)) = name.split_once('.') {
        import(loaded, Wanted::Namespace(namespace), registry)?;
    }
    let found = tasks::find(loaded, name);
    if found.is_none() && tasks::is_private_elsewhere(loaded, name) {
        return Err(Failure::usage(
            format!("`{name}` is private to its file"),
            "only a name without `_` can be called from outside: rename it, or name another task",
        ));
    }
    if let Some(task) = &found {
        import(loaded, Wanted::Target(Some(&task.name)), registry)?;
    }
    Ok(found)
}

/// All tasks, those of all imported files too.
pub(crate) fn all_tasks(loaded: &mut Loaded, registry: &Decorators) -> Result<Vec<Task>, Failure> {
    import(loaded, Wanted::Functions, registry)?;
    Ok(tasks::of(loaded))
}

/// The option that chooses a source, after a blank: none for the one that opal finds by itself.
pub(crate) fn chosen_by(loaded: &Loaded) -> String {
    match loaded.selection.is_some() || project::is_default(&loaded.path) {
        _ if loaded.is_global => " -g".to_owned(),
        true => String::new(),
        // Standard input has a name for messages; its path is the word that means it.
        false if loaded.path == Path::new("-") => " -f -".to_owned(),
        false => format!(" -f {}", tasks::path_word(&loaded.path.display().to_string())),
    }
}

/// Says of an unknown task that the source has syntax errors: the task may be in a part that could
/// not be read.
pub(crate) fn unknown_task(failure: Failure, loaded: &Loaded, check: &str) -> Failure {
    match loaded.syntax_errors() {
        0 => failure,
        errors => failure.help(view::list::broken(&loaded.name, errors, check)),
    }
}

impl NotLoaded {
    /// Reports a file that is not text as a fault in it, everything else as a failure.
    pub(crate) fn show(self, ink: Ink, json: bool) -> Result<Exit, Failure> {
        match self {
            Self::Failure(failure) => Err(failure.in_json(json)),
            Self::NoText { name, found } => {
                view::check::not_text(name, *found, ink)?;
                Ok(Exit::Source)
            }
        }
    }

    pub(crate) fn into_failure(self) -> Failure {
        match self {
            Self::Failure(failure) => failure,
            Self::NoText { name, found } => {
                let diagnostic = found.diagnostic;
                let help = diagnostic.help.join("; ");
                Failure::new(Exit::Source, format!("{name}: {}", diagnostic.message), help)
            }
        }
    }
}
