//! `[plugins]` and `[registries]` of an `opal.mod`: which packages a project wants.

use std::collections::BTreeSet;

use opal_core::{Code, LineIndex, Span};
use opal_yaml::problems::Problems;
use toml_edit::{Item, TableLike};

use crate::address::{Address, AddressError, is_reference, is_registry};
use crate::capability::Capability;
use crate::codes::CODES;
use crate::names::{Requirement, is_segment};
use crate::provider::wanted::WantedProvider;
use crate::{provider, toml};

/// A package that a project wants.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// As it is written: `./plugins/house`.
    pub key: String,
    pub address: Address,
    /// Of a git package: any version, written as its tag, branch or commit.
    pub requirement: Requirement,
    /// The first segment of its paths in this project.
    pub alias: Option<String>,
    /// The capabilities that the project leaves it; all of them where it does not say.
    pub allow: Option<BTreeSet<Capability>>,
    pub native: bool,
    /// Only other packages need it: `opal.mod` does not have it.
    pub is_needed: bool,
}

impl Wanted {
    #[must_use]
    pub fn plain(key: &str, address: Address, requirement: Requirement) -> Self {
        let (alias, allow, native, is_needed) = (None, None, false, false);
        Self { key: key.to_owned(), address, requirement, alias, allow, native, is_needed }
    }
}

/// What is wrong with those tables.
#[derive(Debug)]
pub struct ModError {
    /// From 1.
    pub line: u32,
    pub message: String,
    pub help: String,
}

/// Packages of one project.
const MOST_PACKAGES: usize = 200;

/// Whether an `opal.mod` may have such tables: most have none, and are not read twice.
#[must_use]
pub fn mentions_plugins(text: &str) -> bool {
    text.contains("plugins") || text.contains("registries")
}

/// The packages of an `opal.mod`, in the order of their keys.
///
/// # Errors
/// The first thing that is wrong.
pub fn wanted(text: &str) -> Result<Vec<Wanted>, ModError> {
    Ok(tables(text)?.wanted)
}

/// The registries of an `opal.mod`: a namespace, or `default`, and an address.
///
/// # Errors
/// The first thing that is wrong.
pub fn registries(text: &str) -> Result<Vec<(String, String)>, ModError> {
    Ok(tables(text)?.registries)
}

/// The Terraform providers of an `opal.mod`, in the order of their keys.
///
/// # Errors
/// The first thing that is wrong.
pub fn providers(text: &str) -> Result<Vec<WantedProvider>, ModError> {
    Ok(tables(text)?.providers)
}

/// The `name` of an `opal.mod`; none where it has none.
#[must_use]
pub fn name(text: &str) -> Option<String> {
    let mut problems = Problems::new(CODES);
    let document = toml::document(text, &mut problems)?;
    document.as_table().get("name")?.as_str().map(str::to_owned)
}

#[derive(Default)]
struct Tables {
    wanted: Vec<Wanted>,
    registries: Vec<(String, String)>,
    providers: Vec<WantedProvider>,
}

fn tables(text: &str) -> Result<Tables, ModError> {
    let mut problems = Problems::new(CODES);
    let found = read(text, &mut problems);
    let lines = LineIndex::new(text);
    if let Some(first) = problems.into_errors().into_iter().next() {
        let line = lines.line(first.primary.span.start);
        let help = first.help.join("; ");
        return Err(ModError { line, message: first.message, help });
    }
    Ok(found.unwrap_or_default())
}

fn read(text: &str, problems: &mut Problems) -> Option<Tables> {
    let document = toml::document(text, problems)?;
    let top = document.as_table();
    let mut found = Tables::default();
    if let Some(item) = top.get("registries") {
        found.registries = addresses(toml::table(item, "`[registries]`", problems)?, problems);
    }
    let Some(item) = top.get("plugins") else { return Some(found) };
    let table = toml::table(item, "`[plugins]`", problems)?;
    for (key, item) in table.iter() {
        let span = toml::place(table.get_key_value(key).and_then(|(key, _)| key.span()));
        match Address::parse(key) {
            Ok(address) => found.wanted.extend(package(key, address, item, span, problems)),
            Err(AddressError::Terraform) => {
                found.providers.extend(provider::wanted::read(key, item, span, problems));
            }
            Err(AddressError::Invalid) => {
                let expects = "`./DIRECTORY`, `NAMESPACE/NAME` or `HOST/OWNER/REPOSITORY`";
                toml::invalid(Code::PackageValue, "plugins", key, expects, span, problems);
            }
        }
    }
    if found.wanted.len() > MOST_PACKAGES {
        let message = format!("a project has at most {MOST_PACKAGES} packages");
        problems.error(Code::PackageValue, Span::at(0), message, "remove some");
    }
    found.wanted.sort_by(|a, b| a.key.cmp(&b.key));
    found.providers.sort_by(|a, b| a.key.cmp(&b.key));
    Some(found)
}

