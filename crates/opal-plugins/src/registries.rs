//! `config/registries.toml` of the runtime root: the user's passwords for registries. A project has no say here.
//!
//! ```toml
//! [credentials."reg.example"]         # for this host and no other
//! environment = "REG_PASSWORD"        # USER:PASSWORD, or a token
//! [credentials."acme.example"]
//! command = "pass show acme"
//! ```

use opal_core::{LineIndex, Span};
use opal_vault::root::{Root, RootError, Why, read_guarded};
use opal_yaml::problems::Problems;

use crate::codes::CODES;
use crate::lock::LockError;
use crate::toml;

/// The variables of the user that `git`, credentials and connections may need: where programs, keys and
/// settings are. The programs of registries get these and no others.
pub const VARIABLES: [&str; 22] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_CONFIG_GLOBAL",
    "GIT_SSL_CAINFO",
    "SSL_CERT_FILE",
    "DOCKER_CONFIG",
    "https_proxy",
    "HTTPS_PROXY",
    "http_proxy",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
];

/// The name of the file, in `config`.
pub const FILE: &str = "registries.toml";
const MAX_BYTES: u64 = 1 << 20;

#[derive(Debug, Default)]
pub struct Known {
    pub credentials: Vec<Credential>,
}

/// Where the password for a host comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// With its port, if it has one.
    pub host: String,
    pub from: CredentialSource,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialSource {
    Environment(String),
    Command(String),
}

/// Why it cannot be used.
#[derive(Debug)]
pub enum KnownError {
    Unusable(RootError),
    Invalid(LockError),
}

impl Known {
    /// What the user wrote; nothing where there is no file.
    pub fn load(root: &Root) -> Result<Self, KnownError> {
        let bytes = match read_guarded(&root.path().join("config").join(FILE), MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(RootError { why: Why::Missing | Why::NotADirectory, .. }) => {
                return Ok(Self::default());
            }
            Err(error) => return Err(KnownError::Unusable(error)),
        };
        let text = String::from_utf8_lossy(&bytes);
        Self::parse(&text).map_err(KnownError::Invalid)
    }

    /// # Errors
    /// The first thing that is wrong.
    pub fn parse(text: &str) -> Result<Self, LockError> {
        let mut problems = Problems::new(CODES);
        let found = read(text, &mut problems);
        match (found, problems.into_errors().into_iter().next()) {
            (Some(found), None) => Ok(found),
            (_, Some(error)) => {
                let line = LineIndex::new(text).line(error.primary.span.start);
                Err(LockError { line, message: error.message })
            }
            (None, None) => Ok(Self::default()),
        }
    }
}

fn read(text: &str, problems: &mut Problems) -> Option<Known> {
    let document = toml::document(text, problems)?;
    let top = document.as_table();
    toml::unknown(top, "`registries.toml`", &["credentials"], problems);
    let mut found = Known::default();
    if let Some(item) = top.get("credentials") {
        let table = toml::table(item, "`[credentials]`", problems)?;
        for (host, item) in table.iter() {
            let what = format!("`[credentials.\"{host}\"]`");
            let one = toml::table(item, &what, problems)?;
            toml::unknown(one, &what, &["environment", "command"], problems);
            let environment = toml::text(one, "environment", problems);
            let command = toml::text(one, "command", problems);
            let from = match (environment, command) {
                (Some((name, _)), None) => CredentialSource::Environment(name),
                (None, Some((line, _))) => CredentialSource::Command(line),
                _ => {
                    let message = format!("{what} needs `environment` or `command`");
                    problems.error(CODES.value, Span::at(0), message, "write one of them");
                    continue;
                }
            };
            found.credentials.push(Credential { host: host.to_owned(), from });
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_bound_to_one_host() {
        let text = "[credentials.\"reg.example:5000\"]\nenvironment = \"PASS\"\n\
                    [credentials.\"acme.example\"]\ncommand = \"pass show acme\"\n";
        let found = Known::parse(text).unwrap();
        assert_eq!(found.credentials[0].host, "reg.example:5000");
        assert_eq!(
            found.credentials[1].from,
            CredentialSource::Command("pass show acme".to_owned())
        );
        for refused in [
            "[credentials.\"a\"]\n",
            "[credentials.\"a\"]\npassword = \"x\"\n",
            "[credentials.\"a\"]\nenvironment = \"A\"\ncommand = \"b\"\n",
            "[other]\n",
        ] {
            assert!(Known::parse(refused).is_err(), "{refused}");
        }
    }
}
