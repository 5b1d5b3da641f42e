//! `config/settings.toml` under the runtime root: how opal behaves on this machine. It is read as
//! strictly as rules are.

use std::collections::BTreeSet;
use std::path::Path;

use opal_core::Duration;
use opal_core::recipe::matches;
use toml_edit::{Item, Table};

use super::error::{PolicyError, PolicyFault, Setting};
use super::file::{Reader, read};
use opal_vault::root;
pub use queue::Queue;

const TABLES: [&str; 4] = ["queue", "ssh", "telemetry", "terraform"];

mod queue;

const SSH_KEYS: [&str; 1] = ["persist"];

const TELEMETRY_KEYS: [&str; 1] = ["otlp"];

const TERRAFORM_KEYS: [&str; 1] = ["mirror"];

const MIRROR_KEYS: [&str; 4] = ["path", "url", "include", "exclude"];

/// The longest time that connections stay open.
const MAX_PERSIST: Duration = Duration::from_secs(24 * 3600);

/// What a user has set. A file that is missing sets nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// How long a connection by `ssh` stays open after its last use; none where it does not.
    pub persist: Option<Duration>,
    /// Whether runs are sent as traces and metrics.
    pub otlp: bool,
    /// Where contracts are sent to runners.
    pub queue: Queue,
    /// Where Terraform providers come from instead of their registries: the first that fits.
    pub mirrors: Vec<Mirror>,
}

/// A copy of registries of Terraform providers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mirror {
    /// An address, or the path of a directory.
    pub place: String,
    /// Patterns of sources, `HOST/NAMESPACE/NAME`, in which `*` is any text. None: all.
    include: Option<BTreeSet<String>>,
    exclude: BTreeSet<String>,
}

impl Mirror {
    fn has(&self, source: &str) -> bool {
        let any = |all: &BTreeSet<String>| all.iter().any(|it| matches(it, source));
        self.include.as_ref().is_none_or(any) && !any(&self.exclude)
    }
}

impl Settings {
    /// The mirror for a provider: `registry.opentofu.org/hashicorp/aws`.
    #[must_use]
    pub fn mirror(&self, source: &str) -> Option<&str> {
        self.mirrors.iter().find(|mirror| mirror.has(source)).map(|mirror| mirror.place.as_str())
    }

    /// Those in `config/settings.toml` under this runtime root.
    pub fn load(root: &Path) -> Result<Self, PolicyError> {
        let path = root.join("config/settings.toml");
        match read(&path, root::read_guarded)? {
            Some(text) => Self::parse(&path, &text),
            None => Ok(Self::default()),
        }
    }

    fn parse(file: &Path, text: &str) -> Result<Self, PolicyError> {
        let reader = Reader { file, text, is_project: false };
        let document = reader.document()?;
        let mut settings = Self::default();
        for (name, item) in document.iter() {
            let wrong = |setting| reader.wrong(item, setting);
            match name {
                "ssh" => {
                    let table = item.as_table_like().ok_or_else(|| wrong(Setting::Ssh))?;
                    for (name, item) in table.iter() {
                        match name {
                            "persist" => settings.persist = persist(&reader, item)?,
                            other => return Err(reader.unknown(table, other, &SSH_KEYS)),
                        }
                    }
                }
                "telemetry" => {
                    let table = item.as_table_like().ok_or_else(|| wrong(Setting::Otlp))?;
                    for (name, item) in table.iter() {
                        let wrong = || reader.wrong(item, Setting::Otlp);
                        match name {
                            "otlp" => settings.otlp = item.as_bool().ok_or_else(wrong)?,
                            other => return Err(reader.unknown(table, other, &TELEMETRY_KEYS)),
                        }
                    }
                }
                "queue" => settings.queue = queue::read(&reader, item)?,
                "terraform" => {
                    let table = item.as_table_like().ok_or_else(|| wrong(Setting::Mirror))?;
                    if let Some((other, _)) = table.iter().find(|(name, _)| *name != "mirror") {
                        return Err(reader.unknown(table, other, &TERRAFORM_KEYS));
                    }
                    let all = table.get("mirror").and_then(Item::as_array_of_tables);
                    let all = all.ok_or_else(|| wrong(Setting::Mirror))?;
                    let all = all.iter().map(|table| mirror(&reader, item, table));
                    settings.mirrors = all.collect::<Result<_, _>>()?;
                }
                other => return Err(reader.unknown(document.as_table(), other, &TABLES)),
            }
        }
        Ok(settings)
    }
}

fn mirror(reader: &Reader<'_>, whole: &Item, table: &Table) -> Result<Mirror, PolicyError> {
    let mut found = Mirror::default();
    for (name, item) in table.iter() {
        let texts = || reader.texts(item, Setting::Mirror);
        match name {
            "path" | "url" if found.place.is_empty() => {
                let place = item.as_str().filter(|it| it.starts_with('/') == (name == "path"));
                let place = place.ok_or_else(|| reader.wrong(item, Setting::Mirror))?;
                found.place = place.to_owned();
            }
            "include" => found.include = Some(texts()?),
            "exclude" => found.exclude = texts()?,
            other => return Err(reader.unknown(table, other, &MIRROR_KEYS)),
        }
    }
    match found.place.is_empty() {
        true => Err(reader.wrong(whole, Setting::Mirror)),
        false => Ok(found),
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
        let minute = Settings { persist: Some(Duration::from_secs(60)), ..Settings::default() };
        assert_eq!(parsed("[ssh]\npersist = \"60s\"\n"), minute.clone());
        assert_eq!(parsed("ssh = { persist = \"1m\" }\n"), minute);
    }

    #[test]
    fn telemetry_is_sent_only_if_a_user_says_so() {
        assert!(!parse("").unwrap().otlp);
        assert!(!parse("[telemetry]\n").unwrap().otlp);
        assert!(!parse("[telemetry]\notlp = false\n").unwrap().otlp);
        assert!(parse("[telemetry]\notlp = true\n").unwrap().otlp);
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
            ("telemetry = true\n", "otlp"),
            ("[telemetry]\notlp = \"yes\"\n", "otlp"),
            ("[telemetry]\notpl = true\n", "otlp"),
        ] {
            let error = parse(text).unwrap_err();
            let words = format!("{error} {}", error.help());
            assert!(words.contains(said) && error.line.is_some(), "{text}: {words}");
        }
    }

    #[test]
    fn the_first_mirror_that_has_a_provider_is_used() {
        let text = "[[terraform.mirror]]\npath = \"/srv/acme\"\ninclude = [\"*/acme/*\"]\n\
                    exclude = [\"*/acme/own\"]\n\n[[terraform.mirror]]\nurl = \"https://m.example\"\n";
        let found = parse(text).unwrap();
        for (source, expected) in [
            ("reg.example/acme/box", "/srv/acme"),
            ("reg.example/acme/own", "https://m.example"),
            ("reg.example/other/box", "https://m.example"),
        ] {
            assert_eq!(found.mirror(source), Some(expected), "{source}");
        }
        assert_eq!(parse("").unwrap().mirror("reg.example/acme/box"), None);
        for wrong in [
            "[terraform]\nmirrors = []\n",
            "[[terraform.mirror]]\n",
            "[[terraform.mirror]]\npath = \"relative\"\n",
            "[[terraform.mirror]]\nurl = \"/srv\"\n",
            "[[terraform.mirror]]\npath = \"/srv\"\nurl = \"https://m.example\"\n",
            "[[terraform.mirror]]\npath = \"/srv\"\ninclude = \"all\"\n",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
