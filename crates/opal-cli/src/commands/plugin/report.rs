//! The report of `opal plugin verify --report FILE`, which a verifier signs.

use std::path::Path;

use opal_core::hash::{Algorithm, Digest};
use opal_plugins::installed::Installed;
use opal_vault::root::read_given;
use serde_json::Value;

use super::rebuild::Rebuild;
use crate::failure::{Exit, Failure};

const MAX_REPORT: u64 = 16 << 20;

/// The digest of a report that says: exactly this package passed.
pub(super) fn read(file: &Path, one: &Installed) -> Result<Digest, Failure> {
    let (name, version) = (one.name(), one.version().to_string());
    let bytes = read_given(file, MAX_REPORT)
        .map_err(|error| Failure::new(Exit::NoFile, error.to_string(), error.help()))?;
    let again = "write it again: `opal plugin verify --report FILE`";
    let refused = |exit: Exit, why: String| {
        Failure::new(exit, format!("the report `{}` {why}", file.display()), again)
    };
    let invalid = || refused(Exit::Source, "cannot be understood".to_owned());
    let document: Value = serde_json::from_slice(&bytes).map_err(|_| invalid())?;
    let text = |key: &str| document.get(key).and_then(Value::as_str);
    if document.get("version").and_then(Value::as_u64) != Some(1) {
        return Err(invalid());
    }
    let is_about = text("name") == Some(name)
        && text("package_version") == Some(&version)
        && text("checksum") == Some(&Algorithm::Sha256.written(&one.checksum));
    if !is_about {
        let why = format!("is not about these files of {name} {version}");
        return Err(refused(Exit::NotTrusted, why));
    }
    if document.get("passed").and_then(Value::as_bool) != Some(true) {
        return Err(refused(Exit::NotTrusted, format!("says that {name} {version} did not pass")));
    }
    // `passed` means all of the code, and that it is the code of the sources.
    let skipped = document.get("skipped").and_then(Value::as_array).ok_or_else(invalid)?;
    if let Some(skipped) = skipped.first() {
        let decorator = skipped.get("decorator").and_then(Value::as_str).unwrap_or_default();
        let message = format!(
            "the report `{}` says that `@{decorator}` of {name} {version} was not tested",
            file.display()
        );
        let help =
            "`passed` is for packages whose decorators are all tested: publish it without a report";
        return Err(Failure::new(Exit::NotTrusted, message, help));
    }
    if Rebuild::is_described(one) && text("rebuild") != Some(Rebuild::Same.word()) {
        let message = format!(
            "the report `{}` does not say that the sources of {name} {version} give its code",
            file.display()
        );
        let help = "write it again: `opal plugin verify --rebuild --report FILE`";
        return Err(Failure::new(Exit::NotTrusted, message, help));
    }
    Ok(Algorithm::Sha256.digest(&[&bytes]))
}
