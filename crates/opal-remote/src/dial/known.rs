//! What `known_hosts` says about a key that a host has presented: asked after a failure, with the
//! user's own files, by `ssh -G` and `ssh-keygen -F`.

use std::ffi::OsString;
use std::time::Duration;

use base64ct::{Base64, Encoding as _};
use opal_core::target::{HostKey, Ssh};

use super::error::KeyRefusal;
use super::host_key;
use super::origin::Origin;
use super::ssh::{self, SshOptions};

/// How long either program may take.
const LIMIT: Duration = Duration::from_secs(10);

/// Of the user's configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Configured {
    pub(super) user: String,
    /// What the questions of `ssh` call the host.
    pub(super) shown: String,
    /// What `known_hosts` has the host under.
    pub(super) name: String,
    pub(super) files: Vec<String>,
    /// The user's own `KnownHostsCommand`.
    pub(super) command: Option<String>,
    /// The file of the first key.
    identity: Option<String>,
}

impl Configured {
    /// What `ssh` calls the file of a key that comes before all others; none where it has no such file.
    pub(super) fn key(&self, named: Option<&str>) -> Option<&str> {
        let (first, named) = (self.identity.as_deref()?, named?);
        let in_home = named.strip_prefix("~/").is_some_and(|rest| {
            let folder = first.strip_suffix(rest);
            folder.is_some_and(|folder| folder.starts_with('/') && folder.ends_with('/'))
        });
        (first == named || in_home).then_some(first)
    }
}

/// What the user's configuration says about a host.
pub(super) fn configured(origin: &Origin, ssh: &Ssh, options: &SshOptions) -> Option<Configured> {
    let mut words = ssh::arguments(origin.client(), ssh, options, &[], "");
    // The command, which nobody runs.
    words.pop();
    words.insert(0, "-G".into());
    let text = origin.answer("ssh", &words, LIMIT)?;
    Some(read(&String::from_utf8_lossy(&text)))
}

fn read(text: &str) -> Configured {
    let (mut host, mut port, mut alias) = ("", "22", None);
    let mut configured = Configured::default();
    for (key, value) in text.lines().filter_map(|line| line.split_once(' ')) {
        match key {
            "hostname" => host = value,
            "user" => configured.user = value.to_owned(),
            "port" => port = value,
            "hostkeyalias" if value != "none" => alias = Some(value),
            "userknownhostsfile" | "globalknownhostsfile" => {
                let files = value.split_whitespace().map(str::to_owned);
                configured.files.extend(files.filter(|file| file != "none" && file != "/dev/null"));
            }
            "identityfile" if configured.identity.is_none() => {
                configured.identity = Some(value.to_owned());
            }
            "knownhostscommand" if value != "none" => configured.command = Some(value.to_owned()),
            _ => {}
        }
    }
    configured.shown = alias.unwrap_or(host).to_owned();
    configured.name = match (alias, port) {
        (Some(alias), _) => alias.to_owned(),
        (None, "22") => host.to_owned(),
        (None, port) => format!("[{host}]:{port}"),
    };
    configured
}

/// A line of `known_hosts`.
#[derive(Debug)]
struct Entry {
    marker: Option<String>,
    blob: Vec<u8>,
}

/// Whether anything is known of the host.
pub(super) fn is_listed(origin: &Origin, configured: &Configured) -> bool {
    !entries(origin, configured).is_empty()
}

/// Whether the key is one that the host is known to have.
pub(super) fn is_known(origin: &Origin, configured: &Configured, presented: &HostKey) -> bool {
    let entries = entries(origin, configured);
    let is_it = |entry: &Entry| host_key::host_key(&entry.blob).as_ref() == Some(presented);
    let listed = entries.iter().any(|entry| entry.marker.is_none() && is_it(entry));
    listed && refusal(origin, configured, presented).is_none()
}

