//! How `git` is started: so that a repository of strangers cannot make it run anything, and so that
//! it answers about the repository it was asked about. A password is never a word of a command: all
//! users of a machine can read those.

use crate::data::Secret;
use crate::percent::decoded;

/// Neither a file system monitor nor a hook of the repository is started, nothing is paged, and
/// the index is not refreshed on disk.
pub const OPTIONS: [&str; 6] = [
    "--no-pager",
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
];

/// Variables that lead git to another repository, or to another view of one. A git hook that runs opal
/// hands them on. Those that only hold settings (`GIT_CONFIG_COUNT`, `GIT_SSH_COMMAND`) are the
/// user's and stay.
pub const FOREIGN: [&str; 16] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// The words of a command, with `git` and its options before them.
#[must_use]
pub fn command<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let mut all = vec!["git"];
    all.extend(OPTIONS);
    all.extend(words);
    all
}

/// A repository on a server, as git is given it.
#[derive(Clone, Debug)]
pub struct Remote {
    /// Without the name and the password of a login.
    pub url: String,
    login: Option<Login>,
}

#[derive(Clone, Debug)]
struct Login {
    /// Whom the password is for: `https://example.com`.
    server: String,
    username: Secret,
    password: Secret,
}

/// What tells git a login, which only the user and root can read in the environment.
const USERNAME: &str = "OPAL_GIT_USERNAME";
const PASSWORD: &str = "OPAL_GIT_PASSWORD";
const HELPER: &str = "!f() { printf 'username=%s\\npassword=%s\\n' \"$OPAL_GIT_USERNAME\" \
                      \"$OPAL_GIT_PASSWORD\"; }; f";

impl Remote {
    /// Of an address that may have a login in it: `https://user:password@host/path`.
    #[must_use]
    pub fn new(address: &str) -> Self {
        let with_login = || {
            let (scheme, rest) = address.split_once("://")?;
            if !matches!(scheme, "http" | "https") {
                return None;
            }
            let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            let (user, host) = rest[..end].rsplit_once('@')?;
            // A name without a password is for a helper of the user.
            let (username, password) = user.split_once(':')?;
            let server = format!("{scheme}://{host}");
            let url = format!("{server}{}", &rest[end..]);
            let [username, password] = [username, password].map(|it| Secret::new(decoded(it)));
            Some(Self { url, login: Some(Login { server, username, password }) })
        };
        with_login().unwrap_or_else(|| Self { url: address.to_owned(), login: None })
    }

    /// Options of git, before the name of a command.
    #[must_use]
    pub fn options(&self) -> Vec<String> {
        let Some(Login { server, .. }) = &self.login else { return Vec::new() };
        // None that the user has set is asked, or gets the password to keep.
        let helpers = ["", HELPER].map(|helper| format!("credential.{server}.helper={helper}"));
        helpers.into_iter().flat_map(|helper| ["-c".to_owned(), helper]).collect()
    }

    /// Variables that git must have with these options.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, &str)> {
        self.login.as_ref().map_or_else(Vec::new, |login| {
            vec![(USERNAME, login.username.expose()), (PASSWORD, login.password.expose())]
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::*;

    /// What git itself calls the variables of one repository, without those that hold settings.
    #[test]
    fn every_variable_that_belongs_to_one_repository_is_foreign() {
        let output = Command::new("git").args(["rev-parse", "--local-env-vars"]).output().unwrap();
        let listed = String::from_utf8(output.stdout).unwrap();
        assert!(listed.contains("GIT_DIR\n"), "{listed}");
        let settings = ["GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"];
        for name in listed.lines().filter(|name| !settings.contains(name)) {
            assert!(FOREIGN.contains(&name), "{name}");
        }
    }

    #[test]
    fn a_login_is_taken_out_of_an_address() {
        for (address, url, login) in [
            ("https://ann:pw@example.com/a.git", "https://example.com/a.git", "ann pw"),
            ("http://a:p%40w%2f@h:80/x?y#z", "http://h:80/x?y#z", "a p@w/"),
            ("https://a:b@c@h", "https://h", "a b@c"),
            ("https://token:@h/x", "https://h/x", "token "),
            ("https://ann@example.com/a", "https://ann@example.com/a", ""),
            ("https://example.com/a:b@c", "https://example.com/a:b@c", ""),
            ("ssh://git@example.com/a", "ssh://git@example.com/a", ""),
            ("git@example.com:a.git", "git@example.com:a.git", ""),
            ("/srv/a.git", "/srv/a.git", ""),
        ] {
            let remote = Remote::new(address);
            assert_eq!(remote.url, url);
            let login_given: Vec<&str> =
                remote.environment().iter().map(|(_, value)| *value).collect();
            assert_eq!(login_given.join(" "), login, "{address}");
            assert_eq!(remote.options().is_empty(), login.is_empty());
        }
    }

    #[test]
    fn git_gets_the_login_of_its_server_only() {
        let remote = Remote::new("https://ann:p%20'w$x@example.com:8443/a.git");
        for (host, says) in [("example.com:8443", "username=ann\npassword=p 'w$x\n"), ("other", "")]
        {
            let mut git = Command::new("git");
            git.args(remote.options()).args(["credential", "fill"]).envs(remote.environment());
            git.envs([("GIT_TERMINAL_PROMPT", "0"), ("GIT_ASKPASS", "false"), ("HOME", "/")]);
            git.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
            let mut git = git.spawn().unwrap();
            let asked = format!("protocol=https\nhost={host}\n\n");
            git.stdin.take().unwrap().write_all(asked.as_bytes()).unwrap();
            let output = git.wait_with_output().unwrap();
            assert!(String::from_utf8(output.stdout).unwrap().ends_with(says), "{host}");
            assert_eq!(output.status.success(), !says.is_empty());
        }
    }
}
