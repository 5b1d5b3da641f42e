//! The files of packages that a source needs: those of the decorators that it names and that are written
//! in opal.
//!
//! Such a file is one more part of the program, as an imported file is. Nothing is read here: the texts
//! came with the registry, and are the ones whose checksum was computed.

use std::path::PathBuf;

use opal_core::decorator::{Descriptor, Expansion};
use opal_plan::unit::{FileLinks, PackageFile};
use opal_plan::{PackageWords, lower};

use super::imports::{How, Importer, Known};
use super::{Form, Loaded};

impl Loaded {
    /// Adds the files of packages, and those that these need.
    pub(super) fn import_packages(&mut self, how: &How<'_>) {
        if !how.registry.has_packages() || !matches!(self.form, Form::Language(_)) {
            return;
        }
        if self.imports.known.is_empty() {
            self.begin(how);
        }
        while self.imports.searched < self.imports.known.len() {
            let file = self.imports.searched;
            self.imports.searched += 1;
            for descriptor in self.named_in(file, how) {
                let Some(plugin) = descriptor.plugin else { continue };
                self.imports.packages.insert(plugin.name);
                if let Some(expansion) = descriptor.expansion {
                    self.add_package_file(expansion, how);
                }
            }
        }
    }

    /// The decorators of packages that a file names.
    fn named_in(&self, file: usize, how: &How<'_>) -> Vec<&'static Descriptor> {
        let package = self.imports.links.files[file].package.map(|it| it.package);
        let registry = how.registry.of(package);
        let mut found: Vec<&'static Descriptor> = Vec::new();
        for mention in self.imports.known[file].unit.paths() {
            let shorter = mention.rsplit_once('.').map(|(shorter, _)| shorter);
            let descriptor = registry.get(mention).or_else(|| registry.get(shorter?));
            let new = descriptor.filter(|it| it.plugin.is_some());
            if let Some(new) = new.filter(|it| !found.iter().any(|known| known.path == it.path)) {
                found.push(new);
            }
        }
        found
    }

    fn add_package_file(&mut self, expansion: &'static Expansion, how: &How<'_>) {
        let package = PackageFile { package: expansion.package, file: expansion.file };
        if self.imports.links.files.iter().any(|links| links.package == Some(package)) {
            return;
        }
        let registry = how.registry.of(Some(expansion.package));
        let parse = opal_syntax::parse(expansion.text, &PackageWords(registry));
        let unit = lower::unit(&parse, expansion.text);
        let path = PathBuf::from(expansion.file);
        let mut importer = Importer { loaded: self, how };
        let start = importer.append(path.clone(), parse, expansion.text);
        let number = self.imports.known.len() as u64;
        // It is not a file of the project, whatever is at its path.
        let identity = (u64::MAX, number);
        let folder = self.imports.known[0].folder.clone();
        let imports = vec![None; unit.imports.len()];
        self.imports.known.push(Known { unit, start, path, folder, identity });
        let links = FileLinks { imports, start, package: Some(package), ..FileLinks::default() };
        self.imports.links.files.push(links);
    }
}
