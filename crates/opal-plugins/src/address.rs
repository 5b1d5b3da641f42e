//! Where a package comes from: a directory, a registry, a git repository.
//!
//! ```text
//! ./plugins/house                 a directory of the project
//! acme/vault                      the registry of the namespace `acme`
//! github.com/team/opal-k8s/extra  the directory `extra` of a repository, over https
//! git@github.com:team/k8s.git     a repository, over ssh
//! file:///srv/git/k8s.git         a repository of this machine
//! ```
//!
//! A part of an address is never an option of `git`, and never leaves its place: see [`is_part`].

use std::fmt;

use crate::names::{Requirement, Version, is_package_name};

/// Where a package comes from, as a key of `opal.mod` says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// `./plugins/house`.
    Directory(String),
    /// `acme/vault`.
    Registry(String),
    Git(Repository),
}

/// A directory of a git repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// As `git` understands it.
    pub url: String,
    /// `github.com/team/opal-k8s`.
    pub place: String,
    /// The directory in it; the top where it is empty.
    pub directory: String,
}

/// Why a key is not an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressError {
    Invalid,
    /// A provider of Terraform.
    Terraform,
}

impl Address {
    pub fn parse(key: &str) -> Result<Self, AddressError> {
        let is_visible = key.chars().all(|c| c.is_ascii_graphic());
        if key.is_empty() || key.len() > 255 || !is_visible || key.starts_with(['/', '-']) {
            return Err(AddressError::Invalid);
        }
        if is_local(key) {
            return Ok(Self::Directory(key.to_owned()));
        }
        if key.starts_with("terraform/") {
            return Err(AddressError::Terraform);
        }
        if is_package_name(key) {
            return Ok(Self::Registry(key.to_owned()));
        }
        Repository::parse(key).map(Self::Git).ok_or(AddressError::Invalid)
    }
}

impl Repository {
    fn parse(key: &str) -> Option<Self> {
        if let Some(path) = key.strip_prefix("file://") {
            let parts: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
            let is_fine = parts.iter().all(|part| is_part(part));
            let directory = String::new();
            return is_fine.then(|| Self {
                url: key.to_owned(),
                place: path.to_owned(),
                directory,
            });
        }
        if let Some((user, rest)) = key.split_once('@') {
            let (host, path) = rest.split_once(':')?;
            let is_fine = is_part(user) && is_host(host) && path.split('/').all(is_part);
            let place = format!("{host}/{}", path.strip_suffix(".git").unwrap_or(path));
            let directory = String::new();
            return is_fine.then(|| Self { url: key.to_owned(), place, directory });
        }
        let mut parts = key.splitn(4, '/');
        let (host, owner, name) = (parts.next()?, parts.next()?, parts.next()?);
        let directory = parts.next().unwrap_or_default();
        let is_inside = directory.is_empty() || directory.split('/').all(is_part);
        if !host.contains('.') || !is_host(host) || !is_part(owner) || !is_part(name) || !is_inside
        {
            return None;
        }
        let place = format!("{host}/{owner}/{}", name.strip_suffix(".git").unwrap_or(name));
        let url = format!("https://{host}/{owner}/{name}");
        Some(Self { url, place, directory: directory.to_owned() })
    }
}

/// Whether a key is a directory.
#[must_use]
pub fn is_local(key: &str) -> bool {
    key.starts_with("./") || key.starts_with("../")
}

/// A part of a path that is only a name: it cannot be an option, hidden, or lead upwards.
fn is_part(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._-~+".contains(c);
    !text.is_empty() && !text.starts_with(['-', '.']) && text.chars().all(is_allowed)
}

fn is_host(text: &str) -> bool {
    let (host, port) = text.split_once(':').unwrap_or((text, "1"));
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || ".-".contains(c);
    !host.is_empty()
        && !host.starts_with(['-', '.'])
        && host.chars().all(is_allowed)
        && port.parse::<u16>().is_ok()
}

/// What a project wants of a git repository: a tag, a branch or a commit.
#[must_use]
pub fn is_reference(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._-/+".contains(c);
    (1..=128).contains(&text.len())
        && text.chars().all(is_allowed)
        && text.split('/').all(|part| !part.is_empty() && !part.starts_with(['-', '.']))
        && !text.contains("..")
        && !text.ends_with(".lock")
}