/// What is written for the version of a package.
pub fn requirement(address: &Address, text: &str) -> Option<Requirement> {
    match address {
        Address::Git(_) => is_reference(text).then(|| Requirement::any(text)),
        _ => text.parse().ok(),
    }
}

fn package(
    key: &str,
    address: Address,
    item: &Item,
    span: Span,
    problems: &mut Problems,
) -> Option<Wanted> {
    let versions = match address {
        Address::Git(_) => "a tag, a branch or a commit, as in `v1.2.3`, `v1` or `main`",
        _ => "a version as in `1.2.3`, `1.2`, `^1.2` or `>=1.2, <2`",
    };
    if let Some(text) = item.as_str() {
        let Some(requirement) = requirement(&address, text) else {
            let span = toml::place(item.span());
            toml::invalid(Code::PackageValue, key, text, versions, span, problems);
            return None;
        };
        return Some(Wanted::plain(key, address, requirement));
    }
    let what = format!("`{key}`");
    let table = toml::table(item, &what, problems)?;
    toml::unknown(table, &what, &["version", "as", "allow", "native"], problems);
    if table.get("version").is_none() {
        let message = format!("{what} needs `version`");
        problems.error(Code::PackageMissingKey, span, message, "add `version = \"1.0.0\"`");
    }
    let read = |text: &str| requirement(&address, text);
    let requirement = toml::parsed(table, "version", versions, read, problems)?;
    let segment = "one segment of a path: lower case letters, digits and `_`";
    let alias =
        toml::parsed(table, "as", segment, |it| is_segment(it).then(|| it.to_owned()), problems);
    Some(Wanted {
        alias,
        allow: allow(table, problems),
        native: native(table, problems),
        ..Wanted::plain(key, address, requirement)
    })
}

fn allow(table: &dyn TableLike, problems: &mut Problems) -> Option<BTreeSet<Capability>> {
    let given = toml::texts(table, "allow", problems)?;
    let mut found = BTreeSet::new();
    for (text, span) in given {
        match text.parse() {
            Ok(open @ Capability::Open(_)) => {
                let message = format!("`{open}` in `allow` names no host");
                let help = format!("write `{open}:HOST`");
                problems.error(Code::PackageCapability, span, message, help);
            }
            Ok(capability) => drop(found.insert(capability)),
            Err(error) => {
                let message = format!("invalid capability {text:?}: {error}");
                let help = "write it as `opal plugin info` shows it";
                problems.error(Code::PackageCapability, span, message, help);
            }
        }
    }
    Some(found)
}

fn native(table: &dyn TableLike, problems: &mut Problems) -> bool {
    let Some(item) = table.get("native") else { return false };
    let found = item.as_bool();
    if found.is_none() {
        let span = toml::place(item.span());
        problems.error(
            Code::PackageValue,
            span,
            "`native` expects true or false",
            "write `native = true`",
        );
    }
    found.unwrap_or_default()
}

