//! Where modules are, and which there are.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use opal_core::Diagnostic;
use opal_modules::lint::{Findings, Lint};
use opal_modules::{Hints, Places, Spec};

use crate::ambient::Ambient;
use crate::failure::Failure;
use crate::failure::module::unseen;
use crate::helpers;

/// What the environment says about where modules are.
#[derive(Debug)]
pub(crate) struct RootVariables {
    pub(crate) modules: Option<OsString>,
    packs: Option<OsString>,
    program: Option<PathBuf>,
}

impl RootVariables {
    pub(crate) fn read() -> Self {
        let mut environment = Ambient::environment();
        let mut take =
            |name: &str| environment.remove(OsStr::new(name)).filter(|value| !value.is_empty());
        let (modules, packs) = (take("HYOPS_MODULES_ROOT"), take("HYOPS_PACKS_ROOT"));
        Self { modules, packs, program: Ambient::program() }
    }

    pub(crate) fn hints<'s>(&'s self, module_root: Option<&'s Path>) -> Hints<'s> {
        Hints {
            schemas: helpers::schemas(),
            module_root,
            modules_variable: self.modules.as_deref(),
            packs_variable: self.packs.as_deref(),
            program: self.program.as_deref(),
        }
    }
}

/// The modules below the root that the environment names, with their titles; none where there is none.
pub(crate) fn names() -> Vec<(String, Option<String>)> {
    let variables = RootVariables::read();
    let found = Places::find(&variables.hints(None)).ok().and_then(|places| listed(&places).ok());
    found
        .unwrap_or_default()
        .into_iter()
        .map(|(name, spec)| (name, spec.and_then(|it| it.title)))
        .collect()
}

/// The directories of specs, with what is in those that have no fault.
pub(crate) fn listed(places: &Places) -> Result<Vec<(String, Option<Spec>)>, Failure> {
    let found = lint([places.modules.as_path()])?;
    let specs = found.files.iter().filter(|file| file.path.ends_with("spec.yml"));
    let listed = specs
        .map(|file| {
            let folder = file.path.parent().unwrap_or(Path::new(""));
            let folder = folder.strip_prefix(&places.modules).unwrap_or(folder);
            let is_whole = !file.diagnostics.iter().any(Diagnostic::is_error);
            let spec = is_whole.then(|| Spec::read(&file.text).found).flatten();
            (folder.display().to_string(), spec)
        })
        .collect();
    Ok(listed)
}

/// What is in these directories, checked.
pub(crate) fn lint<'f>(folders: impl IntoIterator<Item = &'f Path>) -> Result<Findings, Failure> {
    let mut lint = Lint::new(helpers::schemas());
    for folder in folders {
        lint.add(folder).map_err(|error| unseen(folder, &error))?;
    }
    Ok(lint.finish())
}
