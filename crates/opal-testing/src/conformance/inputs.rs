//! Inputs that a schema allows.

use opal_core::context::{Context, Place};
use opal_core::decorator::{Descriptor, Param, Presence, Subject};
use opal_core::resolver::{Input, Inputs, ScriptPart};
use opal_core::{Data, Duration, Type};

/// The least that the schema asks for, with all defaults, and what was given.
pub(super) fn least(descriptor: &Descriptor, given: &Inputs, canary: &str) -> Inputs {
    let mut inputs = given.clone();
    let by_param = match descriptor.subject {
        Subject::None => None,
        Subject::Required(_) => {
            inputs.subject.get_or_insert_with(|| "CONFORMANCE".to_owned());
            None
        }
        Subject::OrParam(name) => Some(name),
    };
    for param in descriptor.params {
        let left_out = Some(param.name) == by_param && inputs.subject.is_some();
        let made = match &param.presence {
            _ if left_out => None,
            Presence::Required => Some(sample(param, canary)),
            Presence::Optional if is_chosen(descriptor, param, given) => {
                Some(sample(param, canary))
            }
            Presence::Optional => None,
            Presence::Default(value) => Some(Input::Data(Data::from(value))),
        };
        if let Some(made) = made {
            inputs.args.entry(param.name).or_insert(made);
        }
    }
    inputs
}

/// Whether a parameter stands for those of which exactly one is given.
fn is_chosen(descriptor: &Descriptor, param: &Param, given: &Inputs) -> bool {
    descriptor.one_of.first() == Some(&param.name)
        && !descriptor.one_of.iter().any(|name| given.args.contains_key(name))
}

fn sample(param: &Param, canary: &str) -> Input {
    if param.shell {
        let value = ScriptPart::Data(Data::text(canary), Context::new(Place::Word));
        return Input::Script(vec![ScriptPart::Text("conformance ".to_owned()), value]);
    }
    Input::Data(match &param.ty {
        Type::Bool => Data::Bool(true),
        Type::Int => Data::Int(param.range.map_or(1, |(least, _)| least)),
        Type::Float => Data::Float(1.0),
        Type::Duration => Data::Duration(Duration::from_nanos(1_000_000_000)),
        Type::Array(_) => Data::Array(Vec::new()),
        Type::Map(_) | Type::Object(_) => Data::Map(std::collections::BTreeMap::new()),
        Type::OneOf(choices) => Data::text(choices.iter().next().unwrap_or_default()),
        Type::Null => Data::Null,
        Type::Any | Type::String | Type::Regex => Data::text("conformance"),
    })
}

/// The least inputs, and each of them with one argument at another end of what it may be.
pub(super) fn allowed(descriptor: &Descriptor, least: &Inputs) -> Vec<Inputs> {
    let mut all = vec![least.clone()];
    for param in descriptor.params {
        let ends: Vec<Data> = match (&param.ty, param.range) {
            (Type::OneOf(choices), _) => choices.iter().map(Data::text).collect(),
            (Type::Bool, _) => vec![Data::Bool(false), Data::Bool(true)],
            (Type::Int, Some((least, most))) => vec![Data::Int(least), Data::Int(most)],
            _ => Vec::new(),
        };
        for end in ends {
            let mut inputs = least.clone();
            inputs.args.insert(param.name, Input::Data(end));
            all.push(inputs);
        }
    }
    all
}

/// The least inputs with one argument left out, or of a wrong type, or empty.
pub(super) fn broken(least: &Inputs) -> Vec<Inputs> {
    let mut all = Vec::new();
    for name in least.args.keys() {
        let mut without = least.clone();
        without.args.remove(name);
        all.push(without);
        for wrong in [Data::Null, Data::Int(-1), Data::text("")] {
            let mut inputs = least.clone();
            inputs.args.insert(name, Input::Data(wrong));
            all.push(inputs);
        }
    }
    all
}