fn addresses(table: &dyn TableLike, problems: &mut Problems) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (name, _) in table.iter() {
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let span = toml::place(table.get_key_value(name).and_then(|(key, _)| key.span()));
        if name.is_empty() || name.len() > 64 || !name.chars().all(is_name) {
            let expects = "a namespace, or `default`";
            toml::invalid(Code::PackageValue, "registries", name, expects, span, problems);
        }
        let address = |text: &str| is_registry(text).then(|| text.to_owned());
        let expects = "an address that begins with `oci://`, `https://` or `file:`, without a user";
        let address = toml::parsed(table, name, expects, address, problems);
        found.extend(address.map(|address| (name.to_owned(), address)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_directories_are_read_in_both_forms() {
        let text = "[plugins]\n\"./b\" = \"1.0.0\"\n\
                    \"./a\" = { version = \"1\", as = \"x\", allow = [\"shell\"], native = true }\n";
        let found = wanted(text).unwrap();
        assert_eq!(found.iter().map(|it| it.key.as_str()).collect::<Vec<_>>(), ["./a", "./b"]);
        assert_eq!(found[0].alias.as_deref(), Some("x"));
        assert!(found[0].allow.as_ref().unwrap().contains(&Capability::Shell));
        assert!(found[0].native && !found[1].native);
        assert!(wanted("name = \"a\"\n").unwrap().is_empty());
    }

    #[test]
    fn packages_of_registries_and_git_are_read() {
        let text = "[plugins]\n\"acme/vault\" = \"1.2\"\n\"github.com/team/k8s\" = \"main\"\n\
                    [registries]\nacme = \"https://acme.example\"\n";
        let found = wanted(text).unwrap();
        assert_eq!(found[0].address, Address::Registry("acme/vault".into()));
        assert_eq!(found[1].requirement.to_string(), "main");
        assert_eq!(registries(text).unwrap(), [("acme".into(), "https://acme.example".into())]);
    }

    #[test]
    fn providers_of_terraform_are_not_packages() {
        let text = "[plugins]\n\"terraform/acme/box\" = { path = \"bin/box\", as = \"b\" }\n";
        assert!(wanted(text).unwrap().is_empty());
        let found = providers(text).unwrap();
        assert_eq!((found[0].source.as_str(), found[0].segment.as_str()), ("acme/box", "b"));
        for wrong in [
            "\"*\"",
            "{ as = \"b\" }",
            "{ path = \"bin/box\", version = \"1.0.0\" }",
            "{ path = \"../box\" }",
            "{ path = \"/bin/box\" }",
            "{ path = \"box\", as = \"B\" }",
            "{ path = \"box\", native = true }",
        ] {
            let text = format!("[plugins]\n\"terraform/acme/box\" = {wrong}\n");
            assert_eq!(providers(&text).unwrap_err().line, 2, "{wrong}");
        }
        for key in ["terraform/box", "terraform/a/b/c/d", "terraform/acme/Box", "terraform/x/y/z"] {
            let text = format!("[plugins]\n\"{key}\" = {{ path = \"box\" }}\n");
            assert_eq!(providers(&text).unwrap_err().line, 2, "{key}");
        }
    }

    #[test]
    fn a_word_that_is_not_understood_is_an_error() {
        for (text, line) in [
            ("[plugins]\n\"./a\" = \"*\"\n", 2),
            ("[plugins]\n\"./a\" = 1\n", 2),
            ("[plugins]\n\"./a\" = { as = \"x\" }\n", 2),
            ("[plugins]\n\"./a\" = { version = \"1\", allows = [] }\n", 2),
            ("[plugins]\n\"./a\" = { version = \"1\", allow = [\"shel\"] }\n", 2),
            ("[plugins]\n\"./a\" = { version = \"1\", allow = [\"net\"] }\n", 2),
            ("[plugins]\n\"./a\" = { version = \"1\", as = \"A.b\" }\n", 2),
            ("[plugins]\n\"./a\" = { version = \"1\", native = \"yes\" }\n", 2),
            ("[plugins]\n\"/a\" = \"1\"\n", 2),
            ("[plugins]\n\"acme/vault\" = \"*\"\n", 2),
            ("[plugins]\n\"h.x/o/r\" = \"--upload-pack=x\"\n", 2),
            ("[plugins]\n\"ext::sh\" = \"v1\"\n", 2),
            ("plugins = 1\n", 1),
            ("[registries]\nacme = \"http://x\"\n", 2),
            ("[registries]\nacme = \"https://user@x\"\n", 2),
            ("[registries]\n\"a.b\" = \"https://x\"\n", 2),
        ] {
            let error = wanted(text).unwrap_err();
            assert_eq!(error.line, line, "{text}: {}", error.message);
        }
        assert!(wanted("[registries]\ndefault = \"oci://reg.example/opal\"\n").is_ok());
    }
}
