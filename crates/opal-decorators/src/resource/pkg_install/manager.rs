//! The package managers: how to query each for what is installed, and how to request a change.

use opal_core::resolver::{Answer, Probe, Trouble, TroubleKind};

use super::Wanted;
use crate::resource::programs::{Program, reason};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manager {
    Apt,
    Dnf,
    Apk,
    Pacman,
    Brew,
}

/// A package that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Installed {
    /// Every name that it goes by: alone, and with its architecture.
    pub(super) names: Vec<String>,
    /// Every way to write its version, the whole one first.
    pub(super) versions: Vec<String>,
    /// What it is instead, where it is not installed to the end.
    pub(super) unfinished: Option<&'static str>,
    /// It is held at its version.
    pub(super) is_held: bool,
}

impl Installed {
    pub(super) fn version(&self) -> &str {
        self.versions.first().map_or("", String::as_str)
    }

    fn new(names: &[&str], versions: &[&str]) -> Self {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        let (names, versions) = (owned(names), owned(versions));
        Self { names, versions, unfinished: None, is_held: false }
    }
}

impl Manager {
    /// In the order in which `auto` takes them: brew comes to machines that have another one.
    pub(super) const ALL: [Self; 5] = [Self::Apt, Self::Dnf, Self::Apk, Self::Pacman, Self::Brew];

