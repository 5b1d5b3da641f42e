//! The files of packages whose decorators a program names: their texts came with the registry.

use std::path::PathBuf;

use opal_core::decorator::{Descriptor, Expansion};
use opal_plan::unit::{FileLinks, PackageFile};
use opal_plan::{PackageWords, lower};

use super::Linker;

impl Linker<'_> {
    /// Adds the files of packages, and those that these need.
    pub(super) fn packages(&mut self) {
        if !self.registry.has_packages() {
            return;
        }
        let mut searched = 0;
        while searched < self.program.files.len() {
            for descriptor in self.named_in(searched) {
                if let Some(expansion) = descriptor.expansion {
                    self.add_package_file(expansion);
                }
            }
            searched += 1;
        }
    }

    /// The decorators of packages that a file names.
    fn named_in(&self, file: usize) -> Vec<&'static Descriptor> {
        let package = self.program.links.files[file].package.map(|it| it.package);
        let registry = self.registry.of(package);
        let mut found: Vec<&'static Descriptor> = Vec::new();
        for mention in self.program.files[file].unit.paths() {
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
        let folder = self.program.files[0].folder.clone();
        let imports = vec![None; unit.imports.len()];
        let links = FileLinks { imports, package: Some(package), ..FileLinks::default() };
        let file = (None, PathBuf::from(expansion.file), folder, unit);
        self.append(parse, expansion.text, links, file);
    }
}
