//! Which version of each package: all requirements hold, locked versions stay, one version per package.
//!
//! ```text
//! opal.mod ──▶ requirements ──pubgrub, versions.json──▶ one version of each ──▶ no cycle ──▶ opal.lock
//! ```
//!
//! A set of versions is the list of those that exist, so that what a requirement means is decided in one
//! place (`opal_plugins::names`).

mod explain;

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use opal_plugins::names::Requirement;
use pubgrub::{
    Dependencies, DependencyProvider, PackageResolutionStatistics, PubGrubError, Ranges,
};
use semver::Version;

use crate::format::{Dependency, PackageName, VersionEntry};
use crate::refusal::Refusal;
use crate::registries::Registries;

/// Steps of a search that ends without an answer.
const MAX_STEPS: usize = 100_000;

/// What a project wants.
#[derive(Debug)]
pub(crate) struct Problem<'a> {
    pub(crate) registries: &'a Registries<'a>,
    /// The version of opal.
    pub(crate) core: Version,
    /// Packages of registries that `opal.mod` has.
    pub(crate) wanted: Vec<(PackageName, Requirement)>,
    /// Packages that are there in one version: of directories and of git.
    pub(crate) fixed: BTreeMap<PackageName, Fixed>,
    /// Versions that stay if they can.
    pub(crate) kept: BTreeMap<PackageName, Version>,
    /// Why a package needs another one, for messages.
    pub(crate) needs: RefCell<BTreeMap<(String, PackageName), Need>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Need {
    /// `acme/a 1.0.0`; none for the project.
    pub(crate) who: Option<String>,
    pub(crate) requirement: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Fixed {
    pub(crate) version: Version,
    pub(crate) requires: Vec<Dependency>,
}

/// The project itself among the packages.
const PROJECT: &str = "";

type Versions = Ranges<Version>;

impl Problem<'_> {
    /// A version of each package of a registry.
    pub(crate) fn solve(&self) -> Result<BTreeMap<PackageName, Version>, Refusal> {
        let root = Version::new(0, 0, 0);
        let solved =
            pubgrub::resolve(self, PROJECT.to_owned(), root).map_err(|error| match error {
                PubGrubError::NoSolution(tree) => explain::conflict(&tree, self),
                PubGrubError::ErrorRetrievingDependencies { source, .. }
                | PubGrubError::ErrorChoosingVersion { source, .. }
                | PubGrubError::ErrorInShouldCancel(source) => source,
            })?;
        let mut chosen = BTreeMap::new();
        // They are sorted by what they go into.
        for (name, version) in solved {
            if let Ok(name) = name.parse::<PackageName>() {
                chosen.insert(name, version);
            }
        }
        self.no_cycle(&chosen)?;
        chosen.retain(|name, _| !self.fixed.contains_key(name));
        Ok(chosen)
    }

    /// What a version of a package needs.
    fn requires(&self, name: &PackageName, version: &Version) -> Result<Vec<Dependency>, Refusal> {
        if let Some(fixed) = self.fixed.get(name) {
            return Ok(fixed.requires.clone());
        }
        let known = self.registries.known(name, None)?;
        Ok(known.versions.get(version).map(|entry| entry.requires.clone()).unwrap_or_default())
    }

    /// Every version of a package that a requirement leaves.
    fn versions(
        &self,
        name: &PackageName,
        requirement: &Requirement,
        needed_by: Option<&str>,
    ) -> Result<Versions, Refusal> {
        let none = Versions::empty();
        if let Some(fixed) = self.fixed.get(name) {
            let holds = requirement.holds(&fixed.version);
            return Ok(if holds { Versions::singleton(fixed.version.clone()) } else { none });
        }
        let is_direct = self.wanted.iter().any(|(it, _)| it == name);
        let known = self.registries.known(name, needed_by.filter(|_| !is_direct))?;
        let fit = known.versions.all().iter().filter(|entry| requirement.holds(&entry.version));
        Ok(fit.fold(none, |all, it| all.union(&Versions::singleton(it.version.clone()))))
    }

    fn candidates(&self, name: &PackageName) -> Result<Vec<VersionEntry>, Refusal> {
        Ok(self.registries.known(name, None)?.versions.all().to_vec())
    }

    fn no_cycle(&self, chosen: &BTreeMap<PackageName, Version>) -> Result<(), Refusal> {
        for first in chosen.keys() {
            let mut way = vec![first.clone()];
            if self.leads_back(chosen, &mut way)? {
                let way: Vec<String> = way.iter().map(ToString::to_string).collect();
                let message = format!("packages need each other: {}", way.join(" -> "));
                return Err(Refusal::conflict(
                    message,
                    "use versions that do not: change opal.mod",
                ));
            }
        }
        Ok(())
    }

    fn leads_back(
        &self,
        chosen: &BTreeMap<PackageName, Version>,
        way: &mut Vec<PackageName>,
    ) -> Result<bool, Refusal> {
        let (Some(first), Some(last)) = (way.first().cloned(), way.last().cloned()) else {
            return Ok(false);
        };
        let Some(version) = chosen.get(&last) else { return Ok(false) };
        for needed in self.requires(&last, version)? {
            let is_known = way.contains(&needed.name);
            way.push(needed.name.clone());
            if needed.name == first || (!is_known && self.leads_back(chosen, way)?) {
                return Ok(true);
            }
            way.pop();
        }
        Ok(false)
    }

    /// The requirements of a package as sets of versions.
    fn sets(
        &self,
        who: Option<&str>,
        package: &str,
        needed: &[(PackageName, Requirement)],
    ) -> Result<Dependencies<String, Versions, String>, Refusal> {
        let mut sets = Vec::new();
        for (name, requirement) in needed {
            let need = Need { who: who.map(str::to_owned), requirement: requirement.to_string() };
            self.needs.borrow_mut().insert((package.to_owned(), name.clone()), need);
            sets.push((name.to_string(), self.versions(name, requirement, who)?));
        }
        Ok(Dependencies::Available(sets.into_iter().collect()))
    }
}

