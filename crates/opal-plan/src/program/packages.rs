//! The files of packages that a source needs: those of the decorators that it names and that are written
//! in opal.
//!
//! Such a file is one more part of the program, as an imported file is. Nothing is read here: the texts
//! came with the registry, and are the ones whose checksum was computed.

use std::path::PathBuf;

use opal_core::decorator::{Descriptor, Expansion};

use super::{Identity, Linker, Open};
use crate::unit::{FileLinks, PackageFile};
use crate::{PackageWords, lower};

impl<O: Open> Linker<'_, O> {
    /// Adds the files of packages, and those that these need.
    pub(super) fn packages(&mut self) {
        if !self.registry.has_packages() {
            return;
        }
        while self.program.searched < self.program.files.len() {
            let file = self.program.searched;
            self.program.searched += 1;
            for descriptor in self.named_in(file) {
                let Some(plugin) = descriptor.plugin else { continue };
                self.program.packages.insert(plugin.name);
                if let Some(expansion) = descriptor.expansion {
                    self.add_package_file(expansion);
                }
            }
        }
    }

    /// The decorators of packages that a file names.
    fn named_in(&self, file: usize) -> Vec<&'static Descriptor> {
        let package = self.program.links.files[file].package.map(|it| it.package);
        let registry = self.registry.of(package);
        let mut found: Vec<&'static Descriptor> = Vec::new();
        for mention in self.file(file).unit.paths() {
            let shorter = mention.rsplit_once('.').map(|(shorter, _)| shorter);
            let descriptor = registry.get(mention).or_else(|| registry.get(shorter?));
            let new = descriptor.filter(|it| it.plugin.is_some());
            if let Some(new) = new.filter(|it| !found.iter().any(|known| known.path == it.path)) {
                found.push(new);
            }
        }
        found
    }

    fn add_package_file(&mut self, expansion: &'static Expansion) {
        let package = PackageFile { package: expansion.package, file: expansion.file };
        if self.program.links.files.iter().any(|links| links.package == Some(package)) {
            return;
        }
        let registry = self.registry.of(Some(expansion.package));
        let parse = opal_syntax::parse(expansion.text, &PackageWords(registry));
        let unit = lower::unit(&parse, expansion.text);
        let imports = vec![None; unit.imports.len()];
        let links = FileLinks { imports, package: Some(package), ..FileLinks::default() };
        let names = (PathBuf::from(expansion.file), None);
        let folder = self.file(0).folder.clone();
        let identity = Identity::Package(self.program.files.len());
        self.append((expansion.text, parse, unit), names, (folder, identity), links);
    }
}
