//! The rules that a decorator has for the text of its block.

use opal_core::block_rules::BlockPlace;
use opal_core::decorator::Descriptor;
use opal_core::{Diagnostic, Type};

use super::checker::Checker;
use super::found::Found;
use super::lets::Site;
use super::observer::Observer;
use crate::unit::{Argument, Call, Expr, ExprKind, Key};

impl<O: Observer> Checker<'_, O> {
    pub(super) fn block_rules(&mut self, descriptor: &Descriptor, call: &Call) {
        let (Some(rules), Some(text)) = (descriptor.rules, &call.text) else { return };
        // Arguments without a name come first, so their places are those of the parameters.
        let position = descriptor.params.iter().position(|param| param.name == rules.values());
        let is_values = |(index, arg): &(usize, &Argument)| match &arg.name {
            Some(name) => name.text == rules.values(),
            None => Some(*index) == position,
        };
        let values = call.args.iter().enumerate().find(is_values).map(|(_, arg)| &arg.value);
        // Names that only the run knows are checked by the run.
        let entries: &[(Key, Expr)] = match values.map(|value| &value.kind) {
            Some(ExprKind::Map(entries)) => entries,
            Some(_) => return,
            None => &[],
        };
        let typed: Vec<(&str, Type)> = entries
            .iter()
            .map(|(key, value)| (key.name.text.as_str(), self.known_type(value)))
            .collect();
        for fault in rules.faults(&text.text, &typed) {
            let span = match fault.at {
                BlockPlace::Text(range) => text.place(range, self.text),
                BlockPlace::Value(index) => entries.get(index).map_or(call.span, |(_, it)| it.span),
            };
            self.report(Diagnostic::new(fault.code, span, fault.message).help(fault.help));
        }
    }

    /// The type of an expression that has been checked: what it says about it was reported then.
    fn known_type(&mut self, value: &Expr) -> Type {
        let out = std::mem::take::<Found>(&mut self.out);
        let ty = self.expression(value, Site::Run);
        self.out = out;
        ty
    }
}
