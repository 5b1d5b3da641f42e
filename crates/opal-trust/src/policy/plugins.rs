//! Which packages of decorators may be used: `[plugins]` of a policy.

use std::collections::BTreeSet;
use std::path::PathBuf;

use toml_edit::{Item, TableLike};

use super::error::{PolicyError, PolicyFault, Setting};
use super::file::Reader;
use crate::keys::PublicKey;

const KEYS: [&str; 10] = [
    "verification",
    "sources",
    "publishers",
    "native",
    "providers",
    "shell",
    "registries",
    "keys",
    "sigstore",
    "deny",
];

/// The keys of a project's policy: whom to trust is not for it to say.
const PROJECT_KEYS: [&str; 8] =
    ["verification", "sources", "publishers", "native", "providers", "shell", "registries", "deny"];

/// What the executing side allows. The default allows what people accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PluginRules {
    /// `verification = "passed"`.
    pub requires_verification: bool,
    /// `local`, `local:./plugins/house`, `registry:HOST`: all others are refused.
    pub sources: Option<BTreeSet<String>>,
    /// Whose packages may be used.
    pub publishers: Option<BTreeSet<String>>,
    /// None where nobody says it.
    pub native: Option<Native>,
    /// `providers = "refuse"`: Terraform providers are native code that nothing confines.
    pub refuses_providers: bool,
    /// `shell = "refuse"`.
    pub refuses_shell: bool,
    /// The registry of a namespace, which a project cannot change.
    pub registries: Vec<(String, String)>,
    /// The key that signs the index of a registry, by the address of the registry.
    pub keys: Vec<(String, PublicKey)>,
    /// Files with the trust roots of Sigstore instances, whose signers may be publishers.
    pub sigstore: Vec<PathBuf>,
    /// A name, `NAME@VERSION`, a checksum or a key.
    pub deny: BTreeSet<String>,
}

/// How native code may run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Native {
    Unconfined,
    #[default]
    Confined,
    Refuse,
}

impl PluginRules {
    /// How native code may run: confined where nobody says anything else.
    #[must_use]
    pub fn native(&self) -> Native {
        self.native.unwrap_or_default()
    }

    /// Of a project, which can only tighten: that code may run without confinement is not for it to say.
    pub(super) fn of_project(mut self) -> Self {
        self.native = self.native.filter(|native| *native > Native::Unconfined);
        self
    }

    /// Both at once: the strictest win. Who says nothing about native code leaves it to the other.
    pub(super) fn merge(self, other: Self) -> Self {
        let both = |one: Option<BTreeSet<String>>, two: Option<BTreeSet<String>>| match (one, two) {
            (Some(one), Some(two)) => Some(one.intersection(&two).cloned().collect()),
            (one, two) => one.or(two),
        };
        Self {
            requires_verification: self.requires_verification || other.requires_verification,
            sources: both(self.sources, other.sources),
            publishers: both(self.publishers, other.publishers),
            // Nothing is less than everything that is said.
            native: self.native.max(other.native),
            refuses_providers: self.refuses_providers || other.refuses_providers,
            refuses_shell: self.refuses_shell || other.refuses_shell,
            registries: first(self.registries, other.registries),
            keys: first(self.keys, other.keys),
            // A root could give anybody any name, so nobody adds one to those of the machine.
            sigstore: if self.sigstore.is_empty() { other.sigstore } else { self.sigstore },
            deny: self.deny.into_iter().chain(other.deny).collect(),
        }
    }
}

/// Both lists; what the first one says about a name holds.
fn first<T>(mut one: Vec<(String, T)>, other: Vec<(String, T)>) -> Vec<(String, T)> {
    for (name, value) in other {
        if !one.iter().any(|(known, _)| *known == name) {
            one.push((name, value));
        }
    }
    one
}

