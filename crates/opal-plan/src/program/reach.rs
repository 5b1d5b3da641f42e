//! Which functions a target reaches, to read only the files that it uses.

use crate::unit::{Block, Call, StatementKind, Step, Target, Unit, Work};

/// The names of the functions that a block calls, with their namespaces.
pub(super) fn calls<'u>(block: &'u Block, into: &mut Vec<&'u str>) {
    for statement in &block.statements {
        match &statement.kind {
            StatementKind::Step(step) => of_step(step, into),
            StatementKind::Let { source, .. } => into.extend(called(source)),
            _ => {}
        }
        statement.kind.blocks(&mut |inner| calls(inner, into));
    }
}

fn called(call: &Call) -> Option<&str> {
    call.function().map(|(_, name)| name)
}

fn of_step<'u>(step: &'u Step, into: &mut Vec<&'u str>) {
    for operand in std::iter::once(&step.first).chain(step.rest.iter().map(|(_, operand)| operand))
    {
        if let Work::Call(call) = &operand.work {
            into.extend(called(call));
        }
        for redirect in &operand.redirects {
            if let Target::Decorator(call) = &redirect.target {
                into.extend(called(call));
            }
        }
    }
}

/// The bodies of the functions that are called so.
pub(super) fn bodies<'u>(unit: &'u Unit, name: &str) -> impl Iterator<Item = &'u Block> {
    unit.functions.iter().filter(move |it| it.name.text == name).map(|function| &function.body)
}
