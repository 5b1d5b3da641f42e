mod manager;
mod wanted;

use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Capability, Descriptor, Example, Param, Presence, Resource};
use opal_core::resolver::{Inputs, Probe, Trouble, TroubleKind};
use opal_core::resource::{Finding, Verify};
use opal_core::types::Choices;
use opal_core::{Data, Type, Value};

use self::manager::{Installed, Manager};
use self::wanted::Wanted;
use super::diff;
use super::programs::{self, demand_root, named};
use crate::common::{DEPENDS_ON, ID, NAME, STRINGS, VERIFY_TIMEOUT};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "pkg.install",
    summary: "packages of the operating system",
    docs: "Asks the package manager which packages are installed, and installs the others in one \
           command. A name alone accepts any version; `name=version` requires exactly that \
           version, in the same form for every manager.\n\n\
           `manager=\"auto\"` selects the manager of the machine. The package lists are refreshed \
           only with `update=true`, and only if something must be installed.\n\n\
           Only names of real packages are valid: no groups, no virtual packages, no patterns. \
           The manager never asks questions: changed configuration files are kept. A package that \
           is held at another version is blocked. brew installs only the newest version, so a \
           step with another version fails there.\n\n\
           ## Statuses\n\n\
           - `satisfied`: every package is installed, in the required version.\n\
           - `missing`: at least one of them is not installed.\n\
           - `drifted`: all are installed, but one has another version or is only partly \
           installed.\n\
           - `blocked`: the machine does not have the manager, the manager cannot report what is \
           installed, a package is held at another version, or a package name is invalid or given \
           twice with different versions.",
    params: &[
        Param {
            name: "packages",
            ty: STRINGS,
            docs: "the packages, each as `name` or `name=version`",
            ..Param::BASE
        },
        Param {
            name: "manager",
            ty: Type::OneOf(Choices::Static(&["auto", "apt", "dnf", "apk", "brew", "pacman"])),
            presence: Presence::Default(Value::text("auto")),
            docs: "the package manager to use",
            ..Param::BASE
        },
        Param::flag("update", "refresh the package lists before installing"),
        ID,
        DEPENDS_ON,
        VERIFY_TIMEOUT,
        NAME,
    ],
    resource: Some(Resource { yaml: "package", key: &["packages"], verify: &PkgInstall }),
    capabilities: &[Capability::Network, Capability::Packages, Capability::Processes],
    examples: &[Example {
        title: "the packages of a web server",
        source: "fun setup() {\n    \
                 @pkg.install([\"nginx\", \"certbot\"], manager=\"apt\", update=true)\n}\n",
    }],
    action: Some(&PkgInstall),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct PkgInstall;

impl Verify for PkgInstall {
    fn verify(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Finding, Trouble> {
        let (_, packages) = inspect(inputs, probe)?;
        decide(&packages)
    }
}

impl Action for PkgInstall {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let inspected = inspect(inputs, &*stage.probe());
        let (manager, packages) = inspected.map_err(|trouble| stage.fail(1, trouble))?;
        decide(&packages).map_err(|trouble| stage.fail(1, trouble))?;
        let wrong: Vec<_> = packages.iter().filter(|it| it.state() != State::Fine).collect();
        if wrong.is_empty() {
            return Ok(Data::Null);
        }
        if let Some(package) = wrong.iter().find(|it| it.wanted.version.is_some())
            && !manager.chooses_versions()
        {
            return Err(stage.fail(1, no_choice(manager, &package.wanted)));
        }
        if manager.is_for_root() {
            demand_root(stage, "installing packages")?;
        }
        if inputs.is_true("update") {
            let code = manager.update().run(stage)?;
            finished(manager, code, "refreshed the package lists", stage)?;
        }
        let replaces = wrong.iter().any(|it| matches!(it.state(), State::OtherVersion(_)));
        let code = manager.install(wrong.iter().map(|it| &it.wanted), replaces).run(stage)?;
        let names = named(wrong.iter().map(|it| &*it.wanted.name));
        finished(manager, code, &format!("installed {names}"), stage)?;
        Ok(Data::Null)
    }
}

/// A required package, and what is installed of it: of several architectures, or several versions
/// where a manager keeps them.
#[derive(Debug)]
struct Package {
    wanted: Wanted,
    installed: Vec<Installed>,
}

