//! The providers among the `[plugins]` of an `opal.mod`.

use opal_core::{Code, Span};
use opal_yaml::problems::Problems;
use toml_edit::Item;

use crate::names::{PROVIDER, is_provider_source, is_segment};
use crate::toml;

/// A provider that a project wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedProvider {
    /// As it is written: `terraform/acme/box`.
    pub key: String,
    /// `acme/box`, or `registry.example/acme/box`.
    pub source: String,
    /// The file of the provider, seen from the directory of `opal.mod`.
    pub path: String,
    /// The first segment of its paths in this project.
    pub segment: String,
}

impl WantedProvider {
    /// The last part of its source: `aws`.
    #[must_use]
    pub fn short(&self) -> &str {
        self.source.rsplit('/').next().unwrap_or(&self.source)
    }
}

/// One entry: `{ path = "bin/box", as = "box" }`.
pub(crate) fn read(
    key: &str,
    item: &Item,
    span: Span,
    problems: &mut Problems,
) -> Option<WantedProvider> {
    let source = key.strip_prefix(PROVIDER).filter(|source| is_provider_source(source));
    let Some(source) = source else {
        let expects = "`terraform/NAMESPACE/NAME` or `terraform/HOST/NAMESPACE/NAME`";
        toml::invalid(Code::PackageValue, "plugins", key, expects, span, problems);
        return None;
    };
    let what = format!("`{key}`");
    if item.as_str().is_some() {
        let message = format!("{what} names a version, and this build only uses local providers");
        let help = "name the file of the provider: `{ path = \"bin/NAME\" }`";
        problems.error(Code::PackageValue, span, message, help);
        return None;
    }
    let table = toml::table(item, &what, problems)?;
    toml::unknown(table, &what, &["path", "as"], problems);
    if table.get("path").is_none() {
        let message = format!("{what} needs `path`");
        problems.error(Code::PackageMissingKey, span, message, "add `path = \"bin/NAME\"`");
    }
    let is_inside = |text: &str| {
        let is_part = |part: &str| !matches!(part, "" | "." | "..");
        let text = text.strip_prefix("./").unwrap_or(text);
        text.split('/').all(is_part).then(|| text.to_owned())
    };
    let expects = "a file below the directory of opal.mod";
    let path = toml::parsed(table, "path", expects, is_inside, problems)?;
    let expects = "one segment of a path: lower case letters, digits and `_`";
    let alias = |text: &str| is_segment(text).then(|| text.to_owned());
    let alias = toml::parsed(table, "as", expects, alias, problems);
    let name = source.rsplit('/').next().unwrap_or(source).replace('-', "_");
    Some(WantedProvider {
        key: key.to_owned(),
        source: source.to_owned(),
        path,
        segment: alias.unwrap_or(name),
    })
}
