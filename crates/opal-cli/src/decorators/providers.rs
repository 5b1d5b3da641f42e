//! The decorators of Terraform providers, and who may use them.

use std::collections::BTreeSet;
use std::path::Path;

use opal_core::Registry;
use opal_core::registry::Catalog;
use opal_plugins::accept::Acceptances;
use opal_plugins::installed::{self, LoadError};
use opal_plugins::lock::Lock;
use opal_plugins::project;
use opal_plugins::provider::recipes::recipes;
use opal_plugins::provider::store::ProviderError;
use opal_plugins::provider::wanted::WantedProvider;
use opal_plugins::provider::{ProjectSettings, Provider};
use opal_trust::policy::PluginRules;
use opal_vault::root::Root;

use super::{failure, text_of};
use crate::failure::{Exit, Failure};
use crate::helpers;

/// What counts for all providers of the project with this `opal.mod`.
pub(crate) fn project_settings(file: &Path) -> Result<ProjectSettings, Failure> {
    let folder = file.parent().map(Path::to_owned).unwrap_or_default();
    let directory = folder.canonicalize().unwrap_or(folder);
    let text = text_of(file)?.unwrap_or_default();
    let recipes = recipes(&text).map_err(|error| failure(file, LoadError::Mod(error)))?;
    Ok(ProjectSettings { directory, name: project::name(&text), recipes })
}

/// A registry with the decorators of providers, which are made when they are named.
pub(super) fn with(
    registry: Registry,
    wanted: Vec<WantedProvider>,
    (file, lock): (&Path, Option<&Lock>),
    root: Option<&Root>,
    built_in: &'static Registry,
) -> Result<(Registry, Vec<&'static Provider>), Failure> {
    if wanted.is_empty() {
        return Ok((registry, Vec::new()));
    }
    let Some(root) = root else { return Err(no_root()) };
    let settings = project_settings(file)?;
    let mut catalogs: Vec<&'static dyn Catalog> = Vec::new();
    let mut providers: Vec<&'static Provider> = Vec::new();
    for one in wanted {
        let key = one.key.clone();
        let failed = |error| provider_failure(&key, error);
        let provider = Provider::find(&settings, one, root, lock).map_err(failed)?;
        let provider: &'static Provider = Box::leak(Box::new(provider));
        let catalog = provider.catalog(built_in).map_err(failed)?;
        catalogs.push(Box::leak(Box::new(catalog)));
        providers.push(provider);
    }
    let registry = registry.with_catalogs(catalogs).map_err(|taken| {
        let message = format!("`@{}` is the first segment of two packages", taken.0);
        let help = "give the provider another one in opal.mod: `as = \"NAME\"`";
        Failure::new(Exit::Configuration, message, help)
    })?;
    Ok((registry, providers))
}

/// Refuses providers that nobody accepted on this machine. The others may start from now on.
pub(super) fn demand(
    used: &[&Provider],
    (accepted, root): (&Acceptances, Option<&Root>),
    policy: &PluginRules,
) -> Result<(), Failure> {
    for one in used {
        if let Err(why) = installed::allowed(&one.record(), policy) {
            let message = format!("the provider `{}` cannot be used: {why}", one.name());
            let help = "ask the owner of the policy, or remove it from opal.mod";
            return Err(Failure::new(Exit::NotTrusted, message, help));
        }
        if !accepted.accepts(one.name(), &one.digest, &BTreeSet::new()) {
            return Err(provider_failure(one.name(), ProviderError::NotAccepted));
        }
    }
    for one in used {
        one.accept();
    }
    if !used.is_empty() {
        helpers::run_providers(root);
    }
    Ok(())
}

/// Why a provider cannot be used.
pub(crate) fn provider_failure(key: &str, error: ProviderError) -> Failure {
    match error {
        ProviderError::Missing(path) => Failure::new(
            Exit::Unavailable,
            format!("the provider `{key}` does not exist: `{}`", path.display()),
            "correct its `path` in `[plugins]`: it begins in the directory of opal.mod",
        ),
        ProviderError::NotLocked => Failure::new(
            Exit::Configuration,
            format!("`opal.lock` does not have the provider `{key}`"),
            "fetch and lock it: `opal plugin install`",
        ),
        ProviderError::OtherVersion(version) => Failure::new(
            Exit::Configuration,
            format!("`opal.lock` has `{key}` {version}, which opal.mod does not allow"),
            "fetch and lock another version: `opal plugin update`",
        ),
        ProviderError::NotInstalled => Failure::new(
            Exit::Unavailable,
            format!("the provider `{key}` is not installed on this machine"),
            "fetch it: `opal plugin install`",
        ),
        ProviderError::Unreadable(path, error) => {
            let message =
                format!("`{}` of the provider `{key}` cannot be read: {error}", path.display());
            Failure::new(Exit::Unavailable, message, "make the file readable for yourself")
        }
        ProviderError::NotAccepted => Failure::new(
            Exit::NotTrusted,
            format!("the provider `{key}`, as it is now, is not accepted on this machine"),
            "check where it comes from, and accept it: `opal plugin install`",
        ),
    }
}

fn no_root() -> Failure {
    let help = "name a directory with `--root DIR` or OPAL_RUNTIME_ROOT";
    Failure::new(Exit::Configuration, "there is no runtime root for what providers need", help)
}
