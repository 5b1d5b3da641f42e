//! What a run rests on, as its state keeps it: a digest that tells nothing of a secret.

use opal_modules::keep::Instance;
use opal_modules::run::Prepared;

use crate::context::Context;
use crate::failure::Failure;
use crate::options::PlanOptions;
use crate::planning;

/// What keys of modules are derived for, in place of a project.
const PROJECT: &str = "hyops modules";

/// The digest; none where there are secrets and no key of this machine that lasts.
pub(crate) fn basis(
    context: &Context<'_>,
    options: &PlanOptions,
    prepared: &Prepared,
) -> Result<Option<String>, Failure> {
    if prepared.secrets.is_empty() {
        return Ok(prepared.basis_digest(None));
    }
    let runner = planning::known_runner(context, options).map_err(Failure::key)?;
    let instance = prepared.instance.as_ref().map_or("", Instance::as_str);
    let target = format!("{}@{instance}", prepared.spec.module_ref);
    let key = runner.map(|runner| runner.placeholder_key(PROJECT, &target));
    Ok(prepared.basis_digest(key.as_ref()))
}