impl Reader<'_> {
    /// `[policy.plugins]` of a project.
    pub(super) fn project_plugins(&self, table: &dyn TableLike) -> Result<(), PolicyError> {
        let Some(plugins) = table.get("plugins").and_then(Item::as_table_like) else {
            return Ok(());
        };
        match ["keys", "sigstore"].into_iter().find(|name| plugins.contains_key(name)) {
            Some(name) => Err(self.unknown(plugins, name, &PROJECT_KEYS)),
            None => Ok(()),
        }
    }

    pub(super) fn plugins(&self, item: &Item) -> Result<PluginRules, PolicyError> {
        let table = item.as_table_like().ok_or_else(|| self.wrong(item, Setting::Plugins))?;
        let mut rules = PluginRules::default();
        for (name, item) in table.iter() {
            match name {
                "verification" => {
                    let of = [("passed", true), ("any", false)];
                    rules.requires_verification = self.one_of(item, &of, Setting::Verification)?;
                }
                "sources" => rules.sources = Some(self.texts(item, Setting::Sources)?),
                "publishers" => rules.publishers = Some(self.texts(item, Setting::Publishers)?),
                "native" => {
                    let of = [
                        ("refuse", Native::Refuse),
                        ("confined", Native::Confined),
                        ("unconfined", Native::Unconfined),
                    ];
                    rules.native = Some(self.one_of(item, &of, Setting::Native)?);
                }
                "providers" => {
                    let of = [("refuse", true), ("accepted", false)];
                    rules.refuses_providers = self.one_of(item, &of, Setting::Providers)?;
                }
                "shell" => {
                    let of = [("refuse", true), ("accepted", false)];
                    rules.refuses_shell = self.one_of(item, &of, Setting::Shell)?;
                }
                "registries" => rules.registries = self.registries(item)?,
                "keys" => rules.keys = self.registry_keys(item)?,
                "sigstore" => rules.sigstore = self.roots(item)?,
                "deny" => rules.deny = self.texts(item, Setting::Deny)?,
                other => return Err(self.unknown(table, other, &KEYS)),
            }
        }
        Ok(rules)
    }

    fn one_of<T: Copy>(
        &self,
        item: &Item,
        of: &[(&str, T)],
        setting: Setting,
    ) -> Result<T, PolicyError> {
        let given = item.as_str();
        let found = of.iter().find(|(name, _)| Some(*name) == given).map(|(_, value)| *value);
        found.ok_or_else(|| self.wrong(item, setting))
    }

    pub(super) fn texts(
        &self,
        item: &Item,
        setting: Setting,
    ) -> Result<BTreeSet<String>, PolicyError> {
        let wrong = || self.wrong(item, setting);
        let list = item.as_array().ok_or_else(wrong)?;
        list.iter().map(|value| value.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
    }

    fn registries(&self, item: &Item) -> Result<Vec<(String, String)>, PolicyError> {
        let wrong = || self.wrong(item, Setting::Registries);
        let table: &dyn TableLike = item.as_table_like().ok_or_else(wrong)?;
        let one = |(name, item): (&str, &Item)| {
            Ok((name.to_owned(), item.as_str().ok_or_else(wrong)?.to_owned()))
        };
        table.iter().map(one).collect()
    }

    fn roots(&self, item: &Item) -> Result<Vec<PathBuf>, PolicyError> {
        let wrong = || self.wrong(item, Setting::Sigstore);
        let list = item.as_array().ok_or_else(wrong)?;
        let path = |text: &str| text.starts_with('/').then(|| PathBuf::from(text));
        list.iter().map(|it| it.as_str().and_then(path).ok_or_else(wrong)).collect()
    }

    fn registry_keys(&self, item: &Item) -> Result<Vec<(String, PublicKey)>, PolicyError> {
        let wrong = || self.wrong(item, Setting::Keys);
        let table: &dyn TableLike = item.as_table_like().ok_or_else(wrong)?;
        let one = |(address, item): (&str, &Item)| {
            let key = item.as_str().ok_or_else(wrong)?.parse();
            let key = key.map_err(|_| self.error(item.span(), PolicyFault::InvalidKey))?;
            Ok((address.trim_end_matches('/').to_owned(), key))
        };
        table.iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Policy, ProjectFile};

    const KEY: &str = "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

    #[test]
    fn native_code_runs_unconfined_only_where_the_machine_or_the_user_says_so() {
        use super::Native::{Confined, Refuse, Unconfined};
        let policy = |native: &str| match native {
            "" => Policy::default(),
            native => {
                let text = format!("[plugins]\nnative = \"{native}\"\n");
                Policy::parse(Path::new("policy.toml"), &text).unwrap()
            }
        };
        for (system, user, project, holds) in [
            ("", "", "", Confined),
            ("unconfined", "", "", Unconfined),
            ("", "unconfined", "", Unconfined),
            ("unconfined", "confined", "", Confined),
            ("unconfined", "refuse", "", Refuse),
            ("unconfined", "", "confined", Confined),
            ("unconfined", "", "unconfined", Unconfined),
            ("", "", "unconfined", Confined),
            ("", "", "refuse", Refuse),
        ] {
            let merged = policy(system).merge(policy(user)).tightened_by(policy(project));
            assert_eq!(merged.plugins.native(), holds, "{system} {user} {project}");
        }
    }

    #[test]
    fn the_roots_of_sigstore_are_for_the_machine_and_then_the_user_to_say() {
        let file = Path::new("policy.toml");
        let policy = |roots: &str| {
            Policy::parse(file, &format!("[plugins]\nsigstore = [{roots}]\n")).unwrap()
        };
        let (system, user) = (policy("\"/etc/root.json\""), policy("\"/home/root.json\""));
        let merged = system.clone().merge(user.clone()).plugins;
        assert_eq!(merged.sigstore, [Path::new("/etc/root.json")]);
        assert_eq!(Policy::default().merge(user.clone()).plugins, user.plugins);
        let project = "[policy.plugins]\nsigstore = [\"/tmp/root.json\"]\n";
        let error = ProjectFile::parse(Path::new("opal.mod"), project).unwrap_err();
        assert!(error.to_string().contains("sigstore"), "{error}");
        for wrong in ["\"/root.json\"", "[\"root.json\"]", "[1]"] {
            let text = format!("[plugins]\nsigstore = {wrong}\n");
            let error = Policy::parse(file, &text).unwrap_err();
            assert!(error.help().contains("sigstore = [\"/etc/opal/"), "{wrong}: {error}");
        }
    }

    #[test]
    fn the_key_of_a_registry_is_for_the_machine_and_the_user_to_say() {
        let text = format!("[plugins.keys]\n\"https://acme.example/\" = \"{KEY}\"\n");
        let file = Path::new("policy.toml");
        let policy = Policy::parse(file, &text).unwrap();
        let (address, key) = &policy.plugins.keys[0];
        assert_eq!((address.as_str(), key.to_string().as_str()), ("https://acme.example", KEY));
        let project = text.replace("[plugins", "[policy.plugins");
        let error = ProjectFile::parse(Path::new("opal.mod"), &project).unwrap_err();
        assert!(error.to_string().contains("keys"), "{error}");
        for wrong in ["[plugins.keys]\n\"https://x\" = \"x\"\n", "[plugins]\nkeys = []\n"] {
            assert!(Policy::parse(file, wrong).is_err(), "{wrong}");
        }
    }
}