/// Why the key must not be accepted; none where nothing speaks against it.
pub(super) fn refusal(
    origin: &Origin,
    configured: &Configured,
    presented: &HostKey,
) -> Option<KeyRefusal> {
    let entries = entries(origin, configured);
    let identity = || presented.identity().to_owned();
    let is_it = |entry: &&Entry| host_key::host_key(&entry.blob).as_ref() == Some(presented);
    let (revoked, listed): (Vec<&Entry>, Vec<&Entry>) =
        entries.iter().partition(|entry| entry.marker.as_deref() == Some("@revoked"));
    if revoked.iter().any(&is_it) {
        return Some(KeyRefusal::Revoked { presented: identity() });
    }
    // One that is signed by somebody is not another key of the host.
    let is_certificate = presented.algorithm().contains("-cert-");
    let mut plain = listed.iter().filter(|entry| entry.marker.is_none()).peekable();
    let is_known = plain.peek().is_none() || plain.any(is_it);
    (!is_known && !is_certificate)
        .then(|| KeyRefusal::Changed { presented: identity(), forget: forget(origin, configured) })
}

/// Where `ssh-keygen -R` looks by itself.
const USUAL_FILE: &str = "/.ssh/known_hosts";

/// The command that removes what is known of the host.
pub(super) fn forget(origin: &Origin, configured: &Configured) -> String {
    let lists = |file: &&String| !of_file(origin, configured, file).is_empty();
    let file = configured.files.iter().find(lists).filter(|file| !file.ends_with(USUAL_FILE));
    let file = file.map(|file| format!(" -f {}", word(file))).unwrap_or_default();
    format!("ssh-keygen -R {}{file}", word(&configured.name))
}

/// A word as a shell reads it.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-~".contains(c);
    match text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

fn entries(origin: &Origin, configured: &Configured) -> Vec<Entry> {
    configured.files.iter().flat_map(|file| of_file(origin, configured, file)).collect()
}

fn of_file(origin: &Origin, configured: &Configured, file: &str) -> Vec<Entry> {
    let words = ["-F", &configured.name, "-f", file].map(OsString::from);
    let text = origin.answer("ssh-keygen", &words, LIMIT).unwrap_or_default();
    lines(&String::from_utf8_lossy(&text))
}

fn lines(text: &str) -> Vec<Entry> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let entry = |line: &str| {
        let mut words = line.split_whitespace();
        let first = words.next()?;
        let marker = first.starts_with('@').then(|| first.to_owned());
        if marker.is_some() {
            words.next()?;
        }
        let key = words.nth(1)?;
        Some(Entry { marker, blob: Base64::decode_vec(key).ok()? })
    };
    lines.filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_names_files_and_the_name_in_them() {
        let text = "hostname 10.0.0.1\nport 2222\nuserknownhostsfile /a /b\n\
                    globalknownhostsfile /dev/null\nknownhostscommand /bin/x %H\n";
        let read_ = read(text);
        assert_eq!(read_.name, "[10.0.0.1]:2222");
        assert_eq!(read_.files, ["/a", "/b"]);
        assert_eq!(read_.command.as_deref(), Some("/bin/x %H"));
        assert_eq!(read("hostname web1\nport 22\n").name, "web1");
        assert_eq!(read("hostname web1\nport 2222\nhostkeyalias it\n").name, "it");
    }

    #[test]
    fn a_key_is_the_named_one_only_if_ssh_has_it_first() {
        let found = read("identityfile /home/me/.ssh/deploy\nidentityfile /home/me/.ssh/id\n");
        let first = Some("/home/me/.ssh/deploy");
        assert_eq!(found.key(Some("/home/me/.ssh/deploy")), first);
        assert_eq!(found.key(Some("~/.ssh/deploy")), first);
        // It has not found that one, and goes on with others.
        for named in [None, Some("~/.ssh/id"), Some("/home/me/.ssh/id"), Some("deploy"), Some("~")]
        {
            assert_eq!(found.key(named), None, "{named:?}");
        }
        assert_eq!(read("hostname web1\n").key(Some("id")), None);
    }
}
