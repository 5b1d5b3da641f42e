//! The providers among the `[plugins]` of an `opal.mod`.

use opal_core::{Code, Registry, Span};
use opal_yaml::problems::Problems;
use toml_edit::Item;

use crate::names::{PROVIDER, Requirement, is_provider_source, is_segment};
use crate::toml;

/// A provider that a project wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedProvider {
    /// As it is written: `terraform/acme/box`.
    pub key: String,
    /// `acme/box`, or `registry.example/acme/box`.
    pub source: String,
    pub origin: Origin,
    /// The first segment of its paths in this project.
    pub segment: String,
}

/// Where a provider comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file, seen from the directory of `opal.mod`.
    Local(String),
    /// A registry or a mirror.
    Version(Requirement),
}

/// Where providers without a host come from: OpenTofu's public registry.
const REGISTRY: &str = "registry.opentofu.org";

impl WantedProvider {
    /// With its host: `registry.opentofu.org/hashicorp/aws`.
    #[must_use]
    pub fn full_source(&self) -> String {
        match self.source.split('/').count() {
            2 => format!("{REGISTRY}/{}", self.source),
            _ => self.source.clone(),
        }
    }

    /// The last part of its source: `aws`.
    #[must_use]
    pub fn short(&self) -> &str {
        self.source.rsplit('/').next().unwrap_or(&self.source)
    }
}

/// What a person names: `terraform/hashicorp/aws@6.47`. A name that opal has itself gets another first
/// segment.
#[must_use]
pub fn named(given: &str, alias: Option<String>, built_in: &Registry) -> Option<WantedProvider> {
    let (key, version) = match given.rsplit_once('@') {
        Some((key, version)) => (key, version),
        None => (given, ">=0.0.0"),
    };
    let source = key.strip_prefix(PROVIDER).filter(|source| is_provider_source(source))?;
    let own = source.rsplit('/').next().unwrap_or(source).replace('-', "_");
    let own = if built_in.is_reserved(&own) { format!("tf_{own}") } else { own };
    let segment = alias.unwrap_or(own);
    let origin = Origin::Version(version.parse().ok()?);
    let fits = is_segment(&segment) && !built_in.is_reserved(&segment);
    fits.then(|| WantedProvider { key: key.to_owned(), source: source.to_owned(), origin, segment })
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
    let own = source.rsplit('/').next().unwrap_or(source).replace('-', "_");
    let made = |origin: Origin, segment: String| {
        let (key, source) = (key.to_owned(), source.to_owned());
        Some(WantedProvider { key, source, origin, segment })
    };
    let versions = "a version as in `1.2.3`, `1.2`, `^1.2` or `>=1.2, <2`";
    if let Some(text) = item.as_str() {
        let Ok(requirement) = text.parse() else {
            let span = toml::place(item.span());
            toml::invalid(Code::PackageValue, key, text, versions, span, problems);
            return None;
        };
        return made(Origin::Version(requirement), own);
    }
    let table = toml::table(item, &what, problems)?;
    toml::unknown(table, &what, &["path", "version", "as"], problems);
    if table.get("path").is_some() == table.get("version").is_some() {
        let message = format!("{what} needs one of `path` and `version`");
        let help = "write `version = \"1.2\"`, or `path = \"bin/NAME\"` for a file of your own";
        problems.error(Code::PackageMissingKey, span, message, help);
        return None;
    }
    let is_inside = |text: &str| {
        let is_part = |part: &str| !matches!(part, "" | "." | "..");
        let text = text.strip_prefix("./").unwrap_or(text);
        text.split('/').all(is_part).then(|| text.to_owned())
    };
    let expects = "one segment of a path: lower case letters, digits and `_`";
    let alias = |text: &str| is_segment(text).then(|| text.to_owned());
    let alias = toml::parsed(table, "as", expects, alias, problems);
    let segment = alias.unwrap_or(own);
    if table.get("version").is_some() {
        let read = |text: &str| text.parse::<Requirement>().ok();
        let requirement = toml::parsed(table, "version", versions, read, problems)?;
        return made(Origin::Version(requirement), segment);
    }
    let expects = "a file below the directory of opal.mod";
    let path = toml::parsed(table, "path", expects, is_inside, problems)?;
    made(Origin::Local(path), segment)
}
