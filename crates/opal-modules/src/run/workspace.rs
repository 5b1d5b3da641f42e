//! What the workspace of a module is called, for tools that make one.

use super::prepared::Prepared;
use super::secrets::below;
use crate::programs::program_name;

/// How the tools find it.
pub(super) const VARIABLE: &str = "HYOPS_WORKSPACE_NAME";

/// The name by the pattern of the profile; a warning where a part of it has no value. None where there
/// is no pattern.
pub(super) fn name(prepared: &Prepared) -> Option<Result<String, String>> {
    let pattern = prepared.profile.policy.workspace_pattern.as_ref()?;
    let filled = pattern.fill(|part| value(prepared, part).filter(|value| is_fit(value)));
    Some(filled.map_err(|part| {
        let why = match part {
            "provider" => "`workspace_policy.provider` of the profile does not set it",
            _ if is_secret(prepared, part) => "the input of that name is secret",
            _ => "no input of that name has a text that is valid in a name",
        };
        format!("`{VARIABLE}` is not set: its pattern has `{{{part}}}`, but {why}")
    }))
}

fn value<'p>(prepared: &'p Prepared, part: &str) -> Option<&'p str> {
    let execution = &prepared.spec.execution;
    match part {
        "module" => Some(program_name(prepared.spec.module_ref.as_str())),
        "pack" => program_name(execution.pack.as_str()).split('@').next(),
        "provider" => {
            let policy = prepared.profile.settings.get("workspace_policy")?;
            policy.get("provider")?.as_str()
        }
        _ if is_secret(prepared, part) => None,
        _ => prepared.inputs.get(part)?.as_str(),
    }
}

fn is_secret(prepared: &Prepared, input: &str) -> bool {
    prepared.secrets.contains_key(&below("", input))
}

fn is_fit(value: &str) -> bool {
    !value.is_empty() && !value.contains(char::is_control)
}
