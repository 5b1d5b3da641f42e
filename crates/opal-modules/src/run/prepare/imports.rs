//! What a module takes over from the modules that it builds on.

use serde_json::Value;

use crate::keep::{HIDDEN, RuntimeRoot, State, Status};
use crate::run::Command;
use crate::run::prepared::Unprepared;
use crate::{Dependency, ModuleRef, NotFound, Spec};

/// What the dependencies have published, by the paths of the inputs.
pub(super) fn of(
    command: Command,
    spec: &Spec,
    root: &RuntimeRoot,
    warnings: &mut Vec<String>,
) -> Result<Vec<(String, Value)>, Unprepared> {
    let mut imports = Vec::new();
    for dependency in &spec.dependencies {
        let module = &dependency.module_ref;
        let state = State::seen(&root.state(module, None)).map_err(|unkept| {
            Unprepared::Dependency(NotFound { message: unkept.to_string(), help: unkept.help() })
        })?;
        let found = match state {
            Some(state) if state.status == Status::Ok => published(dependency, &state),
            other => Err(unready(module, other.as_ref(), command)),
        };
        match found {
            Ok(found) => imports.extend(found),
            // A check or a destroy must not need what may be gone already.
            Err(missing)
                if !dependency.required
                    || matches!(command, Command::Destroy | Command::Validate) =>
            {
                warnings.push(missing.message);
            }
            Err(missing) => return Err(Unprepared::Dependency(missing)),
        }
    }
    Ok(imports)
}

pub(super) fn published(
    dependency: &Dependency,
    state: &State,
) -> Result<Vec<(String, Value)>, NotFound> {
    let value = |output: &str| {
        let flat = state.outputs.get(output);
        flat.or_else(|| {
            let mut parts = output.split('.');
            let first = state.outputs.get(parts.next()?)?;
            parts.try_fold(first, |value, part| value.get(part))
        })
    };
    let imports = dependency.imports.iter().map(|(output, path)| match value(output) {
        Some(value) if is_hidden(value) => Err(NotFound {
            message: format!(
                "the output `{output}` of `{}` contains a secret, so its state does not have it",
                dependency.module_ref
            ),
            help: format!(
                "remove `{output}` from `imports`, and pass the secret as a credential or an \
                 input of this module"
            ),
        }),
        Some(value) => Ok((path.clone(), value.clone())),
        None => Err(NotFound {
            message: format!("`{}` has not published an output `{output}`", dependency.module_ref),
            help: format!(
                "add it to `outputs.publish` of `{}` and apply that module again; secrets are \
                 never published",
                dependency.module_ref
            ),
        }),
    });
    imports.collect()
}

/// Whether a part of it was hidden when it was kept: it is of no use to anybody then.
fn is_hidden(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(HIDDEN),
        Value::Array(items) => items.iter().any(is_hidden),
        Value::Object(map) => map.values().any(is_hidden),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn unready(module: &ModuleRef, state: Option<&State>, command: Command) -> NotFound {
    let state = state.map_or("has not been applied", |state| match state.status {
        Status::Running => "is being applied",
        Status::Destroyed => "has been destroyed",
        Status::Ok | Status::Error => "has failed",
    });
    NotFound {
        message: format!("it depends on `{module}`, which {state}"),
        help: match command {
            Command::Apply | Command::Deploy => {
                format!("apply it first: `opal module apply {module}`, or add `--with-deps`")
            }
            _ => format!("apply it first: `opal module apply {module}`"),
        },
    }
}