    pub(super) const fn program(self) -> &'static str {
        match self {
            Self::Apt => "apt-get",
            Self::Dnf => "dnf",
            Self::Apk => "apk",
            Self::Pacman => "pacman",
            Self::Brew => "brew",
        }
    }

    /// The one of this name, or for `auto` the first, among those whose programs were found.
    pub(super) fn choose(name: &str, found: &[&str]) -> Result<Self, Trouble> {
        let mut there = Self::ALL.into_iter().filter(|it| found.contains(&it.program()));
        if name == "auto" {
            return there.next().ok_or_else(|| {
                let message = "no supported package manager on this machine";
                let help = "install the packages with `@shell(…, check=…)`";
                Trouble::new(TroubleKind::Missing, message, help)
            });
        }
        let is_meant = |it: &Self| it.program().trim_end_matches("-get") == name;
        there.find(is_meant).ok_or_else(|| {
            let message = format!("the package manager `{name}` is not on this machine");
            let help = "omit `manager` to use the one of this machine";
            Trouble::new(TroubleKind::Missing, message, help)
        })
    }

    /// What may appear in a name besides letters and digits.
    pub(super) const fn punctuation(self) -> &'static str {
        match self {
            Self::Apt => "+.-:",
            Self::Dnf | Self::Apk => "+._-",
            Self::Pacman => "+._@-",
            Self::Brew => "+._@/-",
        }
    }

    pub(super) fn is_for_root(self) -> bool {
        self != Self::Brew
    }

    pub(super) fn chooses_versions(self) -> bool {
        self != Self::Brew
    }

    /// What is there of these packages.
    pub(super) fn inspect(
        self,
        wanted: &[Wanted],
        probe: &dyn Probe,
    ) -> Result<Vec<Installed>, Trouble> {
        let names = wanted.iter().map(|it| it.name.as_str());
        let answer = self.query().words(names).ask(probe)?;
        if answer.code != 0 && !self.is_reported_by_code(&answer) {
            let program = self.program();
            let said = reason(answer.stderr.expose());
            let message = format!("`{program}` cannot list the installed packages: {said}");
            let help = "repair the package database, or try again as root";
            return Err(Trouble::new(TroubleKind::Failed, message, help));
        }
        let lines = answer.stdout.expose().lines();
        Ok(lines.filter_map(|line| self.parse(line, wanted)).collect())
    }

    fn query(self) -> Program {
        match self {
            Self::Apt => Program::new(
                "dpkg-query",
                "--show --showformat='${Package}\\t${Architecture}\\t${db:Status-Abbrev}\\t\
                 ${Version}\\n' --",
            ),
            Self::Dnf => Program::new(
                "rpm",
                "--query --queryformat '%{NAME}\\t%{ARCH}\\t%{EPOCHNUM}\\t%{VERSION}\\t\
                 %{RELEASE}\\n'",
            ),
            Self::Apk => Program::new("apk", "list --installed --no-network"),
            Self::Pacman => Program::new("pacman", "--query --"),
            Self::Brew => {
                let quiet = [("HOMEBREW_NO_AUTO_UPDATE", "1"), ("HOMEBREW_NO_ANALYTICS", "1")];
                Program::new("brew", "list --versions").set(&quiet)
            }
        }
    }

    /// Whether an exit code says no more than that some packages are not there.
    fn is_reported_by_code(self, answer: &Answer) -> bool {
        let said = answer.stderr.expose().trim();
        let all = |start: &str| said.lines().all(|line| line.starts_with(start));
        match self {
            Self::Apt => answer.code == 1 && all("dpkg-query: no packages found matching "),
            // How many there are not, which it says on its output.
            Self::Dnf => said.is_empty(),
            Self::Apk => false,
            Self::Pacman => answer.code == 1 && all("error: package '"),
            Self::Brew => answer.code == 1 && (said.is_empty() || all("Error: No such keg")),
        }
    }

    /// The package of a line, if it tells of one that is there at all.
    fn parse(self, line: &str, wanted: &[Wanted]) -> Option<Installed> {
        match self {
            Self::Apt => of_dpkg(line),
            Self::Dnf => of_rpm(line),
            Self::Apk => of_apk(line, wanted),
            Self::Pacman => {
                let (name, version) = line.split_once(' ')?;
                Some(Installed::new(&[name], &[version]))
            }
            Self::Brew => of_brew(line, wanted),
        }
    }

    pub(super) fn update(self) -> Program {
        match self {
            Self::Apt => Program::new("apt-get", "--quiet update"),
            Self::Dnf => Program::new("dnf", "--assumeyes makecache --refresh"),
            Self::Apk => Program::new("apk", "update"),
            Self::Pacman => Program::new("pacman", "--noconfirm --sync --refresh"),
            Self::Brew => Program::new("brew", "update"),
        }
    }

    /// `replaces` says that another version is there, maybe a newer one.
    pub(super) fn install<'w>(
        self,
        wanted: impl Iterator<Item = &'w Wanted>,
        replaces: bool,
    ) -> Program {
        let words = wanted.map(|Wanted { name, version }| match (version, self) {
            (Some(version), Self::Dnf) => with_version_for_dnf(name, version),
            (Some(version), _) => format!("{name}={version}"),
            (None, _) => name.clone(),
        });
        let program = match self {
            Self::Apt => {
                // Without the first option an unknown name with a dot is a regular expression; with
                // the second it waits for others who install something.
                let options = "--quiet --yes -o APT::Cmd::Pattern-Only=true \
                               -o DPkg::Lock::Timeout=20 \
                               -o Dpkg::Options::=--force-confdef \
                               -o Dpkg::Options::=--force-confold";
                let program = Program::new("apt-get", options)
                    .set(&[("DEBIAN_FRONTEND", "noninteractive"), ("NEEDRESTART_MODE", "l")]);
                let program = if replaces { program.text("--allow-downgrades") } else { program };
                program.text("install --")
            }
            Self::Dnf => Program::new("dnf", "--assumeyes install"),
            Self::Apk => Program::new("apk", "add"),
            Self::Pacman => Program::new("pacman", "--noconfirm --needed --sync --"),
            Self::Brew => Program::new("brew", "install --quiet")
                .set(&[("HOMEBREW_NO_AUTO_UPDATE", "1"), ("NONINTERACTIVE", "1")]),
        };
        program.words(words)
    }
}