impl DependencyProvider for Problem<'_> {
    type P = String;
    type V = Version;
    type VS = Versions;
    type Priority = (u32, Reverse<usize>);
    type M = String;
    type Err = Refusal;

    fn prioritize(
        &self,
        package: &String,
        range: &Versions,
        conflicts: &PackageResolutionStatistics,
    ) -> Self::Priority {
        let fitting = package.parse().ok().and_then(|name| self.candidates(&name).ok());
        let fitting = fitting.unwrap_or_default();
        let count = fitting.iter().filter(|entry| range.contains(&entry.version)).count();
        (conflicts.conflict_count(), Reverse(count))
    }

    fn choose_version(
        &self,
        package: &String,
        range: &Versions,
    ) -> Result<Option<Version>, Refusal> {
        let Ok(name) = package.parse::<PackageName>() else {
            return Ok(Some(Version::new(0, 0, 0)));
        };
        if let Some(fixed) = self.fixed.get(&name) {
            return Ok(Some(fixed.version.clone()).filter(|version| range.contains(version)));
        }
        let all = self.candidates(&name)?;
        let fits = |entry: &&VersionEntry| range.contains(&entry.version);
        let kept = self.kept.get(&name);
        let kept = all.iter().find(|entry| Some(&entry.version) == kept && fits(entry));
        let best = all.iter().rev().find(|entry| fits(entry) && entry.yanked.is_none());
        Ok(kept.or(best).map(|entry| entry.version.clone()))
    }

    fn get_dependencies(
        &self,
        package: &String,
        version: &Version,
    ) -> Result<Dependencies<String, Versions, String>, Refusal> {
        let Ok(name) = package.parse::<PackageName>() else {
            let fixed = self.fixed.iter().map(|(name, fixed)| {
                let exact = format!("={}", fixed.version);
                (name.clone(), exact.parse().unwrap_or_else(|_| Requirement::any("")))
            });
            let wanted: Vec<_> = self.wanted.iter().cloned().chain(fixed).collect();
            return self.sets(None, package, &wanted);
        };
        let who = format!("{name} {version}");
        if !self.fixed.contains_key(&name) {
            let known = self.registries.known(&name, None)?;
            let least = known.versions.get(version).and_then(|entry| entry.min_core.clone());
            if let Some(least) = least.filter(|least| *least > self.core) {
                let why = format!("{who} needs opal {least}, and this is opal {}", self.core);
                return Ok(Dependencies::Unavailable(why));
            }
        }
        let needed = self.requires(&name, version)?;
        let needed: Vec<_> = needed.into_iter().map(|it| (it.name, it.version)).collect();
        self.sets(Some(&who), package, &needed)
    }

    fn should_cancel(&self) -> Result<(), Refusal> {
        let steps = self.needs.borrow().len();
        match steps > MAX_STEPS {
            true => {
                Err(Refusal::conflict("too many packages need each other", "use fewer packages"))
            }
            false => Ok(()),
        }
    }
}
