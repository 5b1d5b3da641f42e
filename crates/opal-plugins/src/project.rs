//! `[plugins]` and `[registries]` of an `opal.mod`: which packages a project wants.

use std::collections::BTreeSet;

use opal_core::{Code, LineIndex, Span};
use opal_yaml::problems::Problems;
use toml_edit::{Item, TableLike};

use crate::capability::Capability;
use crate::codes::CODES;
use crate::names::Requirement;
use crate::toml;

/// A package that a project wants.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// As it is written: `./plugins/house`.
    pub key: String,
    pub requirement: Requirement,
    /// The first segment of its paths in this project.
    pub alias: Option<String>,
    /// The capabilities that the project leaves it; all of them where it does not say.
    pub allow: Option<BTreeSet<Capability>>,
    pub native: bool,
}

/// What is wrong with those tables.
#[derive(Debug)]
pub struct ModError {
    /// From 1.
    pub line: u32,
    pub message: String,
    pub help: String,
    /// It is right, and this build cannot do it.
    pub is_unsupported: bool,
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
    let mut problems = Problems::new(CODES);
    let found = read(text, &mut problems);
    let lines = LineIndex::new(text);
    if let Some(first) = problems.into_errors().into_iter().next() {
        let line = lines.line(first.primary.span.start);
        let help = first.help.join("; ");
        return Err(ModError { line, message: first.message, help, is_unsupported: false });
    }
    let found = found.unwrap_or_default();
    if let Some((elsewhere, span)) = found.iter().find(|(wanted, _)| !is_local(&wanted.key)) {
        let kind = match elsewhere.key.split('/').next() {
            Some(first) if first.contains('.') => "git",
            _ => "a registry",
        };
        return Err(ModError {
            line: lines.line(span.start),
            message: format!(
                "`{}` comes from {kind}, which this build does not support",
                elsewhere.key
            ),
            help:
                "put the package into a directory of the project: `\"./plugins/NAME\" = \"1.0.0\"`"
                    .to_owned(),
            is_unsupported: true,
        });
    }
    Ok(found.into_iter().map(|(wanted, _)| wanted).collect())
}

/// Whether a key is a directory.
#[must_use]
pub fn is_local(key: &str) -> bool {
    key.starts_with("./") || key.starts_with("../")
}

fn read(text: &str, problems: &mut Problems) -> Option<Vec<(Wanted, Span)>> {
    let document = toml::document(text, problems)?;
    let top = document.as_table();
    if let Some(item) = top.get("registries") {
        registries(toml::table(item, "`[registries]`", problems)?, problems);
    }
    let table = toml::table(top.get("plugins")?, "`[plugins]`", problems)?;
    let mut found = Vec::new();
    for (key, item) in table.iter() {
        let span = toml::place(table.get_key_value(key).and_then(|(key, _)| key.span()));
        found.extend(package(key, item, span, problems).map(|wanted| (wanted, span)));
    }
    if found.len() > MOST_PACKAGES {
        let message = format!("a project has at most {MOST_PACKAGES} packages");
        problems.error(Code::PackageValue, Span::at(0), message, "remove some");
    }
    found.sort_by(|(a, _), (b, _)| a.key.cmp(&b.key));
    Some(found)
}

