//! Names: `registry.opentofu.org/hashicorp/aws`, `6.47.1`, `linux_amd64`.

use std::cmp::Ordering;
use std::fmt;

use super::Rejected;

/// Where providers without a host come from: OpenTofu's public registry.
pub const REGISTRY: &str = "registry.opentofu.org";

/// A provider by its address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    pub host: String,
    pub namespace: String,
    /// Its type: `aws`.
    pub name: String,
}

impl Source {
    /// `hashicorp/aws` or `host/hashicorp/aws`.
    pub fn read(text: &str) -> Result<Self, Rejected> {
        let invalid = || Rejected::invalid(format!("{text:?} is not the address of a provider"));
        let parts: Vec<&str> = text.split('/').collect();
        let (host, namespace, name) = match parts[..] {
            [namespace, name] => (REGISTRY, namespace, name),
            [host, namespace, name] if is_host(host) => (host, namespace, name),
            _ => return Err(invalid()),
        };
        if !is_part(namespace) || !is_part(name) {
            return Err(invalid());
        }
        let own = str::to_owned;
        Ok(Self { host: own(host), namespace: own(namespace), name: own(name) })
    }

    /// How its program is called, and its archive begins.
    #[must_use]
    pub fn program(&self) -> String {
        format!("terraform-provider-{}", self.name)
    }

    #[must_use]
    pub fn archive(&self, version: &Version, platform: &Platform) -> String {
        format!("{}_{version}_{platform}.zip", self.program())
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.host, self.namespace, self.name)
    }
}

fn is_part(text: &str) -> bool {
    let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
    (1..=64).contains(&text.len())
        && text.bytes().all(plain)
        && !text.starts_with(['-', '_'])
        && !text.ends_with(['-', '_'])
}

/// A name with a dot, and maybe a port.
fn is_host(text: &str) -> bool {
    let (name, port) = text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port)));
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    name.len() <= 253
        && (name.contains('.') || name == "localhost")
        && name.split('.').all(label)
        && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
}

/// Where a provider runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Platform {
    pub os: String,
    pub arch: String,
}

impl Platform {
    /// `linux_amd64`.
    pub fn read(text: &str) -> Result<Self, Rejected> {
        let is_word = |word: &str| {
            (1..=32).contains(&word.len())
                && word.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9'))
        };
        match text.split_once('_') {
            Some((os, arch)) if is_word(os) && is_word(arch) => {
                Ok(Self { os: os.to_owned(), arch: arch.to_owned() })
            }
            _ => Err(Rejected::invalid(format!("{text:?} is not a platform"))),
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.os, self.arch)
    }
}

/// A version of a provider. Versions with a part for builds are not used by registries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    numbers: [u64; 3],
    /// What follows `-`: such a version is used only where it is named.
    before: Option<String>,
}

impl Version {
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let (numbers, before) = match text.split_once('-') {
            Some((numbers, before)) => (numbers, Some(before)),
            None => (text, None),
        };
        let mut parts = numbers.split('.');
        let mut next = || {
            let part = parts.next()?;
            let plain = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            let plain = plain && (part == "0" || !part.starts_with('0'));
            plain.then(|| part.parse().ok()).flatten()
        };
        let numbers = [next()?, next()?, next()?];
        let word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
        let fits = |text: &str| (1..=64).contains(&text.len()) && text.bytes().all(word);
        if parts.next().is_some() || before.is_some_and(|before| !fits(before)) {
            return None;
        }
        Some(Self { numbers, before: before.map(str::to_owned) })
    }

    #[must_use]
    pub const fn is_release(&self) -> bool {
        self.before.is_none()
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}.{patch}")?;
        self.before.as_ref().map_or(Ok(()), |before| write!(f, "-{before}"))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        // Among those of one number, which come before it, text is order enough.
        let last = |version: &Self| (version.is_release(), version.before.clone());
        self.numbers.cmp(&other.numbers).then_with(|| last(self).cmp(&last(other)))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_two_or_three_parts_that_cannot_leave_a_path() {
        let read = |text| Source::read(text).map(|it| it.to_string());
        assert_eq!(read("hashicorp/aws").unwrap(), "registry.opentofu.org/hashicorp/aws");
        assert_eq!(read("reg.example:8443/a/b").unwrap(), "reg.example:8443/a/b");
        for text in [
            "",
            "aws",
            "a/b/c/d",
            "host/a/b",
            "reg.example/../b",
            "reg.example/a/",
            "a/B",
            "a/b\n",
            "reg.example:0/a/b",
            "reg.example:x/a/b",
            "a b/c",
            "-a/b",
            "reg..example/a/b",
            "reg.example?/a/b",
            "user@reg.example/a/b",
        ] {
            assert!(Source::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn versions_have_an_order() {
        let read = |text| Version::read(text).unwrap();
        let mut all = ["1.10.0", "1.9.0", "2.0.0-beta1", "2.0.0", "0.0.1"].map(read);
        all.sort();
        let all = all.map(|it| it.to_string());
        assert_eq!(all, ["0.0.1", "1.9.0", "1.10.0", "2.0.0-beta1", "2.0.0"]);
        for text in ["", "1", "1.2", "1.2.3.4", "v1.2.3", "01.2.3", "1.2.x", "1.2.3-", "1.2.3-a/b"]
        {
            assert_eq!(Version::read(text), None, "{text}");
        }
    }
}
