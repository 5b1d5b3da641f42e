//! Whether the packages of a project are those that it wants, and have what they need of each other.

use std::collections::BTreeMap;

use opal_core::Registry;
use semver::Version;

use super::Installed;
use super::error::LoadError;
use crate::manifest::Manifest;
use crate::project::Wanted;

pub(super) fn check(all: &[Installed]) -> Result<(), LoadError> {
    let mut by_name: BTreeMap<&str, &Installed> = BTreeMap::new();
    for one in all {
        if let Some(first) = by_name.insert(one.name(), one) {
            let (first, again) = (&first.wanted.key, &one.wanted.key);
            let message = format!("`{first}` and `{again}` are both {}", one.name());
            return conflict(message, "remove one of them from opal.mod");
        }
    }
    for one in all {
        for (name, requirement) in &one.manifest.description.dependencies {
            let Some(other) = by_name.get(name.as_str()) else {
                let message = format!("{} needs {name}, and opal.mod does not have it", one.name());
                return conflict(message, "add the directory of that package to `[plugins]`");
            };
            if !requirement.holds(other.version()) {
                let message = format!(
                    "{} needs {name} {requirement}, and `{}` is {}",
                    one.name(),
                    other.wanted.key,
                    other.version()
                );
                return conflict(message, "change one of the two versions");
            }
        }
    }
    for one in all {
        let mut way = vec![one.name()];
        if cycle(&by_name, &mut way) {
            let message = format!("packages need each other: {}", way.join(" -> "));
            return conflict(message, "move what both need into a third package");
        }
    }
    Ok(())
}

/// Whether a way leads back to where it began.
fn cycle<'a>(by_name: &BTreeMap<&'a str, &'a Installed>, way: &mut Vec<&'a str>) -> bool {
    let (Some(first), Some(last)) = (way.first().copied(), way.last().copied()) else {
        return false;
    };
    let Some(one) = by_name.get(last) else { return false };
    for name in one.manifest.description.dependencies.keys() {
        let is_known = way.contains(&name.as_str());
        way.push(name);
        if name == first || (!is_known && cycle(by_name, way)) {
            return true;
        }
        way.pop();
    }
    false
}

fn conflict(message: String, help: &str) -> Result<(), LoadError> {
    Err(LoadError::Conflict { message, help: help.to_owned() })
}

/// Whether a package is one that the project wants, for this opal and under this name.
pub(super) fn fits(
    wanted: &Wanted,
    manifest: &Manifest,
    built_in: &Registry,
    core: &Version,
) -> Result<(), LoadError> {
    let (key, name) = (&wanted.key, &manifest.description.name);
    let version = &manifest.description.version;
    if !wanted.requirement.holds(version) {
        let requirement = &wanted.requirement;
        let message = format!("`{key}` is {name} {version}, and opal.mod wants {requirement}");
        return conflict(message, "correct the version in one of them");
    }
    if let Some(least) = manifest.min_core.as_ref().filter(|least| *least > core) {
        let message = format!("{name} {version} needs opal {least}, and this is opal {core}");
        return conflict(message, "update opal");
    }
    if let Some(alias) = wanted.alias.as_ref().filter(|alias| built_in.is_reserved(alias)) {
        let message =
            format!("`as = \"{alias}\"` of `{key}`: the built-in decorators use `{alias}`");
        return conflict(message, "choose another segment");
    }
    Ok(())
}