/// `nginx⇥amd64⇥ii ⇥1.22.1-9`. The second letter of the state says what is there.
fn of_dpkg(line: &str) -> Option<Installed> {
    let mut fields = line.split('\t');
    let (name, arch, state, version) =
        (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let mut letters = state.chars();
    let is_held = letters.next() == Some('h');
    let unfinished = match letters.next()? {
        // What its triggers still have to do belongs to other packages.
        'i' | 'W' | 't' => None,
        'U' => Some("unpacked"),
        'F' => Some("half-configured"),
        'H' => Some("half-installed"),
        // Nothing, or only its configuration files.
        _ => return None,
    };
    let names = [name, &format!("{name}:{arch}")];
    Some(Installed { unfinished, is_held, ..Installed::new(&names, &[version]) })
}

/// `vim⇥x86_64⇥2⇥9.0⇥1.el9`
fn of_rpm(line: &str) -> Option<Installed> {
    let fields: Vec<_> = line.split('\t').collect();
    let [name, arch, epoch, version, release] = fields[..] else { return None };
    let whole = format!("{version}-{release}");
    let with_epoch = [format!("{epoch}:{whole}"), format!("{epoch}:{version}")];
    let versions = [&*whole, version, &*with_epoch[0], &*with_epoch[1]];
    Some(Installed::new(&[name, &format!("{name}.{arch}")], &versions))
}

/// What rpm calls an architecture. Only these end a name: `python3.11` has none.
const RPM_ARCHITECTURES: [&str; 15] = [
    "aarch64",
    "armv6hl",
    "armv7hl",
    "armv7hnl",
    "i386",
    "i486",
    "i586",
    "i686",
    "loongarch64",
    "noarch",
    "ppc64",
    "ppc64le",
    "riscv64",
    "s390x",
    "x86_64",
];

/// `vim-9.0` of `vim`, `vim-9.0-1.el9.x86_64` of `vim.x86_64`. With an architecture dnf wants a release
/// too; where none is given, it is any.
fn with_version_for_dnf(name: &str, version: &str) -> String {
    match name.rsplit_once('.').filter(|(_, arch)| RPM_ARCHITECTURES.contains(arch)) {
        None => format!("{name}-{version}"),
        Some((name, arch)) if version.contains('-') => format!("{name}-{version}.{arch}"),
        Some((name, arch)) => format!("{name}-{version}-*.{arch}"),
    }
}

/// `py3-pip-23.1.2-r0 x86_64 {py3-pip} (MIT) [installed]`: only who knows the name sees where it
/// ends.
fn of_apk(line: &str, wanted: &[Wanted]) -> Option<Installed> {
    let (whole, rest) = line.split_once(' ')?;
    if !rest.contains("[installed") {
        return None;
    }
    wanted.iter().find_map(|Wanted { name, .. }| {
        let version = whole.strip_prefix(&**name)?.strip_prefix('-')?;
        let number = version.rsplit_once("-r").map_or(version, |(number, _)| number);
        let is_version = number.starts_with(|c: char| c.is_ascii_digit()) && !number.contains('-');
        is_version.then(|| Installed::new(&[name], &[version]))
    })
}

/// `python@3.12 3.12.1_1 3.12.0`, without the tap it comes from.
fn of_brew(line: &str, wanted: &[Wanted]) -> Option<Installed> {
    let (name, versions) = line.split_once(' ')?;
    let is_it = |wanted: &&Wanted| wanted.name.rsplit('/').next() == Some(name);
    let names: Vec<_> = wanted.iter().filter(is_it).map(|it| it.name.as_str()).collect();
    let versions: Vec<_> = versions.split(' ').collect();
    let plain = versions.iter().filter_map(|it| Some(it.split_once('_')?.0));
    let all: Vec<_> = versions.iter().copied().chain(plain).collect();
    Some(Installed::new(&names, &all))
}

#[cfg(test)]
mod tests;
