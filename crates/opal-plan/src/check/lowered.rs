//! The command texts of a unit that no text of the language stands for: a configuration.

use opal_core::resolver::ScriptPart;
use opal_core::{Registry, Value};

use super::CommandText;
use crate::unit::{Block, Call, Expr, ExprKind, StatementKind, Unit, Work};

/// Every constant command of a unit, for the shell's parser. Text for another interpreter is not
/// among them.
#[must_use]
pub fn texts(unit: &Unit, registry: &Registry) -> Vec<CommandText> {
    let mut found = Vec::new();
    block(&unit.script, registry, &mut found);
    for (index, function) in unit.functions.iter().enumerate() {
        let registry = registry.of(unit.package_of(unit.file_of(index)));
        block(&function.body, registry, &mut found);
    }
    found
}

fn block(inside: &Block, registry: &Registry, into: &mut Vec<CommandText>) {
    for statement in &inside.statements {
        if let StatementKind::Step(step) = &statement.kind {
            let operands = std::iter::once(&step.first).chain(step.rest.iter().map(|(_, it)| it));
            for operand in operands {
                if let Work::Call(it) = &operand.work {
                    call(it, registry, into);
                }
            }
        }
        statement.kind.blocks(&mut |inner| block(inner, registry, into));
    }
}

fn call(call: &Call, registry: &Registry, into: &mut Vec<CommandText>) {
    let Some(descriptor) = registry.get(&call.path.text) else { return };
    let named = |name: &str| call.args.iter().any(|arg| is_named(arg.name.as_ref(), name));
    if named("shell") {
        return;
    }
    for arg in &call.args {
        let is_shell = |param: &&opal_core::decorator::Param| {
            param.shell && is_named(arg.name.as_ref(), param.name)
        };
        if let Some(text) = constant(&arg.value)
            && descriptor.params.iter().any(|param| is_shell(&param))
        {
            let parts = vec![ScriptPart::Text(text.to_string())];
            into.push(CommandText { span: arg.value.span, parts });
        }
    }
}

/// The text of a command: as it is, or pasted with `@raw`.
fn constant(value: &Expr) -> Option<&str> {
    match &value.kind {
        ExprKind::Literal(Value::String(text)) => Some(text),
        ExprKind::Reference(reference) if reference.path.text == "raw" => {
            reference.args.first().and_then(|arg| constant(&arg.value))
        }
        _ => None,
    }
}

fn is_named(name: Option<&crate::unit::Name>, wanted: &str) -> bool {
    name.is_some_and(|name| name.text == wanted)
}
