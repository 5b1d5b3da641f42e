//! What the helper needs to reach registries: variables of the user, and passwords, each for one host.

use opal_core::wiped::Wiped;
use opal_helper::Parcel;
use opal_plugins::registries::{CredentialSource, Known, KnownError, VARIABLES};
use opal_vault::root::Root;
use serde_json::{Value, json};

use crate::ambient::variable;
use crate::failure::{Exit, Failure};
use crate::helpers;

/// Adds them to a request: names to its document, values to its parts.
pub(super) fn add(
    root: &Root,
    document: &mut Value,
    mut parcel: Parcel,
) -> Result<Parcel, Failure> {
    let known = Known::load(root).map_err(|error| unknown(root, error))?;
    let mut names = Vec::new();
    for name in VARIABLES {
        let Some(value) = variable(name) else { continue };
        parcel = parcel.with(Wiped::new(value.to_string_lossy().into_owned()).as_bytes());
        names.push(name);
    }
    let mut credentials = Vec::new();
    for one in &known.credentials {
        match &one.from {
            CredentialSource::Command(line) => {
                credentials.push(json!({"host": one.host, "command": line}));
            }
            CredentialSource::Environment(name) => {
                if let Some(value) = variable(name) {
                    credentials.push(json!({"host": one.host}));
                    parcel =
                        parcel.with(Wiped::new(value.to_string_lossy().into_owned()).as_bytes());
                }
            }
        }
    }
    document["variables"] = json!(names);
    document["credentials"] = json!(credentials);
    document["root"] = json!(root.path().display().to_string());
    document["now"] = json!(seconds());
    Ok(parcel)
}

/// The answer to a request; `answer` knows what the helper asks meanwhile.
pub(super) fn ask(
    parcel: &Parcel,
    answer: &mut dyn FnMut(&Parcel) -> Parcel,
) -> Result<Parcel, Failure> {
    let found = helpers::extra().ask(parcel, answer);
    let found = found.map_err(|unusable| helpers::failure(&unusable))?;
    match found.head.get("refused") {
        Some(refused) => Err(refusal(refused).unwrap_or_else(silent)),
        None => Ok(found),
    }
}

pub(super) fn seconds() -> u64 {
    let now = opal_session::clock::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs())
}

fn refusal(refused: &Value) -> Option<Failure> {
    let exit = match refused.get("exit")?.as_u64()? {
        65 => Exit::Source,
        74 => Exit::Write,
        77 => Exit::NotTrusted,
        78 => Exit::Configuration,
        _ => Exit::Unavailable,
    };
    let text = |key: &str| Some(refused.get(key)?.as_str()?.to_owned());
    Some(Failure::new(exit, text("message")?, text("help")?))
}

/// Both programs are of one build.
pub(super) fn silent() -> Failure {
    let message = "`opal-extra` gave an answer that cannot be understood";
    Failure::new(Exit::Bug, message, "install opal again, all of one build")
}

fn unknown(root: &Root, error: KnownError) -> Failure {
    match error {
        KnownError::Unusable(error) => {
            let exit = if error.is_unsafe() { Exit::NotTrusted } else { Exit::Configuration };
            Failure::new(exit, error.to_string(), error.help())
        }
        KnownError::Invalid(error) => {
            let file = root.path().join("config").join(opal_plugins::registries::FILE);
            let message = format!("{}:{}: {}", file.display(), error.line, error.message);
            Failure::new(Exit::Configuration, message, "correct the file")
        }
    }
}
