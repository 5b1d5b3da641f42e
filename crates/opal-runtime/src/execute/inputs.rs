//! What an action is given: the arguments of its step as values, checked, with defaults.

use opal_core::decorator::{Descriptor, Param, Presence, Subject};
use opal_core::plan::{Arg, Step};
use opal_core::resolver::{Input, Inputs, Trouble, TroubleKind};
use opal_core::{Data, Type, Value};

use super::values::{Values, is_open};

pub(crate) fn inputs(
    step: &Step,
    descriptor: &'static Descriptor,
    values: Values<'_>,
) -> Result<Inputs, Trouble> {
    let mut inputs = Inputs::default();
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
                    check(param, &data)?;
                }
                inputs.args.insert(param.name, Input::Data(data));
            }
            (None, arg) => {
                let data = values.data(arg)?;
                let wanted = descriptor.open_params.as_ref().unwrap_or(&Type::Any);
                accepts(name, wanted, &data)?;
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

/// What the planner checks of a value that it knows.
fn check(param: &Param, data: &Data) -> Result<(), Trouble> {
    accepts(param.name, &param.ty, data)?;
    if let (Some((low, high)), Data::Int(given)) = (param.range, data)
        && !(low..=high).contains(given)
    {
        let message = format!("what is given for `{}` is out of its range", param.name);
        let help = format!("it goes from {low} to {high}");
        return Err(Trouble::new(TroubleKind::Invalid, message, help));
    }
    if let (Some(pattern), Data::Text(text)) = (param.pattern, data)
        && !crate::check::matches(pattern, text.expose())
    {
        let message = format!("what is given is not of the form that `{}` has", param.name);
        let help = format!("it matches `{pattern}`");
        return Err(Trouble::new(TroubleKind::Invalid, message, help));
    }
    Ok(())
}

fn accepts(name: &str, ty: &Type, data: &Data) -> Result<(), Trouble> {
    if let (Type::OneOf(choices), Data::Text(text)) = (ty, data)
        && !choices.contains(text.expose())
    {
        let message = format!("what is given is not among the values of `{name}`");
        let help = format!("known are {}", crate::check::listed(choices.iter()));
        return Err(Trouble::new(TroubleKind::Invalid, message, help));
    }
    if fits(ty, data) {
        return Ok(());
    }
    let (given, wanted) = (data.type_of().with_article(), ty.with_article());
    let message = format!("`{name}` is {given}, and {wanted} is wanted");
    Err(Trouble::new(TroubleKind::Invalid, message, "bind a value of that type"))
}

fn fits(ty: &Type, data: &Data) -> bool {
    match (ty, data) {
        (Type::Array(element), Data::Array(items)) => {
            items.iter().all(|item| fits(element.get(), item))
        }
        (Type::Map(element), Data::Map(fields)) => {
            fields.values().all(|item| fits(element.get(), item))
        }
        (Type::Regex, Data::Text(_)) => true,
        _ => ty.accepts(&data.type_of()),
    }
}