/// `v1.2` and `v1`: any tag of a version that begins with it.
#[must_use]
pub fn tags(reference: &str) -> Option<Requirement> {
    let text = reference.strip_prefix('v')?;
    let is_short =
        text.chars().all(|c| c.is_ascii_digit() || c == '.') && Version::parse(text).is_err();
    is_short.then(|| text.parse().ok())?
}

/// Where a locked package came from: `source` of `opal.lock`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// `local+./plugins/house`.
    Local(String),
    /// `registry+https://acme.example`.
    Registry(String),
    /// `git+https://github.com/team/k8s?tag=v1.0.0#COMMIT`.
    Git(GitSource),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSource {
    pub repository: Repository,
    pub reference: Reference,
    /// All 40 or 64 digits.
    pub commit: String,
}

/// What a commit was found by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    Tag(String),
    Branch(String),
    Commit(String),
}

impl Source {
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(key) = text.strip_prefix("local+") {
            return is_local(key).then(|| Self::Local(key.to_owned()));
        }
        if let Some(address) = text.strip_prefix("registry+") {
            return is_registry(address).then(|| Self::Registry(address.to_owned()));
        }
        let (rest, commit) = text.strip_prefix("git+")?.rsplit_once('#')?;
        let (url, query) = rest.split_once('?')?;
        let (mut reference, mut directory) = (None, "");
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=')?;
            match name {
                "dir" => directory = value,
                "tag" => reference = Some(Reference::Tag(value.to_owned())),
                "branch" => reference = Some(Reference::Branch(value.to_owned())),
                "rev" => reference = Some(Reference::Commit(value.to_owned())),
                _ => return None,
            }
        }
        let key = url.strip_prefix("https://").unwrap_or(url);
        let key = if directory.is_empty() { key.to_owned() } else { format!("{key}/{directory}") };
        let Ok(Address::Git(repository)) = Address::parse(&key) else { return None };
        let is_commit = is_commit(commit) && matches!(commit.len(), 40 | 64);
        let reference = reference.filter(|it| is_reference(it.name()))?;
        (is_commit && repository.url == url)
            .then(|| Self::Git(GitSource { repository, reference, commit: commit.to_owned() }))
    }

    /// As contracts, plans and policies say it: `registry:HOST`, `git:HOST/o/r@sha`.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Local(key) => format!("local:{key}"),
            Self::Registry(address) => format!("registry:{}", host(address)),
            Self::Git(git) => format!("git:{}@{}", git.repository.place, git.commit),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(key) => write!(f, "local+{key}"),
            Self::Registry(address) => write!(f, "registry+{address}"),
            Self::Git(git) => {
                write!(f, "git+{}?", git.repository.url)?;
                if !git.repository.directory.is_empty() {
                    write!(f, "dir={}&", git.repository.directory)?;
                }
                let (kind, name) = match &git.reference {
                    Reference::Tag(name) => ("tag", name),
                    Reference::Branch(name) => ("branch", name),
                    Reference::Commit(name) => ("rev", name),
                };
                write!(f, "{kind}={name}#{}", git.commit)
            }
        }
    }
}

impl Reference {
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Tag(name) | Self::Branch(name) | Self::Commit(name) => name,
        }
    }
}

/// Whether a text can be (the beginning of) a commit.
#[must_use]
pub fn is_commit(text: &str) -> bool {
    (6..=64).contains(&text.len())
        && text.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c))
}

/// Whether a text is the address of a registry: `oci://`, `https://` or `file:`, without a user.
#[must_use]
pub fn is_registry(text: &str) -> bool {
    let schemes = ["oci://", "https://", "file:"];
    let rest = schemes.iter().find_map(|scheme| text.strip_prefix(scheme));
    let is_fine = |rest: &str| {
        !rest.is_empty() && rest.chars().all(|c| c.is_ascii_graphic() && !"@?#\\".contains(c))
    };
    rest.is_some_and(is_fine)
}

