//! Which functions a target reaches, and what that makes of what was found.

use std::collections::BTreeMap;

use opal_core::{Diagnostic, Span};

use super::{Checked, walk};
use crate::unit::{Block, Operand, StatementKind, Target, Unit, Work};

/// What was found, seen from one target.
#[derive(Debug, Default)]
pub struct Findings {
    /// The target cannot be planned.
    pub errors: Vec<Diagnostic>,
    /// Errors in functions that the target does not reach, and warnings.
    pub warnings: Vec<Diagnostic>,
}

impl Checked {
    /// Sorts what was found by whether it concerns `function`, or the script without one. Errors
    /// of syntax always do: where a text cannot be read, nothing about it is certain.
    #[must_use]
    pub fn findings(&self, function: Option<&str>) -> Findings {
        let unreached = unreached(&self.unit, function);
        let outside = |span: Span| {
            let after = unreached.partition_point(|(start, _)| *start <= span.start);
            after > 0 && span.start < unreached[after - 1].1
        };
        let mut findings = Findings::default();
        for found in &self.diagnostics {
            let forgiven = !is_syntax(found) && outside(found.primary.span);
            if found.is_error() && !forgiven {
                findings.errors.push(found.clone());
            } else {
                findings.warnings.push(found.clone());
            }
        }
        findings
    }
}

/// Codes up to E03xx say that the text could not be read as it stands.
fn is_syntax(found: &Diagnostic) -> bool {
    found.code.as_str()[1..] < *"0400"
}

/// The places of the functions that are not reached, in order.
fn unreached(unit: &Unit, function: Option<&str>) -> Vec<(u32, u32)> {
    let mut by_name = BTreeMap::new();
    for (index, function) in unit.functions.iter().enumerate() {
        by_name.entry(function.name.text.as_str()).or_insert(index);
    }
    let mut reached = vec![false; unit.functions.len()];
    let mut open: Vec<&str> = Vec::new();
    match function {
        Some(name) => open.push(name),
        None => calls(&unit.script, &mut open),
    }
    while let Some(name) = open.pop() {
        if let Some(index) = by_name.get(name)
            && !std::mem::replace(&mut reached[*index], true)
        {
            calls(&unit.functions[*index].body, &mut open);
        }
    }
    let functions = unit.functions.iter().zip(reached).filter(|(_, reached)| !reached);
    functions.map(|(f, _)| (f.span.start, f.body.span.end.max(f.span.end))).collect()
}

/// The functions that a block calls, in it and in the blocks inside.
fn calls<'u>(block: &'u Block, into: &mut Vec<&'u str>) {
    for statement in &block.statements {
        match &statement.kind {
            StatementKind::Step(step) => {
                operand(&step.first, into);
                step.rest.iter().for_each(|(_, one)| operand(one, into));
            }
            StatementKind::Let { source, .. } => into.extend(source.function()),
            _ => {}
        }
        walk::blocks(&statement.kind, &mut |inner| calls(inner, into));
    }
}

fn operand<'u>(operand: &'u Operand, into: &mut Vec<&'u str>) {
    if let Work::Call(call) = &operand.work {
        into.extend(call.function());
    }
    for redirect in &operand.redirects {
        if let Target::Decorator(call) = &redirect.target {
            into.extend(call.function());
        }
    }
}
