//! The decorators of the packages of a project, together with the built-in ones.

use opal_core::Registry;
use opal_core::decorator::Descriptor;

use super::error::LoadError;
use super::{Installed, leak};

/// All decorators together: the built-in ones and those of the packages. The files of a package see its own
/// and those of the packages that it needs, under the names that these have there.
pub fn registry(
    built_in: &[&'static Descriptor],
    all: &[Installed],
) -> Result<Registry, LoadError> {
    let mut entries: Vec<(&'static str, &'static Descriptor)> =
        built_in.iter().map(|descriptor| (descriptor.path, *descriptor)).collect();
    let described: Vec<_> = all.iter().map(Installed::descriptors).collect();
    for decorators in &described {
        let exported = decorators.iter().filter(|(_, _, is_exported)| *is_exported);
        entries.extend(exported.map(|(_, descriptor, _)| (descriptor.path, *descriptor)));
    }
    let twice = |path: &str| {
        let owners = all.iter().filter(|one| path.split('.').next() == Some(one.first_segment()));
        let owners: Vec<&str> = owners.map(|one| one.wanted.key.as_str()).collect();
        LoadError::Conflict {
            message: format!("`@{path}` is exported twice: by {}", owners.join(" and ")),
            help: "give one of them another first segment: `as = \"NAME\"`".to_owned(),
        }
    };
    let top = Registry::named(entries).map_err(|taken| twice(taken.0))?;
    let mut packages = Vec::new();
    for (one, own) in all.iter().zip(&described) {
        let mut seen: Vec<(&'static str, &'static Descriptor)> =
            built_in.iter().map(|descriptor| (descriptor.path, *descriptor)).collect();
        seen.extend(own.iter().map(|(name, descriptor, _)| (*name, *descriptor)));
        for (other, decorators) in all.iter().zip(&described) {
            if one.manifest.description.dependencies.contains_key(other.name()) {
                let exported = decorators.iter().filter(|(_, _, is_exported)| *is_exported);
                seen.extend(exported.map(|(name, descriptor, _)| (*name, *descriptor)));
            }
        }
        let seen = Registry::named(seen).map_err(|taken| LoadError::Conflict {
            message: format!("{} and a package that it needs both have `@{}`", one.name(), taken.0),
            help: "let their paths begin with different segments".to_owned(),
        })?;
        packages.push((leak(one.name().to_owned()), seen));
    }
    Ok(top.with_packages(packages))
}
