//! Where the decorators of a plan come from.

use std::collections::BTreeMap;

use opal_core::Registry;
use opal_core::decorator::Plugin;
use opal_core::gather::Gather as _;
use opal_core::plan::{Plan, RedirectTarget};
use opal_core::view::PluginFact;

/// The packages whose decorators a plan uses, each once.
pub(super) fn of(plan: &Plan, registry: &Registry) -> Vec<PluginFact> {
    if !registry.has_packages() {
        return Vec::new();
    }
    let redirects = plan.all_steps().flat_map(|step| &step.redirects);
    let redirects = redirects.filter_map(|redirect| match &redirect.target {
        RedirectTarget::Step(target) => target.node.path(),
        RedirectTarget::Shell(_) => None,
    });
    let steps = plan.all_steps().filter_map(|step| step.node.path()).chain(redirects);
    let reads = plan.reads.iter().map(|read| read.decorator.trim_start_matches('@'));
    let used = steps.chain(reads).filter_map(|path| registry.get(path)?.plugin);
    let used: BTreeMap<&str, &'static Plugin> = used.map(|plugin| (plugin.name, plugin)).gathered();
    let fact = |plugin: &Plugin| PluginFact {
        name: plugin.name.into(),
        version: plugin.version.into(),
        source: Some(plugin.source.into()),
        verification: Some(plugin.verification.into()),
        signed_by: plugin.signed_by.map(Into::into),
        engine: Some(plugin.engine.into()),
    };
    used.into_values().map(fact).collect()
}
