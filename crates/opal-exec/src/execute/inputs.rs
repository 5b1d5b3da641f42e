//! What an action is given: the arguments of its step as values, checked, with defaults.

use opal_core::decorator::{Descriptor, Presence, Subject};
use opal_core::parameter::{self, Mismatch, Origin};
use opal_core::plan::{Arg, Step};
use opal_core::resolver::{Input, Inputs, Trouble, TroubleKind};
use opal_core::{Type, Value};

use super::values::{Values, is_open};

pub(crate) fn inputs(
    step: &Step,
    descriptor: &'static Descriptor,
    values: Values<'_>,
) -> Result<Inputs, Trouble> {
    let member = values.member.map(Into::into);
    let step_path = Some((&*step.path).into());
    let mut inputs = Inputs { member, step: step_path, ..Inputs::default() };
    for (name, arg) in &step.args {
        if let (true, Arg::Const(Value::String(subject))) = (is_subject(descriptor, name), arg) {
            inputs.subject = Some(subject.to_string());
            continue;
        }
        match (descriptor.param(name), arg) {
            (Some(param), Arg::Shell(pieces)) => {
                inputs.args.insert(param.name, Input::Script(values.script(pieces)?));
            }
            (Some(param), arg) => {
                let data = values.data(arg)?;
                if is_open(arg) {
                    let checked = parameter::check(param, &data);
                    checked.map_err(|mismatch| refused(param.name, &mismatch))?;
                }
                inputs.args.insert(param.name, Input::Data(data));
            }
            (None, arg) => {
                let data = values.data(arg)?;
                let wanted = descriptor.open_params.as_ref().unwrap_or(&Type::Any);
                let checked = parameter::accepts(wanted, &data);
                checked.map_err(|mismatch| refused(name, &mismatch))?;
                inputs.open.insert(name.to_string(), data);
            }
        }
    }
    for param in descriptor.params {
        if let Presence::Default(value) = &param.presence {
            inputs.args.entry(param.name).or_insert_with(|| Input::Data(value.into()));
        }
    }
    Ok(inputs)
}

/// The plan calls it `subject`, and `function` for a call.
fn is_subject(descriptor: &Descriptor, name: &str) -> bool {
    match descriptor.subject {
        Subject::None => false,
        Subject::Required(_) | Subject::OrParam(_) => matches!(name, "subject" | "function"),
    }
}

/// A value that the planner did not know breaks a rule of its parameter.
fn refused(name: &str, mismatch: &Mismatch) -> Trouble {
    let help = mismatch.help(Origin::Hidden).join("; ");
    Trouble::new(TroubleKind::Invalid, mismatch.message(name, Origin::Hidden), help)
}