/// The host of a registry, with its port; the directory of one in files.
#[must_use]
pub fn host(address: &str) -> &str {
    match address.split_once("://") {
        Some(("https" | "oci", rest)) => rest.split('/').next().unwrap_or(rest),
        Some((_, rest)) => rest,
        None => address.strip_prefix("file:").unwrap_or(address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(key: &str) -> Repository {
        match Address::parse(key) {
            Ok(Address::Git(found)) => found,
            other => panic!("{key}: {other:?}"),
        }
    }

    #[test]
    fn a_key_says_where_a_package_comes_from() {
        assert_eq!(Address::parse("./a"), Ok(Address::Directory("./a".into())));
        assert_eq!(Address::parse("acme/vault"), Ok(Address::Registry("acme/vault".into())));
        let deep = git("github.com/team/opal-k8s/plugins/k8s");
        assert_eq!(deep.url, "https://github.com/team/opal-k8s");
        assert_eq!(
            (deep.place.as_str(), deep.directory.as_str()),
            ("github.com/team/opal-k8s", "plugins/k8s")
        );
        assert_eq!(git("git@host:o/r.git").place, "host/o/r");
        assert_eq!(git("git@host:o/r.git").url, "git@host:o/r.git");
        assert_eq!(git("git.example:8443/o/r").url, "https://git.example:8443/o/r");
        assert_eq!(git("file:///srv/git/r.git").place, "/srv/git/r.git");
        assert_eq!(Address::parse("terraform/hashicorp/aws"), Err(AddressError::Terraform));
    }

    #[test]
    fn an_address_cannot_be_an_option_a_helper_or_another_place() {
        for refused in [
            "",
            "/etc",
            "acme",
            "Acme/vault",
            "acme/vault/x",
            "ext::sh -c x",
            "ext::sh%20-c",
            "-u/x",
            "--upload-pack=x",
            "github.com/-o/r",
            "github.com/o/--upload-pack=x",
            "github.com/../r",
            "github.com/o/r/../..",
            "github.com/o/r/.git",
            "github.com/o",
            "-oProxyCommand=x@host:o/r",
            "git@-oProxyCommand=x:o/r",
            "git@host:-o/r",
            "git@host:../r",
            "http://x/y/z",
            "https://x.y/y/z",
            "ssh://x/y/z",
            "file://host/x",
            "file:///srv/../etc",
            "fd::17/x",
            "a b.c/o/r",
            "github.com/o/r\n",
            "x.y:z/o/r",
            "u:p@x.y/o/r",
            "github.com/o/r?x=1",
            "github.com/o/r#x",
        ] {
            assert_eq!(Address::parse(refused), Err(AddressError::Invalid), "{refused}");
        }
        for refused in
            ["", "-u", "--all", "a..b", "a/-b", "a b", "x.lock", "a@{1}", "/a", "a/", "^a", "a:b"]
        {
            assert!(!is_reference(refused), "{refused}");
        }
        for fine in ["v1.2.3", "main", "abc123", "release/1.x", "v1"] {
            assert!(is_reference(fine), "{fine}");
        }
    }

    #[test]
    fn a_source_is_read_as_it_was_written() {
        let commit = "a".repeat(40);
        for (text, shown) in [
            ("local+./a".to_owned(), "local:./a".to_owned()),
            ("registry+https://acme.example/x".to_owned(), "registry:acme.example".to_owned()),
            ("registry+oci://127.0.0.1:5000/x".to_owned(), "registry:127.0.0.1:5000".to_owned()),
            ("registry+file:/srv/x".to_owned(), "registry:/srv/x".to_owned()),
            (format!("git+https://h.x/o/r?tag=v1.0.0#{commit}"), format!("git:h.x/o/r@{commit}")),
            (
                format!("git+https://h.x/o/r?dir=a/b&branch=main#{commit}"),
                format!("git:h.x/o/r@{commit}"),
            ),
            (format!("git+git@h:o/r.git?rev=abc123#{commit}"), format!("git:h/o/r@{commit}")),
        ] {
            let source = Source::parse(&text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(source.to_string(), text);
            assert_eq!(source.shown(), shown);
        }
        for refused in [
            "x",
            "local+/etc",
            "registry+http://x",
            "registry+https://u@x",
            "git+https://h.x/o/r",
            "git+https://h.x/o/r?tag=v1#main",
            "git+ext::sh?tag=v1#aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "git+https://h.x/o/r?tag=--x#aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "git+https://h.x/o/r?dir=../x&tag=v1#aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        ] {
            assert_eq!(Source::parse(refused), None, "{refused}");
        }
    }

    #[test]
    fn a_short_tag_is_any_version_that_begins_with_it() {
        for (reference, version, holds) in [
            ("v1", "1.9.0", true),
            ("v1", "2.0.0", false),
            ("v1.2", "1.2.7", true),
            ("v1.2", "1.3.0", false),
        ] {
            assert_eq!(
                tags(reference).unwrap().holds(&version.parse().unwrap()),
                holds,
                "{reference}"
            );
        }
        for other in ["v1.2.3", "main", "1", "vx", "v"] {
            assert!(tags(other).is_none(), "{other}");
        }
    }
}
