//! Names and passwords. Each is bound to one host, and only the user's own configuration has any: a project
//! names registries, never credentials.

use std::path::{Path, PathBuf};

use base64ct::{Base64, Encoding as _};
use opal_core::Secret;
use opal_files::regular;
use serde_json::Value;

use super::Reach;
use crate::programs;
use crate::refusal::Refusal;

const MAX_CONFIG: u64 = 1 << 20;
const MAX_ANSWER: u64 = 64 * 1024;

/// What the user says about a host.
#[derive(Debug)]
pub(crate) struct Rule {
    /// With its port.
    pub(crate) host: String,
    pub(crate) from: From,
}

/// Where a password comes from.
#[derive(Debug)]
pub(crate) enum From {
    /// `USER:PASSWORD`, or a token.
    Given(Secret),
    /// A command line that prints it.
    Command(String),
}

/// How it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// A name and a password, or a token, at once.
    Basic,
    /// Only to the server that gives tokens.
    Exchange,
}

/// The header for a host; none where the user has no credentials for it.
pub(crate) fn headers(
    reach: &Reach,
    host: &str,
    scheme: Scheme,
) -> Result<Vec<(String, Secret)>, Refusal> {
    let found = match of_user(reach, host)? {
        Some(found) => Some(found),
        None => docker(reach, host)?,
    };
    let Some(found) = found else { return Ok(Vec::new()) };
    let value = match found.expose().contains(':') {
        true => format!("Basic {}", Base64::encode_string(found.expose().as_bytes())),
        // A token is not a name and a password: the server that gives tokens takes none.
        false if scheme == Scheme::Exchange => return Ok(Vec::new()),
        false => format!("Bearer {}", found.expose()),
    };
    Ok(vec![("Authorization".to_owned(), Secret::new(value))])
}

fn of_user(reach: &Reach, host: &str) -> Result<Option<Secret>, Refusal> {
    let Some(rule) = reach.credentials.iter().find(|rule| rule.host == host) else {
        return Ok(None);
    };
    match &rule.from {
        From::Given(secret) => Ok(Some(secret.clone())),
        From::Command(line) => {
            let failed = |why: String| {
                let message = format!("the credentials of {host} cannot be had: {why}");
                Refusal::unavailable(message, "check `command` in `config/registries.toml`")
            };
            let ran = programs::run("sh", &["-c", line], &[], &[], MAX_ANSWER, reach);
            let ran = ran.map_err(|unrun| failed(unrun.why))?;
            if !ran.is_success {
                return Err(failed("the command failed".to_owned()));
            }
            let text = String::from_utf8(ran.stdout).map_err(|_| failed("not text".to_owned()))?;
            Ok(Some(Secret::new(text.trim())))
        }
    }
}

/// What `docker login` has kept: in its file, or with a program of the user.
fn docker(reach: &Reach, host: &str) -> Result<Option<Secret>, Refusal> {
    let Some(file) = config(reach) else { return Ok(None) };
    let Ok(text) = regular::read_to_string(&file, MAX_CONFIG) else { return Ok(None) };
    let Ok(config) = serde_json::from_str::<Value>(&text) else { return Ok(None) };
    let helper =
        config.pointer("/credHelpers").and_then(|all| all.get(host)).and_then(Value::as_str);
    let store = config.get("credsStore").and_then(Value::as_str);
    let entry = config.get("auths").and_then(|all| all.get(host));
    if let Some(entry) = entry
        && let Some(auth) = entry.get("auth").and_then(Value::as_str)
    {
        let text = Base64::decode_vec(auth).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        return Ok(text.filter(|text| text.contains(':')).map(Secret::new));
    }
    let Some(helper) = helper.or(store.filter(|_| entry.is_some())) else { return Ok(None) };
    let program = format!("docker-credential-{helper}");
    let ran = programs::run(&program, &["get"], &[], host.as_bytes(), MAX_ANSWER, reach);
    let ran = ran.map_err(|unrun| {
        let message = format!("the credentials of {host} cannot be had: {}", unrun.why);
        Refusal::unavailable(message, unrun.help)
    })?;
    let Ok(found) = serde_json::from_slice::<Value>(&ran.stdout) else { return Ok(None) };
    let field = |name: &str| found.get(name).and_then(Value::as_str);
    let (Some(name), Some(secret)) = (field("Username"), field("Secret")) else { return Ok(None) };
    Ok(Some(Secret::new(format!("{name}:{secret}"))))
}

fn config(reach: &Reach) -> Option<PathBuf> {
    let folder = match reach.variable("DOCKER_CONFIG") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(reach.variable("HOME")?).join(".docker"),
    };
    Some(folder.join("config.json"))
}
