//! What packages and versions are called.

use std::fmt;
use std::str::FromStr;

pub use semver::Version;
use semver::VersionReq;

/// `acme/house`: a namespace and a name.
#[must_use]
pub fn is_package_name(text: &str) -> bool {
    let is_part = |part: &str| {
        let is_fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        (1..=64).contains(&part.len()) && part.chars().all(is_fine)
    };
    text.split_once('/').is_some_and(|(space, name)| is_part(space) && is_part(name))
}

/// Which versions of a package will do: `1.2` is 1.2.x, `1` is 1.x, `1.2.3` is that one; also `^1.2`,
/// `~1.2`, `>=1.2`, `<2`, several with commas between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    text: String,
    /// None: every version will do.
    versions: Option<VersionReq>,
}

/// The text is not a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotARequirement;

impl fmt::Display for NotARequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a requirement is written like `1.2.3`, `1.2`, `^1.2` or `>=1.2, <2`")
    }
}

impl std::error::Error for NotARequirement {}

impl Requirement {
    /// Every version: a tag, a branch or a commit says which.
    #[must_use]
    pub fn any(text: &str) -> Self {
        Self { text: text.to_owned(), versions: None }
    }

    #[must_use]
    pub fn holds(&self, version: &Version) -> bool {
        self.versions.as_ref().is_none_or(|versions| versions.matches(version))
    }
}

impl FromStr for Requirement {
    type Err = NotARequirement;

    fn from_str(text: &str) -> Result<Self, NotARequirement> {
        if text.contains('*') || text.len() > 256 {
            return Err(NotARequirement);
        }
        let one = |part: &str| {
            let part = part.trim();
            let operator = match part.starts_with(|c: char| c.is_ascii_digit()) {
                // A whole version is that one; a part of one is any that begins with it.
                true if Version::parse(part).is_ok() => "=",
                true => "~",
                false => "",
            };
            format!("{operator}{part}")
        };
        let all: Vec<String> = text.split(',').map(one).collect();
        let versions = VersionReq::parse(&all.join(", ")).map_err(|_| NotARequirement)?;
        Ok(Self { text: text.to_owned(), versions: Some(versions) })
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What the keys of Terraform providers begin with.
pub const PROVIDER: &str = "terraform/";

/// Whether a text is the name of a package, or of a Terraform provider.
#[must_use]
pub fn is_accepted_name(text: &str) -> bool {
    is_package_name(text) || is_provider_name(text)
}

/// Whether a text is how people call a provider: `terraform/acme/box`.
#[must_use]
pub fn is_provider_name(text: &str) -> bool {
    text.strip_prefix(PROVIDER).is_some_and(is_provider_source)
}

/// Whether a source is `NAMESPACE/NAME` or `HOST/NAMESPACE/NAME`.
pub(crate) fn is_provider_source(text: &str) -> bool {
    let is_name = |part: &str| {
        let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        (1..=64).contains(&part.len())
            && part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part.chars().all(is_allowed)
    };
    let is_host = |part: &str| {
        let is_allowed =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-:".contains(c);
        part.contains('.') && part.len() <= 253 && part.chars().all(is_allowed)
    };
    match text.split('/').collect::<Vec<_>>()[..] {
        [space, name] => is_name(space) && is_name(name),
        [host, space, name] => is_host(host) && is_name(space) && is_name(name),
        _ => false,
    }
}

/// Whether a text can be the first segment of the paths of a package.
pub(crate) fn is_segment(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.len() <= 64
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_is_written_out_is_meant_exactly() {
        for (requirement, version, holds) in [
            ("1.2.3", "1.2.3", true),
            ("1.2.3", "1.2.4", false),
            ("1.2", "1.2.9", true),
            ("1.2", "1.3.0", false),
            ("1", "1.9.0", true),
            ("1", "2.0.0", false),
            ("^1.2", "1.9.0", true),
            ("~1.2", "1.3.0", false),
            (">=1.2, <2", "1.5.0", true),
            (">=1.2, <2", "2.0.0", false),
            ("1.0.0-rc.1", "1.0.0-rc.1", true),
        ] {
            let found: Requirement = requirement.parse().unwrap();
            assert_eq!(found.holds(&version.parse().unwrap()), holds, "{requirement} {version}");
        }
        for refused in ["", "*", "1.*", "latest", "v1", "1.2.3.4", "=="] {
            assert!(refused.parse::<Requirement>().is_err(), "{refused}");
        }
    }

    #[test]
    fn names_have_a_namespace_and_plain_letters() {
        for fine in ["acme/house", "a/b", "x-1/y-2"] {
            assert!(is_package_name(fine), "{fine}");
        }
        for refused in ["house", "acme/", "/house", "Acme/house", "a/b/c", "a_b/c", "a.b/c", "./x"]
        {
            assert!(!is_package_name(refused), "{refused}");
        }
    }
}
