//! Calls must end: a function that reaches itself never would.

use std::collections::BTreeMap;

use opal_core::{Code, Span};

use super::Checker;

impl Checker<'_> {
    pub(super) fn check_cycles(&mut self) {
        let mut edges: BTreeMap<usize, Vec<(usize, Span)>> = BTreeMap::new();
        for (caller, callee, span) in &self.functions.calls {
            edges.entry(*caller).or_default().push((*callee, *span));
        }
        let mut done = vec![false; self.unit.functions.len()];
        let mut open = vec![false; self.unit.functions.len()];
        for start in 0..self.unit.functions.len() {
            let mut path: Vec<(usize, usize)> = vec![(start, 0)];
            while let Some((node, next)) = path.last_mut() {
                open[*node] = true;
                let calls = edges.get(node).map_or(&[][..], Vec::as_slice);
                let Some((callee, span)) = calls.get(*next).copied().filter(|_| !done[*node])
                else {
                    (done[*node], open[*node]) = (true, false);
                    path.pop();
                    continue;
                };
                *next += 1;
                if open[callee] {
                    let nodes = path.iter().map(|(node, _)| *node);
                    let cycle: Vec<usize> = nodes.skip_while(|node| *node != callee).collect();
                    self.say_cycle(&cycle, span);
                } else {
                    path.push((callee, 0));
                }
            }
        }
    }

    fn say_cycle(&mut self, cycle: &[usize], span: Span) {
        const MOST: usize = 8;
        let name = |index: &usize| self.unit.functions[*index].name.text.as_str();
        let mut names: Vec<&str> = cycle.iter().take(MOST).map(name).collect();
        if cycle.len() > MOST {
            names.push("…");
        }
        names.extend(cycle.first().map(name));
        let message =
            format!("these functions call each other without end: {}", names.join(" -> "));
        let help = "calls are expanded before anything runs: break the circle";
        self.error(Code::CallCycle, span, message, help);
    }
}