fn package(key: &str, item: &Item, span: Span, problems: &mut Problems) -> Option<Wanted> {
    let is_visible = |c: char| c.is_ascii_graphic();
    if key.is_empty() || key.len() > 255 || !key.chars().all(is_visible) || key.starts_with('/') {
        let expects = "`./DIRECTORY`, `NAMESPACE/NAME` or `HOST/OWNER/REPOSITORY`";
        toml::invalid(Code::PackageValue, "plugins", key, expects, span, problems);
        return None;
    }
    let versions = "a version as in `1.2.3`, `1.2`, `^1.2` or `>=1.2, <2`";
    let requirement = |text: &str| {
        // A branch or a tag means something for git only.
        let is_git = !is_local(key) && key.split('/').next().is_some_and(|it| it.contains('.'));
        if is_git { "0.0.0".parse().ok() } else { text.parse::<Requirement>().ok() }
    };
    if let Some(text) = item.as_str() {
        let found = requirement(text);
        if found.is_none() {
            let span = toml::place(item.span());
            toml::invalid(Code::PackageValue, key, text, versions, span, problems);
        }
        let (alias, allow) = (None, None);
        return Some(Wanted {
            key: key.to_owned(),
            requirement: found?,
            alias,
            allow,
            native: false,
        });
    }
    let what = format!("`{key}`");
    let table = toml::table(item, &what, problems)?;
    toml::unknown(table, &what, &["version", "as", "allow", "native"], problems);
    if table.get("version").is_none() {
        let message = format!("{what} needs `version`");
        problems.error(Code::PackageMissingKey, span, message, "add `version = \"1.0.0\"`");
    }
    let requirement = toml::parsed(table, "version", versions, requirement, problems)?;
    let segment = "one segment of a path: lower case letters, digits and `_`";
    let alias =
        toml::parsed(table, "as", segment, |it| is_segment(it).then(|| it.to_owned()), problems);
    Some(Wanted {
        key: key.to_owned(),
        requirement,
        alias,
        allow: allow(table, problems),
        native: native(table, problems),
    })
}

fn is_segment(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.len() <= 64
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

fn allow(table: &dyn TableLike, problems: &mut Problems) -> Option<BTreeSet<Capability>> {
    let given = toml::texts(table, "allow", problems)?;
    let mut found = BTreeSet::new();
    for (text, span) in given {
        match text.parse() {
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

fn registries(table: &dyn TableLike, problems: &mut Problems) {
    for (name, _) in table.iter() {
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let span = toml::place(table.get_key_value(name).and_then(|(key, _)| key.span()));
        if name.is_empty() || name.len() > 64 || !name.chars().all(is_name) {
            toml::invalid(
                Code::PackageValue,
                "registries",
                name,
                "a namespace, or `default`",
                span,
                problems,
            );
        }
        let is_address = |text: &str| {
            let schemes = ["oci://", "https://", "file:"];
            let rest = schemes.iter().find_map(|scheme| text.strip_prefix(scheme));
            let is_fine =
                |rest: &str| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_graphic());
            (rest.is_some_and(is_fine) && !text.contains('@')).then_some(())
        };
        let expects = "an address that begins with `oci://`, `https://` or `file:`, without a user";
        toml::parsed(table, name, expects, is_address, problems);
    }
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
    fn what_this_build_cannot_fetch_is_refused_and_not_ignored() {
        for key in ["acme/vault", "github.com/team/opal-k8s", "terraform/hashicorp/aws"] {
            let error = wanted(&format!("[plugins]\n\"{key}\" = \"1.0.0\"\n")).unwrap_err();
            assert!(error.is_unsupported, "{key}: {}", error.message);
            assert_eq!(error.line, 2);
        }
        let branch = wanted("[plugins]\n\"github.com/team/opal-k8s\" = \"main\"\n").unwrap_err();
        assert!(branch.is_unsupported);
    }

    #[test]
    fn a_word_that_is_not_understood_is_an_error() {
        for (text, line) in [
            ("[plugins]\n\"./a\" = \"*\"\n", 2),
            ("[plugins]\n\"./a\" = 1\n", 2),
            ("[plugins]\n\"./a\" = { as = \"x\" }\n", 2),
            ("[plugins]\n\"./a\" = { version = \"1\", allows = [] }\n", 2),
            ("[plugins]\n\"./a\" = { version = \"1\", allow = [\"shel\"] }\n", 2),
            ("[plugins]\n\"./a\" = { version = \"1\", as = \"A.b\" }\n", 2),
            ("[plugins]\n\"./a\" = { version = \"1\", native = \"yes\" }\n", 2),
            ("[plugins]\n\"/a\" = \"1\"\n", 2),
            ("plugins = 1\n", 1),
            ("[registries]\nacme = \"http://x\"\n", 2),
            ("[registries]\nacme = \"https://user@x\"\n", 2),
            ("[registries]\n\"a.b\" = \"https://x\"\n", 2),
        ] {
            let error = wanted(text).unwrap_err();
            assert!(!error.is_unsupported, "{text}");
            assert_eq!(error.line, line, "{text}: {}", error.message);
        }
        assert!(wanted("[registries]\ndefault = \"oci://reg.example/opal\"\n").is_ok());
    }
}
