//! Tasks that are not in the file.

use std::collections::BTreeSet;

use super::{
    Argument, CHECKS, Call, Expr, HERE, Leftover, Piece, Sheet, StartCheck, Step, Task, Variable,
};

impl Sheet {
    /// Calls of tasks that are elsewhere stay calls of the other tool, and a name is used once.
    pub(crate) fn complete(&mut self, tool: &str) {
        let names: BTreeSet<String> = self.tasks.iter().map(|it| it.name.clone()).collect();
        let is_elsewhere = |call: &Call| !names.contains(&call.task);
        for task in &mut self.tasks {
            let (elsewhere, needs): (Vec<Call>, Vec<Call>) =
                std::mem::take(&mut task.needs).into_iter().partition(is_elsewhere);
            task.needs = needs;
            let mut found = !elsewhere.is_empty();
            let calls = elsewhere.into_iter().map(|call| call.of_tool(tool, false));
            if found {
                // What it depends on runs in any case.
                task.always_runs();
            }
            task.body.splice(0..0, calls);
            for step in task.body.iter_mut().chain(&mut task.finally) {
                found |= step.leave_calls(tool, &is_elsewhere);
            }
            if found {
                task.differs(format!("it still calls `{tool}`"));
            }
        }
        let calls_from_elsewhere = |task: &Task| {
            let mut calls = false;
            task.body
                .iter()
                .chain(&task.finally)
                .for_each(|step| step.calls(&mut |_| calls = true));
            calls && task.directory.is_some()
        };
        let has_here = self.variables.iter().any(|it| it.name == HERE);
        if !has_here && self.tasks.iter().any(calls_from_elsewhere) {
            self.variables.insert(0, Variable::here());
        }
        let mut seen = BTreeSet::new();
        let (first, again): (Vec<Task>, Vec<Task>) = std::mem::take(&mut self.tasks)
            .into_iter()
            .partition(|it| seen.insert(it.name.clone()));
        self.tasks = first;
        for Task { name, line, source, .. } in again {
            let why = "the file has another task of this name".to_owned();
            self.leftovers.push(Leftover { line, name, source, why, ..Leftover::default() });
        }
    }
}

impl Sheet {
    /// Omits those checks at the start that cannot be written: a task must not fail because of a check
    /// that was not converted. `omits` says why the body of a sheet with one task cannot be written.
    pub(crate) fn drop_checks(&mut self, omits: &dyn Fn(&Self) -> Option<String>) -> bool {
        let Some(index) = self.tasks.iter().position(|it| it.name == CHECKS) else { return false };
        let mut steps = std::mem::take(&mut self.tasks[index].body).into_iter();
        let mut body: Vec<Step> = Vec::new();
        for StartCheck { leftover, steps: count } in std::mem::take(&mut self.checks) {
            let part: Vec<Step> = steps.by_ref().take(count).collect();
            let tasks = vec![self.tasks[index].with_body(part.clone())];
            let alone = Self { variables: self.variables.clone(), tasks, ..Self::default() };
            match omits(&alone) {
                Some(why) => self.leftovers.push(Leftover { why, ..leftover }),
                None => body.extend(part),
            }
        }
        if body.is_empty() {
            self.tasks.remove(index);
            for task in &mut self.tasks {
                task.needs.retain(|it| it.task != CHECKS);
            }
        } else {
            self.tasks[index].body = body;
        }
        true
    }
}

impl Task {
    /// A task of the same name with other steps.
    fn with_body(&self, body: Vec<Step>) -> Self {
        Self { name: self.name.clone(), is_private: true, body, ..Self::default() }
    }
}

impl Call {
    /// The call as a command of the other tool.
    fn of_tool(&self, tool: &str, may_fail: bool) -> Step {
        let is_safe = |c: char| c.is_ascii_alphanumeric() || "_-.:".contains(c);
        let mut pieces = vec![Piece::Text(format!("{tool} "))];
        match self.task.chars().all(is_safe) {
            true => pieces.push(Piece::Text(self.task.clone())),
            false => pieces.push(Piece::Value(Expr::Quoted(Box::new(Expr::text(&self.task))))),
        }
        for Argument { name, value } in &self.args {
            let name = name.as_ref().map_or(String::new(), |name| format!("{name}="));
            pieces.push(Piece::Text(format!(" {name}")));
            pieces.push(Piece::Value(Expr::Quoted(Box::new(value.clone()))));
        }
        Step::Line { pieces, may_fail }
    }
}

impl Step {
    fn leave_calls(&mut self, tool: &str, is_elsewhere: &dyn Fn(&Call) -> bool) -> bool {
        let mut found = false;
        match self {
            Self::Call { call, may_fail } if is_elsewhere(call) => {
                *self = call.of_tool(tool, *may_fail);
                found = true;
            }
            Self::If { then, otherwise, .. } => {
                for step in then.iter_mut().chain(otherwise) {
                    found |= step.leave_calls(tool, is_elsewhere);
                }
            }
            Self::For { body, .. } => {
                body.iter_mut().for_each(|step| found |= step.leave_calls(tool, is_elsewhere));
            }
            _ => {}
        }
        found
    }
}
