//! Files of variables that a source imports. Only the source itself says which: they are for `@env` and
//! all steps, whatever file those are in.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use opal_core::dotenv::{DotenvError, InvalidFile, Variables};
use opal_core::{Code, Diagnostic, Secret};

use super::paths::{normal, seen_from, shown};
use super::{Found, Linker, MAX_VARIABLES_BYTES, Missing, Open, Program, VariablesFile};
use crate::unit::{Import, ImportKind};

impl Program {
    /// Keeps what is wrong in the files of variables beside what is wrong with the imports; `own` says what
    /// the environment holds.
    pub fn check_variables(&mut self, own: &dyn Fn(&str) -> Option<OsString>) {
        let mut variables = Variables::new(own);
        for file in &self.variables {
            let Err(found) = variables.extend(file.text.expose().as_bytes()) else { continue };
            let InvalidFile { code, error } = found;
            let DotenvError { place: (line, column), message, help } = error;
            let message = format!("{}:{line}:{column}: {message}", file.name);
            let error = Diagnostic::new(code, file.span, message).help(help);
            if !self.errors.contains(&error) {
                self.errors.push(error);
            }
        }
    }
}

impl<O: Open> Linker<'_, O> {
    /// Reads the files of variables, once.
    pub(super) fn variables(&mut self) -> Result<(), O::Stop> {
        if std::mem::replace(&mut self.program.has_variables, true) {
            return Ok(());
        }
        for import in self.imports_of(0) {
            let Some(path) = import.path.as_deref() else { continue };
            match self.variables_file(path, &import) {
                Ok(read) => self.program.variables.extend(read),
                Err(missing) => self.missing(0, &import, missing)?,
            }
        }
        Ok(())
    }

    fn imports_of(&self, file: usize) -> Vec<Import> {
        let imports = self.file(file).unit.imports.iter();
        imports.filter(|it| it.kind() == ImportKind::Variables).cloned().collect()
    }

    fn variables_file(
        &mut self,
        path: &str,
        import: &Import,
    ) -> Result<Option<VariablesFile>, Missing<O::Stop>> {
        let shown = shown(&self.file(0).name, Path::new(path));
        let name = shown.display().to_string();
        let bytes = match self.open(0, Path::new(path), MAX_VARIABLES_BYTES) {
            Ok(Found { bytes, .. }) => bytes,
            Err(Missing::Absent(_)) if import.optional => return Ok(None),
            Err(missing) => return Err(missing),
        };
        let invalid = |message: String, help: &str| {
            Missing::Error(Code::VariablesFile, message, help.to_owned())
        };
        if bytes.len() as u64 > MAX_VARIABLES_BYTES {
            let help = "a file of variables is short: is it the right one?";
            return Err(invalid(format!("`{name}` is larger than 1 MiB"), help));
        }
        match String::from_utf8(bytes) {
            Ok(text) => {
                Ok(Some(VariablesFile { name, text: Secret::new(text), span: import.path_span }))
            }
            Err(_) => Err(invalid(format!("`{name}` is not UTF-8"), "save the file as UTF-8 text")),
        }
    }

    /// What an imported file says about variables counts only where the source says it too.
    pub(super) fn foreign_variables(&mut self, file: usize) {
        let own: Vec<_> = self.imports_of(0).iter().map(|import| self.place(0, import)).collect();
        for import in self.imports_of(file) {
            let place = self.place(file, &import);
            if own.contains(&place) {
                continue;
            }
            let path = import.path.as_deref().unwrap_or_default();
            let seen = seen_from(&self.file(0).folder, &place);
            let message = format!("`{path}`: only the source itself can import variables");
            let help = match self.whole.is_selection {
                true => "run this project by itself: `opal DIR:TASK`".to_owned(),
                false => format!(
                    "import it in `{}` too: `import \"{}\"`",
                    self.file(0).name.display(),
                    seen.display()
                ),
            };
            let error = Missing::Error(Code::VariablesInPart, message, help);
            // Nothing was opened, so nothing stops it.
            let _ = self.missing(file, &import, error);
        }
    }

    fn place(&self, file: usize, import: &Import) -> PathBuf {
        let path = import.path.as_deref().unwrap_or_default();
        normal(&self.file(file).folder.join(path))
    }
}