#[derive(Debug, PartialEq, Eq)]
enum State<'p> {
    Fine,
    Missing,
    OtherVersion(&'p Installed),
    /// Unpacked, and no more than that.
    Unfinished(&'p Installed),
}

impl Package {
    fn state(&self) -> State<'_> {
        let whole = || self.installed.iter().filter(|it| it.unfinished.is_none());
        match (whole().next(), self.installed.first(), &self.wanted.version) {
            (Some(_), _, None) => State::Fine,
            (Some(_), _, Some(version)) if whole().any(|it| it.versions.contains(version)) => {
                State::Fine
            }
            (Some(other), ..) => State::OtherVersion(other),
            (None, Some(unfinished), _) => State::Unfinished(unfinished),
            (None, None, _) => State::Missing,
        }
    }

    /// A line for it, as it is and as it should be.
    fn lines(&self) -> (String, String) {
        let name = &self.wanted.name;
        let wanted = |otherwise: &str| {
            let version = self.wanted.version.as_deref().unwrap_or(otherwise);
            format!("{name} {version}").trim_end().to_owned() + "\n"
        };
        let there = |it: &Installed| format!("{name} {}\n", it.version());
        match self.state() {
            State::Missing => (wanted(""), String::new()),
            State::OtherVersion(other) => (wanted(""), there(other)),
            State::Unfinished(it) => {
                let how = it.unfinished.unwrap_or_default();
                (wanted(it.version()), format!("{name} {} ({how})\n", it.version()))
            }
            State::Fine => {
                let lines = self.installed.iter().map(there).collect::<String>();
                (lines.clone(), lines)
            }
        }
    }
}

fn inspect(inputs: &Inputs, probe: &dyn Probe) -> Result<(Manager, Vec<Package>), Trouble> {
    let programs = Manager::ALL.map(Manager::program);
    let manager = inputs.text("manager").unwrap_or("auto");
    let manager = Manager::choose(manager, &programs::found(probe, &programs)?)?;
    let wanted = wanted::read(inputs, manager)?;
    // Asked for no names, managers tell of all.
    let installed = if wanted.is_empty() { Vec::new() } else { manager.inspect(&wanted, probe)? };
    let packages = wanted.into_iter().map(|wanted| {
        let of_it = installed.iter().filter(|it| it.names.contains(&wanted.name));
        Package { installed: of_it.cloned().collect(), wanted }
    });
    Ok((manager, packages.collect()))
}

fn decide(packages: &[Package]) -> Result<Finding, Trouble> {
    let held = packages.iter().find_map(|it| match it.state() {
        State::OtherVersion(other) if other.is_held => Some((&it.wanted.name, other.version())),
        _ => None,
    });
    if let Some((name, version)) = held {
        let message = format!("`{name}` is held at {version}, but another version is required");
        let help = format!("release it with `apt-mark unhold {name}`, or require {version}");
        return Err(Trouble::new(TroubleKind::Denied, message, help));
    }
    let names = |is: fn(&State<'_>) -> bool| {
        let wrong = packages.iter().filter(move |it| is(&it.state()));
        wrong.map(|it| &*it.wanted.name).collect::<Vec<_>>()
    };
    let missing = names(|state| *state == State::Missing);
    let other = names(|state| matches!(state, State::OtherVersion(_)));
    let unfinished = names(|state| matches!(state, State::Unfinished(_)));
    let parts = [
        (&missing, "not installed"),
        (&other, "installed in another version"),
        (&unfinished, "only partly installed"),
    ];
    let parts = parts.into_iter().filter(|(names, _)| !names.is_empty());
    let message: Vec<_> =
        parts.map(|(names, what)| format!("{what}: {}", named(names.iter().copied()))).collect();
    if message.is_empty() {
        let count = packages.len();
        let what = if count == 1 { "the package is" } else { "all packages are" };
        return Ok(Finding::satisfied(format!("{what} installed")));
    }
    let (expected, actual): (String, String) = packages.iter().map(Package::lines).unzip();
    let details = diff::unified(("packages", expected.as_bytes()), ("packages", actual.as_bytes()));
    let message = message.join("; ");
    let finding =
        if missing.is_empty() { Finding::drifted(message) } else { Finding::missing(message) };
    Ok(finding.with_details(details))
}

fn finished(manager: Manager, code: i32, what: &str, stage: &dyn Stage) -> Result<(), Halt> {
    if code == 0 {
        return Ok(());
    }
    let program = manager.program();
    let message = format!("`{program}` has not {what}: it ended with {code}");
    let help = "see its output; if another process holds its lock, wait for that process, and if \
                it does not know a package, try `update=true`";
    Err(stage.fail(code, Trouble::new(TroubleKind::Failed, message, help)))
}

fn no_choice(manager: Manager, wanted: &Wanted) -> Trouble {
    let (program, name) = (manager.program(), &wanted.name);
    let message = format!("`{program}` can install only the newest version of `{name}`");
    let help = format!("use `{name}` without a version, or a package such as `{name}@…`");
    Trouble::new(TroubleKind::Invalid, message, help)
}

#[cfg(test)]
mod tests;
