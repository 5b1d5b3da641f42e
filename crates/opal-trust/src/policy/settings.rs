//! `config/settings.toml` under the runtime root: how opal behaves on this machine. It is read as
//! strictly as rules are.

use std::path::Path;

use opal_core::Duration;
use toml_edit::Item;

use super::error::{PolicyError, PolicyFault, Setting};
use super::file::{Reader, read};
use opal_vault::root;

const TABLES: [&str; 1] = ["ssh"];

const SSH_KEYS: [&str; 1] = ["persist"];

/// The longest time that connections stay open.
const MAX_PERSIST: Duration = Duration::from_secs(24 * 3600);

/// What a user has set. A file that is missing sets nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// How long a connection by `ssh` stays open after its last use; none where it does not.
    pub persist: Option<Duration>,
}

impl Settings {
    /// Those in `config/settings.toml` under this runtime root.
    pub fn load(root: &Path) -> Result<Self, PolicyError> {
        let path = root.join("config/settings.toml");
        match read(&path, root::read_guarded)? {
            Some(text) => Self::parse(&path, &text),
            None => Ok(Self::default()),
        }
    }

    fn parse(file: &Path, text: &str) -> Result<Self, PolicyError> {
        let reader = Reader { file, text };
        let document = reader.document()?;
        let mut settings = Self::default();
        for (name, item) in document.iter() {
            if name != "ssh" {
                return Err(reader.unknown(document.as_table(), name, &TABLES));
            }
            let table = item.as_table_like().ok_or_else(|| reader.wrong(item, Setting::Ssh))?;
            for (name, item) in table.iter() {
                match name {
                    "persist" => settings.persist = persist(&reader, item)?,
                    other => return Err(reader.unknown(table, other, &SSH_KEYS)),
                }
            }
        }
        Ok(settings)
    }
}

/// `0s` is off.
fn persist(reader: &Reader<'_>, item: &Item) -> Result<Option<Duration>, PolicyError> {
    let text = item.as_str().ok_or_else(|| reader.wrong(item, Setting::Persist))?;
    match Duration::parse(text) {
        Ok(time) if time.as_nanos() == 0 => Ok(None),
        Ok(time) if time.as_nanos() > 0 && time <= MAX_PERSIST => Ok(Some(time)),
        Ok(_) => Err(reader.wrong(item, Setting::Persist)),
        Err(error) => Err(reader.error(item.span(), PolicyFault::InvalidPersist(error))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Settings, PolicyError> {
        Settings::parse(Path::new("settings.toml"), text)
    }

    #[test]
    fn connections_stay_open_only_if_a_user_says_so() {
        let parsed = |text| parse(text).unwrap();
        assert_eq!(parsed(""), Settings::default());
        assert_eq!(parsed("[ssh]\n"), Settings::default());
        assert_eq!(parsed("[ssh]\npersist = \"0s\"\n"), Settings::default());
        let minute = Settings { persist: Some(Duration::from_secs(60)) };
        assert_eq!(parsed("[ssh]\npersist = \"60s\"\n"), minute.clone());
        assert_eq!(parsed("ssh = { persist = \"1m\" }\n"), minute);
    }

    #[test]
    fn a_setting_that_is_not_understood_is_an_error_with_its_line() {
        for (text, said) in [
            ("[shh]\n", "shh"),
            ("[ssh]\npersists = \"60s\"\n", "persists"),
            ("[ssh]\npersist = 60\n", "persist"),
            ("[ssh]\npersist = \"often\"\n", "persist"),
            ("[ssh]\npersist = \"-1s\"\n", "persist"),
            ("[ssh]\npersist = \"25h\"\n", "persist"),
            ("ssh = 1\n", "ssh"),
        ] {
            let error = parse(text).unwrap_err();
            let words = format!("{error} {}", error.help());
            assert!(words.contains(said) && error.line.is_some(), "{text}: {words}");
        }
    }
}
