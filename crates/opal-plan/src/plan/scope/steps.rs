//! Steps, calls and shell text.

use std::rc::Rc;

use opal_core::decorator::Descriptor;
use opal_core::parameter::BindError;

use super::Scoper;
use crate::check::function_error;
use crate::plan::scoped::{Call, CallArg, Callee, Operand, Piece, Redirect, Step, Target, Work};
use crate::unit::{self, CallKind, FunctionNames};

impl<'s> Scoper<'s> {
    pub(super) fn step(&mut self, step: &'s unit::Step) -> Option<Step> {
        let mut operands = vec![self.operand(&step.first)?];
        let mut operators = Vec::new();
        for (operator, operand) in &step.rest {
            operators.push(*operator);
            operands.push(self.operand(operand)?);
        }
        Some(Step { operands, operators })
    }

    fn operand(&mut self, operand: &'s unit::Operand) -> Option<Operand> {
        let (work, span) = match &operand.work {
            unit::Work::Shell(text) => (Work::Shell(self.pieces(text)), text.span),
            unit::Work::Call(call) => (Work::Call(self.call(call)?), call.span),
        };
        let mut redirects = Vec::new();
        for redirect in &operand.redirects {
            let target = match &redirect.target {
                unit::Target::Decorator(call) => Target::Call(self.call(call)?),
                unit::Target::Text(text) => Target::Shell(self.pieces(text)),
            };
            redirects.push(Redirect { operator: redirect.operator, target });
        }
        Some(Operand { work, redirects, span })
    }

    pub(super) fn call(&mut self, call: &'s unit::Call) -> Option<Call> {
        let callee = match call.function() {
            Some((CallKind::Here, _)) => self.function_call(call)?,
            // It is a statement of its own.
            Some((CallKind::First, _)) => return None,
            None => {
                let (descriptor, subject) = self.descriptor(&call.path.text)?;
                if let Some(expansion) = descriptor.expansion {
                    let index = self.source.unit.expansion(expansion)?;
                    let shown = Some(descriptor).filter(|_| expansion.is_exported);
                    let callee = self.call_of(index, CallKind::Here, descriptor.path, shown, call);
                    let directory = self.directory();
                    return Some(Call {
                        callee,
                        block: None,
                        text: None,
                        directory,
                        span: call.span,
                    });
                }
                let args = self.bind(descriptor, &call.args, subject.is_some());
                Callee::Decorator { descriptor, subject: subject.map(Rc::from), args }
            }
        };
        let block = call.block.as_ref().map(|block| self.block(block));
        let text = call.text.as_ref().map(|block| block.text.as_str().into());
        Some(Call { callee, block, text, directory: self.directory(), span: call.span })
    }

    pub(super) fn dependency(&mut self, call: &'s unit::Call) -> Option<Call> {
        let callee = self.function_call(call)?;
        Some(Call { callee, block: None, text: None, directory: None, span: call.span })
    }

    fn function_call(&mut self, call: &'s unit::Call) -> Option<Callee> {
        let (kind, name) = call.function()?;
        let unit = self.source.unit;
        let names = self.by_name.get_or_init(|| FunctionNames::new(unit));
        let index = names.find(self.file, name).function()?;
        Some(self.call_of(index, kind, name, None, call))
    }

    fn call_of(
        &mut self,
        index: usize,
        kind: CallKind,
        name: &str,
        decorator: Option<&'static Descriptor>,
        call: &'s unit::Call,
    ) -> Callee {
        self.wanted.push(index);
        let function = &self.source.unit.functions[index];
        let mut args = Vec::new();
        for arg in &call.args {
            let named =
                |name: &unit::Name| function.params.iter().position(|p| p.name.text == name.text);
            let param = match arg.name.as_ref().map(named) {
                Some(None) => {
                    self.lost.push(function_error(kind, function, arg, BindError::Unknown));
                    continue;
                }
                Some(found) => found,
                None => None,
            };
            let is_spread = arg.name.is_none() && arg.value.is_spread();
            args.push(CallArg { param, is_spread, value: self.expression(&arg.value) });
        }
        Callee::Function { index, name: name.into(), args, decorator }
    }

    pub(super) fn pieces(&mut self, text: &unit::ShellText) -> Vec<Piece> {
        text.pieces.iter().map(|piece| self.piece(piece)).collect()
    }

    fn piece(&mut self, piece: &unit::Piece) -> Piece {
        match piece {
            unit::Piece::Text(text) => Piece::Text(text.as_str().into()),
            unit::Piece::AtWord(name) => Piece::Text(format!("@{}", name.text).into()),
            unit::Piece::Reference(reference, _) if reference.path.text == "raw" => {
                Piece::Raw(self.reference(reference))
            }
            unit::Piece::Reference(reference, context) => {
                let dash = Self::says_dash(reference);
                Piece::Data { expr: self.reference(reference), context: *context, dash }
            }
        }
    }
}
