//! Calls must end: a function that reaches itself never would.

use opal_core::Code;
use opal_core::cycles::cycles;

use super::checker::Checker;
use super::observer::Observer;

impl<O: Observer> Checker<'_, O> {
    pub(super) fn check_cycles(&mut self) {
        let mut edges = vec![Vec::new(); self.unit.functions.len()];
        for (caller, callee, span) in &self.functions.calls {
            edges[*caller].push((*callee, *span));
        }
        for cycle in cycles(&edges) {
            let path = cycle.path(|index| self.unit.functions[index].name.text.as_str());
            let message = format!("recursive function call: {path}");
            let help = "calls and dependencies are expanded before anything runs: break the cycle";
            self.error(Code::CallCycle, cycle.closed_by, message, help);
        }
    }
}
